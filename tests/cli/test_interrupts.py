"""Ctrl-C more than once: what runs is stopped, nothing is left, nobody sees a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

CODE = """
import sys, time
from nightschool.cli import app, main
def wait():
    try:
        open(sys.argv[2], 'w').close()
        time.sleep(60)
    finally:
        open(sys.argv[3], 'w').close()
        time.sleep(0.5)
        open(sys.argv[4], 'w').close()
app.run.__globals__['COMMANDS']['wait'] = wait
app.run.__globals__['_asked'] = lambda _: ['wait']
main()
"""


@pytest.mark.parametrize(("more", "cleaned"), [(0, True), (1, True), (2, False)])
def test_a_second_interrupt_lets_the_first_one_finish(tmp_path: Path, more: int, *, cleaned: bool) -> None:
    """While what runs is being stopped an impatient second Ctrl-C changes nothing; a third one ends it at
    once. Each time the exit code is 130, and one line says that nothing finished is lost."""
    running, stopping, done = (tmp_path / name for name in ("running", "stopping", "done"))
    os.mkfifo(running)
    os.mkfifo(stopping)
    arguments = [sys.executable, "-c", CODE, "wait", *map(str, (running, stopping, done))]
    process = subprocess.Popen(arguments, stderr=subprocess.PIPE)
    running.read_bytes()
    process.send_signal(signal.SIGINT)
    stopping.read_bytes()
    for _ in range(more):
        process.send_signal(signal.SIGINT)
        time.sleep(0.05)  # two signals of one kind that wait are one
    _, told = process.communicate(timeout=30)
    assert (process.returncode, done.exists()) == (130, cleaned)
    assert told.decode().startswith("stopped. What was finished is kept")
    assert told.count(b"\n") == 1


@pytest.mark.parametrize("more", [(), (signal.SIGTERM, signal.SIGTERM), (signal.SIGINT,)])
def test_a_sigterm_is_a_first_interrupt(tmp_path: Path, more: tuple[signal.Signals, ...]) -> None:
    """Told to end, it stops what runs, says the same line, and its exit code is 143; whatever else comes
    meanwhile breaks nothing off."""
    running, stopping, done = (tmp_path / name for name in ("running", "stopping", "done"))
    os.mkfifo(running)
    os.mkfifo(stopping)
    arguments = [sys.executable, "-c", CODE, "wait", *map(str, (running, stopping, done))]
    process = subprocess.Popen(arguments, stderr=subprocess.PIPE)
    running.read_bytes()
    process.send_signal(signal.SIGTERM)
    stopping.read_bytes()
    for one in more:
        process.send_signal(one)
        time.sleep(0.05)
    _, told = process.communicate(timeout=30)
    assert (process.returncode, done.exists()) == (143, True)
    assert told.decode().startswith("stopped. What was finished is kept")
    assert told.count(b"\n") == 1


def test_a_command_in_the_background_stops_for_a_sigterm_too(tmp_path: Path) -> None:
    """A shell's `&` and nohup switch Ctrl-C off for what they start: told to end it stops cleanly all the
    same."""
    running, stopping, done = (tmp_path / name for name in ("running", "stopping", "done"))
    os.mkfifo(running)
    os.mkfifo(stopping)
    arguments = [sys.executable, "-c", CODE, "wait", *map(str, (running, stopping, done))]
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = subprocess.Popen(arguments, stderr=subprocess.PIPE)
    finally:
        signal.signal(signal.SIGINT, before)
    running.read_bytes()
    process.send_signal(signal.SIGTERM)
    stopping.read_bytes()
    _, told = process.communicate(timeout=30)
    assert (process.returncode, done.exists()) == (143, True)
    assert told.decode().startswith("stopped. What was finished is kept")


def processes_in(folder: Path) -> list[bytes]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
        except OSError:
            continue
        if str(folder).encode() in line:
            found.append(line)
    return found


def at_work(folder: Path) -> bool:
    """Whether a job has its folders below this one, which come and go while it is looked."""
    return any(Path(place).name.startswith("job-") and "home" in names for place, names, _ in os.walk(folder))


@contextmanager
def killed_after(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Whatever a test finds, its process does not outlive it."""
    try:
        yield
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_two_interrupts_leave_nothing_of_a_run(tmp_path: Path, sent: signal.Signals, code: int) -> None:
    """Ctrl-C or SIGTERM twice while jobs work in the sandbox: 130 or 143, no traceback, no process, no
    folder, no lock."""
    environment = {**os.environ, "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-m", "nightschool", "demo"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    with killed_after(process):
        while not at_work(tmp_path):
            assert process.poll() is None
            time.sleep(0.02)
        for _ in range(2):
            process.send_signal(sent)
            time.sleep(0.05)
        _, told = process.communicate(timeout=30)
    # A second one that comes when all is done ends the process by the signal: 130 to a shell as well.
    assert process.returncode in {code, -sent}
    assert b"Traceback" not in told
    assert list(tmp_path.iterdir()) == []
    assert processes_in(tmp_path) == []
