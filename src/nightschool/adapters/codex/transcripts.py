"""Transcripts of Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl` and `archived_sessions`.

A person's turn is an `event_msg`: `user_message` until 0.146, `item_completed` with a `UserMessage` later.
The `response_item` of role user is the same turn again, beside much that nobody typed. Calls and what the
agent said are `response_item` rows; events that repeat them count nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

from nightschool.adapters.codex.home import HOME
from nightschool.adapters.codex.rows import (
    ITEM,
    arguments_of,
    bare_text,
    is_dull,
    is_headless,
    is_sub_agent,
    judged,
    mentioned_skill,
    output_text,
    script_commands,
    skills_read,
)
from nightschool.adapters.conversation import (
    RESULT_LIMIT,
    TEXT_LIMIT,
    Place,
    commit_hash,
    moment,
)
from nightschool.adapters.rows import Row, Rows, word
from nightschool.adapters.transcript_files import Reading, TranscriptFiles
from nightschool.core.jobs import MARKER
from nightschool.core.ports import Redact
from nightschool.core.sessions import (
    Became,
    LateResult,
    Offset,
    Session,
    Speaker,
)
from nightschool.core.values import digest_of

SOURCE = "codex"
_COMPRESSED = ".jsonl.zst"
_SESSION_NAME = re.compile(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\Z")
_ROW_TYPES = frozenset(
    {"session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"}
)
_BURST = timedelta(seconds=1)
"""A fork's copy of its parent's history is written at once, at the second of its start."""


class CodexTranscripts(TranscriptFiles):
    """The `TranscriptSource` of Codex."""

    name = SOURCE
    title = "Codex"
    home = HOME
    endings = (".jsonl", _COMPRESSED)

    def is_ours(self, row: Mapping[str, Any]) -> bool:
        return _is_ours(row)

    def reading(self, file: Rows, since: Offset | None) -> Reading:
        return _Reading(self._redact, file, since)


def _is_ours(row: Mapping[str, Any]) -> bool:
    """Whether no other agent writes such a row."""
    return word(row.get("type")) in _ROW_TYPES and isinstance(row.get("payload"), dict) and "timestamp" in row


@dataclass(slots=True)
class _Carry:
    """What the rows read so far decide for those to come."""

    session: str | None = None
    begun: str | None = None
    """When the file's own session began: the time of its first row."""
    copying: bool = False
    """Within the history that a fork took over from its parent."""
    headless: bool = False
    sidechain: bool = False
    reviewing: bool = False
    prompted: bool = False
    ours: bool = False
    model: str | None = None
    told: str = ""
    """Shape and digest of a prompt, while nothing was said since: it may come in the other shape too."""


def _carried(since: Offset | None) -> _Carry:
    return _Carry(**orjson.loads(since.carry)) if since is not None and since.carry else _Carry()


