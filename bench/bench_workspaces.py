"""Disk and time of the workspaces of one repository, with and without what a set-up installed.

    python bench/bench_workspaces.py [MEGABYTES] [JOBS]

Makes a repository of that many megabytes (64 unless told) in files of 1 MB, half of it text, and a set-up of
10,000 small files. Printed are seconds, also as ratios to a plain copy, and megabytes on disk.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from nightschool.adapters import bubblewrap
from nightschool.adapters.bubblewrap import BubblewrapSandbox
from nightschool.core.jobs import Provision
from nightschool.core.sandboxes import SandboxPlan
from nightschool.core.tasks import GitSource

FILE = 1 << 20
INSTALL = (
    "mkdir node_modules && cd node_modules && "
    "for d in $(seq 100); do mkdir p$d; for f in $(seq 100); do echo $d.$f > p$d/f$f.js; done; done"
)


def repository(folder: Path, megabytes: int) -> str:
    chance = random.Random(7)
    folder.mkdir()
    for number in range(megabytes):
        content = chance.randbytes(FILE // 2)
        (folder / f"file{number}").write_bytes(content.hex().encode() if number % 2 else content * 2)
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["add", "-A"], [*who, "commit", "-q", "-m", "all"]):
        subprocess.run(["/usr/bin/env", "git", *command], cwd=folder, check=True)
    head = ["/usr/bin/env", "git", "rev-parse", "HEAD"]
    told = subprocess.run(head, cwd=folder, check=True, capture_output=True)
    return told.stdout.decode().strip()


def on_disk(folder: Path) -> int:
    found: dict[int, int] = {}
    for path, _, names in os.walk(folder):
        for name in names:
            status = Path(path, name).lstat()
            found[status.st_ino] = status.st_blocks * 512
    return sum(found.values())


@contextmanager
def clocked(times: list[float]) -> Iterator[None]:
    began = time.perf_counter()
    yield
    times.append(time.perf_counter() - began)


def measured(
    what: str, sandbox: BubblewrapSandbox, plan: SandboxPlan, work: Path, jobs: int, plain: float
) -> None:
    """The first workspace, then `jobs` at once: seconds of each, and what all of them add to the disk."""
    times: list[float] = []
    with clocked(times), sandbox.open(plan):
        pass
    kept = on_disk(work)
    with ExitStack() as stack:
        for _ in range(jobs):
            with clocked(times):
                stack.enter_context(sandbox.open(plan))
        each = (on_disk(work) - kept) / jobs
    later = sum(times[1:]) / jobs
    print(
        f"{what:<34} first {times[0]:6.2f} s, later {later:6.2f} s ({later / plain:5.1f} x a copy); "
        f"kept {kept / FILE:7.1f} MB, each job {each / FILE:7.1f} MB"
    )


def main() -> None:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 64
    jobs = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    with tempfile.TemporaryDirectory(prefix="nightschool-bench-") as name:
        base = Path(name)
        commit = repository(base / "app", megabytes)
        copies: list[float] = []
        with clocked(copies):
            subprocess.run(["/bin/cp", "-a", str(base / "app"), str(base / "copy")], check=True)
        files, whole = on_disk(base / "copy") - on_disk(base / "copy/.git"), on_disk(base / "copy")
        print(f"files {files / FILE:.1f} MB, with .git {whole / FILE:.1f} MB; a plain copy {copies[0]:.2f} s")
        source = GitSource(repository=str(base / "app"), commit=commit)
        bare = SandboxPlan(workspace=source)
        installed = SandboxPlan(workspace=source, provision=Provision(setup=INSTALL))
        measured("no set-up", BubblewrapSandbox(work=base / "a"), bare, base / "a", jobs, copies[0])
        measured(
            "set-up, mounted where it can be",
            BubblewrapSandbox(work=base / "b"),
            installed,
            base / "b",
            jobs,
            copies[0],
        )
        # As with a bubblewrap that has no overlays.
        bubblewrap.can_overlay = lambda *_: False
        measured("set-up, copied", BubblewrapSandbox(work=base / "c"), installed, base / "c", jobs, copies[0])


if __name__ == "__main__":
    main()
