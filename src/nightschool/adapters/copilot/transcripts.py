"""Transcripts of Copilot CLI: `~/.copilot/session-state/<id>/events.jsonl`, before 1.0 `<id>.jsonl` there.

Each line is an event with an id of its own. A person's turn is a `user.message`; what the agent said and
asked for stands in `assistant.message`, and a call's id comes again in the events of its execution. What
happens within a sub-agent names the call that started it (`parentToolCallId`) and counts nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from nightschool.adapters.agent_home import AgentHome
from nightschool.adapters.conversation import RESULT_LIMIT, Place, commit_hash, moment
from nightschool.adapters.rows import Row, Rows, word
from nightschool.adapters.transcript_files import Reading, TranscriptFiles
from nightschool.core.jobs import MARKER
from nightschool.core.ports import Redact
from nightschool.core.sessions import Became, CallStatus, LateResult, Offset, Session, Speaker

SOURCE = "copilot"
HOME = AgentHome(variable="COPILOT_HOME", usual=".copilot", sessions=("session-state",))
_FAMILIES = ("session", "user", "assistant", "tool", "system", "hook", "subagent", "permission", "skill")
_REJECTED = frozenset({"rejected", "denied-interactively-by-user"})
"""Codes of a failure that is a person's no."""


class CopilotTranscripts(TranscriptFiles):
    """The `TranscriptSource` of Copilot CLI."""

    name = SOURCE
    title = "Copilot CLI"
    home = HOME

    def is_ours(self, row: Mapping[str, Any]) -> bool:
        return _is_ours(row)

    def reading(self, file: Rows, since: Offset | None) -> Reading:
        return _Reading(self._redact, file, since)


def _is_ours(row: Mapping[str, Any]) -> bool:
    """Whether no other agent writes such a row."""
    kind = word(row.get("type")) or ""
    known = kind == "abort" or (kind.partition(".")[0] in _FAMILIES and "." in kind)
    return (
        known
        and isinstance(row.get("data"), dict)
        and "id" in row
        and moment(row.get("timestamp")) is not None
    )


@dataclass(slots=True)
class _Carry:
    """What the events read so far decide for those to come."""

    session: str | None = None
    prompted: bool = False
    ours: bool = False
    model: str | None = None


def _carried(since: Offset | None) -> _Carry:
    return _Carry(**orjson.loads(since.carry)) if since is not None and since.carry else _Carry()


