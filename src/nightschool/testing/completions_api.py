"""The Chat Completions API, as OpenCode, pi and many others speak it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nightschool.testing.script import Act, Fault, Say
from nightschool.testing.wire import Asked, spoken, texts, tool_call, unnamed_events


def tools(body: Mapping[str, Any]) -> dict[str, Any]:
    """The tools that a request offers, by name."""
    offered = (tool.get("function", {}) for tool in body.get("tools") or [])
    return {str(function["name"]): function for function in offered if "name" in function}


def read(body: Mapping[str, Any]) -> Asked:
    """Tools and all messages but the assistant's and the tools' are what was given; the prompt is the last
    of these that a human wrote."""
    prompt, stage = "", 0
    given: list[Any] = [body.get("tools") or []]
    for message in body.get("messages", []):
        role, content = message.get("role"), message.get("content") or ""
        if role == "tool":
            stage += 1
        elif role != "assistant":
            given.append(content)
            words = spoken(content) if role == "user" else ""
            if words:
                prompt, stage = words, 0
    return Asked(text="\n".join(texts(given)), prompt=prompt, stage=stage)


def block(act: Act, body: Mapping[str, Any], identity: str) -> dict[str, Any]:
    """The assistant's message, with the tool that this request offers for the act."""
    offered = {name: tool.get("parameters", {}) for name, tool in tools(body).items()}
    match act:
        case Say():
            return {"role": "assistant", "content": act.text}
        case Fault():
            raise TypeError("a fault is no message")
    tool, arguments = tool_call(act, offered)
    function = {"name": tool, "arguments": json.dumps(arguments)}
    call = {"id": f"call_{identity}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One completion with one message."""

    identity: str
    block: Mapping[str, Any]
    model: str
    tokens_in: int

    @property
    def _stop(self) -> str:
        return "tool_calls" if "tool_calls" in self.block else "stop"

    @property
    def _usage(self) -> dict[str, int]:
        written = len(json.dumps(self.block)) // 4
        return {
            "prompt_tokens": self.tokens_in,
            "completion_tokens": written,
            "total_tokens": self.tokens_in + written,
        }

    def whole(self) -> dict[str, Any]:
        choice = {"index": 0, "message": dict(self.block), "finish_reason": self._stop}
        return {**self._head("chat.completion"), "choices": [choice], "usage": self._usage}

    def stream(self) -> bytes:
        delta = dict(self.block)
        if "tool_calls" in delta:
            delta["tool_calls"] = [{"index": 0, **call} for call in delta["tool_calls"]]
        head = self._head("chat.completion.chunk")
        ended = {"index": 0, "delta": {}, "finish_reason": self._stop}
        rows = (
            {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
            {**head, "choices": [ended]},
            {**head, "choices": [], "usage": self._usage},
        )
        return unnamed_events(rows) + b"data: [DONE]\n\n"

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": f"chatcmpl-{self.identity}", "object": kind, "created": 0, "model": self.model}
