"""Agent transcripts of Cursor: `~/.cursor/projects/<folder>/agent-transcripts/<id>/<id>.jsonl`.

A line says who speaks and in which blocks, and nothing else: no time, no folder, no model, and no result of
a call, so that errors are unknown. A sub-agent's own file lies in a folder `subagents`. The folder of the
project is known by its name alone, which is never decoded: such sessions name no project.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from nightschool.adapters.agent_home import AgentHome
from nightschool.adapters.conversation import Place
from nightschool.adapters.rows import Row, Rows, word
from nightschool.adapters.transcript_files import Reading, TranscriptFiles
from nightschool.core.jobs import MARKER
from nightschool.core.ports import Redact
from nightschool.core.sessions import Became, Offset, Session, Speaker
from nightschool.core.values import digest_of

SOURCE = "cursor"
HOME = AgentHome(variable="CURSOR_CONFIG_DIR", usual=".cursor", sessions=("projects",))
TRANSCRIPTS = "agent-transcripts"
SUB_AGENTS = "subagents"
_QUERY = re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)
_PUT_IN = re.compile(r"<(?P<tag>[a-z_]{3,40})>.*?</(?P=tag)>\s*", re.DOTALL)
"""What the client puts beside a person's words: attached files, rules, the time."""
_ROLES = frozenset({"user", "assistant"})
_CALLS = frozenset({"tool_use", "tool_call"})
_RESULTS = frozenset({"tool_result", "tool-result"})
_HIDDEN = "[REDACTED]"
"""What Cursor writes in the place of thinking."""


class CursorTranscripts(TranscriptFiles):
    """The `TranscriptSource` of Cursor's agent."""

    name = SOURCE
    title = "Cursor"
    home = HOME

    def is_ours(self, row: Mapping[str, Any]) -> bool:
        return _is_ours(row)

    def may_be(self, path: str) -> bool:
        """Other line files lie beside the transcripts."""
        return TRANSCRIPTS in Path(path).parts

    def reading(self, file: Rows, since: Offset | None) -> Reading:
        return _Reading(self._redact, file, since)


def _is_ours(row: Mapping[str, Any]) -> bool:
    """Whether no other agent writes such a row."""
    message = row.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return word(row.get("role")) in _ROLES and "type" not in row and isinstance(content, list)


@dataclass(slots=True)
class _Carry:
    """What the rows read so far decide for those to come."""

    prompted: bool = False
    ours: bool = False
    rows: int = 0
    """How many were read: no row has an id or a time, and the same words may come again."""


def _carried(since: Offset | None) -> _Carry:
    return _Carry(**orjson.loads(since.carry)) if since is not None and since.carry else _Carry()


class _Reading(Reading):
    """What the rows of one file, or of the part of it behind an offset, tell."""

    def __init__(self, redact: Redact, file: Rows, since: Offset | None) -> None:
        super().__init__(redact, file)
        self._carry = _carried(since)
        self._sidechain = SUB_AGENTS in Path(file.path).parts

    def is_dull(self, line: bytes) -> bool:
        del line
        return False

    def kind(self, row: Row) -> str:
        return word(row.value.get("role")) or word(row.value.get("type")) or "no role"

    def take(self, row: Row) -> None:
        value = row.value
        if not _is_ours(value):
            if word(value.get("role")) in _ROLES:
                self.bad(row, "a message without a list of blocks")
            return
        self._known = True
        self._carry.rows += 1
        blocks = list(self.objects(row, value["message"]["content"], "blocks"))
        speaker = Speaker.HUMAN if value["role"] == "user" else Speaker.AGENT
        name = digest_of(speaker, self._carry.rows, [word(block.get("text")) for block in blocks])[:16]
        place = Place(name, None, row.offset, row.end)
        if speaker is Speaker.HUMAN:
            self._prompt(blocks, place)
        else:
            self._reply(blocks, place)

    def _prompt(self, blocks: list[dict[str, Any]], place: Place) -> None:
        if any(word(block.get("type")) in _RESULTS for block in blocks):
            self.became(Became.LEFT_OUT, "the result of a call")
            return
        text = _typed("\n".join(_texts(blocks)))
        if not text:
            self.became(Became.LEFT_OUT, "without words of a person")
            return
        if not self._carry.prompted:
            self._carry.prompted = True
            self._carry.ours = text.startswith(f"[{MARKER}")
        if self._sidechain:
            self.became(Became.LEFT_OUT, "a prompt for a sub-agent: an agent wrote it")
            return
        self._talk.human(text, place)
        self.became(Became.HUMAN)

    def _reply(self, blocks: list[dict[str, Any]], place: Place) -> None:
        for number, block in enumerate(blocks):
            if block.get("type") == "text" and block.get("text") != _HIDDEN:
                if self._talk.said(word(block.get("text")) or "", place, None):
                    self.became(Became.SAID)
            elif word(block.get("type")) in _CALLS:
                own = self._talk.own_id(block.get("id")) or f"{place.row}.{number}"
                call = self._talk.call(own, str(block.get("name", "")), block.get("input"))
                self._talk.called(call, place)
                self.became(Became.CALL, call_id=own)

    def carry(self) -> str:
        return orjson.dumps(asdict(self._carry)).decode("utf-8")

    def session(self, since: Offset | None) -> Session:
        known = since.session if since is not None else None
        return Session(
            session_id=known or self._talk.short(Path(self._file.path).stem),
            source=SOURCE,
            path=self._file.path,
            ours=self._carry.ours,
            sidechain=self._sidechain,
            turns=self._talk.turns,
            late=self._talk.late,
            warnings=self.warnings,
        ).settled()


def _texts(blocks: list[dict[str, Any]]) -> Iterator[str]:
    for block in blocks:
        text = block.get("text")
        if block.get("type") == "text" and isinstance(text, str):
            yield text


def _typed(text: str) -> str:
    """A person's own words, without what the client wrapped them in or put beside them."""
    query = _QUERY.search(text)
    return (query.group(1) if query else _PUT_IN.sub("", text)).strip()
