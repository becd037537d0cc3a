"""How much a job writes below its folder, measured while it runs: no option of a sandbox bounds that.

A limit on single files and a scratch space of a fixed size leave many small files. They are counted here, a
slice at a time, so that a folder of any size neither delays a cancel nor takes much of the machine.
"""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path

LEAST_BYTES = 4096
"""Of a file, folder or link: a million empty ones fill a disk too."""
FREE_BYTES = 64 << 20
"""What a disk must have left for a job to go on. What hides from the count (a folder that cannot be listed)
ends here."""
SLICE = 0.01
"""Seconds of counting at a time."""
PAUSE = 0.3
"""Seconds from one count to the next, at least; and as many times as long as the count itself took."""
TIMES = 5
OFTEN = 64


class DiskUse:
    """Whether what lies below a folder has grown by more than it may since this was made."""

    def __init__(self, folder: Path, *, may_grow: int) -> None:
        self._folder = folder
        self._limit = max(taken(folder)) + may_grow
        self._round = taken(folder)
        self._used = 0
        self._next = self._worked = 0.0

    def exceeded(self, more: Callable[[int], int]) -> bool:
        """Count on for a slice. `more` tells what the job takes up of a device besides, once in a count.
        Raises `OSError` (ENOSPC) where the disk itself has nothing left."""
        began = time.monotonic()
        if began < self._next:
            return False
        if self._worked == 0.0:
            self._has_room()
        for counted in self._round:
            self._used = counted
            if counted > self._limit:
                return True
            if time.monotonic() - began > SLICE:
                self._worked += time.monotonic() - began
                return False
        if self._used + more(self._folder.stat().st_dev) > self._limit:
            return True
        pause = max(PAUSE, TIMES * (self._worked + time.monotonic() - began))
        self._next, self._worked = time.monotonic() + pause, 0.0
        self._round = taken(self._folder)
        return False

    def _has_room(self) -> None:
        free = shutil.disk_usage(self._folder).free
        if free < FREE_BYTES:
            raise OSError(errno.ENOSPC, f"only {free >> 20} MiB are left where jobs work", str(self._folder))


def nameless(first: int, devices: Collection[int]) -> int:
    """The bytes of files on these devices that have no name any more, and that are held open by `first` or by
    another process of its namespace."""
    found: dict[int, int] = {}
    with suppress(OSError):
        namespace = Path(f"/proc/{first}/ns/pid").stat().st_ino
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if (process / "ns/pid").stat().st_ino == namespace:
                    found |= _nameless(process / "fd", devices)
    return sum(found.values())


def _nameless(descriptors: Path, devices: Collection[int]) -> dict[int, int]:
    found = {}
    for descriptor in descriptors.iterdir():
        with suppress(OSError):
            known = descriptor.stat()
            if known.st_nlink == 0 and known.st_dev in devices:
                found[known.st_ino] = known.st_blocks * 512
    return found


def taken(folder: Path) -> Iterator[int]:
    """The bytes counted so far, every few entries and at the end. Links are not followed."""
    used, entries, todo = 0, 0, [str(folder)]
    while todo:
        # A job makes and removes files meanwhile, and may keep others from listing its folders.
        with suppress(OSError), os.scandir(todo.pop()) as found:
            for entry in found:
                used += _size(entry)
                if entry.is_dir(follow_symlinks=False):
                    todo.append(entry.path)
                entries += 1
                if entries % OFTEN == 0:
                    yield used
    yield used


def _size(entry: os.DirEntry[str]) -> int:
    with suppress(OSError):
        # What it takes up, not how long it is: a file with holes is as small as it is.
        return max(LEAST_BYTES, entry.stat(follow_symlinks=False).st_blocks * 512)
    return LEAST_BYTES