class _Reading(Reading):
    """What the events of one file, or of the part of it behind an offset, tell."""

    def __init__(self, redact: Redact, file: Rows, since: Offset | None) -> None:
        super().__init__(redact, file)
        self._carry = _carried(since)

    def is_dull(self, line: bytes) -> bool:
        del line
        return False

    def kind(self, row: Row) -> str:
        return word(row.value.get("type")) or "no type"

    def take(self, row: Row) -> None:
        value = row.value
        if not _is_ours(value):
            return
        self._known = True
        kind, data, at = value["type"], value["data"], moment(value["timestamp"])
        self.timed(at)
        place = Place(self._talk.own_id(value["id"]) or "", at, row.offset, row.end)
        if data.get("parentToolCallId") is not None or data.get("parentAgentTaskId") is not None:
            self.became(Became.LEFT_OUT, "within a sub-agent")
            return
        match kind:
            case "session.start" | "session.resume":
                self._begins(data)
            case "session.model_change":
                self.became(Became.FACTS, "model")
                self._model(data.get("newModel"))
            case "user.message":
                self._prompt(data, place)
            case "assistant.message":
                self._reply(data, place)
            case "tool.execution_complete":
                self._result(data)
            case "skill.invoked":
                self.became(Became.FACTS, "a skill was loaded")
                self._talk.loaded(word(data.get("name")))
            case "abort":
                self._talk.interrupted(self._named(place, "abort"))
                self.became(Became.INTERRUPTION, "a person stopped the agent")

    def _begins(self, data: Mapping[str, Any]) -> None:
        self.became(Became.FACTS, "id, folder, version, model and branch")
        self._carry.session = self._carry.session or self._talk.own_id(data.get("sessionId"))
        self.learn("version", data.get("copilotVersion"))
        self._model(data.get("selectedModel"))
        context = data.get("context")
        if isinstance(context, dict):
            self.learn("cwd", context.get("cwd"))
            self.learn("branch", context.get("branch"))
            self.learn("commit", commit_hash(context.get("headCommit")))

    def _prompt(self, data: Mapping[str, Any], place: Place) -> None:
        text = word(data.get("content")) or ""
        if not text.strip():
            self.became(Became.LEFT_OUT, "without words")
            return
        if "source" in data and data["source"] not in (None, "user"):
            self.became(Became.LEFT_OUT, "put in by the client")
            return
        if not self._carry.prompted:
            self._carry.prompted = True
            self._carry.ours = text.lstrip().startswith(f"[{MARKER}")
        row = place.row or self._talk.row(None, place.at, text, Speaker.HUMAN)
        self._talk.human(text, place._replace(row=row))
        self.became(Became.HUMAN)

    def _reply(self, data: Mapping[str, Any], place: Place) -> None:
        self._model(data.get("model"))
        text = word(data.get("content")) or ""
        if self._talk.said(text, self._named(place, text), self._carry.model):
            self.became(Became.SAID)
        asked = data.get("toolRequests")
        for request in asked if isinstance(asked, list) else ():
            own = self._talk.own_id(request.get("toolCallId")) if isinstance(request, dict) else None
            if own is not None:
                call = self._talk.call(
                    own, str(request.get("name", "")), _arguments(request.get("arguments"))
                )
                self._talk.called(call, self._named(place, own), self._carry.model)
                self.became(Became.CALL, call_id=own)

    def _result(self, data: Mapping[str, Any]) -> None:
        own = self._talk.own_id(data.get("toolCallId"))
        if own is None:
            return
        result, error = data.get("result"), data.get("error")
        text = word(result.get("content")) if isinstance(result, dict) else None
        code = None
        if isinstance(error, dict):
            text, code = word(error.get("message")) or text, word(error.get("code"))
        status = CallStatus.OK if data.get("success") is True else CallStatus.ERROR
        self.became(Became.RESULT, call_id=own)
        self._talk.answered(
            LateResult(
                call_id=own,
                result=self._talk.text(text or "", RESULT_LIMIT),
                status=CallStatus.REFUSED if code in _REJECTED else status,
            )
        )

    def _model(self, value: object) -> None:
        name = word(value)
        self._carry.model = self._talk.short(name) if name else self._carry.model

    def _named(self, place: Place, text: str) -> Place:
        return place._replace(row=place.row or self._talk.row(None, place.at, text, Speaker.AGENT))

    def _file_id(self) -> str:
        """The folder's name is the session's, before 1.0 the file's own."""
        path = Path(self._file.path)
        return self._talk.short(path.parent.name if path.stem == "events" else path.stem)

    def carry(self) -> str:
        return orjson.dumps(asdict(self._carry)).decode("utf-8")

    def session(self, since: Offset | None) -> Session:
        known = since.session if since is not None else None
        facts = {key: self._talk.short(value) for key, value in self._facts.items() if key != "commit"}
        return Session(
            session_id=known or self._carry.session or self._file_id(),
            source=SOURCE,
            path=self._file.path,
            agent_version=facts.get("version"),
            project=facts.get("cwd"),
            branch=facts.get("branch"),
            commit=self._facts.get("commit"),
            started_at=self._first,
            ended_at=self._last,
            ours=self._carry.ours,
            turns=self._talk.turns,
            late=self._talk.late,
            warnings=self.warnings,
        ).settled()


def _arguments(given: object) -> object:
    """An object, or since 1.0 the text of one."""
    if isinstance(given, str):
        try:
            return orjson.loads(given)
        except ValueError:
            return given
    return given
