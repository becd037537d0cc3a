"""Transcripts of Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`.

No single flag marks a person's prompt in all versions, so what is none is told by what it is: results of
tools, injected and hidden rows, wrappers of local commands, notices, summaries, prompts of machines.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from nightschool.adapters.claude_code.home import HOME, retention
from nightschool.adapters.claude_code.rows import (
    INTERRUPTED,
    REFUSED,
    Prompt,
    blocks,
    is_dull,
    named_skill,
    prompt_of,
    result_text,
    skills_of,
)
from nightschool.adapters.conversation import (
    RESULT_LIMIT,
    Place,
    moment,
)
from nightschool.adapters.rows import Row, Rows, word
from nightschool.adapters.transcript_files import Reading, TranscriptFiles
from nightschool.core.jobs import MARKER
from nightschool.core.ports import Redact
from nightschool.core.sessions import (
    Became,
    CallStatus,
    LateResult,
    Offset,
    Retention,
    Roots,
    Session,
    Speaker,
)
from nightschool.core.values import digest_of

SOURCE = "claude-code"
_SESSION_NAME = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
_EXIT_CODE = re.compile(r"\s*(?:Error: )?Exit code (\d{1,3})\b")
_HEADLESS = "sdk-cli"
"""`claude -p`. Hosts of the SDK (`sdk-ts`, `sdk-py`) are not among them: editors are such hosts, and no row
tells whether a person or a program typed there."""
_SPEAKING = frozenset({"user", "assistant"})
_ROW_TYPES = frozenset(
    {
        *_SPEAKING,
        "system",
        "attachment",
        "progress",
        "summary",
        "file-history-snapshot",
        "queue-operation",
        "last-prompt",
        "ai-title",
    }
)


class ClaudeCodeTranscripts(TranscriptFiles):
    """The `TranscriptSource` of Claude Code."""

    name = SOURCE
    title = "Claude Code"
    home = HOME

    def is_ours(self, row: Mapping[str, Any]) -> bool:
        return _is_ours(row)

    def retention(self, roots: Roots) -> Retention | None:
        return retention(Path(roots.home), dict(roots.environment))

    def reading(self, file: Rows, since: Offset | None) -> Reading:
        return _Reading(self._redact, file, since)


def _is_ours(row: Mapping[str, Any]) -> bool:
    """Whether no other agent writes such a row."""
    kind = word(row.get("type"))
    if kind not in _ROW_TYPES:
        return False
    if kind == "summary":
        return "leafUuid" in row
    if kind == "file-history-snapshot":
        return "messageId" in row
    return isinstance(row.get("sessionId"), str)


@dataclass(slots=True)
class _Carry:
    """What the rows read so far decide for those to come."""

    sidechain: bool | None = None
    prompted: bool = False
    ours: bool = False
    refused: bool = False
    """A person turned down a call of the agent's present turn."""
    queued: str = ""
    """Digest of a queued prompt, while nothing was said since."""


def _carried(since: Offset | None) -> _Carry:
    return _Carry(**orjson.loads(since.carry)) if since is not None and since.carry else _Carry()


