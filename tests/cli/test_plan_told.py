"""That the plan of a run tells what a person should know before jobs are spent."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from nightschool.cli.app import run
from nightschool.rules.report import unread
from report_builders import NOW


@pytest.fixture
def scripted(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NIGHTSCHOOL_RUNNER", "scripted")
    return project


def planned(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(["run", "--dry-run", *arguments]) == 0
    return capsys.readouterr().out


def test_a_plan_tells_what_it_stands_on(scripted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All sessions of the project that are known, and of these those that are new."""
    told = "15 sessions of this project known, 15 of them with something new since the last cycle"
    assert told in planned(capsys)


def test_without_an_agent_the_files_are_told(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which one practises is not known: the file of each agent in which it was said is named."""
    git = shutil.which("git")
    assert git is not None
    folder = project.parent / "bin"
    folder.mkdir()
    (folder / "git").symlink_to(git)
    monkeypatch.setenv("PATH", str(folder))
    told = planned(capsys)
    assert f"{project}/CLAUDE.md (by claude-code) or {project}/AGENTS.md (by codex)" in told


def test_what_the_file_says_already_comes_last(scripted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A person's own line that names both sides is shown in the plan, and its turn comes last."""
    before = planned(capsys)
    assert "says already" not in before
    with (scripted / "CLAUDE.md").open("a", encoding="utf-8") as file:
        file.write("Always use pathlib, never os.path.\n")
    told = planned(capsys)
    assert "the file says already: 'Always use pathlib, never os.path.', so its turn comes last" in told
    (first,) = [line for line in told.splitlines() if "  this run" in line]
    assert first.startswith("use logging, not print")


def test_a_project_that_is_gone_is_worth_no_job(
    scripted: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was said in a folder that is gone is not planned as an edit there; the ways out are named, and
    a link in its place is one."""
    moved = scripted.with_name("moved")
    monkeypatch.chdir(scripted.parent)
    scripted.rename(moved)
    told = planned(capsys, "--all-projects")
    assert f"{scripted}, where it was said, is no folder any more." in told
    assert "needs you first" in told
    assert "expected: up to 0 jobs" in told
    assert run(["run", "--dry-run", "--project", str(scripted)]) == 2
    assert f"`ln -s NEW {scripted}` lets what was said" in capsys.readouterr().err
    scripted.symlink_to(moved)
    assert f"{moved}/CLAUDE.md" in planned(capsys, "--project", str(moved))


def test_said_only_below_a_memory_file_of_its_own(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where all of it was said in a folder with a memory file of its own, that stays, and is said to."""
    from nightschool.testing.demo import lay_out  # noqa: PLC0415 - only here the layout is another

    project = lay_out(home)
    package = project / "packages" / "api"
    package.mkdir(parents=True)
    for path in [*(home / ".claude").rglob("*.jsonl"), *(home / ".codex").rglob("*.jsonl")]:
        rows = path.read_text(encoding="utf-8").replace(json.dumps(str(project)), json.dumps(str(package)))
        path.write_text(rows, encoding="utf-8")
    monkeypatch.chdir(project)
    monkeypatch.setenv("NIGHTSCHOOL_RUNNER", "scripted")
    assert "packages/api, whose own" not in planned(capsys)
    (package / "CLAUDE.md").write_text("# API\n", encoding="utf-8")
    assert "all 9 sessions of it were in packages/api, whose own CLAUDE.md stays as it is" in planned(capsys)


def test_what_a_look_back_left_out_is_told() -> None:
    """How many older transcripts were not read, up to when, and what reads them."""
    (told,) = unread(18, NOW)
    assert told.startswith("18 older transcripts left unread: this run looked back to 2026-03-01")
    assert "`nightschool corrections` reads all" in told
    assert unread(18, None) == unread(0, NOW) == []
