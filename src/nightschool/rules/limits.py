"""What became of a cycle's limits, in words: what each allowed, what was used, and what is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from nightschool.core.cycles import COST_BOOKED, TOKENS_BOOKED, Budget, CycleReport, Learned, Spend
from nightschool.core.proposals import Verdict, VerdictCode
from nightschool.core.values import Value
from nightschool.rules.telling import counted, dollars

NOTICED = timedelta(minutes=2)
"""So much between the time of day and the time awake is told."""
UNLIMITED_JOBS = 1_000_000
"""What stands for no limit: more than any cycle starts."""
MICRO = 1_000_000
SHORT: frozenset[VerdictCode] = frozenset({"budget-ended", "few-pairs"})
"""Verdicts for want of budget."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Room(Value):
    """How many more jobs the limits allow."""

    jobs: int
    limit: str | None
    """The one that allows so few, in words; None: none is set."""


def room(
    budget: Budget, spend: Spend | None = None, *, tokens: int | None = None, cost: Decimal | None = None
) -> Room:
    """By the limits on jobs, tokens and money. `tokens`, `cost`: what a job usually takes, where it is asked
    how many fit in the end; else each is booked in full, as it is before it starts."""
    spend = spend or Spend()
    found: list[tuple[int, str | None]] = [(UNLIMITED_JOBS, None)]
    if budget.jobs is not None:
        found.append((budget.jobs - spend.jobs, f"the limit of {counted(budget.jobs, 'job')}"))
    if budget.tokens is not None:
        left = budget.tokens - spend.tokens - spend.unsettled * TOKENS_BOOKED
        named = f"the limit of {counted(budget.tokens, 'token')}"
        found.append((_fit(left, TOKENS_BOOKED, TOKENS_BOOKED if tokens is None else tokens), named))
    if budget.cost is not None:
        # In whole millionths, so that the sum is exact.
        left = int((budget.cost - spend.cost - spend.unsettled * COST_BOOKED) * MICRO)
        each = int((COST_BOOKED if cost is None else cost) * MICRO)
        found.append((_fit(left, int(COST_BOOKED * MICRO), each), f"the limit of {dollars(budget.cost)}"))
    jobs, limit = min(found, key=lambda one: one[0])
    return Room(jobs=max(0, jobs), limit=limit)


def _fit(left: int, booked: int, each: int) -> int:
    """So many start one after the other: each while what is booked for it is left."""
    if left < booked:
        return 0
    return UNLIMITED_JOBS if each <= 0 else (left - booked) // each + 1


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


def ended_by(
    stopped: str | None,
    learned: Sequence[Learned],
    verdicts: Sequence[Verdict] = (),
    scarce: str | None = None,
) -> str | None:
    """The limit that is used up, or too low for the next thing to do: `scarce` names the lowest, where an
    exam of this cycle (its `verdicts`) went without tries for want of it."""
    ended = (item.why for item in learned if item.code in {"budget-ended", "next-run"})
    short = any(verdict.code in SHORT for verdict in verdicts)
    return stopped or (scarce if short else None) or next(ended, None)


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
