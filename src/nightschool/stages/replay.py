"""Replays tasks under a harness: requests in, scored trials out."""

from __future__ import annotations

import posixpath
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from nightschool.core.errors import BudgetExhausted
from nightschool.core.harness import Absent
from nightschool.core.jobs import Failed, Job, JobOptions, Outcome, Provision, Role, provided
from nightschool.core.ports import Engine, Progress, Store
from nightschool.core.sessions import skills_loaded
from nightschool.core.tasks import Task
from nightschool.core.trials import Trial, TrialRequest
from nightschool.core.values import Digest, digest_of
from nightschool.rules.checking import JUDGE_VERSION, judge
from nightschool.stages.door import Door

TRIES = 3
"""A job that failed outside of itself (429, 5xx, sandbox start) is tried so often on the same draw."""
PAUSE_SECONDS = 2.0
"""Before the second try; doubled before the third."""


@dataclass(slots=True)
class Replay:
    """`Practice` over an engine and the door. Trials of finished jobs cost nothing."""

    door: Door
    engine: Engine
    store: Store
    cycle: str
    options: JobOptions
    surface_version: str
    progress: Progress = field(default=lambda _words, _done, _total: None)
    pause: Callable[[float], None] = field(default=time.sleep)
    lost: dict[str, int] = field(default_factory=dict)
    """Trials that stayed lost, by arm."""
    made: int = 0
    provisions: dict[str, Provision] = field(default_factory=dict)
    """By the folder whose settings say so: a project's root, or a folder below it whose own say otherwise.
    What is not named is given nothing."""
    about: str = ""
    """Stands before what is told."""
    _doing: str = ""

    def left(self) -> int:
        return self.door.left()

    def tell(self, words: str) -> None:
        self._doing = self.about + words
        self._report()

    def _report(self) -> None:
        """The jobs that ended, of those that the budget allows."""
        spend = self.door.spend
        self.progress(self._doing, spend.jobs - spend.unsettled, self.door.budget.jobs)

    @property
    def conditions(self) -> Digest:
        """What a trial depends on besides task, harness, runner and model."""
        given = sorted(self.provisions.items())
        return digest_of(self.options, self.surface_version, *([given] if given else []))

    def provided(self, task: Task) -> tuple[str, Provision]:
        """What its workspace is given, and the folder whose settings say so."""
        return provided(self.provisions, task.project, task.folder)

    def lacking(self, absent: Sequence[Absent]) -> Iterator[Absent]:
        """Of what the commits do not hold what these workspaces are not given either."""
        for one in absent:
            project = posixpath.dirname(one.place)
            if one.kind not in self.provisions.get(project, Provision()).brings:
                yield one

    def ask(self, job: Job) -> Outcome:
        """One job that is no trial (an edit), through the same engine, retries and budget."""
        safe = self.door.safe(job)
        if self.door.known(safe) is None and self.door.left() == 0:
            raise BudgetExhausted(self.door.stopped_by() or "the budget is used up")
        return self._run({safe.key: safe})[safe.key]

    def trials(self, requests: Sequence[TrialRequest]) -> Sequence[Trial]:
        jobs = [self.door.safe(self.job(request)) for request in requests]
        new = {job.key for job in jobs if self.door.known(job) is None}
        if new and len(new) > self.door.left():
            reason = self.door.stopped_by() or f"{len(new)} more jobs do not fit into the budget"
            raise BudgetExhausted(reason)
        outcomes = self._run({job.key: job for job in jobs})
        return [
            self._trial(request, job, outcomes[job.key]) for request, job in zip(requests, jobs, strict=True)
        ]

    def job(self, request: TrialRequest) -> Job:
        """The job of a trial. Only a trial of the gate carries arm and draw; others are shared by key."""
        return Job(
            role=Role.ATTEMPT,
            prompt=request.task.prompt,
            agent=self.door.name,
            agent_version=self.door.version(),
            harness=request.harness,
            workspace=request.task.workspace,
            folder=request.task.folder,
            provision=self.provided(request.task)[1],
            options=self.options,
            task=request.task.id,
            surface_version=self.surface_version,
            repeat=request.repeat,
            arm=None if request.draw is None else request.arm,
            draw=request.draw,
        )

    def _run(self, jobs: dict[str, Job]) -> dict[str, Outcome]:
        outcomes: dict[str, Outcome] = {}
        waiting = dict(jobs)
        for attempt in range(TRIES):
            if attempt:
                self.pause(PAUSE_SECONDS * 2 ** (attempt - 1))
            try:
                outcomes |= self._round(waiting)
            except BaseException:
                # Ctrl-C between two submits, a progress line that nobody reads: no job outlives its cycle.
                self.engine.stop()
                raise
            waiting = {key: job for key, job in jobs.items() if _lost(outcomes[key])}
            if not waiting or self.door.left() < len(waiting):
                break
        return outcomes

    def _round(self, jobs: dict[str, Job]) -> dict[str, Outcome]:
        tickets = {self.engine.submit(job): key for key, job in jobs.items()}
        outcomes: dict[str, Outcome] = {}
        for ticket, outcome in self.engine.completed():
            outcomes[tickets[ticket]] = outcome
            self._report()
        return outcomes

    def _trial(self, request: TrialRequest, job: Job, outcome: Outcome) -> Trial:
        judgement = judge(request.task.checks, outcome)
        trial = Trial(
            task=request.task.id,
            arm=request.arm,
            harness=request.harness.digest,
            job=job.key,
            repeat=request.repeat,
            draw=request.draw,
            score=judgement.score,
            judge=JUDGE_VERSION,
            failed_checks=judgement.failed,
            note=judgement.note,
            purpose=request.purpose,
            skills=skills_loaded(outcome.trajectory),
            cycle=self.cycle,
        )
        known = self.store.get(Trial, trial.id)
        if known is not None:
            return known
        if trial.score is None:
            self.lost[request.arm] = self.lost.get(request.arm, 0) + 1
            return trial  # not kept: its tries are on record, and another request for it makes it anew
        self.store.commit(trial)
        self.made += 1
        return trial


def _lost(outcome: Outcome) -> bool:
    return isinstance(outcome, Failed) and outcome.lost
