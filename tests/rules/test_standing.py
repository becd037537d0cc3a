"""What stands of a candidate already."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from nightschool.core.harness import File, Harness, LiveFile, Scope
from nightschool.core.proposals import (
    Decision,
    Dossier,
    Draft,
    Edit,
    RefusedEdit,
    Release,
    Review,
    Status,
    Step,
    VerdictKind,
    status_of,
)
from nightschool.core.values import digest_bytes
from nightschool.rules.memory_block import apply
from nightschool.rules.standing import (
    open_draft,
    root_for,
    say_the_same,
    settled,
    turned_down,
)
from nightschool.testing.clock import FakeClock
from nightschool.testing.memory_store import MemoryStore
from publish_builders import BEFORE, CANDIDATE, MODE, MOMENT, draft_of, rules, safety_of, verdict_of

BASE = Harness.of([File(path="project/CLAUDE.md", content=BEFORE)])
TARGET = draft_of(MemoryStore()).target
LIVE = LiveFile(path=Path("/p/CLAUDE.md"), content=BEFORE, mode=MODE)
CHANGED = replace(LIVE, content=BEFORE + b"mine\n")
NOW = FakeClock().now()


def draft() -> Draft:
    return replace(draft_of(MemoryStore()), base=BASE.digest)


def case(
    kind: VerdictKind | None,
    *decisions: Decision,
    releases: tuple[Release, ...] = (),
    of: Draft | None = None,
) -> Dossier:
    drawn = of or draft()
    safety = (safety_of(drawn),)
    verdicts = () if kind is None else (verdict_of(drawn, kind),)
    reviews = tuple(
        Review(draft=drawn.digest, reviewer="sam", decision=decision, reason="too narrow", at=NOW)
        for decision in decisions
    )
    status = status_of(drawn, safety=safety, verdicts=verdicts, reviews=reviews, releases=releases)
    return Dossier(
        draft=drawn,
        status=status,
        candidate=CANDIDATE,
        safety=safety,
        verdicts=verdicts,
        reviews=reviews,
        releases=releases,
        refused_edits=(),
    )


def released(*, taken_back: bool) -> tuple[Release, ...]:
    drawn = draft()
    first = Release(
        number="r-0001",
        step=Step.DONE,
        draft=drawn.digest,
        draft_id=drawn.id,
        target=drawn.target,
        path="/p/CLAUDE.md",
        before=drawn.before,
        before_mode=MODE,
        after=drawn.after,
        after_mode=MODE,
        actor="sam",
        at=NOW + timedelta(hours=1),
    )
    back = replace(first, number="r-0002", undoes="r-0001", at=NOW + timedelta(hours=2))
    return (first, back) if taken_back else (first,)


@pytest.mark.parametrize(
    ("kind", "decisions", "code"),
    [
        (VerdictKind.ACCEPT, (), "waits-for-review"),
        (VerdictKind.ACCEPT, (Decision.APPROVE,), "waits-for-review"),
        (VerdictKind.ACCEPT, (Decision.REJECT,), None),
        (VerdictKind.UNDECIDED, (), None),
        (VerdictKind.REJECT, (), None),
        (None, (), None),
    ],
)
def test_what_waits_for_a_person_is_left_alone(
    kind: VerdictKind | None, decisions: tuple[Decision, ...], code: str | None
) -> None:
    """Where a certified draft waits nothing is tried; all else leaves something to do."""
    one = case(kind, *decisions)
    found = settled([one], TARGET, BASE, LIVE)
    assert (None if found is None else found[0]) == code
    if found is not None:
        assert found[2] == one.draft.id
        assert settled([one], TARGET, BASE, CHANGED) is None, "it no longer fits the live file"
        assert settled([one], TARGET, Harness(), LIVE) is None, "it no longer fits the base"


@pytest.mark.parametrize(
    ("kind", "left"), [(None, True), (VerdictKind.UNDECIDED, True), (VerdictKind.ACCEPT, False)]
)
def test_what_is_asked_for_again_stands_as_the_gate_left_it(kind: VerdictKind | None, *, left: bool) -> None:
    """Taken back and reopened: without an accept a run examines it, with one it waits for the person."""
    made = replace(draft(), made_from="d-0")
    reopened = case(kind, Decision.APPROVE, releases=released(taken_back=True), of=made)
    later = replace(reopened.reviews[0], decision=Decision.REOPEN, at=NOW + timedelta(days=9))
    reviews = (*reopened.reviews, later)
    status = status_of(
        made, safety=reopened.safety, verdicts=reopened.verdicts, reviews=reviews, releases=reopened.releases
    )
    one = replace(reopened, reviews=reviews, status=status)
    assert reopened.status is Status.ROLLED_BACK
    assert status is (Status.SUGGESTED if left else Status.IN_REVIEW)
    assert (settled([one], TARGET, BASE, LIVE) is None) == left
    assert (open_draft([one], TARGET, BASE, LIVE) == made) == left


def test_what_was_adopted_or_taken_back_is_left_alone() -> None:
    """An adopted draft is done with, and one that was taken back, whatever the file holds now, whatever was
    turned down since; in another file, or once the person made it anew, it is free."""
    adopted = case(VerdictKind.ACCEPT, Decision.APPROVE, releases=released(taken_back=False))
    back = case(VerdictKind.ACCEPT, Decision.APPROVE, releases=released(taken_back=True))
    assert (adopted.status, back.status) == (Status.PUBLISHED, Status.ROLLED_BACK)
    for live in (LIVE, CHANGED):
        found = settled([adopted], TARGET, BASE, live)
        assert found is not None
        assert found[0] == "already-published"
    rejected = case(VerdictKind.ACCEPT, Decision.REJECT, of=replace(draft(), after=digest_bytes(b"another")))
    for cases in ([back], [back, rejected], [rejected, back]):
        found = settled(cases, TARGET, BASE, LIVE)
        assert found is not None
        assert (found[0], found[2]) == ("taken-back", back.draft.id)
        assert "nightschool adopt" in found[1]
        found = settled(cases, TARGET, Harness(), CHANGED)
        assert found is not None
        assert (found[0], found[2]) == ("taken-back", back.draft.id)
        assert "nightschool rebase" in found[1]
    assert settled([back], replace(TARGET, project="/other"), BASE, LIVE) is None
    anew = case(None, of=replace(draft(), after=digest_bytes(b"anew"), made_from=back.draft.id))
    assert settled([back, anew], TARGET, BASE, CHANGED) is None


def test_what_one_agent_was_given_is_not_done_for_another() -> None:
    """A draft is for one agent: another one, whose file does not hold the rule, is practised with; where a
    link makes both files one, there is nothing to do."""
    adopted = case(VerdictKind.ACCEPT, Decision.APPROVE, releases=released(taken_back=False))
    theirs = replace(TARGET, agent="codex", place="project/AGENTS.md")
    assert settled([adopted], theirs, BASE, LIVE) is None
    linked = replace(LIVE, content=apply(BEFORE, adopted.draft.edits).content)
    found = settled([adopted], theirs, BASE, linked)
    assert found is not None
    assert found[0] == "already-published"


def test_what_one_project_was_given_is_not_done_for_another() -> None:
    """A file of another project is not read here; the person's own is read in all of them."""
    adopted = case(VerdictKind.ACCEPT, Decision.APPROVE, releases=released(taken_back=False))
    elsewhere = replace(TARGET, project="/another")
    own = replace(TARGET, scope=Scope.USER, project="", place="user/CLAUDE.md")
    assert settled([adopted], elsewhere, BASE, LIVE) is None
    assert settled([adopted], own, BASE, LIVE) is None
    widely = replace(adopted, draft=replace(adopted.draft, target=own))
    for target in (TARGET, elsewhere, own):
        found = settled([widely], target, BASE, LIVE)
        assert found is not None
        assert found[0] == "already-published"


