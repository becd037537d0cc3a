"""What `harvest` tells while it reads and at its end: lines of JSON, a bar, sums."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nightschool.cli.app import run
from nightschool.cli.harvested import Reading, summary
from nightschool.cli.output import Output
from nightschool.stages.told import Step

Lines = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Lines:
    def asked(*arguments: str, code: int = 0) -> list[dict[str, Any]]:
        assert run(["harvest", *arguments, "--stream"]) == code
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    return asked


def test_a_stream_is_a_session_a_line(home: Path, project: Path, lines: Lines, ask: Any) -> None:
    """Each with its turns, signals and what was left out of it; the same sessions that `--json` tells of."""
    found = lines("--all", "--dry-run")
    told = {row["id"]: row for row in ask("harvest", "--all", "--dry-run")["sessions"]}
    assert {line["id"] for line in found} == set(told)
    for line in found:
        assert line["source"] in {"claude-code", "codex"}
        assert line["project"] == str(project)
        spoken = [turn for turn in line["turns"] if turn["speaker"] == "human"]
        assert len(spoken) == line["human_turns"] == told[line["id"]]["human_turns"]
        assert line["left_out"] == []
    assert sum(signal["kind"] == "correction" for line in found for signal in line["signals"]) == sum(
        row["corrections"] for row in told.values()
    )


def test_a_stream_tells_what_was_known_and_what_is_new(home: Path, project: Path, lines: Lines) -> None:
    """What is new comes first, then with `--all` what was known, each once; without it nothing new is no
    line."""
    first = lines("--all")
    assert all(line["new"] for line in first)
    assert lines() == []
    again = lines("--all")
    assert sorted(line["id"] for line in again) == sorted(line["id"] for line in first)
    assert not any(line["new"] for line in again)


def test_a_stream_tells_of_files_that_give_no_session(home: Path, lines: Lines) -> None:
    """A line without an id names the file and why; what is bad in a session stands in the session's line."""
    (home / "no.jsonl").write_text('{"a": 1}\n')
    row = {"type": "user", "sessionId": "x", "message": {"content": "hello"}}
    (home / "half.jsonl").write_text(json.dumps(row) + "\n{broken}\n")
    named = str(home / "no.jsonl"), str(home / "half.jsonl")
    half, no = sorted(lines(*named, "--dry-run"), key=lambda line: line["path"])
    assert (no["id"], no["left_out"][0]["reason"]) == (None, "not-a-transcript")
    assert (half["id"], half["left_out"][0]["reason"]) == ("claude-code:x", "bad-record")
    assert half["left_out"][0]["offset"] > 0


def test_an_error_in_a_stream_is_a_line(home: Path, lines: Lines) -> None:
    """Who reads line by line can read it."""
    (error,) = lines("nowhere", code=2)
    assert "nowhere" in error["error"]["text"]


def test_a_stream_that_nobody_reads_ends_quietly(home: Path, project: Path) -> None:
    """A reader that goes away is no error to be told of."""
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "nightschool", "harvest", "--all", "--stream"]
    ended = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert ended.returncode == 141
    assert not [line for line in ended.stderr.splitlines() if not line.startswith("reading ")]


class Noted:
    """What a bar would show."""

    def __init__(self) -> None:
        self.told: list[tuple[int, int | None, str]] = []

    def at(self, done: int, total: int | None = None, text: str = "", beside: str = "") -> None:
        self.told.append((done, total, beside + text))


def test_a_bar_tells_sources_files_and_speed() -> None:
    """Files of each agent, those with most first; what was new in them, for the time that it took."""
    steps = Noted()
    meter = Reading(steps)
    meter.began -= 1000
    for done, source in enumerate(("codex", "pi", "codex"), start=1):
        size = 4_000_000_000 if done == 1 else 0
        meter.at(Step(done=done, total=3, source=source, size=size, session=None, left_out=()))
    assert steps.told[-1][:2] == (3, 3)
    assert steps.told[-1][2].split(", ") == ["4.0 MB/s", "2 codex", "1 pi"]


def test_a_pipe_gets_lines_without_the_speed(capsys: pytest.CaptureFixture[str]) -> None:
    """What changes all the time makes no line of its own."""
    with Output().progress("reading") as steps:
        steps.at(1, 20, beside="4.0 MB/s, 1 codex")
        steps.at(1, 20, beside="5.0 MB/s, 1 codex")
    assert capsys.readouterr().err == "reading 1/20\n"


def test_sums_are_by_agent_and_project() -> None:
    """One line for each pair, with all that its sessions hold."""
    counts = {"tool_calls": 2, "tool_errors": 1, "refusals": 0, "corrections": 1}
    rows: list[dict[str, object]] = [
        {"id": name, "source": source, "project": project, "human_turns": turns, **counts}
        for name, source, project, turns in (
            ("a", "pi", "/p", 1),
            ("b", "codex", "/p", 2),
            ("c", "codex", "/p", 3),
            ("d", "codex", None, 4),
        )
    ]
    table = summary(rows, ["b"], lambda row: row["project"])
    assert table.rows == [
        ("codex", None, 1, 0, 4, 2, 1, 0, 1),
        ("codex", "/p", 2, 1, 5, 4, 2, 0, 2),
        ("pi", "/p", 1, 0, 1, 2, 1, 0, 1),
    ]


def test_the_sums_end_the_list(home: Path, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where there is more than one session."""
    assert run(["harvest", "--all", "--dry-run"]) == 0
    told = capsys.readouterr().out
    behind = told.partition("by agent and project\n")[2].splitlines()
    assert [line.split()[:3] for line in behind[1:3]] == [
        ["claude-code", project.name, "9"],
        ["codex", project.name, "6"],
    ]
