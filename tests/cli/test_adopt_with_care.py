"""`rebase`, `adopt --edit`, `undo --keep-later`, `releases`, `pin` and `unpin`, each as one command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nightschool.adapters.sqlite_store import SqliteStore
from nightschool.cli.app import run
from nightschool.core.proposals import Draft, Edit
from nightschool.rules.memory_block import apply, parse
from publish_builders import BEFORE, CANDIDATE, MINE, MODE, draft_of, rules, safety_of, verdict_of

PNPM, TESTS, SORT = "use pnpm, not npm", "write tests first", "sort imports"


class Desk:
    """A person with a project whose memory file has proposals."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.home = folder / "school"
        self.file = folder / "project" / "CLAUDE.md"
        self.file.parent.mkdir()
        self.file.write_bytes(BEFORE)
        self.file.chmod(MODE)
        self._capsys = capsys

    @contextmanager
    def store(self) -> Iterator[SqliteStore]:
        store = SqliteStore.open(self.home)
        yield store
        store.close()

    def propose(self, *edits: Edit) -> Draft:
        """A draft of these edits on the file as it is, accepted by the gate."""
        content = self.file.read_bytes()
        with self.store() as store:
            draft = draft_of(store, content, apply(content, edits).content)
            target = replace(draft.target, project=str(self.file.parent))
            draft = replace(draft, target=target, edits=edits)
            store.commit(CANDIDATE, draft, safety_of(draft), verdict_of(draft))
        return draft

    def says(self, *arguments: str, code: int = 0) -> str:
        assert run(arguments) == code, self._capsys.readouterr()
        printed = self._capsys.readouterr()
        return printed.out + printed.err

    def gives(self, *arguments: str, code: int = 0) -> Any:
        assert run([*arguments, "--json"]) == code
        return json.loads(self._capsys.readouterr().out)

    @property
    def held(self) -> tuple[str, ...]:
        return parse(self.file.read_bytes()).rules


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


def test_a_stale_proposal_is_made_anew(desk: Desk) -> None:
    """The list says that it is stale, adopt names rebase, rebase says what it is, a reason adopts it."""
    one, other = desk.propose(*rules(PNPM)), desk.propose(*rules(TESTS))
    desk.says("adopt", one.id)
    assert "in review, stale" in desk.says("proposals")
    assert f"nightschool rebase {other.id}" in desk.says("show", other.id)
    error = desk.gives("adopt", other.id, code=4)["error"]
    assert error["next"][0] == f"nightschool rebase {other.id}"
    assert (error["base"], error["reasons"]) == (BEFORE.decode(), [])
    assert PNPM in error["live"]
    assert TESTS in error["proposed"]
    told = desk.says("rebase", other.id)
    assert "suggestion. The gate has not seen it: `nightschool run` examines it" in told
    assert f"+- {TESTS}" in told
    made = desk.gives("rebase", other.id)
    assert (made["made_from"], made["status"]) == (other.id, "suggestion")
    assert f"made by you from {other.id}" in desk.says("show", made["id"])
    assert f"adopt {made['id']} --reason WHY" in desk.says("adopt", made["id"], code=4)
    desk.says("adopt", made["id"], "--reason", "I say both")
    assert desk.held == (PNPM, TESTS)


def test_what_fits_is_not_made_anew(desk: Desk) -> None:
    """rebase of a proposal that fits says so and names adopt."""
    draft = desk.propose(*rules(PNPM))
    told = desk.says("rebase", draft.id)
    assert f"{draft.id} fits the file as it is" in told
    assert f"next: nightschool adopt {draft.id}" in told


def test_a_conflict_shows_the_three_versions(desk: Desk) -> None:
    """Where an edit lost its place nothing is made: what happened, what was wanted, which edit."""
    desk.file.write_bytes(apply(BEFORE, rules(SORT)).content)
    late = desk.propose(Edit(op="replace", anchor=SORT, rule=TESTS, moment=rules(PNPM)[0].moment))
    desk.file.write_bytes(BEFORE)
    told = desk.says("rebase", late.id, code=4)
    for text in (f"-- {SORT}", f"+- {TESTS}", "edit 1: no rule reads exactly", "nightschool run"):
        assert text in told, told
    error = desk.gives("rebase", late.id, code=4)["error"]
    assert [reason["code"] for reason in error["reasons"]] == ["edit-no-match"]
    assert error["live"] == BEFORE.decode()


