"""What Aider keeps of its chats: a markdown file of all that was said, and a history of what was typed.

Relieves the transcripts of finding the chats in the one, and in the other who wrote a "####" block: Aider
puts one before whatever goes to a model, also before the plan that one model makes for another.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, BinaryIO, NamedTuple

CHUNK = 8 << 20
MOST_CHATS = 10_000
"""Chats told apart in one file: what begins behind them belongs to the last."""
KIND = "$aider"
CHAT, PROMPT, REPLY, NOTE, TYPED = "chat", "prompt", "reply", "note", "typed"

_STARTED = re.compile(rb"(?:\A|\n)# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\r?(?=\n)")
_NEVER = "~"
_OVERLAP = 64
"""Bytes: longer than a heading."""
_HARD = "  "
"""How Aider ends each line of its own and of a prompt: what a model wrote has no reason to."""
_TYPED_AT = re.compile(r"# (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?)\Z")
_CHOICE = "(Y)es/(N)o"
_CHOSEN = frozenset({"all", "skip"})
_COMMAND = re.compile(r"/\w[\w-]*\s+(?P<words>\S.*)\Z", re.DOTALL)
_ANSWERS = frozenset({"y", "yes", "n", "no", "a", "all", "s", "skip", "d", "don't"})
_NO_WORDS = "<blank>"
_MOST_BRACES = 20
"""Places that are tried for a prompt of several entries: the next is the right one, if any is."""


class Chat(NamedTuple):
    """Where one chat lies in the file."""

    started: str
    """As the file says it: the time of that machine, without a zone."""
    begin: int
    end: int
    again: int
    """How many before it began in the same second."""
    until: str
    """When the next one began; of the last, after all times."""


class Entry(NamedTuple):
    """What was typed at once, and when."""

    at: str
    text: str


def chats_in(file: BinaryIO, size: int) -> tuple[Chat, ...]:
    """The chats of a file, in order. Raises `OSError`."""
    found: list[tuple[str, int]] = []
    base, tail = 0, b""
    while len(found) < MOST_CHATS and (chunk := file.read(min(CHUNK, size - base - len(tail)))):
        block = tail + chunk
        for match in _STARTED.finditer(block):
            begin = base + match.start() + (block[match.start() : match.start() + 1] == b"\n")
            # A heading in the part that blocks share was found already; in the middle of a file \A is none.
            if (
                (not found or begin > found[-1][1])
                and (match.start() or not base)
                and len(found) < MOST_CHATS
            ):
                found.append((match.group(1).decode("ascii"), begin))
        base, tail = base + len(block) - min(_OVERLAP, len(block)), block[-_OVERLAP:]
    times: dict[str, int] = {}
    chats = []
    for (started, begin), (until, end) in pairwise((*found, (_NEVER, size))):
        times[started] = times.get(started, -1) + 1
        chats.append(Chat(started, begin, end, times[started], until))
    return tuple(chats)


class History:
    """What was typed at all, to be asked for what was typed in the course of one chat after another."""

    def __init__(self, entries: Sequence[Entry] = ()) -> None:
        self._entries = entries
        self._times = sorted((entry.at, place) for place, entry in enumerate(entries))
        """A clock may have been put back: the order of times is not that of the file."""

    def during(self, chat: Chat) -> list[Entry]:
        """It belongs to the chat that had begun last."""
        first, behind = (bisect_left(self._times, (at, -1)) for at in (chat.started, chat.until))
        return [self._entries[place] for place in sorted(place for _, place in self._times[first:behind])]


def entries_in(text: str) -> tuple[Entry, ...]:
    """What a history of input holds; nothing of a file that is none."""
    found: list[Entry] = []
    at: str | None = None
    lines: list[str] = []
    for line in (*text.split("\n"), ""):
        if line.startswith("+"):
            lines.append(line[1:].rstrip("\r"))
            continue
        if lines and at is not None:
            found.append(Entry(at, "\n".join(lines)))
        lines = []
        stamp = _TYPED_AT.match(line.rstrip("\r"))
        at = stamp.group(1) if stamp is not None else at
    return tuple(found)


def moment_here(stamp: str) -> datetime | None:
    """A time that this machine's clock showed: Aider names no zone, and its files lie where it ran."""
    try:
        return datetime.fromisoformat(stamp).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None


