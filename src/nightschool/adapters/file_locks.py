"""Locks between processes that the kernel lets go when their holder dies, however it dies."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nightschool.core.errors import Busy, UserError

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


@contextmanager
def holding(folder: Path, name: str, *, wait: bool = False) -> Iterator[None]:
    """Hold `<folder>/<name>.lock`. Raises `Busy` at once, naming the holder, or waits for it.

    The file stays: removing it would let two processes hold two files of one name.
    """
    if not NAME.fullmatch(name):
        raise ValueError(f"not a name of a lock: {name!r}")
    path = folder / f"{name}.lock"
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise UserError(f"cannot open the lock {path}: {error.strerror}") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Busy(
                f"another nightschool is at work here, {_holder(descriptor)}: wait for it, or end it "
                f"(lock {name!r}, {path})"
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        # Closing lets the lock go; the name inside is cleared only by its holder.
        os.close(descriptor)


def _holder(descriptor: int) -> str:
    text = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
    return f"process {text}" if text.isdigit() else "another process"
