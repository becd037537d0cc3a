"""What changed between two cycles."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from nightschool.core.cycles import Learned, Spend
from nightschool.core.trials import Estimate
from nightschool.rules.compared import compared
from report_builders import PNPM, REPORT

VITEST = Learned(candidate="k-2", statement="use vitest", sessions=2, code="lost", why="all lost")
FIRST = replace(REPORT, candidates=2, learned=(PNPM, VITEST))


def test_a_cycle_beside_itself_is_the_same() -> None:
    """Nothing is said to have changed where nothing did."""
    found = compared(FIRST, replace(FIRST, cycle="n-2"))
    assert (found.before, found.after) == ("n-1", "n-2")
    assert not found.conditions
    assert {one.by for one in found.figures} == {0}
    assert {one.change for one in found.candidates} == {"same"}


def test_each_candidate_is_new_gone_or_changed() -> None:
    """Told by what it came to, its proposal and its scores; those of the later cycle stand first."""
    scored = replace(PNPM, base=Estimate(mean=0.2, low=0.1, high=0.4, n=12))
    new = replace(VITEST, candidate="k-3")
    found = compared(FIRST, replace(FIRST, cycle="n-2", learned=(new, scored)))
    assert [(one.candidate, one.change) for one in found.candidates] == [
        ("k-3", "new"),
        ("k-1", "changed"),
        ("k-2", "gone"),
    ]


def test_what_is_not_known_has_no_difference() -> None:
    """Where a job did not tell its use, the sum is unknown, never what happens to be known of it."""
    partly = Spend(jobs=9, tokens=3, unknown_tokens=1, cost=Decimal(1), unknown_cost=2)
    figures = {one.name: one for one in compared(FIRST, replace(FIRST, spend=partly)).figures}
    assert figures["tokens"].after is None
    assert figures["tokens"].by is None
    assert figures["dollars"].by is None
    assert figures["jobs started"].by == 1
    assert {one.name: one.by for one in compared(FIRST, replace(FIRST, spend=Spend())).figures}[
        "dollars"
    ] == Decimal("-0.5")


def test_other_conditions_are_said() -> None:
    """Another agent, model, gate or project makes scores hard to compare."""
    other = replace(FIRST, runner_version="2", model="m", project="")
    assert compared(FIRST, other).conditions == (
        ("project", "/p", "all projects"),
        ("agent", "codex 1", "codex 2"),
        ("model", "the agent's own choice", "m"),
    )
