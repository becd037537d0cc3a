"""The Messages API, as Claude Code speaks it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nightschool.testing.script import Act, Fault, Say, Shell, Use, Write
from nightschool.testing.wire import Asked, events, heredoc, spoken, texts


def tools(body: Mapping[str, Any]) -> dict[str, Any]:
    """The tools that a request offers, by name."""
    return {str(tool.get("name")): tool for tool in body.get("tools", [])}


def read(body: Mapping[str, Any]) -> Asked:
    """System prompt, tools and the user's messages are what was given; the prompt is the last of these
    that a human wrote."""
    prompt, stage = "", 0
    given = [body.get("system", ""), body.get("tools", [])]
    for message in body.get("messages", []):
        if message["role"] == "assistant":
            continue
        content = message["content"]
        results = [b for b in content if b.get("type") == "tool_result"] if isinstance(content, list) else []
        given.append([b for b in content if b not in results] if results else content)
        words = spoken(content) if message["role"] == "user" else ""
        stage += len(results)
        if words:
            prompt, stage = words, 0
    return Asked(text="\n".join(texts(given)), prompt=prompt, stage=stage)


def block(act: Act, body: Mapping[str, Any], identity: str) -> dict[str, Any]:
    """The content block that answers, with the tool that this request offers for the act."""
    offered = tools(body)
    match act:
        case Say():
            return {"type": "text", "text": act.text}
        case Use():
            return _call(identity, act.tool, act.arguments)
        case Write() if "Write" in offered:
            return _call(identity, "Write", {"file_path": act.path, "content": act.content})
        case Write():
            return _call(identity, "Bash", _bash(heredoc(act.path, act.content)))
        case Shell():
            return _call(identity, "Bash", _bash(act.command))
        case Fault():
            raise TypeError("a fault is no content block")


def _bash(command: str) -> dict[str, str]:
    return {"command": command, "description": "Run a command"}


def _call(identity: str, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{identity}", "name": tool, "input": dict(arguments)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One message of the assistant with one block."""

    identity: str
    block: Mapping[str, Any]
    model: str
    tokens_in: int

    @property
    def _stop(self) -> str:
        return "tool_use" if self.block["type"] == "tool_use" else "end_turn"

    @property
    def _usage(self) -> dict[str, int]:
        written = len(json.dumps(self.block)) // 4
        return {
            "input_tokens": self.tokens_in,
            "output_tokens": written,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        }

    def whole(self) -> dict[str, Any]:
        return {
            "id": f"msg_{self.identity}",
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": [dict(self.block)],
            "stop_reason": self._stop,
            "stop_sequence": None,
            "usage": self._usage,
        }

    def stream(self) -> bytes:
        if self.block["type"] == "text":
            start: dict[str, Any] = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": self.block["text"]}
        else:
            start = {**self.block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(self.block["input"])}
        opened = {**self.whole(), "content": [], "stop_reason": None}
        ended = {"stop_reason": self._stop, "stop_sequence": None}
        return events(
            [
                {"type": "message_start", "message": opened},
                {"type": "content_block_start", "index": 0, "content_block": start},
                {"type": "content_block_delta", "index": 0, "delta": delta},
                {"type": "content_block_stop", "index": 0},
                {"type": "message_delta", "delta": ended, "usage": self._usage},
                {"type": "message_stop"},
            ]
        )
