"""Transcripts in which nothing is as it should be: what a field holds never stops a harvest."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from nightschool.adapters.claude_code.transcripts import ClaudeCodeTranscripts
from nightschool.adapters.codex.transcripts import CodexTranscripts
from nightschool.adapters.copilot.transcripts import CopilotTranscripts
from nightschool.adapters.cursor.transcripts import CursorTranscripts
from nightschool.adapters.gemini.transcripts import GeminiTranscripts
from nightschool.adapters.pi.transcripts import PiTranscripts
from nightschool.adapters.record_tables import record_of, row_of
from nightschool.adapters.rows import file_time
from nightschool.adapters.vscode_copilot.transcripts import VSCodeCopilotTranscripts
from nightschool.core.ports import TranscriptSource
from nightschool.core.sessions import Offset, ReadResult, Roots, Session
from nightschool.rules.corrections import corrections
from nightschool.rules.redaction import Redactor
from nightschool.rules.signals import signals
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
    read_file,
    stamp,
    vscode_log,
    vscode_request,
    write_rows,
)

SECRET = "sk-ant-api03-" + "Ab3dEf6hIj" * 9 + "AA"
REDACT = Redactor(b"k" * 32)
CLAUDE = ClaudeCodeTranscripts(redact=REDACT)
CODEX = CodexTranscripts(redact=REDACT)

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
FILES: Sequence[tuple[TranscriptSource, Sequence[Mapping[str, Any]], str]] = (
    (CLAUDE, CLAUDE_ROWS, f"{CLAUDE_ID}.jsonl"),
    (CLAUDE, CLAUDE_ROWS, "agent-1.jsonl"),
    (CODEX, CODEX_ROWS, f"rollout-2026-03-01T09-00-00-{CODEX_ID}.jsonl"),
    (CODEX, CODEX_ROWS, "odd.jsonl"),
    (PiTranscripts(redact=REDACT), PI_ROWS, f"2026-03-01_{PI_ID}.jsonl"),
    (CopilotTranscripts(redact=REDACT), COPILOT_ROWS, "events.jsonl"),
    (CursorTranscripts(redact=REDACT), CURSOR_ROWS, "odd.jsonl"),
    (GeminiTranscripts(redact=REDACT), GEMINI_ROWS, "session-1.jsonl"),
    (VSCodeCopilotTranscripts(redact=REDACT), VSCODE_ROWS, "x.jsonl"),
)
IN_ITS_PLACE: Sequence[object] = (
    None,
    float("nan"),
    10**30,
    "\ud800",
    "9" * 5000,
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59.999Z",
    [],
    {},
    [{"type": []}],
    [{"type": "text", "text": []}],
    {"kind": [], "type": {}},
)


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


@pytest.mark.parametrize(("source", "rows", "name"), FILES)
@pytest.mark.parametrize("new", IN_ITS_PLACE, ids=lambda new: repr(new)[:20])
def test_no_field_stops_a_harvest(
    source: TranscriptSource, rows: Sequence[Mapping[str, Any]], name: str, new: object, tmp_path: Path
) -> None:
    """Whatever stands in a field, of whatever type: the file is read, what it gives can be stored and
    mined. A line that several rows share, which another parser reads, is no different."""
    path = tmp_path / name
    for changed in with_each_field(rows, new):
        lines = [json.dumps(row, separators=(",", ":")).encode() for row in changed]
        for between in (b"\n", b"")[: 1 + isinstance(new, int | float)]:
            path.write_bytes(between.join(lines) + b"\n")
            result = read_file(source, path)
            storable(result)
            if result.session is not None:
                signals(result.session)
                corrections([result.session])
                again = read_file(source, path, result.offset).session
                assert again is not None
                assert result.session.extended(again).turns == result.session.turns


@pytest.mark.parametrize(("source", "rows", "name"), FILES)
def test_a_secret_is_stored_from_no_field(
    source: TranscriptSource, rows: Sequence[Mapping[str, Any]], name: str, tmp_path: Path
) -> None:
    """An id, a model, a branch, a tool's name: a secret that stands there is as secret as in a prompt."""
    for changed in with_each_field(rows, SECRET):
        result = read_file(source, write_rows(tmp_path / name, [json.dumps(row).encode() for row in changed]))
        assert SECRET not in storable(result)
        assert SECRET not in repr(result.left_out)


