"""Copilot CLI's transcripts: each event counts once, and what a sub-agent did counts nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from corpus import counted, files_of
from nightschool.adapters.copilot.transcripts import CopilotTranscripts
from nightschool.core.sessions import CallStatus, Roots, Session, TranscriptRef
from samples import COPILOT_SCHEMA
from transcripts import (
    COPILOT_ID,
    copilot,
    copilot_rows_for,
    copilot_start,
    session_of,
    write_rows,
)

SOURCE = CopilotTranscripts(redact=lambda text: text)
FILES = files_of("copilot-cli")


def test_calls_and_what_came_of_them(tmp_path: Path) -> None:
    """Arguments come as an object or as the text of one; a person's no is no error; an abort interrupts."""
    asked = [
        {"toolCallId": "c1", "name": "bash", "arguments": '{"command": "make"}'},
        {"toolCallId": "c2", "name": "create", "arguments": {"path": "a.py", "file_text": "x"}},
        {"toolCallId": "c3", "name": "bash", "arguments": "{"},
        {"name": "bash"},
        7,
    ]
    rows = [
        copilot_start(),
        copilot(1, "user.message", content="go", transformedContent="go and more"),
        copilot(2, "assistant.message", content="", toolRequests=asked, model="m-2"),
        copilot(3, "tool.execution_start", toolCallId="c1", toolName="bash", arguments={}),
        copilot(4, "tool.execution_complete", toolCallId="c1", success=True, result={"content": "ok"}),
        copilot(5, "tool.execution_complete", toolCallId="c2", success=False, error={"message": "no"}),
        copilot(
            6,
            "tool.execution_complete",
            toolCallId="c3",
            success=False,
            error={"message": "The user rejected this tool call.", "code": "rejected"},
        ),
        copilot(7, "abort", reason="user initiated"),
        copilot(8, "user.message", content="put in", source="system"),
        copilot(9, "user.message", content="  "),
    ]
    session = session_of(SOURCE, write_rows(tmp_path / COPILOT_ID / "events.jsonl", rows))
    assert [turn.text for turn in session.human_turns] == ["go"]
    assert [call.status for call in session.calls] == [CallStatus.OK, CallStatus.ERROR, CallStatus.REFUSED]
    assert (session.calls[0].command, session.calls[1].files) == ("make", ("a.py",))
    assert session.turns[-1].interrupted
    assert (session.project, session.branch, session.agent_version) == ("/home/me/app", "main", "1.0.77")
    assert session.commit == "5df6df6ead18f2ea62d18981fa5b475dd8739624"
    assert session.turns[1].model == "m-2"


def test_a_sub_agents_doings_count_nothing(tmp_path: Path) -> None:
    """Its prompt was written by an agent, and its calls are within the one call of the parent."""
    rows = [
        copilot_start(),
        copilot(1, "user.message", content="go"),
        copilot(2, "assistant.message", content="", toolRequests=[{"toolCallId": "c1", "name": "task"}]),
        {**copilot(3, "user.message", content="find it"), "agentId": "a"},
        copilot(3, "user.message", content="find it", source="agent-a"),
        copilot(
            4,
            "assistant.message",
            content="Looking.",
            parentToolCallId="c1",
            toolRequests=[{"toolCallId": "c2", "name": "view"}],
        ),
    ]
    assert counted(session_of(SOURCE, write_rows(tmp_path / "x.jsonl", rows))) == ("1", "1", "0", "0")


def test_a_task_above_makes_no_sub_agent(tmp_path: Path) -> None:
    """Newer versions name one with every prompt, a person's too."""
    rows = [copilot_start(), copilot(1, "user.message", content="go", parentAgentTaskId="t")]
    assert counted(session_of(SOURCE, write_rows(tmp_path / "x.jsonl", rows))) == ("1", "0", "0", "0")


def test_a_no_stands_in_the_answer_to_the_question(tmp_path: Path) -> None:
    """Since 1.0 the failed call says only that it was denied; that a person did so, the answer says."""
    asked = [{"toolCallId": f"c{number}", "name": "bash"} for number in (1, 2)]
    denied = {"success": False, "error": {"code": "denied", "message": "denied"}}
    no = {"kind": "denied-interactively-by-user", "feedback": "not that"}
    rows = [
        copilot_start(),
        copilot(1, "assistant.message", content="", toolRequests=asked),
        copilot(2, "permission.completed", toolCallId="c1", result=no),
        copilot(3, "tool.execution_complete", toolCallId="c1", **denied),
        copilot(4, "permission.completed", toolCallId="c2", result={"kind": "denied-by-rules"}),
        copilot(5, "tool.execution_complete", toolCallId="c2", **denied),
    ]
    session = session_of(SOURCE, write_rows(tmp_path / "x.jsonl", rows))
    assert [(call.status.value, call.result) for call in session.calls] == [
        ("refused", "not that"),
        ("error", "denied"),
    ]


def test_a_command_that_failed_is_an_error(tmp_path: Path) -> None:
    """The tool itself succeeded in running it; how the command ended stands beside that."""
    asked = [{"toolCallId": f"c{code}", "name": "bash"} for code in (0, 2)]
    rows = [copilot_start(), copilot(1, "assistant.message", content="", toolRequests=asked)]
    rows += [
        copilot(
            2 + code,
            "tool.execution_complete",
            toolCallId=f"c{code}",
            success=True,
            result={"content": "x"},
            shellExecution={"exitCode": code},
        )
        for code in (0, 2)
    ]
    session = session_of(SOURCE, write_rows(tmp_path / "x.jsonl", rows))
    assert [(call.status.value, call.exit_code) for call in session.calls] == [("ok", 0), ("error", 2)]


