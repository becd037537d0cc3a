"""Transcripts of pi: `~/.pi/agent/sessions/--<folder>--/<time>_<id>.jsonl`.

Since version 2 the rows are a tree: each names its parent, and a person may go back and take another way in
the same file. What counts is the way from the last row up to the first; what was left is told and counts
nothing. Version 1 has no ids, and all of its rows count. When pi opens such a file it writes it anew.

Nothing in the file says whether a person or a program sent a prompt: all of them are taken for a person's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from nightschool.adapters.agent_home import AgentHome
from nightschool.adapters.conversation import RESULT_LIMIT, Place, moment
from nightschool.adapters.rows import Row, RowFile, Rows, open_rows, word
from nightschool.adapters.snapshot_rows import at_once
from nightschool.adapters.transcript_files import Reading, TranscriptFiles
from nightschool.core.jobs import MARKER
from nightschool.core.ports import Redact
from nightschool.core.sessions import (
    Became,
    CallStatus,
    LateResult,
    LeftOut,
    Offset,
    Session,
    Speaker,
    TranscriptRef,
)
from nightschool.core.values import digest_of

SOURCE = "pi"
HOME = AgentHome(variable="PI_CODING_AGENT_DIR", usual=".pi/agent", sessions=("sessions",))
_LEFT = (Became.LEFT_OUT, "on a way that the person went back from")
_ROLES = frozenset({"user", "assistant", "toolResult", "bashExecution", "custom", "hookMessage"})
_SESSION_NAME = re.compile(r"_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\Z")
_EXITED = re.compile(r"^Command exited with code (\d{1,10})\s*\Z", re.MULTILINE)
_SKILL = re.compile(r'\A<skill name="([^"]+)" location="[^"]+">\n.*?\n</skill>(?:\n\n(.*))?\Z', re.DOTALL)
_SKILL_FILE = re.compile(r"skills/(?:[\w.-]+/)*([\w.-]+)/SKILL\.md\Z")


class PiTranscripts(TranscriptFiles):
    """The `TranscriptSource` of pi."""

    name = SOURCE
    title = "pi"
    home = HOME

    def is_ours(self, row: Mapping[str, Any]) -> bool:
        return _is_ours(row)

    def opened(self, ref: TranscriptRef, since: Offset | None) -> Rows | LeftOut:
        """From the offset on where the person went on from there, else from the first row."""
        file = open_rows(ref.path, since)
        if isinstance(file, LeftOut):
            return file
        with file:
            leaf = None if since is None or file.restarted else _carried(since).leaf
            rows = _on_the_way(file, leaf)
            if rows is not None:
                return at_once(file, rows, restarted=file.restarted)
        anew = open_rows(ref.path)
        if isinstance(anew, LeftOut):
            return anew
        with anew:
            return at_once(anew, _on_the_way(anew, None) or [], restarted=True)

    def reading(self, file: Rows, since: Offset | None) -> Reading:
        return _Reading(self._redact, file, since)


def _is_ours(row: Mapping[str, Any]) -> bool:
    """Whether no other agent writes such a row."""
    match row.get("type"):
        case "session":
            return "cwd" in row and "timestamp" in row and word(row.get("id")) is not None
        case "message":
            message = row.get("message")
            return (
                isinstance(message, dict) and word(message.get("role")) in _ROLES and "timestamp" in message
            )
    return False


def _on_the_way(file: RowFile, leaf: str | None) -> list[Row] | None:
    """All rows, since only the last one says which of them count; None where the way does not lead through
    `leaf`, the last row that an earlier read saw."""
    rows = list(file.rows())
    living = _living(rows, leaf)
    if living is None:
        return None
    return [row if _id(row) is None or _id(row) in living else row._replace(fate=_LEFT) for row in rows]


def _id(row: Row) -> str | None:
    """The id of a row of the tree; the head of the file and rows of version 1 are none."""
    return _named(row.value.get("id")) if "parentId" in row.value else None


def _named(value: object) -> str | None:
    """A name for an id: the cursor keeps it, and whatever stands there is not to be stored."""
    return digest_of(value)[:16] if isinstance(value, str) else None


def _living(rows: Sequence[Row], leaf: str | None) -> frozenset[str] | None:
    """Ids on the way from the last row up; None where it passes by `leaf`.

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
            return None
    return frozenset(way) if leaf is None or last is None or at == leaf else None


@dataclass(slots=True)
class _Carry:
    """What the rows read so far decide for those to come."""

    session: str | None = None
    prompted: bool = False
    ours: bool = False
    model: str | None = None
    leaf: str | None = None


def _carried(since: Offset | None) -> _Carry:
    return _Carry(**orjson.loads(since.carry)) if since is not None and since.carry else _Carry()


