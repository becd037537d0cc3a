"""What the sources of transcripts have in common: where files are looked for, and how one is read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nightschool.adapters.agent_home import AgentHome
from nightschool.adapters.listing import list_files, named
from nightschool.adapters.reading import Reading
from nightschool.adapters.rows import Rows, open_rows
from nightschool.core.ports import Redact, TellRow, Unchanged
from nightschool.core.retention import Retention
from nightschool.core.sessions import LeftOut, Offset, ReadResult, Roots, TranscriptRef
from nightschool.core.values import digest_of

_FIRST_ROWS = 40


_UNNAMED = "sha256:"
"""Before the digest of an id that no cursor may keep."""


class TranscriptFiles(ABC):
    """A `TranscriptSource` of files in the agent's folder."""

    name: str
    title: str
    home: AgentHome
    endings: tuple[str, ...] = (".jsonl",)
    reads: type[Reading[Any]]
    """What makes a session of rows."""

    def __init__(self, *, redact: Redact) -> None:
        self.redact = redact
        self.moved_by: str | None = self.home.variable

    @abstractmethod
    def is_ours(self, row: Mapping[str, Any]) -> bool:
        """Whether no other agent writes such a row."""

    def folders(self, roots: Roots) -> Sequence[Path]:
        return self.home.session_folders(Path(roots.home), dict(roots.environment))

    def discover(self, roots: Roots, unchanged: Unchanged | None = None) -> Iterable[TranscriptRef]:
        if roots.explicit:
            found = [ref for path in roots.explicit for ref in named(self.name, path)]
        else:
            found = [
                ref
                for folder in self.folders(roots)
                for ref in list_files(self.name, str(folder), self.endings, unchanged)
                if self.may_be(ref.path)
            ]
        return sorted((one for ref in found for one in self.parts(ref)), key=lambda ref: (ref.path, ref.part))

    def may_be(self, path: str) -> bool:
        """Whether a file below the agent's folder may be a transcript, by its path alone."""
        del path
        return True

    def parts(self, ref: TranscriptRef) -> Iterable[TranscriptRef]:
        """The sessions in a file, where it may hold several; else the file itself."""
        return (ref,)

    def part_named(self, own: str) -> str:
        """What a cursor may name a session of a file by: its id there, unless that is a secret."""
        return own if self.redact(own) == own else f"{_UNNAMED}{digest_of(own)}"

    def own_of(self, part: str, known: Callable[[], Iterable[str]]) -> str:
        """The id that a cursor means, among those that there are."""
        if not part.startswith(_UNNAMED):
            return part
        return next((own for own in known() if self.part_named(own) == part), part)

    def opened(self, ref: TranscriptRef, since: Offset | None) -> Rows | LeftOut:
        """What the file is read from: its lines, where an agent has no other way."""
        return open_rows(ref.path, since)

    def retention(self, roots: Roots) -> Retention | None:
        """None: of most agents it is not known that they remove any."""
        del roots
        return None

    def recognises(self, ref: TranscriptRef) -> bool:
        opened = self.opened(ref, None)
        if isinstance(opened, LeftOut):
            return False
        with opened:
            first = zip(opened.rows(), range(_FIRST_ROWS), strict=False)
            return any(self.is_ours(row.value) for row, _ in first)

    def read(self, ref: TranscriptRef, since: Offset | None, *, told: TellRow | None = None) -> ReadResult:
        opened = self.opened(ref, since)
        if isinstance(opened, LeftOut):
            return ReadResult(session=None, offset=None, left_out=(opened,))
        with opened:
            before = None if opened.restarted else since
            if before is not None:
                self.redact(opened.just_before())  # so that an echo of a secret in it is known
            reading = self.reads(self, opened, before)
            reading.through(told)
        return reading.result()
