"""Transcripts of Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl` and `archived_sessions`.

A person's turn is an `event_msg`: `user_message` until 0.146, `item_completed` with a `UserMessage` later.
The `response_item` of role user is the same turn again, beside much that nobody typed. Calls and what the
agent said are `response_item` rows; events that repeat them count nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

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
    skills_listed,
    skills_read,
)
from nightschool.adapters.conversation import commit_hash, moment
from nightschool.adapters.reading import Carry, Reading
from nightschool.adapters.rows import mapping, word
from nightschool.adapters.transcript_files import TranscriptFiles
from nightschool.core.sessions import Became
from nightschool.core.spent import count_of
from nightschool.core.values import digest_of

SOURCE = "codex"
_COMPRESSED = ".jsonl.zst"
_ROW_TYPES = frozenset(
    {"session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"}
)
_BURST = timedelta(seconds=1)
"""A fork's copy of its parent's history is written at once, at the second of its start."""


@dataclass(slots=True)
class _Carry(Carry):
    begun: str | None = None
    """When the file's own session began: the time of its first row."""
    copying: bool = False
    """Within the history that a fork took over from its parent."""
    reviewing: bool = False
    total: tuple[int, int] | None = None
    """Tokens in and out by the running total that was told last."""
    told: str = ""
    """Shape and digest of a prompt, while nothing was said since: it may come in the other shape too."""


