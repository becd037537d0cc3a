"""A session of each source, laid down as its agent would: what `check_source` needs of it.

A source that is declared in pyproject.toml has its sample here.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from nightschool.testing.conformance.source import Sample, lines
from transcripts import (
    CLAUDE_ID,
    CODEX_ID,
    COPILOT_ID,
    PI_ID,
    claude_rows_for,
    codex_rows_for,
    copilot_rows_for,
    cursor_rows_for,
    dumped,
    gemini_rows_for,
    pi_rows_for,
    vscode_chat,
    vscode_log,
    vscode_request,
)

AT = 1_772_355_600_000
OPENCODE_SCHEMA = """
create table session (id text primary key, parent_id text, directory text, version text, revert text,
    permission text,
    time_created integer, time_updated integer);
create table message (id text, session_id text, time_created integer, time_updated integer, data text);
create table part (id text, message_id text, session_id text, time_created integer, time_updated integer,
    data text);
"""
COPILOT_SCHEMA = """
create table if not exists sessions (id text primary key, cwd text, repository text, branch text,
    created_at text, updated_at text);
create table if not exists turns (session_id text, turn_index integer, user_message text,
    assistant_response text, timestamp text);
"""
Spoiled = Sequence[tuple[Path, int | None]]


def _document(path: Path, prompts: Sequence[str]) -> None:
    head, *messages = (json.loads(row) for row in gemini_rows_for(prompts))
    path.write_bytes(dumped({**head, "messages": messages}))


def _document_spoiled(path: Path) -> Spoiled:
    document = json.loads(path.read_bytes())
    document["messages"] = ["x", *document["messages"], 7]
    path.write_bytes(dumped(document))
    return [(path, 1), (path, len(document["messages"]))]


def _opencode(prompts: Sequence[str]) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Id, message and its one part: a person asks, the agent answers."""
    for number, prompt in enumerate(prompts):
        for role, text in (("user", prompt), ("assistant", "Done.")):
            at = AT + 2000 * number + 1000 * (role == "assistant")
            yield f"msg_{at}", {"role": role, "time": {"created": at}}, {"type": "text", "text": text}


def _tree(path: Path, prompts: Sequence[str]) -> None:
    root = path.parents[2]
    files: dict[Path, Mapping[str, Any]] = {
        path: {"id": path.stem, "projectID": "p", "directory": "/home/me/app", "version": "1.1.0"}
    }
    for own, message, part in _opencode(prompts):
        files[root / "message" / path.stem / f"{own}.json"] = {**message, "id": own}
        files[root / "part" / own / "prt_1.json"] = {**part, "id": "prt_1", "messageID": own}
    for file, value in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(dumped(value))


def _tree_spoiled(path: Path) -> Spoiled:
    """A message that is cut, a part that is none, a folder's place that is taken."""
    root = path.parents[2]
    first, second, *_ = sorted((root / "message" / path.stem).iterdir())
    message, part = first.with_name("msg_0.json"), root / "part" / first.stem / "prt_2.json"
    folder = root / "part" / second.stem
    (folder / "prt_1.json").unlink()
    folder.rmdir()
    message.write_bytes(b'{"id": "msg_0", "role"')
    part.write_bytes(b"7")
    folder.write_bytes(b"")
    return [(message, 0), (part, 0), (folder, None)]


def _database(path: Path, prompts: Sequence[str]) -> None:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(OPENCODE_SCHEMA)
        connection.execute(
            "insert into session values ('ses_1', null, '/home/me/app', '1.18.33', null, null, ?, ?)",
            (AT, AT + len(prompts)),
        )
        for own, message, part in _opencode(prompts):
            at = message["time"]["created"]
            connection.execute(
                "insert into message values (?, 'ses_1', ?, ?, ?)", (own, at, at, json.dumps(message))
            )
            connection.execute(
                "insert into part values (?, ?, 'ses_1', ?, ?, ?)",
                (f"prt_{at}", own, at, at, json.dumps(part)),
            )
        connection.commit()


def _database_spoiled(path: Path) -> Spoiled:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("insert into message values ('msg_0', 'ses_1', 0, 0, '{')")
        connection.execute("insert into part values ('prt_0', 'msg_0', 'ses_1', 0, 0, cast(x'ff' as text))")
        connection.execute("update session set permission = '{'")
        connection.commit()
    return [(path, None)] * 3


