"""A person's word holds and can be taken back: a no, an ignore list, a folder that was moved, a plan."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from desks import Desk
from nightschool.cli.app import run
from nightschool.cli.scheduled import kept_from
from nightschool.wiring import variables_file
from publish_builders import rules

Ask = Callable[..., Any]
Captured = pytest.CaptureFixture[str]


def said(capsys: Captured) -> str:
    printed = capsys.readouterr()
    return " ".join((printed.out + printed.err).split())


def test_a_no_can_be_taken_back(desk: Desk) -> None:
    """Turning down says what it means for later, and the way back stands in the same words."""
    draft = desk.propose(*rules("use pnpm, not npm"))
    way = f"nightschool reject {draft.id} --take-back"
    assert way in " ".join(desk.says("reject", draft.id, "--reason", "first prove it").split())
    assert "turned down" in desk.says("adopt", draft.id, code=4)
    assert desk.gives("reject", draft.id, "--take-back")["status"] == "in review"
    assert "was not turned down" in desk.says("reject", draft.id, "--take-back")
    desk.says("adopt", draft.id)
    assert "no --reason" in desk.says("reject", draft.id, "--take-back", "--reason", "x", code=2)


def test_an_entry_that_keeps_nothing_out_is_told(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch, ask: Ask, capsys: Captured
) -> None:
    """A slip in the name of a folder: doctor and the commands that read say so, with what may be meant; one
    that names a folder is none."""
    (home / "secret").mkdir()
    config = home / "config.toml"
    monkeypatch.setenv("NIGHTSCHOOL_CONFIG", str(config))
    config.write_text('[ignore]\nprojects = ["~/secrte", "~/secret", "ledgre"]\n', encoding="utf-8")
    for command in ("corrections", "harvest", "doctor"):
        run([command])
        told = said(capsys)
        assert (
            f"{home}/secrte names no folder and no session that is known; did you mean {home}/secret?" in told
        )
        assert "ignore.projects: ledgre names no folder" in told
        assert told.count("names no folder") == 2
    config.write_text('[ignore]\nprojects = ["ledger"]\n', encoding="utf-8")
    assert ask("corrections")["idle_entries"] == []


def test_a_run_in_a_project_of_the_list_says_so(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """Not that no session began there: it was the person's word that keeps them out."""
    config = home / "config.toml"
    monkeypatch.setenv("NIGHTSCHOOL_CONFIG", str(config))
    config.write_text(f'[ignore]\nprojects = ["{project}"]\n', encoding="utf-8")
    assert run(["run", "--dry-run"]) == 0
    told = said(capsys)
    assert f"of {project} nothing is read: on an ignore list (by ignore.projects of your list)" in told
    assert "no session began" not in told


def test_a_run_where_a_project_was_moved_to_names_the_link(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """The old folder is gone and this one has nearly its name: no other project is named instead."""
    new = project.with_name(f"{project.name}-2026")
    assert run(["corrections"]) == 0
    project.rename(new)
    monkeypatch.chdir(new)
    capsys.readouterr()
    assert run(["run", "--dry-run"]) == 0
    told = said(capsys)
    assert f"`ln -s {new} {project}` lets what was said there count" in told
    assert "run --project" not in told


def test_a_task_that_is_only_planned_is_told_so(
    home: Path, project: Path, ask: Ask, capsys: Captured
) -> None:
    """Before a run has made it no screen says that it is there."""
    ask("corrections")
    sessions = {name for row in ask("corrections")["corrections"] for name in row["session_ids"]}
    found = [one for one in (ask("explain", name) for name in sorted(sessions)) if one["tasks"]]
    assert found
    assert not any(task["made"] for one in found for task in one["tasks"])
    assert run(["explain", found[0]["session"]]) == 0
    told = said(capsys)
    assert ": the next run would make it" in told
    assert "would be the request of task" in told


@pytest.mark.usefixtures("desk")
def test_a_schedule_that_cannot_start_is_told_so() -> None:
    """A file of variables that others may read keeps each scheduled run from starting, and `schedule` says
    so where it would name the next."""
    variables = variables_file()
    variables.parent.mkdir(parents=True)
    variables.write_text("KEY=value\n", encoding="utf-8")
    variables.chmod(0o644)
    assert "chmod 600" in str(kept_from())
    variables.chmod(0o600)
    assert kept_from() is None
