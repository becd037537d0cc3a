"""Which files lie below a folder, by a look that is cheap for ten thousand.

Relieves `rows`, which opens one.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeGuard

from nightschool.core.ports import Unchanged
from nightschool.core.sessions import TranscriptRef

NEVER = datetime.fromtimestamp(0, UTC)
"""The time of a file of which nothing is known."""
_NAME = re.compile(r"(?!\.{1,2}\Z)[^/\0\s]{1,200}")


def is_name(value: object) -> TypeGuard[str]:
    """Whether what stands in a file may name one in a folder, and leads nowhere else."""
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def file_time(nanoseconds: int) -> datetime:
    """A file's time; one beyond what a calendar holds is the nearest that it does."""
    try:
        return NEVER + timedelta(microseconds=nanoseconds // 1000)
    except OverflowError:
        return NEVER if nanoseconds < 0 else datetime.max.replace(tzinfo=UTC)


def list_files(
    source: str, root: str, endings: tuple[str, ...] = ("",), unchanged: Unchanged | None = None
) -> Iterator[TranscriptRef]:
    """Regular files below a folder (or the one file that `root` is) whose names end so, in any order.

    What has such a name and is no regular file is given too, with what is known of it, so that reading
    can name it; so is a folder that cannot be listed. Links to folders are followed once.
    """
    seen: set[tuple[int, int]] = set()
    todo = [root]
    while todo:
        folder = todo.pop()
        try:
            with _entries(folder) as (entries, here):
                if (here.st_dev, here.st_ino) in seen:
                    continue
                seen.add((here.st_dev, here.st_ino))
                yield from _listed(source, folder.rstrip("/"), entries, todo, endings, unchanged)
        except FileNotFoundError:
            if folder == root and Path(root).is_symlink():
                yield _ref(source, folder)
        except OSError:
            yield _ref(source, folder)


@contextmanager
def _entries(folder: str) -> Iterator[tuple[Iterable[os.DirEntry[str]], os.stat_result]]:
    """What a folder holds, looked at from within where the system can: it then follows no long path for
    each."""
    if os.scandir not in os.supports_fd:
        with os.scandir(folder) as entries:
            yield entries, os.stat(folder)  # noqa: PTH116 - Path adds nothing
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with os.scandir(descriptor) as entries:
            yield entries, os.fstat(descriptor)
    finally:
        os.close(descriptor)


def _listed(
    source: str,
    folder: str,
    entries: Iterable[os.DirEntry[str]],
    todo: list[str],
    endings: tuple[str, ...],
    unchanged: Unchanged | None,
) -> Iterator[TranscriptRef]:
    """The files among the entries of a folder; folders in it are still to be looked at."""
    for entry in entries:
        if not entry.name.endswith(endings):
            todo += [f"{folder}/{entry.name}"] if _is_folder(entry) else []
            continue
        path = f"{folder}/{entry.name}"
        try:
            known = entry.stat()
        except (OSError, ValueError):
            yield _ref(source, path)
            continue
        size, mtime = known.st_size, known.st_mtime_ns
        if stat.S_ISDIR(known.st_mode):
            todo.append(path)
        elif not stat.S_ISREG(known.st_mode):
            yield TranscriptRef(source=source, path=path, size=0, mtime=file_time(mtime))
        elif unchanged is None or not unchanged(path, size, mtime // 1000):
            yield TranscriptRef(source=source, path=path, size=size, mtime=file_time(mtime))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    with suppress(OSError):
        return entry.is_dir()
    return False


def named(source: str, path: str) -> Iterator[TranscriptRef]:
    """The files that a person named: all in a folder, or the file itself, whatever it is."""
    if Path(path).is_dir():
        yield from list_files(source, path)
    else:
        yield _ref(source, path)


def _ref(source: str, path: str) -> TranscriptRef:
    """The file as a cheap look shows it. Of one that cannot be looked at nothing is known but its path."""
    for look in (os.stat, os.lstat):
        with suppress(OSError, ValueError):
            known = look(path)
            size = known.st_size if stat.S_ISREG(known.st_mode) else 0
            mtime = file_time(known.st_mtime_ns)
            return TranscriptRef(source=source, path=path, size=size, mtime=mtime)
    return TranscriptRef(source=source, path=path, size=0, mtime=NEVER)
