"""Locks between processes that the kernel lets go when their holder dies, however it dies."""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nightschool.core.errors import Busy, UserError

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


LOOKED_AT_SECONDS = 0.05
"""Longer than somebody who only looks whether a lock is held keeps it from its holder."""
HOLDER_BYTES = 128


@contextmanager
def holding(folder: Path, name: str, *, wait: bool = False, by: str = "") -> Iterator[None]:
    """Hold `<folder>/<name>.lock`. Raises `Busy` at once, naming the holder, or waits for it.

    The file stays: removing it would let two processes hold two files of one name. `by`: what the holder is
    called for who asks `holder`.
    """
    path = _path(folder, name)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise UserError(f"cannot open the lock {path}: {error.strerror}") from error
    try:
        if not _locked(descriptor, wait=wait):
            raise Busy(
                f"another nightschool is at work here, {_holder(descriptor)}: wait for it, or end it "
                f"(lock {name!r}, {path})"
            )
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n{by}\n".encode(), 0)
        yield
    finally:
        # Closing lets the lock go; the name inside is cleared only by its holder.
        os.close(descriptor)


def holder(folder: Path, name: str) -> str | None:
    """What the holder of a lock called itself; None where nobody holds it."""
    try:
        descriptor = os.open(_path(folder, name), os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        lines = _text(descriptor).split("\n")
        return lines[1] if len(lines) > 1 else ""
    finally:
        os.close(descriptor)
    return None


def _path(folder: Path, name: str) -> Path:
    if not NAME.fullmatch(name):
        raise ValueError(f"not a name of a lock: {name!r}")
    return folder / f"{name}.lock"


def _locked(descriptor: int, *, wait: bool) -> bool:
    if wait:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        return True
    for pause in (LOOKED_AT_SECONDS, 0):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(pause)
        else:
            return True
    return False


def _holder(descriptor: int) -> str:
    text = _text(descriptor).split("\n")[0]
    return f"process {text}" if text.isdigit() else "another process"


def _text(descriptor: int) -> str:
    return os.pread(descriptor, HOLDER_BYTES, 0).decode("utf-8", "replace").strip()
