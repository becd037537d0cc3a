"""What became of a cycle's limits, told in its report."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from nightschool.core.cycles import Budget, Spend
from nightschool.rules.limits import limits_told, slept
from nightschool.rules.report import markdown
from report_builders import NOW, REPORT

WORKED = replace(
    REPORT,
    ended_at=NOW + timedelta(minutes=13),
    budget=Budget(jobs=100, wall=timedelta(minutes=60), tokens=5_000_000, cost=Decimal(3)),
    spend=Spend(jobs=37, tokens=1_234_567, cost=Decimal("0.5")),
    worked=timedelta(minutes=12, seconds=18),
)


def test_each_limit_says_what_was_used_and_what_is_left() -> None:
    """Jobs, minutes, tokens and money, each with its limit and the rest; in the report that is kept, too."""
    told = limits_told(WORKED)
    assert told == [
        "jobs: 37 of 100, 63 left",
        "minutes of work: 12.3 of 60.0, 47.7 left",
        "tokens: 1,234,567 of 5,000,000, 3,765,433 left",
        "money: $0.50 of $3.00, $2.50 left",
    ]
    assert all(f"* {line}\n" in markdown(WORKED) for line in told)


def test_the_limit_that_ended_a_cycle_stands_first() -> None:
    """Which limit was used up is said in words; where none was, nothing is claimed."""
    ended = replace(WORKED, ended_by="the limit of 37 jobs is reached", budget=Budget(jobs=37, wall=None))
    assert limits_told(ended) == [
        "ended by: the limit of 37 jobs is reached",
        "jobs: 37 of 37, 0 left",
        "minutes of work: 12.3, no limit",
        "tokens: 1,234,567, no limit",
        "money: $0.50, no limit",
    ]


def test_what_nobody_told_is_not_called_left() -> None:
    """Where jobs did not tell their use, what is known stands as that, and the rest is unknown."""
    untold = replace(WORKED, worked=None, spend=replace(WORKED.spend, unknown_tokens=2, unknown_cost=1))
    assert limits_told(untold)[1:] == [
        "minutes: unknown",
        "tokens: 1,234,567 known of 5,000,000, what is left is unknown; 2 jobs did not tell",
        "money: $0.50 known of $3.00, what is left is unknown; 1 job did not tell",
    ]


@pytest.mark.parametrize(
    ("by_the_day", "awake", "told"),
    [(500, 20, "+480.0 minutes"), (-100, 20, "-120.0 minutes"), (21, 20, None), (20, 20, None)],
)
def test_a_machine_that_slept_is_told(by_the_day: int, awake: int, told: str | None) -> None:
    """A sleep, or a clock that was set, explains why a cycle's times do not add up; seconds are no news."""
    notes = slept(timedelta(minutes=by_the_day), timedelta(minutes=awake))
    assert len(notes) == (told is not None)
    assert told is None or told in notes[0]
