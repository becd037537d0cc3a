"""Signals: words after the agent acted, in several languages, and acts. Precision before recall."""

# ruff: noqa: RUF001 - words of other languages are written in their own letters

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations import agent, bash, human, session
from nightschool.core.sessions import CallStatus, Turn
from nightschool.core.signals import SignalKind
from nightschool.rules.signals import signals
from nightschool.rules.statements import TEMPLATES, WITH_SPACES
from nightschool.rules.words import DEFAULT

CORRECTIONS = [
    "No, that's wrong.",
    "that's incorrect",
    "Revert your file. We already built that.",
    "not as a comment, but as a document attached to the issue",
    "the issue is still that nothing is shown",
    "it still doesn't work",
    "that's not fixed",
    "I said pnpm",
    "you forgot the tests",
    "just do it",
    "well, that's wrong, no?",
    "the error is still there, could we handle it like the other one?",
    "why did you delete the config?",
    "use pnpm instead of npm",
    "don't touch the lockfile",
    "stop adding comments",
    "nein, das ist falsch",
    "das funktioniert immer noch nicht",
    "nicht npm, sondern pnpm",
    "non, ce n'est pas ce que j'ai demandé",
    "ça ne marche pas",
    "no, eso está mal",
    "eso no funciona",
    "isso está errado",
    "não é isso que eu pedi",
    "è ancora sbagliato",
    "нет, это неправильно",
    "всё ещё не работает",
    "不对，还是报错",
    "我说过不要用 npm",
    "違います、まだ動きません",
]

NEUTRAL = [
    "add an undo button",
    "add a revert command to the CLI",
    "yes, update the architecture document first",
    "continue, network should be better now",
    "make sure the tests still pass",
    "can you also add a test for the wrong password?",
    "show an error if the user has no account",
    "we still should not continue in that case, write it into the plan",
    "now write the release notes",
    "does it still fail on windows?",
    "what if someone opens the wrong file, does it still crash?",
    "it works here, is it still broken on windows?",
    "implement changes recommended",
    "Fix them all",
    "commit/push",
    "/review that's wrong",
    "2026-03-01 10:00:00 ERROR that is wrong",
    "```\nthat's wrong\n```",
    "<system-reminder>you forgot the todo list</system-reminder>",
    "füge einen Rückgängig-Knopf hinzu",
    "jetzt die Tests dazu",
    "ajoute un test",
    "agrega una prueba",
    "добавь тест",
    "请添加一个测试",
    "テストを追加してください",
]

APPROVALS = [
    "Perfect!",
    "looks good",
    "thanks, that works",
    "LGTM",
    "danke",
    "Parfait",
    "gracias",
    "спасибо",
    "很好",
    "ありがとう",
]

NO_APPROVALS = [
    "not fixed",
    "great, but the tests fail",
    "is it fixed?",
    "incorrect",
    "it would be great if it also wrote a log",
    "fixed it? no",
]


def kinds(text: str) -> list[SignalKind]:
    found = signals(session("s", human("Fix the build."), agent("Done.", bash("make")), human(text)))
    return [signal.kind for signal in found]


@pytest.mark.parametrize("text", CORRECTIONS)
def test_reproaches_are_corrections(text: str) -> None:
    """Words that say the agent did wrong are a correction, whatever the language."""
    assert kinds(text) == [SignalKind.CORRECTION]


@pytest.mark.parametrize("text", NEUTRAL)
def test_other_work_is_no_signal(text: str) -> None:
    """Words inside other words, feature requests, logs, fences, injected rows and commands are no signal."""
    assert kinds(text) == []


@pytest.mark.parametrize("text", APPROVALS)
def test_praise_is_approval(text: str) -> None:
    """Praise is an approval, in several languages."""
    assert kinds(text) == [SignalKind.APPROVAL]


@pytest.mark.parametrize("text", NO_APPROVALS)
def test_negated_praise_is_no_approval(text: str) -> None:
    """ "incorrect" holds no "correct", "not fixed" approves of nothing, a question neither."""
    assert SignalKind.APPROVAL not in kinds(text)


