"""`words.corrections` and `words.approvals` reach each command that judges what a person said."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nightschool.adapters.sqlite_store import SqliteStore
from nightschool.cli.app import run
from nightschool.core.tasks import Correction
from project_builders import repository
from transcripts import CLAUDE_ID, claude, claude_call, claude_result, write_rows

Ask = Callable[..., Any]
SAID = "qatlh, the menu belongs on the left"


@pytest.fixture
def told(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A session in which a person says what no list knows."""
    project = repository(home / "shop")
    monkeypatch.chdir(project)
    made = claude_call(2, "Write", file_path=f"{project}/menu.py", content="side = 'right'\n")
    rows = [
        claude("user", 1, "Draw a menu with all the pages of the shop"),
        made,
        claude_result(3, 2, "written"),
        claude("assistant", 4, [{"type": "text", "text": "Done."}]),
        claude("user", 5, SAID),
        claude("assistant", 6, [{"type": "text", "text": "Moved."}]),
        claude("user", 7, "chido"),
    ]
    path = home / f".claude/projects/shop/{CLAUDE_ID}.jsonl"
    return write_rows(path, [{**row, "cwd": str(project)} for row in rows])


def test_own_words_reach_every_command(
    home: Path, told: Path, ask: Ask, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was read before the phrase was on the list is judged anew, and so again when it is off it."""

    def judged() -> tuple[object, ...]:
        listed = [row["statement"] for row in ask("corrections")["corrections"]]
        rows = ask("explain", str(told))
        signals = [row["signal"] for row in rows["rows"] if row["signal"] is not None]
        (session,) = ask("harvest", str(told))["sessions"]
        capsys.readouterr()
        assert run(["harvest", str(told), "--stream"]) == 0
        streamed = [signal["kind"] for signal in json.loads(capsys.readouterr().out)["signals"]]
        heard = [row["statement"] for row in rows["corrections"]]
        mined = "corrected" in {row["code"] for row in rows["no_task"]}  # as a run mines it
        assert streamed == signals
        return listed, signals, session["corrections"], heard, mined

    config = home / ".config/nightschool/config.toml"
    config.parent.mkdir(parents=True)
    assert judged() == ([], [], 0, [], False)
    config.write_text('[words]\ncorrections = ["qatlh"]\napprovals = ["chido"]\n')
    assert judged() == ([SAID], ["correction", "approval"], 1, [SAID], True)
    config.write_text("")
    assert judged() == ([], [], 0, [], False)


def test_a_variable_names_them_too(home: Path, told: Path, monkeypatch: pytest.MonkeyPatch, ask: Ask) -> None:
    """A list is separated by commas; what was heard is kept."""
    assert told.exists()
    monkeypatch.setenv("NIGHTSCHOOL_WORDS_CORRECTIONS", "nonsense, qatlh")
    assert [row["statement"] for row in ask("corrections")["corrections"]] == [SAID]
    assert [one.statement for one in SqliteStore.open(home / "school").find(Correction)] == [SAID]


@pytest.mark.parametrize(
    ("phrases", "part"),
    [
        ('[""]', "its item 1 is '': empty, or with blanks around it"),
        ('["ok", "\\t"]', "its item 2 is '\\t': of several lines, or with tabs"),
        ('[" bah"]', "with blanks around it"),
        ('["bah\\nnope"]', "of several lines"),
        ('["Bah. Not that"]', "of several sentences"),
        (f'["{"x" * 201}"]', "200 characters"),
        ('"bah"', "is 'bah'; allowed is a list of phrases"),
        ("[3]", "its item 1 is 3"),
    ],
)
@pytest.mark.parametrize("name", ["corrections", "approvals"])
def test_what_could_never_be_heard_is_refused(
    home: Path, capsys: pytest.CaptureFixture[str], name: str, phrases: str, part: str
) -> None:
    """With the file, the key, the phrase and what is allowed; marks and dots inside a phrase are fine."""
    config = home / ".config/nightschool/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f"[words]\n{name} = {phrases}\n")
    assert run(["corrections"]) == 2
    error = " ".join(capsys.readouterr().err.split())
    assert all(text in error for text in (str(config), f"words.{name}", part, "on one line")), error
    config.write_text(
        f'[words]\n{name} = ["use os.path!", "\U0001f469\u200d\U0001f4bb", "{"x" * 200}", "??"]\n'
    )
    assert run(["corrections"]) == 0


def test_a_project_does_not_say_by_which_words_a_person_judges(
    home: Path, told: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They hold for the sessions of all projects, and a file comes with a clone."""
    assert told.exists()
    (home / "shop/.nightschool.toml").write_text('[words]\ncorrections = ["the"]\n')
    assert run(["run", "--dry-run"]) == 2
    assert "words.corrections may not be set by a project" in " ".join(capsys.readouterr().err.split())
