"""pi's transcripts: the way that a person went, and nothing of those that they left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from corpus import files_of
from nightschool.adapters.pi.transcripts import PiTranscripts
from nightschool.core.sessions import CallStatus, Session
from transcripts import (
    PI_ID,
    pi,
    pi_head,
    pi_said,
    read_file,
    ref_of,
    session_of,
    write_rows,
)

SOURCE = PiTranscripts(redact=lambda text: text)
FILES = files_of("pi")


def words(session: Session) -> list[str]:
    return [turn.text for turn in session.human_turns]


def test_a_parent_that_is_nowhere_loses_nothing(tmp_path: Path) -> None:
    """A damaged line costs itself, not all that was said before it."""
    rows: list[dict[str, Any] | bytes] = [
        pi_head(),
        pi(0, "user", "a"),
        b"{",
        pi_said(2, "A."),
        pi(3, "user", "b"),
    ]
    assert words(session_of(SOURCE, write_rows(tmp_path / "x.jsonl", rows))) == ["a", "b"]


def test_only_the_living_way_counts(tmp_path: Path) -> None:
    """A person who went back and asked otherwise gave one prompt, not two; what was left is told."""
    rows = [
        pi_head(),
        pi(0, "user", "build it"),
        pi_said(1, "Which way?"),
        pi(2, "user", "the wrong way"),
        pi_said(3, "As you say."),
        pi(4, "user", "the right way", parent=1),
        pi_said(5, "Done."),
    ]
    path = write_rows(tmp_path / f"2026-03-01_{PI_ID}.jsonl", rows)
    session = session_of(SOURCE, path)
    assert words(session) == ["build it", "the right way"]
    assert [turn.went_back for turn in session.turns] == [False, True, False, False]
    told: list[str] = []
    SOURCE.read(ref_of(SOURCE, path), None, told=lambda fate: told.append(fate.became))
    assert told == ["facts", "human", "said", "left out", "left out", "human", "said"]


@pytest.mark.parametrize("seen", [2, 3, 4, 5, 6])
def test_a_way_that_was_left_after_it_was_read_is_taken_back(seen: int, tmp_path: Path) -> None:
    """Where the new rows do not go on from what was read, the file is read anew; else only they are read."""
    rows = [
        pi_head(),
        pi(0, "user", "a"),
        pi_said(1, "A."),
        pi(2, "user", "b"),
        pi_said(3, "B."),
        pi(4, "user", "c", parent=1),
        pi_said(5, "C."),
    ]
    path = write_rows(tmp_path / "x.jsonl", rows[:seen])
    first = read_file(SOURCE, path)
    write_rows(path, rows)
    second = read_file(SOURCE, path, first.offset)
    assert first.session is not None
    assert second.session is not None
    assert second.restarted == (seen in {4, 5})
    joined = second.session if second.restarted else first.session.extended(second.session)
    assert words(joined) == ["a", "c"]


def test_a_ring_of_parents_ends(tmp_path: Path) -> None:
    """Rows that name each other as parents are read once."""
    path = write_rows(tmp_path / "x.jsonl", [pi_head(), pi(1, "user", "a", parent=2), pi(2, "user", "b")])
    assert words(session_of(SOURCE, path)) == ["a", "b"]


def test_calls_and_what_came_of_them(tmp_path: Path) -> None:
    """An error that pi flags is one, with its code; a call that never ran is unknown; Esc interrupts."""
    calls = [
        {"type": "toolCall", "id": f"c{n}", "name": "bash", "arguments": {"command": "make"}}
        for n in (1, 2, 3)
    ]
    write = {"type": "toolCall", "id": "c4", "name": "write", "arguments": {"path": "a.py", "content": "x"}}
    rows = [
        pi_head(),
        pi(0, "user", [{"type": "image", "data": "", "mimeType": "image/png"}]),
        pi(1, "user", "go"),
        pi(2, "assistant", [*calls, write], stopReason="aborted", model="m-2"),
        pi(3, "toolResult", [{"type": "text", "text": "ok"}], toolCallId="c1", isError=False),
        pi(4, "toolResult", "no\n\nCommand exited with code 2", toolCallId="c2", isError=True),
        pi(5, "bashExecution", "", command="ls", output="", exitCode=1),
        pi(6, "custom", "put in", customType="x", display=True),
    ]
    session = session_of(SOURCE, write_rows(tmp_path / "x.jsonl", rows))
    assert words(session) == ["go"]
    assert [(call.status, call.exit_code) for call in session.calls] == [
        (CallStatus.OK, None),
        (CallStatus.ERROR, 2),
        (CallStatus.UNKNOWN, None),
        (CallStatus.UNKNOWN, None),
    ]
    assert session.calls[3].files == ("a.py",)
    assert session.turns[-1].interrupted
    assert session.turns[-1].model == "m-2"
    assert session.project == "/home/me/app"


def test_a_skill_that_a_person_named_is_loaded(tmp_path: Path) -> None:
    """pi puts its text before the person's words: the words are the turn, and the skill is named."""
    block = '<skill name="notes" location="/home/me/.pi/agent/skills/notes/SKILL.md">\nbody\n</skill>'
    read = {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": ".pi/skills/plan/SKILL.md"}}
    rows = [
        pi_head(),
        pi(0, "user", f"{block}\n\nfor today"),
        pi(1, "assistant", [read]),
        pi(2, "toolResult", "body", toolCallId="c1", isError=False),
        pi(3, "user", block),
    ]
    session = session_of(SOURCE, write_rows(tmp_path / "x.jsonl", rows))
    assert words(session) == ["for today", "/skill:notes"]
    assert session.skills == ("notes", "plan")
