"""What a person reads of corrections that wait: their own words, and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from nightschool.cli.app import run
from transcripts import claude, write_rows

Ask = Callable[..., Any]
LOOSE = "never push to main without asking me"


@pytest.fixture
def lay(home: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    (home / "config.toml").write_text(
        'runner = "scripted"\n[harvest]\nlookback_limit_days = 36500\n', encoding="utf-8"
    )
    monkeypatch.setenv("NIGHTSCHOOL_CONFIG", str(home / "config.toml"))
    return home


def said(home: Path, monkeypatch: pytest.MonkeyPatch, corrections: Sequence[str]) -> None:
    """One session for each, in a project that is the current folder."""
    app = home / "app"
    app.mkdir()
    monkeypatch.chdir(app)
    for number, words in enumerate(corrections):
        name = f"{number:08}-2222-4333-8444-555555555555"
        turns = (("user", f"Task {number}: build part{number}"), ("assistant", "Done."), ("user", words))
        rows = [
            claude(kind, 10 * number + index, text, cwd=str(app), sessionId=name, uuid=f"{name}-{index}")
            for index, (kind, text) in enumerate(turns)
        ]
        write_rows(home / ".claude" / "projects" / "app" / f"{name}.jsonl", rows)


@pytest.mark.usefixtures("lay")
def test_each_that_waits_is_told_in_the_persons_words(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A plan and a run name what was said, in how many sessions, and why nothing comes of it yet."""
    said(home, monkeypatch, [LOOSE, LOOSE, "use pnpm, not npm"])
    loose = f'waits: "{LOOSE}", in 2 sessions: '
    for arguments in (["run", "--dry-run"], ["run", "--yes"]):
        assert run(arguments) == 0
        told = " ".join(capsys.readouterr().out.split())
        assert loose in told
        assert 'waits: "use pnpm, not npm", in 1 session: seen once; it takes a second session' in told
        assert "not: " not in told
        assert "often enough" not in told


@pytest.mark.usefixtures("lay")
def test_many_that_wait_are_counted(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The list is bounded; the command that lists all is named."""
    said(home, monkeypatch, [f"use tool{number}, not gadget{number}" for number in range(9)])
    assert run(["run", "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert told.count("waits: ") == 6
    assert "3 more wait: `nightschool corrections` lists all that was heard" in told


@pytest.mark.usefixtures("lay")
def test_one_is_not_counted_as_several(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`explain` says "1 session"."""
    said(home, monkeypatch, ["use pnpm, not npm"])
    assert run(["explain", "00000000-2222-4333-8444-555555555555"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "in 1 session: waits" in told
    assert "1 sessions" not in told


@pytest.mark.usefixtures("lay")
def test_what_cannot_be_tried_says_why(
    home: Path, monkeypatch: pytest.MonkeyPatch, ask: Ask, capsys: pytest.CaptureFixture[str]
) -> None:
    """`corrections` lists what gives no check too, with the reason; what gives one has none."""
    said(home, monkeypatch, [LOOSE, LOOSE, "use pnpm, not npm"])
    rows = {row["statement"]: row["cannot_be_tried"] for row in ask("corrections")["corrections"]}
    why = "it has nothing in quotes that could be looked for in a command or a file"
    assert rows == {LOOSE: why, "use pnpm, not npm": None}
    assert run(["corrections"]) == 0
    assert f'not tried: "{LOOSE}": {why}' in " ".join(capsys.readouterr().out.split())