class _Reading(Reading):
    """What the rows of one file, or of the part of it behind an offset, tell."""

    def __init__(self, redact: Redact, file: Rows, since: Offset | None) -> None:
        super().__init__(redact, file)
        self._carry = _carried(since)
        self._machine = False
        self._copied = 0
        found = _SESSION_NAME.search(Path(file.path).stem)
        self._file_id = found.group(1) if found else None

    def is_dull(self, line: bytes) -> bool:
        dull = is_dull(line)
        self._known = self._known or dull
        return dull

    def kind(self, row: Row) -> str:
        kind, payload = word(row.value.get("type")) or "no type", row.value.get("payload")
        inner = word(payload.get("type")) if isinstance(payload, dict) else None
        return f"{kind} {inner}" if inner else kind

    def take(self, row: Row) -> None:
        value = row.value
        if not _is_ours(value):
            return
        self._known = True
        kind, payload = value["type"], value["payload"]
        at = moment(value["timestamp"])
        self.timed(at)
        if kind == "session_meta":
            self._meta(payload, at)
            return
        if self._is_copy(at):
            self._copied += 1
            self.became(Became.COPY, "taken over from the session that this one was made of")
            return
        place = Place("", at, row.offset, row.end)
        if kind == "turn_context":
            self.became(Became.FACTS, "folder and model")
            self.learn("cwd", payload.get("cwd"))
            model = word(payload.get("model"))
            self._carry.model = self._talk.short(model) if model else self._carry.model
        elif kind == "response_item":
            self._item(payload, place)
        elif kind == "event_msg":
            self._event(payload, place)

    def _meta(self, payload: Mapping[str, Any], at: datetime | None) -> None:
        """The first one speaks of the session, another id of the parent whose history follows."""
        session = self._talk.own_id(payload.get("id")) or self._talk.own_id(payload.get("session_id"))
        own = self._carry.session or self._file_id or session
        if session != own:
            self._carry.copying = True
            self.became(Became.COPY, "begins the history of the session that this one was made of")
            return
        self.became(Became.FACTS, "id, folder, version and branch")
        self._carry.session = session
        if self._carry.begun is None and at is not None:
            self._carry.begun = at.isoformat()
        self._carry.headless = is_headless(payload)
        self._carry.sidechain = is_sub_agent(payload)
        self.learn("cwd", payload.get("cwd"))
        if isinstance(version := payload.get("cli_version"), str):
            self._facts["version"] = version
        git = payload.get("git")
        if isinstance(git, dict):
            self.learn("branch", git.get("branch"))
            self.learn("commit", commit_hash(git.get("commit_hash")))

    def _is_copy(self, at: datetime | None) -> bool:
        begun = moment(self._carry.begun)
        if self._carry.copying and begun is not None and at is not None and at - begun > _BURST:
            self._carry.copying = False
        return self._carry.copying

    def _event(self, payload: Mapping[str, Any], place: Place) -> None:
        kind, item = payload.get("type"), payload.get("item")
        if kind == "item_completed" and isinstance(item, dict):
            kind = ITEM.get(str(item.get("type")))
        else:
            item = None
        match kind:
            case "user_message":
                self._prompt(payload, item, place)
            case "entered_review_mode":
                self._carry.reviewing = True
                self.became(Became.FACTS, "a review begins: its prompts are the client's")
            case "exited_review_mode":
                self._carry.reviewing = False
                self.became(Became.FACTS, "the review ends")
            case "turn_aborted" if payload.get("reason", "interrupted") == "interrupted":
                self._talk.interrupted(self._named(payload, place, "turn_aborted"))
                self.became(Became.INTERRUPTION, "a person stopped the agent")

    def _prompt(self, payload: Mapping[str, Any], item: Mapping[str, Any] | None, place: Place) -> None:
        text = bare_text(payload, item)
        if text is None:
            self.became(Became.LEFT_OUT, "put in by the client, or without words of a person")
            return
        if not self._carry.prompted:
            self._carry.prompted = True
            self._carry.ours = text.lstrip().startswith(f"[{MARKER}")
        self._machine = self._machine or self._carry.headless
        if self._carry.headless or self._carry.sidechain or self._carry.reviewing:
            self.became(Became.LEFT_OUT, self._not_a_persons())
            return
        shape, digest = ("item" if item else "event"), digest_of(text)[:16]
        before, self._carry.told = self._carry.told, f"{shape} {digest}"
        if before.endswith(f" {digest}") and not before.startswith(f"{shape} "):
            self.became(Became.COPY, "the same prompt in another form")
            return
        source = item if item is not None else payload
        row = self._talk.row(source.get("id"), place.at, text, Speaker.HUMAN)
        self._talk.human(text, place._replace(row=row))
        self.became(Became.HUMAN)

    def _not_a_persons(self) -> str:
        if self._carry.headless:
            return "sent by a program, not by a person"
        if self._carry.sidechain:
            return "a prompt for a sub-agent: an agent wrote it"
        return "a prompt of a review: the client wrote it"

    def _item(self, payload: Mapping[str, Any], place: Place) -> None:
        kind, call_id = word(payload.get("type")), self._talk.own_id(payload.get("call_id"))
        if kind == "message" and payload.get("role") == "assistant":
            text = output_text(payload.get("content"))
            self._carry.told = ""
            if self._talk.said(text, self._named(payload, place, text), self._carry.model):
                self.became(Became.SAID)
        elif kind == "message" and payload.get("role") == "user":
            self._talk.loaded(mentioned_skill(payload))
            self.became(Became.COPY, "what a person typed stands in an event; the client put in the rest")
        elif kind in {"function_call", "custom_tool_call"} and call_id is not None:
            self._carry.told = ""
            name = str(payload.get("name", ""))
            call = self._talk.call(call_id, name, arguments_of(payload))
            if call.command is None and name == "exec":
                script = script_commands(str(payload.get("input", "")))
                command = self._talk.text(script, TEXT_LIMIT) if script else None
                call = self._talk.with_command(call, command)
            named = self._named(payload, place, call_id)
            self._talk.called(call, named, self._carry.model, skills=skills_read(call.command))
            self.became(Became.CALL, call_id=call_id)
        elif kind in {"function_call_output", "custom_tool_call_output"} and call_id is not None:
            output = payload.get("output")
            status, code = judged(output)
            result = self._talk.text(output_text(output), RESULT_LIMIT)
            self.became(Became.RESULT, call_id=call_id)
            self._talk.answered(LateResult(call_id=call_id, result=result, status=status, exit_code=code))

    def _named(self, payload: Mapping[str, Any], place: Place, text: str) -> Place:
        return place._replace(row=self._talk.row(payload.get("id"), place.at, text, Speaker.AGENT))

    def _session_id(self, since: Offset | None) -> str:
        if since is not None and since.session:
            return since.session
        return self._carry.session or self._file_id or self._talk.short(Path(self._file.path).stem)

    def carry(self) -> str:
        return orjson.dumps(asdict(self._carry)).decode("utf-8")

    def session(self, since: Offset | None) -> Session:
        talk, carry = self._talk, self._carry
        facts = {key: talk.short(value) for key, value in self._facts.items() if key != "commit"}
        return Session(
            session_id=self._session_id(since),
            source=SOURCE,
            path=self._file.path,
            agent_version=facts.get("version"),
            project=facts.get("cwd"),
            branch=facts.get("branch"),
            commit=self._facts.get("commit"),
            started_at=self._first,
            ended_at=self._last,
            headless=self._is_headless(),
            ours=carry.ours,
            sidechain=carry.sidechain,
            turns=talk.turns,
            late=talk.late,
            warnings=self.warnings,
        ).settled()

    def _is_headless(self) -> bool:
        spoken = any(turn.speaker is Speaker.HUMAN for turn in self._talk.turns)
        return (self._machine or self._carry.headless) and not spoken
