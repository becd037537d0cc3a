"""Several projects in one run: what is wrong with one costs the others nothing, each keeps its limits."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import project_builders as builders
from gate_builders import CANDIDATE
from nightschool.adapters.sqlite_store import SqliteStore
from nightschool.cli import app
from nightschool.cli.opening import opening
from nightschool.cli.project_files import said
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


def tried(home: Path, school: str = "school") -> list[str]:
    """The projects whose tasks were tried, once for each trial."""
    store = SqliteStore.open(home.parent / school)
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
    assert app.run(["run", "--yes", *arguments]) == 4
    report = ran(capsys, *arguments, *builders.agreeing("".join(capsys.readouterr())))
    assert set(tried(home)) == {"two"}
    assert report["spend"]["lost"] == 0
    (told,) = [note for note in report["notes"] if "cannot be set up" in note]
    assert told.startswith(f"{home}/one cannot be set up")
    assert "/two" not in told


WRONG = {
    "no TOML": ("= nonsense", "is no TOML file"),
    "unknown key": ("[limits]\nmax_job = 3\n", "unknown setting 'limits.max_job'"),
    "wrong type": ('[limits]\nmax_jobs = "three"\n', "limits.max_jobs is 'three'"),
    "too much": ("[limits]\nmax_jobs = 10\n", "a project may lower it only"),
}


@pytest.mark.parametrize("known", [False, True], ids=["new", "known"])
@pytest.mark.parametrize(("text", "word"), WRONG.values(), ids=WRONG)
def test_a_project_with_a_wrong_file_is_left_out_and_told(
    text: str,
    word: str,
    known: bool,  # noqa: FBT001 - a parameter of the table
    home: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The others are practised, the file and what is wrong with it are told, and the exit code says that
    something is: whether its sessions were read before or not. Nothing that is known of it is lost."""
    if known:
        assert app.run(["run", "--dry-run", "--all-projects"]) == 0
        assert app.run(["harvest"]) == 0
    builders.write(home / "one", {".nightschool.toml": text})
    report = None
    for arguments in (["--all-projects"], ["--project", "../two", "--project", "."]):
        report = ran(capsys, *arguments, code=2)
        (told,) = [note for note in report["notes"] if note.startswith("a project is left out")]
        assert f"{home}/one/.nightschool.toml" in told
        assert word in told
        assert set(tried(home)) == {"two"}
    # Where the list of what to ignore can be read they are read too.
    assert report is not None
    assert report["sessions_known"] in ({10} if known else {5, 10})
    assert app.run(["run", "--dry-run", "--all-projects"]) == 2
    assert word in capsys.readouterr().out
    assert app.run(["run", "--yes"]) == 2, "a run of that project alone"


def test_each_project_keeps_its_own_limits(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a project's file lowers holds for jobs on its tasks, which would be more without it; what it
    leaves is for the others; the person's limits hold for all of them; and what is not heeded is told."""
    (home.parent / "config.toml").write_text(CONFIG.replace("= 9", "= 24"), encoding="utf-8")
    monkeypatch.setenv("NIGHTSCHOOL_HOME", str(home.parent / "free"))
    app.run(["run", "--yes", "--all-projects"])
    free = tried(home, "free")
    monkeypatch.setenv("NIGHTSCHOOL_HOME", str(home.parent / "school"))
    text = "[limits]\nmax_jobs = 3\nwidth = 1\n[harvest]\nmax_sessions = 5\n"
    builders.write(home / "one", {".nightschool.toml": text})
    capsys.readouterr()
    assert app.run(["run", "--yes", "--json", "--all-projects"]) in {0, 3}
    report = json.loads(capsys.readouterr().out)
    counted = tried(home)
    assert 0 < counted.count("one") <= 3 < free.count("one")
    assert report["budget"]["jobs"] == 24
    notes = "\n".join(report["notes"])
    assert f"{home}/one: at most what {home}/one/.nightschool.toml allows its part" in notes
    assert "limits.width, harvest.max_sessions: not used in this run" in notes
    assert "limits.max_jobs" not in notes


def test_each_project_keeps_its_own_terms(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What its file says of the exam, of edits and of files holds for what was heard in it alone, in a run
    over several as in one over it; the others go by the person's; and none of it is told as not used."""
    text = "edit_budget = 2\n[gate]\nalpha = 0.05\nmargin = 0.1\n[targets]\nmemory = false\n"
    builders.write(home / "one", {".nightschool.toml": text})
    with opening(own=True) as parts:
        found = said(parts, (), "\n+\n".join([f"{home}/one", f"{home}/two"]), home)
        assert set(found.terms) == {f"{home}/one"}
        assert found.notes == []
        cycle = parts.cycle(project=None, progress=lambda *_: None)
        found.into(cycle)
        here, there = (replace(CANDIDATE, project=f"{home}/{name}") for name in ("one", "two"))
        policies = cycle.policy_of(here), cycle.policy_of(there)
        assert [(one.alpha, one.margin) for one in policies] == [(0.05, 0.1), (0.1, 0.15)]
        assert cycle.own[f"{home}/one"].edit_budget == 2
        assert cycle.aiming.aim(here).target is None
        assert cycle.aiming.aim(there).target is not None


def test_a_flag_goes_before_the_limits_of_a_project(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As in a run over one project: what the person says by hand is the last word."""
    builders.write(home / "one", {".nightschool.toml": "[limits]\nmax_jobs = 1\n"})
    report = ran(capsys, "--all-projects", "--max-jobs", "8")
    assert not [note for note in report["notes"] if "allows its part" in note]
    assert {"one", "two"} == set(tried(home))


def test_the_limits_of_the_folder_that_one_stands_in_are_no_limits_of_the_whole(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run over several projects is no run of the one that the person happens to stand in."""
    builders.write(home / "one", {".nightschool.toml": "[limits]\nmax_minutes = 3\n"})
    report = ran(capsys, "--all-projects")
    assert report["budget"]["wall"] == ran(capsys, "--project", "../two")["budget"]["wall"]
