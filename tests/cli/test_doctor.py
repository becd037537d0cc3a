"""What `doctor` finds, on a HOME with real sessions."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nightschool.cli import doctor
from nightschool.cli.app import run
from nightschool.cli.reading import settings_here
from nightschool.wiring import AGENTS, TESTED
from schedulers import Machine, machine

Ask = Callable[..., Any]


@pytest.fixture
def agent_on_path(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program called codex that tells a version."""
    program = home / "bin/codex"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho codex-cli 9.9\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}/usr/bin{os.pathsep}/bin")
    return program


@pytest.fixture
def schedulers(home: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A cron of its own, and a codex that is a native program."""
    made = machine(home, bus=False)
    shutil.copy("/usr/bin/true", made.state("codex"))
    monkeypatch.setenv("PATH", made.path)
    monkeypatch.setenv("NIGHTSCHOOL_RUNNER", "codex")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return made


def about(told: Any, what: str) -> list[Any]:
    return [finding for finding in told["findings"] if finding["about"] == what]


def test_doctor_finds_agents_sessions_and_keys(
    project: Path, home: Path, agent_on_path: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Versions, folders and origins are told; of a key only that it is set; agents not read by name,
    and nothing of those that the person does not have."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-indeed")
    monkeypatch.setenv("NIGHTSCHOOL_SANDBOX", "unsafe-process")
    (home / ".gemini").mkdir()
    (home / ".kimi").mkdir()
    (home / ".local/share").mkdir(parents=True, exist_ok=True)
    told = ask("doctor", code=4)
    assert "codex-cli 9.9" in about(told, "agent codex")[0]["text"]
    assert "6 files" in about(told, "sessions codex")[0]["text"]
    assert about(told, "sessions gemini")[0]["text"].startswith("none in ")
    assert "not read yet" in about(told, "sessions kimi")[0]["text"]
    assert about(told, "sessions pi") == []
    assert about(told, "sessions opencode") == [], "its folder lies among the data of all programs"
    assert "OPENAI_API_KEY is set" in [finding["text"] for finding in about(told, "key")]
    assert "very-secret" not in json.dumps(told)
    assert "NIGHTSCHOOL_SANDBOX" in about(told, "setting sandbox")[0]["text"]
    assert about(told, "runner") == []
    blocking = [finding for finding in told["findings"] if finding["state"] == "blocks"]
    assert [finding["about"] for finding in blocking] == ["sandbox"]
    assert all(finding["fix"] for finding in blocking)


def test_a_runner_that_nobody_declares_blocks(
    project: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name of nothing that is installed is told by doctor as what blocks, and stops a command that needs no
    runner, as every setting that is wrong does."""
    monkeypatch.setenv("NIGHTSCHOOL_RUNNER", "unknown")
    (found,) = ask("doctor", code=4)["findings"]
    assert (found["about"], found["state"]) == ("settings", "blocks")
    assert "NIGHTSCHOOL_RUNNER: runner: there is no runner 'unknown'; there are: auto, " in found["text"]
    assert "there is no runner 'unknown'" in str(ask("tasks", code=2)["error"])


def test_moved_folders_are_looked_at(
    project: Path, home: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The variables that move an agent's folder hold in every command that tells where it looked."""
    (home / ".claude").rename(home / "claude-moved")
    (home / ".codex").rename(home / "codex-moved")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "claude-moved"))
    monkeypatch.setenv("CODEX_HOME", str(home / "codex-moved"))
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(home / "pi-moved"))
    monkeypatch.setenv("GEMINI_CLI_HOME", str(home / "gemini-moved"))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data-moved"))
    monkeypatch.setenv("COPILOT_HOME", str(home / "copilot-moved"))
    monkeypatch.setenv("CURSOR_CONFIG_DIR", str(home / "cursor-moved"))
    monkeypatch.setenv("VSCODE_PORTABLE", str(home / "vscode-moved"))
    told = ask("corrections")
    assert told["sessions"] == 15
    assert told["looked_at"] == [
        str(home / "claude-moved/projects"),
        str(home / "codex-moved/sessions"),
        str(home / "codex-moved/archived_sessions"),
        str(home / "copilot-moved/session-state"),
        str(home / "cursor-moved/projects"),
        str(home / "gemini-moved/.gemini/tmp"),
        str(home / "data-moved/opencode"),
        str(home / "pi-moved/sessions"),
        str(home / "vscode-moved/user-data/User/workspaceStorage"),
        str(home / "vscode-moved/user-data/User/globalStorage/emptyWindowChatSessions"),
    ]
    monkeypatch.setenv("CODEX_HOME", str(home / "nowhere"))
    findings = ask("doctor", code=4)
    assert str(home / "claude-moved/projects") in about(findings, "sessions claude-code")[0]["text"]
    (none,) = about(findings, "sessions codex")
    assert str(home / "nowhere/sessions") in none["text"]
    assert "CODEX_HOME" in none["fix"]


