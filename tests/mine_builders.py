"""What mining is tested with: requests that are not alike, and projects that lie in a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from nightschool.core.harness import Absent

APP = "/home/me/app"
COMMIT = "c" * 40
REQUESTS = (
    "Parse the uploaded invoices and index their totals by month",
    "Render a cache page for the schema of every queue we own",
    "Route tokens from the login form into the session table",
    "Translate all labels of the settings dialog into Danish",
    "Draw a histogram of response times below the status banner",
    "Import the address book from a vcard file without duplicates",
    "Schedule the nightly export right after the backup finished",
    "Compress thumbnails before they are mailed to subscribers",
)


@dataclass(frozen=True, kw_only=True)
class Repositories:
    """The `Projects` port over a table: every project is at one commit."""

    commit: str | None = COMMIT
    texts: dict[str, bytes] = field(default_factory=dict)
    worktrees: dict[str, str] = field(default_factory=dict)

    def root(self, directory: str) -> str:
        return self.worktrees.get(directory, directory)

    def commit_at(self, root: str, *, branch: str | None, at: datetime) -> str | None:
        return self.commit

    def holds(self, root: str, commit: str) -> bool:
        return commit == self.commit

    def tracks(self, path: Path) -> bool:
        return False

    def text_at(self, root: str, commit: str, path: str) -> bytes | None:
        return self.texts.get(path)

    def absent(self, root: str, commit: str) -> Sequence[Absent]:
        return ()
