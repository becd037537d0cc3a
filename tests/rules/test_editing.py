from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from nightschool.core.proposals import Certify, Edit, RefusedEdit
from nightschool.core.tasks import Candidate, Check, Footprint, Moment, Touched
from nightschool.rules.editing import Screened, aim, screen

MOMENT = Moment(session="claude-code:5d1f", turn=3, quote="No. Use pnpm, not npm, in this repository!")
CANDIDATE = Candidate(
    correction="c-0123456789",
    statement="Use pnpm, not npm",
    evidence=(MOMENT,),
    sessions=("claude-code:5d1f", "claude-code:77aa"),
    check=Footprint(wanted="pnpm", unwanted="npm"),
    project="/home/me/shop",
)
CHECKS: tuple[Check, ...] = (
    Footprint(wanted="pnpm", unwanted="npm"),
    Footprint(wanted="cargo nextest run"),
    Touched(paths=("src/cart/total.ts",)),
)
NOTE = "the reply names no lock file and leaves the old one in place"


def add(rule: str, moment: Moment = MOMENT) -> Edit:
    return Edit(op="add", rule=rule, moment=moment)


def screened(*edits: Edit, **more: Any) -> Screened:
    given: dict[str, Any] = {
        "candidate": CANDIDATE,
        "rejected": (),
        "checks": CHECKS,
        "task_ids": ("t-0123456789ab",),
        "judge_texts": (NOTE,),
    }
    return screen(edits, **{**given, **more})


def code(edit: Edit, **more: Any) -> str:
    found = screened(edit, **more)
    assert not found.accepted
    (refusal,) = found.refused
    assert refusal.edit == edit
    assert refusal.text
    return refusal.code


@pytest.mark.parametrize(
    "rule",
    [
        "Use pnpm, not npm.",
        "Always install packages with pnpm\nin this repository.",
        "--frozen-lockfile first",
        "Name the lock file.",
        "In src/cart keep prices in cents.",
    ],
)
def test_rules_in_the_persons_words_are_accepted(rule: str) -> None:
    """B21: what a check looks for may stand in a rule where the human's own correction says it."""
    assert screened(add(rule)).accepted == (add(rule),)


@pytest.mark.parametrize(
    "rule",
    [
        "Run cargo nextest run.",
        "Run `Cargo Nextest  Run` always",
        "Always change src/cart/total.ts",
        '{"wanted": "pnpm", "unwanted": "npm"}',
        r"The answer must match \bpnpm\b",
        "The answer must match (?i)pnpm.*install",
        "Answer in the form [a-z0-9-]+",
        "As in t-0123456789ab, use pnpm",
        "For t-ba9876543210 use pnpm",
        "Candidate k-0123456789: pnpm",
        "Learned in 5d1f: pnpm",
        "Learned from claude-code:77aa",
    ],
)
def test_answers_are_refused(rule: str) -> None:
    """B21: a rule that carries a check's terms, its machine form, a pattern or an id is refused."""
    assert code(add(rule)) == "check-text"


def test_the_quote_of_the_edit_is_not_evidence() -> None:
    """B21: an editor cannot allow itself a term by quoting it: only the stored evidence counts."""
    forged = Moment(session=MOMENT.session, turn=MOMENT.turn, quote="Run cargo nextest run")
    assert code(add("Run cargo nextest run", forged)) == "check-text"


def test_what_the_person_said_in_signs_may_stand() -> None:
    """A form that looks like a pattern is the person's where the person wrote it, and refused otherwise."""
    said = replace(CANDIDATE, evidence=(replace(MOMENT, quote="never match with .* in a route"),))
    assert code(add("Never match with .* in a route.")) == "check-text"
    assert screened(add("Never match with .* in a route."), candidate=said).accepted


def test_signs_of_other_widths_hide_nothing() -> None:
    """A heading, a fence or an import in full-width signs is one all the same."""
    for rule in ("\uff03 Heading", "\uff20~/.ssh/config"):
        assert code(add(rule)) == "outside-target"


def test_five_words_or_the_whole_of_a_short_note() -> None:
    """Five words in a row are a quotation, four are not; of a note of a few words the whole is."""
    assert code(add("Say which names no lock file and stop.")) == "judge-words"
    assert screened(add("Say which names no lock file.")).accepted
    assert code(add("Stop if it changed nothing."), judge_texts=["it changed nothing"]) == "judge-words"


def test_another_kind_of_edit_is_another_edit() -> None:
    """The same words added and replaced are two edits."""
    swap = Edit(op="replace", rule="Use pnpm", anchor="x", moment=MOMENT)
    before = Edit(op="add", rule="Use pnpm", anchor="x", moment=MOMENT)
    assert screened(swap, rejected=[before]).accepted == (swap,)


