"""What `forget` takes a name for: folders with all below them, names of projects, links; what it refuses."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cycle_builders import Place, QuickRunner, run_cycle
from nightschool.adapters.sqlite_store import SqliteStore
from nightschool.cli import app
from nightschool.core.cycles import CycleReport
from nightschool.core.sessions import Session
from nightschool.core.tasks import IMPORTED, FilesSource, Footprint, Split, Task
from transcripts import claude, write_rows

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person with folders without git, one in another, and a repository whose sub-folder is worked in."""
    person = tmp_path / "sam"
    for name in ("notes", "notes/site", "notes/scripts", "other/notes2", "mono/api"):
        (person / name).mkdir(parents=True)
        session(person, person / name)
    subprocess.run(["/usr/bin/env", "git", "init", "-q", str(person / "mono")], check=True)
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.setenv("NIGHTSCHOOL_HOME", str(tmp_path / "school"))
    monkeypatch.setenv("NIGHTSCHOOL_CONFIG", str(tmp_path / "config.toml"))
    (tmp_path / "config.toml").write_text("", encoding="utf-8")
    monkeypatch.chdir(person)
    assert app.run(["harvest", "--all"]) == 0
    return person


def session(person: Path, folder: Path) -> None:
    name = folder.relative_to(person).as_posix().replace("/", "-")
    rows = [claude("user", 1, f"Please look at {name} of Marguerite", cwd=str(folder), sessionId=f"s-{name}")]
    write_rows(person / ".claude" / "projects" / name / f"s-{name}.jsonl", rows)


def known(home: Path) -> set[str]:
    store = SqliteStore.open(home.parent / "school")
    try:
        return {one.session_id.removeprefix("s-") for one in store.find(Session)}
    finally:
        store.close()


def written(home: Path, root: Path) -> Task:
    return Task(
        prompt=f"Write to Marguerite in {root.name}",
        workspace=FilesSource(files=()),
        checks=(Footprint(wanted="pnpm"),),
        session=f"{IMPORTED}:{root}",
        turn=0,
        source=IMPORTED,
        project=str(root),
        cluster="c",
        split=Split.TRAIN,
    )


def said(capsys: Captured) -> str:
    found = capsys.readouterr()
    return " ".join((found.out + found.err).split())


def told(capsys: Captured) -> Any:
    return json.loads(capsys.readouterr().out)


NOTES = {"notes", "notes-site", "notes-scripts"}
OTHERS = {"other-notes2", "mono-api"}


@pytest.mark.parametrize("name", ["notes", "notes/", "{home}/notes", "{home}/link"])
def test_all_below_a_folder_goes_with_it(name: str, home: Path, capsys: Captured) -> None:
    """Sessions of its sub-folders, and tasks that a person brought for them, go too, by whatever name or link
    the folder is meant; nothing below it is read again until the folder is let in."""
    (home / "link").symlink_to(home / "notes")
    store = SqliteStore.open(home.parent / "school")
    store.commit(written(home, home / "notes" / "scripts"), written(home, home / "other" / "notes2"))
    store.close()
    assert app.run(["forget", name.format(home=home), "--yes"]) == 0
    assert known(home) == OTHERS
    assert app.run(["harvest", "--all"]) == 0
    assert known(home) == OTHERS
    store = SqliteStore.open(home.parent / "school")
    assert [task.project for task in store.find(Task)] == [str(home / "other" / "notes2")]
    store.close()
    assert b"Marguerite in scripts" not in (home.parent / "school" / "nightschool.db").read_bytes()
    capsys.readouterr()
    assert app.run(["forget", str(home / "notes/site"), "--allow"]) == 2
    assert f"forgotten with {home / 'notes'}" in said(capsys)
    assert app.run(["forget", name.format(home=home), "--allow"]) == 0
    assert app.run(["harvest", "--all"]) == 0
    assert known(home) == NOTES | OTHERS


