"""The commands that run the whole loop."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest

from nightschool.adapters.sqlite_store import SqliteStore
from nightschool.adapters.system_clock import SystemClock
from nightschool.cli import app, demo
from nightschool.cli.run import code_of
from nightschool.stages.numbers import holding_number
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
    # The recorded sessions grow older: look back as far as they lie.
    config = 'runner = "scripted"\n[harvest]\nlookback_limit_days = 36500\n'
    (tmp_path / "config.toml").write_text(config, encoding="utf-8")
    monkeypatch.chdir(root)
    return root


def test_the_demo_tells_the_loop_as_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    """`demo --json` gives the promised figures; whatever chance does, what was adopted is undone."""
    code = app.run(["demo", "--json"])
    document = json.loads(capsys.readouterr().out)
    assert document["sessions"] == 15
    assert document["candidates"] == 2
    figures = {"tasks", "base", "draft", "pairs", "wealth", "verdict", "published", "undone", "seconds"}
    assert set(document) == {"sessions", "candidates", *figures}
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
    assert app.run(["run", "--scope", "project"]) == 4
    assert "--yes" in capsys.readouterr().err


def test_a_run_leaves_its_report_in_three_forms(project: Path, tmp_path: Path) -> None:
    """HTML, Markdown and JSON lie in our home, for the person alone."""
    assert app.run(["run", "--yes", "--max-jobs", "1"]) == 3
    kept = sorted((tmp_path / "home" / "reports").iterdir())
    assert [path.suffix for path in kept] == [".html", ".json", ".md"]
    assert {path.stat().st_mode & 0o777 for path in kept} == {0o600}


def test_a_run_with_nothing_to_do_is_no_cycle(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It says that there is nothing to do, and why; it has no number, leaves no report, stands in no history,
    and the next run that practises has the number that it did not take."""
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.chdir(other)
    assert app.run(["run"]) == 0
    told = capsys.readouterr().out
    assert "nothing to do: no job was started" in told
    assert "report:" not in told
    assert app.run(["run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cycle"] is None
    monkeypatch.chdir(project)
    assert app.run(["pin", "CLAUDE.md"]) == 0
    capsys.readouterr()
    assert app.run(["run", "--yes", "--json"]) == 0
    pinned = json.loads(capsys.readouterr().out)
    assert pinned["cycle"] is None
    assert {item["code"] for item in pinned["learned"]} == {"pinned"}
    assert app.run(["history", "--json", "--all-projects"]) == 0
    assert json.loads(capsys.readouterr().out)["cycles"] == []
    assert not (tmp_path / "home" / "reports").exists()
    assert app.run(["unpin", "CLAUDE.md"]) == 0
    assert app.run(["run", "--yes", "--max-jobs", "1"]) == 3
    assert "n-0001" in capsys.readouterr().out


def test_the_demo_plays_in_the_same_place_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its lots hang on that place, so it comes out the same. What a killed one left is cleared away; where
    another one is at work, or somebody else has the name or may write there, it plays elsewhere, and no
    file of theirs is touched."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    usual = tmp_path / "nightschool-demo"
    for _ in range(2):
        with demo.place() as first:
            assert first == usual
            with demo.place() as second:
                assert second.parent == tmp_path
                assert second != usual
            assert first.is_dir()
        assert list(tmp_path.iterdir()) == []
    usual.mkdir(mode=0o700)
    (usual / "left").mkdir()
    with demo.place() as first:
        assert (first, list(first.iterdir())) == (usual, [])
    usual.mkdir()
    usual.chmod(0o755)
    (usual / "theirs").touch()
    with demo.place() as other:
        assert other != usual
    assert (usual / "theirs").exists()
    shutil.rmtree(usual)
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    usual.symlink_to(tmp_path / "elsewhere")
    with demo.place() as other:
        assert other != usual
    assert usual.is_symlink()


def test_of_two_runs_the_second_is_told_of_the_first_or_waits_for_it(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is at work, over which projects, since when and in which process, and how to wait; with --wait it
    starts when the other is done. Afterwards nothing in the lock tells of either."""
    with ExitStack() as other:
        store = SqliteStore.open(tmp_path / "home")
        other.callback(store.close)
        other.enter_context(holding_number(store, pool="/home/sam/one"))
        assert app.run(["run", "--yes", "--max-jobs", "1"]) == 6
        told = capsys.readouterr().err
        assert re.search(
            rf"a run over /home/sam/one \(process {os.getpid()}, since \d{{4}}-\d\d-\d\d \d\d:\d\d UTC\)",
            told,
        )
        assert "With --wait this run starts once the other is done" in told
        waits = SimpleNamespace(sleep=lambda _seconds: other.close())
        monkeypatch.setattr("nightschool.cli.reading.time", waits)
        assert app.run(["run", "--yes", "--max-jobs", "1", "--wait"]) == 3
        assert "waiting (Ctrl-C gives up): another nightschool is at work" in capsys.readouterr().err
    assert (tmp_path / "home" / "locks" / "cycle.lock").read_bytes() == b""


def test_a_run_with_nothing_to_practise_is_no_consent(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run that started no job was not asked about; the next one, which would start some, asks."""
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.chdir(other)
    assert app.run(["run"]) == 0
    assert "nothing to learn" in capsys.readouterr().out
    monkeypatch.chdir(project)
    assert app.run(["run"]) == 4
    assert "--yes" in capsys.readouterr().err


def test_the_plan_leaves_a_pinned_file_alone(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A pinned file is named as that in the plan, and no job is expected for it."""
    assert app.run(["pin", "CLAUDE.md"]) == 0
    capsys.readouterr()
    assert app.run(["run", "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert told.count("CLAUDE.md (pinned: left alone)") == 2
    assert "up to 0 jobs" in told
    assert app.run(["unpin", "CLAUDE.md"]) == 0
    capsys.readouterr()
    assert app.run(["run", "--dry-run"]) == 0
    assert "(pinned" not in capsys.readouterr().out


def test_a_dry_run_needs_no_agent(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without an agent on PATH a dry run still reads and plans, and says what a run would lack."""
    (tmp_path / "config.toml").write_text("[harvest]\nlookback_limit_days = 36500\n", encoding="utf-8")
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "git").symlink_to(str(shutil.which("git")))
    monkeypatch.setenv("PATH", str(tools))
    assert app.run(["run", "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert "2 of them worth an edit" in told
    assert "runner: none." in told
    assert app.run(["run"]) == 4


def test_a_run_without_a_key_stops_before_it_asks(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No key is said before anything is asked or spent: exit code 5, and the next run reads the same."""
    (tmp_path / "config.toml").write_text("[harvest]\nlookback_limit_days = 36500\n", encoding="utf-8")
    tools = tmp_path / "bin"
    tools.mkdir()
    # The least that counts as the agent's own program: its magic number is looked at, and its version.
    (tools / "claude").write_bytes(Path("/bin/sh").resolve().read_bytes())
    (tools / "claude").chmod(0o755)
    (tools / "git").symlink_to(str(shutil.which("git")))
    monkeypatch.setenv("PATH", str(tools))
    for name in ("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    assert app.run(["run", "--dry-run"]) == 0
    assert "a run would stop here: Claude Code has no key" in capsys.readouterr().out
    assert app.run(["run"]) == 5
    told = capsys.readouterr().err
    assert "claude setup-token" in told
    assert "Start?" not in told
    assert app.run(["doctor", "--json"]) == 4
    findings = json.loads(capsys.readouterr().out)["findings"]
    (login,) = [finding for finding in findings if finding["about"] == "login"]
    assert login["state"] == "blocks"
    assert app.run(["run", "--dry-run", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["sessions"]) == 15


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        ([], 0),
        (["already-followed", "taken-back"], 0),
        (["undecided", "already-followed"], 3),
        (["reject", "accept"], 0),
        (["lost", "waits-for-review"], 0),
        (["underpowered"], 3),
    ],
)
def test_the_exit_code_of_a_run_tells_what_was_certified(codes: list[str], expected: int) -> None:
    """3 where something was tried and nothing that passed waits; what needed no trial is no failure."""
    assert code_of(codes) == expected


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


def aged(folder: Path, days: float) -> None:
    """The files of a folder as if last written so many days ago."""
    then = SystemClock().now().timestamp() - days * 86_400
    for path in folder.rglob("*.jsonl"):
        os.utime(path, (then, then))


@pytest.mark.parametrize("before", [[], ["harvest"], ["harvest", "--since", "24h"], ["corrections"]])
def test_a_run_looks_back_until_there_is_enough(
    project: Path, before: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Sessions of the last weeks are found by the first run, whatever was looked at before it."""
    for agent in (".claude", ".codex"):
        aged(project.parent / agent, 12)
    if before:
        assert app.run(before) == 0
    capsys.readouterr()
    assert app.run(["run", "--dry-run", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["candidates"]) == 2


def test_a_busy_project_does_not_hide_a_quiet_one(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Enough in one project is not enough for a run in another, whose sessions lie further back."""
    quiet = project.parent / "quiet"
    subprocess.run(["git", "clone", "-q", str(project), str(quiet)], check=True)  # noqa: S607 - the person's git
    sessions = project.parent / ".codex"
    shutil.rmtree(sessions)
    busy = project.parent / ".claude/projects" / slug(project)
    behind = busy.with_name(slug(quiet))
    behind.mkdir()
    for path in busy.glob("*.jsonl"):
        name = path.stem[::-1]
        text = path.read_text("utf-8").replace(str(project), str(quiet)).replace(path.stem, name)
        (behind / f"{name}.jsonl").write_text(text, "utf-8")
    aged(busy, 0.1)
    aged(behind, 6)
    monkeypatch.chdir(quiet)
    assert app.run(["run", "--dry-run", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["candidates"]) >= 1


def slug(path: Path) -> str:
    return "".join(char if char.isalnum() else "-" for char in str(path))
