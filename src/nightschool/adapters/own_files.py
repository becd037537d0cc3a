"""What lies in the home of ours beside the store: reports, logs, mirrors of repositories, folders of jobs."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from nightschool.adapters.leftovers import remove_tree
from nightschool.adapters.workspaces import Workspaces

OURS = (
    "reports",
    "schedule",
    "work",
    "blobs",
    "agreed",
    "redaction.key",
    "locks",
    "nightschool.db-wal",
    "nightschool.db-shm",
    "nightschool.db-journal",
    "nightschool.db",
)
"""All that we make in a home, in the order in which it goes: the database, which knows the rest, is last."""


HIDDEN = ".hidden"
"""Among the reports: for what of the ignore lists they were looked through last."""


class HomeFiles:
    """The `OwnFiles` port on the file system."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._reports = home / "reports"
        self._work = home / "work"
        self._log = home / "schedule" / "run.log"

    def clear(self, *, cycles: Collection[str], repositories: Collection[str]) -> None:
        self._without(cycles)
        # The log of scheduled runs quotes what they learned. One that runs now goes on writing into it.
        if self._log.exists():
            os.truncate(self._log, 0)
        self._log.with_name("run.log.1").unlink(missing_ok=True)
        if self._work.is_dir():
            Workspaces(self._work).clear(repositories)

    def hide(self, *, cycles: Collection[str], mark: str) -> int:
        place = self._reports / HIDDEN
        before = place.read_text(encoding="utf-8") if place.exists() else ""
        if before == mark or not self._reports.is_dir():
            return 0
        gone = self._without(cycles)
        if mark:
            place.write_text(mark, encoding="utf-8")
        else:
            place.unlink()
        return gone

    def _without(self, cycles: Collection[str]) -> int:
        """Remove the report files of these cycles."""
        gone = 0
        for path in self._reports.glob("*") if cycles else ():
            # One that was being written when its process died begins with a dot.
            if path.name.lstrip(".").split(".")[0] in cycles:
                path.unlink(missing_ok=True)
                gone += 1
        return gone

    def survey(self) -> dict[str, int]:
        """What is there of ours, with its bytes."""
        found = {name: self._home / name for name in OURS}
        return {name: _size(path) for name, path in found.items() if path.exists() or path.is_symlink()}

    def remove(self) -> tuple[str, ...]:
        """Remove all that is ours, and the folder if nothing else lies in it; what else does."""
        for name in OURS:
            path = self._home / name
            if path.is_dir() and not path.is_symlink():
                remove_tree(path)
            else:
                path.unlink(missing_ok=True)
        for part in self._home.glob(".redaction.key.*"):
            part.unlink(missing_ok=True)
        left = tuple(sorted(path.name for path in self._home.glob("*"))) if self._home.is_dir() else ()
        if not left and self._home.is_dir() and not self._home.is_symlink():
            self._home.rmdir()
        return left


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() and not path.is_symlink() else (path,)
    return sum(file.lstat().st_size for file in files if not file.is_dir())
