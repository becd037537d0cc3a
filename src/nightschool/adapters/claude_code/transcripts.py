"""Transcripts of Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`.

No single flag marks a person's prompt in all versions, so what is none is told by what it is: results of
tools, injected and hidden rows, wrappers of local commands, notices, summaries, prompts of machines.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nightschool.adapters.claude_code.home import HOME, retention
from nightschool.adapters.claude_code.rows import (
    REFUSED,
    Prompt,
    blocks,
    is_dull,
    named_skill,
    prompt_of,
    result_text,
    skills_of,
)
from nightschool.adapters.conversation import moment
from nightschool.adapters.reading import Carry, Reading
from nightschool.adapters.rows import Rows, mapping, word
from nightschool.adapters.transcript_files import TranscriptFiles
from nightschool.core.retention import Retention
from nightschool.core.sessions import Became, CallStatus, Offset, Roots
from nightschool.core.spent import count_of
from nightschool.core.values import digest_of

SOURCE = "claude-code"
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


@dataclass(slots=True)
class _Carry(Carry):
    refused: bool = False
    """A person turned down a call of the agent's present turn."""
    reply: str = ""
    counted: tuple[int, int] = (0, 0)
    """The reply that was read last, and its tokens, in and out: each of its rows tells them again."""
    queued: str = ""
    """Digest of a queued prompt, while nothing was said since."""


