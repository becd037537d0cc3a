"""Rows of transcripts for tests, written by hand in the form of each agent."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from nightschool.core.ports import TranscriptSource
from nightschool.core.sessions import Offset, ReadResult, Session, TranscriptRef

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
CLAUDE_ID = "11111111-2222-4333-8444-555555555555"
CODEX_ID = "01a22adf-86b0-7b61-9f41-a96739857e9f"
CASES = Path(__file__).resolve().parents[2] / "shared" / "cases" / "transcripts"


def stamp(seconds: float) -> str:
    return (START + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")


def dumped(row: Mapping[str, Any]) -> bytes:
    return json.dumps(row, separators=(",", ":"), ensure_ascii=False).encode()


def write_rows(path: Path, rows: Iterable[Mapping[str, Any] | bytes]) -> Path:
    lines = (row if isinstance(row, bytes) else dumped(row) for row in rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def ref_of(source: TranscriptSource, path: Path) -> TranscriptRef:
    known = path.lstat()
    mtime = datetime.fromtimestamp(known.st_mtime, UTC)
    return TranscriptRef(source=source.name, path=str(path), size=known.st_size, mtime=mtime)


def read_file(source: TranscriptSource, path: Path, since: Offset | None = None) -> ReadResult:
    return source.read(ref_of(source, path), since)


def session_of(source: TranscriptSource, path: Path) -> Session:
    session = read_file(source, path).session
    assert session is not None
    return session


def claude(kind: str, number: int, content: object, **more: object) -> dict[str, Any]:
    """A row of Claude Code; `number` makes its uuid and its time."""
    return {
        "parentUuid": None,
        "isSidechain": False,
        "type": kind,
        "message": {"role": kind, "content": content},
        "uuid": f"row-{number}",
        "timestamp": stamp(number),
        "cwd": "/home/me/app",
        "sessionId": CLAUDE_ID,
        "version": "2.1.197",
        "gitBranch": "main",
        **more,
    }


def claude_call(number: int, name: str, **given: object) -> dict[str, Any]:
    block = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": given}
    return claude("assistant", number, [block])


def claude_result(number: int, call: int, text: str, *, error: bool = False) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": f"toolu_{call}", "content": text, "is_error": error}
    return claude("user", number, [block])


def codex(kind: str, number: float, **payload: object) -> dict[str, Any]:
    return {"timestamp": stamp(number), "type": kind, "payload": payload}


def codex_meta(number: float = 0, **more: object) -> dict[str, Any]:
    told = {
        "id": CODEX_ID,
        "cwd": "/home/me/app",
        "originator": "codex-tui",
        "cli_version": "0.171.0",
        "source": "vscode",
        "git": {"commit_hash": "5df6df6ead18f2ea62d18981fa5b475dd8739624", "branch": "main"},
    }
    return codex("session_meta", number, **{**told, **more})


def codex_prompt(number: float, text: str) -> dict[str, Any]:
    return codex("event_msg", number, type="user_message", message=text, images=[])


def codex_item(number: float, text: str, kind: str = "UserMessage") -> dict[str, Any]:
    item = {"type": kind, "id": f"item-{number}", "content": [{"type": "text", "text": text}]}
    return codex("event_msg", number, type="item_completed", thread_id=CODEX_ID, turn_id="t", item=item)


def codex_user_row(number: float, text: str) -> dict[str, Any]:
    content = [{"type": "input_text", "text": text}]
    return codex("response_item", number, type="message", role="user", content=content)


def codex_said(number: float, text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text}]
    return codex(
        "response_item", number, type="message", id=f"msg_{number}", role="assistant", content=content
    )


def codex_call(number: float, command: str) -> dict[str, Any]:
    arguments = json.dumps({"cmd": command})
    call = {"name": "exec_command", "arguments": arguments, "call_id": f"call_{number}"}
    return codex("response_item", number, type="function_call", **call)


def codex_output(number: float, call: float, output: object) -> dict[str, Any]:
    return codex("response_item", number, type="function_call_output", call_id=f"call_{call}", output=output)


def claude_rows_for(prompts: Sequence[str]) -> list[bytes]:
    rows = []
    for index, prompt in enumerate(prompts):
        rows.append(claude("user", 2 * index, prompt))
        rows.append(claude("assistant", 2 * index + 1, [{"type": "text", "text": f"On it: {index}"}]))
    return [dumped(row) for row in rows]


def codex_rows_for(prompts: Sequence[str]) -> list[bytes]:
    rows = [codex_meta()]
    for index, prompt in enumerate(prompts):
        rows += [
            codex_user_row(index, prompt),
            codex_item(index, prompt),
            codex_said(index, f"On it: {index}"),
        ]
    return [dumped(row) for row in rows]


PI_ID = "019e19b4-eb48-746a-aa6b-8dfcfa37954b"


def pi(
    number: int, role: str, content: object, *, parent: int | None = None, **more: object
) -> dict[str, Any]:
    """A message of pi; `number` makes its id and its time, and the one before is its parent."""
    before = number - 1 if parent is None else parent
    return {
        "type": "message",
        "id": f"{number:08x}",
        "parentId": f"{before:08x}" if before >= 0 else None,
        "timestamp": stamp(number),
        "message": {"role": role, "content": content, "timestamp": 1772355600000 + 1000 * number, **more},
    }


def pi_head(**more: object) -> dict[str, Any]:
    return {
        "type": "session",
        "version": 3,
        "id": PI_ID,
        "timestamp": stamp(0),
        "cwd": "/home/me/app",
        **more,
    }


def pi_said(number: int, text: str, *, stop: str = "stop") -> dict[str, Any]:
    return pi(number, "assistant", [{"type": "text", "text": text}], model="m-1", stopReason=stop)


def pi_rows_for(prompts: Sequence[str]) -> list[bytes]:
    rows = [pi_head()]
    for number, prompt in enumerate(prompts):
        rows += [
            pi(2 * number, "user", [{"type": "text", "text": prompt}]),
            pi_said(2 * number + 1, "Done."),
        ]
    return [dumped(row) for row in rows]


COPILOT_ID = "c8963ad7-e7b1-414c-a9fc-930905e76708"


def copilot(number: int, kind: str, **told: object) -> dict[str, Any]:
    """An event of Copilot CLI; `number` makes its id and its time."""
    return {"type": kind, "data": told, "id": f"event-{number}", "timestamp": stamp(number), "parentId": None}


def copilot_start(**more: object) -> dict[str, Any]:
    context = {
        "cwd": "/home/me/app",
        "branch": "main",
        "headCommit": "5df6df6ead18f2ea62d18981fa5b475dd8739624",
    }
    told = {"sessionId": COPILOT_ID, "copilotVersion": "1.0.77", "selectedModel": "m-1", "context": context}
    return copilot(0, "session.start", **{**told, **more})


def copilot_rows_for(prompts: Sequence[str]) -> list[bytes]:
    rows = [copilot_start()]
    for number, prompt in enumerate(prompts):
        rows += [
            copilot(2 * number + 1, "user.message", content=prompt, attachments=[]),
            copilot(2 * number + 2, "assistant.message", content="Done.", toolRequests=[]),
        ]
    return [dumped(row) for row in rows]


def cursor(role: str, *blocks: object) -> dict[str, Any]:
    """A row of Cursor: who speaks, and in which blocks. A text is a block of text."""
    content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    return {"role": role, "message": {"content": content}}


def cursor_rows_for(prompts: Sequence[str]) -> list[bytes]:
    said = [
        (cursor("user", f"<user_query>\n{prompt}\n</user_query>"), cursor("assistant", "Done."))
        for prompt in prompts
    ]
    return [dumped(row) for pair in said for row in pair]


GEMINI_HEAD = {"sessionId": "g-1", "projectHash": "ab", "startTime": stamp(0), "lastUpdated": stamp(9)}


def gemini(number: int, kind: str, content: object, **more: object) -> dict[str, Any]:
    """A message of Gemini CLI; `number` makes its id and its time."""
    return {"id": f"m-{number}", "timestamp": stamp(number), "type": kind, "content": content, **more}


def gemini_rows_for(prompts: Sequence[str]) -> list[bytes]:
    rows: list[dict[str, Any]] = [GEMINI_HEAD]
    for number, prompt in enumerate(prompts):
        rows += [gemini(2 * number, "user", [{"text": prompt}]), gemini(2 * number + 1, "gemini", "Done.")]
    return [dumped(row) for row in rows]


VSCODE_ID = "0fb1b9c7-9892-48c1-996a-b6de7726603c"


def vscode_request(number: int, text: str, *parts: object, **more: object) -> dict[str, Any]:
    """A request of VS Code's chat with the reply to it; `number` makes its id and its time. A text is
    markdown."""
    return {
        "requestId": f"request_{number}",
        "timestamp": 1772355600000 + 1000 * number,
        "message": {"text": text, "parts": []},
        "response": [{"value": part} if isinstance(part, str) else part for part in parts],
        "agent": {"id": "github.copilot.editsAgent", "extensionVersion": "0.38.0"},
        "modelId": "copilot/m-1",
        **more,
    }


def vscode_chat(*requests: object, **more: object) -> dict[str, Any]:
    told = {"version": 3, "sessionId": VSCODE_ID, "creationDate": 1772355600000, "requests": list(requests)}
    return {**told, **more}


def vscode_log(*operations: tuple[int, Sequence[object], object]) -> list[dict[str, Any]]:
    """A log that begins with a chat without requests; operations are (kind, path, value)."""
    changes = [{"kind": kind, "k": list(path), "v": value} for kind, path, value in operations]
    return [{"kind": 0, "v": vscode_chat()}, *changes]
