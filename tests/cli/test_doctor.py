"""What `doctor` finds, on a HOME with real sessions."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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


def about(told: Any, what: str) -> list[Any]:
    return [finding for finding in told["findings"] if finding["about"] == what]


def test_doctor_finds_agents_sessions_and_keys(
    project: Path, home: Path, agent_on_path: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Versions, folders and origins are told; of a key only that it is set; unread agents by name."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-indeed")
    monkeypatch.setenv("NIGHTSCHOOL_SANDBOX", "unsafe-process")
    (home / ".gemini").mkdir()
    told = ask("doctor", code=4)
    assert "codex-cli 9.9" in about(told, "agent codex")[0]["text"]
    assert "6 files" in about(told, "sessions codex")[0]["text"]
    assert "not read yet" in about(told, "sessions gemini")[0]["text"]
    assert "OPENAI_API_KEY is set" in [finding["text"] for finding in about(told, "key")]
    assert "very-secret" not in json.dumps(told)
    assert "NIGHTSCHOOL_SANDBOX" in about(told, "setting sandbox")[0]["text"]
    assert about(told, "runner") == []
    blocking = [finding for finding in told["findings"] if finding["state"] == "blocks"]
    assert [finding["about"] for finding in blocking] == ["sandbox"]
    assert all(finding["fix"] for finding in blocking)


def test_moved_folders_are_looked_at(
    project: Path, home: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CLAUDE_CONFIG_DIR and CODEX_HOME hold in every command that tells where it looked."""
    (home / ".claude").rename(home / "claude-moved")
    (home / ".codex").rename(home / "codex-moved")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "claude-moved"))
    monkeypatch.setenv("CODEX_HOME", str(home / "codex-moved"))
    told = ask("corrections")
    assert told["sessions"] == 15
    assert told["looked_at"] == [
        str(home / "claude-moved/projects"),
        str(home / "codex-moved/sessions"),
        str(home / "codex-moved/archived_sessions"),
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