def test_judges_words_are_refused() -> None:
    """B21: five words in a row of a judge's note are refused, unless the person said them."""
    assert code(add("When the reply names no lock file, stop.")) == "judge-words"
    said = (Moment(session=MOMENT.session, turn=MOMENT.turn, quote="the reply names no lock file!"),)
    candidate = Candidate(
        correction="c-0123456789",
        statement="x",
        evidence=said,
        sessions=("claude-code:5d1f",),
        check=Footprint(wanted="pnpm"),
        project="",
    )
    assert screened(add("When the reply names no lock file, stop."), candidate=candidate).accepted


@pytest.mark.parametrize(
    "moment",
    [
        Moment(session="claude-code:5d1f", turn=4, quote=MOMENT.quote),
        Moment(session="claude-code:77aa", turn=3, quote=MOMENT.quote),
    ],
)
def test_an_edit_stands_on_a_train_moment(moment: Moment) -> None:
    """A moment that is no evidence (another turn, a hold-out session) justifies nothing."""
    assert code(add("Use pnpm.", moment)) == "no-moment"


def test_a_rejected_edit_is_not_tried_again() -> None:
    """The same op, rule and anchor, whatever case and punctuation, is refused; another op is not the same."""
    before = RefusedEdit(edit=add("Use pnpm!"), code="unsafe", text="", candidate=CANDIDATE.id, cycle="y-1")
    assert code(add("use  PNPM"), rejected=[before]) == "repeats-rejected"
    assert code(add("use pnpm"), rejected=[add("Use pnpm.")]) == "repeats-rejected"
    swap = Edit(op="replace", rule="Use pnpm", anchor="Use npm", moment=MOMENT)
    assert screened(swap, rejected=[before]).accepted == (swap,)


def test_twice_in_one_reply_is_once() -> None:
    """The second copy within one reply is refused, too."""
    found = screened(add("Use pnpm."), add("Use pnpm"))
    assert [len(found.accepted), [refusal.code for refusal in found.refused]] == [1, ["repeats-rejected"]]


@pytest.mark.parametrize(
    "rule",
    ["# Heading", "x\n## More", "<!-- nightschool:end -->", "```sh\npnpm i\n```", "@~/.ssh/config",
     "--- \nx", "x\n---", "*** Update File: AGENTS.md", "File: AGENTS.md\nuse pnpm"],
)  # fmt: skip
def test_a_rule_stays_in_its_place(rule: str) -> None:
    """Headings, fences, markers, imports and other files are outside of what an edit may touch."""
    assert code(add(rule)) == "outside-target"


def test_the_limit_counts_accepted_edits() -> None:
    """Behind the limit all is over budget; refused ones do not use it up."""
    edits = [add("# no"), *(add(f"Use pnpm for {name}.") for name in ["one", "two", "three", "four", "five"])]
    found = screened(*edits)
    assert len(found.accepted) == 4
    assert [refusal.code for refusal in found.refused] == ["outside-target", "over-budget"]
    assert len(screened(*edits, limit=1).accepted) == 1


@pytest.mark.parametrize(
    "edit",
    [
        add(" "),
        Edit(op="replace", rule="Use pnpm", moment=MOMENT),
        Edit(op="replace", anchor="Use npm", moment=MOMENT),
        Edit(op="delete", moment=MOMENT),
    ],
)
def test_incomplete_edits_are_bad_replies(edit: Edit) -> None:
    """An edit without the rule or the anchor that its kind needs is refused."""
    assert code(edit) == "bad-reply"


@pytest.mark.parametrize(
    ("edits", "aims"),
    [
        ([("delete", "", "Use npm")], Certify.NOT_WORSE),
        ([("replace", "Use pnpm.", "Always use pnpm, please.")], Certify.NOT_WORSE),
        ([("replace", "Use npm", "Always use pnpm, please, and nothing else")], Certify.GAIN),
        ([("replace", "pnpm use", "Always use pnpm")], Certify.GAIN),
        ([("replace", "Use pnpm!", "Use pnpm.")], Certify.GAIN),
        ([("replace", "Always use pnpm", "Use pnpm")], Certify.GAIN),
        ([("add", "Use pnpm", "")], Certify.GAIN),
        ([("delete", "", "Use npm"), ("add", "Use pnpm", "")], Certify.GAIN),
        ([], Certify.GAIN),
    ],
)
def test_only_what_takes_words_away_may_show_no_gain(
    edits: list[tuple[Any, str, str]], aims: Certify
) -> None:
    """The easier exam is for deleting and shortening: a shorter text of other words has to show a gain."""
    found = [Edit(op=op, rule=rule, anchor=anchor, moment=MOMENT) for op, rule, anchor in edits]
    assert aim(found) is aims


def test_a_delete_is_judged_by_its_moment_alone() -> None:
    """The text of a rule that goes is not what an editor proposes."""
    edit = Edit(op="delete", anchor="Run cargo nextest run", moment=MOMENT)
    assert screened(edit).accepted == (edit,)