def _store(path: Path, prompts: Sequence[str]) -> None:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(COPILOT_SCHEMA)
        at = "2026-03-01T09:00:00Z"
        head = (COPILOT_ID, "/home/me/app", "me/app", "main", at, f"2026-03-01T09:0{len(prompts)}:00Z")
        connection.execute("insert into sessions values (?, ?, ?, ?, ?, ?)", head)
        for number, prompt in enumerate(prompts):
            turn = (COPILOT_ID, number, prompt, "Done.", at)
            connection.execute("insert into turns values (?, ?, ?, ?, ?)", turn)
        connection.commit()


def _store_spoiled(path: Path) -> Spoiled:
    """A turn without words is one that nobody spoke: a table holds no halves of records."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("insert into turns values (?, 9, null, 7, x'ff')", (COPILOT_ID,))
        connection.commit()
    return []


def _chat(path: Path, prompts: Sequence[str]) -> None:
    asked = "".join(f"\n#### {prompt}  \n\nDone.\n\n" for prompt in prompts)
    path.write_text(f"\n# aider chat started at 2026-03-01 09:00:00\n\n> Aider v0.86.2  \n{asked}", "utf-8")


def _chat_spoiled(path: Path) -> Spoiled:
    """What was typed stands beside the chat."""
    typed = path.with_name(".aider.input.history")
    typed.mkdir()
    return [(typed, None)]


def _vscode_requests(prompts: Sequence[str]) -> list[dict[str, Any]]:
    return [vscode_request(number, prompt, "Done.") for number, prompt in enumerate(prompts)]


def _vscode_chat(path: Path, prompts: Sequence[str]) -> None:
    path.write_bytes(dumped(vscode_chat(*_vscode_requests(prompts))))


def _vscode_chat_spoiled(path: Path) -> Spoiled:
    chat = json.loads(path.read_bytes())
    chat["requests"] = ["x", *chat["requests"], 7]
    path.write_bytes(dumped(chat))
    workspace = path.parent.parent / "workspace.json"
    workspace.write_text("[")
    return [(path, 1), (path, len(chat["requests"])), (workspace, 0)]


def _vscode_rows_for(prompts: Sequence[str]) -> list[bytes]:
    pushes = ((2, ["requests"], [request]) for request in _vscode_requests(prompts))
    return [dumped(row) for row in vscode_log(*pushes)]


_OF_WORKSPACE = ".config/Code/User/workspaceStorage/ab/chatSessions"
_OF_NO_FOLDER = ".config/Code - Insiders/User/globalStorage/emptyWindowChatSessions"

SAMPLES: Mapping[str, Mapping[str, Sample]] = {
    "aider": {"chats": Sample(place=".aider.chat.history.md", write=_chat, spoil=_chat_spoiled)},
    "claude-code": {"lines": lines(f".claude/projects/-home-me-app/{CLAUDE_ID}.jsonl", claude_rows_for)},
    "codex": {
        "lines": lines(
            f".codex/sessions/2026/03/01/rollout-2026-03-01T09-00-00-{CODEX_ID}.jsonl", codex_rows_for
        ),
        "archived": lines(f".codex/archived_sessions/rollout-x-{CODEX_ID}.jsonl", codex_rows_for),
    },
    "copilot": {
        "lines": lines(f".copilot/session-state/{COPILOT_ID}/events.jsonl", copilot_rows_for),
        "database": Sample(place=".copilot/session-store.db", write=_store, spoil=_store_spoiled),
    },
    "cursor": {"lines": lines(".cursor/projects/home-me-app/agent-transcripts/a/a.jsonl", cursor_rows_for)},
    "gemini": {
        "documents": Sample(
            place=".gemini/tmp/app/chats/session-1.json", write=_document, spoil=_document_spoiled
        ),
        "lines": lines(".gemini/tmp/app/chats/session-1.jsonl", gemini_rows_for),
    },
    "opencode": {
        "database": Sample(
            place=".local/share/opencode/opencode.db", write=_database, spoil=_database_spoiled
        ),
        "tree": Sample(
            place=".local/share/opencode/storage/session/p/ses_1.json", write=_tree, spoil=_tree_spoiled
        ),
    },
    "pi": {"lines": lines(f".pi/agent/sessions/--home-me-app--/x_{PI_ID}.jsonl", pi_rows_for)},
    "vscode-copilot": {
        "documents": Sample(place=f"{_OF_WORKSPACE}/x.json", write=_vscode_chat, spoil=_vscode_chat_spoiled),
        "lines": lines(f"{_OF_NO_FOLDER}/x.jsonl", _vscode_rows_for),
    },
}
