"""`rebase`, `adopt --edit`, `undo --keep-later`, `releases`, `pin` and `unpin`, each as one command line."""

from __future__ import annotations

import re
import shlex

import pytest

from desks import Desk
from nightschool.core.proposals import Edit, VerdictKind
from nightschool.rules.memory_block import apply
from publish_builders import BEFORE, MINE, rules

PNPM, TESTS, SORT = "use pnpm, not npm", "write tests first", "sort imports"


def test_a_stale_proposal_is_made_anew(desk: Desk) -> None:
    """The list says that it is stale, adopt names rebase, rebase says what it is, a reason adopts it."""
    one, other = desk.propose(*rules(PNPM)), desk.propose(*rules(TESTS))
    desk.says("adopt", one.id, "--yes")
    assert "in review, other work not tried, stale" in desk.says("proposals")
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


@pytest.mark.parametrize("command", ["show", "explain", "status", "proposals"])
def test_a_stale_proposal_is_called_stale_wherever_it_is_told(desk: Desk, command: str) -> None:
    """Each command that tells of it says stale and leads to rebase; none to adopt, which is refused."""
    draft = desk.propose(*rules(PNPM))
    named = (command,) if command in {"status", "proposals"} else (command, draft.id)
    assert ", stale" not in desk.says(*named)
    desk.file.write_bytes(BEFORE + MINE)
    told = desk.says(*named)
    assert ", stale" in told
    assert f"next: nightschool rebase {draft.id}\n" in told
    assert f"nightschool adopt {draft.id}" not in told
    given = desk.gives(*named)
    assert (given["proposals"][0] if "proposals" in given else given)["stale"] is True
    desk.file.write_bytes(BEFORE)
    assert ", stale" not in desk.says(*named)


def test_what_another_says_by_now_waits_no_more(desk: Desk) -> None:
    """Twins of what was adopted, and what a rebase was made from, are superseded: listed as such, with the
    one that stands, and waiting for no word. Once the file is as it was they wait again."""
    twin = desk.propose(*rules(PNPM))
    one = desk.propose(*rules(PNPM, TESTS))
    parent = desk.propose(*rules(SORT))
    assert desk.gives("adopt", one.id, "--yes")["made_stale"] == [parent.id]
    made = desk.gives("rebase", parent.id)["id"]
    listed = {row["id"]: row for row in desk.gives("proposals")["proposals"]}
    assert {name: row["superseded_by"] for name, row in listed.items()} == {
        twin.id: one.id,
        one.id: None,
        parent.id: made,
        made: None,
    }
    assert [row["id"] for row in desk.gives("status")["proposals"]] == [made]
    told = " ".join(desk.says("proposals").split())
    assert "Superseded: another proposal says the same in the same file" in told
    assert f"superseded by {one.id}" in told
    assert f"{one.id} (published) says the same in this file" in desk.says("show", twin.id)
    assert f"next: nightschool show {one.id}\n" in desk.says("show", twin.id)
    desk.undoes(one.id)
    assert {row["id"] for row in desk.gives("status")["proposals"]} >= {twin.id, parent.id}


@pytest.mark.parametrize("command", ["show", "explain", "status", "proposals"])
def test_what_cannot_be_rebased_leads_to_a_run(desk: Desk, command: str) -> None:
    """Where an edit lost its place rebase is refused too: a run of that project is named, to be pasted."""
    desk.file.write_bytes(apply(BEFORE, rules(SORT)).content)
    late = desk.propose(Edit(op="replace", anchor=SORT, rule=TESTS, moment=rules(PNPM)[0].moment))
    desk.file.write_bytes(BEFORE)
    named = (command,) if command in {"status", "proposals"} else (command, late.id)
    run_again = f"nightschool run --project {shlex.quote(str(desk.file.parent))}"
    assert f"next: {run_again}\n" in desk.says(*named)
    assert desk.gives("adopt", late.id, code=4)["error"]["next"][0] == run_again
    assert desk.gives("rebase", late.id, code=4)["error"]["next"][0] == run_again


def test_adopting_and_undoing_tell_what_they_make_stale(desk: Desk) -> None:
    """Of several proposals on one file the others are stale once it is written: each is named with its way
    on, and those that were stale before are not."""
    long_stale = desk.propose(*rules("ask first"))
    desk.file.write_bytes(BEFORE + MINE)
    one, other = desk.propose(*rules(PNPM)), desk.propose(*rules(TESTS))
    told = desk.says("adopt", one.id, "--yes")
    assert (
        f"{other.id}, made from the file as it was before, is stale now: nightschool rebase {other.id}"
        in told
    )
    assert long_stale.id not in told
    assert desk.gives("adopt", one.id)["made_stale"] == []
    on_top = desk.propose(*rules(SORT))
    undone = desk.gives("undo", one.id)
    assert undone["made_stale"] == [on_top.id]
    assert undone["next"] == [f"nightschool adopt {one.id}", f"nightschool rebase {on_top.id}"]
    adopted = desk.gives("adopt", other.id)
    assert adopted["made_stale"] == []
    assert adopted["next"] == [f"nightschool undo {other.id}"]


