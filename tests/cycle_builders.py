"""Whole cycles over the demo's material in a temporary HOME; as a program, one that kills itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from threading import Event, Lock

from job_builders import FREE
from nightschool import settings
from nightschool.core.cycles import CycleReport
from nightschool.core.jobs import Delivered, FileChange, Job, Outcome, Role
from nightschool.core.ports import Runner
from nightschool.stages.calibrate import Calibration, newest
from nightschool.stages.cycle import Cycle
from nightschool.testing.demo import lay_out
from nightschool.testing.scripted_runner import quoting_editor
from nightschool.wiring import Parts, opened


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A person's HOME with the demo's project and sessions, and a home of ours beside it."""

    person: Path
    ours: Path

    @classmethod
    def made(cls, folder: Path, *, empty: bool = False) -> Place:
        person = folder / "sam"
        person.mkdir()
        if not empty:
            lay_out(person)
        return cls(person=person, ours=folder / "ns")

    @property
    def project(self) -> Path:
        return self.person / "ledger"

    def beside(self, name: str) -> Place:
        """The same person with another home of ours."""
        return replace(self, ours=self.ours.parent / name)


@dataclass(slots=True)
class QuickRunner:
    """An apprentice without a sandbox: it follows a rule exactly when the harness holds it."""

    before: Callable[[Job], Outcome | None] = field(default=lambda _: None)
    """What to answer instead, or None; may raise."""
    name: str = "scripted"
    tells_cost: bool = True
    sends_to: str = ""
    jobs: list[Job] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    def version(self) -> str:
        return "quick"

    def check(self) -> None:
        """It needs nothing."""

    def run(self, job: Job, cancelled: Event) -> Outcome:
        with self._lock:
            self.jobs.append(job)
        instead = self.before(job)
        if instead is not None:
            return instead
        if job.role is Role.EDIT:
            return Delivered(reply=quoting_editor(job), usage=FREE)
        memory = b"\n".join(file.content for file in job.harness.files).decode()
        added = "from pathlib import Path" if "pathlib" in memory else "import os.path"
        added += "\nimport logging" if "logging" in memory else "\nprint(1)"
        files = tuple(
            FileChange(path=f"ledger/{name}.py", content=added.encode(), added=added)
            for name in ("reports", "totals")
        )
        return Delivered(reply="done", files=files, usage=FREE)


@contextmanager
def cycle_in(
    place: Place,
    *,
    runner: QuickRunner | None = None,
    jobs: int | None = None,
    sandbox: str = "unsafe-process",
) -> Iterator[tuple[Parts, Cycle]]:
    """The parts and a cycle, with the demo's scripted runner or a quick one. No pauses between tries."""
    environment = {"NIGHTSCHOOL_HOME": str(place.ours), "PATH": os.environ["PATH"], "USER": "sam"}
    flags = {
        "runner": "scripted",
        "sandbox": sandbox,
        "limits.max_jobs": "none" if jobs is None else jobs,
    }
    chosen = settings.load(project=None, environment=environment, flags=flags)
    with opened(chosen, environment=environment, person_home=place.person, demo=True) as parts:
        cycle = parts.cycle(project=str(place.project), progress=lambda *_: None)
        if runner is not None:
            cycle.door.runner = runner
        cycle.replay.pause = lambda _: None
        yield parts, cycle


def run_cycle(
    place: Place, *, runner: QuickRunner | None = None, jobs: int | None = None, everything: bool = True
) -> CycleReport:
    """One whole cycle."""
    with cycle_in(place, runner=runner, jobs=jobs) as (parts, cycle), cycle.held():
        return cycle.practise(cycle.prepare(parts.harvest_request(everything=everything)))


@contextmanager
def calibration_in(
    place: Place, *, runner: Runner | None = None, jobs: int | None = None
) -> Iterator[tuple[Parts, Calibration]]:
    """A calibration on the held-out tasks of all that can be read, with the lock of the cycle."""
    with cycle_in(place, jobs=jobs) as (parts, cycle), cycle.held():
        cycle.door.runner = runner if runner is not None else QuickRunner()
        cycle.prepare(parts.harvest_request(everything=True))
        holdout = newest(parts.store, str(place.project))
        assert holdout is not None
        yield parts, cycle.calibration(holdout)


def tree(folder: Path) -> dict[str, tuple[int, str]]:
    """Mode and digest of all that lies in a folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        content = str(path.readlink()).encode() if path.is_symlink() else b""
        if path.is_file() and not path.is_symlink():
            content = path.read_bytes()
        found[str(path.relative_to(folder))] = (path.lstat().st_mode, sha256(content).hexdigest())
    return found


def killed_at(place: Place, number: int, *, pairs: int = 0) -> list[str]:
    """Run a cycle, or a calibration of so many pairs, in a process that is killed by SIGKILL in its job of
    that number; the jobs it began."""
    log = place.ours.parent / f"began-{number}"
    given = [place.person, place.ours, log, number, pairs]
    script = [sys.executable, __file__, *map(str, given)]
    path = os.pathsep.join(sys.path)
    done = subprocess.run(script, env={**os.environ, "PYTHONPATH": path}, check=False, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    return log.read_text().split()


def _main(person: str, ours: str, log: str, number: str, pairs: str) -> None:
    began, lock = Path(log), Lock()

    def note(job: Job) -> None:
        with lock, began.open("a") as file:
            file.write(job.key + "\n")
        if len(began.read_text().split()) >= int(number):
            os.kill(os.getpid(), signal.SIGKILL)

    place, runner = Place(person=Path(person), ours=Path(ours)), QuickRunner(before=note)
    if int(pairs):
        with calibration_in(place, runner=runner) as (_, calibration):
            calibration.go_on(int(pairs))
    else:
        run_cycle(place, runner=runner)


if __name__ == "__main__":
    _main(*sys.argv[1:])
