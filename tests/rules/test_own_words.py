"""A person's own phrases for corrections and approvals: taken literally, and heard in each place."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import nightschool
from conversations import agent, human, session, write
from mine_builders import APP, REQUESTS, Repositories
from nightschool.core.sessions import Session
from nightschool.core.signals import SignalKind
from nightschool.core.tasks import Touched
from nightschool.rules.corrections import corrections
from nightschool.rules.signals import signals
from nightschool.rules.statements import explicit
from nightschool.rules.words import DEFAULT, Words
from nightschool.stages.mine import Mined, mine
from nightschool.testing.memory_store import MemoryStore


def kinds(text: str, words: Words = DEFAULT) -> list[SignalKind]:
    told = session("s", human("Write the importer for all tables"), agent(), human(text))
    return [signal.kind for signal in signals(told, words)]


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("qatlh", "and once more: qatlh"),
        ("qatlh", "QATLH, the menu"),
        ("that ain't mine", "hm, that ain\u2019t mine"),
        ("that ain\u2019t mine", "hm, that ain't mine"),
        ("hab  doch", "ich hab\tdoch"),
        ("really?", "hm, really?"),
        ("(meh)", "the menu (meh)"),
        ("??", "what??"),
        ("\U0001f44e", "the menu\U0001f44e"),
        ("\u0e1c\u0e34\u0e14", "\u0e21\u0e31\u0e19\u0e1c\u0e34\u0e14\u0e41\u0e25\u0e49\u0e27"),
    ],
)
def test_a_phrase_of_ones_own_is_a_correction(phrase: str, text: str) -> None:
    """Whatever its letters, its case, its kind of apostrophe and its blanks, and what marks it holds."""
    assert kinds(text) == []
    assert kinds(text, DEFAULT.with_phrases(corrections=["other", phrase])) == [SignalKind.CORRECTION]


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("not bad", "not bad"),
        ("not bad", "Not bad, go on with the menu"),
        ("great, not bad", "great, not bad"),
        ("\U0001f44d", "\U0001f44d"),
        ("chido", "\u00a1chido!"),
    ],
)
def test_a_phrase_of_ones_own_is_an_approval(phrase: str, text: str) -> None:
    """At the beginning. What it holds itself does not take it back; what stands beside it does."""
    assert kinds(text) == []
    words = DEFAULT.with_phrases(approvals=["great", phrase])
    assert kinds(text, words) == [SignalKind.APPROVAL]
    assert kinds(f"{text} but the menu is not", words) == []


def test_no_approval_takes_itself_back() -> None:
    """One that is built in as little: the Chinese "not wrong" holds the word for not."""
    assert kinds("\u4e0d\u9519") == [SignalKind.APPROVAL]
    assert kinds("\u4e0d\u9519, \u4f46\u662f\u83dc\u5355") == []


def test_a_phrase_is_whole_words_and_no_pattern() -> None:
    """Nothing is found inside a word, and a dot stands for a dot."""
    words = DEFAULT.with_phrases(corrections=["nope.+", "bah"], approvals=["ok"])
    assert kinds("the bahamas page, nopeX", words) == []
    assert kinds("okra is listed", words) == []
    assert kinds("nope.+ it is", words) == [SignalKind.CORRECTION]


def test_an_own_phrase_opens_a_message_as_no_does() -> None:
    """A prohibition after it speaks of what was done, not of the next piece of work."""
    text = "Quatsch, so geht das. Don't add comments to the tests."
    words = DEFAULT.with_phrases(corrections=["quatsch"])
    assert explicit(text) == ()
    assert [one.quote for one in explicit(text, words)] == ["Don't add comments to the tests."]
    told = session("s", human("Write the importer for all tables"), agent(), human(text))
    assert corrections([told]) == ()
    assert [one.statement for one in corrections([told], words)] == ["Don't add comments to the tests."]


def test_an_own_phrase_is_heard_as_a_correction() -> None:
    """In several sessions it is one, though it names nothing that a machine could look for."""
    said = "qatlh, the menu belongs on the left"
    sessions = [
        session(str(day), human(text), agent(), human(said), day=day) for day, text in enumerate(REQUESTS[:3])
    ]
    assert corrections(sessions) == ()
    (found,) = corrections(sessions, DEFAULT.with_phrases(corrections=["qatlh"]))
    assert (found.statement, len(found.sessions), found.wanted) == (said, 3, None)


SOURCE = Path(nightschool.__file__).parent
JUDGE = {"signals", "spoken", "reproach", "explicit", "corrections", "heard_in", "mine", "explained"}
"""What judges by the built-in lists where it is given no others."""
ANY_WORDS = [("rules/corrections.py", "corrections"), ("rules/pieces.py", "explicit")]
"""`enough` and `_says_so` ask for machine forms, which are the same with any."""


def test_no_part_judges_by_the_built_in_lists_alone() -> None:
    """Whoever judges what a person said passes the words on: without, their own phrases would be missed."""
    without = [
        (str(path.relative_to(SOURCE)), call.func.id)
        for path in sorted(SOURCE.rglob("*.py"))
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id in JUDGE
        and "testing" not in path.parts
        and len(call.args) < 2
        and all(given.arg != "words" for given in call.keywords)
    ]
    assert without == ANY_WORDS


def mined(sessions: list[Session], words: Words, store: MemoryStore | None = None) -> Mined:
    return mine(sessions, store=store or MemoryStore(), projects=Repositories(), words=words)


def worked(number: int, reply: str) -> Session:
    made = write(f"{APP}/src/part{number}.py", f"value = {number}\n")
    return session(
        f"q{number}", human(REQUESTS[number]), agent("Done.", made), human(reply), agent(), day=number
    )


def test_what_an_own_phrase_corrects_guards_nothing() -> None:
    """A session that was praised is taken as one in which all went well; one that was corrected is not, and
    the correction is no request of its own."""
    sessions = [worked(0, "qatlh, that menu belongs on the left"), worked(1, "chido")]
    words = DEFAULT.with_phrases(corrections=["qatlh"], approvals=["chido"])
    built_in, own = mined(sessions, DEFAULT), mined(sessions, words)
    guards = {task.session for task in built_in.tasks if isinstance(task.checks[0], Touched)}
    assert guards == {sessions[0].id, sessions[1].id}
    assert {task.session for task in own.tasks} == {sessions[1].id}
    assert [(name, code) for name, code, _ in own.skipped] == [(sessions[0].id, "corrected")]


def test_changed_lists_hold_for_what_is_stored() -> None:
    """A phrase that is put on the list is heard in old sessions; taken off it, what it gave is dropped."""
    store, sessions = MemoryStore(), [worked(0, "qatlh, that menu belongs on the left")]
    assert mined(sessions, DEFAULT, store).corrections == ()
    words = DEFAULT.with_phrases(corrections=["qatlh"])
    assert len(mined(sessions, words, store).corrections) == 1
    assert mined(sessions, DEFAULT, store).corrections == ()
