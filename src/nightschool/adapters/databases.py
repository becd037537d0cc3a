"""Databases that agents keep their sessions in, read by their side.

Nothing is ever written there. SQLite would lay files of its own beside a database in WAL mode, so one that
is in use is read with the files that are there, and one whose writer died is read from a copy.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

from nightschool.adapters.rows import open_file
from nightschool.core.sessions import LeftOut

MAGIC = b"SQLite format 3\0"
WAIT_SECONDS = 2.0
"""So long a database that is being written is waited for."""


class Unreadable(Exception):
    """Why a store cannot be read, in words."""


def is_database(path: str) -> bool:
    """By its first bytes. Of the many small files that are documents or lines none is opened."""
    if path.endswith((".json", ".jsonl")):
        return False
    file = open_file(path)
    if isinstance(file, LeftOut):
        return False
    with file, suppress(OSError):  # reading it says what is wrong
        return file.read(len(MAGIC)) == MAGIC
    return False


@contextmanager
def database(path: str) -> Iterator[sqlite3.Connection]:
    """A connection that changes nothing. Raises `Unreadable`."""
    log, index = Path(f"{path}-wal"), Path(f"{path}-shm")
    try:
        written = log.is_file() and log.stat().st_size > 0
        place, mode = path, "ro" if written else "ro&immutable=1"
        if written and not index.exists():
            looked = (os.stat(path), log.stat())  # noqa: PTH116 - a text, as it was given
            place, mode = _copied(path, *((one.st_size, one.st_mtime_ns) for one in looked)).place, "rw"
        address = f"file:{quote(place)}?mode={mode}"
        with closing(sqlite3.connect(address, uri=True, timeout=WAIT_SECONDS)) as connection:
            connection.row_factory = sqlite3.Row
            connection.text_factory = lambda text: text.decode("utf-8", "replace")
            yield connection
    except (sqlite3.Error, OSError, UnicodeError) as error:  # what is wrong may be said in no text at all
        raise Unreadable(f"the database cannot be read: {error}") from error


class _Copy:
    """A database whose writer died, with its log, in a folder that goes with this value or this process."""

    def __init__(self, path: str) -> None:
        folder = tempfile.mkdtemp(prefix="nightschool-database-")
        self._end = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.place = os.path.join(folder, "copy.db")  # noqa: PTH118 - a text, as `path` is
        try:
            shutil.copyfile(path, self.place)
            shutil.copyfile(f"{path}-wal", f"{self.place}-wal")
        except OSError as error:
            self._end()
            size = os.path.getsize(path) >> 20  # noqa: PTH202 - a text
            told = f"no copy of it ({size} MiB: its writer died) fits into {tempfile.gettempdir()}, or TMPDIR"
            raise Unreadable(f"{told}: {error.strerror or error}") from error


@lru_cache(maxsize=1)
def _copied(path: str, *looked: tuple[int, int]) -> _Copy:
    """Made once for all the sessions in it, and anew once it or its log changed; the last one is kept."""
    del looked
    return _Copy(path)
