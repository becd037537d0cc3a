"""The Responses API, as Codex speaks it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nightschool.testing.script import Act, Fault, Say, Shell, Use, Write
from nightschool.testing.wire import Asked, events, heredoc, spoken, texts

SHELLS = ("exec_command", "shell_command", "shell", "local_shell", "container.exec")
"""Names that Codex gave its shell, the newest first."""


def tools(body: Mapping[str, Any]) -> dict[str, Any]:
    """The tools that a request offers, by name, wherever this version puts them."""
    found: dict[str, Any] = {}
    waiting = list(body.get("tools", []))
    items = body.get("input", [])
    for item in items if isinstance(items, list) else []:
        if item.get("type") == "additional_tools":
            waiting.extend(item.get("tools", []))
    for tool in waiting:
        inner = tool.get("tools", []) if tool.get("type") == "namespace" else [tool]
        found.update((str(one["name"]), one) for one in inner if "name" in one)
    return found


def read(body: Mapping[str, Any]) -> Asked:
    """Instructions, tools and messages are what was given; the prompt is the last that a human wrote."""
    prompt, stage = "", 0
    given = [body.get("instructions", ""), body.get("tools", [])]
    items = body.get("input", [])
    for item in [{"role": "user", "content": items}] if isinstance(items, str) else items:
        if str(item.get("type", "")).endswith("_call_output"):
            stage += 1
        elif item.get("role") in {"user", "developer", "system"}:
            given.append([item.get("content", ""), item.get("tools", [])])
            words = spoken(item.get("content", "")) if item["role"] == "user" else ""
            if words:
                prompt, stage = words, 0
    return Asked(text="\n".join(texts(given)), prompt=prompt, stage=stage)


def block(act: Act, body: Mapping[str, Any], identity: str) -> dict[str, Any]:
    """The output item that answers, with the shell that this request offers."""
    match act:
        case Say():
            content = [{"type": "output_text", "text": act.text, "annotations": []}]
            return {"type": "message", "id": f"msg_{identity}", "role": "assistant", "content": content}
        case Use():
            namespace = _namespace(act.tool, body)
            return _call(identity, act.tool, act.arguments) | ({"namespace": namespace} if namespace else {})
        case Write():
            return _shell(heredoc(act.path, act.content), body, identity)
        case Shell():
            return _shell(act.command, body, identity)
        case Fault():
            raise TypeError("a fault is no output item")


def _namespace(tool: str, body: Mapping[str, Any]) -> str | None:
    """The namespace that this request offers the tool in, if any."""
    spaces = [space for space in body.get("tools", []) if space.get("type") == "namespace"]
    return next(
        (space["name"] for space in spaces if tool in {one.get("name") for one in space["tools"]}), None
    )


def _shell(command: str, body: Mapping[str, Any], identity: str) -> dict[str, Any]:
    offered = tools(body)
    shell = next((name for name in SHELLS if name in offered), None)
    if shell is None and offered.get("exec", {}).get("type") == "custom":
        return _scripted_call(command, identity)
    if shell is None:
        names = ", ".join(sorted(offered))
        raise LookupError(f"no shell among the tools that this Codex offers: {names}")
    fields = offered[shell].get("parameters", {}).get("properties", {})
    if "cmd" in fields:
        return _call(identity, shell, {"cmd": command})
    if fields.get("command", {}).get("type") == "array":
        return _call(identity, shell, {"command": ["bash", "-lc", command]})
    return _call(identity, shell, {"command": command})


def _scripted_call(command: str, identity: str) -> dict[str, Any]:
    """The shell of a Codex whose only tool runs JavaScript, which in turn calls the tools."""
    arguments = json.dumps({"cmd": command})
    return {
        "type": "custom_tool_call",
        "id": f"ctc_{identity}",
        "call_id": f"call_{identity}",
        "name": "exec",
        "input": f"const result = await tools.exec_command({arguments});\ntext(result.output);\n",
        "status": "completed",
    }


def _call(identity: str, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "function_call",
        "id": f"fc_{identity}",
        "call_id": f"call_{identity}",
        "name": tool,
        "arguments": json.dumps(dict(arguments)),
        "status": "completed",
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One response with one output item."""

    identity: str
    block: Mapping[str, Any]
    model: str
    tokens_in: int

    def whole(self) -> dict[str, Any]:
        written = len(json.dumps(self.block)) // 4
        usage = {
            "input_tokens": self.tokens_in,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": written,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": self.tokens_in + written,
        }
        return {
            "id": f"resp_{self.identity}",
            "object": "response",
            "status": "completed",
            "model": self.model,
            "output": [dict(self.block)],
            "usage": usage,
        }

    def stream(self) -> bytes:
        opened = {"id": f"resp_{self.identity}", "object": "response", "status": "in_progress", "output": []}
        return events(
            [
                {"type": "response.created", "response": opened},
                {"type": "response.output_item.added", "output_index": 0, "item": dict(self.block)},
                {"type": "response.output_item.done", "output_index": 0, "item": dict(self.block)},
                {"type": "response.completed", "response": self.whole()},
            ]
        )
