"""What both model APIs of the scripted model have in common: what was asked, and server-sent events."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

_PUT_IN = (
    "<",
    "# AGENTS.md",
    "# Context from my IDE",
    "[Request interrupted",
    "Base directory for this skill:",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request in the script's terms."""

    text: str
    """All that the agent was given, without its own doings and their results."""
    prompt: str
    """The last words of the human."""
    stage: int
    """Results of tools since then."""


def texts(value: Any) -> Iterable[str]:
    """Every string in a piece of JSON, depth first."""
    match value:
        case str():
            yield value
        case Mapping():
            for item in value.values():
                yield from texts(item)
        case list():
            for item in value:
                yield from texts(item)


def spoken(content: Any) -> str:
    """The words of a message that are the human's own: no block that the agent put in."""
    blocks = [{"text": content}] if isinstance(content, str) else content
    own = (block.get("text", "") for block in blocks if isinstance(block, Mapping))
    return "\n".join(text for text in own if text and not injected(text))


def injected(text: str) -> bool:
    """Context that agents send in the name of the human: tagged blocks, memory files, notes of a stop, the
    text of a skill that was loaded."""
    return text.lstrip().startswith(_PUT_IN)


def events(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Server-sent events, each named by its type."""
    return b"".join(f"event: {row['type']}\ndata: {json.dumps(row)}\n\n".encode() for row in rows)


def heredoc(path: str, content: str) -> str:
    """A command line that writes a file, for agents whose only tool is a shell."""
    ended = content if content.endswith("\n") else content + "\n"
    folder = f"mkdir -p {path.rpartition('/')[0]} && " if "/" in path else ""
    return f"{folder}cat > {path} <<'EOF'\n{ended}EOF"
