"""Secrets met before, so that a bare repetition of one, or of a part of it, is known again."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import Any

import re2

LIMIT = 200
"""Secrets kept; the oldest goes first. Bounds the pattern and with it the time of a scan."""

_SHORTEST, _LONGEST = 8, 512
_PART = 16
"""From this length on parts of a secret are known too."""
_STAND_IN = rb"\[secret:[a-z]{1,24}:[0-9a-f]{6}\]"
_NOT_KEPT = frozenset({"email", "card", "privatekey", "home", "host"})
"""Known by their shape wherever they stand; parts of them say nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Patterns:
    """`any` says cheaply whether there is a piece; `each` passes over stand-ins."""

    any: Any
    each: Any


class SecretMemory:
    """Bounded, in memory only, safe between threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: OrderedDict[bytes, tuple[bytes, tuple[tuple[bytes, int], ...]]] = OrderedDict()
        self._pieces: dict[bytes, tuple[bytes, int]] = {}
        self._pattern = _Patterns(any=None, each=None)
        self._stale = False
        self._all = b""
        """All that is kept in one line, for a quick look."""

    def stand_in(self, secret: bytes) -> bytes | None:
        """The stand-in of this secret, or of a longer one that it is a part of (a key cut in half)."""
        known = self._kept.get(secret)
        if known is not None:
            return known[0]
        if len(secret) < _PART or secret not in self._all:
            return None
        with self._lock:
            return next((kept[0] for whole, kept in self._kept.items() if secret in whole), None)

    def remember(self, kind: str, secret: bytes, stand_in: bytes) -> None:
        if kind in _NOT_KEPT or not _telling(secret):
            return
        pieces = _pieces_of(kind, secret)
        with self._lock:
            self._kept[secret] = (stand_in, pieces)
            for piece, offset in pieces:
                self._pieces.setdefault(piece, (secret, offset))
            while len(self._kept) > LIMIT:
                gone, (_, old) = self._kept.popitem(last=False)
                for piece, _ in old:
                    if self._pieces.get(piece, (b"", 0))[0] == gone:
                        del self._pieces[piece]
            self._all = b"\n".join(self._kept)
            self._stale = True

    def replace(self, content: bytes) -> bytes:
        """The content with each bare repetition replaced; the same object where there is none."""
        with self._lock:
            if self._stale:
                self._pattern = _compiled(self._pieces)
                self._stale = False
            pattern, pieces, kept = self._pattern, self._pieces, self._kept
            if not pieces or pattern.any.search(content) is None:
                return content
            out: list[bytes] = []
            done = 0
            for match in pattern.each.finditer(content):
                start, end = match.span()
                if content[start : start + 8] == b"[secret:" or start < done:
                    continue
                secret, offset = pieces[content[start:end]]
                start, end = _extended(content, (start, end), secret, offset, done)
                out += [content[done:start], kept[secret][0]]
                done = end
            return b"".join([*out, content[done:]]) if done else content


def _telling(secret: bytes) -> bool:
    """Whether the value is no ordinary word, so that replacing it everywhere harms no prose."""
    if not _SHORTEST <= len(secret) <= _LONGEST or b"[" in secret:
        return False
    return any(48 <= byte <= 57 for byte in secret) and any(byte >= 65 for byte in secret)


def _pieces_of(kind: str, secret: bytes) -> tuple[tuple[bytes, int], ...]:
    """The whole, and of a long one its quarters: each half of it holds at least one of them."""
    pieces = [(secret, 0)]
    begin = secret.rfind(b".") + 1 if kind == "jwt" else 0  # the head of a JWT is the same in many
    size = max(_SHORTEST, (len(secret) - begin) // 4)
    if len(secret) - begin >= _PART:
        starts = {*range(begin, len(secret) - size + 1, size), len(secret) - size}
        pieces += [
            (secret[at : at + size], at) for at in sorted(starts) if _scrambled(secret[at : at + size])
        ]
    return tuple(pieces)


def _scrambled(piece: bytes) -> bool:
    digits = sum(48 <= byte <= 57 for byte in piece)
    return 2 <= digits < len(piece) or (digits == 1 and not piece.islower() and not piece.isupper())


def _compiled(pieces: dict[bytes, tuple[bytes, int]]) -> _Patterns:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.max_mem = 64 << 20
    longest_first = [re2.escape(p) for p in sorted(pieces, key=lambda piece: (-len(piece), piece))]
    return _Patterns(
        any=re2.compile(b"|".join(longest_first), options),
        each=re2.compile(b"|".join([_STAND_IN, *longest_first]), options),
    )


def _extended(
    content: bytes, found: tuple[int, int], secret: bytes, offset: int, floor: int
) -> tuple[int, int]:
    """The found piece, grown on both sides as far as the text goes on like the secret."""
    start, end = found
    behind = offset + end - start
    while offset and start > floor and content[start - 1] == secret[offset - 1]:
        start, offset = start - 1, offset - 1
    while behind < len(secret) and end < len(content) and content[end] == secret[behind]:
        end, behind = end + 1, behind + 1
    return start, end
