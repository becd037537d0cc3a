"""Agent transcripts of Cursor: `~/.cursor/projects/<folder>/agent-transcripts/<id>/<id>.jsonl`.

A line says who speaks and in which blocks, and nothing else: no time, no folder, no model, and no result of
a call, so that errors are unknown. A sub-agent's own file lies in a folder `subagents`. The folder of the
project is known by its name alone, which is never decoded: such sessions name no project.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nightschool.adapters.agent_home import AgentHome
from nightschool.adapters.reading import Carry, Reading
from nightschool.adapters.rows import Rows, word
from nightschool.adapters.transcript_files import TranscriptFiles
from nightschool.core.sessions import Became, Offset, Speaker
from nightschool.core.tags import outside_tags
from nightschool.core.values import digest_of

SOURCE = "cursor"
HOME = AgentHome(variable="CURSOR_CONFIG_DIR", usual=".cursor", sessions=("projects",))
TRANSCRIPTS = "agent-transcripts"
SUB_AGENTS = "subagents"
_QUERY = ("<user_query>", "</user_query>")
_PUT_IN = re.compile(r"<([a-z_]{3,40})>")
"""What the client puts beside a person's words: attached files, rules, the time."""
_ROLES = frozenset({"user", "assistant"})
_CALLS = frozenset({"tool_use", "tool_call"})
_RESULTS = frozenset({"tool_result", "tool-result"})
_HIDDEN = "[REDACTED]"
"""What Cursor writes in the place of thinking."""


@dataclass(slots=True)
class _Carry(Carry):
    rows: int = 0
    """How many were read: no row has an id or a time, and the same words may come again."""


class _Reading(Reading[_Carry]):
    carries = _Carry

    def __init__(self, source: TranscriptFiles, file: Rows, since: Offset | None) -> None:
        super().__init__(source, file, since)
        self._carry.sidechain = SUB_AGENTS in Path(file.path).parts

    def kind(self, value: Mapping[str, Any]) -> str:
        return word(value.get("role")) or word(value.get("type")) or "no role"

    def take(self, value: Mapping[str, Any]) -> None:
        if not self.knows(value):
            if word(value.get("role")) in _ROLES:
                self.bad("a message without a list of blocks")
            return
        self._carry.rows += 1
        blocks = list(self.objects(value["message"]["content"], "content"))
        speaker = Speaker.HUMAN if value["role"] == "user" else Speaker.AGENT
        name = digest_of(speaker, self._carry.rows, [word(block.get("text")) for block in blocks])[:16]
        self.stands(name, None)
        if speaker is Speaker.AGENT:
            self._reply(blocks)
        elif any(word(block.get("type")) in _RESULTS for block in blocks):
            self.became(Became.LEFT_OUT, "the result of a call")
        else:
            self.prompt(_typed("\n".join(_texts(blocks))), "without words of a person")

    def _reply(self, blocks: list[dict[str, Any]]) -> None:
        for number, block in enumerate(blocks):
            if block.get("type") == "text" and block.get("text") != _HIDDEN:
                self.said(block.get("text"))
            elif word(block.get("type")) in _CALLS:
                own = word(block.get("id")) or f"{self._place.row}.{number}"
                self.called(own, block.get("name"), block.get("input"))


class CursorTranscripts(TranscriptFiles):
    """The `TranscriptSource` of Cursor's agent."""

    name = SOURCE
    title = "Cursor"
    home = HOME
    reads = _Reading

    def is_ours(self, row: Mapping[str, Any]) -> bool:
        message = row.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        return word(row.get("role")) in _ROLES and "type" not in row and isinstance(content, list)

    def may_be(self, path: str) -> bool:
        """Other line files lie beside the transcripts."""
        return TRANSCRIPTS in Path(path).parts


def _texts(blocks: list[dict[str, Any]]) -> Iterator[str]:
    for block in blocks:
        text = block.get("text")
        if block.get("type") == "text" and isinstance(text, str):
            yield text


def _typed(text: str) -> str:
    """A person's own words, without what the client wrapped them in or put beside them."""
    begin, end = _QUERY
    query, closed, _ = text.partition(begin)[2].partition(end)
    return (query if closed else outside_tags(text, _PUT_IN)).strip()
