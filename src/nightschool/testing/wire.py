"""What the model APIs of the scripted model have in common: what was asked, which tool does it, events."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from nightschool.testing.script import Shell, Use, Write

_PUT_IN = (
    "<",
    "# AGENTS.md",
    "# Context from my IDE",
    "[Request interrupted",
    "Base directory for this skill:",
)
_TAGGED = re.compile(r"\A(?:\s*<([\w-]+)[^>]*>.*?</\1>\s*)+", re.DOTALL)
_SHELLS = ("bash", "run_shell_command", "shell")
"""What agents that are not told apart by their API call their shell: OpenCode, pi and Copilot, Gemini CLI."""
_WRITERS = (
    ("write", "filePath", "content"),
    ("write", "path", "content"),
    ("write_file", "file_path", "content"),
    ("create", "path", "file_text"),
)
"""Their tools that write a file, with the names of both arguments."""


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
    own = (_behind_tags(block.get("text", "")) for block in blocks if isinstance(block, Mapping))
    return "\n".join(text for text in own if text and not injected(text))


def _behind_tags(text: str) -> str:
    """A text without the tagged blocks that some agents put before the human's words."""
    return _TAGGED.sub("", text)


def injected(text: str) -> bool:
    """Context that agents send in the name of the human: tagged blocks, memory files, notes of a stop, the
    text of a skill that was loaded."""
    return text.lstrip().startswith(_PUT_IN)


def events(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Server-sent events, each named by its type."""
    return b"".join(f"event: {row['type']}\ndata: {json.dumps(row)}\n\n".encode() for row in rows)


def unnamed_events(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Server-sent events that only hold their row."""
    return b"".join(f"data: {json.dumps(row)}\n\n".encode() for row in rows)


def tool_call(act: Use | Shell | Write, offered: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Name and arguments of the call that does it. `offered` has the schema of each tool by its name."""
    match act:
        case Use():
            return act.tool, act.arguments
        case Write():
            for tool, path, content in _WRITERS:
                if {path, content} <= set(offered.get(tool, {}).get("properties", {})):
                    return tool, {path: act.path, content: act.content}
            return tool_call(Shell(command=heredoc(act.path, act.content)), offered)
        case Shell():
            shell = next((name for name in _SHELLS if name in offered), None)
            if shell is None:
                raise LookupError(f"no shell among the tools that are offered: {', '.join(sorted(offered))}")
            described = "description" in offered[shell].get("properties", {})
            return shell, {"command": act.command} | ({"description": "Run a command"} if described else {})


def heredoc(path: str, content: str) -> str:
    """A command line that writes a file, for agents whose only tool is a shell."""
    ended = content if content.endswith("\n") else content + "\n"
    folder = f"mkdir -p {path.rpartition('/')[0]} && " if "/" in path else ""
    return f"{folder}cat > {path} <<'EOF'\n{ended}EOF"
