"""`nightschool gate calibrate` on the demo's history, with the demo's apprentice in the sandbox."""

from __future__ import annotations

import json
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from nightschool.adapters.sqlite_store import SqliteStore
from nightschool.cli import app
from nightschool.core.errors import AuthenticationFailed
from nightschool.core.jobs import Finished, Job, Outcome, Reservation
from nightschool.core.trials import AlphaEntry, Draw
from nightschool.testing.demo import lay_out
from nightschool.testing.scripted_runner import ScriptedRunner

CALIBRATE = ["gate", "calibrate"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Our home, of a person with the recorded sessions who stands in the project."""
    person = tmp_path / "person"
    person.mkdir()
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.setenv("NIGHTSCHOOL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NIGHTSCHOOL_CONFIG", str(tmp_path / "config.toml"))
    (tmp_path / "config.toml").write_text('runner = "scripted"\n', encoding="utf-8")
    monkeypatch.chdir(lay_out(person))
    return tmp_path / "home"


@pytest.fixture
def tasks(home: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """The same after a run that made the tasks and had no budget for more."""
    assert app.run(["run", "--yes", "--max-jobs", "1"]) in {0, 3}
    capsys.readouterr()
    return home


def ask(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> Any:
    assert app.run([*CALIBRATE, *arguments, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_without_tasks_it_says_what_to_do(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before any session was read there is nothing to run against itself: no error, and the next step."""
    assert app.run(CALIBRATE) == 0
    assert "next: nightschool run" in capsys.readouterr().out
    assert ask(capsys)["pairs"] == 0
    assert app.run([*CALIBRATE, "--all-projects"]) == 0
    assert "next: nightschool run --all-projects" in capsys.readouterr().out


def test_it_asks_before_it_spends(tasks: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It tells what it will cost; where nobody can be asked it stops with 4 and starts nothing."""
    assert app.run([*CALIBRATE, "--pairs", "4"]) == 4
    told = capsys.readouterr().err
    assert "up to 8 jobs" in told
    assert "limits: 100 jobs, 60 minutes" in told
    assert "--yes" in told
    store = SqliteStore.open(tasks)
    assert store.find(Draw) == ()
    assert store.find(Reservation) == ()
    store.close()


def test_a_dry_run_leaves_nothing_behind(tasks: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--dry-run` tells the same and takes no number, not even that of a cycle."""
    planned = ask(capsys, "--dry-run", "--max-jobs", "9")
    assert (planned["wanted"], planned["remaining"], planned["jobs"]) == (20, 20, 8)
    store = SqliteStore.open(tasks)
    assert store.find(Draw) == ()
    assert store.take("cycles") == 2
    store.close()


def test_a_real_run_tells_the_noise_floor(tasks: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Pairs are run in the sandbox and told as one document and in words; asking again costs nothing, and
    neither enters the ledger of alpha."""
    found = ask(capsys, "--pairs", "5", "--yes")
    assert (found["ended"], found["pairs"], found["spend"]["jobs"]) == ("done", 5, 10)
    assert found["share"]["mean"] == pytest.approx(found["differ"] / 5)
    assert found["mean_d"]["low"] <= found["mean_d"]["mean"] <= found["mean_d"]["high"]
    assert found["wealth"]["needed"] == pytest.approx(16.45, abs=0.01)
    assert found["losses"] == {"tried": 5, "first": 0, "second": 0, "both": 0}
    assert sum(task["pairs"] for task in found["tasks"]) == 5
    assert {"task", "prompt", "passes", "passed", "rate"} <= set(found["tasks"][0])
    assert app.run([*CALIBRATE, "--pairs", "5"]) == 0
    told = capsys.readouterr().out
    assert "two runs of the same harness" in told.splitlines()[0]
    assert "lost pairs: 0 of 5" in told
    assert "0 jobs started" in told
    store = SqliteStore.open(tasks)
    assert store.find(AlphaEntry) == ()
    assert len(store.find(Finished)) == 10
    store.close()


def test_more_pairs_add_to_those_of_before(tasks: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What the budget broke off goes on: only the jobs that are wanting are started."""
    broken_off = ask(capsys, "--pairs", "4", "--max-jobs", "5", "--yes")
    assert (broken_off["ended"], broken_off["pairs"], broken_off["spend"]["jobs"]) == ("budget-ended", 2, 4)
    assert app.run([*CALIBRATE, "--pairs", "4", "--max-jobs", "2", "--yes"]) == 0
    assert "3 of 4 pairs are there; the same command goes on" in capsys.readouterr().out
    whole = ask(capsys, "--pairs", "4", "--yes")
    assert (whole["ended"], whole["pairs"], whole["spend"]["jobs"]) == ("done", 4, 2)


def test_it_tells_how_far_it_is(tasks: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On the way there are lines on stderr: the pairs it is at, and the jobs that ended of those to come."""
    assert app.run([*CALIBRATE, "--pairs", "2", "--yes"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert "calibrate, jobs 0/4: pairs 1 to 2 of 2: 0 differ so far" in lines
    assert lines[-1].startswith("calibrate, jobs 4/4: pairs 1 to 2 of 2")


def test_another_cycle_comes_first(tasks: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """While a cycle runs it says so with 6, at once."""
    store = SqliteStore.open(tasks)
    with store.hold("cycle"):
        assert ask(capsys, "--yes", code=6)["error"]["code"] == "busy"
    store.close()


def test_a_refused_login_is_five(
    tasks: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An agent whose login is refused ends it with 5 and the way out."""

    def refuse(_self: ScriptedRunner, _job: Job, _cancelled: Event) -> Outcome:
        raise AuthenticationFailed("log in again")

    monkeypatch.setattr(ScriptedRunner, "run", refuse)
    assert ask(capsys, "--yes", code=5)["error"]["text"] == "log in again"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--max-jobs", "1", "--yes"], "--max-jobs"),
        (["--effect", "0.3"], "--effect"),
        (["--seed", "1"], "--seed"),
        (["--simulate", "5", "--pairs", "3"], "--pairs"),
        (["--simulate", "5", "--dry-run"], "--dry-run"),
        (["--pairs", "0"], "--pairs"),
        (["--project", "/nowhere"], "--project"),
    ],
)
def test_wrong_use_names_the_flag(
    arguments: list[str], named: str, tasks: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A limit that is too small for one pair, and flags that do not go together, are wrong use."""
    assert named in ask(capsys, *arguments, code=2)["error"]["text"]
