"""The conditions that are told of a verdict are those that it was said by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exam_builders import AT, GUARDS, TARGETS, exam, helpful, sit, useless
from gate_builders import ScriptedPractice, task
from nightschool.core.proposals import Certify, Verdict, VerdictKind
from nightschool.core.tasks import Split, Task
from nightschool.core.trials import Arm, GuardReport, LostPair, Pair
from nightschool.rules.conditions import Condition, conditions
from nightschool.rules.gate import Policy
from nightschool.rules.guards import told as showed
from nightschool.rules.pairing import Losses
from nightschool.stages.examine import EXAMINED, Exam, without_holdout
from nightschool.testing.memory_store import MemoryStore

VICTIM = GUARDS[3].id


def told(
    sat: Exam, practice: ScriptedPractice, *, policy: Policy | None = None, seed: int = 0
) -> tuple[Verdict, dict[str, list[Condition]]]:
    """A verdict, and its conditions by code."""
    store = MemoryStore()
    verdict = sit(sat, practice, store, policy=policy, seed=seed)
    pairs = [pair for pair in store.find(Pair) if pair.role in EXAMINED]
    lost = [pair for pair in store.find(LostPair) if pair.role in EXAMINED]
    found: dict[str, list[Condition]] = {}
    for one in conditions(sat.draft, verdict, Losses.of(pairs, lost), policy):
        found.setdefault(one.code, []).append(one)
    return verdict, found


def harms(held: Task, arm: Arm) -> float:
    return 0.0 if held.id == VICTIM and arm is Arm.DRAFT else helpful(held, arm)


chances = st.tuples(*(st.sampled_from((0.0, 0.3, 0.6, 0.9, 1.0)) for _ in range(4)))


@settings(max_examples=60, deadline=None)
@given(chances, st.integers(0, 9), st.sampled_from((10_000, 60, 24)), st.sampled_from(list(Certify)))
def test_no_condition_fails_exactly_where_the_gate_accepts(
    chance: tuple[float, ...], seed: int, jobs: int, certify: Certify
) -> None:
    """Whatever the tries come to: an accept has no condition that fails or is open, but for guards that could
    not show a harm; anything else has."""

    def passes(held: Task, arm: Arm) -> float:
        return chance[2 * (held in TARGETS) + (arm is Arm.DRAFT)]

    verdict, found = told(exam(certify=certify), ScriptedPractice(passes, jobs=jobs), seed=seed)
    accepted = verdict.kind is VerdictKind.ACCEPT
    open_guards = [one for one in (*found.get("guard", ()), *found.get("guards", ())) if one.holds is None]
    states = [one.holds for group in found.values() for one in group if one not in open_guards]
    assert (all(states) and (accepted or not open_guards)) == accepted


@pytest.mark.parametrize(
    ("sat", "practice", "policy", "failing"),
    [
        (
            exam(),
            lambda: ScriptedPractice(lambda _, arm: 0.1 if arm is Arm.DRAFT else 0.9),
            None,
            "not-against",
        ),
        (exam(protected=(VICTIM,)), lambda: ScriptedPractice(harms), None, "guard"),
        (exam(), lambda: ScriptedPractice(lambda _held, _arm: 1.0), None, "told-apart"),
        (exam(), lambda: ScriptedPractice(lambda _held, _arm: 0.0), None, "told-apart"),
        (exam((*TARGETS[:2], *GUARDS)), lambda: ScriptedPractice(helpful), None, "enough-kinds"),
        (exam(), lambda: ScriptedPractice(helpful, jobs=13), None, "enough-budget"),
        (
            exam(train=(task("x", cluster="c1", split=Split.TRAIN),)),
            lambda: ScriptedPractice(helpful),
            None,
            "apart",
        ),
        (exam(), lambda: ScriptedPractice(helpful), Policy(mode="suggest"), "certifies"),
        (exam(), lambda: ScriptedPractice(helpful), Policy(mode="off"), "certifies"),
        (
            exam(),
            lambda: ScriptedPractice(
                helpful, lose=lambda request: request.arm is Arm.DRAFT and request.draw is not None
            ),
            None,
            "few-losses",
        ),
        (exam(), lambda: ScriptedPractice(useless), None, "enough-evidence"),
    ],
)
def test_the_condition_that_failed_is_the_one_that_is_told(
    sat: Exam, practice: Callable[[], ScriptedPractice], policy: Policy | None, failing: str
) -> None:
    """Each reason of the gate not to accept is a condition that does not hold, with its figures."""
    verdict, found = told(sat, practice(), policy=policy)
    assert verdict.kind is not VerdictKind.ACCEPT
    assert any(one.holds is False for one in found[failing])
    assert all(one.asked and one.found for group in found.values() for one in group)


def test_a_guard_that_showed_nothing_is_not_told_as_unharmed() -> None:
    """Where no guard was found, where one got no pair, and where one is never passed without the edit,
    whether other work suffers is open, and the figures say why."""
    _, none = told(exam(TARGETS), ScriptedPractice(helpful))
    assert [one.holds for one in none["guards"]] == [None]
    assert "nobody knows" in none["guards"][0].found

    def fails(held: Task, arm: Arm) -> float:
        return 0.0 if held.id == VICTIM else helpful(held, arm)

    _, found = told(exam(protected=(VICTIM,)), ScriptedPractice(fails))
    (own,) = [one for one in found["guard"] if one.asked.endswith(VICTIM)]
    assert (own.holds, own.found) == (None, "cannot guard: passed in none of 5 tries without the edit")
    untried = GuardReport(task=VICTIM, pairs=0, harm=1, total=0, unseen_loss=1)
    assert showed(untried) == "not tried"
    assert showed(replace(untried, pairs=5, base_passed=1)).startswith(
        "could not show harm: passed in 1 of 5"
    )
    assert showed(replace(untried, pairs=5)) == "unharmed"


def test_what_was_never_tried_is_told_as_open() -> None:
    """Nothing is called passed or failed that nobody looked at."""
    verdict = without_holdout(exam().draft, Policy(), cycle="n-1", now=AT)
    states = {one.code: one.holds for one in conditions(exam().draft, verdict, Losses(tried=0))}
    assert states["enough-kinds"] is False
    for code in ("apart", "told-apart", "enough-evidence", "enough-kinds-won", "not-against", "guards"):
        assert states[code] is None


def test_the_figures_are_those_of_the_verdict() -> None:
    """Evidence with what is needed, each guard with its pairs and the harm that blocks."""
    verdict, found = told(exam(protected=(VICTIM,)), ScriptedPractice(helpful))
    assert verdict.wealth is not None
    assert verdict.alpha is not None
    assert f"{verdict.wealth:.3g}, {1 / verdict.alpha:.3g} is needed" in found["enough-evidence"][0].found
    assert {one.asked.rpartition(": ")[2] for one in found["guard"]} == {one.task for one in verdict.guards}
    assert f"{len(verdict.guards) / 0.1:.3g} the edit fails" in found["guard"][0].found
