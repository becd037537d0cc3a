"""That a screen tells of a proposal and of a run what is so: when it was made, what was refused then, what is
at work now."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from desks import Desk
from nightschool.core.cycles import Spend
from nightschool.core.harness import Scope, Target
from nightschool.core.jobs import Reservation
from nightschool.core.proposals import RefusedEdit
from nightschool.core.values import digest_of
from publish_builders import CANDIDATE, rules
from report_builders import NOW, PNPM, REPORT


def test_an_edit_that_was_taken_is_not_told_as_refused(desk: Desk) -> None:
    """An editor that says a thing twice has the second one refused as said before; and what was refused in
    another cycle belongs to another proposal."""
    (edit,) = rules("use pnpm, not npm")
    other, later = rules("use yarn", "use bun")
    draft = desk.propose(edit)
    told_of = ((edit, draft.cycle), (other, draft.cycle), (later, "n-9999"))
    with desk.store() as store:
        for one, cycle in told_of:
            store.commit(
                RefusedEdit(
                    edit=one, code="repeats-rejected", text="before", candidate=CANDIDATE.id, cycle=cycle
                )
            )
    told = desk.says("show", draft.id)
    _, below = told.split("Edits that were not taken")
    assert "add use yarn" in below
    assert "add use pnpm" not in below
    assert "add use bun" not in below
    assert [one["edit"]["rule"] for one in desk.gives("show", draft.id)["refused_edits"]] == ["use yarn"]


def test_what_a_person_made_anew_was_made_by_no_cycle(desk: Desk) -> None:
    """It was made when the person had it made, from one that a cycle had made before."""
    draft = desk.propose(*rules("use pnpm, not npm"))
    desk.file.write_bytes(desk.file.read_bytes() + b"* more\r\n")
    made = desk.gives("rebase", draft.id)["id"]
    told = desk.says("show", made)
    assert f" UTC, by you from {draft.id}, which cycle {draft.cycle} made\n" in told
    assert "no cycle has examined it yet\n" in told


def test_what_was_forgotten_is_said_to_be(desk: Desk) -> None:
    """Neither is an empty text a quotation, nor did a cycle break off whose report was forgotten."""
    (edit,) = rules("use pnpm, not npm")
    draft = desk.propose(replace(edit, moment=replace(edit.moment, quote="")))
    told = desk.says("show", draft.id)
    assert "your words that justify it were forgotten" in told
    assert "you said: ''" not in told
    assert f"cycle {draft.cycle} has no report: its report was forgotten" in told


def test_a_diff_stands_within_what_is_shown(desk: Desk) -> None:
    """Title first, what to type last."""
    draft = desk.propose(*rules("use pnpm, not npm"))
    told = desk.says("show", draft.id, "--diff")
    assert told.index(f"{draft.id}: in review") < told.index("Diff\n") < told.index("next: nightschool adopt")


def test_a_run_at_work_is_told(desk: Desk) -> None:
    """While a run works, `status` says so with its jobs, and what it proposed so far is not called settled;
    once it was broken off that is told, with what the next one does."""
    with desk.store() as store:
        draft = replace(desk.propose(*rules("use pnpm, not npm")), cycle="n-0007")
        half = replace(draft, after=store.put_blob(b"half made"))
        booked = Reservation(
            key=digest_of("job"), attempt=1, cycle="n-0007", tokens=1, cost=Decimal(1), at=NOW
        )
        store.commit(half, booked)
        with store.hold("cycle", by="n-0007"):
            told = desk.says("status")
            assert "at work now: n-0007: running now; it began 2026-03-01 00:00 UTC, started 1 job" in told
            assert "no cycle has come to its end yet" in told
            listed = desk.says("proposals")
            assert "a run is at work now" in listed
            assert "Settled" not in listed
            assert desk.gives("status")["at_work"] == "n-0007"
    assert "cycle n-0007 since then: broken off; it began" in desk.says("status")
    assert "the run was broken off" in desk.says("proposals")


def test_the_last_cycle_is_told_with_what_it_came_to(desk: Desk) -> None:
    """What was lost is not told as practised."""
    with desk.store() as store:
        store.commit(
            replace(REPORT, learned=(replace(PNPM, code="lost", draft=None),), spend=Spend(jobs=6, lost=6))
        )
    assert "1 correction of /p: 1 every try was lost; 6 tries lost\n" in desk.says("status")


def test_the_last_cycle_of_a_project_is_the_last_that_was_about_it(desk: Desk) -> None:
    """Whether it was about that one, about several, or about all; of the person's own files what edited
    them."""
    own = Target(agent="claude-code", scope=Scope.USER, project="", place="user/.claude/CLAUDE.md")
    with desk.store() as store:
        store.commit(
            replace(REPORT, cycle="n-1", project="/a, b"),
            replace(REPORT, cycle="n-2", project="/a, b, /c", learned=(replace(PNPM, target=own),)),
            replace(REPORT, cycle="n-3", project="/c"),
        )
    rows = {row["project"]: (row["cycles"], row["last_cycle"]) for row in desk.gives("status")["projects"]}
    assert rows == {"/a, b": (2, "n-2"), "/c": (2, "n-3")}
    with desk.store() as store:
        store.commit(replace(REPORT, cycle="n-4", project=""))
    rows = {row["project"]: (row["cycles"], row["last_cycle"]) for row in desk.gives("status")["projects"]}
    assert rows == {"/a, b": (3, "n-4"), "/c": (3, "n-4"), "": (2, "n-4")}
