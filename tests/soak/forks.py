"""Processes of ours that are killed by SIGKILL at a moment that was drawn."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

FORK = multiprocessing.get_context("fork")
PATIENCE = 30
"""Seconds within which all that a killed process began is gone."""


def run_for(seconds: float, act: Callable[[], None]) -> bool:
    """Run the act in a process of its own, and kill it after so many seconds; whether it ended before.

    The clock begins when the process is about to act.
    """
    reading, writing = os.pipe()
    process = FORK.Process(target=_announced, args=(writing, act))
    process.start()
    os.close(writing)
    os.read(reading, 1)
    os.close(reading)
    process.join(seconds)
    process.kill()
    process.join()
    assert process.exitcode in {0, -signal.SIGKILL}, f"the process ended with {process.exitcode}"
    return process.exitcode == 0


def run_whole(act: Callable[[], None]) -> float:
    """Run the act in a process of its own to its end; how many seconds it took."""
    began = time.monotonic()
    process = FORK.Process(target=act)
    process.start()
    process.join()
    assert process.exitcode == 0, f"the process ended with {process.exitcode}"
    return time.monotonic() - began


def _announced(writing: int, act: Callable[[], None]) -> None:
    os.write(writing, b"x")
    os.close(writing)
    act()


def left_of(folder: Path) -> list[str]:
    """Processes that still work in a folder, or name it, after `PATIENCE`."""
    end = time.monotonic() + PATIENCE
    while (left := list(_at_work_in(folder))) and time.monotonic() < end:
        time.sleep(0.05)
    return left


def _at_work_in(folder: Path) -> Iterator[str]:
    needle = os.fsencode(folder)
    for process in Path("/proc").glob("[0-9]*"):
        if int(process.name) == os.getpid():
            continue
        try:
            words = (process / "cmdline").read_bytes()
            named = needle in words or needle in (process / "environ").read_bytes()
            there = needle in os.fsencode((process / "cwd").readlink())
        except OSError:
            continue  # it ended meanwhile, or is not ours
        if named or there:
            yield f"{process.name}: {words.replace(bytes(1), b' ').decode(errors='replace')}"
