"""What a plan says of corrections that are settled."""

from __future__ import annotations

import json
import re
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
    standing_in(found, tmp_path, monkeypatch)
    return found


def standing_in(found: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The person's shell, in the project."""
    monkeypatch.setenv("HOME", str(found.person))
    monkeypatch.setenv("NIGHTSCHOOL_HOME", str(found.ours))
    config = 'runner = "scripted"\n[limits]\nmax_jobs = "none"\n[harvest]\nlookback_limit_days = 36500\n'
    (tmp_path / "config.toml").write_text(config, encoding="utf-8")
    monkeypatch.setenv("NIGHTSCHOOL_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.chdir(found.project)


def test_a_plan_asks_what_a_run_would_ask(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    """What waits, was adopted or was taken back costs no job, and the plan says which it is instead of a
    file, also of a plan of the tasks of a file."""

    def printed(*arguments: str, code: int = 0) -> str:
        assert app.run(arguments) == code
        return capsys.readouterr().out

    def settled(*more: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(printed("run", "--dry-run", "--json", *more))["settled"]
        return found

    waiting, small = settled()
    draft = waiting["draft"]
    assert (waiting["code"], small["code"]) == ("waits-for-review", "underpowered")
    told = printed("run", "--dry-run")
    assert "2 of them worth an edit, 2 of these with nothing to do now" in told
    assert "waits for you" in told
    assert "not proven" in told
    assert "ledger/CLAUDE.md" not in told
    assert "expected: up to 0 jobs" in told
    printed("tasks", "export", "tasks.toml")
    assert settled("--tasks", "tasks.toml") == [waiting, small]
    assert "waits for you" in printed("run", "--dry-run", "--tasks", "tasks.toml")

    printed("adopt", draft)
    assert "already-published" in [one["code"] for one in settled()]
    assert "adopted already" in printed("run", "--dry-run")
    printed("undo", draft)
    assert [one["code"] for one in settled()] == ["taken-back", "underpowered"]
    assert "you took it back" in printed("run", "--dry-run")


def test_what_was_turned_down_is_planned_as_what_a_run_does(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file is named with its condition, and the plan says how many jobs ask for another edit and what
    comes of it where the answer holds none; the run that gets the same again does just that."""
    assert app.run(["run", "--dry-run", "--json"]) == 0
    waiting, _ = json.loads(capsys.readouterr().out)["settled"]
    assert app.run(["reject", waiting["draft"], "--reason", "not for us"]) == 0
    capsys.readouterr()
    assert app.run(["run", "--dry-run"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "if there is another edit" in told
    asked = re.search(r"what it says is not proposed again: (\d+) jobs? to ask for another edit", told)
    assert asked is not None
    assert app.run(["run", "--yes", "--json"]) == 3
    report = json.loads(capsys.readouterr().out)
    assert [one["code"] for one in report["learned"] if one["candidate"] == waiting["candidate"]] == [
        "no-edit"
    ]
    assert report["spend"]["jobs"] == int(asked[1])


def test_where_no_job_is_foreseen_nobody_is_asked(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run whose plan counts no job asks nothing, not even the first time, and starts none."""
    monkeypatch.setattr("nightschool.cli.expected.agreed_before", lambda *_: False)
    assert app.run(["run", "--json"]) == 0
    printed = capsys.readouterr()
    report = json.loads(printed.out)
    assert report["spend"]["jobs"] == 0
    assert report["ended_by"] is None
    assert "Start?" not in printed.err


def test_a_plan_says_what_each_exam_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before a job: kinds held out, whether it can pass and why not, jobs at least and probably, and in which
    run; the same where the limit is too low for one run, or for any."""
    fresh = Place.made(tmp_path)
    standing_in(fresh, tmp_path, monkeypatch)

    def exams(*more: str) -> list[dict[str, Any]]:
        assert app.run(["run", "--dry-run", "--json", *more]) == 0
        found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["exams"]
        return found

    large, small = exams()
    assert (large["can_pass"], small["can_pass"]) == (True, False)
    assert large["kinds_held_out"] >= 5
    assert small["kinds_held_out"] < 3
    assert "the gate needs tasks from 3 sessions or more" in small["why_not"]
    # Practice and the edit, then seven clean wins in both arms.
    assert small["jobs_at_least"] == small["jobs_probably"] <= 5
    assert large["jobs_at_least"] == small["jobs_at_least"] + 2 * 7
    assert large["jobs_probably"] > large["jobs_if_clear"] > large["jobs_at_least"]
    assert large["decided_in_run"] == 1
    assert exams("--max-jobs", "50")[0]["decided_in_run"] == -(-large["jobs_probably"] // 50)
    few = exams("--max-jobs", "10")[0]
    assert (few["decided_in_run"], few["can_pass"], few["jobs_probably"]) == (
        None,
        False,
        small["jobs_probably"],
    )
    assert "the limit of 10 jobs leaves room for no more than 10 jobs" in few["why_not"]
    assert app.run(["run", "--dry-run", "--max-jobs", "50"]) == 0
    assert "the limit of 50 jobs allows about 50 a run" in " ".join(capsys.readouterr().out.split())
    assert app.run(["run", "--dry-run", "--max-jobs", "10"]) == 0
    told = capsys.readouterr().out
    assert told.count("this run: a suggestion") == 2
    assert "goes on in the next" not in told


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
