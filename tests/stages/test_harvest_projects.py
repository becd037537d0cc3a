"""Harvest in projects that it meets for the first time: some agents keep their sessions there."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from nightschool.adapters.aider.transcripts import CHATS, AiderTranscripts
from nightschool.adapters.claude_code.transcripts import ClaudeCodeTranscripts
from nightschool.core.ports import TranscriptSource
from nightschool.core.sessions import Roots
from nightschool.stages.harvest import HarvestReport, HarvestRequest, harvest
from nightschool.testing.clock import FakeClock
from nightschool.testing.memory_store import MemoryStore
from transcripts import claude, write_rows

NOW = datetime(2026, 3, 3, 12, tzinfo=UTC)
CHAT = """
# aider chat started at 2026-03-01 09:00:00

> /usr/bin/aider
> Aider v0.86.2

#### Draw the menu

Here it is.
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Two projects with chats of Aider; in one of them another agent worked, too."""
    for name in ("shop", "elsewhere"):
        (tmp_path / name / ".git").mkdir(parents=True)
        (tmp_path / name / "src").mkdir()
        (tmp_path / name / CHATS).write_text(CHAT, encoding="utf-8")
        then = (NOW - timedelta(hours=5)).timestamp()
        os.utime(tmp_path / name / CHATS, (then, then))
    row = {**claude("user", 1, "Draw the page"), "cwd": str(tmp_path / "shop/src")}
    path = write_rows(tmp_path / ".claude/projects/-p/a.jsonl", [row])
    os.utime(path, ((NOW - timedelta(hours=3)).timestamp(),) * 2)
    return tmp_path


def read(home: Path, store: MemoryStore, **asked: Any) -> HarvestReport:
    made = (ClaudeCodeTranscripts(redact=str), AiderTranscripts(redact=str))
    sources: dict[str, TranscriptSource] = {source.name: source for source in made}
    request = HarvestRequest(roots=Roots(home=str(home)), **asked)
    return harvest(request, sources=sources, store=store, clock=FakeClock(NOW, timedelta(0)))


@pytest.mark.parametrize(
    "asked", [{}, {"everything": True}, {"since": NOW - timedelta(days=1)}, {"dry_run": True}]
)
def test_chats_of_a_project_that_was_met_are_read_at_once(home: Path, asked: dict[str, Any]) -> None:
    """In the same harvest, each file once; where nobody is known to have worked is not looked."""
    report = read(home, MemoryStore(), **asked)
    assert [(one.source, one.project) for one in report.sessions] == [
        ("aider", str(home / "shop")),
        ("claude-code", str(home / "shop/src")),
    ]
    assert (report.files, report.unchanged, report.postponed, report.counts) == (2, 0, 0, ())


def test_they_count_like_all_others(home: Path) -> None:
    """Behind the cap, or before the window, they are left for later."""
    assert [one.source for one in read(home, MemoryStore(), max_sessions=1).sessions] == ["claude-code"]
    report = read(home, MemoryStore(), since=NOW - timedelta(hours=4))
    assert ([one.source for one in report.sessions], report.postponed) == (["claude-code"], 1)


def test_what_did_not_change_is_counted_once(home: Path) -> None:
    """Also where the places are looked at twice."""
    store = MemoryStore()
    read(home, store)
    row = {**claude("user", 1, "Draw the door"), "cwd": str(home / "elsewhere"), "sessionId": "b" * 8}
    write_rows(home / ".claude/projects/-p/b.jsonl", [row])
    report = read(home, store, everything=True)
    assert {one.project for one in report.sessions} == {str(home / "elsewhere")}
    assert (report.files, report.unchanged) == (2, 1)


def test_what_both_looks_find_is_read_once(home: Path) -> None:
    """Chats in HOME are found whichever projects are known."""
    (home / CHATS).write_text(CHAT.replace("menu", "cellar"), encoding="utf-8")
    os.utime(home / CHATS, ((NOW - timedelta(days=80)).timestamp(),) * 2)
    assert read(home, MemoryStore(), everything=True).files == 3
    report = read(home, MemoryStore(), since=NOW - timedelta(days=1))
    assert (report.files, report.postponed) == (2, 1)
