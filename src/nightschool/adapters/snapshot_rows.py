"""Rows of what is read at once: a whole document, one session of a database, lines that later ones override.

Relieves `rows`, which follows a file that only grows. There is no place in a document to go on from, so it
is read whole whenever it changed, and what was known of its session gives way.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from nightschool.adapters.rows import Row, RowFile, Rows, kind_of, nothing_is_dull, open_file, recovered
from nightschool.core.sessions import LeftOut, Offset, TranscriptRef, in_text
from nightschool.core.values import digest_bytes

LARGEST = 32 << 20
"""Bytes of a document: it is held whole while it is read, and takes up to seven times as much."""


@dataclass(slots=True, kw_only=True)
class SnapshotRows(Rows):
    """Rows in their order. In a document or a database a row's offset is its number, from 0."""

    given: Sequence[Row]
    before: str = ""

    def just_before(self) -> str:
        return self.before

    def rows(
        self, dull: Callable[[bytes], bool] = nothing_is_dull, *, all_told: bool = False
    ) -> Iterator[Row]:
        del dull, all_told
        yield from self.given


def snapshot(
    ref: TranscriptRef,
    since: Offset | None,
    *,
    head: str,
    values: Iterable[object],
    left_out: Iterable[LeftOut] = (),
) -> SnapshotRows:
    """The objects among these values as rows; what is none is named by its number.

    The cursor is that of the cheap look, so that a change since is seen by the next one.
    """
    file = SnapshotRows(
        path=in_text(ref.path),
        size=ref.size,
        mtime=ref.mtime,
        head=head,
        restarted=since is not None,
        part=ref.part,
        counted="row",
        given=(),
        left_out=list(left_out),
    )
    found: list[Row] = []
    for number, value in enumerate(values):
        file.position = number + 1
        if isinstance(value, dict):
            found.append(Row(number, number + 1, value))
        else:
            file.leave_out("bad-record", number, f"row {number} must be an object, not {kind_of(value)}")
    file.given = found
    return file


class _TooLarge(Exception):
    """More than may be held at once."""


def at_once(
    file: RowFile, through: Callable[[Iterator[Row]], Sequence[Row]], *, restarted: bool
) -> SnapshotRows | LeftOut:
    """The rows of lines that are all read, and gone `through`, before the first is taken."""
    try:
        rows = through(_held(file))
    except _TooLarge:
        return LeftOut(path=file.path, reason="unreadable", detail=f"larger than {LARGEST >> 20} MiB")
    return SnapshotRows(
        path=file.path,
        size=file.size,
        mtime=file.mtime,
        head=file.head,
        restarted=restarted,
        position=file.position,
        faults=file.faults,
        left_out=file.left_out,
        given=rows,
        before=file.just_before(),
    )


def _held(file: RowFile) -> Iterator[Row]:
    """By the file's size before the first; of one that is packed, by what it unpacks to."""
    if not file.packed and file.length - file.start > LARGEST:
        raise _TooLarge
    for row in file.rows():
        if row.end - file.start > LARGEST:
            raise _TooLarge
        yield row


def open_document(
    ref: TranscriptRef, since: Offset | None, rows_of: Callable[[dict[str, Any]], Iterable[object]]
) -> SnapshotRows | LeftOut:
    """A file that is one JSON object, and the rows that it holds.

    One that is no whole object is named and has no cursor: it may be in the middle of being written.
    """
    content = content_of(ref.path)
    if isinstance(content, LeftOut):
        return content
    document = object_in(content)
    if isinstance(document, str):
        reason = "bad-record" if content else "empty"
        return LeftOut(path=in_text(ref.path), reason=reason, offset=0, detail=document)
    return snapshot(ref, since, head=digest_bytes(content), values=rows_of(document))


def content_of(path: str) -> bytes | LeftOut:
    """All of a file, up to a bound, or what keeps it from being read."""
    file = open_file(path)
    if isinstance(file, LeftOut):
        return file
    with file:
        try:
            too_large = os.fstat(file.fileno()).st_size > LARGEST
            content = b"" if too_large else file.read(LARGEST + 1)
        except OSError as error:
            detail = f"reading broke off: {error.strerror}"
            return LeftOut(path=in_text(path), reason="unreadable", detail=detail)
    if too_large or len(content) > LARGEST:
        return LeftOut(path=in_text(path), reason="unreadable", detail=f"larger than {LARGEST >> 20} MiB")
    return content


def object_in(content: bytes) -> dict[str, Any] | str:
    """The one object of a text, or what is wrong."""
    try:
        value = orjson.loads(content)
    except ValueError:
        found, complaint = recovered(content, 0)
        if complaint or len(found) != 1:
            return complaint or f"{len(found)} documents in one text"
        return found[0].value
    return value if isinstance(value, dict) else f"it must be an object, not {kind_of(value)}"