def test_what_is_certified_comes_before_a_suggestion(desk: Desk) -> None:
    """First what the gate accepted and can be adopted at once, whichever is newer; what is stale last."""
    certified = desk.propose(*rules(PNPM))
    suggested = desk.propose(*rules(TESTS), kind=VerdictKind.UNDECIDED)
    for command in ("proposals", "status"):
        assert [row["id"] for row in desk.gives(command)["proposals"]] == [certified.id, suggested.id]
        assert f"next: nightschool show {certified.id} --diff" in desk.says(command)
    desk.file.write_bytes(BEFORE + MINE)
    fresh = desk.propose(*rules(SORT), kind=VerdictKind.UNDECIDED)
    for command in ("proposals", "status"):
        listed = [row["id"] for row in desk.gives(command)["proposals"]]
        assert listed == [fresh.id, certified.id, suggested.id]
        assert f"next: nightschool show {fresh.id} --diff" in desk.says(command)


def test_a_remade_proposal_that_was_taken_back_needs_a_reason(desk: Desk) -> None:
    """A run leaves alone what a person took back, and adopt promises nothing else; who asks for it again by
    rebase is told that a run examines it, and stands as the gate left it."""
    draft = desk.propose(*rules(PNPM))
    desk.file.write_bytes(BEFORE + MINE)
    made = desk.gives("rebase", draft.id)["id"]
    assert "`nightschool run` examines them" in desk.says("adopt", made, code=4)
    desk.says("adopt", made, "--reason", "mine")
    desk.says("undo", made)
    refused = desk.says("adopt", made, code=4)
    assert "`nightschool run` examines" not in refused
    assert f"nightschool adopt {made} --reason WHY" in refused
    told = desk.says("rebase", draft.id)
    assert f"made {made} of {draft.id}: suggestion. The gate has not seen it: `nightschool run`" in told
    assert f"next: nightschool adopt {made} --reason WHY\n" in told
    assert "asked for again" in desk.says("show", made)
    desk.says("adopt", made, "--reason", "after all")
    assert desk.held == (PNPM,)
    desk.says("undo", made)
    told = desk.says("rebase", made)
    assert f"{made} fits the file as it is; you took it back, and it is a suggestion again" in told


def test_what_passed_and_was_taken_back_waits_again(desk: Desk) -> None:
    """Its evidence speaks of the same bytes: asked for again it needs no exam and no reason."""
    draft = desk.propose(*rules(PNPM))
    desk.says("adopt", draft.id)
    desk.says("undo", draft.id)
    assert "in review again" in desk.says("rebase", draft.id)
    desk.says("adopt", draft.id)
    assert desk.held == (PNPM,)


def test_a_remade_proposal_that_was_turned_down_leads_to_no_refusal(desk: Desk) -> None:
    """The same proposal as one that was rejected says so with the reason, and names no adopt."""
    draft = desk.propose(*rules(PNPM))
    desk.file.write_bytes(BEFORE + MINE)
    made = desk.gives("rebase", draft.id)["id"]
    desk.says("reject", made, "--reason", "too narrow")
    told = desk.says("rebase", draft.id)
    assert f"made {made} of {draft.id}: rejected: too narrow." in told
    assert "nightschool run" not in told
    assert f"nightschool adopt {made}" not in told


def test_an_undo_that_kept_what_came_later_leads_to_rebase(desk: Desk) -> None:
    """After it the file is none that the proposal was made from: adopting it again would be refused."""
    first = desk.propose(*rules(PNPM))
    desk.says("adopt", first.id)
    desk.says("adopt", desk.propose(*rules(TESTS)).id)
    told = desk.says("undo", first.id, "--keep-later")
    assert f"to have it again on the file as it is: nightschool rebase {first.id})" in told
    assert "rolled back, stale" in desk.says("show", first.id)
    desk.says("rebase", first.id)


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


def test_what_the_block_promises_of_undo_is_true(desk: Desk) -> None:
    """The command that the block names takes the rule back, whether or not a person edited around it; plain
    undo names it, and says that the block is untouched."""
    desk.says("adopt", desk.propose(*rules(PNPM)).id)
    (promised,) = re.findall(r"`(nightschool .*?)`", desk.file.read_text())
    _, _, *arguments = promised.split()
    desk.undoes(*arguments)
    assert desk.file.read_bytes() == BEFORE
    desk.says("adopt", desk.propose(*rules(TESTS)).id)
    desk.file.write_bytes(MINE + desk.file.read_bytes())
    told = desk.undoes(code=4)
    assert "the marked block is as it was written" in told
    assert f"  {promised}\n" in told
    assert "keeps what came later, so it has not its old bytes back" in desk.undoes(*arguments)
    assert desk.file.read_bytes() == MINE + BEFORE


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
    """A file changed by hand since: plain undo names the way on, which leaves the hand's words."""
    number = desk.gives("adopt", desk.propose(*rules(PNPM)).id)["release"]["number"]
    desk.file.write_bytes(desk.file.read_bytes() + MINE)
    error = desk.gives("undo", number, code=4)["error"]
    assert error["next"] == [f"nightschool undo {number} --keep-later"]
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
    assert f"nightschool unpin {shlex.quote(str(desk.file))}" in desk.says(
        "pin", str(desk.file), "--reason", "the team's"
    )
    assert "the team's" in desk.says("pin")
    shown = desk.says("show", draft.id)
    assert "is pinned (the team's)" in shown
    assert f"next: nightschool unpin {shlex.quote(str(desk.file))}\n" in shown
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