def test_the_first_request_is_never_a_signal() -> None:
    """Before the agent acted there is nothing to judge."""
    assert signals(session("s", human("No, that's wrong. Use pnpm instead of npm."), agent())) == ()
    assert signals(session("s", human("hello"), human("that's wrong"), agent())) == ()


def test_acts_are_signals_at_the_agents_turn() -> None:
    """A refused call and an interruption are signals at the turn in which they happened."""
    refused = bash("rm -rf build", status=CallStatus.REFUSED)
    found = signals(session("s", human("clean"), agent("", refused, interrupted=True)))
    assert [(s.kind, s.turn, s.call_id) for s in found] == [
        (SignalKind.REFUSAL, 1, refused.call_id),
        (SignalKind.INTERRUPTION, 1, None),
    ]


def test_softer_words_count_after_a_stop() -> None:
    """Right after an interruption "put it in the docs instead" corrects; elsewhere it may be a wish."""
    said = human("put it into the docs instead")
    stopped = session("s", human("write it down"), agent("", interrupted=True), said)
    assert SignalKind.CORRECTION in {s.kind for s in signals(stopped)}
    assert signals(session("s", human("write it down"), agent(), said)) == ()


def test_a_person_can_extend_the_lists() -> None:
    """Own phrases are taken literally, whole words, in any language."""
    words = DEFAULT.with_phrases(corrections=["nada (de eso)"], approvals=["chido"])
    told = session("s", human("x y z"), agent(), human("pues nada (de eso), otra vez"))
    assert signals(told) == ()
    assert [s.kind for s in signals(told, words)] == [SignalKind.CORRECTION]
    praised = session("s", human("x y z"), agent(), human("chido"))
    assert [s.kind for s in signals(praised, words)] == [SignalKind.APPROVAL]


def test_machines_give_no_signals() -> None:
    """Headless runs, sub-agents and our own replays judge nobody."""
    told = session("s", human("a b"), agent(), human("that's wrong"))
    assert len(signals(told)) == 1
    assert signals(replace(told, headless=True)) == ()
    assert signals(replace(told, sidechain=True)) == ()
    assert signals(replace(told, ours=True)) == ()


def test_long_messages_are_specifications() -> None:
    """What is wrong deep in a long text is wrong in the product."""
    assert kinds("Write the importer. " + "It reads a table of rows. " * 40 + "That's wrong.") == []


@given(st.text(st.characters(codec="ascii")) | st.sampled_from([*CORRECTIONS]).filter(str.isascii))
def test_scripts_without_spaces_are_not_looked_for_in_ascii(text: str) -> None:
    """A template of such a script holds letters of it, so in a sentence of ASCII alone it can be left out."""
    assert [one for one in TEMPLATES if not one.spaceless] == list(WITH_SPACES)
    for template in TEMPLATES:
        assert not (template.spaceless and template.pattern.search(text))
    for template in (one for one in TEMPLATES if one.spaceless):
        assert not template.pattern.pattern.isascii()


def test_a_way_that_was_taken_back_and_the_same_request_again_need_no_words() -> None:
    """Whatever the language: the person went back, or asked for the same again after the agent had acted."""
    request = "Schreib den Importer f\u00fcr alle Tabellen"
    went = replace(agent("Done.", bash("make")), went_back=True)
    told = session("s", human(request), went, human(f"  {request.upper()} "), agent())
    assert [(s.kind, s.turn) for s in signals(told)] == [(SignalKind.REVERT, 1), (SignalKind.REPEAT, 2)]


@pytest.mark.parametrize(
    "turns",
    [
        (human("continue with it"), agent("Done.", bash("make")), human("continue with it")),
        (human("/review all of the code"), agent("Done.", bash("make")), human("/review all of the code")),
        (human("write the importer for all tables"), human("write the importer for all tables"), agent()),
        (
            human("write the importer for all tables"),
            agent("Done.", bash("make")),
            human("write the exporter, too"),
        ),
    ],
)
def test_what_is_said_again_for_other_reasons_is_no_signal(turns: tuple[Turn, ...]) -> None:
    """A few words, a command, a prompt that a hook blocked before the agent had acted."""
    assert signals(session("s", *turns)) == ()
