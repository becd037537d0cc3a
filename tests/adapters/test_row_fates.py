"""What each reader tells of each row: which turn it became, or why none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from nightschool.adapters.claude_code.transcripts import ClaudeCodeTranscripts
from nightschool.adapters.codex.transcripts import CodexTranscripts
from nightschool.core.jobs import MARKER
from nightschool.core.ports import TranscriptSource
from nightschool.core.sessions import Became, RowFate
from transcripts import (
    CODEX_ID,
    claude,
    claude_call,
    claude_result,
    codex,
    codex_call,
    codex_item,
    codex_meta,
    codex_output,
    codex_prompt,
    codex_said,
    codex_user_row,
    ref_of,
    stamp,
    write_rows,
)

CLAUDE = ClaudeCodeTranscripts(redact=str)
CODEX = CodexTranscripts(redact=str)
Rows = Sequence[Mapping[str, Any] | bytes]


def fates(source: TranscriptSource, path: Path, rows: Rows) -> list[tuple[Became, int | None, str]]:
    told: list[RowFate] = []
    source.read(ref_of(source, write_rows(path, rows)), None, told=told.append)
    return [(fate.became, fate.turn, fate.why) for fate in told]


def test_claude_codes_rows(tmp_path: Path) -> None:
    """Turns by number, results by their call; what is no person's word is told with its reason."""
    queued = {"type": "queued_command", "prompt": "and the docs", "commandMode": "prompt"}
    rows = [
        {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
        claude("user", 1, "add a test"),
        claude("assistant", 2, [{"type": "thinking", "thinking": "hm"}]),
        claude("assistant", 3, [{"type": "text", "text": "On it"}]),
        claude_call(4, "Bash", command="pytest"),
        claude_result(5, 4, "1 passed"),
        claude_result(6, 99, "of an older file"),
        claude("user", 1, "add a test"),
        claude("user", 7, "hidden", isMeta=True),
        claude("user", 8, "from a hook", origin={"kind": "hook"}),
        claude("user", 9, "<command-name>/clear</command-name>"),
        claude("user", 10, "[Request interrupted by user]"),
        claude("assistant", 11, [{"type": "text", "text": "API Error"}], isApiErrorMessage=True),
        claude("user", 12, "a sub-agent's", isSidechain=True),
        {**claude("attachment", 13, ""), "attachment": queued},
        claude("user", 14, "and the docs"),
    ]
    told = fates(CLAUDE, tmp_path / "x.jsonl", rows)
    assert [(became, turn) for became, turn, _ in told] == [
        (Became.NOTHING, None),
        (Became.HUMAN, 0),
        (Became.NOTHING, None),
        (Became.SAID, 1),
        (Became.CALL, 1),
        (Became.RESULT, 1),
        (Became.RESULT, None),
        (Became.COPY, None),
        (Became.LEFT_OUT, None),
        (Became.LEFT_OUT, None),
        (Became.LEFT_OUT, None),
        (Became.INTERRUPTION, 1),
        (Became.LEFT_OUT, None),
        (Became.LEFT_OUT, None),
        (Became.HUMAN, 2),
        (Became.COPY, None),
    ]
    reasons = [why for became, _, why in told if became in {Became.LEFT_OUT, Became.COPY}]
    for word, why in zip(
        ("same id", "hidden", "machine", "command", "client's own", "sub-agent", "queued"),
        reasons,
        strict=True,
    ):
        assert word in why


def test_codexs_rows(tmp_path: Path) -> None:
    """The same of Codex: one turn in two shapes is one, and a parent's history is a copy."""
    rows = [
        codex_meta(),
        codex("turn_context", 1, cwd="/home/me/app", model="m"),
        codex_user_row(2, "add a test"),
        codex_item(2, "add a test"),
        codex_prompt(2, "add a test"),
        codex_said(3, "On it"),
        codex_call(4, "pytest"),
        codex_output(5, 4, "Exit code: 0\nOutput:\n1 passed"),
        codex("event_msg", 6, type="token_count"),
        codex_prompt(7, "<environment_context>x</environment_context>"),
        codex("event_msg", 8, type="turn_aborted", reason="interrupted"),
        codex("event_msg", 9, type="entered_review_mode"),
        codex_prompt(10, "review it"),
        codex("event_msg", 11, type="exited_review_mode"),
        codex_meta(12, id=CODEX_ID[::-1]),
    ]
    told = fates(CODEX, tmp_path / "x.jsonl", rows)
    assert [(became, turn) for became, turn, _ in told] == [
        (Became.FACTS, None),
        (Became.FACTS, None),
        (Became.COPY, None),
        (Became.HUMAN, 0),
        (Became.COPY, None),
        (Became.SAID, 1),
        (Became.CALL, 1),
        (Became.RESULT, 1),
        (Became.NOTHING, None),
        (Became.LEFT_OUT, None),
        (Became.INTERRUPTION, 1),
        (Became.FACTS, None),
        (Became.LEFT_OUT, None),
        (Became.FACTS, None),
        (Became.COPY, None),
    ]


@pytest.mark.parametrize(
    ("rows", "word"),
    [
        ([codex_meta(source="exec"), codex_prompt(1, "go")], "program"),
        ([codex_meta(source={"subagent": "x"}), codex_prompt(1, "go")], "sub-agent"),
    ],
)
def test_a_prompt_of_no_person_is_told_as_such(rows: Rows, word: str, tmp_path: Path) -> None:
    """Who sent it is the reason."""
    became, _, why = fates(CODEX, tmp_path / "x.jsonl", rows)[-1]
    assert became is Became.LEFT_OUT
    assert word in why


def test_claude_codes_machines_are_told_as_such(tmp_path: Path) -> None:
    """A headless run, and a sub-agent's own file."""
    headless = fates(CLAUDE, tmp_path / "x.jsonl", [claude("user", 1, "go", entrypoint="sdk-cli")])
    assert headless == [(Became.LEFT_OUT, None, "sent by a program, not by a person")]
    inner = fates(CLAUDE, tmp_path / "agent-1.jsonl", [claude("user", 1, "go", isSidechain=True)])
    assert inner[0][0] is Became.LEFT_OUT
    assert "sub-agent" in inner[0][2]


def test_our_own_replays_rows_are_told(tmp_path: Path) -> None:
    """The session is left out as a whole; its rows are told like any others."""
    told = fates(CLAUDE, tmp_path / "x.jsonl", [claude("user", 1, f"[{MARKER} 1] go")])
    assert told == [(Became.HUMAN, 0, "")]


def test_what_a_row_calls_itself_is_redacted_and_bounded(tmp_path: Path) -> None:
    """A type is a text of the file like any other."""
    source = CodexTranscripts(redact=lambda text: text.replace("hunter2", "[secret]"))
    row = {"timestamp": stamp(0), "type": "event_msg", "payload": {"type": "hunter2" + "x" * 500}}
    told: list[RowFate] = []
    source.read(ref_of(source, write_rows(tmp_path / "x.jsonl", [codex_meta(), row])), None, told=told.append)
    assert "hunter2" not in told[1].kind
    assert len(told[1].kind) < 120
