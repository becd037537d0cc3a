"""Cursor's transcripts: what a person typed, without what was wrapped around it."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus import absent, counted, figures, files_of, halves_are_the_whole, strangers
from nightschool.adapters.cursor.transcripts import CursorTranscripts
from nightschool.core.jobs import MARKER
from nightschool.core.sessions import CallStatus, Roots
from nightschool.testing.conformance.source import check_source
from transcripts import CASES, cursor, cursor_rows_for, ref_of, session_of, write_rows

SOURCE = CursorTranscripts(redact=lambda text: text)
FILES = files_of("cursor")


def test_it_keeps_the_contract(tmp_path: Path) -> None:
    """The source behaves as the port says."""
    check_source(lambda redact: CursorTranscripts(redact=redact), cursor_rows_for, tmp_path)


@absent
@pytest.mark.cases
@pytest.mark.parametrize("name", FILES)
def test_real_files_give_the_figures_of_their_manifest(name: str) -> None:
    """Human turns, tool calls, tool errors and refusals of each real file are those that a reader counted."""
    assert counted(session_of(SOURCE, CASES / name)) == figures(name)
    assert SOURCE.recognises(ref_of(SOURCE, CASES / name))


@absent
@pytest.mark.cases
@pytest.mark.parametrize("name", [name for name in FILES if "subagents" not in name])
def test_halves_of_real_files_are_the_whole(name: str, tmp_path: Path) -> None:
    """Wherever a read stops, the next one adds the rest and nothing twice."""
    halves_are_the_whole(SOURCE, name, tmp_path)


@absent
@pytest.mark.cases
def test_files_of_other_agents_are_not_recognised() -> None:
    """A row that another agent writes too is no proof."""
    assert [path.name for path in strangers("cursor") if SOURCE.recognises(ref_of(SOURCE, path))] == []


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


def test_our_own_replays_are_known(tmp_path: Path) -> None:
    """By the marker in their first prompt."""
    assert session_of(SOURCE, write_rows(tmp_path / "x.jsonl", [cursor("user", f"[{MARKER} 1] do it")])).ours
