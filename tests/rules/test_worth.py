"""Which corrections wait, and why."""

from __future__ import annotations

import re

import pytest

from conversations import corrected
from nightschool.core.tasks import Split
from nightschool.rules.corrections import corrections
from nightschool.rules.worth import HOW, has_form, told_waiting, weighed, why_no_form

WORDS = (
    "are words about the work, which need not stand in it: put in quotes what stands in a command or a file"
)
NOTHING = "it has nothing in quotes that could be looked for in a command or a file"
ORDER = (
    "it tells an order of steps, and what is practised names its occasion and three steps or more: "
    '"when ...: first ..., then ..., finally ..."'
)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "use named exports, not default exports",
            f"'named exports' and 'default exports' {WORDS}",
        ),
        (
            "please use small functions instead of one long script!",
            f"'small functions' and 'one long script' {WORDS}",
        ),
        (
            'use "Added", not "added"',
            "upper and lower case alone tell its halves apart, and a check does not tell them",
        ),
        ("No em dashes please", NOTHING),
        (
            "please stop touching `pyproject.toml` without asking me first",
            'it does not say plainly whether what it quotes is to be used or not: "always use X", '
            '"never X" and "X, not Y" do',
        ),
        ("no, first `uv run pytest` and only then `git tag`", ORDER),
        ("Nein, zuerst das Changelog, dann der Tag!", ORDER),
        ("Keep paragraphs short", NOTHING),
        ("you must never push to main", NOTHING),
        (
            "Before each release:\n1. update the changelog\n2. run all tests\n3. tag the commit",
            "no step of it has a command in code marks, which would tell that it was gone through",
        ),
    ],
)
def test_what_cannot_be_checked_says_why(text: str, why: str) -> None:
    """The reason names the words that are in the way, and what would let a machine tell."""
    (found,) = corrections([corrected("a", "Rename the importer", text)])
    assert not has_form(found)
    assert why_no_form(found) == why


def test_the_words_of_a_rule_come_from_a_train_session() -> None:
    """The language and form of most sessions, in the plain words of one that an editor may see."""
    texts = [
        "utilise pnpm, pas npm",
        "please use pnpm, not npm!",
        "use pnpm, not npm",
        "Use pnpm, not npm!",
        "pnpm, not npm!",
    ]
    sessions = [corrected(f"s{n}", f"Rename part {n}", text, day=n) for n, text in enumerate(texts)]
    heard = corrections(sessions)
    assert heard[0].statement == "use pnpm, not npm"
    sides = {session.id: Split.TRAIN if n < 2 else Split.HOLDOUT for n, session in enumerate(sessions)}
    (candidate,), waiting = weighed(heard, sides, set(sides))
    assert waiting == ()
    assert candidate.statement == "use pnpm, not npm"


def test_those_said_most_often_are_told_first() -> None:
    """Each with its own count, and how many are left."""
    texts = ["use a1, not b1", "use a2, not b2", "No em dashes please", "no em dashes."]
    sessions = [corrected(f"s{n}", f"Rename part {n}", text, day=n) for n, text in enumerate(texts)]
    _, waiting = weighed(corrections(sessions), {}, {session.id for session in sessions})
    assert list(told_waiting(waiting, 1)) == [
        f'waits: "no em dashes.", in 2 sessions: {NOTHING}',
        "2 more wait: `nightschool corrections` lists all that was heard",
        HOW,
    ]


@pytest.mark.parametrize("form", re.findall('"([^"]+)"', HOW))
def test_the_way_out_that_is_named_leads_out(form: str) -> None:
    """Said in two sessions, in each of the forms that a person is told of, a correction is practised."""
    text = form.replace("X", "export function").replace("Y", "export default")
    (heard,) = corrections([corrected(name, f"Rename part {name}", text) for name in ("a", "b")])
    assert heard.recurs
    assert has_form(heard), text