def test_a_report_over_several_projects_loses_those_below(home: Path) -> None:
    """Their names are taken out of what a cycle over several projects says that it was about."""
    roots = [home / "notes" / "site", home / "other" / "notes2"]
    place = Place(person=home, ours=home.parent / "school")
    report = run_cycle(place, runner=QuickRunner())
    store = SqliteStore.open(place.ours)
    store.commit(replace(report, cycle="n-9000", project=", ".join(map(str, roots))))
    store.close()
    assert app.run(["forget", "notes", "--yes"]) == 0
    store = SqliteStore.open(home.parent / "school")
    found = store.get(CycleReport, "n-9000")
    assert found is not None
    assert found.project == str(roots[1])
    store.close()


def test_the_name_of_a_project_is_no_folder_that_lies_here(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """`forget notes` in `notes`, which holds a folder `notes/`, means the project."""
    (home / "notes" / "notes").mkdir()
    monkeypatch.chdir(home / "notes")
    assert app.run(["forget", "notes", "--yes"]) == 0
    assert known(home) == OTHERS


def test_two_projects_of_a_name_are_refused_with_both(home: Path, capsys: Captured) -> None:
    """Of what is known by the same name neither is taken, and both are named."""
    (home / "other" / "notes").mkdir()
    session(home, home / "other" / "notes")
    assert app.run(["harvest", "--all"]) == 0
    capsys.readouterr()
    assert app.run(["forget", "notes", "--yes"]) == 2
    text = said(capsys)
    assert f"{home / 'notes'}, {home / 'other' / 'notes'}" in text
    assert known(home) >= NOTES


def test_a_folder_of_which_nothing_is_stored_is_no_project_by_its_name(home: Path, capsys: Captured) -> None:
    """A bare name that fits nothing known writes no ban: it is refused, with the name that would."""
    (home / "empty").mkdir()
    assert app.run(["forget", "empty", "--yes"]) == 2
    assert f"nightschool forget {home / 'empty'}" in said(capsys)
    assert app.run(["forget", str(home / "empty"), "--yes"]) == 0
    assert "nothing of it is stored, so nothing goes; it is only kept from being read" in said(capsys)
    session(home, home / "empty")
    assert app.run(["harvest", "--all"]) == 0
    assert "empty" not in known(home)


def test_a_part_of_a_project_is_named_as_lists_name_it_and_not_forgotten_alone(
    home: Path, capsys: Captured
) -> None:
    """A list has the project's name with the folder in it; by that folder's name the whole is not taken."""
    capsys.readouterr()
    assert app.run(["harvest", "--all", "--json"]) == 0
    rows = {row["id"]: row for row in told(capsys)["sessions"]}
    assert rows["claude-code:s-mono-api"]["root"] == str(home / "mono")
    assert app.run(["harvest", "--all"]) == 0
    assert " mono/api " in said(capsys)
    assert app.run(["forget", "api", "--yes"]) == 2
    assert "'api' is a folder in the project" in said(capsys)
    assert app.run(["forget", "mono", "--yes"]) == 0
    assert known(home) == NOTES | {"other-notes2"}


def test_it_is_let_in_again_by_the_name_it_went_by(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """`--allow` knows the name of a forgotten folder wherever one stands; of two of that name it asks."""
    (home / "other" / "mono").mkdir()
    session(home, home / "other" / "mono")
    assert app.run(["harvest", "--all"]) == 0
    assert app.run(["forget", str(home / "mono"), "--yes"]) == 0
    assert app.run(["forget", str(home / "other" / "mono"), "--yes"]) == 0
    monkeypatch.chdir("/")
    capsys.readouterr()
    assert app.run(["forget", "mono", "--allow"]) == 2
    assert "several projects 'mono' were forgotten" in said(capsys)
    assert app.run(["forget", str(home / "mono"), "--allow"]) == 0
    assert app.run(["forget", "mono", "--allow"]) == 0
    assert app.run(["forget", "mono", "--allow"]) == 2
    assert app.run(["harvest", "--all"]) == 0
    assert known(home) >= {"mono-api", "other-mono"}


@pytest.mark.parametrize(
    ("rules", "left"),
    [
        ('projects = ["notes"]', OTHERS),
        ('projects = ["~/link"]', OTHERS),
        ('paths = ["~/link/*"]', OTHERS | {"notes"}),
        ('projects = ["mono"]', NOTES | {"other-notes2"}),
    ],
)
def test_a_list_that_names_a_folder_holds_below_it(rules: str, left: set[str], home: Path) -> None:
    """By name, by path and through a link: all below goes with it, in a harvest of everything."""
    (home / "link").symlink_to(home / "notes")
    (home.parent / "config.toml").write_text(f"[ignore]\n{rules}\n", encoding="utf-8")
    (home.parent / "school" / "nightschool.db").unlink()
    assert app.run(["harvest", "--all"]) == 0
    assert known(home) == left


def test_the_file_of_a_folder_holds_below_it_and_that_of_the_home_folder_for_it_alone(home: Path) -> None:
    """A list in `notes` speaks of notes/site too; one in the home folder speaks of no project in it."""
    (home / "notes" / ".nightschool.toml").write_text('[ignore]\nwords = ["marguerite"]\n', encoding="utf-8")
    (home / ".nightschool.toml").write_text('[ignore]\nwords = ["please"]\n', encoding="utf-8")
    (home.parent / "school" / "nightschool.db").unlink()
    assert app.run(["harvest", "--all"]) == 0
    assert known(home) == OTHERS


def test_a_folder_that_is_no_agents_is_asked_about(home: Path, capsys: Captured) -> None:
    """Before sessions far below a named folder are stored, what was found is told; nobody to ask: none is."""
    (home.parent / "school" / "nightschool.db").unlink()
    for way in (["--root", str(home.parent)], [str(home.parent)]):
        assert app.run(["harvest", *way]) == 4
        text = said(capsys)
        assert "5 files that look like sessions" in text
        assert f"{home} (5)" in text
        assert known(home) == set()
    assert app.run(["harvest", "--root", str(home.parent), "--dry-run"]) == 0
    assert app.run(["harvest", "--root", str(home / ".claude" / "projects")]) == 0
    assert known(home) == NOTES | OTHERS
    assert app.run(["harvest", "--root", str(home.parent), "--yes"]) == 0


def test_who_stops_a_harvest_keeps_what_was_read(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """Ctrl-C in the middle: the sessions read so far are stored; that is said, with how to forget them."""
    from nightschool.stages import harvest  # noqa: PLC0415 - stopped here alone

    (home.parent / "school" / "nightschool.db").unlink()
    read, times = harvest._Run._read, []

    def stopping(self: harvest._Run, *given: Any) -> Any:
        times.append(1)
        if len(times) == 3:
            raise KeyboardInterrupt
        return read(self, *given)

    monkeypatch.setattr(harvest._Run, "_read", stopping)
    assert app.run(["harvest", "--all"]) == 130
    text = said(capsys)
    assert "are kept" in text
    assert "nightschool forget FOLDER" in text
    assert len(known(home)) == 2


def test_that_all_sessions_are_kept_out_by_ones_own_word_is_said(home: Path, capsys: Captured) -> None:
    """Where sessions lie and none is left, `corrections` names the setting and not another folder."""
    (home.parent / "config.toml").write_text("retention_days = 1\n", encoding="utf-8")
    assert app.run(["forget", "--old", "--yes"]) == 0
    assert app.run(["corrections"]) == 0
    text = said(capsys)
    assert "older than retention_days = 1" in text
    assert "lie elsewhere" not in text
    (home.parent / "config.toml").write_text('[ignore]\nprojects = ["/t*"]\n', encoding="utf-8")
    assert app.run(["corrections"]) == 0
    text = said(capsys)
    assert "left out: 5 x on an ignore list" in text
    assert "named by an ignore list: take off it" in text


@pytest.mark.parametrize(
    ("listed", "wrong"),
    [
        ('words = ["fine", "no"]', "its item 2 is 'no': too short"),
        ("words = [3]", "its item 1 is 3"),
        ('paths = ["/a/*", "/*"]', "its item 2 is '/*': it names everything"),
        ('projects = ["ok", "a/b"]', "its item 2 is 'a/b': a path begins with / or ~"),
    ],
)
def test_the_wrong_item_of_a_list_is_named(listed: str, wrong: str, home: Path, capsys: Captured) -> None:
    """Which item of a list is wrong, and what is wrong with it, is told beside what is allowed."""
    (home.parent / "config.toml").write_text(f"[ignore]\n{listed}\n", encoding="utf-8")
    assert app.run(["status"]) == 2
    assert wrong in said(capsys)
