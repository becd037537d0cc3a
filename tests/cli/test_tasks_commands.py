"""`tasks` and its commands: what a person says of tasks is kept, shown and refused with its reasons."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gate_builders import CANDIDATE, task
from nightschool.adapters.sqlite_store import SqliteStore
from nightschool.cli.app import run
from nightschool.core.sessions import Offset, Session, Window
from nightschool.core.tasks import HoldoutVersion, Split, Task, TaskMark
from nightschool.core.trials import AlphaEntry, Draw
from nightschool.testing.demo import lay_out

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
    assert shown["prompt"] == held.prompt
    assert shown["standing"] is None
    assert run(["tasks", "show", held.id]) == 0
    told = capsys.readouterr().out
    for word in (held.prompt, "uses 'pnpm' and not 'npm'", "a.txt", CANDIDATE.statement, held.session):
        assert word in told


@pytest.mark.parametrize("moved", ["renamed", "in another"])
def test_tasks_of_a_project_that_is_no_project_any_more_are_marked(
    held: Task, tmp_path: Path, moved: str, ask: Ask, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its folder was renamed, or belongs to another project by now: its tasks are listed as at rest, with the
    reason and the way out; those of a project that is there are not."""
    root = Path(held.project)
    other = replace(task("of another"), project=str(tmp_path / "there"))
    (tmp_path / "there").mkdir()
    SqliteStore.open(tmp_path / "school").commit(other)
    assert {row["rests"] for row in ask("tasks", "--all-projects")["tasks"]} == {None}
    if moved == "renamed":
        os.chdir(root.rename(tmp_path / "renamed"))
        why = f"{root} is no folder any more; where it was moved or renamed, `ln -s NEW {root}`"
    else:
        above = tmp_path / "mono"
        subprocess.run(["git", "init", "-q", str(above)], check=True)  # noqa: S607 - the person's git
        root.rename(above / "app")
        root.symlink_to(above / "app")
        why = f"{root} belongs to {above} by now"
    rests = {row["id"]: row["rests"] for row in ask("tasks", "--all-projects")["tasks"]}
    assert rests[held.id].startswith(why)
    assert rests[other.id] is None
    assert run(["tasks", "--all-projects"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "At rest, since no edit for their project is practised" in told
    assert ask("tasks", "show", held.id)["rests"] == rests[held.id]


def test_who_took_a_task_out_when_and_why_is_in_the_list(
    held: Task, tmp_path: Path, ask: Ask, capsys: pytest.CaptureFixture[str]
) -> None:
    """It stays listed, as taken out, and is counted in the exam no more."""
    exam = HoldoutVersion(pool=held.project, number=1, tasks=(held.id, "t-other"))
    SqliteStore.open(tmp_path / "school").commit(exam)
    said = ask("tasks", "withhold", held.id, "--reason", "the importer is gone")
    assert said["written"] is True
    assert ask("tasks", "withhold", held.id, "--reason", "once more")["written"] is False
    standings = {row["id"]: row["standing"] for row in ask("tasks")["tasks"]}
    assert standings.pop(held.id) == "taken out"
    assert set(standings.values()) == {None}
    assert [version["tasks"] for version in ask("status")["holdouts"]] == [1]
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
    """And a word that stands already is no second one. Whether it can guard is told as far as it is known."""
    said = ask("tasks", "protect", held.id)
    assert said["written"] is True
    assert "not known yet" in said["tries"]
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


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person with the recorded sessions and the scripted agent, whose sessions were read once."""
    root = lay_out(tmp_path)
    config = tmp_path / "config.toml"
    config.write_text('runner = "scripted"\n[harvest]\nlookback_limit_days = 36500\n', encoding="utf-8")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USER", "sam")
    monkeypatch.setenv("NIGHTSCHOOL_HOME", str(tmp_path / "school"))
    monkeypatch.setenv("NIGHTSCHOOL_CONFIG", str(config))
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def exported(ledger: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """The tasks of these sessions in a file."""
    assert run(["run", "--yes", "--max-jobs", "1"]) == 3
    assert run(["tasks", "export", "tasks.toml"]) == 0
    capsys.readouterr()
    return ledger / "tasks.toml"


def reviewed(file: Path) -> None:
    file.write_text(file.read_text(encoding="utf-8").replace("reviewed = false", "reviewed = true"), "utf-8")


def test_an_exported_file_is_for_its_person_alone_and_never_written_over(exported: Path, ask: Ask) -> None:
    """Mode 0600; a file that is there may have been edited: it takes --force."""
    assert exported.stat().st_mode & 0o777 == 0o600
    before = exported.read_bytes()
    exported.write_bytes(before + b"# mine\n")
    assert "--force" in ask("tasks", "export", "tasks.toml", code=2)["error"]["text"]
    assert exported.read_bytes().endswith(b"# mine\n")
    assert ask("tasks", "export", "tasks.toml", "--force")["tasks"]
    assert exported.read_bytes() == before
    assert ask("tasks", "export", "nowhere/tasks.toml", code=2)["error"]["code"] == "user-error"


def test_an_exported_file_comes_back_as_the_same_tasks(exported: Path, ask: Ask) -> None:
    """Unedited it adds nothing; with one request edited, one task."""
    known = {row["id"] for row in ask("tasks")["tasks"]}
    assert ask("tasks", "import", "tasks.toml")["new"] == []
    text = exported.read_text(encoding="utf-8")
    exported.write_text(text.replace("Give total()", "Please give total()"), encoding="utf-8")
    brought = ask("tasks", "import", "tasks.toml")
    (edited,) = brought["edited"]
    assert brought["new"] == [edited["new"]]
    rows = {row["id"]: row for row in ask("tasks")["tasks"]}
    assert rows.keys() == known | {edited["new"]}
    assert rows[edited["new"]]["standing"] == "not reviewed"
    assert rows[edited["new"]]["split"] == rows[edited["known"]]["split"]
    reviewed(exported)
    assert ask("tasks", "import", "tasks.toml")["reviewed"] == [edited["new"]]
    assert ask("tasks", "show", edited["new"])["standing"] is None


def test_what_was_taken_out_is_not_exported_unless_named(exported: Path, ask: Ask) -> None:
    """A task that serves no more is not offered for review."""
    gone = ask("tasks")["tasks"][0]["id"]
    ask("tasks", "retire", gone, "--reason", "old")
    assert gone not in ask("tasks", "export", "rest.toml")["tasks"]
    assert ask("tasks", "export", "it.toml", gone)["tasks"] == [gone]


def test_a_run_of_a_file_moves_no_cursor(exported: Path, tmp_path: Path, ask: Ask) -> None:
    """It practises the tasks of the file alone, and what is new in the sessions is read by the next run."""
    reviewed(exported)
    store = SqliteStore.open(tmp_path / "school")
    before = store.find(Offset), store.find(Window), store.find(Session)
    transcript = next((tmp_path / ".claude/projects").rglob("*.jsonl"))
    transcript.touch()
    assert ask("run", "--tasks", "tasks.toml", "--dry-run")["sessions"] == []
    report = ask("run", "--tasks", "tasks.toml", "--yes", "--max-jobs", "3", code=3)
    assert report["sessions_read"] == 0
    assert report["spend"]["jobs"] > 0
    assert "tasks.toml" in " ".join(report["notes"])
    assert (store.find(Offset), store.find(Window), store.find(Session)) == before


def test_a_run_of_a_file_examines_on_its_tasks_under_the_same_alpha(exported: Path, tmp_path: Path) -> None:
    """The hold-out keeps its version and its ledger: a file is one more draft of it, not a new exam."""
    assert run(["run", "--yes", "--max-jobs", "40"]) in {0, 3}, "chance decides how it comes out"
    store = SqliteStore.open(tmp_path / "school")
    first = store.find(AlphaEntry)
    text = exported.read_text(encoding="utf-8")
    head, *tasks = text.split("\n\n\n[[task]]")
    kept = [one for one in tasks if 'split = "train"' in one or "os.path" in one][:9]
    exported.write_text("\n\n\n[[task]]".join([head, *kept]), encoding="utf-8")
    reviewed(exported)
    assert run(["run", "--tasks", "tasks.toml", "--yes", "--max-jobs", "40"]) in {0, 3}
    assert len(store.find(HoldoutVersion)) == 1
    entries = store.find(AlphaEntry)
    assert [entry.k for entry in entries] == list(range(1, len(entries) + 1))
    assert len({entry.holdout for entry in entries}) <= 1
    named = {line.split('"')[1] for one in kept for line in one.splitlines() if line.startswith("id = ")}
    for entry in entries[len(first) :]:
        drawn = {draw.task for draw in store.find(Draw, entry.wealth)}
        assert drawn
        assert drawn <= named


def test_an_unreviewed_file_is_not_used_by_an_agent_that_costs(
    exported: Path, tmp_path: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 4 with the fields that say it, before anything is stored or started. The scripted agent,
    which costs nothing, may use it."""
    exported.write_text(
        exported.read_text(encoding="utf-8").replace("Give total()", "Please give total()"), encoding="utf-8"
    )
    known = ask("tasks")["tasks"]
    refused = ask("run", "--tasks", "tasks.toml", "--runner", "claude-code", "--yes", code=4)["error"]
    assert refused["reasons"][0]["code"] == "unreviewed"
    assert "reviewed (at the top of the file); task 1: reviewed" in refused["text"]
    assert ask("tasks")["tasks"] == known
    plan = ask("run", "--tasks", "tasks.toml", "--runner", "claude-code", "--dry-run")["plan"]
    assert any("not reviewed" in line for line in plan)
    assert ask("run", "--tasks", "tasks.toml", "--yes", "--max-jobs", "3", code=3)["spend"]["jobs"] > 0
    assert [row["standing"] for row in ask("tasks")["tasks"]].count("not reviewed") == 1


def test_hostile_files_are_refused_whole(exported: Path, tmp_path: Path, ask: Ask) -> None:
    """A file that is none, is no text, is a pipe, a folder or asks for a command: wrong use, nothing kept."""
    known = ask("tasks")["tasks"]
    os.mkfifo("pipe")
    Path("binary").write_bytes(b"\xff\xfe\x00")
    Path("command").write_text(
        exported.read_text(encoding="utf-8").replace('kind = "footprint"', 'kind = "command"'),
        encoding="utf-8",
    )
    for name in ("missing", "pipe", ".", "binary", "command"):
        for command in (("tasks", "import"), ("run", "--tasks")):
            error = ask(*command, name, code=2)["error"]
            assert error["code"] == "user-error"
    assert ask("tasks")["tasks"] == known
    assert (
        "kind: must be one of 'footprint', 'touched'"
        in ask("tasks", "import", "command", code=2)["error"]["text"]
    )


def test_all_that_is_wrong_with_a_file_is_told_in_one_round(exported: Path, ask: Ask) -> None:
    """A key that is none and a correction that nobody knows stand in one answer, for an import and a run, of
    one task and of two, also where nobody has reviewed the file."""
    text = exported.read_text(encoding="utf-8")
    text = re.sub(r"(?m)^concerns = .*", 'concerns = ["k-0000000000"]', text)
    exported.write_text(text.replace("prompt = ", "prmpt = ", 1), encoding="utf-8")
    for command in (("tasks", "import"), ("run", "--runner", "codex", "--tasks")):
        told = ask(*command, "tasks.toml", code=2)["error"]["text"]
        for part in (
            "task 1: prmpt: unknown key",
            "task 1: prompt: missing",
            "task 1: concerns: there is no correction",
            "task 2: concerns: there is no correction",
        ):
            assert part in told


def test_a_file_in_which_nothing_is_to_learn_is_told(exported: Path, ask: Ask) -> None:
    """No task of it concerns a correction: wrong use, with the key that is missing."""
    lines = exported.read_text(encoding="utf-8").splitlines()
    exported.write_text(
        "\n".join(line for line in lines if not line.startswith("concerns")), encoding="utf-8"
    )
    assert "`concerns`" in ask("run", "--tasks", "tasks.toml", "--dry-run", code=2)["error"]["text"]
    assert ask("run", "--tasks", "tasks.toml", "--all-projects", code=2)["error"]["code"] == "user-error"


def test_a_copy_of_a_task_that_was_taken_out_is_told(
    held: Task, ask: Ask, capsys: pytest.CaptureFixture[str]
) -> None:
    """It would serve in the exam where the other one does not; nobody is told to retire that one again."""
    ask("tasks", "export", "t.toml", held.id)
    ask("tasks", "withhold", held.id, "--reason", "the importer is gone")
    text = Path("t.toml").read_text(encoding="utf-8").replace("empty = true", "empty = false")
    start = '[[task.file]]\npath = "a.txt"\ntext = "a"\n\n[[task.check]]'
    Path("t.toml").write_text(text.replace("[[task.check]]", start, 1), encoding="utf-8")
    assert run(["tasks", "import", "t.toml"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert f"was made of {held.id}, which you took out (withhold: the importer is gone)" in told
    assert f"tasks retire {held.id}" not in told