class _Reading(Reading):
    """What the rows of one file, or of the part of it behind an offset, tell."""

    def __init__(self, redact: Redact, file: Rows, since: Offset | None) -> None:
        super().__init__(redact, file)
        self._carry = _carried(since)
        found = _SESSION_NAME.search(Path(file.path).stem)
        self._file_id = found.group(1) if found else None

    def is_dull(self, line: bytes) -> bool:
        del line
        return False

    def kind(self, row: Row) -> str:
        kind, message = word(row.value.get("type")) or "no type", row.value.get("message")
        role = word(message.get("role")) if isinstance(message, dict) else None
        return f"{kind} {role}" if role else kind

    def take(self, row: Row) -> None:
        value = row.value
        own = _id(row)
        self._carry.leaf = own or self._carry.leaf
        self._known = self._known or _is_ours(value)
        if row.fate is not None:
            self.became(*row.fate)
            return
        at = moment(value.get("timestamp"))
        self.timed(at)
        message = value.get("message")
        match value.get("type"):
            case "session":
                self.became(Became.FACTS, "id and folder")
                self.learn("cwd", value.get("cwd"))
                self._carry.session = self._carry.session or self._talk.own_id(value.get("id"))
            case "model_change":
                self.became(Became.FACTS, "model")
                self._model(value.get("modelId"))
            case "message" if isinstance(message, dict):
                self._message(message, Place("", at, row.offset, row.end))

    def _message(self, message: Mapping[str, Any], place: Place) -> None:
        match message.get("role"):
            case "user":
                self._prompt(_text(message.get("content")), place)
            case "assistant":
                self._reply(message, place)
            case "toolResult":
                self._result(message)
            case "bashExecution":
                self.became(Became.LEFT_OUT, "a command that the person ran")
            case "custom" | "hookMessage":
                self.became(Became.LEFT_OUT, "put in by an extension")

    def _prompt(self, text: str, place: Place) -> None:
        skill = _SKILL.match(text)
        if skill is not None:
            text = skill.group(2) or f"/skill:{skill.group(1)}"
        if not text.strip():
            self.became(Became.LEFT_OUT, "without words")
            return
        if not self._carry.prompted:
            self._carry.prompted = True
            self._carry.ours = text.lstrip().startswith(f"[{MARKER}")
        row = self._talk.row(None, place.at, text, Speaker.HUMAN)
        self._talk.human(text, place._replace(row=row))
        self._talk.loaded(skill.group(1) if skill else None)
        self.became(Became.HUMAN)

    def _reply(self, message: Mapping[str, Any], place: Place) -> None:
        self._model(message.get("model"))
        content = message.get("content")
        for block in content if isinstance(content, list) else ():
            if not isinstance(block, dict):
                continue
            if block.get("type") == "text":
                text = word(block.get("text")) or ""
                if self._talk.said(text, self._named(place, text), self._carry.model):
                    self.became(Became.SAID)
            elif block.get("type") == "toolCall" and (own := self._talk.own_id(block.get("id"))) is not None:
                name, given = str(block.get("name", "")), block.get("arguments")
                call = self._talk.call(own, name, given)
                skills = _opened_skills(name, given)
                self._talk.called(call, self._named(place, own), self._carry.model, skills=skills)
                self.became(Became.CALL, call_id=own)
        if message.get("stopReason") == "aborted":
            self._talk.interrupted(self._named(place, "aborted"))
            self.became(Became.INTERRUPTION, "a person stopped the agent")

    def _result(self, message: Mapping[str, Any]) -> None:
        own = self._talk.own_id(message.get("toolCallId"))
        if own is None:
            return
        text = _text(message.get("content"))
        failed = message.get("isError") is True
        code = _EXITED.search(text[-200:]) if failed else None
        self.became(Became.RESULT, call_id=own)
        self._talk.answered(
            LateResult(
                call_id=own,
                result=self._talk.text(text, RESULT_LIMIT),
                status=CallStatus.ERROR if failed else CallStatus.OK,
                exit_code=int(code.group(1)) if code else None,
            )
        )

    def _model(self, value: object) -> None:
        name = word(value)
        self._carry.model = self._talk.short(name) if name else self._carry.model

    def _named(self, place: Place, text: str) -> Place:
        """Ids of rows are short and only their file's own: what a fork copies is known by time and text."""
        return place._replace(row=self._talk.row(None, place.at, text, Speaker.AGENT))

    def carry(self) -> str:
        return orjson.dumps(asdict(self._carry)).decode("utf-8")

    def session(self, since: Offset | None) -> Session:
        known = since.session if since is not None else None
        own = known or self._carry.session or self._file_id or self._talk.short(Path(self._file.path).stem)
        folder = self._facts.get("cwd")
        return Session(
            session_id=own,
            source=SOURCE,
            path=self._file.path,
            project=self._talk.short(folder) if folder else None,
            started_at=self._first,
            ended_at=self._last,
            ours=self._carry.ours,
            turns=self._talk.turns,
            late=self._talk.late,
            warnings=self.warnings,
        ).settled()


def _text(content: object) -> str:
    """The words of a message: a text, or its blocks of text."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = (block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "text")
    return "\n".join(text for text in texts if isinstance(text, str))


def _opened_skills(name: str, arguments: object) -> tuple[str, ...]:
    """Reading its file is how pi loads a skill."""
    path = arguments.get("path") if name == "read" and isinstance(arguments, dict) else None
    found = _SKILL_FILE.search(path) if isinstance(path, str) else None
    return (found.group(1),) if found else ()
