"""Reads the tokens that a model's reply says it used, while the reply passes by.

Knows the Messages API, the Responses API and chat completions, as one JSON document or as server-sent events.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nightschool.core.spent import count_of

KEPT_BYTES = 16 << 20
"""Of a JSON document, or of one line of events. What is longer has usage None."""
INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
"""The Messages API counts cached input apart; the Responses API has only the first, cached input included."""
INPUT_OF_CHAT = "prompt_tokens"
OUTPUT = ("output_tokens", "completion_tokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUsage:
    """Tokens of one call."""

    input: int
    output: int

    @property
    def total(self) -> int:
        return self.input + self.output


class UsageReader:
    """Give it the reply piece by piece, then ask."""

    def __init__(self, content_type: str) -> None:
        self._events = content_type.startswith("text/event-stream")
        self._document = "json" in content_type
        self._buffer = bytearray()
        self._counts: dict[str, int] = {}
        self._overflowed = False

    def add(self, chunk: bytes) -> None:
        if self._overflowed or not (self._events or self._document):
            return
        self._buffer += chunk
        if self._events:
            *lines, rest = bytes(self._buffer).split(b"\n")
            self._buffer = bytearray(rest)
            for line in lines:
                if line.startswith(b"data:") and b'"usage"' in line:
                    self._note(line[5:])
        if len(self._buffer) > KEPT_BYTES:
            self._overflowed = True
            self._buffer.clear()

    def usage(self) -> TokenUsage | None:
        """None where the reply named none."""
        if self._document and self._buffer:
            self._note(bytes(self._buffer))
            self._buffer.clear()
        if not self._counts:
            return None
        given = sum(self._counts.get(name, 0) for name in INPUT) or self._counts.get(INPUT_OF_CHAT, 0)
        return TokenUsage(input=given, output=max(self._counts.get(name, 0) for name in OUTPUT))

    def _note(self, text: bytes) -> None:
        try:
            document = json.loads(text)
        except ValueError:
            return
        if not isinstance(document, dict):
            return
        for holder in (document, document.get("message"), document.get("response")):
            if isinstance(holder, dict) and isinstance(holder.get("usage"), dict):
                self._merge(holder["usage"])

    def _merge(self, usage: Mapping[str, Any]) -> None:
        """Events give running totals: the largest is the last."""
        for name in (*INPUT, INPUT_OF_CHAT, *OUTPUT):
            count = count_of(usage.get(name))
            if count is not None:
                self._counts[name] = max(count, self._counts.get(name, 0))
