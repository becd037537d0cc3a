"""A small transcript of each source in each of its forms, with a value in every field that it has.

`SAMPLES` has one of every source that is installed: a test that goes over all sources begins here.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from nightschool.adapters.record_tables import record_of, row_of
from nightschool.core.ports import Redact, TranscriptSource
from nightschool.core.sessions import ReadResult, Roots, RowFate
from transcripts import (
    CLAUDE_ID,
    CODEX_ID,
    PI_ID,
    claude,
    codex,
    copilot,
    copilot_start,
    cursor,
    pi,
    pi_head,
    stamp,
    vscode_log,
    vscode_request,
)

CLAUDE_ROWS: Sequence[Mapping[str, Any]] = (
    {"type": "summary", "leafUuid": "x", "summary": "s"},
    claude("user", 1, "Fix the total", entrypoint="cli", promptSource="typed", origin={"kind": "human"}),
    claude(
        "assistant",
        2,
        [
            {"type": "text", "text": "ok"},
            {"type": "tool_use", "id": "toolu_2", "name": "Bash", "input": {"command": "ls", "n": 3}},
            {
                "type": "tool_use",
                "id": "toolu_3",
                "name": "Write",
                "input": {"file_path": "/a", "patch": "x"},
            },
            {"type": "tool_use", "id": "toolu_9", "name": "Skill", "input": {"skill": "s"}},
        ],
    ),
    claude(
        "user",
        3,
        [
            {
                "type": "tool_result",
                "tool_use_id": "toolu_2",
                "content": [{"type": "text", "text": "Exit code 1"}],
                "is_error": True,
            }
        ],
    ),
    {
        "type": "attachment",
        "attachment": {
            "type": "queued_command",
            "prompt": [{"type": "text", "text": "No, use uv, not pip"}],
            "commandMode": "prompt",
            "origin": {"kind": "human"},
            "source_uuid": "u7",
        },
        "uuid": "row-4",
        "timestamp": stamp(4),
        "sessionId": CLAUDE_ID,
    },
    claude("user", 5, [{"type": "text", "text": "No, use uv, not pip"}, {"type": "image"}]),
    claude("user", 6, "[Request interrupted by user]"),
)
CODEX_ROWS: Sequence[Mapping[str, Any]] = (
    codex(
        "session_meta",
        0,
        id=CODEX_ID,
        cwd="/home/me/app",
        cli_version="0.171.0",
        source="vscode",
        git={"branch": "main", "commit_hash": "a" * 40},
    ),
    codex("turn_context", 1, cwd="/home/me/app", model="gpt"),
    codex("event_msg", 2, type="user_message", message="Fix it", images=[]),
    codex(
        "event_msg",
        2.5,
        type="item_completed",
        item={
            "type": "UserMessage",
            "id": "i1",
            "content": [{"type": "text", "text": "No, use uv, not pip"}],
        },
    ),
    codex(
        "response_item",
        3,
        type="message",
        role="assistant",
        content=[{"type": "output_text", "text": "ok"}],
        id="m",
    ),
    codex("response_item", 4, type="function_call", name="exec", call_id="c1", arguments='{"cmd":"ls"}'),
    codex("response_item", 5, type="function_call_output", call_id="c1", output="Exit code: 1"),
    codex("response_item", 6, type="custom_tool_call", name="exec", call_id="c2", input='x({cmd: "ls"})'),
    codex(
        "response_item",
        7,
        type="custom_tool_call_output",
        call_id="c2",
        output=[{"type": "text", "text": '{"exit_code": 2}'}],
    ),
    codex("event_msg", 8, type="turn_aborted", reason="interrupted"),
    codex("session_meta", 10, id="other", cwd="/x"),
)
PI_CALL = {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "ls", "n": 3}}
PI_ROWS: Sequence[Mapping[str, Any]] = (
    pi_head(),
    {"type": "model_change", "id": "a", "parentId": None, "timestamp": stamp(1), "modelId": "m"},
    pi(1, "user", [{"type": "text", "text": "Fix the total"}]),
    pi(2, "assistant", [{"type": "text", "text": "ok"}, PI_CALL], model="m", stopReason="aborted"),
    pi(3, "toolResult", [{"type": "text", "text": "no"}], toolCallId="c1", isError=True),
    pi(4, "user", "No, use uv, not pip", parent=2),
    pi(5, "bashExecution", "", command="ls"),
)
COPILOT_CALLS = [{"toolCallId": "c1", "name": "bash", "arguments": '{"command":"ls"}'}]
COPILOT_ROWS: Sequence[Mapping[str, Any]] = (
    copilot_start(),
    copilot(1, "user.message", content="Fix the total", source="user"),
    copilot(2, "assistant.message", content="ok", toolRequests=COPILOT_CALLS, model="m"),
    copilot(3, "tool.execution_complete", toolCallId="c1", success=True, result={"content": "no"}),
    copilot(
        4, "tool.execution_complete", toolCallId="c1", success=False, error={"message": "x", "code": "y"}
    ),
    copilot(5, "abort", reason="user"),
    copilot(6, "skill.invoked", name="s"),
    copilot(7, "user.message", content="No, use uv, not pip"),
)
CURSOR_ROWS: Sequence[Mapping[str, Any]] = (
    cursor("user", "<user_query>Fix the total</user_query>"),
    cursor("assistant", "ok", {"type": "tool_use", "id": "c1", "name": "Shell", "input": {"command": "ls"}}),
    cursor("user", {"type": "tool_result", "content": "no"}),
    cursor("user", "No, use uv, not pip"),
)
GEMINI_CALL = {
    "id": "c1",
    "name": "run_shell_command",
    "args": {"command": "ls"},
    "status": "error",
    "result": [{"functionResponse": {"response": {"error": "no"}}}],
}
GEMINI_ROWS: Sequence[Mapping[str, Any]] = (
    {"sessionId": "g-1", "projectHash": "ab", "startTime": stamp(0), "kind": "main"},
    {"id": "m1", "timestamp": stamp(1), "type": "user", "content": [{"text": "Fix the total"}]},
    {
        "id": "m2",
        "timestamp": stamp(2),
        "type": "gemini",
        "content": "ok",
        "toolCalls": [GEMINI_CALL],
        "model": "m",
    },
    {"$set": {"lastUpdated": stamp(3), "messages": [{"id": "m2", "type": "gemini", "content": "ok"}]}},
    {"id": "m3", "timestamp": stamp(3), "type": "user", "content": "x"},
    {"$rewindTo": "m3"},
    {"id": "m4", "timestamp": stamp(4), "type": "info", "content": "Request cancelled."},
    {"id": "m5", "timestamp": stamp(5), "type": "user", "content": "No, use uv, not pip"},
)
VSCODE_CALL = {
    "kind": "toolInvocationSerialized",
    "toolId": "run_in_terminal",
    "toolCallId": "c1",
    "isConfirmed": {"type": 4},
    "isComplete": True,
    "toolSpecificData": {
        "commandLine": {"original": "ls"},
        "terminalCommandOutput": {"text": "no"},
        "terminalCommandState": {"exitCode": 1},
    },
    "resultDetails": {"isError": True, "input": "{}", "output": [{"value": "x"}]},
}
VSCODE_ASKED = {
    "toolCallRounds": [{"toolCalls": [{"id": "c2", "name": "n", "arguments": "{}"}]}],
    "toolCallResults": {"c2": {"content": [{"value": "no"}]}},
}
VSCODE_ROWS: Sequence[Mapping[str, Any]] = (
    *vscode_log((2, ["requests"], [vscode_request(1, "Fix the total", "ok", VSCODE_CALL)])),
    *vscode_log((2, ["requests", 0, "response"], [{**VSCODE_CALL, "toolCallId": "c2"}]))[1:],
    *vscode_log((1, ["requests", 0, "result"], {"metadata": VSCODE_ASKED}))[1:],
    {"kind": 2, "k": ["requests"], "i": 1, "v": [vscode_request(2, "No, use uv, not pip")]},
    *vscode_log((1, ["requests", 1, "modelState"], {"value": 2, "completedAt": 1}))[1:],
)
_AT = 1_772_355_600_000
OPENCODE_TABLES = """
create table session (id text primary key, parent_id text, directory text, version text, revert text,
    permission text, time_created integer, time_updated integer);
