"""Replays tasks under a harness: requests in, scored trials out."""

from __future__ import annotations

import posixpath
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
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
from nightschool.stages.shares import Share

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
    shares: dict[str, Share] = field(default_factory=dict)
    """By project: what its own file leaves it, in a run over several."""
    owner: str = ""
    """The project whose correction is learned from; "" where several are."""
    rest: Callable[[], int] | None = None
    """What is left of the share of the work in hand; None: all that is left is for it."""
    about: str = ""
    """Stands before what is told."""
    _doing: str = ""
    _project: dict[Digest, str] = field(default_factory=dict)
    """By job: whose share it is of."""

    def left(self) -> int:
        share = self.shares.get(self.owner)
        return self.door.left() if share is None else min(self.door.left(), share.left())

    def share(self) -> int:
        """Of `left` what is for the work in hand, while others wait for their turn."""
        return self.left() if self.rest is None else min(self.left(), self.rest())

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
        self._need_room({safe.key: self.owner} if self.door.known(safe) is None else {})
        return self._run({safe.key: safe})[safe.key]

    def trials(self, requests: Sequence[TrialRequest]) -> Sequence[Trial]:
        jobs = [self.door.safe(self.job(request)) for request in requests]
        self._need_room(
            {
                job.key: request.task.project
                for request, job in zip(requests, jobs, strict=True)
                if self.door.known(job) is None
            }
        )
        outcomes = self._run({job.key: job for job in jobs})
        return [
            self._trial(request, job, outcomes[job.key]) for request, job in zip(requests, jobs, strict=True)
        ]

    def _need_room(self, new: Mapping[Digest, str]) -> None:
        """Raise `BudgetExhausted` where these jobs, each with its project, do not all fit."""
        self._project = dict(new)
        if new and len(new) > self.door.left():
            reason = self.door.stopped_by() or f"{len(new)} more jobs do not fit into the budget"
            raise BudgetExhausted(reason)
        for project, jobs in Counter(new.values()).items():
            share = self.shares.get(project)
            if share is not None and (why := share.refuses(jobs)) is not None:
                raise BudgetExhausted(why)

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

    def _run(self, jobs: dict[Digest, Job]) -> dict[Digest, Outcome]:
        outcomes: dict[Digest, Outcome] = {}
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
            if not waiting or not self._fit(waiting):
                break
        return outcomes

    def _fit(self, jobs: Collection[Digest]) -> bool:
        shares = [(share, len(mine)) for share, mine in self._shared(jobs)]
        return len(jobs) <= self.door.left() and not any(share.refuses(count) for share, count in shares)

    def _shared(self, jobs: Collection[Digest]) -> Iterator[tuple[Share, list[Digest]]]:
        """The shares that these jobs are of, each with its own. What was finished before is of none."""
        for project, share in self.shares.items():
            mine = [key for key in jobs if self._project.get(key) == project]
            if mine:
                yield share, mine

    def _round(self, jobs: dict[Digest, Job]) -> dict[Digest, Outcome]:
        shared, began = list(self._shared(jobs)), self.door.clock.awake()
        for share, mine in shared:
            share.began(len(mine))
        tickets = {self.engine.submit(job): key for key, job in jobs.items()}
        outcomes: dict[Digest, Outcome] = {}
        for ticket, outcome in self.engine.completed():
            outcomes[tickets[ticket]] = outcome
            self._report()
        for share, mine in shared:
            share.worked += self.door.clock.awake() - began
            for key in mine:
                share.ended(outcomes[key].usage, lost=_lost(outcomes[key]))
        return outcomes

    def scored(self, request: TrialRequest, job: Job, outcome: Outcome) -> Trial:
        """The trial that an outcome gives. Nothing is stored."""
        judgement = judge(request.task.checks, outcome)
        return Trial(
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

    def _trial(self, request: TrialRequest, job: Job, outcome: Outcome) -> Trial:
        trial = self.scored(request, job, outcome)
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
