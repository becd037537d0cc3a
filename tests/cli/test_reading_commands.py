"""The commands that read: harvest, corrections, tasks, on a HOME with real sessions."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from nightschool.adapters.sqlite_store import SqliteStore
from nightschool.adapters.system_clock import SystemClock
from nightschool.cli import reading
from nightschool.cli.app import run
from nightschool.cli.when import moment
from nightschool.core.errors import UserError
from nightschool.core.harness import File
from nightschool.core.sessions import Session
from nightschool.core.tasks import Candidate, Correction, FilesSource, Footprint, Split, Task
from nightschool.rules.telling import NO_TASK

Ask = Callable[..., Any]
NOW = SystemClock().now()
FIELDS = {
    "id",
    "source",
    "agent_version",
    "project",
    "root",
    "started_at",
    "ended_at",
    "human_turns",
    "tool_calls",
    "tool_errors",
    "refusals",
    "corrections",
    "ending",
    "tokens_in",
    "tokens_out",
    "cost",
    "warnings",
}


def store(home: Path) -> SqliteStore:
    return SqliteStore.open(home / "school")


def a_transcript(home: Path) -> Path:
    return min((home / ".claude/projects").rglob("*.jsonl"))


def test_a_dry_harvest_stores_nothing(home: Path, project: Path, ask: Ask) -> None:
    """`harvest --dry-run` reads all and leaves no session and no cursor behind."""
    first = ask("harvest", "--all", "--dry-run")
    assert {session["source"] for session in first["sessions"]} == {"claude-code", "codex"}
    assert all(set(session) == FIELDS for session in first["sessions"])
    assert list(store(home).find(Session)) == []
    assert ask("harvest", "--all", "--dry-run") == first


def test_corrections_of_a_project(home: Path, project: Path, ask: Ask) -> None:
    """Kept to a project they are those of its sessions, and nothing of that list is stored as the whole; a
    folder without sessions has none."""
    other = home / "other"
    other.mkdir()
    kept = ask("corrections", "--project", str(project))
    assert list(store(home).find(Correction)) == []
    nothing = ask("corrections", "--project", str(other))
    assert (nothing["sessions"], nothing["corrections"]) == (0, [])
    every = ask("corrections", "--all-projects")
    assert {item["id"] for item in kept["corrections"]} <= {item["id"] for item in every["corrections"]}
    assert all(item["projects"] == [str(project)] for item in kept["corrections"])
    assert 0 < kept["sessions"] <= every["sessions"]
    assert len(list(store(home).find(Correction))) == len(every["corrections"])


BUSY = "another nightschool is at work here"


@pytest.mark.parametrize("command", ["corrections", "harvest"])
def test_a_reading_command_waits_shortly_for_one_that_writes(
    home: Path,
    project: Path,
    command: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """While another one reads it says once that it waits, and goes on when that is done."""
    monkeypatch.setattr(reading, "WAIT", 600)  # longer than a busy machine may take to come back here
    codes: list[int] = []
    second = Thread(target=lambda: codes.append(run([command, "--json"])))
    said = ""
    with store(home).hold("harvest"):
        second.start()
        while BUSY not in said:
            assert second.is_alive()
            time.sleep(0.02)
            said += capsys.readouterr().err
    second.join()
    printed = capsys.readouterr()
    assert codes == [0]
    assert (said + printed.err).count(BUSY) == 1
    assert json.loads(printed.out)


def test_a_reading_command_does_not_wait_for_ever(
    home: Path, project: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the other one goes on, it ends as busy: exit code 6, nothing read."""
    monkeypatch.setattr(reading, "WAIT", 0)
    with store(home).hold("harvest"):
        assert BUSY in ask("corrections", code=6)["error"]["text"]
    assert list(store(home).find(Session)) == []


