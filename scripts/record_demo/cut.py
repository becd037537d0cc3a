"""What is done to a transcript before it is shipped: vendors' texts cut, the session moved in time.

Rows, keys and order stay as they were. A cut text is `[cut]`. All times of a session, in ISO form, in
seconds or in milliseconds, are moved by the same span; ids, some of which hold a time too, stay.
"""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from scripts.record_demo.sessions import Recording

CUT = "[cut]"
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
SECONDS = frozenset({"started_at", "completed_at", "create_time"})
MILLISECONDS = frozenset({"started_at_ms", "completed_at_ms"})
INSTRUCTIONS = frozenset({"base_instructions", "developer_instructions", "user_instructions", "instructions"})
LONGEST = 400
"""Characters of a text in a row of Codex's own state that is left whole."""
TRACES = re.compile(
    r"/(?:root|tmp|var|opt|work|mnt|Users)/|/home/(?!sam\b)|sk-ant-|api[_-]?key", re.IGNORECASE
)
"""What would tell of the machine or of an account."""


def cut(text: str, agent: str, at: datetime) -> str:
    """The transcript as it is shipped."""
    rows = [json.loads(line) for line in text.splitlines()]
    first = min(moment for row in rows for moment in _moments(row))
    moved = [_moved(row, at - first, first) for row in rows]
    trimmed = [_codex(row) if agent == "codex" else _claude(row) for row in moved]
    return "".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in trimmed)


def file_name(name: str, recording: Recording) -> str:
    """The name that the agent gave the file; Codex's holds the time, which moves too."""
    if recording.agent != "codex":
        return name
    thread = name.removesuffix(".jsonl")[-36:]
    return f"rollout-{recording.at:%Y-%m-%dT%H-%M-%S}-{thread}.jsonl"


def refuse_traces(text: str) -> None:
    """Raise where a text tells of the machine that it was recorded on."""
    found = TRACES.search(text)
    if found is not None or socket.gethostname() in text:
        where = text[max(found.start() - 80, 0) : found.end() + 80] if found else socket.gethostname()
        raise ValueError(f"a trace of this machine is left: {where!r}")


def _moments(value: Any) -> list[datetime]:
    if isinstance(value, str) and TIME.fullmatch(value):
        return [datetime.fromisoformat(value)]
    if isinstance(value, Mapping):
        return [moment for item in value.values() for moment in _moments(item)]
    return [moment for item in value for moment in _moments(item)] if isinstance(value, list) else []


def _moved(value: Any, by: timedelta, first: datetime, key: str = "") -> Any:
    if isinstance(value, Mapping):
        return {name: _moved(item, by, first, name) for name, item in value.items()}
    if isinstance(value, list):
        return [_moved(item, by, first, key) for item in value]
    if isinstance(value, str):
        return _moved_text(value, by, first)
    factor = 1 if key in SECONDS else 1000 if key in MILLISECONDS else 0
    return value + int(by.total_seconds()) * factor if factor and value is not None else value


def _moved_text(value: str, by: timedelta, first: datetime) -> str:
    if not TIME.fullmatch(value):
        return value.replace(f"{first:%Y-%m-%d}", f"{first + by:%Y-%m-%d}")
    digits = "milliseconds" if "." in value else "seconds"
    moved = datetime.fromisoformat(value) + by
    return moved.isoformat(timespec=digits).replace("+00:00", "Z")


def _claude(row: dict[str, Any]) -> dict[str, Any]:
    attachment = row.get("attachment")
    if not isinstance(attachment, Mapping):
        return row
    kept = {"type": attachment.get("type")}
    return {**row, "attachment": {**_blank(attachment), **kept}}


def _codex(row: dict[str, Any]) -> dict[str, Any]:
    inner = row.get("payload", {})
    if row["type"] == "response_item" and inner.get("role") == "developer":
        content = [{**block, "text": CUT} for block in inner["content"]]
        return {**row, "payload": {**inner, "content": content}}
    if row["type"] in {"session_meta", "turn_context", "world_state"} or "thread_settings" in inner:
        return {**row, "payload": _instructions(inner)}
    return row


def _instructions(value: Any, key: str = "") -> Any:
    if isinstance(value, Mapping):
        return {
            name: _instructions(item, key if key in INSTRUCTIONS else name) for name, item in value.items()
        }
    if isinstance(value, list):
        return [_instructions(item, key) for item in value]
    if isinstance(value, str) and (key in INSTRUCTIONS or len(value) > LONGEST):
        return CUT
    return value


def _blank(value: Any) -> Any:
    """The same shape without a word; of a list, the first item."""
    if isinstance(value, Mapping):
        return {name: _blank(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_blank(item) for item in value[:1]]
    return CUT if isinstance(value, str) else value