class _Reading(Reading[_Carry]):
    carries = _Carry
    _shape = ""

    def is_dull(self, line: bytes) -> bool:
        return is_dull(line)

    def kind(self, value: Mapping[str, Any]) -> str:
        kind, payload = super().kind(value), value.get("payload")
        inner = word(payload.get("type")) if isinstance(payload, dict) else None
        return f"{kind} {inner}" if inner else kind

    def skills_of(self, name: str, given: object, command: str | None) -> tuple[str, ...]:
        del name, given
        return skills_read(command)

    def take(self, value: Mapping[str, Any]) -> None:
        if not self.knows(value):
            if word(value.get("type")) in _ROW_TYPES:
                self.bad("a row without a payload, or without a time")
            return
        kind, payload = value["type"], value["payload"]
        at = moment(value["timestamp"])
        self.timed(at)
        if kind == "session_meta":
            self._meta(payload, at)
            return
        if self._is_copy(at):
            self._took(payload, counts=False)
            self.became(Became.COPY, "taken over from the session that this one was made of")
            return
        self.stands(payload.get("id"), at)
        if kind == "turn_context":
            self.became(Became.FACTS, "folder and model")
            self.learn("cwd", payload.get("cwd"))
            self.model(payload.get("model"))
        elif kind == "response_item":
            self._item(payload)
        elif kind == "event_msg":
            self._event(payload)

    def _meta(self, payload: Mapping[str, Any], at: datetime | None) -> None:
        """The first one speaks of the session, another id of the parent whose history follows."""
        session = self._talk.own_id(payload.get("id")) or self._talk.own_id(payload.get("session_id"))
        if session != (self._carry.session or self.name_of(self.stem) or session):
            self._carry.copying = True
            self.became(Became.COPY, "begins the history of the session that this one was made of")
            return
        self.became(Became.FACTS, "id, folder, version and branch")
        self._carry.session = session
        if self._carry.begun is None and at is not None:
            self._carry.begun = at.isoformat()
        self.run_by(program=is_headless(payload))
        self._carry.sidechain = is_sub_agent(payload)
        self.learn("cwd", payload.get("cwd"))
        self.learn("version", payload.get("cli_version"), latest=True)
        git = payload.get("git")
        if isinstance(git, dict):
            self.learn("branch", git.get("branch"))
            self.learn("commit", commit_hash(git.get("commit_hash")))

    def _is_copy(self, at: datetime | None) -> bool:
        begun = moment(self._carry.begun)
        if self._carry.copying and begun is not None and at is not None and at - begun > _BURST:
            self._carry.copying = False
        return self._carry.copying

    def _event(self, payload: Mapping[str, Any]) -> None:
        kind, item = payload.get("type"), payload.get("item")
        if kind == "item_completed" and isinstance(item, dict):
            kind = ITEM.get(str(item.get("type")))
        else:
            item = None
        match kind:
            case "user_message":
                self._shape = "item" if item else "event"
                self.stands((item or payload).get("id"), self._place.at)
                self.prompt(bare_text(payload, item) or "")
            case "entered_review_mode":
                self._carry.reviewing = True
                self.became(Became.FACTS, "a review begins: its prompts are the client's")
            case "exited_review_mode":
                self._carry.reviewing = False
                self.became(Became.FACTS, "the review ends")
            case "token_count":
                self._took(payload)
            case "turn_aborted" if payload.get("reason", "interrupted") == "interrupted":
                self.interrupted()

    def _took(self, payload: Mapping[str, Any], *, counts: bool = True) -> None:
        """By how much the running total grew: it is sent again and again, and begins anew at times. A fork's
        first one holds what its parent took."""
        told = mapping(payload.get("info"))
        total = _in_and_out(mapping(told.get("total_token_usage")))
        if payload.get("type") != "token_count" or total is None:
            return
        before, self._carry.total = self._carry.total, total
        if before is None or total[0] < before[0] or total[1] < before[1]:
            grown = _in_and_out(mapping(told.get("last_token_usage")))
        else:
            grown = total[0] - before[0], total[1] - before[1]
        if counts and grown is not None and any(grown):
            self.took(grown[:1], grown[1:])

    def not_a_persons(self) -> str:
        why = super().not_a_persons()
        return why or ("a prompt of a review: the client wrote it" if self._carry.reviewing else "")

    def told_before(self, text: str) -> str:
        """In the other shape."""
        digest = digest_of(text)[:16]
        before, self._carry.told = self._carry.told, f"{self._shape} {digest}"
        twice = before.endswith(f" {digest}") and not before.startswith(f"{self._shape} ")
        return "the same prompt in another form" if twice else ""

    def _item(self, payload: Mapping[str, Any]) -> None:
        match word(payload.get("type")):
            case "message" if payload.get("role") == "assistant":
                self._carry.told = ""
                self.said(self.text_of(payload.get("content")))
            case "message" if payload.get("role") == "developer":
                listed = skills_listed(self.text_of(payload.get("content")))
                if listed:
                    self.offers(listed)
                    self.became(Became.FACTS, "which skills there are")
            case "message" if payload.get("role") == "user":
                self._talk.loaded(mentioned_skill(payload))
                self.became(Became.COPY, "what a person typed stands in an event; the client put in the rest")
            case "function_call" | "custom_tool_call":
                self._carry.told = ""
                name, given = payload.get("name"), payload.get("input")
                script = script_commands(given) if name == "exec" and isinstance(given, str) else None
                self.called(payload.get("call_id"), name, arguments_of(payload), script or None)
            case "function_call_output" | "custom_tool_call_output":
                output = payload.get("output")
                self.answered(payload.get("call_id"), output_text(output), *judged(output))


def _in_and_out(usage: Mapping[str, Any]) -> tuple[int, int] | None:
    given, output = count_of(usage.get("input_tokens")), count_of(usage.get("output_tokens"))
    return None if given is None or output is None else (given, output)


class CodexTranscripts(TranscriptFiles):
    """The `TranscriptSource` of Codex."""

    name = SOURCE
    title = "Codex"
    home = HOME
    endings = (".jsonl", _COMPRESSED)
    reads = _Reading

    def is_ours(self, row: Mapping[str, Any]) -> bool:
        known = word(row.get("type")) in _ROW_TYPES
        return known and isinstance(row.get("payload"), dict) and "timestamp" in row
