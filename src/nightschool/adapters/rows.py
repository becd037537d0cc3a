"""Reads JSON lines by byte offset. What is wrong with a file or a line is a value, never an error."""

from __future__ import annotations

import io
import json
import os
import re
import stat
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, NamedTuple, Self

import orjson

from nightschool.adapters import unpacked
from nightschool.adapters.listing import file_time
from nightschool.adapters.unpacked import Unpacked
from nightschool.core.sessions import Became, LeftOut, Offset, in_text
from nightschool.core.values import digest_bytes

HEAD = 1024
"""Bytes that tell one file from another that took its place."""
LONGEST = 32 << 20
"""Bytes of a line: images stand in transcripts, but no row of ours is longer."""
MOST_NAMED = 100
"""Records of one file that are told one by one: a file of another kind has millions that are none."""
REMEMBERED = 256 << 10
"""Bytes before an offset that are looked at again for secrets: a fortieth of a second at most."""
MOST_JOINED = 1000
"""Records taken from one line: writers at once run two together, and thirty million are an attack."""

_LONGEST_INTEGER = 19
"""Digits that fit into 64 bits: a longer number is a float, as it is for the fast parser."""
_BOM = "\ufeff"
_SPACE = re.compile(rf"[ \t\r\n{_BOM}]*")
"""What may stand between records: a byte order mark, too, which some editors put before the first."""


def _number(digits: str) -> int | float:
    return int(digits) if len(digits) <= _LONGEST_INTEGER else float(digits)


_PACKED = {
    unpacked.MAGIC: "its rows need backports.zstd: `pip install backports.zstd`, or unpack it with `zstd -d`",
    b"\x1f\x8b": "unpack it with `gzip -d`",
}
"""How compressed files begin, and what is to be done. Codex compresses its old sessions with zstd."""

_DULL = (Became.NOTHING, "")
_DECODER = json.JSONDecoder(strict=False, parse_int=_number)


class Row(NamedTuple):
    """One object, and the bytes in the file that it was read from."""

    offset: int
    end: int
    value: dict[str, Any]
    fate: tuple[Became, str] | None = None
    """What became of it by later rows, where they were read before it is taken."""


def nothing_is_dull(line: bytes) -> bool:
    """Every line is parsed."""
    del line
    return False


@dataclass(slots=True, kw_only=True)
class Rows(ABC):
    """What a transcript is read from, row by row: lines of a file, or what a snapshot holds.

    `position` is where the next read goes on: always behind what `rows` has given out or reported.
    """

    path: str
    size: int
    mtime: datetime
    head: str
    """Tells one content from another that took its place."""
    restarted: bool
    part: str = ""
    counted: str = "byte"
    """What offsets are: bytes of the file, or rows of a document."""
    position: int = 0
    faults: int = 0
    left_out: list[LeftOut] = field(default_factory=list)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def just_before(self) -> str:
        """What an earlier read has read last, up to a bound: secrets in it may be said again."""
        return ""

    @abstractmethod
    def rows(
        self, dull: Callable[[bytes], bool] = nothing_is_dull, *, all_told: bool = False
    ) -> Iterator[Row]:
        """All objects that are new. A line that is `dull` by its first bytes is not parsed, unless another
        row may be hidden in it, or all are to be told of."""

    def leave_out(self, reason: str, offset: int | None, detail: str, path: str | None = None) -> None:
        """Name what cannot be read, here or in a file that belongs to it; of many the first, and how many."""
        self.faults += 1
        more = self.faults - MOST_NAMED
        if more > 1:
            self.left_out[-1] = replace(self.left_out[-1], detail=f"{more} more from here on")
        else:
            self.left_out.append(LeftOut(path=path or self.path, reason=reason, offset=offset, detail=detail))

    def offset(self, source: str, *, session: str, carry: str) -> Offset:
        """The cursor behind all that was read."""
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


@dataclass(slots=True, kw_only=True)
class RowFile(Rows):
    """An open file as long as it was when it was opened: what is appended meanwhile is left for later.

    Of one that is packed, offsets are those of what it unpacks to, and nobody writes on in it.
    """

    start: int
    length: int
    """Bytes that there are to read, at most."""
    file: BinaryIO
    packed: bool = False

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.file.close()

    def just_before(self) -> str:
        if self.packed:
            return ""  # it does not grow: what follows its end was never written
        begin = max(0, self.start - REMEMBERED)
        try:
            content = os.pread(self.file.fileno(), self.start - begin, begin)
        except OSError:
            return ""  # `rows` reads from the same file and tells what is wrong with it
        return content.decode("utf-8", "replace")

    def rows(
        self, dull: Callable[[bytes], bool] = nothing_is_dull, *, all_told: bool = False
    ) -> Iterator[Row]:
        self.position = self.start
        try:
            self.file.seek(self.start)
            yield from self._rows(dull, all_told=all_told)
        except OSError as error:
            self.leave_out("unreadable", self.position, f"reading broke off: {error.strerror or error}")

    def _rows(self, dull: Callable[[bytes], bool], *, all_told: bool) -> Iterator[Row]:
        loads = orjson.loads
        while (start := self.position) < self.length:
            line = self.file.readline(min(LONGEST, self.length - start))
            if not line:
                return
            end = start + len(line)
            whole = line.endswith(b"\n")
            fate = _DULL if whole and dull(line) and _is_plain(line) else None
            if line.isspace() or (fate is not None and not all_told):
                self.position = end
                continue
            if not whole and len(line) == LONGEST:
                if not self._pass_over(end):
                    return
                self.leave_out("bad-record", start, f"longer than {LONGEST >> 20} MiB")
                continue
            try:
                value = loads(line)
            except ValueError:
                found, complaint = recovered(line, start)
                if complaint and not whole and not self.packed:
                    return  # still being written: the next read takes it from its first byte
                yield from self._given(found, end)
                self.position = end
                if complaint:
                    self.leave_out("bad-record", start, complaint)
                continue
            self.position = end
            if type(value) is dict:
                yield Row(start, end, value, fate)
            else:
                self.leave_out("bad-record", start, f"a row must be an object, not {kind_of(value)}")

    def _given(self, found: list[Row], end: int) -> Iterator[Row]:
        """Rows of one line. The last one ends where the line ends, so that no byte is read twice."""
        for index, row in enumerate(found):
            yield row if index + 1 < len(found) else row._replace(end=end)

    def _pass_over(self, position: int) -> bool:
        """To the end of a line that is too long; False where it is still being written."""
        while position < self.length:
            part = self.file.readline(min(LONGEST, self.length - position))
            position += len(part)
            if part.endswith(b"\n") or (self.packed and not part):
                self.position = position
                return True
            if not part:
                return False
        return False


