"""Transcripts in which nothing is as it should be: what a field holds never stops a harvest."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from nightschool.adapters.claude_code.transcripts import ClaudeCodeTranscripts
from nightschool.adapters.codex.transcripts import CodexTranscripts
from nightschool.adapters.copilot.transcripts import CopilotTranscripts
from nightschool.adapters.cursor.transcripts import CursorTranscripts
from nightschool.adapters.gemini.transcripts import GeminiTranscripts
from nightschool.adapters.listing import file_time, is_name
from nightschool.adapters.pi.transcripts import PiTranscripts
from nightschool.adapters.reading import exit_code_of, parsed
from nightschool.adapters.vscode_copilot.transcripts import VSCodeCopilotTranscripts
from nightschool.core.ports import TranscriptSource
from nightschool.core.sessions import Offset, Roots, Session
from nightschool.rules.corrections import corrections
from nightschool.rules.redaction import Redactor
from nightschool.rules.signals import signals
from sample_rows import CLAUDE_ROWS, CODEX_ROWS, COPILOT_ROWS, CURSOR_ROWS, GEMINI_ROWS, PI_ROWS, VSCODE_ROWS
from source_samples import storable, with_each_field
from transcripts import CLAUDE_ID, CODEX_ID, PI_ID, claude, codex, read_file, write_rows

SECRET = "sk-ant-api03-" + "Ab3dEf6hIj" * 9 + "AA"
REDACT = Redactor(b"k" * 32)
CLAUDE = ClaudeCodeTranscripts(redact=REDACT)
CODEX = CodexTranscripts(redact=REDACT)

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


@pytest.mark.parametrize(
    ("told", "code"),
    [
        (0, 0),
        (-1, -1),
        (0xC000013A, 0xC000013A),
        (1 << 32, None),
        (True, None),
        ("1", None),
        (1.0, None),
        (None, None),
    ],
)
def test_what_an_exit_code_can_be(told: object, code: int | None) -> None:
    """A number of a system, of Windows too; what is none is unknown, and not kept whatever its size."""
    assert exit_code_of(told) == code


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ("0fb1-a_b.c", True),
        ("\u00fc", True),
        *((odd, False) for odd in ("", ".", "..", "../x", "a/b", "a\0", "a b", "a" * 201, 1, None)),
    ],
)
def test_what_names_a_file_in_a_folder(value: object, names: bool) -> None:  # noqa: FBT001 - a case
    """An id that stands in a file leads nowhere but there."""
    assert is_name(value) is names


@pytest.mark.parametrize(
    ("given", "found"), [('{"a": 1}', {"a": 1}), ("{a", "{a"), ({"a": 1}, {"a": 1}), (None, None)]
)
def test_arguments_are_an_object_or_the_text_of_one(given: object, found: object) -> None:
    """A text that is none stays what it is."""
    assert parsed(given) == found


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
    assert [file_time(seconds * 10**9).year for seconds in (-(2**40), 0, 2**40, 2**62)] == [
        1970,
        1970,
        9999,
        9999,
    ]