def test_doctor_without_an_agent(home: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    """No agent on PATH blocks a run: exit code 4, with the way out."""
    monkeypatch.setenv("PATH", str(home))
    (finding,) = about(ask("doctor", code=4), "runner")
    assert finding["state"] == "blocks"
    assert "install" in finding["fix"]


def test_doctor_tells_broken_settings_and_stores(
    home: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What keeps other commands from starting is a finding here, not an end."""
    (home / "school").mkdir()
    (home / "school/nightschool.db").write_bytes(b"no database at all" * 100)
    assert about(ask("doctor", code=4), "store")[0]["state"] == "blocks"
    monkeypatch.setenv("NIGHTSCHOOL_MODE", "x")
    assert "NIGHTSCHOOL_MODE" in about(ask("doctor", code=4), "settings")[0]["text"]


def test_each_problem_has_its_fix(
    project: Path, home: Path, agent_on_path: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is not as it should be tells what to do, in the document and on the screen."""
    (home / ".kimi").mkdir()
    (home / ".local/share").mkdir(parents=True, exist_ok=True)
    (home / ".codex/sessions/lost.jsonl").symlink_to(home / "nowhere")
    (home / ".claude/settings.json").write_text('{"cleanupPeriodDays": 7}', encoding="utf-8")
    findings = ask("doctor", code=4)["findings"]
    wrong = [finding for finding in findings if finding["state"] != "ok"]
    assert {finding["about"] for finding in wrong} >= {
        "agent codex",
        "sessions kimi",
        "sessions codex",
        "retention claude-code",
        "runner",
    }
    assert [finding for finding in wrong if not finding["fix"]] == []


def test_what_the_agent_removes_is_told(project: Path, home: Path, ask: Ask) -> None:
    """Transcripts vanish after 30 days unless the person said otherwise; codex removes none."""
    (kept,) = about(ask("doctor", code=4), "retention claude-code")
    assert kept["state"] == "note"
    assert "30 days after its last use (its default)" in kept["text"]
    assert f'"cleanupPeriodDays" in {home}/.claude/settings.json' in kept["fix"]
    (home / ".claude/settings.json").write_text('{"cleanupPeriodDays": 365}', encoding="utf-8")
    told = ask("doctor", code=4)
    assert about(told, "retention claude-code")[0]["state"] == "ok"
    assert about(told, "retention codex") == []


def test_a_transcript_that_cannot_be_read_is_named(project: Path, home: Path, ask: Ask) -> None:
    """A link that leads nowhere is counted and named; the others are counted as before."""
    (home / ".codex/sessions/lost.jsonl").symlink_to(home / "nowhere")
    texts = [finding["text"] for finding in about(ask("doctor", code=4), "sessions codex")]
    assert f"1 file or folder cannot be read: {home}/.codex/sessions/lost.jsonl" in texts


def test_a_clock_that_is_behind_is_told(project: Path, home: Path, ask: Ask) -> None:
    """A transcript from the day after tomorrow says that the clock is wrong."""
    assert about(ask("doctor", code=4), "clock")[0]["state"] == "ok"
    file = min((home / ".claude/projects").rglob("*.jsonl"))
    later = file.stat().st_mtime + 200_000 + 10 * 365 * 86_400
    os.utime(file, (later, later))
    (clock,) = about(ask("doctor", code=4), "clock")
    assert clock["state"] == "note"
    assert str(file) in clock["text"]


def test_an_agent_that_cannot_run_blocks(project: Path, agent_on_path: Path, ask: Ask) -> None:
    """A script called codex beside which no native program lies is no agent that can practise."""
    (finding,) = about(ask("doctor", code=4), "runner")
    assert "no native program" in finding["text"]


def test_the_schedule_is_looked_at(
    project: Path, home: Path, schedulers: Machine, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its entry, how the last start went, its login, and a file of keys that others may read."""
    assert about(ask("doctor", code=4), "schedule")[0]["text"] == "nothing is scheduled"
    ask("schedule", "install")
    told = ask("doctor", code=4)
    assert about(told, "schedule")[0]["text"].startswith("scheduled each day at 03:17 by cron")
    (login,) = about(told, "schedule keys")
    assert "OPENAI_API_KEY" in login["text"]
    keys = home / ".config/nightschool/schedule.env"
    assert f"chmod 600 {keys}" in login["fix"]
    keys.parent.mkdir(parents=True)
    keys.write_text("OPENAI_API_KEY=sk-very-secret-indeed\n", encoding="utf-8")
    keys.chmod(0o600)
    told = ask("doctor", code=4)
    assert [finding["state"] for finding in about(told, "schedule keys")] == ["ok"]
    assert "very-secret" not in json.dumps(told)
    keys.chmod(0o644)
    (open_to_all,) = about(ask("doctor", code=4), "schedule keys")
    assert "chmod 600" in open_to_all["fix"]
    assert run(["schedule", "run", "--project", str(project)]) == 2
    schedulers.state("crontab.table").write_bytes(b"")
    project.rename(home / "moved")
    monkeypatch.chdir(home)
    entry, gone, last = about(ask("doctor", code=4), "schedule")
    assert gone["text"] == f"{project}, which it names, is not there any more"
    assert "schedule install" in entry["fix"]
    assert last["fix"] == f"see {home}/school/schedule/run.log"


def test_tested_versions_are_those_that_the_tests_install() -> None:
    """The versions that `doctor` knows as tested are those of tests/agents/package.json."""
    package = json.loads((Path(__file__).parents[1] / "agents/package.json").read_text(encoding="utf-8"))
    runners = {"@anthropic-ai/claude-code": "claude-code", "@openai/codex": "codex"}
    installed = {version for text, version in package["dependencies"].items() if text in runners}
    assert set(TESTED) == set(AGENTS) == set(runners.values())
    assert {version for versions in TESTED.values() for version in versions} == installed


def test_doctor_tells_an_extra_that_is_asked_for_and_missing(
    home: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second opinion that cannot be had would stop a run late: it is told here, with its install line."""
    monkeypatch.setenv("NIGHTSCHOOL_PUBLISH_SECOND_OPINION", "true")
    assert about(ask("doctor", code=4), "second opinion") == []
    monkeypatch.setitem(sys.modules, "detect_secrets.core.plugins.util", None)
    (found,) = about(ask("doctor", code=4), "second opinion")
    assert found["state"] == "blocks"
    assert 'pip install "nightschool[scan]"' in found["text"]


def test_a_missing_key_is_told_once(
    schedulers: Machine, ask: Ask, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the agent says what it lacks the list of variables does not say it again, and where a key is
    there nothing is said of those that are not needed."""
    told = ask("doctor", code=4)
    (login,) = about(told, "login")
    assert "auth.json" in login["text"], "a key in it does not serve, and that is said"
    assert about(told, "key") == []
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-indeed")
    run(["doctor", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert {finding["state"] for finding in about(told, "key") + about(told, "login")} == {"ok"}


def test_an_address_of_ones_own_is_asked_and_a_vendors_is_not(home: Path) -> None:
    """What a run would be lost to is told before it; no vendor is told that somebody looks."""
    chosen = settings_here()
    with socket.create_server(("127.0.0.1", 0)) as server:
        up = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        (finding,) = doctor._model("codex", chosen, {"OPENAI_BASE_URL": up})
        assert (finding.state, up in finding.text) == ("ok", True)
    (finding,) = doctor._model("codex", chosen, {"OPENAI_BASE_URL": up})
    assert (finding.state, up in finding.text) == ("blocks", True)
    assert finding.fix
    (finding,) = doctor._model("codex", chosen, {"ANTHROPIC_BASE_URL": up})
    assert finding.state == "ok"
    assert "nothing was sent" in finding.text