def test_what_retention_drops_is_told_where_it_happens(
    home: Path, project: Path, ask: Ask, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`corrections` too says what it forgot by `retention_days`, what went with that, and what it leaves out
    of its list for it. The first time nothing goes before the person says so: what would is told, by a dry
    run too, and `forget --old` asks."""
    ask("corrections")
    every = store(home).find(Session)
    first = min(every, key=lambda s: s.ended_at or NOW)
    oldest = first.ended_at or NOW
    monkeypatch.setenv("NIGHTSCHOOL_RETENTION_DAYS", str((NOW - oldest).days))
    for command in (["corrections"], ["run", "--dry-run"]):
        assert run(command) == 0
        told = " ".join(capsys.readouterr().out.split())
        assert f"retention_days = {(NOW - oldest).days} would forget 2 sessions" in told
        assert "nightschool forget --old" in told
    assert run(["forget", "--old"]) == 4
    assert "pass --yes" in capsys.readouterr().err
    assert store(home).find(Session) == every
    assert ask("forget", "--old", "--yes")["goes"]["sessions"] == 2
    store(home).commit(first)
    assert run(["corrections"]) == 0
    told = capsys.readouterr().out
    assert f"older than {(NOW - oldest).days} days" in told
    assert "x older than you keep it" in told
    again = ask("corrections")
    assert (again["forgotten"], again["left_out"]["too-old"] > 0) == ([], True)


@pytest.mark.parametrize(
    "arguments", [["harvest", "--all", "--dry-run"], ["tasks"], ["status"], ["doctor"]], ids=" ".join
)
def test_only_looking_leaves_nothing_behind(arguments: list[str], home: Path, project: Path) -> None:
    """A command that stores nothing makes no store where there is none."""
    run([*arguments, "--json"])
    assert not (home / "school").exists()


def test_what_is_wrong_with_a_file_is_told_with_its_name(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of files that gave nothing the first ones are named with the reason, also when read before."""
    for index in range(12):
        (home / f"odd{index:02}.txt").write_bytes(b"no transcript\n")
    (home / "old.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfd")
    for _ in range(2):
        assert run(["harvest", *map(str, sorted(home.glob("o*")))]) == 0
        told = capsys.readouterr().out
        assert told.count(f"  {home}/o") == 10
        assert ".txt: no session of an agent (" in told
        assert "more: --json names them all" in told
    assert run(["harvest", str(home / "old.jsonl.zst")]) == 0
    assert "what zstd packed is damaged" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["harvest"], ["harvest", "x.jsonl"], ["tasks"], ["corrections"]])
