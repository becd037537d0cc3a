"""Transcripts of pi: `~/.pi/agent/sessions/--<folder>--/<time>_<id>.jsonl`.

Since version 2 the rows are a tree: each names its parent, and a person may go back and take another way in
the same file. What counts is the way from the last row up to the first; what was left is told and counts
nothing. Version 1 has no ids, and all of its rows count. When pi opens such a file it writes it anew.

Nothing in the file says whether a person or a program sent a prompt: all of them are taken for a person's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from nightschool.adapters.agent_home import AgentHome
from nightschool.adapters.conversation import moment
from nightschool.adapters.reading import WENT_BACK, Carry, Reading, carried, skills_opened
from nightschool.adapters.rows import Row, Rows, mapping, open_rows, word
from nightschool.adapters.snapshot_rows import at_once
from nightschool.adapters.transcript_files import TranscriptFiles
from nightschool.core.sessions import Became, CallStatus, LeftOut, Offset, TranscriptRef
from nightschool.core.values import digest_of

SOURCE = "pi"
HOME = AgentHome(variable="PI_CODING_AGENT_DIR", usual=".pi/agent", sessions=("sessions",))
_ROLES = frozenset({"user", "assistant", "toolResult", "bashExecution", "custom", "hookMessage"})
_EXITED = re.compile(r"^Command exited with code (\d{1,10})\s*\Z", re.MULTILINE)
_SKILL = re.compile(r'\A<skill name="([^"]+)" location="[^"]+">\n.*?\n</skill>(?:\n\n(.*))?\Z', re.DOTALL)


class _PassesBy(Exception):
    """The way does not lead through the last row that an earlier read saw."""


def _on_the_way(given: Iterator[Row], *, leaf: str | None) -> list[Row]:
    """All rows, since only the last one says which of them count. Raises `_PassesBy`, if there is a `leaf`
    that an earlier read saw last."""
    rows = list(given)
    living = _living(rows, leaf)
    return [row if _id(row) is None or _id(row) in living else row._replace(fate=WENT_BACK) for row in rows]


def _id(row: Row) -> str | None:
    """The id of a row of the tree; the head of the file and rows of version 1 are none."""
    return _named(row.value.get("id")) if "parentId" in row.value else None


def _named(value: object) -> str | None:
    """A name for an id: the cursor keeps it, and whatever stands there is not to be stored."""
    return digest_of(value)[:16] if isinstance(value, str) else None


def _living(rows: Sequence[Row], leaf: str | None) -> frozenset[str]:
    """Ids on the way from the last row up. Raises `_PassesBy`.

    Of a parent that is nowhere (it was cut away, or its line is damaged) the row before takes the place:
    what it led to is not lost.
    """
    parents: dict[str, str | None] = {}
    before: dict[str, str | None] = {}
    last: str | None = None
    for row in rows:
        own = _id(row)
        if own is not None:
            parents[own], before[own], last = _named(row.value.get("parentId")), last, own
    at, way = last, dict[str, None]()
    while at is not None and at not in way and at != leaf:
        way[at] = None
        parent = parents[at]
        if parent is None or parent in parents or parent == leaf:
            at = parent
        elif leaf is None:
            at = before[at]
        else:
            raise _PassesBy
    if leaf is not None and last is not None and at != leaf:
        raise _PassesBy
    return frozenset(way)


@dataclass(slots=True)
class _Carry(Carry):
    leaf: str | None = None


class _Reading(Reading[_Carry]):
    """Ids of rows are short and only their file's own: what a fork copies is known by time and text."""

    carries = _Carry

    def kind(self, value: Mapping[str, Any]) -> str:
        kind, message = super().kind(value), value.get("message")
        role = word(message.get("role")) if isinstance(message, dict) else None
        return f"{kind} {role}" if role else kind

    def skills_of(self, name: str, given: object, command: str | None) -> Sequence[str]:
        del command
        return _opened_skills(name, given)

    def take(self, value: Mapping[str, Any]) -> None:
        self.knows(value)
        self._carry.leaf = _id(self._row) or self._carry.leaf
        at = moment(value.get("timestamp"))
        self.timed(at)
        self.stands(None, at)
        match value.get("type"):
            case "session":
                self.became(Became.FACTS, "id and folder")
                self.learn("cwd", value.get("cwd"))
                self._carry.session = self._carry.session or self._talk.own_id(value.get("id"))
            case "model_change":
                self.became(Became.FACTS, "model")
                self.model(value.get("modelId"))
            case "message" if isinstance(message := value.get("message"), dict):
                self._message(message)
            case "message":
                self.bad("a row of a message, without one")

    def _message(self, message: Mapping[str, Any]) -> None:
        match message.get("role"):
            case "user":
                self._prompt(self.text_of(message.get("content")))
            case "assistant":
                self._reply(message)
            case "toolResult":
                self._result(message)
            case "bashExecution":
                self.became(Became.LEFT_OUT, "a command that the person ran")
            case "custom" | "hookMessage":
                self.became(Became.LEFT_OUT, "put in by an extension")

    def _prompt(self, text: str) -> None:
        skill = _SKILL.match(text)
        if skill is None:
            self.prompt(text, "without words")
        else:
            self.prompt(skill.group(2) or f"/skill:{skill.group(1)}")
            self._talk.loaded(skill.group(1))

    def _reply(self, message: Mapping[str, Any]) -> None:
        self.model(message.get("model"))
        content = message.get("content")
        for block in self.objects(content, "content"):
            if block.get("type") == "text":
                self.said(block.get("text"))
            elif block.get("type") == "toolCall":
                self.called(block.get("id"), block.get("name"), block.get("arguments"))
        usage, cost = mapping(message.get("usage")), mapping(mapping(message.get("usage")).get("cost"))
        given = (usage.get(name) for name in ("input", "cacheRead", "cacheWrite"))
        self.took(given, (usage.get("output"),), cost.get("total"))
        if message.get("stopReason") == "aborted":
            self.interrupted()

    def _result(self, message: Mapping[str, Any]) -> None:
        text = self.text_of(message.get("content"))
        failed = message.get("isError") is True
        code = _EXITED.search(text[-200:]) if failed else None
        status = CallStatus.ERROR if failed else CallStatus.OK
        self.answered(message.get("toolCallId"), text, status, int(code.group(1)) if code else None)


