"""Several projects in one run: what is wrong with one costs the others nothing, each keeps its limits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import project_builders as builders
from nightschool.adapters.sqlite_store import SqliteStore
from nightschool.cli import app
from nightschool.core.tasks import Task
from nightschool.core.trials import Trial

CONFIG = 'runner = "scripted"\n[harvest]\nlookback_limit_days = 36500\n[limits]\nmax_jobs = 9\n'


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person with sessions in two projects, who stands in the first."""
    person = tmp_path / "sam"
    for name in ("one", "two"):
        folder = builders.repository(person / name)
        builders.sessions(person, builders.Kind(name=name, directory=folder, root=folder))
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.setenv("NIGHTSCHOOL_HOME", str(tmp_path / "school"))
    monkeypatch.setenv("NIGHTSCHOOL_CONFIG", str(tmp_path / "config.toml"))
    (tmp_path / "config.toml").write_text(CONFIG, encoding="utf-8")
    monkeypatch.setattr("nightschool.stages.replay.PAUSE_SECONDS", 0.0)
    monkeypatch.chdir(person / "one")
    return person


def ran(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 3) -> Any:
    capsys.readouterr()
    found = app.run(["run", "--yes", "--json", *arguments])
    written = capsys.readouterr()
    assert found == code, written
    return json.loads(written.out)


def tried(home: Path) -> list[str]:
    """The projects whose tasks were tried, once for each trial."""
    store = SqliteStore.open(home.parent / "school")
    try:
        projects = {task.id: task.project for task in store.find(Task)}
        return [Path(projects[trial.task]).name for trial in store.find(Trial)]
    finally:
        store.close()


@pytest.mark.parametrize("arguments", [("--project", "../two", "--project", "."), ("--all-projects",)])
def test_a_set_up_that_fails_ends_the_practice_of_its_project_alone(
    arguments: tuple[str, ...], home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The other project's tasks are practised; the one whose set-up failed is told, and loses no job."""
    builders.write(home / "one", {".nightschool.toml": '[setup]\ncommand = "exit 9"\n'})
    report = ran(capsys, *arguments)
    assert set(tried(home)) == {"two"}
    assert report["spend"]["lost"] == 0
    (told,) = [note for note in report["notes"] if "cannot be set up" in note]
    assert told.startswith(f"{home}/one cannot be set up")
    assert "/two" not in told
