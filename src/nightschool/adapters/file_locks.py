"""Locks between processes that the kernel lets go when their holder dies, however it dies."""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from nightschool.core.errors import Busy, UserError

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


LOOKED_AT_SECONDS = 0.05
"""Longer than somebody who only looks whether a lock is held keeps it from its holder."""
HOLDER_BYTES = 4096


@contextmanager
def holding(folder: Path, name: str, *, wait: bool = False, by: str = "") -> Iterator[None]:
    """Hold `<folder>/<name>.lock`. Raises `Busy` at once, naming the holder, or waits for it.

    The file stays: removing it would let two processes hold two files of one name. `by`: what the holder is
    called for who asks `holder`, and in further lines what it does, for who finds it busy.
    """
    path = _path(folder, name)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise UserError(f"cannot open the lock {path}: {error.strerror}") from error
    try:
        if not _locked(descriptor, wait=wait):
            raise Busy(
                f"another nightschool is at work here, {_at_work(descriptor)}: wait for it, or end it "
                f"(lock {name!r}, {path})"
            )
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n{by}\n".encode("utf-8", "replace"), 0)
        try:
            yield
        finally:
            os.ftruncate(descriptor, 0)  # what was done, and where, is nobody's business any more
    finally:
        os.close(descriptor)  # lets the lock go


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


def _at_work(descriptor: int) -> str:
    """What the holder does, where it said so, which process it is, and since when."""
    process, _, *doing = (*_text(descriptor).split("\n"), "")
    since = datetime.fromtimestamp(os.fstat(descriptor).st_mtime, UTC)  # it wrote into the file as it began
    told = f"process {process}, since {since:%Y-%m-%d %H:%M} UTC" if process.isdigit() else "another process"
    doing = [line for line in doing if line]
    return f"{'; '.join(doing)} ({told})" if doing else told


def _text(descriptor: int) -> str:
    return os.pread(descriptor, HOLDER_BYTES, 0).decode("utf-8", "replace").strip()