create table message (id text, session_id text, time_created integer, time_updated integer, data text);
create table part (id text, message_id text, session_id text, time_created integer, time_updated integer,
    data text);
"""
_OPENCODE_CALL = {
    "type": "tool",
    "tool": "bash",
    "callID": "call_1",
    "state": {"status": "completed", "input": {"command": "ls"}, "output": "no", "metadata": {"exit": 2}},
}
_OPENCODE_TEXT = {"type": "text", "text": "No, use uv, not pip"}


def _stored(table: str, own: str, data: Mapping[str, Any], **more: object) -> dict[str, Any]:
    """A row of a table; its columns of JSON are objects here."""
    return {"$table": table, "id": own, **more, "time_created": _AT, "time_updated": _AT, "data": data}


OPENCODE_ROWS: Sequence[Mapping[str, Any]] = (
    {
        "$table": "session",
        "id": "ses_1",
        "parent_id": None,
        "directory": "/home/me/app",
        "version": "1.18.33",
        "revert": {"messageID": "msg_9"},
        "permission": [{"permission": "edit", "action": "deny"}],
        "time_created": _AT,
        "time_updated": _AT,
    },
    _stored("message", "msg_1", {"role": "user", "time": {"created": _AT}}, session_id="ses_1"),
    _stored("part", "prt_1", {"type": "text", "text": "Fix it"}, message_id="msg_1", session_id="ses_1"),
    _stored(
        "message", "msg_2", {"role": "assistant", "modelID": "m", "error": {"name": "x"}}, session_id="ses_1"
    ),
    _stored("part", "prt_2", {"type": "text", "text": "ok"}, message_id="msg_2", session_id="ses_1"),
    _stored("part", "prt_3", _OPENCODE_CALL, message_id="msg_2", session_id="ses_1"),
    _stored("message", "msg_3", {"role": "user", "time": {"created": _AT + 1}}, session_id="ses_1"),
    _stored("part", "prt_4", _OPENCODE_TEXT, message_id="msg_3", session_id="ses_1"),
)
OPENCODE_FILES: Sequence[Mapping[str, Any]] = (
    {"id": "ses_1", "projectID": "p", "directory": "/home/me/app", "version": "1.1", "parentID": None},
    {"id": "msg_1", "sessionID": "ses_1", "role": "user", "time": {"created": _AT}},
    {"id": "prt_1", "messageID": "msg_1", "sessionID": "ses_1", "type": "text", "text": "Fix it"},
    {"id": "msg_2", "sessionID": "ses_1", "role": "assistant", "modelID": "m", "time": {"created": _AT + 1}},
    {"id": "prt_2", "messageID": "msg_2", "sessionID": "ses_1", **_OPENCODE_CALL},
    {"id": "msg_3", "sessionID": "ses_1", "role": "user", "time": {"created": _AT + 2}},
    {"id": "prt_3", "messageID": "msg_3", "sessionID": "ses_1", **_OPENCODE_TEXT},
)
_PLACES = (
    "session/p/ses_1",
    "message/ses_1/msg_1",
    "part/msg_1/prt_1",
    "message/ses_1/msg_2",
    "part/msg_2/prt_2",
    "message/ses_1/msg_3",
    "part/msg_3/prt_3",
)
GEMINI_DOCUMENT: Sequence[Mapping[str, Any]] = (
    {
        "sessionId": "g-1",
        "projectHash": "ab",
        "startTime": stamp(0),
        "lastUpdated": stamp(5),
        "messages": [row for row in GEMINI_ROWS if "type" in row],
    },
)
AIDER_ROWS: Sequence[Mapping[str, Any]] = (
    {
        "chat": "2026-03-01 09:00:00",
        "notes": ["/usr/bin/aider --model m-1", "Aider v0.86.2", "Model: m-1 with diff"],
    },
    {"prompt": "Fix it", "typed": "2026-03-01 09:00:05"},
    {"reply": "On it.", "notes": ["Applied edit to a.py", "Run shell command? (Y)es/(N)o [Yes]: n", "make"]},
    {"prompt": "No, use uv, not pip", "typed": "2026-03-01 09:00:09"},
)
Lay = Callable[[Path, Sequence[Any]], Path]


def _lines(name: str) -> Lay:
    def lay(folder: Path, rows: Sequence[Any]) -> Path:
        path = folder / name
        path.write_bytes(b"".join(json.dumps(row, separators=(",", ":")).encode() + b"\n" for row in rows))
        return path

    return lay


def _document(folder: Path, rows: Sequence[Any]) -> Path:
    path = folder / "session-1.json"
    path.write_text(json.dumps(rows[0]), encoding="utf-8")
    return path


def _database(folder: Path, rows: Sequence[Any]) -> Path:
    path = folder / "opencode.db"
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    connection.executescript(f"pragma synchronous=off; pragma journal_mode=memory; {OPENCODE_TABLES}")
    for row in rows:
        told = dict(row) if isinstance(row, dict) else {}
        table = told.pop("$table", None)
        if table not in {"session", "message", "part"}:
            continue
        columns = {key: _column(value) for key, value in told.items()}
        signs = ", ".join("?" * len(columns))
        into = f"insert into {table} ({', '.join(columns)}) values ({signs})"  # noqa: S608 - names of ours
        connection.execute(into, tuple(columns.values()))
    connection.commit()
    connection.close()
    return path


def _column(value: object) -> object:
    plain = value is None or (isinstance(value, str | int | float) and not isinstance(value, bool))
    return value if plain else json.dumps(value)


def _tree(folder: Path, rows: Sequence[Any]) -> Path:
    root = folder / "storage"
    for place, row in zip(_PLACES, rows, strict=True):
        path = root / f"{place}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(row), encoding="utf-8")
    return root / f"{_PLACES[0]}.json"


def _chats(folder: Path, rows: Sequence[Any]) -> Path:
    said, typed = [], []
    for row in rows:
        told = row if isinstance(row, dict) else {"reply": row}
        said += [f"\n# aider chat started at {told['chat']}\n\n"] if "chat" in told else []
        if "prompt" in told:
            said.append("\n" + "".join(f"#### {line}  \n" for line in str(told["prompt"]).split("\n")))
            entry = "".join(f"+{line}\n" for line in str(told["prompt"]).split("\n"))
            typed.append(f"\n# {told.get('typed')}.000001\n{entry}")
        said += [f"\n{told['reply']}\n\n"] if "reply" in told else []
        notes = told.get("notes", [])
        said += [
            f"> {line}  \n"
            for note in (notes if isinstance(notes, list) else [notes])
            for line in str(note).split("\n")
        ]
    (folder / ".aider.input.history").write_text("".join(typed), encoding="utf-8")
    path = folder / ".aider.chat.history.md"
    path.write_text("".join(said), encoding="utf-8")
    return path


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The rows of a transcript, and how they are laid where the source finds them."""

    source: str
    form: str
    rows: Sequence[Mapping[str, Any]]
    lay: Lay
    of_lines: bool = False
    """Whether each row is a line of one file."""