class _Reading(Reading[_Carry]):
    carries = _Carry

    def __init__(self, source: TranscriptFiles, file: Rows, since: Offset | None) -> None:
        super().__init__(source, file, since)
        self._seen: set[str] = set()
        self._ids: dict[str, str] = {}
        self._queued = False
        self._turned_down: list[str] = []
        """The calls that the last results say were turned down."""
        if self._carry.sidechain is None and Path(file.path).name.startswith("agent-"):
            self._carry.sidechain = True

    def is_dull(self, line: bytes) -> bool:
        return is_dull(line)

    def kind(self, value: Mapping[str, Any]) -> str:
        kind, found = super().kind(value), value.get("attachment")
        inner = word(found.get("type")) if kind == "attachment" and isinstance(found, dict) else None
        return f"{kind} {inner}" if inner else kind

    def skills_of(self, name: str, given: object, command: str | None) -> tuple[str, ...]:
        del command
        return skills_of(name, given)

    def take(self, value: Mapping[str, Any]) -> None:
        if not self._known:
            self.knows(value)
        kind = word(value.get("type"))
        if kind not in _SPEAKING and kind != "attachment":
            return
        self.stands(value.get("uuid"), moment(value.get("timestamp")))
        if kind == "attachment":
            self._attachment(value)
            return
        self._learn(value)
        uuid = self._place.row
        if uuid in self._seen:
            self.became(Became.COPY, "a row with the same id was read before")
            return
        self._seen |= {uuid} - {""}
        message = value.get("message")
        if not isinstance(message, dict):
            self.bad(f"a row of the {kind} without a message")
            return
        sidechain = bool(value.get("isSidechain"))
        if self._carry.sidechain is None:
            self._carry.sidechain = sidechain
        if sidechain and not self._carry.sidechain:
            # A sub-agent's rows in its parent's file, as old versions wrote them.
            self.became(Became.LEFT_OUT, "a sub-agent's row in the file of its parent")
            return
        parts = list(self.objects(blocks(message.get("content")), "content"))
        if kind == "assistant":
            self._agent(value, message, parts)
        else:
            self._user(value, parts)

    def _learn(self, value: Mapping[str, Any]) -> None:
        self.timed(self._place.at)
        self.run_by(program=value.get("entrypoint") == _HEADLESS)
        self.learn("cwd", value.get("cwd"))
        self.learn("branch", value.get("gitBranch"))
        self.learn("version", value.get("version"), latest=True)
        for key, name in ((value["type"], "sessionId"), ("agent", "agentId")):
            if key not in self._ids and (own := self._talk.own_id(value.get(name))) is not None:
                self._ids[key] = own

    def _agent(
        self, value: Mapping[str, Any], message: Mapping[str, Any], parts: list[dict[str, Any]]
    ) -> None:
        if value.get("isApiErrorMessage") or message.get("model") == "<synthetic>":
            # An outage, an expired login.
            self.became(Became.LEFT_OUT, "the client's own words, not the agent's")
            return
        self.model(message.get("model"))
        self._took(message)
        self._turned_down.clear()
        for block in parts:
            match block.get("type"):
                case "text":
                    self._carry.queued = ""
                    self.said(block.get("text"))
                case "tool_use":
                    self._carry.queued = ""
                    self.called(block.get("id"), block.get("name"), block.get("input"))

    def _took(self, message: Mapping[str, Any]) -> None:
        usage, reply = mapping(message.get("usage")), self._talk.own_id(message.get("id")) or ""
        names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        given = sum(count_of(usage.get(name)) or 0 for name in names)
        output = count_of(usage.get("output_tokens"))
        if output is None:
            return
        before = self._carry.counted if reply and reply == self._carry.reply else (0, 0)
        self._carry.reply, self._carry.counted = reply, (max(given, before[0]), max(output, before[1]))
        self.took((self._carry.counted[0] - before[0],), (self._carry.counted[1] - before[1],))

    def _user(self, value: Mapping[str, Any], parts: list[dict[str, Any]]) -> None:
        results = [part for part in parts if part.get("type") == "tool_result"]
        for part in results:
            self._result(part)
        if results:
            return
        self._talk.loaded(named_skill(value, parts))
        prompt = prompt_of(value, parts)
        if prompt.interrupted and value.get("interruptedMessageId") is not None:
            # Its results say the same of a call that was stopped while it ran as of one that was turned down.
            self._talk.cut_short(self._turned_down)
            self.interrupted()
        elif prompt.interrupted and (prompt.plainly or not self._carry.refused):
            self.interrupted()
        elif prompt.interrupted:
            self.became(Became.COPY, "the notice of a call that was turned down, which counts already")
        if prompt.text is not None:
            self._sent(prompt, queued=False)
        elif not prompt.interrupted:
            self.became(Became.LEFT_OUT, prompt.why)

    def _result(self, part: Mapping[str, Any]) -> None:
        text = result_text(part.get("content"))
        status, code = CallStatus.OK, None
        if part.get("is_error") is True:
            status = CallStatus.REFUSED if REFUSED in text else CallStatus.ERROR
            found = _EXIT_CODE.match(text)
            code = int(found.group(1)) if found else None
        if status is CallStatus.REFUSED:
            self._carry.refused = True
            self._turned_down.append(str(part.get("tool_use_id")))
        self.answered(part.get("tool_use_id"), text, status, code)

    def _attachment(self, value: Mapping[str, Any]) -> None:
        """A prompt that was typed while the agent was busy may stand here alone."""
        found = mapping(value.get("attachment"))
        if found.get("type") == "skill_listing" and isinstance(found.get("names"), list):
            self.offers(found["names"])
            self.became(Became.FACTS, "which skills there are")
        if found.get("type") != "queued_command":
            return
        uuid = self._talk.own_id(found.get("source_uuid")) or self._place.row
        if found.get("commandMode", "prompt") != "prompt" or uuid in self._seen:
            return
        told = {"origin": found.get("origin"), "isMeta": found.get("isMeta")}
        prompt = prompt_of(told, self.objects(blocks(found.get("prompt")), "prompt"))
        if prompt.text is None:
            self.became(Became.LEFT_OUT, prompt.why)
            return
        self._learn(value)
        self._seen |= {uuid} - {""}
        self._place = self._place._replace(row=uuid)
        self._sent(prompt, queued=True)

    def _sent(self, prompt: Prompt, *, queued: bool) -> None:
        self._queued = queued
        self.prompt(prompt.text or "")

    def told_before(self, text: str) -> str:
        """The user row that delivers a queued prompt is the same turn again."""
        digest = digest_of(text)[:16]
        if not self._queued and digest == self._carry.queued:
            self._carry.queued = ""
            return "the same prompt was read where it was queued"
        self._carry.queued = digest if self._queued else ""
        self._carry.refused = False
        return ""

    def session_id(self) -> str:
        """The file's name, which is the session's id; where it is another, what the rows say: those of
        the agent, since a resumed copy keeps the parent's id in the person's rows."""
        stem = Path(self._file.path).stem
        told = self._ids.get("assistant") or self._ids.get("user") or self._ids.get("attachment")
        if self.name_of(stem) == stem:
            return stem
        if self._carry.sidechain:
            agent = stem if stem.startswith("agent-") else f"agent-{self._ids.get('agent', stem)}"
            return f"{told or ''}/{self._talk.short(agent)}"
        return told or self._talk.short(stem)


class ClaudeCodeTranscripts(TranscriptFiles):
    """The `TranscriptSource` of Claude Code."""

    name = SOURCE
    title = "Claude Code"
    home = HOME
    reads = _Reading

    def is_ours(self, row: Mapping[str, Any]) -> bool:
        kind = word(row.get("type"))
        if kind not in _ROW_TYPES:
            return False
        if kind == "summary":
            return "leafUuid" in row
        if kind == "file-history-snapshot":
            return "messageId" in row
        return isinstance(row.get("sessionId"), str)

    def retention(self, roots: Roots) -> Retention | None:
        return retention(Path(roots.home), dict(roots.environment))