def _opened_skills(name: str, arguments: object) -> tuple[str, ...]:
    """Reading its file is how pi loads a skill."""
    path = arguments.get("path") if name == "read" and isinstance(arguments, dict) else None
    return skills_opened(path)[-1:] if isinstance(path, str) and path.endswith("/SKILL.md") else ()


class PiTranscripts(TranscriptFiles):
    """The `TranscriptSource` of pi."""

    name = SOURCE
    title = "pi"
    home = HOME
    reads = _Reading

    def is_ours(self, row: Mapping[str, Any]) -> bool:
        match row.get("type"):
            case "session":
                return "cwd" in row and "timestamp" in row and word(row.get("id")) is not None
            case "message":
                message = row.get("message")
                return (
                    isinstance(message, dict)
                    and word(message.get("role")) in _ROLES
                    and "timestamp" in message
                )
        return False

    def opened(self, ref: TranscriptRef, since: Offset | None) -> Rows | LeftOut:
        """From the offset on where the person went on from there, else from the first row."""
        file = open_rows(ref.path, since)
        if isinstance(file, LeftOut):
            return file
        with file, suppress(_PassesBy):
            leaf = None if since is None or file.restarted else carried(_Carry, since).leaf
            return at_once(file, partial(_on_the_way, leaf=leaf), restarted=file.restarted)
        anew = open_rows(ref.path)
        if isinstance(anew, LeftOut):
            return anew
        with anew:
            return at_once(anew, partial(_on_the_way, leaf=None), restarted=True)
