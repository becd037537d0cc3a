"""Rows of each source with a value in every field that it has, as its agent writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from transcripts import (
    CLAUDE_ID,
    CODEX_ID,
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
PLACES = (
    "session/p/ses_1",
    "message/ses_1/msg_1",
    "part/msg_1/prt_1",
    "message/ses_1/msg_2",
    "part/msg_2/prt_2",
    "message/ses_1/msg_3",
    "part/msg_3/prt_3",
)
COPILOT_TABLES = """
create table sessions (id text, cwd text, branch text, created_at text, updated_at text);
create table turns (session_id text, turn_index integer, user_message text, assistant_response text,
    timestamp text);
"""
_COPILOT_ID = "c8963ad7-e7b1-414c-a9fc-930905e76708"
COPILOT_STORED: Sequence[Mapping[str, Any]] = (
    {
        "$table": "sessions",
        "id": _COPILOT_ID,
        "cwd": "/home/me/app",
        "branch": "main",
        "created_at": stamp(0),
        "updated_at": stamp(5),
    },
    *(
        {
            "$table": "turns",
            "session_id": _COPILOT_ID,
            "turn_index": number,
            "user_message": said,
            "assistant_response": "ok",
            "timestamp": stamp(number),
        }
        for number, said in enumerate(("Fix it", "No, use uv, not pip"))
    ),
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