def rows_of_history(entries: Sequence[Entry]) -> Iterator[dict[str, Any]]:
    """The prompts of a history that is alone. Answers to questions of Aider's stand among them."""
    for entry in entries:
        why = "an answer to a question" if entry.text.strip().lower() in _ANSWERS else ""
        yield {KIND: TYPED, "text": entry.text, "at": entry.at, "why": why}


def rows_of_chat(text: str, chat: Chat, entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """The rows of one chat: how it began, prompts with who wrote them, replies, and Aider's own lines."""
    rows = list(_parted(text, chat))
    typed = _Typed(entries)
    for row in rows:
        if row[KIND] == PROMPT:
            row["at"] = typed.when(row["text"])
    covered = any(row.get("at") for row in rows)
    before, replies = "", list[str]()
    for row in rows:
        if row[KIND] == REPLY:
            replies.append(folded(row["text"]))
        elif row[KIND] == PROMPT:
            row["why"] = "" if row["at"] else _why_none(row["text"], before, replies, covered=covered)
            before, replies = row["text"], []
    return rows


def _parted(text: str, chat: Chat) -> Iterator[dict[str, Any]]:
    """Runs of lines of a kind. Each line of Aider's own is a row, and a reply of blank lines is none."""
    kind, held = CHAT, [chat.started]
    for full in text.split("\n")[1:]:
        now, words = _kind(full.removesuffix("\r"))
        if now != kind or kind == NOTE:
            if kind != REPLY or any(line.strip() for line in held):
                yield {KIND: kind, "text": "\n".join(held)}
            held = []
        kind = now
        held.append(words)
    if kind != REPLY or any(line.strip() for line in held):
        yield {KIND: kind, "text": "\n".join(held)}


def _kind(line: str) -> tuple[str, str]:
    if line.endswith(_HARD):
        if line.startswith("#### "):
            return PROMPT, line[5:-2]
        if line.startswith(">"):
            return NOTE, line[1:].strip()
    return REPLY, line


def _why_none(text: str, before: str, replies: Sequence[str], *, covered: bool) -> str:
    """Why nobody typed a block; "" where somebody may have."""
    plain, command = folded(text), _COMMAND.match(before)
    if not plain or plain == _NO_WORDS:
        return "without words"
    question, _, answer = text.rpartition(":")
    if _CHOICE in question and answer.removeprefix(" ") in _CHOSEN:
        return "an answer to a question"
    if replies and plain in {replies[-1], " ".join(replies)}:
        return "the plan of one model for another"
    if not replies and command is not None and folded(command["words"]) == plain:
        return "the words of the command before it, once more"
    return "not among what was typed" if covered else ""


def folded(text: str) -> str:
    """A text whatever its line ends and spaces: the two files keep them in ways of their own."""
    return " ".join(text.split())


@dataclass(slots=True)
class _Typed:
    """What was typed in the course of one chat, to be met in order."""

    entries: Sequence[Entry]
    _next: int = 0
    _last: tuple[str, str] = ("", "")
    _places: dict[str, list[int]] = field(default_factory=dict)
    _folded: list[str] = field(default_factory=list)
    _braces: list[int] = field(default_factory=list)
    """Where a prompt of several entries may begin."""

    def __post_init__(self) -> None:
        self._folded = [folded(entry.text) for entry in self.entries]
        for place, text in enumerate(self._folded):
            self._places.setdefault(text, []).append(place)
        for places in self._places.values():
            places.reverse()
        self._braces = [place for place, text in enumerate(self._folded) if text.startswith("{")]

    def when(self, text: str) -> str:
        """When a text was typed; "" where it was not."""
        plain = folded(text)
        if not plain:
            return ""
        place, end = self._whole(plain) or self._of_lines(plain) or (None, 0)
        if place is None:
            # The same text as the one before is not stored again.
            return self._last[1] if plain == self._last[0] else ""
        self._next = end
        self._last = plain, self.entries[place].at
        return self._last[1]

    def _whole(self, plain: str) -> tuple[int, int] | None:
        places = self._places.get(plain, [])
        while places and places[-1] < self._next:
            places.pop()
        return (places[-1], places[-1] + 1) if places else None

    def _of_lines(self, plain: str) -> tuple[int, int] | None:
        """A prompt between braces is stored line by line."""
        first = bisect_left(self._braces, self._next)
        for begin in self._braces[first : first + _MOST_BRACES]:
            joined, end = "", begin + 1
            while end < len(self._folded) and len(joined) < len(plain):
                joined, end = f"{joined} {self._folded[end]}".strip(), end + 1
            if joined == plain:
                return begin, end
        return None
