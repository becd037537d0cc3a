"""One text and what is cut out of it. Relieves the judges of places of the bytes around a place."""

from __future__ import annotations

import re
from collections.abc import Callable

import re2

from nightschool.rules.secret_services import MARKED, SHAPES, Around, Shape
from nightschool.rules.secret_values import mixed

LATIN = re2.Options()
LATIN.encoding = re2.Options.Encoding.LATIN1  # bytes as they are: all that the patterns name is ASCII
LATIN.max_mem = 64 << 20

# Runs of one class of bytes cannot backtrack; for these the standard library costs a tenth of a call to RE2.
RUNS = {body: re.compile(f"[{body}]*".encode()) for body in {shape.body for shape in SHAPES}}

ALNUM_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
NAME_BYTES = ALNUM_BYTES + b"_-"
_BASE64_BYTES = ALNUM_BYTES + b"+/"
QUOTES = b"\"'`\\"

_ESCAPED = re.compile(rb"\\u[0-9a-fA-F]{4}")
_CUT_ESCAPE = re.compile(rb"[nrt]|u?[0-9a-fA-F]{4}")
"""What is left of an escape (`\\n`, `\\u00e9`) where a text was cut behind its backslash. Fewer digits may be
of a word: `desk-` is no key."""

_BY_HEAD: dict[bytes, list[Shape]] = {}
for _shape in SHAPES:
    _BY_HEAD.setdefault(_shape.prefix[:2].encode(), []).append(_shape)
for _shapes in _BY_HEAD.values():  # the longest first: `sk-` begins many
    _shapes.sort(key=lambda shape: -len(shape.prefix))
_BEGINNING = {
    head: re.compile(b"|".join(re.escape(shape.prefix.encode()) for shape in shapes))
    for head, shapes in _BY_HEAD.items()
}
BY_MARK: dict[int, list[Around]] = {}
for _around in MARKED:
    BY_MARK.setdefault(ord(_around.mark[0]), []).append(_around)


class Text:
    """A text, what stands in for its secrets so far, and looks around a place in it."""

    def __init__(self, content: bytes, stand_in: Callable[[str, bytes], bytes]) -> None:
        self._text = content
        self._stand_in = stand_in
        self._out: list[bytes] = []
        self._done = 0
        """All before it is in `_out`."""

    def _replace(self, kind: str, start: int, end: int) -> int:
        self._out += [self._text[self._done : start], self._stand_in(kind, self._text[start:end])]
        self._done = end
        return end

    def _run_before(self, at: int, allowed: bytes, most: int) -> int:
        """Where the run of these bytes that ends at `at` begins; an escape (`\\n`, `\\u00e9`) is not in."""
        piece = self._text[max(self._done, at - most) : at]
        start = at - (len(piece) - len(piece.rstrip(allowed)))
        if start < at and start and self._text[start - 1] == 0x5C and self._text[start] in b"nrt":
            start += 1
        for back in range(1, 6) if b"\\u" in self._text[max(0, start - 5) : start + 1] else ():
            if start >= back and _ESCAPED.match(self._text, start - back, at) is not None:
                return start - back + 6
        return start

    def _run_end(self, run: re.Pattern[bytes], at: int) -> int:
        found = run.match(self._text, at)
        return at if found is None else found.end()

    def _within_word(self, start: int) -> bool:
        begin = self._run_before(start, ALNUM_BYTES, 6)
        return begin < start and (begin > 0 or _CUT_ESCAPE.fullmatch(self._text, 0, start) is None)

    def _within_base64(self, start: int) -> bool:
        """Whether an encoded picture or program goes on here, in which any four letters come sometime."""
        before = self._text[max(0, start - 24) : start]
        if len(before) < 24 or before[-1:] not in {b"+", b"/"} or before.strip(_BASE64_BYTES):
            return False
        return mixed(before) and before.lower() != before != before.upper()

    def _shape_at(self, start: int) -> Shape | None:
        """The token shape that begins here with enough of a body, if one does."""
        head = self._text[start : start + 2]
        if head not in _BEGINNING or _BEGINNING[head].match(self._text, start) is None:
            return None
        for shape in _BY_HEAD[head]:
            begin = start + len(shape.prefix)
            if self._text.startswith(shape.prefix.encode(), start):
                piece = RUNS[shape.body].match(self._text, begin, begin + shape.least)
                if piece is not None and piece.end() - begin == shape.least:
                    return shape
        return None

    def _shaped(self, start: int) -> bool:
        """Whether a secret of its own shape begins here, which then has the word."""
        head = self._text[start : start + 10]
        if head.startswith((b"-----BEGIN", b"[secret:", b"eyJ")) or head[:7].lower() == b"bearer ":
            return True
        if b"://" in self._text[start : start + 16]:
            return True
        shape = self._shape_at(start)
        return shape is not None and not self._unmixed(start, shape)

    def _unmixed(self, start: int, shape: Shape) -> bool:
        begin = start + len(shape.prefix)
        return shape.mixed and not mixed(self._text[begin : begin + 4 * shape.least])
