"""An exam whose evidence is there while a kind of task can hardly be won: it stops and says so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from exam_builders import GUARDS, exam, sit
from gate_builders import ScriptedPractice, task, terms
from nightschool.cli.render import Line
from nightschool.cli.verdicts import examined
from nightschool.core.proposals import Certify, VerdictKind
from nightschool.core.tasks import Task
from nightschool.core.trials import Arm
from nightschool.rules import gate
from nightschool.rules.gate import Tally
from nightschool.testing.memory_store import MemoryStore

KINDS = tuple(task(f"kind {n}", cluster=f"k{n}") for n in range(5))
MUTE = KINDS[0]
TERMS = terms(clusters=5)


def mute(held: Task, arm: Arm) -> float:
    """The edit helps everywhere but in one kind, which nobody ever passes."""
    if held in GUARDS:
        return 1.0
    return float(arm is Arm.DRAFT and held is not MUTE)


def test_no_tries_are_spent_on_a_kind_that_tells_nothing() -> None:
    """Once the evidence is there and what is left to win came out alike in eight pairs, the exam stops as not
    decided, names the task and the way out; a further run says the same at no cost."""
    store, practice = MemoryStore(), ScriptedPractice(mute)
    verdict = sit(exam((*KINDS, *GUARDS)), practice, store)
    assert (verdict.kind, verdict.code) == (VerdictKind.UNDECIDED, "kinds-missing")
    assert (verdict.clusters_won, verdict.target_clusters) == (4, 5)
    assert verdict.pairs < 100
    assert "1 more kind of task must be won" in verdict.why
    assert f"{MUTE.id} (`nightschool tasks withhold" in verdict.why
    spent = len(practice.made)
    again = sit(exam((*KINDS, *GUARDS)), practice, store, cycle="next")
    assert (again.code, again.path, len(practice.made)) == ("kinds-missing", verdict.path, spent)


def test_progress_says_how_many_kinds_are_won() -> None:
    """Evidence alone does not pass, so it is not told alone."""
    practice = ScriptedPractice(mute)
    sit(exam((*KINDS, *GUARDS)), practice)
    assert practice.told[0] == "exam, pair 1: evidence 1 of 16.4, better in 0 of 5 kinds of task"
    assert practice.told[-1].endswith("better in 4 of 5 kinds of task")


def tallied(*scores: tuple[int, float, float]) -> Tally:
    tally = Tally.start(TERMS)
    for kind, base, draft in scores:
        tally = tally.after(f"k{kind}", base, draft)
    return tally


WINS = [(kind, 0.0, 1.0) for kind in (1, 2, 3, 4)] * 4


@pytest.mark.parametrize(
    ("scores", "stops"),
    [
        ([*WINS, *[(0, 0.0, 0.0)] * 8], True),
        ([*WINS, *[(0, 1.0, 1.0)] * 8], True),
        ([*WINS, *[(0, 0.0, 0.0)] * 7], False),
        ([*WINS, (0, 1.0, 0.0), *[(0, 0.0, 0.0)] * 8], False),
        ([*WINS[:4], *[(0, 0.0, 0.0)] * 8], False),
        ([*WINS, (0, 0.0, 1.0), *[(0, 0.0, 0.0)] * 8], False),
    ],
    ids=["never passed", "always passed", "too few pairs", "it differed", "no evidence yet", "it was won"],
)
def test_when_it_stops(scores: list[tuple[int, float, float]], *, stops: bool) -> None:
    """Only where the evidence suffices, and only for kinds that were alike in all of enough pairs."""
    assert (gate.kinds_missing(tallied(*scores), TERMS) is not None) == stops


def test_a_kind_too_many_is_no_reason_to_stop() -> None:
    """Where enough other kinds can still be won a silent one keeps nobody."""
    assert gate.kinds_missing(tallied(*WINS, *[(0, 0.0, 0.0)] * 8), terms(clusters=6)) is None


def test_not_worse_wins_where_pairs_are_alike() -> None:
    """A draft that has to be not worse wins a kind by being alike there."""
    given = terms(clusters=5, certify=Certify.NOT_WORSE)
    tally = Tally.start(given)
    for number in range(60):
        tally = tally.after(f"k{number % 5}", 1.0, 1.0)
    assert gate.silent_kinds(tally, given) == frozenset()


def test_the_words_say_what_is_missing() -> None:
    """Evidence beyond the line is no "neither yes nor no"."""
    sat = exam((*KINDS, *GUARDS))
    verdict = sit(sat, ScriptedPractice(mute))

    def first(**changed: Any) -> str:
        line = examined(sat.draft, replace(verdict, **changed))[0]
        assert isinstance(line, Line)
        return line.text

    assert "The evidence is there; 1 more kind of task must be won." in first()
    assert "neither yes nor no" in first(wealth=2.0)
    assert "whether other work suffers was not tried to its end" in first(clusters_won=5)
    assert "Too many tries were lost" in first(code="many-losses")
    assert "Nothing was tried yet" in first(code="budget-ended", pairs=0)
