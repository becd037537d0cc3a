"""Cursor's transcripts: what a person typed, without what was wrapped around it."""

from __future__ import annotations

from pathlib import Path

from corpus import files_of
from nightschool.adapters.cursor.transcripts import CursorTranscripts
from nightschool.core.sessions import CallStatus, Roots
from transcripts import cursor, cursor_rows_for, session_of, write_rows

SOURCE = CursorTranscripts(redact=lambda text: text)
FILES = files_of("cursor")


def test_only_transcripts_of_its_folder_are_looked_at(tmp_path: Path) -> None:
    """Other line files of a project are none; a sub-agent's own file is left out as a whole."""
    folder = tmp_path / ".cursor/projects/home-me-app"
    kept = write_rows(folder / "agent-transcripts/a/a.jsonl", cursor_rows_for(["go"]))
    below = write_rows(folder / "agent-transcripts/a/subagents/b.jsonl", cursor_rows_for(["find it"]))
    write_rows(folder / "mcps/log.jsonl", cursor_rows_for(["go"]))
    assert [ref.path for ref in SOURCE.discover(Roots(home=str(tmp_path)))] == [str(kept), str(below)]
    assert session_of(SOURCE, below).sidechain
    assert (session_of(SOURCE, kept).session_id, session_of(SOURCE, kept).project) == ("a", None)


def test_what_the_client_put_in_is_no_persons(tmp_path: Path) -> None:
    """Wrappers are taken off, what the client alone said is no turn; the same words twice are two."""
    call = {"type": "tool_use", "name": "Shell", "input": {"command": "make"}}
    rows = [
        cursor("user", "<attached_files>\nx\n</attached_files>\n<user_query>\ncommit\n</user_query>"),
        cursor("assistant", "[REDACTED]", call, call),
        cursor("user", {"type": "tool-result", "name": "Shell", "content": []}),
        cursor("user", "<system_reminder>x</system_reminder>"),
        cursor("user", "commit"),
    ]
    session = session_of(SOURCE, write_rows(tmp_path / "x.jsonl", rows))
    assert [turn.text for turn in session.human_turns] == ["commit", "commit"]
    assert [call.command for call in session.calls] == ["make", "make"]
    assert {call.status for call in session.calls} == {CallStatus.UNKNOWN}
    assert session.turns[1].text == ""
