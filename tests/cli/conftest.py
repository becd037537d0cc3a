"""A HOME of its own for each command that reads, with the demo's history, and a way to ask for documents."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from desks import Desk
from nightschool.cli.app import run
from nightschool.testing.demo import lay_out

Ask = Callable[..., Any]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A HOME without sessions, and the current folder in it."""
    for name in [*os.environ]:
        if name.startswith(("NIGHTSCHOOL_", "CLAUDE_", "CODEX_", "XDG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NIGHTSCHOOL_HOME", str(tmp_path / "school"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def project(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The demo's history in HOME, and its project as the current folder."""
    found = lay_out(home)
    monkeypatch.chdir(found)
    return found


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    def asked(*arguments: str, code: int = 0) -> Any:
        assert run([*arguments, "--json"]) == code
        return json.loads(capsys.readouterr().out)

    return asked


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Desk:
    person = tmp_path / "person"
    person.mkdir()
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(person / ".config"))
    monkeypatch.delenv("NIGHTSCHOOL_CONFIG", raising=False)
    monkeypatch.setenv("NIGHTSCHOOL_HOME", str(tmp_path / "school"))
    monkeypatch.setenv("USER", "ada")
    monkeypatch.chdir(person)
    return Desk(tmp_path, capsys)
