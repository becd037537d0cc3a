"""What a plan says of corrections that are settled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cycle_builders import Place, QuickRunner, run_cycle
from nightschool.cli import app


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A person whose first run certified one of two corrections, standing in the project."""
    found = Place.made(tmp_path)
    assert sorted(item.code for item in run_cycle(found, runner=QuickRunner()).learned) == [
        "accept",
        "underpowered",
    ]
    monkeypatch.setenv("HOME", str(found.person))
    monkeypatch.setenv("NIGHTSCHOOL_HOME", str(found.ours))
    config = 'runner = "scripted"\n[limits]\nmax_jobs = "none"\n[harvest]\nlookback_limit_days = 36500\n'
    (tmp_path / "config.toml").write_text(config, encoding="utf-8")
    monkeypatch.setenv("NIGHTSCHOOL_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.chdir(found.project)
    return found


def test_a_plan_asks_what_a_run_would_ask(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    """What waits, was adopted or was taken back costs no job, and the plan says which it is instead of a
    file, also of a plan of the tasks of a file."""

    def printed(*arguments: str, code: int = 0) -> str:
        assert app.run(arguments) == code
        return capsys.readouterr().out

    def settled(*more: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(printed("run", "--dry-run", "--json", *more))["settled"]
        return found

    (waiting,) = settled()
    draft = waiting["draft"]
    told = printed("run", "--dry-run")
    assert "2 of them worth an edit, 1 of these with nothing to do now" in told
    assert "waits for your review" in told
    assert told.count("ledger/CLAUDE.md") == 1
    assert "up to 190 jobs" in told
    printed("tasks", "export", "tasks.toml")
    assert settled("--tasks", "tasks.toml") == [waiting]
    assert "waits for your review" in printed("run", "--dry-run", "--tasks", "tasks.toml")

    printed("adopt", draft)
    assert [one["code"] for one in settled()] == ["already-published"]
    assert "already published" in printed("run", "--dry-run")
    printed("undo", draft)
    assert [one["code"] for one in settled()] == ["taken-back"]
    assert "you took it back" in printed("run", "--dry-run")


def test_what_the_settings_forbid_costs_nothing(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A correction whose file the settings switch off is not counted among the jobs to expect, and a file
    that cannot be read needs the person, in a plan as in a run."""
    memory = place.project / "CLAUDE.md"
    memory.unlink()
    memory.mkdir()
    assert app.run(["run", "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert told.count("needs you first") == 2
    assert "up to 0 jobs" in told
    with (tmp_path / "config.toml").open("a") as file:
        file.write("[targets]\nmemory = false\n")
    assert app.run(["run", "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert told.count("your settings forbid it") == 2
    assert "up to 0 jobs" in told