def test_the_same_in_a_file_that_is_read_along_is_found() -> None:
    """The person's own file beside a project's, for one correction or in the same words; not what was turned
    down, not what another agent reads, not the file of another project."""
    one = case(VerdictKind.ACCEPT)
    own = replace(TARGET, scope=Scope.USER, project="", place="user/.claude/CLAUDE.md")
    other = case(VerdictKind.UNDECIDED, of=replace(draft(), target=own))
    assert say_the_same(one, [one, other]) == (other,)
    assert say_the_same(other, [one, other]) == (one,)
    in_words = replace(other, candidate=replace(CANDIDATE, correction="c-2"))
    assert say_the_same(one, [in_words]) == (in_words,)
    apart = replace(in_words, draft=replace(in_words.draft, edits=rules("use tabs")))
    assert say_the_same(one, [apart]) == ()
    assert say_the_same(one, [replace(other, status=Status.REJECTED)]) == ()
    for elsewhere in (replace(own, agent="codex"), replace(TARGET, project="/q")):
        assert say_the_same(one, [replace(other, draft=replace(other.draft, target=elsewhere))]) == ()


@pytest.mark.parametrize(
    ("kind", "goes_on"),
    [
        (None, True),
        (VerdictKind.UNDECIDED, True),
        (VerdictKind.UNDERPOWERED, True),
        (VerdictKind.INVALID, True),
        (VerdictKind.REJECT, False),
        (VerdictKind.ACCEPT, False),
    ],
)
def test_what_is_not_decided_goes_on(kind: VerdictKind | None, goes_on: bool) -> None:  # noqa: FBT001 - a parameter of the table
    """A draft that the gate has not decided on is taken up again as long as it fits what is live."""
    one = case(kind)
    assert open_draft([one], TARGET, BASE, LIVE) == (one.draft if goes_on else None)
    assert open_draft([one], TARGET, BASE, CHANGED) is None
    assert open_draft([one], TARGET, Harness(), LIVE) is None


