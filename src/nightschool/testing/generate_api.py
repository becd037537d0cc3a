"""The generateContent API, as Gemini CLI speaks it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nightschool.testing.script import Act, Fault, Say
from nightschool.testing.wire import Asked, spoken, texts, tool_call, unnamed_events


def tools(body: Mapping[str, Any]) -> dict[str, Any]:
    """The tools that a request offers, by name."""
    declared = (one for tool in body.get("tools") or [] for one in tool.get("functionDeclarations", []))
    return {str(one["name"]): one for one in declared}


def read(body: Mapping[str, Any]) -> Asked:
    """System instruction, tools and the user's parts are what was given; the prompt is the last text among
    these that a human wrote."""
    prompt, stage = "", 0
    given: list[Any] = [body.get("systemInstruction", ""), body.get("tools") or []]
    for content in body.get("contents", []):
        if content.get("role") == "model":
            continue
        parts = content.get("parts", [])
        results = [part for part in parts if "functionResponse" in part]
        said = [part for part in parts if part not in results]
        given.append(said)
        stage += len(results)
        words = spoken(said)
        if words:
            prompt, stage = words, 0
    return Asked(text="\n".join(texts(given)), prompt=prompt, stage=stage)


def block(act: Act, body: Mapping[str, Any], identity: str) -> dict[str, Any]:
    """The part that answers, with the tool that this request offers for the act.

    Where the request says what JSON it wants, a text is the least JSON of that shape: the agent asks so for
    its own decisions, and would ask again and again.
    """
    offered = {
        name: tool.get("parametersJsonSchema") or tool.get("parameters", {})
        for name, tool in tools(body).items()
    }
    wanted = _wanted(body)
    match act:
        case Say() if wanted is not None:
            return {"text": json.dumps(_least(wanted))}
        case Say():
            return {"text": act.text}
        case Fault():
            raise TypeError("a fault is no part")
    tool, arguments = tool_call(act, offered)
    return {"functionCall": {"id": f"call_{identity}", "name": tool, "args": arguments}}


def _wanted(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    asked = body.get("generationConfig", {})
    found: Mapping[str, Any] | None = asked.get("responseJsonSchema") or asked.get("responseSchema")
    return found


def _least(schema: Mapping[str, Any]) -> Any:
    """The first of what is allowed, and of an object all that has a name."""
    if schema.get("enum"):
        return schema["enum"][0]
    match str(schema.get("type", "object")).lower():
        case "object":
            return {name: _least(inner) for name, inner in schema.get("properties", {}).items()}
        case "array":
            return []
        case "number" | "integer":
            return schema.get("minimum", 0)
        case "boolean":
            return False
        case _:
            return "as scripted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One response with one candidate of one part."""

    identity: str
    block: Mapping[str, Any]
    model: str
    tokens_in: int

    def whole(self) -> dict[str, Any]:
        written = len(json.dumps(self.block)) // 4
        content = {"role": "model", "parts": [dict(self.block)]}
        return {
            "responseId": self.identity,
            "modelVersion": self.model,
            "candidates": [{"index": 0, "content": content, "finishReason": "STOP"}],
            "usageMetadata": {
                "promptTokenCount": self.tokens_in,
                "candidatesTokenCount": written,
                "totalTokenCount": self.tokens_in + written,
            },
        }

    def stream(self) -> bytes:
        return unnamed_events([self.whole()])
