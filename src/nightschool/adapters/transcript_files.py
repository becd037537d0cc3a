"""What reading transcripts of JSON lines has in common, whichever agent wrote them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from nightschool.adapters.agent_home import AgentHome
from nightschool.adapters.conversation import Conversation
from nightschool.adapters.rows import Row, Rows, kind_of, list_files, named, open_rows
from nightschool.core.ports import Redact, TellRow
from nightschool.core.sessions import (
    Became,
    LeftOut,
    Offset,
    ReadResult,
    Retention,
    Roots,
    RowFate,
    Session,
    TranscriptRef,
)

_FIRST_ROWS = 40
_KIND = 60
"""Characters of what a row calls itself."""


class Reading(ABC):
    """One pass over one file, or over the part of it behind an offset."""

    def __init__(self, redact: Redact, file: Rows) -> None:
        self._file = file
        self._talk = Conversation(redact)
        self._facts: dict[str, str] = {}
        self._first: datetime | None = None
        self._last: datetime | None = None
        self._known = False
        """A row was this agent's."""
        self._fates: list[tuple[Became, str, int | None, str | None]] | None = None
        """What became of the present row, where somebody asks."""

    @abstractmethod
    def is_dull(self, line: bytes) -> bool: ...

    @abstractmethod
    def take(self, row: Row) -> None: ...

    @abstractmethod
    def carry(self) -> str:
        """What decides for the rows to come, kept with the offset."""

    @abstractmethod
    def session(self, since: Offset | None) -> Session: ...

    @abstractmethod
    def kind(self, row: Row) -> str:
        """What a row calls itself."""

    def became(self, what: Became, why: str = "", call_id: str | None = None) -> None:
        """Says what became of the row at hand: what is looked up for it costs nothing where nobody asks."""
        if self._fates is not None:
            of_turn = what in {Became.HUMAN, Became.SAID, Became.INTERRUPTION}
            turn = self._talk.latest if of_turn else self._talk.turn_of(call_id)
            self._fates.append((what, why, turn, call_id))

    def bad(self, row: Row, why: str) -> None:
        """What a row holds in a place that is known, and is not what stands there."""
        self._file.leave_out("bad-record", row.offset, why)

    def objects(self, row: Row, value: object, what: str) -> Iterator[dict[str, Any]]:
        """The objects of a list, such as the blocks of a message. What is none is named; no list is none."""
        if value is not None and not isinstance(value, list):
            self.bad(row, f"{what} must be a list, not {kind_of(value)}")
            return
        for item in value or ():
            if isinstance(item, dict):
                yield item
            else:
                self.bad(row, f"one of {what} must be an object, not {kind_of(item)}")

    def take_and_tell(self, row: Row, told: TellRow) -> None:
        self._fates, faults = [], self._file.faults
        self.take(row)
        if not self._fates and self._file.faults > faults:
            return  # what is bad stands among what was left out
        kind = self._talk.text(self.kind(row), _KIND)
        for what, why, turn, call_id in self._fates or [(Became.NOTHING, "", None, None)]:
            told(RowFate(offset=row.offset, kind=kind, became=what, why=why, turn=turn, call_id=call_id))

    def timed(self, at: datetime | None) -> None:
        if at is not None:
            self._first = at if self._first is None else min(self._first, at)
            self._last = at if self._last is None else max(self._last, at)

    def learn(self, key: str, value: object) -> None:
        """The first that is said of it."""
        if key not in self._facts and isinstance(value, str) and value:
            self._facts[key] = value

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(self._warning(found) for found in self._file.left_out)

    def _warning(self, found: LeftOut) -> str:
        place = "" if found.offset is None else f"{self._file.counted} {found.offset}: "
        other = "" if found.path == self._file.path else f"{self._talk.short(found.path)}: "
        return f"{other}{place}{found.detail}"

    def result(self, since: Offset | None, *, source: str, title: str) -> ReadResult:
        file, session = self._file, None
        if self._known or (since is not None and since.session):
            session = self.session(since)
        left_out = tuple(file.left_out)
        if session is None:
            # What is damaged in a file that is none of ours is one finding, not as many as it has lines.
            reason = "not-a-transcript" if file.position or left_out else "empty"
            damaged = f", and what is no row at {file.counted} {left_out[0].offset}" if left_out else ""
            detail = f"no row of {title} in it{damaged}"
            left_out = (LeftOut(path=file.path, reason=reason, detail=detail),)
        return ReadResult(
            session=session,
            offset=file.offset(source, session=session.session_id if session else "", carry=self.carry()),
            left_out=left_out,
            restarted=file.restarted,
        )


class TranscriptFiles(ABC):
    """A `TranscriptSource` of files in the agent's folder."""

    name: str
    title: str
    home: AgentHome
    endings: tuple[str, ...] = (".jsonl",)

    def __init__(self, *, redact: Redact) -> None:
        self._redact = redact
        self.moved_by: str | None = self.home.variable

    @abstractmethod
    def is_ours(self, row: Mapping[str, Any]) -> bool:
        """Whether no other agent writes such a row."""

    @abstractmethod
    def reading(self, file: Rows, since: Offset | None) -> Reading: ...

    def folders(self, roots: Roots) -> Sequence[Path]:
        return self.home.session_folders(Path(roots.home), dict(roots.environment))

    def discover(self, roots: Roots) -> Iterable[TranscriptRef]:
        if roots.explicit:
            found = [ref for path in roots.explicit for ref in named(self.name, path)]
        else:
            found = [
                ref
                for folder in self.folders(roots)
                for ref in list_files(self.name, str(folder), self.endings)
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
                self._redact(opened.just_before())  # so that an echo of a secret in it is known
            reading = self.reading(opened, before)
            # Who asks for each row is told of the dull ones, too.
            for row in opened.rows(reading.is_dull) if told is None else opened.rows():
                if told is None:
                    reading.take(row)
                else:
                    reading.take_and_tell(row, told)
        return reading.result(before, source=self.name, title=self.title)
