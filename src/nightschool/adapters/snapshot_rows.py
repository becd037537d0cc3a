"""Rows of what an agent writes anew each time: a whole document, or one session of a database.

Relieves `rows`, which follows a file that only grows. There is no place in a document to go on from, so it
is read whole whenever it changed, and what was known of its session gives way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import TracebackType
from typing import Any, Self

import orjson

from nightschool.adapters.rows import Row, nothing_is_dull, open_file, recovered
from nightschool.core.sessions import LeftOut, Offset, TranscriptRef, in_text
from nightschool.core.values import digest_bytes

LARGEST = 256 << 20
"""Bytes of a document: it is held whole while it is read."""


@dataclass(slots=True, kw_only=True)
class SnapshotRows:
    """The rows of a document in their order. A row's offset is its number in it, from 0."""

    path: str
    size: int
    mtime: datetime
    head: str
    """Digest of the content."""
    values: Iterable[Mapping[str, Any]]
    restarted: bool
    part: str = ""
    position: int = 0
    left_out: list[LeftOut] = field(default_factory=list)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def just_before(self) -> str:
        """Nothing: each read begins at the first row."""
        return ""

    def rows(self, dull: Callable[[bytes], bool] = nothing_is_dull) -> Iterator[Row]:
        del dull
        for number, value in enumerate(self.values):
            self.position = number + 1
            yield Row(number, number + 1, dict(value))

    def offset(self, source: str, *, session: str, carry: str) -> Offset:
        """That it was read as it was then."""
        return Offset(
            source=source,
            path=self.path,
            position=self.position,
            size=self.size,
            mtime=self.mtime,
            head=self.head,
            session=session,
            carry=carry,
            part=self.part,
        )


def open_document(
    ref: TranscriptRef,
    since: Offset | None,
    rows_of: Callable[[dict[str, Any]], Iterable[Mapping[str, Any]]],
) -> SnapshotRows | LeftOut:
    """A file that is one JSON object, and the rows that it holds.

    One that is no whole object is named and has no cursor: it may be in the middle of being written.
    """
    path = in_text(ref.path)
    file = open_file(ref.path)
    if isinstance(file, LeftOut):
        return file
    with file:
        try:
            content = file.read(LARGEST + 1)
        except OSError as error:
            return LeftOut(path=path, reason="unreadable", detail=f"reading broke off: {error.strerror}")
    if len(content) > LARGEST:
        return LeftOut(path=path, reason="unreadable", detail=f"larger than {LARGEST >> 20} MiB")
    document = _object(content)
    if isinstance(document, str):
        return LeftOut(path=path, reason="bad-record" if content else "empty", offset=0, detail=document)
    return SnapshotRows(
        path=path,
        size=ref.size,
        mtime=ref.mtime,
        head=digest_bytes(content),
        values=rows_of(document),
        restarted=since is not None,
        part=ref.part,
    )


def _object(content: bytes) -> dict[str, Any] | str:
    """The object, or what is wrong."""
    try:
        value = orjson.loads(content)
    except ValueError:
        found, complaint = recovered(content, 0)
        if complaint or len(found) != 1:
            return complaint or f"{len(found)} documents in one file"
        return found[0].value
    return value if isinstance(value, dict) else "a document must be an object"