def test_the_newest_open_draft_goes_on() -> None:
    """Of two the later one."""
    second = replace(draft(), edits=(Edit(op="add", rule="another", moment=MOMENT),), after=BASE.digest)
    one, other = case(VerdictKind.UNDECIDED), case(VerdictKind.UNDECIDED, of=second)
    assert open_draft([one, other], TARGET, BASE, LIVE) == second


def test_an_editor_is_told_what_was_turned_down_and_no_more() -> None:
    """Edits that a person, the gate or the safety check turned down, with a reason that holds no word of
    the gate. An invalid exam turned nothing down; refusals that would tell of a check are kept back."""
    edit = Edit(op="add", rule="x", moment=MOMENT)
    refused = [
        RefusedEdit(edit=edit, code=code, text=code, candidate=CANDIDATE.id, cycle="c")
        for code in ("unsafe", "check-text", "judge-words", "no-match")
    ]
    cases = [
        case(VerdictKind.ACCEPT, Decision.REJECT),
        case(VerdictKind.REJECT),
        case(VerdictKind.INVALID),
        case(VerdictKind.UNDECIDED),
    ]
    told = turned_down(CANDIDATE, TARGET, cases, refused, "c")
    assert [item.code for item in told] == ["unsafe", "repeats-rejected", "repeats-rejected"]
    assert [item.text for item in told[1:]] == [
        "a person rejected it: too narrow",
        "it did not pass an exam on work that you do not see",
    ]
    assert cases[1].verdicts[0].why not in repr(told)
    elsewhere = turned_down(CANDIDATE, replace(TARGET, place="project/ELSE.md"), cases, refused, "c")
    assert [item.text for item in elsewhere[1:]] == [told[2].text], "a person's no is about one file"


@pytest.mark.parametrize(
    ("scope", "seen_in", "root"),
    [
        ("auto", "/p", "/p"),
        ("auto", "", None),
        ("project", "", "/here"),
        ("project", "/p", "/p"),
        ("user", "/p", None),
    ],
)
def test_where_a_draft_goes(scope: str, seen_in: str, root: str | None) -> None:
    """A correction of one project goes to its file, one of several to the person's own; a scope decides."""
    assert root_for(replace(CANDIDATE, project=seen_in), scope=scope, project="/here") == root


def test_an_unknown_scope_is_an_error() -> None:
    """No scope is guessed."""
    with pytest.raises(ValueError, match="auto, project or user"):
        root_for(CANDIDATE, scope="global", project=None)