SAMPLES: tuple[Sample, ...] = (
    Sample(source="aider", form="chats", rows=AIDER_ROWS, lay=_chats),
    Sample(
        source="claude-code",
        form="session",
        rows=CLAUDE_ROWS,
        lay=_lines(f"{CLAUDE_ID}.jsonl"),
        of_lines=True,
    ),
    Sample(
        source="claude-code", form="sub-agent", rows=CLAUDE_ROWS, lay=_lines("agent-1.jsonl"), of_lines=True
    ),
    Sample(
        source="codex",
        form="rollout",
        rows=CODEX_ROWS,
        lay=_lines(f"rollout-2026-03-01T09-00-00-{CODEX_ID}.jsonl"),
        of_lines=True,
    ),
    Sample(source="copilot", form="events", rows=COPILOT_ROWS, lay=_lines("events.jsonl"), of_lines=True),
    Sample(source="cursor", form="transcript", rows=CURSOR_ROWS, lay=_lines("odd.jsonl"), of_lines=True),
    Sample(source="gemini", form="journal", rows=GEMINI_ROWS, lay=_lines("session-1.jsonl"), of_lines=True),
    Sample(source="gemini", form="document", rows=GEMINI_DOCUMENT, lay=_document),
    Sample(source="opencode", form="database", rows=OPENCODE_ROWS, lay=_database),
    Sample(source="opencode", form="tree", rows=OPENCODE_FILES, lay=_tree),
    Sample(source="pi", form="session", rows=PI_ROWS, lay=_lines(f"2026-03-01_{PI_ID}.jsonl"), of_lines=True),
    Sample(source="vscode-copilot", form="log", rows=VSCODE_ROWS, lay=_lines("x.jsonl")),
)


