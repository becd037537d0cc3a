"""What our own side costs a job, and how far jobs really run at once.

    python bench/bench_jobs.py [JOBS] [WIDTH]

Jobs that do nothing, and jobs of one second each at width 100, go through engine, door and database. Printed
is time by the clock, and in brackets of the processor. To reach: 10 ms of ours a job, 1,000 jobs in 11 s.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from nightschool.adapters.inline_engine import InlineEngine
from nightschool.adapters.sqlite_store import SqliteStore
from nightschool.adapters.system_clock import SystemClock
from nightschool.core.cycles import Budget
from nightschool.core.harness import File, Harness
from nightschool.core.jobs import Delivered, FileChange, Job, Outcome, Role, Usage
from nightschool.core.sessions import CallStatus, ToolCall
from nightschool.rules.redaction import Redactor
from nightschool.stages.door import Door

OWN = 0.010
SECOND = 1.0
WIDTH = 100
SPARE = 1.1
"""Of the time that the jobs alone would take at this width: 11 s for 1,000 jobs of a second at width 100."""
TEXT = "Ran pnpm install in packages/api; 214 packages were added and two peer warnings were told.\n" * 40


@dataclass(slots=True)
class Sleeper:
    """A runner whose jobs take so many seconds and give what an agent's job gives."""

    takes: float
    name: str = "sleeper"
    tells_cost: bool = True
    sends_to: str = ""

    def version(self) -> str:
        return "1"

    def check(self) -> None:
        """It needs nothing."""

    def run(self, job: Job, cancelled: Event) -> Outcome:
        if self.takes:
            cancelled.wait(self.takes)
        calls = tuple(
            ToolCall(
                call_id=f"{job.repeat}-{n}", name="Bash", status=CallStatus.OK, command="ls", result=TEXT
            )
            for n in range(4)
        )
        files = (FileChange(path="a.py", content=TEXT.encode(), added=TEXT),)
        return Delivered(reply=TEXT, files=files, trajectory=calls, usage=Usage(tokens=1))


def job(number: int, takes: float) -> Job:
    memory = File(path="project/CLAUDE.md", content=TEXT.encode())
    return Job(
        role=Role.ATTEMPT,
        prompt=f"{takes} {TEXT}",
        agent="sleeper",
        agent_version="1",
        harness=Harness.of([memory]),
        repeat=number,
    )


def took(folder: Path, jobs: int, *, takes: float, width: int) -> tuple[float, float]:
    """By the clock, and of the processor."""
    door = Door(
        runner=Sleeper(takes),
        store=SqliteStore.open(folder),
        clock=SystemClock(),
        redact=Redactor(b"a key of the bench's own, of 32 b"),
        budget=Budget(jobs=None, wall=None),
        cycle="n-0001",
    )
    engine = InlineEngine(door.run, width=width)
    began, worked = time.perf_counter(), time.process_time()
    for number in range(jobs):
        engine.submit(job(number, takes))
    ended = sum(1 for _ in engine.completed())
    assert ended == jobs
    return time.perf_counter() - began, time.process_time() - worked


def main() -> None:
    jobs = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    width = int(sys.argv[2]) if len(sys.argv) > 2 else WIDTH
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for at_once in (1, 8):
            own, ours = (1000 * t / jobs for t in took(folder / str(at_once), jobs, takes=0, width=at_once))
            share = own / 1000 / OWN
            print(
                f"own    {at_once} at once  {own:6.2f} ms a job ({ours:.2f})  {share:5.2f} of what it may be"
            )
        whole, ours = took(folder / "seconds", jobs, takes=SECOND, width=width)
        alone = SECOND * -(-jobs // width)
        print(
            f"width  {jobs} jobs of {SECOND:g} s, {width} at once  {whole:6.2f} s ({ours:.2f})  "
            f"{whole / (SPARE * alone):5.2f} of what it may be  {whole / alone:5.2f} x the jobs alone"
        )


if __name__ == "__main__":
    main()
