"""What the program itself takes for its jobs: one whole cycle of 40 tasks, and many jobs at once.

    python bench/bench_cycle.py [JOBS]

The runner answers at once, so all that is left is our own time: keys, redaction, records, judging, gate. To
reach: under 10 ms of our own for each job, and 1,000 jobs of one second at width 100 in under 11 s. Printed
are seconds, and ratios to these figures. The machine's other work is in them.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from threading import Event

from nightschool import settings
from nightschool.adapters.inline_engine import InlineEngine
from nightschool.core.cycles import CycleReport
from nightschool.core.harness import Harness
from nightschool.core.jobs import Delivered, FileChange, Job, Outcome, Role, Usage
from nightschool.core.tasks import (
    Candidate,
    Check,
    FilesSource,
    Footprint,
    HoldoutVersion,
    Moment,
    Split,
    Task,
    Touched,
)
from nightschool.core.trials import Arm, TrialRequest
from nightschool.stages.cycle import Cycle
from nightschool.stages.harvest import HarvestReport
from nightschool.stages.mine import Mined
from nightschool.stages.prepare import Prepared
from nightschool.testing.scripted_runner import quoting_editor
from nightschool.wiring import Parts, opened

OWN, WIDE = 0.010, 11.0
TASKS, TRAIN, ABOUT = 40, 4, 24
WIDTH = 100
USAGE = Usage(tokens=1_000, cost=Decimal("0.01"), wall=timedelta(seconds=1))
CHECK = Footprint(wanted="pnpm", unwanted="npm")


@dataclass(slots=True)
class Quick:
    """An agent that follows a rule exactly when its memory holds it, after so many seconds."""

    seconds: float = 0.0
    name: str = "scripted"
    tells_cost: bool = True
    sends_to: str = ""

    def version(self) -> str:
        return "quick"

    def check(self) -> None:
        """It needs nothing."""

    def run(self, job: Job, cancelled: Event) -> Outcome:
        cancelled.wait(self.seconds)
        if job.role is Role.EDIT:
            return Delivered(reply=quoting_editor(job), usage=USAGE)
        known = any(b"pnpm" in file.content for file in job.harness.files)
        added = "pnpm install" if known else "npm install"
        files = (FileChange(path="setup.sh", content=added.encode(), added=added),)
        return Delivered(reply="done", files=files, usage=USAGE)


def task(number: int, candidate: Candidate, project: str) -> Task:
    about, train = number < ABOUT, number < TRAIN
    checks: tuple[Check, ...] = (CHECK,) if about else (Touched(paths=("setup.sh",)),)
    return Task(
        prompt=f"Set up part {number} of the shop, with its tests. " + f"Case {number}. " * 40,
        workspace=FilesSource(),
        checks=checks,
        session=f"codex:{number}",
        turn=0,
        source="codex",
        project=project,
        cluster=f"cluster {number}",
        split=Split.TRAIN if train else Split.HOLDOUT,
        concerns=(candidate.id,) if about else (),
        at=datetime(2025, 1, 1, tzinfo=UTC),
    )


def material(parts: Parts, project: str) -> Prepared:
    """40 tasks: 4 to train on, 20 held out that the correction concerns, 16 that it does not."""
    candidate = Candidate(
        correction="c-1",
        statement="use pnpm, not npm",
        evidence=(Moment(session="codex:0", turn=2, quote="use pnpm, not npm"),),
        sessions=tuple(f"codex:{number}" for number in range(ABOUT)),
        check=CHECK,
        project=project,
    )
    tasks = tuple(task(number, candidate, project) for number in range(TASKS))
    held = tuple(sorted(one.id for one in tasks if one.split is Split.HOLDOUT))
    holdout = HoldoutVersion(pool=project, number=1, tasks=held)
    parts.store.commit(candidate, *tasks, holdout)
    mined = Mined(
        corrections=(),
        candidates=(candidate,),
        waiting=(),
        tasks=tasks,
        new_tasks=TASKS,
        assignments=(),
        skipped=(),
        postponed=0,
        holdout=holdout,
    )
    nothing = HarvestReport(sessions=(), left_out=(), files=0, unchanged=0, postponed=0, looked_back_to=None)
    return Prepared(
        started_at=parts.clock.now(),
        awake=parts.clock.awake(),
        harvested=nothing,
        mined=mined,
        sessions_known=0,
    )


@contextmanager
def ready(runner: Quick, width: int | None = None) -> Iterator[tuple[Parts, Cycle, str]]:
    with tempfile.TemporaryDirectory(prefix="bench-cycle-") as folder:
        person, project = Path(folder) / "sam", Path(folder) / "sam" / "shop"
        project.mkdir(parents=True)
        (project / "CLAUDE.md").write_text("# Shop\n")
        environment = {"NIGHTSCHOOL_HOME": str(Path(folder) / "ns"), "PATH": "/usr/bin:/bin", "USER": "sam"}
        flags = {"runner": "scripted", "sandbox": "unsafe-process", "limits.max_jobs": "none"}
        chosen = settings.load(project=None, environment=environment, flags=flags)
        with opened(chosen, environment=environment, person_home=person, demo=True) as parts:
            cycle = parts.cycle(project=str(project), progress=lambda *_: None)
            cycle.door.runner = runner
            if width is not None:
                cycle.replay.engine = InlineEngine(cycle.door.run, width=width)
            yield parts, cycle, str(project)


def whole_cycle() -> tuple[float, CycleReport]:
    with ready(Quick()) as (parts, cycle, project), cycle.held():
        prepared = material(parts, project)
        began = time.perf_counter()
        report = cycle.practise(prepared)
        return time.perf_counter() - began, report


def many(jobs: int, seconds: float, width: int) -> float:
    with ready(Quick(seconds), width) as (parts, cycle, project):
        one = material(parts, project).mined.tasks[-1]
        requests = [
            TrialRequest(task=one, harness=Harness(), arm=Arm.BASE, purpose="target", draw=number)
            for number in range(jobs)
        ]
        began = time.perf_counter()
        cycle.replay.trials(requests)
        return time.perf_counter() - began


def main() -> None:
    jobs = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    took, report = whole_cycle()
    done = report.spend.jobs
    print(f"cycle of {TASKS} tasks   {took:6.2f} s, {done} jobs, {report.learned[0].code}")
    print(
        f"  own time for a job   {1000 * took / done:6.2f} ms  {took / done / OWN:5.2f} of the time to reach"
    )
    took = many(jobs, 0.0, 4)
    print(f"{jobs} instant jobs     {took:6.2f} s")
    print(
        f"  own time for a job   {1000 * took / jobs:6.2f} ms  {took / jobs / OWN:5.2f} of the time to reach"
    )
    took, bound = many(jobs, 1.0, WIDTH), WIDE * jobs / 1_000
    print(f"{jobs} jobs of 1 s, width {WIDTH}   {took:6.2f} s  {took / bound:5.2f} of the time to reach")


if __name__ == "__main__":
    main()
