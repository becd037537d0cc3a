"""What an ignore list names of what is stored: hidden at once, whole again when the list is changed, and gone
by a word of the person alone."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cycle_builders import Place, QuickRunner, cycle_in, run_cycle
from nightschool.adapters.record_tables import KINDS
from nightschool.cli import app
from nightschool.core.forgetting import Skipped
from nightschool.core.sessions import Offset, Session, Window
from nightschool.core.tasks import Correction, Task
from nightschool.core.values import Record
from nightschool.stages.veil import WITH_WORDS, unveiled

Captured = pytest.CaptureFixture[str]
OF_READING: tuple[type[Record], ...] = (Skipped, Offset, Window)


@pytest.fixture(scope="module")
def learned(make_folder: Callable[[str], Path]) -> Place:
    """A person after a whole cycle."""
    place = Place.made(make_folder("hidden"))
    run_cycle(place, runner=QuickRunner())
    return place


@pytest.fixture
def place(learned: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """The same person with a copy of it all, standing in the project."""
    place = replace(learned, ours=Path(shutil.copytree(learned.ours, tmp_path / "ns")))
    config(place).parent.mkdir()
    config(place).write_text('runner = "scripted"\n', encoding="utf-8")
    monkeypatch.setenv("HOME", str(place.person))
    monkeypatch.setenv("NIGHTSCHOOL_HOME", str(place.ours))
    monkeypatch.setenv("NIGHTSCHOOL_CONFIG", str(config(place)))
    monkeypatch.chdir(place.project)
    return place


def config(place: Place) -> Path:
    return place.ours.parent / "nightschool" / "config.toml"


def whole(place: Place) -> dict[str, tuple[Record, ...]]:
    """All that lies in the store, but for what tells how far was read."""
    with cycle_in(place) as (parts, _):
        store = unveiled(parts.store)
        kinds = [kind.record for kind in KINDS if kind.record not in OF_READING]
        return {kind.__name__: tuple(store.find(kind)) for kind in kinds}


def told(capsys: Captured, *command: str) -> Any:
    capsys.readouterr()
    assert app.run([*command, "--json"]) == 0, command
    return json.loads(capsys.readouterr().out)


SHOWING = (
    ["proposals", "--all"],
    ["tasks"],
    ["history"],
    ["status"],
    ["corrections"],
    ["harvest", "--all"],
)


@pytest.mark.parametrize("whose", ["person", "project"])
def test_a_list_hides_and_destroys_nothing(place: Place, whose: str, capsys: Captured) -> None:
    """What a list names is shown by no command from then on, is stored as it was, and is shown again as it
    was when the list is changed: proposal, tasks, exam and counts."""
    file = config(place) if whose == "person" else place.project / ".nightschool.toml"
    bare = file.read_text(encoding="utf-8") if file.exists() else None
    before = {command[0]: told(capsys, *command) for command in SHOWING[:3]}
    stored = whole(place)
    try:
        file.write_text((bare or "") + '[ignore]\nwords = ["pathlib"]\n', encoding="utf-8")
        for command in SHOWING:
            app.run(list(command))
            assert "pathlib" not in capsys.readouterr().out, command
        assert len(told(capsys, "harvest", "--all")["sessions"]) < 15
        assert app.run(["corrections"]) == 0
        assert "hidden by an ignore list, and kept" in " ".join("".join(capsys.readouterr()).split())
        now = whole(place)
        assert {name for name in stored if now[name] != stored[name]} <= {"Correction"}
        said = {heard.id: set(heard.moments) for heard in now["Correction"] if isinstance(heard, Correction)}
        for heard in stored["Correction"]:
            assert isinstance(heard, Correction)
            assert set(heard.moments) <= said[heard.id]
    finally:
        file.unlink() if bare is None else file.write_text(bare, encoding="utf-8")
    assert len(told(capsys, "harvest", "--all")["sessions"]) == 15
    assert {command[0]: told(capsys, *command) for command in SHOWING[:3]} == before


@pytest.mark.parametrize("command", ["corrections", "harvest"])
def test_pages_of_reports_that_spoke_of_it_go_and_come_back_without_it(
    place: Place, command: str, capsys: Captured
) -> None:
    """What a list comes to name stands in no page that lies there: it goes once, and one that is written anew
    is kept, without what is hidden; with the list away the whole page can be had again."""
    words = "use logging"
    told(capsys, "report", "--format", "md")
    page = place.ours / "reports" / "n-0001.md"
    before = page.read_text(encoding="utf-8")
    assert words in before
    other = page.with_name("n-0009.md")
    other.write_text("of no hidden session\n", encoding="utf-8")
    config(place).write_text('runner = "scripted"\n[ignore]\nprojects = ["ledger"]\n', encoding="utf-8")
    capsys.readouterr()
    assert app.run([command]) == 0
    assert "1 file of reports went" in "".join(capsys.readouterr())
    assert (page.exists(), other.exists()) == (False, True)
    app.run(["report", "n-0001", "--format", "md"])
    if page.exists():
        assert words not in page.read_text(encoding="utf-8")
        assert app.run([command]) == 0
        assert page.exists()
    config(place).write_text('runner = "scripted"\n', encoding="utf-8")
    assert app.run([command]) == 0
    told(capsys, "report", "n-0001", "--format", "md")
    assert page.read_text(encoding="utf-8") == before
    config(place).write_text('runner = "scripted"\n[ignore]\nprojects = ["ledger"]\n', encoding="utf-8")
    assert app.run([command]) == 0
    assert not page.exists()


def test_a_run_uses_nothing_that_is_hidden(place: Place) -> None:
    """No job of a run is about a hidden session; when the list is changed the exam has its tasks again."""
    file = place.project / ".nightschool.toml"
    with cycle_in(place) as (parts, _):
        before = {task.id for task in parts.store.find(Task)}
    try:
        file.write_text('[ignore]\nwords = ["pathlib"]\n', encoding="utf-8")
        runner = QuickRunner()
        report = run_cycle(place, runner=runner)
        assert not [job for job in runner.jobs if "pathlib" in job.prompt]
        assert any("hidden by an ignore list" in note for note in report.notes)
        with cycle_in(place) as (parts, _):
            assert {task.id for task in parts.store.find(Task)} < before
    finally:
        file.unlink()
    with cycle_in(place) as (parts, _):
        assert {task.id for task in parts.store.find(Task)} >= before
        assert len(parts.store.find(Session)) == 15


def test_what_the_persons_own_list_names_is_forgotten_on_their_word(place: Place, capsys: Captured) -> None:
    """`forget --ignored` counts, asks and forgets; what a project's own file names is never among it."""
    own = place.project / ".nightschool.toml"
    try:
        own.write_text('[ignore]\nwords = ["pathlib"]\n', encoding="utf-8")
        assert told(capsys, "forget", "--ignored", "--yes")["goes"]["sessions"] == 0
    finally:
        own.unlink()
    assert len(told(capsys, "harvest", "--all")["sessions"]) == 15
    config(place).write_text('runner = "scripted"\n[ignore]\nwords = ["PATHLIB"]\n', encoding="utf-8")
    assert app.run(["forget", "--ignored"]) == 4
    assert "what your ignore list names" in capsys.readouterr().err
    assert told(capsys, "forget", "--ignored", "--dry-run")["goes"]["sessions"] > 0
    assert app.run(["forget", "ledger", "--ignored"]) == 2
    assert app.run(["forget", "--ignored", "--yes"]) == 0
    with cycle_in(place) as (parts, _):
        left = unveiled(parts.store).find(Session)
    assert 0 < len(left) < 15


def test_each_kind_that_forgetting_takes_words_from_is_hidden() -> None:
    """A new kind with words is seen through the veil, or is one of those that are known by keys alone."""
    apart = {"Window", "AlphaEntry", "Draw", "Pair", "LostPair", "Partition", "Forgotten", "Skipped"}
    apart |= {"Unfinished", "Offset", "Assignment", "Reservation", "Finished", "Pin"}
    assert {kind.record.__name__ for kind in KINDS} == {kind.__name__ for kind in WITH_WORDS} | apart
