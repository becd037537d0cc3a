"""`run --skill`: one skill, named by its place or its name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nightschool.cli import app
from nightschool.testing.demo import lay_out
from skill_builders import NAME, loading, with_skill


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person with a skill and sessions in which it was loaded, standing in the project."""
    person = tmp_path / "person"
    root = lay_out(person)
    with_skill(root)
    loading(person, NAME)
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.setenv("NIGHTSCHOOL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NIGHTSCHOOL_CONFIG", str(tmp_path / "config.toml"))
    config = 'runner = "scripted"\n[harvest]\nlookback_limit_days = 36500\n'
    (tmp_path / "config.toml").write_text(config, encoding="utf-8")
    monkeypatch.chdir(root)
    return root


@pytest.mark.parametrize("named", [f".claude/skills/{NAME}", f".claude/skills/{NAME}/SKILL.md", NAME])
def test_a_plan_names_the_skill_and_why(
    project: Path, named: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dry run tells the file that would be edited and why; with `--skill` all goes to that one."""
    monkeypatch.setenv("COLUMNS", "400")
    assert app.run(["run", "--dry-run"]) == 0
    plain = capsys.readouterr().out
    assert f"the skill {NAME} was loaded when you said it" in plain
    assert app.run(["run", "--dry-run", "--skill", named]) == 0
    told = capsys.readouterr().out
    assert f"you named the skill {NAME}" in told
    assert str(project / f".claude/skills/{NAME}/SKILL.md") in told


def test_a_skill_that_is_not_there_is_an_error_that_lists_them(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, before anything is read; the skills that exist are listed with their places."""
    assert app.run(["run", "--skill", ".claude/skills/no-such"]) == 2
    said = capsys.readouterr().err
    assert "no skill that claude-code reads here" in said
    assert str(project / f".claude/skills/{NAME}/SKILL.md") in said
    assert not list((tmp_path / "home").glob("reports/*"))


def test_skills_that_are_switched_off_cannot_be_named(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error names the setting and where it stands; without `--skill` all goes to memory."""
    config = tmp_path / "config.toml"
    config.write_text(config.read_text() + "[targets]\nskills = false\n")
    assert app.run(["run", "--dry-run", "--skill", NAME]) == 2
    said = capsys.readouterr().err
    assert "targets.skills is off" in said
    assert str(config) in said
    assert app.run(["run", "--dry-run", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["candidates"]


def test_a_project_may_switch_targets_off_and_not_on(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A clone may narrow what is edited; what the person switched off stays off."""
    (project / ".nightschool.toml").write_text("[targets]\nmemory = false\n")
    assert app.run(["run", "--dry-run"]) == 0
    config = tmp_path / "config.toml"
    config.write_text(config.read_text() + "[targets]\nmemory = false\n")
    (project / ".nightschool.toml").write_text("[targets]\nmemory = true\n")
    capsys.readouterr()
    assert app.run(["run", "--dry-run"]) == 2
    assert "may lower it only" in capsys.readouterr().err