def test_a_current_folder_that_is_gone(
    arguments: list[str], home: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shell may stand in a folder that was removed: that is told, and is no defect of ours."""
    gone = home / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert "is gone" in ask(*arguments, code=2)["error"]["text"]


def test_the_home_of_nobody_is_a_path_that_is_not_there(home: Path, ask: Ask) -> None:
    """`~name` of a person whom the system does not know stands for nothing."""
    assert "there is no" in ask("harvest", "~nobody-of-that-name/x", code=2)["error"]["text"]


def test_a_harvest_reads_each_file_once(home: Path, project: Path, ask: Ask) -> None:
    """A second harvest finds nothing new, and a path that a person names is given all the same."""
    read = ask("harvest", "--all")["sessions"]
    assert len(store(home).find(Session)) == len(read) > 0
    assert ask("harvest")["sessions"] == []
    again = ask("harvest", "--all")
    assert (again["sessions"], again["new"]) == (read, [])
    named = ask("harvest", str(a_transcript(home)))["sessions"]
    assert len(named) == 1
    assert named[0] in read


def test_content_tells_the_agent(home: Path, project: Path, ask: Ask) -> None:
    """A transcript under any name is recognised, unless --source says whose it is."""
    odd = home / "some notes.txt"
    shutil.copyfile(min((home / ".codex").rglob("*.jsonl")), odd)
    (session,) = ask("harvest", str(odd), "--dry-run")["sessions"]
    assert session["source"] == "codex"
    forced = ask("harvest", str(odd), "--source", "claude-code", "--dry-run")
    assert forced["sessions"] == []
    assert [left["path"] for left in forced["left_out"]] == [str(odd)]


def test_root_is_where_the_sessions_lie(home: Path, project: Path, ask: Ask) -> None:
    """`--root` is read in place of the usual folder, and --since leaves out what is older."""
    elsewhere = home / "elsewhere"
    elsewhere.mkdir()
    new, old = elsewhere / "new.jsonl", elsewhere / "old.jsonl"
    shutil.copyfile(a_transcript(home), new)
    shutil.copyfile(max((home / ".claude/projects").rglob("*.jsonl")), old)
    os.utime(old, (0, 0))
    asked = ("harvest", "--source", "claude-code", "--root", str(elsewhere), "--dry-run")
    assert len(ask(*asked)["sessions"]) == 2
    assert len(ask(*asked, "--since", "2020-01-01")["sessions"]) == 1


def test_since_is_the_time_of_the_session(home: Path, project: Path, ask: Ask) -> None:
    """A file that was touched later is no newer a session: harvest and corrections count the same ones."""
    everything = ask("harvest", "--all")["sessions"]
    ended = sorted(session["ended_at"] for session in everything)
    for file in home.rglob("*.jsonl"):
        os.utime(file)
    for begins in (ended[len(ended) // 2], "2100-01-01"):
        told = ask("harvest", "--since", begins)
        assert told["sessions"] == [one for one in everything if one["ended_at"] >= begins]
        assert told["new"] == []
        assert ask("corrections", "--since", begins)["sessions"] == len(told["sessions"])


def test_a_window_lists_what_is_known_and_what_is_new(
    home: Path, project: Path, ask: Ask, capsys: pytest.CaptureFixture[str]
) -> None:
    """--all gives known sessions and new ones, in a dry run too, and tells which are new."""
    late = a_transcript(home)
    kept = late.read_bytes()
    late.unlink()
    before = ask("harvest", "--all")["sessions"]
    late.write_bytes(kept)
    told = ask("harvest", "--all", "--dry-run")
    assert len(told["sessions"]) == len(before) + 1
    known = {one["id"] for one in before}
    assert [one["id"] for one in told["sessions"] if one["id"] not in known] == told["new"]
    assert run(["harvest", "--all"]) == 0
    assert f"{len(before) + 1} sessions, 1 with something new; 1 file read" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["nowhere.jsonl"], ["--root", "nowhere.jsonl"]])
def test_a_path_that_is_not_there_is_wrong_use(arguments: list[str], home: Path, ask: Ask) -> None:
    """Exit code 2, and the path is named."""
    told = ask("harvest", *arguments, code=2)
    assert str(home / "nowhere.jsonl") in told["error"]["text"]


def test_an_unknown_agent_is_wrong_use(home: Path, ask: Ask) -> None:
    """Exit code 2, and the agents that there are are named."""
    assert "codex" in ask("harvest", "--source", "nobody", code=2)["error"]["text"]


def test_when(home: Path) -> None:
    """Spans, dates and times are understood; anything else is told with what is allowed."""
    assert moment(None, NOW) is None
    assert moment("2w", NOW) == moment("14d", NOW) == moment("336h", NOW)
    assert moment("2026-11-02T08:00+01:00", NOW) == datetime(2026, 11, 2, 7, tzinfo=UTC)
    for text in ("soon", "7", "-1d"):
        with pytest.raises(UserError, match="2w"):
            moment(text, NOW)


def test_corrections_tell_what_recurs(home: Path, project: Path, ask: Ask) -> None:
    """What was said in most sessions stands first, with its form, agents, project and last time."""
    told = ask("corrections")
    first = told["corrections"][0]
    assert (first["wanted"], first["unwanted"]) == ("pathlib", "os.path")
    assert first["sessions"] == len(first["session_ids"]) > 2
    assert first["sources"] == ["claude-code", "codex"]
    assert first["projects"] == [str(project)]
    assert first["last_at"] is not None
    counts = [item["sessions"] for item in told["corrections"]]
    assert counts == sorted(counts, reverse=True)
    assert ask("corrections") == told, "reading again changes nothing"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("width", [60, 80, 100])
def test_a_terminal_shows_whole_words_and_ids(
    width: int, home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each width the sentence that was said can be read, dates and ids are whole, nothing is too wide."""
    task = a_task(str(project), ())
    store(home).commit(task)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", str(width))
    for command, words in (
        ("corrections", ["use pathlib, not os.path", "2026-11-17"]),
        ("tasks", [f"{task.id}  training", "add requests"]),
        ("harvest", ["nothing new"]),
        ("status", ["in all projects"]),
    ):
        screen = Terminal()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", screen)
            assert run([command]) == 0
        lines = [line.rstrip() for line in screen.getvalue().splitlines()]
        assert max(map(len, lines)) <= width
        for text in words:
            assert any(text in line for line in lines), (command, text)


def test_corrections_of_one_agent_and_time(home: Path, project: Path, ask: Ask) -> None:
    """--source keeps one agent's, --since what is newer."""
    ask("corrections")
    told = ask("corrections", "--source", "codex")
    assert {source for item in told["corrections"] for source in item["sources"]} == {"codex"}
    assert ask("corrections", "--since", "2100-01-01")["corrections"] == []


def test_what_to_type_next_works_from_home(
    home: Path, project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder without sessions, as the home folder, the next step names the project."""
    assert run(["corrections"]) == 0
    assert "next: nightschool run --dry-run" in capsys.readouterr().out
    monkeypatch.chdir(home)
    for command in ("corrections", "status", "tasks"):
        assert run([command]) == 0
        assert f"next: nightschool run --project {project}" in capsys.readouterr().out


def test_no_history_is_told_calmly(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a session the folders that were looked at are named, and what to type next."""
    assert run(["corrections"]) == 0
    told = capsys.readouterr().out
    assert str(home / ".claude/projects") in told
    assert str(home / ".codex/sessions") in told
    assert all(f"harvest --source {name} --root DIR" in told for name in ("claude-code", "codex"))
    assert "next: nightschool demo" in told


def test_tasks_of_this_project(
    home: Path, project: Path, ask: Ask, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each task tells its side, its check in words and its correction; other projects' only when asked."""
    candidate = Candidate(
        correction="c-1",
        statement="use uv, not pip",
        evidence=(),
        sessions=(),
        check=Footprint(wanted="uv", unwanted="pip"),
        project=str(project),
    )
    here = a_task(str(project), (candidate.id,))
    store(home).commit(candidate, here, a_task(str(home / "other"), ()))
    (row,) = ask("tasks")["tasks"]
    assert (row["id"], row["split"], row["checks"]) == (here.id, "train", ["uses 'uv' and not 'pip'"])
    assert row["concerns"] == [{"candidate": candidate.id, "statement": "use uv, not pip"}]
    assert len(ask("tasks", "--all-projects")["tasks"]) == 2
    assert run(["tasks"]) == 0
    told = capsys.readouterr().out
    assert "add requests" in told
    assert "and more" not in told


def a_task(project: str, concerns: tuple[str, ...]) -> Task:
    return Task(
        prompt="\nadd requests\nand more",
        workspace=FilesSource(files=(File(path="a", content=b"a"),)),
        checks=(Footprint(wanted="uv", unwanted="pip"),),
        session="codex:1",
        turn=0,
        source="codex",
        project=project,
        cluster="g-1",
        split=Split.TRAIN,
        concerns=concerns,
    )


def test_sessions_without_a_task_are_listed_with_the_reason(
    project: Path, ask: Ask, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a report counts can be looked up: each session by its id, and nothing is stored on the way."""
    del project
    rows = ask("tasks", "--none")["no_task"]
    assert rows
    assert {row["session"].partition(":")[0] for row in rows} <= {"claude-code", "codex"}
    assert all(row["code"] in NO_TASK and row["why"] for row in rows)
    assert ask("tasks")["tasks"] == []
    assert run(["tasks", "--none"]) == 0
    told = capsys.readouterr().out
    assert all(row["session"] in told for row in rows)
