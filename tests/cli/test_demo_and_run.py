"""The commands that run the whole loop."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nightschool.cli import app
from nightschool.testing.demo import lay_out


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person with the recorded sessions, standing in the project."""
    person = tmp_path / "person"
    person.mkdir()
    root = lay_out(person)
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.setenv("NIGHTSCHOOL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NIGHTSCHOOL_CONFIG", str(tmp_path / "config.toml"))
    (tmp_path / "config.toml").write_text('runner = "scripted"\n', encoding="utf-8")
    monkeypatch.chdir(root)
    return root


def test_the_demo_tells_the_loop_as_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    """`demo --json` gives the promised figures; whatever chance does, what was adopted is undone."""
    code = app.run(["demo", "--json"])
    document = json.loads(capsys.readouterr().out)
    assert document["sessions"] == 15
    assert document["candidates"] == 2
    assert {"tasks", "base", "draft", "pairs", "wealth", "verdict", "published", "undone", "seconds"} <= set(
        document
    )
    if code == 0:
        assert document["verdict"] == "accept"
        assert document["undone"] is True
        assert document["draft"] > document["base"]
    else:
        assert code == 3
        assert document["published"] is None


def test_a_dry_run_leaves_nothing_behind(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`run --dry-run` plans on a copy: no cursor moves, so the run after it reads the same sessions."""
    assert app.run(["run", "--dry-run", "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert app.run(["run", "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sessions"] == first["sessions"]
    assert not (tmp_path / "home" / "nightschool.db").exists()


def test_a_first_run_asks_before_it_spends(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where nobody can be asked, the first run stops with exit code 4 and names the flag."""
    assert app.run(["run", "--scope", "project"]) in {0, 4}
    told = capsys.readouterr()
    assert "--yes" in told.err or "nothing to learn" in told.out


def test_a_wrong_scope_is_wrong_use(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An unknown scope names what is allowed."""
    assert app.run(["run", "--scope", "everywhere"]) == 2
    assert "auto, project, user" in capsys.readouterr().err


def test_the_home_folder_is_no_project_without_asking(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the home folder itself a run asks first."""
    monkeypatch.chdir(project.parent)
    assert app.run(["run", "--dry-run"]) == 4
    assert "home folder" in capsys.readouterr().err