@cache
def _installed() -> tuple[tuple[str, Any], ...]:
    return tuple((point.name, point.load()) for point in entry_points(group="nightschool.sources"))


def sources(redact: Redact) -> dict[str, TranscriptSource]:
    """All that are installed, by name."""
    return {name: make(redact=redact) for name, make in _installed()}


def read_all(source: TranscriptSource, path: Path) -> tuple[list[ReadResult], list[RowFate]]:
    """What a path gives that a person named, and what is told of its rows."""
    told: list[RowFate] = []
    refs = list(source.discover(Roots(home="/nowhere", explicit=(str(path),))))
    return [source.read(ref, None, told=told.append) for ref in refs], told


def places(value: object, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each field in a row, the row itself first."""
    yield before
    inner: Iterator[tuple[Any, Any]] = iter(())
    if isinstance(value, dict):
        inner = iter(value.items())
    elif isinstance(value, list):
        inner = iter(enumerate(value))
    for key, item in inner:
        yield from places(item, (*before, key))


def replaced(value: Any, place: tuple[Any, ...], new: object) -> Any:
    if not place:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[place[0]] = replaced(copy[place[0]], place[1:], new)
    return copy


def storable(result: ReadResult) -> str:
    """What the store would hold of it; raises what the store would raise."""
    bodies: list[str] = []
    for record in (result.session, result.offset):
        if record is not None:
            row = row_of(record)
            bodies.append(f"{row['id']} {row['body']}")
            assert record_of(type(record), str(row["body"])) == record
    return "\n".join(bodies)


def with_each_field(rows: Sequence[Mapping[str, Any]], new: object) -> Iterator[list[Any]]:
    for index, row in enumerate(rows):
        for place in places(row):
            yield [*rows[:index], replaced(row, place, new), *rows[index + 1 :]]
