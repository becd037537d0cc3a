"""Copilot CLI's transcripts: each event counts once, and what a sub-agent did counts nothing."""

from __future__ import annotations

from pathlib import Path

from corpus import counted, files_of
from nightschool.adapters.copilot.transcripts import CopilotTranscripts
from nightschool.core.sessions import CallStatus
from transcripts import (
    COPILOT_ID,
    copilot,
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
        copilot(3, "user.message", content="find it", parentAgentTaskId="t"),
        copilot(
            4,
            "assistant.message",
            content="Looking.",
            parentToolCallId="c1",
            toolRequests=[{"toolCallId": "c2", "name": "view"}],
        ),
    ]
    assert counted(session_of(SOURCE, write_rows(tmp_path / "x.jsonl", rows))) == ("1", "1", "0", "0")


def test_the_session_is_named_by_its_place(tmp_path: Path) -> None:
    """Where its first event is damaged: by the folder, before 1.0 by the file."""
    rows = [copilot(1, "user.message", content="go")]
    for place in (f"{COPILOT_ID}/events.jsonl", f"{COPILOT_ID}.jsonl"):
        assert session_of(SOURCE, write_rows(tmp_path / place, rows)).session_id == COPILOT_ID
