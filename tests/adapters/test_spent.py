"""What replies took: each reply once, however often its rows or its counter are written."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from corpus import absent, files_of
from nightschool.adapters.claude_code.transcripts import ClaudeCodeTranscripts
from nightschool.adapters.codex.transcripts import CodexTranscripts
from nightschool.adapters.copilot.transcripts import CopilotTranscripts
from nightschool.adapters.gemini.transcripts import GeminiTranscripts
from nightschool.adapters.pi.transcripts import PiTranscripts
from nightschool.core.ports import TranscriptSource
from nightschool.core.spent import MOST, Spent
from source_samples import storable
from transcripts import (
    CASES,
    GEMINI_HEAD,
    claude,
    codex,
    codex_meta,
    codex_prompt,
    codex_said,
    copilot,
    copilot_start,
    gemini,
    pi,
    pi_head,
    read_file,
    session_of,
    write_rows,
)

CLAUDE = ClaudeCodeTranscripts(redact=str)
CODEX = CodexTranscripts(redact=str)


def reply(number: int, own: str | None, output: int, *blocks: Mapping[str, Any]) -> dict[str, Any]:
    usage = {"input_tokens": 2, "cache_read_input_tokens": 10, "output_tokens": output}
    message = {"role": "assistant", "id": own, "model": "m-1", "content": list(blocks), "usage": usage}
    return claude("assistant", number, "", message=message)


def counter(number: float, given: int, output: int, last: tuple[int, int] = (0, 0)) -> dict[str, Any]:
    def told(one: int, other: int) -> dict[str, int]:
        return {"input_tokens": one, "output_tokens": other, "total_tokens": one + other}

    info = {"total_token_usage": told(given, output), "last_token_usage": told(*last)}
    return codex("event_msg", number, type="token_count", info=info)


TEXT = {"type": "text", "text": "Done."}
THINKING = {"type": "thinking", "thinking": "hm"}
CLAUDE_ROWS = (
    claude("user", 1, "go"),
    reply(2, "msg_1", 3, THINKING),
    reply(3, "msg_1", 3, TEXT),
    reply(4, "msg_1", 40, {"type": "tool_use", "id": "toolu_4", "name": "Bash", "input": {}}),
    reply(5, None, 5, TEXT),
    reply(6, None, 5, TEXT),
    claude("user", 7, "on"),
    reply(8, "msg_2", 7, THINKING),
)
CODEX_ROWS = (
    codex_meta(),
    codex_prompt(1, "go"),
    codex("event_msg", 1.5, type="token_count", info=None),
    codex_said(2, "On it."),
    counter(3, 100, 10, (100, 10)),
    counter(4, 100, 10, (100, 10)),
    codex_said(5, "Done."),
    counter(6, 250, 30, (150, 20)),
    codex_said(7, "Anew."),
    counter(8, 40, 4, (40, 4)),
)


@pytest.mark.parametrize(
    ("source", "rows", "spent"),
    [
        (CLAUDE, CLAUDE_ROWS[:-1], Spent(input=36, output=50)),
        (CODEX, CODEX_ROWS, Spent(input=290, output=34)),
        (
            PiTranscripts(redact=str),
            [
                pi_head(),
                pi(0, "user", "go"),
                pi(
                    1,
                    "assistant",
                    [TEXT],
                    usage={"input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4, "cost": {"total": 0.5}},
                ),
            ],
            Spent(input=8, output=2, cost=Decimal("0.5")),
        ),
        (
            GeminiTranscripts(redact=str),
            [
                GEMINI_HEAD,
                gemini(1, "user", "go"),
                gemini(2, "gemini", "Going.", tokens={"input": 5, "output": 1, "cached": 4, "thoughts": 2}),
                gemini(2, "gemini", "Done.", tokens={"input": 5, "output": 1, "cached": 4, "thoughts": 2}),
            ],
            Spent(input=5, output=3),
        ),
        (
            CopilotTranscripts(redact=str),
            [
                copilot_start(),
                copilot(1, "user.message", content="go"),
                copilot(2, "assistant.message", content="Done.", outputTokens=12),
            ],
            Spent(output=12),
        ),
        (
            CopilotTranscripts(redact=str),
            [
                copilot_start(),
                copilot(1, "user.message", content="go"),
                copilot(2, "session.usage_record", usage={"inputTokens": 30, "outputTokens": 12}),
                copilot(3, "assistant.message", content="Done.", outputTokens=12),
            ],
            Spent(input=30, output=12),
        ),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_each_reply_counts_once(
    source: TranscriptSource, rows: Sequence[Mapping[str, Any]], spent: Spent, tmp_path: Path
) -> None:
    """B07, B08: rows of one reply repeat what it took, a running total is sent again, a message is written
    again; a row without an id counts by itself, a total that begins anew counts anew."""
    path = write_rows(tmp_path / "x.jsonl", rows)
    assert session_of(source, path).spent == spent


@pytest.mark.parametrize(("source", "rows"), [(CLAUDE, CLAUDE_ROWS), (CODEX, CODEX_ROWS)])
def test_a_reply_that_two_reads_see_counts_once(
    source: TranscriptSource, rows: Sequence[Mapping[str, Any]], tmp_path: Path
) -> None:
    """Wherever a read stops, also within a reply: both together know what one reading does."""
    path = tmp_path / "x.jsonl"
    whole = session_of(source, write_rows(path, rows))
    for cut in range(1, len(rows)):
        first = read_file(source, write_rows(path, rows[:cut]))
        second = read_file(source, write_rows(path, rows), first.offset)
        assert first.session is not None
        assert second.session is not None
        joined = first.session.extended(second.session)
        assert [(turn.text, turn.spent) for turn in joined.turns] == [
            (turn.text, turn.spent) for turn in whole.turns
        ], f"cut behind row {cut}"


def test_what_is_unknown_is_not_zero(tmp_path: Path) -> None:
    """Numbers that are none are not counted, and where nothing is told nothing is known."""
    odd = claude("assistant", 2, "", message={"content": [TEXT], "usage": {"output_tokens": -1}})
    path = write_rows(tmp_path / "x.jsonl", [claude("user", 1, "go"), odd])
    assert session_of(CLAUDE, path).spent is None
    assert Spent(input=1, cost=Decimal(1)) + Spent(input=2, output=3) == Spent(input=3)


MOST_TOLD = MOST - 1
SILENT_CLAUDE = [
    claude(
        "assistant",
        number,
        "",
        message={"id": f"m-{number}", "content": [], "usage": {"output_tokens": MOST_TOLD}},
    )
    for number in range(2100)
]
SILENT_PI = [
    pi_head(),
    *(
        pi(number, "assistant", [], usage={"input": MOST_TOLD, "output": 1, "cost": {"total": 1e9}})
        for number in range(2100)
    ),
]


@pytest.mark.parametrize(
    ("source", "rows", "known"),
    [
        (CLAUDE, SILENT_CLAUDE, Spent(input=0)),
        (PiTranscripts(redact=str), SILENT_PI, Spent(output=2100, cost=Decimal("2.1e12"))),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_sum_that_is_no_number_is_unknown(
    source: TranscriptSource, rows: Sequence[Mapping[str, Any]], known: Spent, tmp_path: Path
) -> None:
    """Each reply tells a number that can be one, and all of them come to more than 64 bits hold: the file is
    read, what is known of it can be stored, and what is unknown stays so in what follows."""
    path = tmp_path / "x.jsonl"
    first = read_file(source, write_rows(path, rows))
    storable(first)
    said = [dict(rows[-1])]
    said[0] |= {"uuid": "last", "id": "last", "parentId": rows[-1].get("id")}
    said[0]["message"] = {**rows[-1]["message"], "id": "last", "content": [TEXT]}
    del said[0]["message"]["usage"]
    behind = read_file(source, write_rows(path, [*rows, *said]), first.offset)
    assert not behind.restarted
    assert behind.session is not None
    assert behind.session.spent == known
    storable(behind)


def test_a_sum_of_turns_that_is_no_number_is_unknown() -> None:
    """The same of what a session took in all: what is below the bound is told."""
    most = Spent(input=MOST_TOLD, output=1, cost=Decimal(1))
    assert most + Spent(input=0, output=0, cost=Decimal(0)) == most
    assert most + Spent(input=1, output=1, cost=Decimal(MOST)) == Spent(output=2)


@absent
@pytest.mark.cases
@pytest.mark.parametrize("name", [name for name in files_of("claude-code") if "zoo" not in name])
def test_real_replies_count_once(name: str) -> None:
    """The sum over replies by their id, which their rows repeat."""
    took: dict[str, tuple[int, int]] = {}
    for line in (CASES / name).read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        message = row.get("message") or {}
        usage = message.get("usage") or {}
        if row["type"] == "assistant" and message.get("model") != "<synthetic>" and usage:
            given = sum(count for key, count in usage.items() if key.endswith("input_tokens"))
            before = took.get(message["id"], (0, 0))
            took[message["id"]] = max(before[0], given), max(before[1], usage["output_tokens"])
    spent = session_of(CLAUDE, CASES / name).spent
    assert spent is not None
    assert (spent.input, spent.output) == tuple(map(sum, zip(*took.values(), strict=True)))


def test_which_skills_there_were(tmp_path: Path) -> None:
    """What the client listed for the agent, where it writes that down; else it is not known."""
    listing = {"type": "skill_listing", "content": "x", "names": ["review", "docs:write"]}
    row = {**claude("attachment", 1, ""), "attachment": listing}
    path = write_rows(tmp_path / "x.jsonl", [row, claude("user", 2, "go")])
    assert session_of(CLAUDE, path).offered == ("review", "docs:write")
    assert session_of(CLAUDE, write_rows(path, [claude("user", 2, "go")])).offered is None
    text = "## Skills\n### Available skills\n- notes: Notes. (file: /x/skills/notes/SKILL.md)\n"
    listed = {"role": "developer", "content": [{"type": "input_text", "text": text}]}
    rows = [codex_meta(), codex("response_item", 1, type="message", **listed), codex_prompt(2, "go")]
    assert session_of(CODEX, write_rows(path, rows)).offered == ("notes",)
