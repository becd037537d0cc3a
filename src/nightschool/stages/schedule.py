"""Schedules runs: which scheduler, what stands there, what is put and taken away. One entry a data folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from nightschool.core.errors import NotAllowed, SchedulerFailed
from nightschool.core.forgetting import is_inside
from nightschool.core.ports import Clock
from nightschool.core.schedules import Plan, ScheduledRun, ScheduleMemory, Scheduler

State = Literal["none", "installed", "changed", "gone", "unremembered", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What is scheduled, as it stands on the machine and not as it was once meant."""

    state: State
    plan: Plan | None = None
    next: datetime | None = None
    """None where nothing will start, or nobody knows when."""
    last: ScheduledRun | None = None
    goes_on: bool = False
    """Whether the last start is at work at this moment."""
    trouble: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduling:
    """The schedulers of a machine, by preference, with what is remembered of ours."""

    schedulers: Mapping[str, Scheduler]
    memory: ScheduleMemory
    clock: Clock
    mark: str

    def look(self) -> Look:
        """A scheduler that cannot be read raises nothing here: that is a state."""
        return replace(self._look(), last=self.memory.last(), goes_on=self.memory.goes_on())

    def _look(self) -> Look:
        plan = self.memory.plan()
        asked = [self.schedulers[plan.scheduler]] if plan is not None else self.schedulers.values()
        found, trouble = None, ""
        for scheduler in asked:
            try:
                found = found or scheduler.installed(self.mark)
            except SchedulerFailed as error:
                trouble = str(error)
        if plan is None:
            state: State = "unremembered" if found else "unknown" if trouble else "none"
            return Look(state=state, trouble=trouble)
        if trouble:
            return Look(state="unknown", plan=plan, trouble=trouble)
        if found is None:
            return Look(state="gone", plan=plan)
        same = found == self.schedulers[plan.scheduler].text(plan.entry)
        upcoming = self._next(plan) if same else None
        return Look(state="installed" if same else "changed", plan=plan, next=upcoming)

    def _next(self, plan: Plan) -> datetime:
        """On the clock of this machine, which may be another one tomorrow (summer time)."""
        wall = self.clock.now().astimezone().replace(tzinfo=None)
        return plan.entry.at.after(wall).astimezone()

    def choose(self, asked: str | None, otherwise: str | None = None) -> Scheduler:
        """The scheduler that was asked for, else the one that has our entry, else the first that is here."""
        plan = self.memory.plan()
        name = asked or (plan.scheduler if plan is not None else None)
        if name is not None:
            return self.schedulers[name]
        for scheduler in self.schedulers.values():
            if scheduler.here():
                return scheduler
        if otherwise is not None:
            return self.schedulers[otherwise]
        text = (
            "neither systemd's manager of this user nor cron is here: give what `nightschool schedule print` "
            "prints to whatever starts things on this machine"
        )
        raise NotAllowed([("no-scheduler", text)])

    def install(self, plan: Plan) -> None:
        """Make this the one entry. What cannot be read is left alone, and then nothing is changed."""
        before = self.memory.plan()
        chosen = self.schedulers[plan.scheduler]
        others = [other for other in self.schedulers.values() if other is not chosen]
        strict = {other.name for other in others if before is not None and before.scheduler == other.name}
        had = [other for other in others if self._has(other, strict=other.name in strict)]
        chosen.install(plan.entry)
        self.memory.keep_plan(plan)
        for other in had:
            other.remove(self.mark)

    def remove(self) -> Sequence[str]:
        """Take our entry away, wherever it is; the names of the schedulers that had it.

        What can be removed is, before it raises for one that cannot be read or told.
        """
        plan = self.memory.plan()
        removed, failed = [], None
        for scheduler in self.schedulers.values():
            ours = plan is None or plan.scheduler == scheduler.name
            try:
                if self._has(scheduler, strict=ours):
                    scheduler.remove(self.mark)
                    removed.append(scheduler.name)
            except SchedulerFailed as error:
                failed = failed or error
        if failed is not None:
            raise failed
        self.memory.keep_plan(None)
        return removed

    def forget(self, root: str) -> None:
        """No word of a project, and of those below it, in what is remembered of the last start. What is
        scheduled stays as it is."""
        last = self.memory.last()
        if last is None:
            return
        runs = tuple(run for run in last.runs if not is_inside(root, run.project))
        note = "" if root in last.note else last.note
        if (runs, note) != (last.runs, last.note):
            self.memory.keep_last(replace(last, runs=runs, note=note))

    def _has(self, scheduler: Scheduler, *, strict: bool) -> bool:
        try:
            return scheduler.installed(self.mark) is not None
        except SchedulerFailed:
            if strict:
                raise
            return False
