"""The one door: every job passes here, and each concern is written once.

Redaction of what leaves, resume and cache by key, the hard budget, the reservation before a job starts,
the record after it ended, and the one place where a crash of a runner becomes a `Failed` outcome.
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from threading import Event, Lock

from nightschool.core.cycles import COST_BOOKED, TOKENS_BOOKED, Budget, Spend
from nightschool.core.errors import BudgetExhausted, NightschoolError, NothingAnswers, SetUpFailed
from nightschool.core.harness import File
from nightschool.core.jobs import Failed, Finished, Job, LostTry, Outcome, Reason, Reservation, Usage
from nightschool.core.ports import Clock, Redact, Runner, Store
from nightschool.core.tasks import GitSource
from nightschool.core.values import Digest
from nightschool.rules.limits import room
from nightschool.rules.telling import counted, dollars

MACHINE = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM}
)
"""Troubles of this machine: a job that met one of them is lost, and says nothing of the agent."""
LOST_IN_A_ROW = 3
"""So many jobs, all lost to one cause before any came to an end, and a run breaks off."""


@dataclass(slots=True)
class Door:
    """A runner that remembers, pays and keeps secrets, in front of one that only runs.

    Safe to be used by several threads; one job of a key runs at a time only if the caller sees to it.
    """

    runner: Runner
    store: Store
    clock: Clock
    redact: Redact
    budget: Budget
    cycle: str
    closed: bool = False
    """Nobody agreed to a job, since none was foreseen."""
    _spend: Spend = field(default_factory=Spend)
    _began: timedelta | None = None
    """By the clock that stands still in sleep: when the first job was booked."""
    _lock: Lock = field(default_factory=Lock)
    _ended: bool = False
    """Whether a job of this cycle came to an outcome."""
    _lost_to: dict[str, set[Digest]] = field(default_factory=dict)
    """By cause, the jobs that were lost before that."""

    @property
    def name(self) -> str:
        return self.runner.name

    def version(self) -> str:
        return self.runner.version()

    @property
    def spend(self) -> Spend:
        with self._lock:
            return self._spend

    def known(self, job: Job) -> Outcome | None:
        """The outcome of a job that finished before, at no cost."""
        finished = self.store.get(Finished, self.safe(job).key)
        return finished.outcome if finished is not None else None

    @property
    def worked(self) -> timedelta:
        """Since the first job began, without the time that the machine slept."""
        with self._lock:
            return self._worked()

    def left(self) -> int:
        """How many more jobs the budget allows to start now, each booked in full."""
        with self._lock:
            if self.closed or self._over() is not None:
                return 0
            return fitting(self._spend, self.budget)

    def share(self, jobs: int, of: int) -> Callable[[], int]:
        """How much is left of a share of the budget, asked again and again: so many jobs, and the time that
        is left parted by `of`."""
        floor = self.left() - jobs
        wall, began = self.budget.wall, self.worked
        until = None if wall is None else began + (wall - began) / of

        def rest() -> int:
            if until is not None and self.worked >= until:
                return 0
            return max(0, self.left() - floor)

        return rest

    def stopped_by(self) -> str | None:
        """Which limit ended the budget, in words; None while there is some left."""
        with self._lock:
            return self._over()

    def scarce(self) -> str | None:
        """Which limit leaves the least room for further jobs, and how much; None where none is set."""
        with self._lock:
            found = room(self.budget, self._spend)
        return found.limit and f"{found.limit} leaves room for no more than {counted(found.jobs, 'job')}"

    def run(self, job: Job, cancelled: Event) -> Outcome:
        """Answer from a finished job of the same key, else book, run and record it."""
        safe = self.safe(job)
        known = self.store.get(Finished, safe.key)
        if known is not None:
            self.answered(1)
            return known.outcome
        reservation = self._book(safe)
        began = self.clock.now()
        try:
            outcome = self.runner.run(safe, cancelled)
        except SetUpFailed as error:
            told = error.redacted(self.redact)
            self._settle(safe, reservation, began, _not_begun(told.why))
            raise told from None
        except NightschoolError as error:
            lost = Failed(reason=Reason.INFRASTRUCTURE, message=self.redact(str(error)))
            self._settle(safe, reservation, began, lost)
            raise
        except Exception as error:  # noqa: BLE001 - the one boundary: a runner's crash is an outcome
            message = self.redact(f"the runner crashed: {type(error).__name__}: {error}")
            away = isinstance(error, OSError) and error.errno in MACHINE
            outcome = Failed(reason=Reason.INFRASTRUCTURE if away else Reason.BAD_REPLY, message=message)
        outcome = self._bounded(outcome)
        self._settle(safe, reservation, began, outcome)
        self._see_whether_any_answers(safe, outcome)
        return outcome

    def answered(self, jobs: int) -> None:
        """So many finished jobs of before answered, at no cost."""
        with self._lock:
            self._spend = replace(self._spend, reused=self._spend.reused + jobs)

    def safe(self, job: Job) -> Job:
        """The job with every text that leaves redacted. Redaction is idempotent, so the key is stable."""
        return replace(
            job, prompt=self.redact(job.prompt), files=tuple(_redacted(f, self.redact) for f in job.files)
        )

    def _book(self, job: Job) -> Reservation:
        reservation = Reservation(
            key=job.key,
            attempt=self.store.take("attempts"),
            cycle=self.cycle,
            at=self.clock.now(),
            tokens=TOKENS_BOOKED,
            cost=COST_BOOKED,
        )
        with self._lock:
            reason = "no job was agreed to: run again" if self.closed else self._over()
            if reason is not None:
                raise BudgetExhausted(reason)
            self._began = self.clock.awake() if self._began is None else self._began
            self._spend = replace(self._spend, jobs=self._spend.jobs + 1, unsettled=self._spend.unsettled + 1)
        self.store.commit(reservation)
        return reservation

    def _settle(self, job: Job, reservation: Reservation, began: datetime, outcome: Outcome) -> None:
        lost = isinstance(outcome, Failed) and outcome.lost
        if isinstance(outcome, Failed) and lost:
            record: LostTry | Finished = LostTry(
                key=job.key,
                attempt=reservation.attempt,
                cycle=self.cycle,
                reason=outcome.reason,
                message=outcome.message,
                usage=outcome.usage,
                arm=job.arm,
            )
        else:
            record = Finished(
                key=job.key,
                cycle=self.cycle,
                role=job.role,
                agent=job.agent,
                started_at=began,
                ended_at=self.clock.now(),
                outcome=outcome,
                task=job.task,
                arm=job.arm,
                draw=job.draw,
            )
        self.store.commit(record)
        with self._lock:
            self._spend = added(self._spend, outcome.usage, lost=lost)

    def _see_whether_any_answers(self, job: Job, outcome: Outcome) -> None:
        """Raise `NothingAnswers` where nothing did so far, and it is no use to go on."""
        with self._lock:
            if not (isinstance(outcome, Failed) and outcome.lost):
                self._ended = True
            if self._ended or not isinstance(outcome, Failed) or outcome.reason is Reason.CANCELLED:
                return
            if isinstance(job.workspace, GitSource) and job.workspace.commit[:12] in outcome.message:
                return  # what is wrong with one workspace says nothing of the others
            jobs = self._lost_to.setdefault(outcome.message.partition(": ")[0], set())
            jobs.add(job.key)
            if len(jobs) < LOST_IN_A_ROW:
                return
        raise NothingAnswers(
            f"the first {LOST_IN_A_ROW} jobs were all lost outside of the agent's work, so no further one "
            f"was started: {outcome.message.rstrip(' .')}. No exam was charged. The way out: see that "
            "what it names can be reached (`nightschool doctor`), then run again"
        )

    def _bounded(self, outcome: Outcome) -> Outcome:
        """The outcome with its texts redacted before anything is stored."""
        calls = tuple(
            replace(
                call,
                arguments=self.redact(call.arguments),
                command=None if call.command is None else self.redact(call.command),
                result=None if call.result is None else self.redact(call.result),
            )
            for call in outcome.trajectory
        )
        files = tuple(
            replace(
                change, added=self.redact(change.added), content=_redacted_bytes(change.content, self.redact)
            )
            for change in outcome.files
        )
        if isinstance(outcome, Failed):
            return replace(outcome, message=self.redact(outcome.message), trajectory=calls, files=files)
        return replace(outcome, reply=self.redact(outcome.reply), trajectory=calls, files=files)

    def _over(self) -> str | None:
        """Why no further job may start; called with the lock held."""
        return used_up(self._spend, self.budget, self._worked())

    def _worked(self) -> timedelta:
        """Neither a sleep nor a clock that was set takes time of the limit away, or gives any."""
        return timedelta(0) if self._began is None else self.clock.awake() - self._began


def _not_begun(why: str) -> Failed:
    """A loss before any agent was started: that it used nothing is known."""
    return Failed(reason=Reason.INFRASTRUCTURE, message=why, usage=Usage(tokens=0, cost=Decimal(0)))


def used_up(spend: Spend, budget: Budget, worked: timedelta) -> str | None:
    """Why no further job may start, in words."""
    if budget.jobs is not None and spend.jobs >= budget.jobs:
        return f"the limit of {counted(budget.jobs, 'job')} is reached"
    if budget.wall is not None and worked >= budget.wall:
        return f"the limit of {counted(round(budget.wall.total_seconds() / 60), 'minute')} is reached"
    return _no_room(spend, budget)


def _no_room(spend: Spend, budget: Budget) -> str | None:
    """Why tokens or money leave no room for another job. Each running job stays booked in full."""
    booked = spend.unsettled + 1
    if budget.tokens is not None:
        if spend.unknown_tokens:
            return "a job did not tell its tokens, so the token limit cannot be kept"
        if spend.tokens + booked * TOKENS_BOOKED > budget.tokens:
            return f"the limit of {counted(budget.tokens, 'token')} leaves no room for another job"
    if budget.cost is not None:
        if spend.unknown_cost:
            return "a job did not tell its cost, so the money limit cannot be kept"
        if spend.cost + booked * COST_BOOKED > budget.cost:
            return f"the limit of {dollars(budget.cost)} leaves no room for another job"
    return None


def fitting(spend: Spend, budget: Budget) -> int:
    """How many jobs fit under the limits on jobs, tokens and money, where none of these is over yet."""
    return room(budget, spend).jobs


def added(spend: Spend, usage: Usage, *, lost: bool) -> Spend:
    """The spend with one job settled."""
    return replace(
        spend,
        unsettled=spend.unsettled - 1,
        lost=spend.lost + lost,
        tokens=spend.tokens + (usage.tokens or 0),
        cost=spend.cost + (usage.cost or Decimal(0)),
        unknown_tokens=spend.unknown_tokens + (usage.tokens is None),
        unknown_cost=spend.unknown_cost + (usage.cost is None),
    )


def _redacted(file: File, redact: Redact) -> File:
    content = _redacted_bytes(file.content, redact)
    return file if content is None else replace(file, content=content)


def _redacted_bytes(content: bytes | None, redact: Redact) -> bytes | None:
    """Text with its secrets replaced; bytes that are no UTF-8 stay as they are."""
    if content is None:
        return None
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return content
    return redact(text).encode("utf-8")
