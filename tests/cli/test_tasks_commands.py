"""`tasks` and its commands: what a person says of tasks is kept, shown and refused with its reasons."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gate_builders import CANDIDATE, task
from nightschool.adapters.sqlite_store import SqliteStore
from nightschool.cli.app import run
from nightschool.core.tasks import Split, Task, TaskMark

Ask = Callable[..., Any]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person in a project, with a store in which nothing is yet."""
    root = tmp_path / "app"
    root.mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USER", "sam")
    monkeypatch.setenv("NIGHTSCHOOL_HOME", str(tmp_path / "school"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    def asked(*arguments: str, code: int = 0) -> Any:
        assert run([*arguments, "--json"]) == code
        return json.loads(capsys.readouterr().out)

    return asked


@pytest.fixture
def held(project: Path, tmp_path: Path) -> Task:
    """A held-out task of the project, beside one for training."""
    tasks = [
        replace(task("held out"), project=str(project)),
        replace(task("for training", split=Split.TRAIN), project=str(project)),
    ]
    SqliteStore.open(tmp_path / "school").commit(CANDIDATE, *tasks)
    return tasks[0]


def test_a_task_is_shown_whole(held: Task, ask: Ask, capsys: pytest.CaptureFixture[str]) -> None:
    """By the beginning of its id: request, checks, start, origin; no word of how it came out."""
    shown = ask("tasks", "show", held.id[:8])
    assert shown["task"]["prompt"] == held.prompt
    assert shown["standing"] is None
    assert run(["tasks", "show", held.id]) == 0
    told = capsys.readouterr().out
    for word in (held.prompt, "uses 'pnpm' and not 'npm'", "a.txt", CANDIDATE.statement, held.session):
        assert word in told


def test_who_took_a_task_out_when_and_why_is_in_the_list(
    held: Task, ask: Ask, capsys: pytest.CaptureFixture[str]
) -> None:
    """It stays listed, as taken out."""
    said = ask("tasks", "withhold", held.id, "--reason", "the importer is gone")
    assert said["written"] is True
    assert ask("tasks", "withhold", held.id, "--reason", "once more")["written"] is False
    standings = {row["id"]: row["standing"] for row in ask("tasks")["tasks"]}
    assert standings.pop(held.id) == "taken out"
    assert set(standings.values()) == {None}
    (mark,) = ask("tasks", "show", held.id)["marks"]
    assert (mark["actor"], mark["act"], mark["reason"]) == ("sam", "withhold", "the importer is gone")
    assert mark["at"]
    assert run(["tasks"]) == 0
    assert "taken out" in capsys.readouterr().out


def test_taking_out_without_a_reason_is_refused(held: Task, ask: Ask, tmp_path: Path) -> None:
    """Exit code 4, with the reason's code, and nothing is kept."""
    for command in ("withhold", "retire"):
        refused = ask("tasks", command, held.id, code=4)["error"]
        assert [reason["code"] for reason in refused["reasons"]] == ["reason-missing"]
    assert SqliteStore.open(tmp_path / "school").find(TaskMark) == ()


def test_a_protected_task_is_released_before_it_is_taken_out(held: Task, ask: Ask) -> None:
    """And a word that stands already is no second one."""
    assert ask("tasks", "protect", held.id)["written"] is True
    assert ask("tasks", "protect", held.id)["written"] is False
    refused = ask("tasks", "retire", held.id, "--reason", "old", code=4)["error"]
    assert refused["reasons"][0]["code"] == "protected"
    assert "--off" in refused["text"]
    assert ask("tasks", "protect", held.id, "--off")["written"] is True
    assert ask("tasks", "protect", held.id, "--off")["written"] is False
    assert ask("tasks", "retire", held.id, "--reason", "old")["written"] is True


def test_an_unknown_task_is_wrong_use(held: Task, ask: Ask) -> None:
    """It is never answered with a similar one."""
    assert ask("tasks", "protect", "t-doesnotexist", code=2)["error"]["code"] == "not-found"


def test_options_before_the_inner_command_are_refused(held: Task, capsys: pytest.CaptureFixture[str]) -> None:
    """An option that would be dropped without a word is wrong use."""
    assert run(["tasks", "--all-projects", "show", held.id]) == 2
    assert "behind the whole command" in capsys.readouterr().err
