"""Disk and time of the workspaces of one repository, with and without what a set-up installed.

    python bench/bench_workspaces.py [--big] [MEGABYTES ...]

Makes repositories of that many megabytes (64 and 512 unless told; `--big`: 2048 too) in files of 1 MB, half
of it text, and a set-up of 10,000 small files. Printed are seconds, and what lies on the disk as ratios to
the files of the repository: its mirror, the checkout that all jobs share, and each further job.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event
from unittest import mock

from nightschool.adapters import bubblewrap
from nightschool.adapters.bubblewrap import BubblewrapSandbox
from nightschool.core.jobs import Provision
from nightschool.core.sandboxes import Command, SandboxPlan
from nightschool.core.tasks import GitSource

FILE = 1 << 20
JOBS = 2
WORK = "git status --porcelain > /tmp/status && echo more >> file1 && git commit -qam more"
HEAD = (
    "| | mirror | checkout | each further job | once it worked "
    "| first | further | status and commit | changes |\n"
    "|---|---|---|---|---|---|---|---|---|"
)
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


def measured(what: str, sandbox: BubblewrapSandbox, plan: SandboxPlan, work: Path, files: int) -> None:
    """The first workspace, then some at once: seconds, and what they add to the disk, also when all in them
    asked git what changed and changed a file."""
    times: list[float] = []
    with clocked(times), sandbox.open(plan):
        pass
    mirror = sum(on_disk(folder / "objects") for folder in work.glob("mirrors/*"))
    # Without what it has in common with the mirror.
    shared = on_disk(work) - mirror - sum(on_disk(folder) for folder in work.glob("mirrors/*/layers"))
    asked: list[float] = []
    kept = on_disk(work)
    with ExitStack() as stack:
        for _ in range(1, JOBS):
            with clocked(times):
                stack.enter_context(sandbox.open(plan))
        with clocked(times):
            workspace = stack.enter_context(sandbox.open(plan))
        each = (on_disk(work) - kept) / JOBS
        with clocked(asked):
            done = workspace.execute(Command(argv=("/bin/sh", "-c", WORK)), Event())
        with clocked(asked):
            changes = workspace.changes()
        assert done.exit_code == 0, done
        assert [change.path for change in changes] == ["file1"], changes
        worked = on_disk(work) - kept - each * JOBS
    print(
        f"| {what} | {mirror / files:.2f} | {shared / files:.2f} | {each / files:.4f} ({each / FILE:.1f} MB) "
        f"| {worked / FILE:.1f} MB | {times[0]:.1f} s | {sum(times[1:]) / JOBS:.2f} s "
        f"| {asked[0]:.2f} s | {asked[1]:.2f} s |",
        flush=True,
    )


def bench(megabytes: int) -> None:
    with tempfile.TemporaryDirectory(prefix="nightschool-bench-") as name:
        base = Path(name)
        commit = repository(base / "app", megabytes)
        copies: list[float] = []
        with clocked(copies):
            subprocess.run(["/bin/cp", "-a", str(base / "app"), str(base / "copy")], check=True)
        files, whole = on_disk(base / "copy") - on_disk(base / "copy/.git"), on_disk(base / "copy")
        shutil.rmtree(base / "copy")
        about = f"files {files / FILE:.0f} MB, with .git {whole / files:.2f} of it"
        print(f"\n{about}; a plain copy {copies[0]:.1f} s\n{HEAD}", flush=True)
        source = GitSource(repository=str(base / "app"), commit=commit)
        bare = SandboxPlan(workspace=source)
        installed = SandboxPlan(workspace=source, provision=Provision(setup=INSTALL))
        measured("shared", BubblewrapSandbox(work=base / "a"), bare, base / "a", files)
        # The mirror and the checkout are there by now: the first one is the time of the set-up.
        measured("shared, above a set-up", BubblewrapSandbox(work=base / "a"), installed, base / "a", files)
        shutil.rmtree(base / "a")
        with mock.patch.object(bubblewrap, "can_overlay", return_value=False):
            measured("copied: no overlays here", BubblewrapSandbox(work=base / "b"), bare, base / "b", files)


def main() -> None:
    sizes = [int(word) for word in sys.argv[1:] if word != "--big"] or [64, 512]
    for megabytes in (*sizes, *([2048] if "--big" in sys.argv else [])):
        bench(megabytes)


if __name__ == "__main__":
    main()
