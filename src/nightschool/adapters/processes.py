"""Runs one process to its end, its time-out or its cancel, and keeps a bounded part of what it says."""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections.abc import Callable
from datetime import timedelta
from threading import Event
from typing import IO

from nightschool.core.sandboxes import Execution

CHUNK = 1 << 16
KEPT_BYTES = 32 << 20
"""Of each stream: the first and the last half of it. Agents put their result last."""
TICK = 0.05
LINGER = 0.3
"""How long a pipe may stay open after its process ended: what left its group may still hold it."""
GONE_WITHIN = 1.5


class Kept:
    """The head and the tail of a stream, with a line that says how much is missing between them."""

    def __init__(self, limit: int = KEPT_BYTES) -> None:
        self._half = max(1, limit // 2)
        self._head = bytearray()
        self._tail = bytearray()
        self._lost = 0

    def add(self, chunk: bytes) -> None:
        room = self._half - len(self._head)
        if room > 0:
            self._head += chunk[:room]
            chunk = chunk[room:]
        self._tail += chunk
        # Cut only now and then, so that a long stream costs linear time.
        if len(self._tail) > 2 * self._half:
            self._cut()

    def _cut(self) -> None:
        over = len(self._tail) - self._half
        if over > 0:
            del self._tail[:over]
            self._lost += over

    def content(self) -> bytes:
        self._cut()
        if not self._lost:
            return bytes(self._head + self._tail)
        gap = f"\n[nightschool: {self._lost} bytes of output left out]\n".encode()
        return bytes(self._head) + gap + bytes(self._tail)


class _Streams:
    """The three pipes of a process, served from one thread."""

    def __init__(self, process: subprocess.Popen[bytes], stdin: bytes) -> None:
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise ValueError("the process needs all three pipes")
        self._selector = selectors.DefaultSelector()
        self._in = process.stdin
        self._rest = memoryview(stdin)
        self._kept: dict[int, Kept] = {}
        self.out, self.err = Kept(), Kept()
        for pipe, kept in ((process.stdout, self.out), (process.stderr, self.err)):
            self._watch(pipe, selectors.EVENT_READ)
            self._kept[pipe.fileno()] = kept
        if stdin:
            self._watch(self._in, selectors.EVENT_WRITE)
        else:
            self._in.close()

    def _watch(self, pipe: IO[bytes], event: int) -> None:
        os.set_blocking(pipe.fileno(), False)
        self._selector.register(pipe, event)

    @property
    def open(self) -> bool:
        return bool(self._kept)

    def serve(self, wait: float) -> bool:
        """Move what can be moved, and say whether anything was."""
        ready = self._selector.select(wait)
        for key, _ in ready:
            if key.fd in self._kept:
                self._read(key.fd)
            else:
                self._write(key.fd)
        return bool(ready)

    def _read(self, fd: int) -> None:
        try:
            chunk = os.read(fd, CHUNK)
        except BlockingIOError:
            return
        if chunk:
            self._kept[fd].add(chunk)
        else:
            self._selector.unregister(fd)
            del self._kept[fd]

    def _write(self, fd: int) -> None:
        try:
            self._rest = self._rest[os.write(fd, self._rest[:CHUNK]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._rest = self._rest[:0]
        if not self._rest:
            self._selector.unregister(fd)
            self._in.close()

    def close(self) -> None:
        self._selector.close()


def run_to_end(
    process: subprocess.Popen[bytes],
    *,
    stdin: bytes,
    timeout: timedelta,
    cancelled: Event,
    overfull: Callable[[], bool],
    kill: Callable[[], None],
) -> Execution:
    """Serve the pipes until the process is over. `kill` ends it and all that it started.

    The clock of the time-out stands still while the machine sleeps, and nobody can set it.
    """
    started = time.monotonic()
    deadline = started + timeout.total_seconds()
    timed_out = stopped = full = False
    streams = _Streams(process, stdin)
    try:
        while process.poll() is None:
            stopped = cancelled.is_set()
            timed_out = not stopped and time.monotonic() >= deadline
            full = not stopped and not timed_out and overfull()
            if stopped or timed_out or full:
                break
            _step(process, streams, min(TICK, max(0.0, deadline - time.monotonic())))
    finally:
        # Also after a normal end and on Ctrl-C: what the process left behind must not go on.
        if process.poll() is None:
            kill()
        _drain(streams, process)
        kill()
        process.wait()
        _drain(streams, process)
        streams.close()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None and not pipe.closed:
                pipe.close()
    return Execution(
        exit_code=None if stopped or timed_out or full else process.returncode,
        stdout=streams.out.content(),
        stderr=streams.err.content(),
        wall=timedelta(seconds=time.monotonic() - started),
        timed_out=timed_out,
        cancelled=stopped,
        overfull=full,
    )


def _step(process: subprocess.Popen[bytes], streams: _Streams, wait: float) -> None:
    if streams.open:
        streams.serve(wait)
        return
    try:
        process.wait(timeout=wait)
    except subprocess.TimeoutExpired:
        return


def _drain(streams: _Streams, process: subprocess.Popen[bytes]) -> None:
    """Take what is still in the pipes: to their end, or until nothing comes any more."""
    last = time.monotonic() + (LINGER if process.poll() is not None else GONE_WITHIN)
    while streams.open and time.monotonic() < last:
        streams.serve(TICK)
