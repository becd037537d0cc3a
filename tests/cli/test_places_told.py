"""Folders that are not there, homes that cannot hold a store, and a disk that has no room left."""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path

import pytest

from nightschool.adapters.sqlite_store import SqliteStore
from nightschool.cli import app
from nightschool.cli.opening import DATABASE
from nightschool.core.errors import NightschoolError


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of ours, empty, for a person without settings and keys, standing in a folder of theirs."""
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("NIGHTSCHOOL_HOME", str(tmp_path / "school"))
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return tmp_path / "school"


@pytest.mark.parametrize(
    "command", [("tasks",), ("status",), ("proposals",), ("run", "--yes"), ("tasks", "export", "t.toml")]
)
def test_a_project_that_is_not_there_is_refused(
    command: tuple[str, ...], home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By each command that takes one, not told as a project without anything."""
    assert app.run([*command, "--project", "nosuch"]) == 2
    assert "--project nosuch is no folder" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["status", "corrections", "tasks", "proposals"])
def test_a_home_that_cannot_hold_a_store_is_no_empty_one(
    command: str, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is known of what cannot be looked at: an error with the way out, not a count of 0."""
    (home.parent / "file").write_text("")
    for place in (home.parent / "file", home.parent / "file/below"):
        monkeypatch.setenv("NIGHTSCHOOL_HOME", str(place))
        assert app.run([command]) == 2
        assert "set NIGHTSCHOOL_HOME to a" in capsys.readouterr().err


@pytest.mark.parametrize("place", ["/a/place/that/is/full", None])
def test_a_full_disk_is_told_with_its_place_and_the_way_out(
    place: str | None, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever wrote there: one line, with what is free where."""

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", place)

    monkeypatch.setattr("nightschool.stages.pins.pins", full)
    assert app.run(["pin"]) == 1
    told = capsys.readouterr().err
    assert (place or "") in told
    assert "free some space" in told
    assert f"{home} (NIGHTSCHOOL_HOME)" in told


def test_a_store_on_a_full_disk_says_so(home: Path) -> None:
    """Also where SQLite only says that input and output fail."""
    store = SqliteStore.open(home)
    store.close()
    with pytest.raises(NightschoolError, match="free some space"):
        _fill(home)


def _fill(home: Path) -> None:
    """A write for which the database may not grow."""
    from nightschool.adapters import sqlite_store  # noqa: PLC0415 - what words an error

    with sqlite3.connect(home / DATABASE) as database:
        database.execute(f"pragma max_page_count = {database.execute('pragma page_count').fetchone()[0]}")
        try:
            database.execute("create table filler as select zeroblob(1000000)")
        except sqlite3.OperationalError as error:
            raise sqlite_store._worded(home, error.sqlite_errorname, str(error)) from error


def test_a_key_that_is_not_set_is_not_called_ok(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """None that is set is said in one line, with the way out; one that is set is enough."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    app.run(["doctor"])
    told = capsys.readouterr().out
    assert "ok  key" not in told
    assert "--  key: none is set of ANTHROPIC_API_KEY, CLAUDE_CODE_OAUTH_TOKEN, OPENAI_API_KEY" in told
    monkeypatch.setenv("CLAUDE_CODE_OAUTH_TOKEN", "sk-ant-oat01-not-one")
    app.run(["doctor"])
    told = capsys.readouterr().out
    assert "ok  key: CLAUDE_CODE_OAUTH_TOKEN is set" in told
    assert "--  key" not in told
