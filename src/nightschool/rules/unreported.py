"""Cycles that started jobs and have no report: those that were broken off, and calibrations.

Relieves `history` and `report` of what job records tell of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from nightschool.core.jobs import Finished, LostTry, Reservation
from nightschool.core.trials import Arm, Draw
from nightschool.core.values import Digest, Value
from nightschool.rules.bare import use_alone
from nightschool.rules.telling import counted, dollars

CALIBRATING = frozenset({Arm.FIRST, Arm.SECOND})
ROLE = "calibrate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreported(Value):
    """What is known of such a cycle. How many jobs it was answered from finished ones nobody wrote down."""

    cycle: str
    calibration: bool
    over: bool
    """Whether it holds the lock of cycles no more, which dies with its process. Else it runs now."""
    forgotten: bool
    """Whether all that its jobs answered was forgotten: its report may have gone with it."""
    projects: tuple[str, ...]
    """Roots, of the tasks that are known; none where no job of a task ended."""
    started_at: datetime | None
    """When its first job was booked."""
    jobs: int
    """Started."""
    finished: int
    lost: int
    unsettled: int
    """Without an end in this cycle: what they used is unknown."""
    tokens: int
    cost: Decimal
    unknown_tokens: int
    unknown_cost: int

    @property
    def kind(self) -> str:
        """What it was, in words. Nothing is said for certain that the records do not bear."""
        if not self.over:
            return "a calibration, running now" if self.calibration else "running now"
        if self.calibration:
            return "a calibration that was broken off" if self.unsettled else "a calibration"
        if self.forgotten:
            return "broken off, or its report was forgotten"
        return "broken off"

    @property
    def what(self) -> str:
        """With its jobs that never came to an end."""
        return self.kind + (f", {counted(self.unsettled, 'job')} without an end" if self.unsettled else "")

    @property
    def used(self) -> str:
        """Jobs and money. What nobody told is said to be unknown."""
        unknown = " and unknown" if self.unknown_cost or self.unsettled else ""
        return f"{counted(self.jobs, 'job')}, {dollars(self.cost)}{unknown}"

    @property
    def told(self) -> str:
        """All that is known, in one line."""
        when = "" if self.started_at is None else f"began {self.started_at:%Y-%m-%d %H:%M} UTC, "
        ended = f"{self.finished} finished, {self.lost} lost, {self.unsettled} without an end"
        return f"{self.kind}; it {when}started {self.used} ({ended}; {counted(self.tokens, 'token')} known)"


def unreported(
    reported: Collection[str],
    *,
    booked: Sequence[Reservation],
    finished: Sequence[Finished],
    lost: Sequence[LostTry],
    draws: Sequence[Draw],
    projects: Mapping[str, str],
    running: str | None,
) -> tuple[Unreported, ...]:
    """By number. `projects` are those of tasks, by the task's id; `running` holds the lock of cycles."""
    names = {one.cycle for kind in (booked, finished, lost) for one in kind} - set(reported)
    calibrating = {job.key for job in finished if job.arm in CALIBRATING}
    return tuple(
        _one(
            name,
            booked=[one for one in booked if one.cycle == name],
            finished=[one for one in finished if one.cycle == name],
            lost=[one for one in lost if one.cycle == name],
            draws=[one for one in draws if one.cycle == name],
            calibrating=calibrating,
            projects=projects,
            over=name != running,
        )
        for name in sorted(names, key=number)
    )


def number(cycle: str) -> tuple[int, str]:
    """Cycles by their number: more digits are more."""
    return len(cycle), cycle


def _one(
    name: str,
    *,
    booked: Sequence[Reservation],
    finished: Sequence[Finished],
    lost: Sequence[LostTry],
    draws: Sequence[Draw],
    calibrating: set[Digest],
    projects: Mapping[str, str],
    over: bool,
) -> Unreported:
    ended, tries = {job.key for job in finished}, {one.id for one in lost}
    # Each job is booked before it starts; what has no booking is counted all the same.
    alone = ended - {one.key for one in booked}
    uses = [job.outcome.usage for job in finished] + [one.usage for one in lost]
    tasks = _tasks(finished, draws)
    return Unreported(
        cycle=name,
        calibration=any(draw.role == ROLE for draw in draws)
        or any(one.arm in CALIBRATING for one in lost)
        or any(one.key in calibrating for one in booked)
        or bool(calibrating & ended),
        over=over,
        forgotten=bool(finished) and all(job.outcome == use_alone(job.outcome) for job in finished),
        projects=tuple(sorted({root for task in tasks if (root := projects.get(task))})),
        started_at=min([one.at for one in booked] or [job.started_at for job in finished], default=None),
        jobs=len({one.id for one in booked} | tries) + len(alone),
        finished=len(finished),
        lost=len(lost),
        unsettled=sum(one.key not in ended and one.id not in tries for one in booked),
        tokens=sum(use.tokens for use in uses if use.tokens is not None),
        cost=sum((use.cost for use in uses if use.cost is not None), Decimal(0)),
        unknown_tokens=sum(use.tokens is None for use in uses),
        unknown_cost=sum(use.cost is None for use in uses),
    )


def _tasks(finished: Iterable[Finished], draws: Iterable[Draw]) -> set[str]:
    return {job.task for job in finished if job.task is not None} | {draw.task for draw in draws}
