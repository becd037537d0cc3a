"""The half of a cycle that starts no job: harvest and mine, or the tasks of a file.

Relieves the cycle of it, so that a dry run needs no agent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from nightschool.core.cycles import CycleReport
from nightschool.core.ports import Clock, Progress, Projects, Store, TranscriptSource
from nightschool.core.sessions import Session
from nightschool.core.tasks import Candidate, Correction, Task, TaskMark, roots_in
from nightschool.core.values import Value
from nightschool.rules.corrections import enough
from nightschool.rules.marks import NOTHING_SAID, serving, standings
from nightschool.rules.words import Words
from nightschool.stages.harvest import HarvestReport, HarvestRequest, harvest
from nightschool.stages.mine import Mined, mine, open_holdout, pooled


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared(Value):
    """What was read and mined, before a job is started."""

    started_at: datetime
    awake: timedelta
    """What the clock of limits said then."""
    harvested: HarvestReport
    mined: Mined
    sessions_known: int
    own: tuple[Session, ...] = ()
    """Sessions of the projects that the run is about with something new since the last cycle that was
    about them, whichever run read it."""
    known_own: int | None = None
    """Sessions of these projects, new or not; None where no session was asked."""
    elsewhere: int = 0
    """Harvested sessions of other projects: read for the runs of theirs."""

    @property
    def words(self) -> dict[str, str]:
        """What each candidate is called. It has words of train sessions alone; the person reads those that
        `corrections` shows."""
        said = {item.id: item.statement for item in self.mined.corrections}
        return {item.id: said.get(item.correction, item.statement) for item in self.mined.candidates}


@dataclass(slots=True, kw_only=True)
class Preparation:
    """The half of a cycle that starts no job: all that a dry run needs, also where no agent is installed."""

    store: Store
    clock: Clock
    projects: Projects
    sources: Mapping[str, TranscriptSource]
    max_tasks: int
    words: Words
    project: str | None
    """Root of the project; None for all."""
    progress: Progress

    def prepare(self, request: HarvestRequest) -> Prepared:
        """Harvest and mine."""
        started, awake = self.clock.now(), self.clock.awake()
        harvested = harvest(
            request,
            sources=self.sources,
            store=self.store,
            clock=self.clock,
            enough=self._enough,
            progress=lambda step: self.progress("reading sessions", step.done, step.total),
        )
        sessions = self.store.find(Session)
        mined = mine(
            sessions,
            store=self.store,
            projects=self.projects,
            scope=self.project,
            max_tasks=self.max_tasks,
            words=self.words,
        )
        return Prepared(
            started_at=started,
            awake=awake,
            harvested=harvested,
            mined=mined,
            sessions_known=len(sessions),
            own=self._news(harvested.sessions, sessions),
            known_own=len(self._own(sessions)),
            elsewhere=len(harvested.sessions) - len(self._own(harvested.sessions)),
        )

    def _enough(self, sessions: Sequence[Session]) -> bool:
        """Of the project that it is about: a busy one beside it does not end the look back."""
        return enough(self._own(sessions))

    def _own(self, sessions: Sequence[Session]) -> tuple[Session, ...]:
        roots = roots_in(self.project)
        if roots is None:
            return tuple(sessions)
        return tuple(one for one in sessions if one.project and self.projects.root(one.project) in roots)

    def _news(self, read: Sequence[Session], known: Sequence[Session]) -> tuple[Session, ...]:
        """What was read now, and what another run, or a command that only reads, found since the last one."""
        began = max(
            (one.started_at for one in self.store.find(CycleReport) if self._about(one)), default=None
        )
        fresh = {session.id for session in read}
        return tuple(
            one
            for one in self._own(known)
            if one.id in fresh or began is None or (one.ended_at is not None and one.ended_at > began)
        )

    def _about(self, report: CycleReport) -> bool:
        """Whether a run that came to its end was about all of these projects."""
        if report.failed is not None or report.roots is None:
            return report.failed is None
        roots = roots_in(self.project)
        return roots is not None and roots <= report.roots

    def taken(self, tasks: Sequence[Task]) -> Prepared:
        """These tasks instead of what sessions give, with the corrections that they concern. Nothing is
        read, so no cursor moves; the exam is one more of the hold-out version that is open."""
        chosen = frozenset(task.id for task in tasks)
        marked = standings(self.store.find(TaskMark))
        kept = tuple(task for task in tasks if marked.get(task.id, NOTHING_SAID).out is None)
        about = {name for task in kept for name in task.concerns}
        candidates = tuple(one for one in self.store.find(Candidate) if one.id in about)
        heard = {one.correction for one in candidates}
        pool = serving(pooled(self.store, self.project), self.store.find(TaskMark))
        mined = Mined(
            corrections=tuple(one for one in self.store.find(Correction) if one.id in heard),
            candidates=candidates,
            waiting=(),
            tasks=kept,
            new_tasks=0,
            assignments=(),
            skipped=(),
            postponed=0,
            holdout=open_holdout({*pool, *kept}, self.project or "", self.store),
            chosen=chosen,
        )
        return Prepared(
            started_at=self.clock.now(),
            awake=self.clock.awake(),
            harvested=HarvestReport(
                sessions=(), left_out=(), files=0, unchanged=0, postponed=0, looked_back_to=None
            ),
            mined=mined,
            sessions_known=len(self.store.find(Session)),
        )
