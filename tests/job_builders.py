"""Jobs, doors and runners for tests of what stands between a stage and a runner."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from threading import Event

from nightschool.adapters.inline_engine import InlineEngine
from nightschool.core.cycles import Budget
from nightschool.core.harness import Harness, Scope, Target
from nightschool.core.jobs import (
    Delivered,
    Failed,
    FileChange,
    Job,
    JobOptions,
    Outcome,
    Reason,
    Role,
    Usage,
)
from nightschool.core.ports import Redact, Runner, Store
from nightschool.core.tasks import Candidate, Footprint, Moment, Split, Task
from nightschool.core.trials import Arm, TrialRequest
from nightschool.stages.door import Door
from nightschool.stages.replay import Replay
from nightschool.testing.clock import FakeClock

FREE = Usage(tokens=0, cost=Decimal(0))
UNLIMITED = Budget(jobs=None, wall=None)
LOST = Failed(reason=Reason.INFRASTRUCTURE, message="the server answered 503", usage=FREE)
SECRET = "hunter2"  # what `redact` of these tests takes out


def hide(text: str) -> str:
    return text.replace(SECRET, "[secret]")


def did(added: str = "pnpm install", reply: str = "done", usage: Usage = FREE) -> Delivered:
    """An attempt that left one file behind."""
    files = (FileChange(path="setup.sh", content=added.encode(), added=added),)
    return Delivered(reply=reply, files=files, usage=usage)


@dataclass(slots=True)
class FakeRunner:
    """Answers by a function of the job and of how often it was run before; keeps every job it was given."""

    answer: Callable[[Job, int], Outcome]
    name: str = "fake"
    jobs: list[Job] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    tells_cost: bool = True
    sends_to: str = ""

    def version(self) -> str:
        return "1"

    def check(self) -> None:
        """It needs nothing."""

    def run(self, job: Job, cancelled: Event) -> Outcome:
        with self._lock:
            before = sum(known.key == job.key for known in self.jobs)
            self.jobs.append(job)
        return self.answer(job, before)


def runs_of(*outcomes: Outcome) -> FakeRunner:
    """A runner whose tries of one job come out like this, one after the other; the last one stays."""
    return FakeRunner(lambda _, before: outcomes[min(before, len(outcomes) - 1)])


def door_of(runner: Runner, store: Store, *, budget: Budget = UNLIMITED, redact: Redact = hide) -> Door:
    return Door(
        runner=runner,
        store=store,
        clock=FakeClock(step=timedelta(0)),
        redact=redact,
        budget=budget,
        cycle="n-0001",
    )


def replay_of(
    door: Door, store: Store, *, width: int = 2, paused: Callable[[float], None] = lambda _: None
) -> Replay:
    return Replay(
        door=door,
        engine=InlineEngine(door.run, width=width),
        store=store,
        cycle="n-0001",
        options=JobOptions(),
        surface_version="1",
        pause=paused,
    )


def job_of(prompt: str = "Set it up", **more: object) -> Job:
    values: dict[str, object] = {
        "role": Role.ATTEMPT,
        "prompt": prompt,
        "agent": "fake",
        "agent_version": "1",
        "harness": Harness(),
    }
    return Job(**(values | more))  # type: ignore[arg-type]  # values by name


MOMENT = Moment(session="claude-code:aaaa1111", turn=2, quote="use pnpm, not npm")
CHECK = Footprint(wanted="pnpm", unwanted="npm")
CANDIDATE = Candidate(
    correction="c-0123456789",
    statement="use pnpm, not npm",
    evidence=(MOMENT,),
    sessions=("claude-code:aaaa1111", "claude-code:bbbb2222"),
    check=CHECK,
    project="/p",
)
TARGET = Target(agent="claude-code", scope=Scope.PROJECT, project="/p", place="project/CLAUDE.md")


def task_of(prompt: str = "Set it up", split: Split = Split.TRAIN) -> Task:
    return Task(
        prompt=prompt,
        workspace=job_of().workspace,
        checks=(CHECK,),
        session=MOMENT.session,
        turn=0,
        source="claude-code",
        project="/p",
        cluster="s-1",
        split=split,
        concerns=(CANDIDATE.id,),
    )


def requests_of(*prompts: str, draw: int | None = None, purpose: str = "train") -> Sequence[TrialRequest]:
    return [
        TrialRequest(
            task=task_of(prompt), harness=Harness(), arm=Arm.BASE, purpose=purpose, repeat=0, draw=draw
        )
        for prompt in prompts
    ]
