"""`nightschool schedule`: what starts by itself, on a HOME with a crontab and a systemctl of its own."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from nightschool.adapters.schedule_folder import ScheduleFolder
from nightschool.adapters.sqlite_store import SqliteStore
from nightschool.cli.app import run
from nightschool.core.schedules import ProjectRun, ScheduledRun
from schedulers import Machine, machine

Ask = Callable[..., Any]
MINE = b"5 5 * * * true\n"


@pytest.fixture
def made(home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Cron alone is here; no agent is."""
    there = machine(home, bus=False)
    monkeypatch.setenv("PATH", there.path)
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    return there


@pytest.fixture
def agent(made: Machine, home: Path) -> Path:
    """A codex beside the schedulers: a native program, as a runner wants it, that can do nothing."""
    return Path(shutil.copy("/usr/bin/true", made.state("codex")))


def told(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert run(list(arguments)) == code
    return capsys.readouterr().out


def test_a_day_with_a_schedule(made: Machine, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Shown, printed, installed, shown with its next time, removed: the person's own line stays."""
    made.state("crontab.table").write_bytes(MINE)
    assert "nothing is scheduled" in told(capsys, "schedule")
    printed = told(capsys, "schedule", "print", "--at", "04:05")
    assert printed.splitlines()[1].startswith("5 4 * * * /usr/bin/env PATH=")
    assert made.table == MINE
    said = told(capsys, "schedule", "install", "--at", "04:05")
    assert f"scheduled each day at 04:05 by cron, for {project}" in said
    assert "the machine slept through" in said
    assert "each night it starts without asking: up to 100 jobs, money unknown" in said
    assert "limits of each run: 100 jobs, 60 minutes" in said
    assert "max_dollars = 5 under [limits] in " in said
    assert made.table == MINE + printed.encode()
    shown = told(capsys, "schedule")
    assert " 04:05 " in shown.split("next scheduled run: ")[1]
    assert "last scheduled run: none yet" in shown
    assert "removed from cron" in told(capsys, "schedule", "remove")
    assert made.table == MINE
    assert "nothing was scheduled" in told(capsys, "schedule", "remove")


def test_installing_twice_changes_nothing(made: Machine, ask: Ask) -> None:
    """The second time it says so, and one entry is there."""
    assert ask("schedule", "install")["changed"] is True
    first = made.table
    assert ask("schedule", "install")["changed"] is False
    assert made.table == first


def test_projects_come_one_by_one_and_go_so(made: Machine, project: Path, home: Path, ask: Ask) -> None:
    """Each project that is installed joins the one entry; `--project` takes one out; the last takes all."""
    other = home / "other one"
    other.mkdir()
    ask("schedule", "install")
    both = ask("schedule", "install", "--project", str(other))["look"]["plan"]
    assert both["projects"] == [str(project), str(other)]
    assert made.table.count(b"begin") == 1
    assert ask("schedule", "remove", "--project", str(project))["look"]["plan"]["projects"] == [str(other)]
    assert "not scheduled" in ask("schedule", "remove", "--project", str(project), code=2)["error"]["text"]
    assert ask("schedule", "remove", "--project", str(other))["removed"] == ["cron"]
    assert ask("schedule", "install", "--all-projects")["look"]["plan"]["projects"] == []
    assert b"--all-projects" in made.table
    assert ask("schedule", "install", "--at", "05:00")["look"]["plan"]["projects"] == []
    assert "all projects are" in ask("schedule", "install", "--project", str(other), code=2)["error"]["text"]


def test_the_home_folder_is_no_project(
    made: Machine, home: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In it a project must be named; of an entry that is there the time can be changed from anywhere."""
    project = Path.cwd()
    monkeypatch.chdir(home)
    assert "home folder" in ask("schedule", "install", code=2)["error"]["text"]
    ask("schedule", "install", "--project", str(project))
    plan = ask("schedule", "install", "--at", "05:00")["look"]["plan"]
    assert plan["entry"]["at"] == {"hour": 5, "minute": 0}
    assert plan["projects"] == [str(project)]


def test_no_key_is_written_anywhere(
    made: Machine, agent: Path, home: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Settings and places of the shell go into the entry; a key or an address with a password does not."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-key-0123456789")
    monkeypatch.setenv("CLAUDE_CODE_OAUTH_TOKEN", "planted-token")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://ann:planted-word@proxy.example/v1")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://proxy.example/v1")
    monkeypatch.setenv("CODEX_HOME", "codex here")
    monkeypatch.setenv("NIGHTSCHOOL_LIMITS_MAX_JOBS", "7")
    look = ask("schedule", "install")["look"]
    environment = dict(look["plan"]["entry"]["environment"])
    assert environment["NIGHTSCHOOL_HOME"] == str(home / "school")
    assert environment["HOME"] == str(home), "another HOME than the system's is what the run must see, too"
    assert environment["NIGHTSCHOOL_LIMITS_MAX_JOBS"] == "7"
    assert environment["OPENAI_BASE_URL"] == "https://proxy.example/v1"
    assert environment["CODEX_HOME"] == str(Path.cwd() / "codex here")
    assert environment["PATH"].split(os.pathsep)[0] == str(agent.parent)
    written = [made.table, *(path.read_bytes() for path in (home / "school").rglob("*") if path.is_file())]
    assert not [text for text in written if b"planted" in text]


def test_a_run_without_a_key_is_told_beforehand(
    made: Machine,
    agent: Path,
    home: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A key in the shell is none in the schedule: print and install say so, and where to write it; of what
    is printed the note is no part, and looking leaves no store."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-key-0123456789")
    monkeypatch.setenv("NIGHTSCHOOL_RUNNER", "codex")
    keys = home / ".config/nightschool/schedule.env"
    assert run(["schedule", "print"]) == 0
    printed = capsys.readouterr()
    assert str(keys) in printed.err.split("would stop")[1]
    assert "would stop" not in printed.out
    assert not (home / "school/nightschool.db").exists()
    assert str(keys) in told(capsys, "schedule", "install").split("would stop")[1]
    keys.parent.mkdir(parents=True)
    keys.write_text("OPENAI_API_KEY=sk-x\n", encoding="utf-8")
    keys.chmod(0o600)
    assert "would stop" not in told(capsys, "schedule", "install")
    keys.chmod(0o640)
    assert "chmod 600" in told(capsys, "schedule", "install").split("no scheduled run would start")[1]


def test_a_crontab_that_cannot_be_read_is_left_alone(made: Machine, ask: Ask) -> None:
    """Install and remove end with 1 and the message; showing tells that nobody knows."""
    ask("schedule", "install")
    made.state("crontab.table").write_bytes(MINE + made.table)
    before = made.table
    made.state("crontab.broken").write_text("crontab: Permission denied", encoding="utf-8")
    for command in (["install", "--at", "05:00"], ["remove"]):
        error = ask("schedule", *command, code=1)["error"]
        assert error["code"] == "scheduler-failed"
        assert "Permission denied" in error["text"]
    assert made.table == before
    assert ask("schedule")["look"]["state"] == "unknown"
    assert ask("schedule")["look"]["plan"]["entry"]["at"] == {"hour": 3, "minute": 17}
    assert ask("status")["schedule"]["trouble"]


def test_what_stands_is_told_and_not_what_was_meant(made: Machine, home: Path, ask: Ask) -> None:
    """An entry that was edited, taken out or forgotten has no next time, and the way out is told."""
    ask("schedule", "install")
    whole = made.table
    made.state("crontab.table").write_bytes(whole.replace(b"17 3", b"18 3"))
    assert ask("schedule")["look"]["state"] == "changed"
    assert ask("schedule")["look"]["next"] is None
    made.state("crontab.table").write_bytes(MINE)
    assert ask("schedule")["look"]["state"] == "gone"
    made.state("crontab.table").write_bytes(whole)
    (home / "school/schedule/plan.json").unlink()
    assert ask("schedule")["look"]["state"] == "unremembered"
    ask("schedule", "remove")
    assert made.table == b""


def test_from_cron_to_systemd(made: Machine, ask: Ask) -> None:
    """The entry moves: two would start two runs. Systemd's timer is preferred where it is, and kept."""
    made.state("crontab.table").write_bytes(MINE)
    ask("schedule", "install")
    made.state("systemctl.broken").unlink()
    assert ask("schedule", "install")["look"]["plan"]["scheduler"] == "cron"
    assert ask("schedule", "install", "--systemd")["look"]["plan"]["scheduler"] == "systemd"
    assert made.table == MINE
    assert len([*made.units.glob("nightschool-*")]) == 2
    assert ask("schedule", "install", "--at", "05:00")["look"]["plan"]["scheduler"] == "systemd"
    made.state("crontab.broken").write_text("crontab: not allowed", encoding="utf-8")
    assert ask("schedule", "remove")["removed"] == ["systemd"]
    assert [*made.units.glob("nightschool-*")] == []


def test_a_machine_that_has_neither(made: Machine, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    """Installing needs the person; printing works all the same."""
    made.state("crontab").unlink()
    monkeypatch.setenv("PATH", str(made.programs))
    assert ask("schedule", "install", code=4)["error"]["reasons"][0]["code"] == "no-scheduler"
    assert ask("schedule", "print")["scheduler"] == "cron"
    assert ask("schedule")["look"]["state"] == "none"


@pytest.mark.parametrize(
    "arguments",
    [
        ["install", "--at", "25:00"],
        ["install", "--cron", "--systemd"],
        ["install", "--all-projects", "--project", "."],
        ["install", "--project", "nowhere"],
        ["print", "--at", "noon"],
        ["run"],
    ],
    ids=" ".join,
)
def test_wrong_use_writes_nothing(arguments: list[str], made: Machine, ask: Ask) -> None:
    """Exit code 2, and no table is made."""
    ask("schedule", *arguments, code=2)
    assert not made.state("crontab.table").exists()


def test_a_start_runs_each_project_and_is_remembered(
    made: Machine, project: Path, home: Path, ask: Ask, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that went wrong does not keep the next from running; all is in the log, and in status."""
    ask("schedule", "install")
    done = ask("schedule", "run", "--project", str(home / "gone"), "--project", str(project), code=2)
    assert [(one["project"], one["code"]) for one in done["runs"]] == [
        (str(home / "gone"), 2),
        (str(project), 4),
    ]
    log = (home / "school/schedule/run.log").read_text(encoding="utf-8")
    assert "gone is no folder" in log
    assert "none of the agents" in log
    status = told(capsys, "status")
    assert f"{project}: needs you (exit code 4)" in status
    assert "next scheduled run: " in status
    assert ask("status")["schedule"]["last"] == done


def test_b56_a_run_that_meets_another_ends_with_6(
    made: Machine,
    project: Path,
    home: Path,
    ask: Ask,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """B56: a cycle that is at work is left in peace; the second says so, in the log too, and ends with 6."""
    monkeypatch.setenv("NIGHTSCHOOL_RUNNER", "scripted")
    with SqliteStore.open(home / "school").hold("cycle"):
        done = ask("schedule", "run", "--project", str(project), code=6)
    assert done["runs"][0]["code"] == 6
    assert "lock 'cycle'" in (home / "school/schedule/run.log").read_text(encoding="utf-8")
    assert "another cycle ran" in told(capsys, "status")


def test_b56_a_start_that_meets_another_start_ends_with_6(
    made: Machine, project: Path, home: Path, ask: Ask
) -> None:
    """B56: the second start runs nothing and says so in the log; what is known of the first stays."""
    folder = ScheduleFolder(home / "school")
    first = ask("schedule", "run", "--project", str(project), code=4)
    with folder.held():
        assert ask("schedule", "run", "--project", str(project), code=6)["error"]["code"] == "busy"
    assert "another start goes on" in folder.log.read_text(encoding="utf-8").splitlines()[-1]
    assert ask("schedule")["look"]["last"] == first


def test_keys_of_the_persons_file_reach_the_run(made: Machine, project: Path, home: Path, ask: Ask) -> None:
    """The file's variables are the run's; one that others may read starts nothing, and that is remembered."""
    keys = home / ".config/nightschool/schedule.env"
    keys.parent.mkdir(parents=True)
    keys.write_text("NIGHTSCHOOL_MODEL=not a name\n", encoding="utf-8")
    keys.chmod(0o600)
    assert ask("schedule", "run", "--project", str(project), code=2)["runs"][0]["code"] == 2
    assert "NIGHTSCHOOL_MODEL" in (home / "school/schedule/run.log").read_text(encoding="utf-8")
    keys.chmod(0o644)
    assert "chmod 600" in ask("schedule", "run", "--project", str(project), code=2)["error"]["text"]
    assert json.dumps(ask("schedule")["look"]["last"]["note"]).count("chmod 600") == 1


def test_forgetting_a_project_names_its_schedule_and_pins_and_blanks_the_last_start(
    made: Machine, project: Path, home: Path, capsys: pytest.CaptureFixture[str], ask: Ask
) -> None:
    """Settings of the person's own stay and are told, each with what takes it away; what was remembered of
    the last start is about a project that is gone."""
    told(capsys, "schedule", "install", "--at", "04:05")
    ask("pin", "CLAUDE.md")
    memory = ScheduleFolder(home / "school")
    at = datetime(2026, 1, 1, tzinfo=UTC)
    runs = tuple(ProjectRun(project=name, code=0) for name in (str(project), "/another"))
    memory.keep_last(ScheduledRun(started_at=at, ended_at=at, runs=runs))
    entry = made.table
    said = told(capsys, "forget", str(project), "--yes")
    assert f"nightschool schedule remove --project {project}" in said
    assert f"nightschool unpin {project / 'CLAUDE.md'}" in said
    last = memory.last()
    assert last is not None
    assert [run.project for run in last.runs] == ["/another"]
    assert made.table == entry
    again = ask("forget", str(project), "--dry-run")
    assert (again["settings"], again["scheduled"]) == ([str(project / "CLAUDE.md")], True)
    told(capsys, "schedule", "remove", "--project", str(project))
    told(capsys, "unpin", str(project / "CLAUDE.md"))
    told(capsys, "forget", str(project), "--yes")
    held = [
        path
        for path in (home / "school").rglob("*")
        if path.is_file() and str(project).encode() in path.read_bytes()
    ]
    assert held == []