def test_the_session_is_named_by_its_place(tmp_path: Path) -> None:
    """Where its first event is damaged: by the folder, before 1.0 by the file."""
    rows = [copilot(1, "user.message", content="go")]
    for place in (f"{COPILOT_ID}/events.jsonl", f"{COPILOT_ID}.jsonl"):
        assert session_of(SOURCE, write_rows(tmp_path / place, rows)).session_id == COPILOT_ID


def stored(
    home: Path, *turns: tuple[object, object], own: str = COPILOT_ID, changed: str | None = None
) -> Path:
    """The session's turns in the database of Copilot CLI."""
    path = home / ".copilot" / "session-store.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(COPILOT_SCHEMA)
        connection.execute("delete from turns where session_id = ?", (own,))
        head = (own, "/home/me/app", "me/app", "main", "2026-03-01T09:00:00.000Z", changed)
        connection.execute("insert or replace into sessions values (?, ?, ?, ?, ?, ?)", head)
        for number, (asked, said) in enumerate(turns):
            turn = (own, number, asked, said, f"2026-03-01 09:0{number}:00")
            connection.execute("insert into turns values (?, ?, ?, ?, ?)", turn)
        connection.commit()
    return path


def refs(home: Path) -> Sequence[TranscriptRef]:
    return list(SOURCE.discover(Roots(home=str(home))))


def words(session: Session) -> list[str]:
    return [turn.text for turn in session.human_turns]


def test_sessions_of_the_database(tmp_path: Path) -> None:
    """What was said stands there; a time without a zone is SQLite's, in UTC; only what changed looks so."""
    stored(tmp_path, ("go", "Done."), (None, "More."), ("on", None))
    stored(tmp_path, ("else", None), own="other", changed="2026-03-02T09:00:00Z")
    before = {ref.part: ref for ref in refs(tmp_path)}
    session = SOURCE.read(before[COPILOT_ID], None).session
    assert session is not None
    assert [turn.text for turn in session.turns] == ["go", "Done.\n\nMore.", "on"]
    assert (session.session_id, session.project, session.branch) == (COPILOT_ID, "/home/me/app", "main")
    assert [str(at) for at in (session.started_at, session.ended_at)] == [
        "2026-03-01 09:00:00+00:00",
        "2026-03-01 09:02:00+00:00",
    ]
    stored(tmp_path, ("else", None), ("more", None), own="other", changed="2026-03-03T09:00:00Z")
    after = {ref.part: ref for ref in refs(tmp_path)}
    assert after[COPILOT_ID].size == before[COPILOT_ID].size
    assert (after["other"].size, str(after["other"].mtime)[:10]) == (3, "2026-03-03")


@pytest.mark.parametrize("place", [f"{COPILOT_ID}/events.jsonl", f"{COPILOT_ID}.jsonl"])
def test_a_session_whose_events_are_there_is_not_read_twice(tmp_path: Path, place: str) -> None:
    """The events say more; of another session the database is asked."""
    events = write_rows(tmp_path / ".copilot/session-state" / place, copilot_rows_for(["go"]))
    stored(tmp_path, ("go", "Done."))
    stored(tmp_path, ("else", None), own="other")
    assert [(ref.path == str(events), ref.part) for ref in refs(tmp_path)] == [(True, ""), (False, "other")]


def test_events_win_whichever_is_read_first(tmp_path: Path) -> None:
    """Copilot may remove the events of a session that it still has in the database."""
    events = write_rows(
        tmp_path / ".copilot/session-state" / COPILOT_ID / "events.jsonl", copilot_rows_for(["go"])
    )
    whole = session_of(SOURCE, events)
    stored(tmp_path, ("go", "Done."), ("on", "Done."))
    events.unlink()
    (ref,) = refs(tmp_path)
    less = SOURCE.read(ref, None).session
    assert less is not None
    assert less.abridged
    assert words(less) == ["go", "on"]
    assert whole.extended(less) == less.extended(whole) == whole


def test_ids_of_the_database_lead_nowhere(tmp_path: Path) -> None:
    """They name a folder beside it, and come out of a file."""
    for own in ("", "..", "../x", "a\0b"):
        stored(tmp_path, ("go", None), own=own)
    assert [words(found) for ref in refs(tmp_path) if (found := SOURCE.read(ref, None).session)] == [
        ["go"]
    ] * 4


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0" + b"x" * 5000, b"text"])
def test_what_is_no_store_is_named(content: bytes, tmp_path: Path) -> None:
    """Whatever lies in its place: nothing is raised, and it is said."""
    stored(tmp_path).write_bytes(content)
    (ref,) = refs(tmp_path)
    result = SOURCE.read(ref, None)
    assert result.session is None
    assert len(result.left_out) == 1


def test_a_store_of_another_shape_is_named(tmp_path: Path) -> None:
    """Other tables, other columns."""
    path = stored(tmp_path)
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("create table sessions (id text)")
        connection.commit()
    (ref,) = refs(tmp_path)
    assert [out.reason for out in SOURCE.read(ref, None).left_out] == ["unreadable"]
