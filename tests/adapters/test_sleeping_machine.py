"""What a machine that sleeps, or whose clock is set, does to time-outs and locks: nothing."""

from __future__ import annotations

import os
import time
from datetime import timedelta
from itertools import count
from pathlib import Path
from threading import Event

import pytest

from nightschool.adapters.file_locks import holding
from nightschool.adapters.system_clock import SystemClock
from nightschool.adapters.unsafe_process import UnsafeProcessSandbox
from nightschool.core.errors import Busy
from nightschool.core.sandboxes import Command, SandboxPlan
from nightschool.core.tasks import FilesSource


@pytest.fixture
def hours_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look at the time of day is an hour after the one before."""
    hours = count(1_700_000_000.0, 3600)
    monkeypatch.setattr(time, "time", lambda: next(hours))


@pytest.mark.usefixtures("hours_pass")
def test_a_time_out_counts_no_time_of_day(tmp_path: Path) -> None:
    """A job's time goes on only while the machine is awake: hours by the clock end no job."""
    with UnsafeProcessSandbox(work=tmp_path).open(SandboxPlan(workspace=FilesSource())) as workspace:
        command = Command(argv=("sleep", "0.5"), timeout=timedelta(minutes=5))
        done = workspace.execute(command, Event())
    assert (done.timed_out, done.exit_code) == (False, 0)
    assert done.wall < timedelta(minutes=5)


def test_the_clock_of_limits_is_the_one_that_nobody_can_set() -> None:
    """It is the machine's own count of the time that it was awake."""
    before = time.monotonic()
    awake = SystemClock().awake().total_seconds()
    assert before - 1e-6 <= awake <= time.monotonic() + 1e-6
    assert not time.get_clock_info("monotonic").adjustable


def test_a_lock_has_no_age(tmp_path: Path) -> None:
    """However old a lock's file is, its holder holds it; and however new, without a holder it is free, also
    where a living process has the number that stands in it."""
    path = tmp_path / "cycle.lock"
    with holding(tmp_path, "cycle"):
        os.utime(path, (0, 0))
        with pytest.raises(Busy, match=str(os.getpid())), holding(tmp_path, "cycle"):
            pytest.fail("an old lock was taken away from its holder")
    path.write_text(f"{os.getppid()}\n")
    with holding(tmp_path, "cycle"):
        pass
