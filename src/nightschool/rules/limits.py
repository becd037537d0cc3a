"""What became of a cycle's limits, in words: what each allowed, what was used, and what is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from decimal import Decimal

from nightschool.core.cycles import CycleReport, Learned
from nightschool.rules.telling import counted, dollars

NOTICED = timedelta(minutes=2)
"""So much between the time of day and the time awake is told."""


def limits_told(report: CycleReport) -> list[str]:
    """One line a limit, and before them the one that was used up, if any."""
    budget, spend, worked = report.budget, report.spend, report.worked
    minutes = None if worked is None else _minutes(worked)
    wall = None if budget.wall is None else _minutes(budget.wall)
    return [
        *([f"ended by: {report.ended_by}"] if report.ended_by else []),
        _line("jobs", spend.jobs, budget.jobs, 0),
        "minutes: unknown" if minutes is None else _line("minutes of work", minutes, wall, 0),
        _line("tokens", spend.tokens, budget.tokens, spend.unknown_tokens),
        _line("money", spend.cost, budget.cost, spend.unknown_cost, dollars),
    ]


def ended_by(stopped: str | None, learned: Sequence[Learned]) -> str | None:
    """The limit that is used up, or too low for the next thing to do."""
    ended = (item.why for item in learned if item.code in {"budget-ended", "next-run"})
    return stopped or next(ended, None)


def slept(by_the_day: timedelta, awake: timedelta) -> Sequence[str]:
    """A note where the time of day went on, or back, by more than the machine was awake."""
    jumped = by_the_day - awake
    if abs(jumped) < NOTICED:
        return ()
    return (
        f"the machine slept, or its clock was set, by {_minutes(jumped):+,} minutes in this run: "
        "limits count the time that it was awake",
    )


def _line(
    what: str,
    used: Decimal | int,
    limit: Decimal | int | None,
    untold: int,
    told: Callable[[Decimal], str] = "{:,}".format,
) -> str:
    known = " known" if untold else ""
    doubt = f"; {counted(untold, 'job')} did not tell" if untold else ""
    if limit is None:
        return f"{what}: {told(Decimal(used))}{known}, no limit{doubt}"
    left = "what is left is unknown" if untold else f"{told(Decimal(max(limit - used, 0)))} left"
    return f"{what}: {told(Decimal(used))}{known} of {told(Decimal(limit))}, {left}{doubt}"


def _minutes(span: timedelta) -> Decimal:
    return Decimal(f"{span.total_seconds() / 60:.1f}")
