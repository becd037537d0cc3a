"""Control groups: what a killed process left in them."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from nightschool.adapters.cgroups import PREFIX, limit_group


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["/bin/sleep", "600"]) as process:
        yield process
        process.kill()


def left_by(pid: int, mount: Path, *inside: int) -> None:
    """A group of a process of that id, on a file system that is like the one of control groups."""
    mount.mkdir(exist_ok=True)
    (mount / "cgroup.subtree_control").write_text("memory pids")
    (mount / "cgroup.procs").touch()
    group = mount / f"{PREFIX}.{pid}.1"
    group.mkdir()
    (group / "cgroup.procs").write_text("".join(f"{number}\n" for number in inside))


def test_what_a_killed_process_left_running_is_ended(
    tmp_path: Path, sleeper: subprocess.Popen[bytes]
) -> None:
    """The next job ends it. A process that cannot be seen from here (0) is left alone, and so are we."""
    with subprocess.Popen(["/bin/sh", "-c", "true"]) as gone:
        gone.wait()
    left_by(gone.pid, tmp_path / "mount", 0, sleeper.pid)
    limit_group(1 << 30, 64, mount=tmp_path / "mount").remove()
    assert sleeper.wait(60) == -signal.SIGKILL


def test_what_runs_for_a_living_process_is_left_alone(
    tmp_path: Path, sleeper: subprocess.Popen[bytes]
) -> None:
    """Another run of ours at the same time keeps its jobs."""
    left_by(os.getpid(), tmp_path / "mount", sleeper.pid)
    limit_group(1 << 30, 64, mount=tmp_path / "mount").remove()
    assert sleeper.poll() is None