class _Reading(Reading):
    """What the rows of one file, or of the part of it behind an offset, tell."""

    def __init__(self, redact: Redact, file: Rows, since: Offset | None) -> None:
        super().__init__(redact, file)
        self._carry = _carried(since)
        self._seen: set[str] = set()
        self._ids: dict[str, str] = {}
        self._headless = False
        if self._carry.sidechain is None and Path(file.path).name.startswith("agent-"):
            self._carry.sidechain = True

    def is_dull(self, line: bytes) -> bool:
        dull = is_dull(line)
        self._known = self._known or dull
        return dull

    def kind(self, row: Row) -> str:
        kind = word(row.value.get("type")) or "no type"
        found = row.value.get("attachment")
        inner = word(found.get("type")) if kind == "attachment" and isinstance(found, dict) else None
        return f"{kind} {inner}" if inner else kind

    def take(self, row: Row) -> None:
        value = row.value
        kind = word(value.get("type"))
        if not self._known:
            self._known = _is_ours(value)
        if kind not in _SPEAKING and kind != "attachment":
            return
        at = moment(value.get("timestamp"))
        place = Place("", at, row.offset, row.end)
        if kind == "attachment":
            self._attachment(value, place)
            return
        self._learn(value, at)
        uuid = self._talk.own_id(value.get("uuid"))
        if uuid is not None:
            if uuid in self._seen:
                self.became(Became.COPY, "a row with the same id was read before")
                return
            self._seen.add(uuid)
        message = value.get("message")
        if not isinstance(message, dict):
            return
        sidechain = bool(value.get("isSidechain"))
        if self._carry.sidechain is None:
            self._carry.sidechain = sidechain
        if sidechain and not self._carry.sidechain:
            # A sub-agent's rows in its parent's file, as old versions wrote them.
            self.became(Became.LEFT_OUT, "a sub-agent's row in the file of its parent")
            return
        if kind == "assistant":
            self._agent(value, message, place)
        else:
            self._user(value, message, place)

    def _learn(self, value: Mapping[str, Any], at: datetime | None) -> None:
        self.timed(at)
        self._headless = self._headless or value.get("entrypoint") == _HEADLESS
        for key in ("cwd", "gitBranch"):
            self.learn(key, value.get(key))
        if isinstance(version := value.get("version"), str):
            self._facts["version"] = version
        kind = value["type"]
        if kind not in self._ids and (session := self._talk.own_id(value.get("sessionId"))) is not None:
            self._ids[kind] = session
        if "agentId" in value and (agent := self._talk.own_id(value["agentId"])) is not None:
            self._ids.setdefault("agent", agent)

    def _agent(self, value: Mapping[str, Any], message: Mapping[str, Any], place: Place) -> None:
        model = message.get("model")
        if value.get("isApiErrorMessage") or model == "<synthetic>":
            # An outage, an expired login.
            self.became(Became.LEFT_OUT, "the client's own words, not the agent's")
            return
        model = model if isinstance(model, str) else None
        for block in blocks(message):
            match block.get("type"):
                case "text" if isinstance(text := block.get("text"), str):
                    self._carry.queued = ""
                    if self._talk.said(text, self._named(value, place, text), model):
                        self.became(Became.SAID)
                case "tool_use" if (call_id := self._talk.own_id(block.get("id"))) is not None:
                    self._carry.queued = ""
                    name, given = str(block.get("name", "")), block.get("input")
                    call = self._talk.call(call_id, name, given)
                    named = self._named(value, place, call_id)
                    self._talk.called(call, named, model, skills=skills_of(name, given))
                    self.became(Became.CALL, call_id=call_id)

    def _named(self, value: Mapping[str, Any], place: Place, text: str) -> Place:
        return place._replace(row=self._talk.row(value.get("uuid"), place.at, text, Speaker.AGENT))

    def _user(self, value: Mapping[str, Any], message: Mapping[str, Any], place: Place) -> None:
        parts = list(blocks(message))
        results = [part for part in parts if part.get("type") == "tool_result"]
        for part in results:
            self._result(part)
        if results:
            return
        self._talk.loaded(named_skill(value, parts))
        prompt = prompt_of(value, parts)
        if prompt.interrupted and (prompt.plainly or not self._carry.refused):
            self._talk.interrupted(self._named(value, place, INTERRUPTED))
            self.became(Became.INTERRUPTION, "a person stopped the agent")
        elif prompt.interrupted:
            self.became(Became.COPY, "the notice of a call that was turned down, which counts already")
        if prompt.text is None:
            if not prompt.interrupted:
                self.became(Became.LEFT_OUT, prompt.why)
            return
        if not self._carry.prompted:
            self._carry.prompted = True
            self._carry.ours = prompt.text.lstrip().startswith(f"[{MARKER}")
        if self._carry.sidechain:
            self.became(Became.LEFT_OUT, "a prompt for a sub-agent: an agent wrote it")
        elif value.get("entrypoint") == _HEADLESS:
            self.became(Became.LEFT_OUT, "sent by a program, not by a person")
        else:
            self._human(prompt, value.get("uuid"), place, queued=False)

    def _result(self, part: Mapping[str, Any]) -> None:
        call_id = self._talk.own_id(part.get("tool_use_id"))
        if call_id is None:
            return
        text = result_text(part.get("content"))
        status, code = CallStatus.OK, None
        if part.get("is_error") is True:
            status = CallStatus.REFUSED if REFUSED in text else CallStatus.ERROR
            found = _EXIT_CODE.match(text)
            code = int(found.group(1)) if found else None
        self._carry.refused = self._carry.refused or status is CallStatus.REFUSED
        result = self._talk.text(text, RESULT_LIMIT)
        self.became(Became.RESULT, call_id=call_id)
        self._talk.answered(LateResult(call_id=call_id, result=result, status=status, exit_code=code))

    def _attachment(self, value: Mapping[str, Any], place: Place) -> None:
        """A prompt that was typed while the agent was busy may stand here alone."""
        found = value.get("attachment")
        if not isinstance(found, dict) or found.get("type") != "queued_command":
            return
        uuid = self._talk.own_id(found.get("source_uuid")) or self._talk.own_id(value.get("uuid"))
        if found.get("commandMode", "prompt") != "prompt" or uuid in self._seen:
            return
        told = {"origin": found.get("origin"), "isMeta": found.get("isMeta")}
        prompt = prompt_of(told, blocks({"content": found.get("prompt")}))
        if prompt.text is None or self._carry.sidechain or value.get("entrypoint") == _HEADLESS:
            self.became(Became.LEFT_OUT, prompt.why or "no person queued it")
            return
        self._learn(value, place.at)
        if uuid is not None:
            self._seen.add(uuid)
        self._human(prompt, uuid, place, queued=True)

    def _human(self, prompt: Prompt, uuid: object, place: Place, *, queued: bool) -> None:
        """The user row that delivers a queued prompt is the same turn again."""
        text = prompt.text or ""
        digest = digest_of(text)[:16]
        if not queued and digest == self._carry.queued:
            self._carry.queued = ""
            self.became(Became.COPY, "the same prompt was read where it was queued")
            return
        self._carry.queued = digest if queued else ""
        self._carry.refused = False
        self._talk.human(text, place._replace(row=self._talk.row(uuid, place.at, text, Speaker.HUMAN)))
        self.became(Became.HUMAN)

    def _session_id(self, since: Offset | None) -> str:
        """The file's name, which is the session's id; where it is another, what the rows say: those of
        the agent, since a resumed copy keeps the parent's id in the person's rows."""
        if since is not None and since.session:
            return since.session
        stem = Path(self._file.path).stem
        told = self._ids.get("assistant") or self._ids.get("user") or self._ids.get("attachment")
        if _SESSION_NAME.match(stem):
            return stem
        if self._carry.sidechain:
            agent = stem if stem.startswith("agent-") else f"agent-{self._ids.get('agent', stem)}"
            return f"{told or ''}/{self._talk.short(agent)}"
        return told or self._talk.short(stem)

    def carry(self) -> str:
        return orjson.dumps(asdict(self._carry)).decode("utf-8")

    def session(self, since: Offset | None) -> Session:
        talk = self._talk
        version, cwd, branch = (self._facts.get(key) for key in ("version", "cwd", "gitBranch"))
        return Session(
            session_id=self._session_id(since),
            source=SOURCE,
            path=self._file.path,
            agent_version=None if version is None else talk.short(version),
            project=None if cwd is None else talk.short(cwd),
            branch=None if branch is None else talk.short(branch),
            started_at=self._first,
            ended_at=self._last,
            headless=self._headless and not any(turn.speaker is Speaker.HUMAN for turn in talk.turns),
            ours=self._carry.ours,
            sidechain=bool(self._carry.sidechain),
            turns=talk.turns,
            late=talk.late,
            warnings=self.warnings,
        ).settled()