def open_rows(path: str, since: Offset | None = None) -> RowFile | LeftOut:
    """The file, to be read from `since` on, or from its start where that spoke of another file."""
    file = open_file(path)
    if isinstance(file, LeftOut):
        return file
    try:
        return _opened(path, file, since)
    except OSError as error:
        file.close()
        return LeftOut(path=in_text(path), reason="unreadable", detail=_said(error))


def open_file(path: str) -> BinaryIO | LeftOut:
    """A regular file. What is none is named and never opened for long: a pipe blocks nobody."""
    try:
        known = os.stat(path)  # noqa: PTH116 - links are followed, and Path adds nothing
        if not stat.S_ISREG(known.st_mode):
            return LeftOut(
                path=in_text(path), reason="unreadable", detail=f"is {_what(known.st_mode)}, no file"
            )
        # The file may have been replaced by a pipe since the look: opening must not wait for a writer.
        return os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb", buffering=1 << 20)
    except FileNotFoundError:
        reason = "dangling-link" if Path(path).is_symlink() else "vanished"
        return LeftOut(path=in_text(path), reason=reason, detail="there is no such file")
    except (OSError, ValueError) as error:
        return LeftOut(path=in_text(path), reason="unreadable", detail=_said(error))


def _opened(path: str, file: BinaryIO, since: Offset | None) -> RowFile | LeftOut:
    known = os.fstat(file.fileno())
    first = file.read(min(HEAD, known.st_size))
    reader, length = file, known.st_size
    way_out = next((told for magic, told in _PACKED.items() if first.startswith(magic)), None)
    library = unpacked.library() if first.startswith(unpacked.MAGIC) else None
    if library is not None:
        file.seek(0)
        raw = Unpacked(file, known.st_size, library)
        reader, length = io.BufferedReader(raw, 1 << 20), raw.length
    elif way_out is not None:
        file.close()
        detail = f"compressed: {way_out} and name the file that this gives"
        return LeftOut(path=in_text(path), reason="unreadable", detail=detail)
    same = (
        since is not None
        and known.st_size >= max(0 if library else since.position, since.size)
        and (library is None or known.st_size == since.size)
        and digest_bytes(first[: min(HEAD, since.size)]) == since.head
    )
    return RowFile(
        path=in_text(path),
        size=known.st_size,
        mtime=file_time(known.st_mtime_ns),
        head=digest_bytes(first),
        start=since.position if since is not None and same else 0,
        restarted=since is not None and not same,
        length=length,
        file=reader,
        packed=library is not None,
    )


def _is_plain(line: bytes) -> bool:
    """Whether a line that is not parsed can hide nothing: one object, no byte that may be wrong."""
    return line.endswith(b"}\n") and b"}{" not in line and line.isascii()


def recovered(line: bytes, start: int) -> tuple[list[Row], str]:
    """The objects of a line that is not one of them, and what is wrong with the rest ("" for nothing).

    Writers at once run whole rows together; each of them counts.
    """
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        return [], f"not UTF-8 at byte {start + error.start}"
    found: list[Row] = []
    at = 0
    began = start
    while True:
        space = _SPACE.match(text, at)
        at = space.end() if space is not None else at
        if at >= len(text):
            return found, ""
        if len(found) == MOST_JOINED:
            return found, f"more than {MOST_JOINED} records in one line"
        try:
            value, end = _DECODER.raw_decode(text, at)
            value = _encodable(value)
        except (ValueError, RecursionError) as error:
            told = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deep or too large"
            return found, f"no JSON: {told}"
        if not isinstance(value, dict):
            return found, f"a row must be an object, not {kind_of(value)}"
        ended = began + len(text[at:end].encode("utf-8"))
        found.append(Row(began, ended, value))
        began, at = ended, end


def _encodable(value: Any) -> Any:
    """Halves of surrogate pairs, which a cut in the middle of a sign leaves behind, become U+FFFD."""
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case dict():
            return {_encodable(key): _encodable(item) for key, item in value.items()}
        case list():
            return [_encodable(item) for item in value]
    return value


def word(value: object) -> str | None:
    """A field that should hold a text. What holds something else there says nothing that we know."""
    return value if isinstance(value, str) else None


def mapping(value: object) -> Mapping[str, Any]:
    """The same of a field that should hold an object."""
    return value if isinstance(value, dict) else {}


def kind_of(value: object) -> str:
    """What stands where an object should."""
    names = {list: "a list", str: "a text", bool: "a truth value", type(None): "null"}
    return names.get(type(value), "a number")


def _what(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "a folder that cannot be listed"
    return "a pipe" if stat.S_ISFIFO(mode) else "a device or socket"


def _said(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
