"""A person with a skill, who corrected the agent while it was loaded: the demo's sessions, changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

NAME = "ledger-paths"
HEAD = b'\xef\xbb\xbf---\r\nname: ledger-paths\r\ndescription: "Paths: all"\r\nx-odd: {a: [1]}\r\n---\r\n'
BODY = b"# Paths\r\n\r\nAll data lies in `data/`.\r\n"


def folder(project: Path) -> Path:
    return project / ".claude/skills" / NAME


def with_skill(project: Path, head: bytes = HEAD) -> Path:
    """The project has a skill with a script beside it."""
    there = folder(project)
    (there / "scripts").mkdir(parents=True)
    (there / "SKILL.md").write_bytes(head + BODY)
    (there / "SKILL.md").chmod(0o640)
    (there / "scripts/run.sh").write_text("#!/bin/sh\n")
    (there / "scripts/run.sh").chmod(0o755)
    return there / "SKILL.md"


def loading(person: Path, *names: str, only: str = "") -> None:
    """In each session, or each that holds a word, the skills are loaded right behind the first prompt."""
    for path in (person / ".claude/projects").rglob("*.jsonl"):
        if only not in path.read_text():
            continue
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        at = next(n for n, row in enumerate(rows) if row.get("type") == "user") + 1
        prompt = rows[at - 1]
        calls = [_loads(prompt, number, name) for number, name in enumerate(names)]
        path.write_text("".join(json.dumps(row) + "\n" for row in (*rows[:at], *calls, *rows[at:])))
    for path in (person / ".codex/sessions").rglob("*.jsonl"):
        if only not in path.read_text():
            continue
        lines = path.read_text().splitlines()
        rows = [json.loads(line) for line in lines]
        at = next(n for n, row in enumerate(rows) if row["payload"].get("type") == "function_call")
        reads = [_reads(rows[at]["timestamp"], number, name) for number, name in enumerate(names)]
        path.write_text("\n".join((*lines[:at], *map(json.dumps, reads), *lines[at:])) + "\n")


def _loads(prompt: dict[str, Any], number: int, name: str) -> dict[str, Any]:
    use = {"type": "tool_use", "id": f"toolu_skill{number}", "name": "Skill", "input": {"skill": name}}
    row = {**prompt, "type": "assistant", "uuid": f"{prompt['uuid']}-{number}", "origin": None}
    return {**row, "message": {"role": "assistant", "model": "m", "content": [use]}}


def _reads(at: str, number: int, name: str) -> dict[str, Any]:
    given = json.dumps({"cmd": f"cat .agents/skills/{name}/SKILL.md"})
    call = {"type": "function_call", "name": "exec_command", "call_id": f"skill{number}", "arguments": given}
    return {"timestamp": at, "type": "response_item", "payload": call}


def retold(person: Path, words: str) -> None:
    """In each session the person says these words where they spoke of os.path and pathlib."""
    for path in (*(person / ".claude/projects").rglob("*.jsonl"), *(person / ".codex").rglob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        path.write_text("".join(json.dumps(_retold(row, words)) + "\n" for row in rows))


def _retold(row: dict[str, Any], words: str) -> dict[str, Any]:
    given = row.get("payload", row)
    spoken = given.get("type") in {"user", "user_message", "item_completed"} or given.get("role") == "user"
    changed: dict[str, Any] = _replaced(row, words) if spoken else row
    return changed


def _replaced(value: Any, words: str) -> Any:
    match value:
        case str() if len(value) < 80 and "os.path" in value and "pathlib" in value:
            return words
        case dict():
            return {key: _replaced(item, words) for key, item in value.items()}
        case list():
            return [_replaced(item, words) for item in value]
    return value