def test_a_part_is_adopted_by_its_numbers(desk: Desk) -> None:
    """show numbers the edits; adopt --edit makes a proposal of them, and takes it with a reason alone."""
    whole = desk.propose(*rules(PNPM, TESTS, SORT))
    told = desk.says("show", whole.id)
    assert all(f"{number}. + {text}" in told for number, text in ((1, PNPM), (2, TESTS), (3, SORT)))
    error = desk.gives("adopt", whole.id, "--edit", "1, 3", code=4)["error"]
    assert [reason["code"] for reason in error["reasons"]] == ["waiver-missing"]
    assert "--reason WHY" in error["text"]
    desk.says("adopt", whole.id, "--edit", "3,1", "--reason", "the second is too much")
    assert desk.held == (PNPM, SORT)


@pytest.mark.parametrize("numbers", ["1,", "one", "-1", "1-2", "0", "4", "²"])
def test_numbers_of_edits_are_checked(desk: Desk, numbers: str) -> None:
    """What is no number of an edit of this proposal is wrong use, and nothing is written."""
    whole = desk.propose(*rules(PNPM, TESTS, SORT))
    assert "edit" in desk.says("adopt", whole.id, f"--edit={numbers}", code=2)
    assert desk.file.read_bytes() == BEFORE


def test_an_earlier_release_is_undone_and_the_later_kept(desk: Desk) -> None:
    """Plain undo refuses and says how; with --keep-later it says that no old bytes came back."""
    first = desk.gives("adopt", desk.propose(*rules(PNPM)).id)["release"]["number"]
    desk.gives("adopt", desk.propose(*rules(TESTS)).id)
    error = desk.gives("undo", first, code=4)["error"]
    assert [reason["code"] for reason in error["reasons"]] == ["built-upon"]
    assert f"nightschool undo {first} --keep-later" in error["text"]
    told = desk.says("undo", first, "--keep-later")
    assert "has not its old bytes back" in told
    assert desk.held == (TESTS,)
    assert desk.gives("undo", first)["written"] is False
    told = desk.says("releases", str(desk.file))
    assert f"undid {first}, kept what came later" in told
    assert "the file is as the last of them left it" in told


def test_undo_beside_a_hand_offers_to_keep_it(desk: Desk) -> None:
    """A file changed by hand since: plain undo shows both ways on."""
    number = desk.gives("adopt", desk.propose(*rules(PNPM)).id)["release"]["number"]
    desk.file.write_bytes(desk.file.read_bytes() + MINE)
    error = desk.gives("undo", number, code=4)["error"]
    assert error["next"] == [f"nightschool undo {number}", f"nightschool undo {number} --keep-later"]
    desk.says("undo", number, "--keep-later")
    assert desk.file.read_bytes().endswith(MINE)
    assert desk.held == ()


def test_releases_of_a_file(desk: Desk) -> None:
    """All of them, or those of one file, with what stands and whether a hand changed it since."""
    assert "nothing was adopted yet" in desk.says("releases")
    assert f"nothing was adopted into {desk.file}" in desk.says("releases", str(desk.file))
    first = desk.gives("adopt", desk.propose(*rules(PNPM)).id)["release"]["number"]
    desk.gives("undo", first)
    second = desk.gives("adopt", desk.propose(*rules(TESTS)).id)["release"]["number"]
    desk.file.write_bytes(desk.file.read_bytes() + MINE)
    found = desk.gives("releases", str(desk.file))
    assert [release["number"] for release in found["releases"]] == ["r-0001", "r-0002", "r-0003"]
    assert (found["standing"], found["as_last_written"], found["pinned"]) == ([second], False, None)
    told = desk.says("releases", str(desk.file))
    assert "adopted, undone since" in told
    assert "changed by hand since" in told
    assert f"next: nightschool undo {second}" in told
    assert desk.gives("releases", str(desk.file.parent / "other.md"))["releases"] == []


def test_a_pinned_file(desk: Desk) -> None:
    """pin keeps adopt off with its reason; releases, show and pin tell of it; unpin lets it go."""
    draft = desk.propose(*rules(PNPM))
    assert "no file is pinned" in desk.says("pin")
    assert f"nightschool unpin {desk.file}" in desk.says("pin", str(desk.file), "--reason", "the team's")
    assert "the team's" in desk.says("pin")
    assert "is pinned (the team's)" in desk.says("show", draft.id)
    assert desk.gives("releases", str(desk.file))["pinned"]["reason"] == "the team's"
    error = desk.gives("adopt", draft.id, code=4)["error"]
    assert [reason["code"] for reason in error["reasons"]] == ["pinned"]
    assert desk.file.read_bytes() == BEFORE
    assert "unpinned" in desk.says("unpin", str(desk.file))
    assert "was not pinned" in desk.says("unpin", str(desk.file))
    desk.says("adopt", draft.id)
    assert desk.held == (PNPM,)


def test_a_folder_is_not_pinned(desk: Desk) -> None:
    """Only a file can be pinned; the error names what stands there."""
    assert "is no regular file" in desk.says("pin", str(desk.file.parent), code=2)