def test_a_secret_as_an_id_still_joins_call_and_result(tmp_path: Path) -> None:
    """The stand-in of an id is the same wherever it stands, so nothing comes apart."""
    call = {"type": "tool_use", "id": SECRET, "name": "Bash", "input": {"command": "ls"}}
    result = {"type": "tool_result", "tool_use_id": SECRET, "content": "a"}
    rows = [claude("assistant", 1, [call]), claude("user", 2, [result])]
    session = read_file(CLAUDE, write_rows(tmp_path / f"{CLAUDE_ID}.jsonl", rows)).session
    assert session is not None
    assert [(call.result, SECRET in call.call_id) for call in session.calls] == [("a", False)]


def test_an_endless_exit_code_is_none(tmp_path: Path) -> None:
    """More digits than Python turns into a number are no code, and stop nothing."""
    digits = "9" * 5000
    rows = [
        codex("session_meta", 0, id=CODEX_ID, cwd="/a", source="cli"),
        codex("response_item", 1, type="custom_tool_call", name="exec", call_id="c", input="x"),
        codex(
            "response_item",
            2,
            type="custom_tool_call_output",
            call_id="c",
            output=f'{{"exit_code": {digits}}}',
        ),
    ]
    session = read_file(CODEX, write_rows(tmp_path / "x.jsonl", rows)).session
    assert session is not None
    assert [call.exit_code for call in session.calls] == [None]


def test_a_fork_at_the_end_of_time(tmp_path: Path) -> None:
    """A session that begins in the last second of the calendar has no second after it."""
    last = "9999-12-31T23:59:59.900000Z"
    rows = [
        {**codex("session_meta", 0, id=CODEX_ID, cwd="/a", source="cli"), "timestamp": last},
        {**codex("session_meta", 0, id="other", cwd="/a"), "timestamp": last},
        {**codex("event_msg", 0, type="user_message", message="copied"), "timestamp": last},
    ]
    session = read_file(CODEX, write_rows(tmp_path / "x.jsonl", rows)).session
    assert session is not None
    assert session.human_turns == ()


def test_a_byte_order_mark_costs_no_row(tmp_path: Path) -> None:
    """Some editors put one before the first row, which for Codex is the one that speaks of the session."""
    rows = [json.dumps(row).encode() for row in CODEX_ROWS]
    plain = read_file(CODEX, write_rows(tmp_path / "x.jsonl", rows)).session
    marked = read_file(
        CODEX, write_rows(tmp_path / "x.jsonl", [b"\xef\xbb\xbf" + rows[0], *rows[1:]])
    ).session
    assert plain is not None
    assert marked is not None
    assert (marked.id, marked.project, len(marked.turns)) == (plain.id, plain.project, len(plain.turns))
    assert marked.warnings == ()


@pytest.mark.skipif(os.uname().sysname == "Darwin", reason="its file systems refuse such names")
def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    """Bytes in a file's name that are no UTF-8 are told as escapes, and what is read can be stored."""
    folder = os.fsencode(tmp_path) + b"/a\xff"
    os.mkdir(folder)  # noqa: PTH102 - Path knows no bytes
    with open(folder + b"/b\xfe.jsonl", "wb") as file:  # noqa: PTH123 - a name in bytes
        file.write(json.dumps(CLAUDE_ROWS[1]).encode() + b"\n")
    (ref,) = CLAUDE.discover(Roots(home="/nowhere", explicit=(str(tmp_path),)))
    result = CLAUDE.read(ref, None)
    assert isinstance(result.offset, Offset)
    assert isinstance(result.session, Session)
    assert result.offset.id == ref.id
    assert result.session.path.endswith("/a\\xff/b\\xfe.jsonl")
    storable(result)


def test_a_file_from_beyond_the_calendar() -> None:
    """A file whose time no calendar holds (some file systems keep such) has the nearest that it does."""
    assert [file_time(seconds).year for seconds in (-(2.0**40), 0.0, 2.0**40, 2.0**62)] == [
        1970,
        1970,
        9999,
        9999,
    ]
