"""What a person meets who types the first command: what was read, how to keep it out, where to go on."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from nightschool.cli.app import run
from transcripts import claude, write_rows


def said(home: Path, project: str, sessions: Sequence[Sequence[str]]) -> None:
    """A session for each, with these words of the person."""
    folder = home / project
    folder.mkdir()
    for number, told in enumerate(sessions):
        name = f"{project}-{number:08}-2222-4333-8444-555555555555"
        turns = [("user", f"build part{number}")]
        for text in told:
            turns += [("assistant", "Done."), ("user", text)]
        rows = [
            claude(kind, 10 * number + index, text, cwd=str(folder), sessionId=name, uuid=f"{name}-{index}")
            for index, (kind, text) in enumerate(turns)
        ]
        write_rows(home / ".claude" / "projects" / project / f"{name}.jsonl", rows)


def test_what_is_read_for_the_first_time_is_named_with_the_way_to_leave_it_out(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody has to look for the ignore list after their private notes were read; once told is enough."""
    said(home, "shop", [["use uv, not pip"]])
    said(home, "private-notes", [["no tables in letters"]])
    assert run(["corrections"]) == 0
    told = capsys.readouterr().out
    assert "newly read: private-notes, shop\n" in told
    assert "nightschool forget PROJECT" in told
    assert str(home / ".config/nightschool/config.toml") in told
    assert run(["forget", "private-notes", "--yes"]) == 0, "the command that was named works as it stands"
    assert "letters" not in json.dumps(capsys.readouterr().out)
    assert run(["corrections"]) == 0
    told = capsys.readouterr().out
    assert "newly read" not in told
    assert "letters" not in told


def test_the_next_step_is_where_most_is_to_be_learned(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not where many different things were said, but where the most sessions say what can be practised."""
    said(
        home,
        "a-client",
        [["use pathlib, not os.path", "use ruff, not flake8", "use uv, not pip", "use pytest, not nose"]] * 2,
    )
    said(home, "lager", [["use slog, not log.Printf"]] * 6)
    assert run(["corrections"]) == 0
    assert f"next: nightschool run --project {home / 'lager'} --dry-run" in capsys.readouterr().out


def test_a_correction_is_called_by_one_name(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In whatever ways it was said, one screen has one wording of it, and it is that of `corrections`."""
    ways = ["again: pnpm, not npm", "pnpm, not npm", "use pnpm not npm!!", "please use pnpm, not npm"]
    said(home, "shop", [[ways[number % 4]] for number in range(9)])
    monkeypatch.setenv("NIGHTSCHOOL_RUNNER", "scripted")
    monkeypatch.setenv("NIGHTSCHOOL_HARVEST_LOOKBACK_LIMIT_DAYS", "36500")
    monkeypatch.chdir(home / "shop")
    assert run(["corrections"]) == 0
    told = capsys.readouterr().out
    known = [way for way in ways if f"  {way}  " in told]
    assert run(["run", "--dry-run"]) == 0
    told = capsys.readouterr().out
    found = {line.strip() for line in re.split(r"\n| {2,}", told)} & set(ways)
    assert [*found] == known, told
