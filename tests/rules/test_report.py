"""The report of a cycle, and what the gate promises over a year."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

import report_builders
from nightschool.cli.output import plain
from nightschool.core.cycles import Learned, Spend
from nightschool.core.proposals import Edit, RefusedEdit
from nightschool.core.tasks import Moment
from nightschool.core.trials import AlphaEntry, Estimate
from nightschool.core.values import digest_of
from nightschool.rules.report import cycle_line, markdown, promise, spend_line
from report_builders import NOW

MOMENT = Moment(session="s", turn=0, quote="use pnpm")
LEARNED = Learned(
    candidate="k-1",
    statement="use `pnpm`",
    sessions=4,
    code="accept",
    why="the wealth reached 20",
    draft="d-1",
    edits=(Edit(op="replace", rule="Use pnpm.", anchor="Use npm.", moment=MOMENT, why="said twice"),),
    refused=(
        RefusedEdit(
            edit=Edit(op="delete", anchor="# x <b>", moment=MOMENT),
            code="no-match",
            text="no rule reads so",
            candidate="k-1",
            cycle="c",
        ),
    ),
    base=Estimate(mean=0.25, low=0.1, high=0.5, n=12),
)
REPORT = replace(
    report_builders.REPORT,
    left_out=(("headless", 2),),
    postponed=3,
    skipped=(("no-workspace", 6),),
    learned=(LEARNED,),
    spend=Spend(jobs=8, tokens=10, unknown_tokens=1, unknown_cost=2, cost=Decimal("0.5"), lost=1),
    lost_by_arm=(("draft", 1),),
    notes=("a note",),
)


@pytest.mark.parametrize(
    "told",
    [
        "7 sessions with something new, 20 human turns; 9 sessions known",
        "left out: 2 x headless",
        "3 postponed",
        "5 corrections, 1 worth an edit; 2 tasks to train on, 4 tasks held out for the exam",
        "no task from 6 sessions: the files that it began with are not known",
        "3.0 minutes",
        "model: the agent's own choice",
        "certified: it passed the gate and waits for your review**: the wealth reached 20",
        "Proposal `d-1`",
        "| base | 0.25 | 0.10 to 0.50 | 12 |",
        "| proposal | unknown | | 0 |",
        "replace: Use npm. by: Use pnpm. (said twice)",
        "delete: \\# x \\<b\\>: no rule reads so",
        "10 tokens known, 1 job did not tell",
        "$0.50 known, 2 jobs did not tell",
        "1 trial lost in arm draft",
        "6 scored trials",
        "* a note",
    ],
)
def test_a_report_tells(told: str) -> None:
    """Sessions, tasks, trials, scores with intervals, verdict and why, edits taken and refused with their
    reasons, tokens, cost, times, losses; what is unknown is called so."""
    assert told in markdown(REPORT)


def test_words_of_others_cannot_shape_the_report() -> None:
    """A statement with headings, tags or tables stays one line of text."""
    odd = replace(LEARNED, statement="# a\n## b\n| c | <script>")
    lines = markdown(replace(REPORT, learned=(odd,))).splitlines()
    assert "### \\# a \\#\\# b \\| c \\| \\<script\\>" in lines


def test_nothing_tried_is_said() -> None:
    """A cycle without a candidate says so, and one that broke off says why."""
    text = markdown(replace(REPORT, learned=(), failed="the disk is full"))
    assert "Nothing was tried." in text
    assert "**Broke off:** the disk is full" in text


def test_known_use_is_not_called_unknown() -> None:
    """Where every job told its use no doubt is raised."""
    assert "did not tell" not in spend_line(Spend(jobs=1, tokens=5))


def entry(holdout: str, k: int, alpha: float, days: int) -> AlphaEntry:
    return AlphaEntry(
        holdout=holdout,
        k=k,
        wealth=digest_of(holdout, k),
        draft="d",
        alpha=alpha,
        margin=0.15,
        at=NOW - timedelta(days=days),
    )


def test_the_years_false_accepts_are_told() -> None:
    """Each hold-out version of the last year counts once, with the largest alpha that was in force on it,
    however many drafts it saw; older ones do not count, and without any nothing is claimed."""
    ledger = [entry("a", 1, 0.1, 300), entry("a", 2, 0.1, 2), entry("b", 1, 0.1, 9), entry("b", 2, 0.2, 8)]
    told = promise([*ledger, entry("old", 1, 0.1, 366)], NOW)
    assert told is not None
    assert "2 hold-out versions" in told
    assert "at most 0.30" in told
    assert promise([entry("old", 1, 0.1, 366)], NOW) is None


def test_the_document_holds_the_same() -> None:
    """What the Markdown tells stands in the JSON too, as values: edits with the words that justify them,
    refusals, scores, tokens, cost, times and losses."""
    document = plain(REPORT)
    told = document["learned"][0]
    assert told["edits"][0]["rule"] == "Use pnpm."
    assert told["edits"][0]["moment"]["quote"] == MOMENT.quote
    assert [(edit["code"], edit["text"]) for edit in told["refused"]] == [("no-match", "no rule reads so")]
    assert told["base"] == {"mean": 0.25, "low": 0.1, "high": 0.5, "n": 12}
    assert document["trials"] == REPORT.trials
    assert document["spend"]["tokens"] == REPORT.spend.tokens
    assert document["lost_by_arm"] == [list(lost) for lost in REPORT.lost_by_arm]
    assert document["ended_at"] == REPORT.ended_at.isoformat()


def test_a_cycle_in_one_line() -> None:
    """Beside a proposal stands what its cycle read and tried, how long it took and what it lost."""
    line = cycle_line(replace(REPORT, trials=80, lost_by_arm=(("draft", 4),)))
    assert "80 scored trials, 4 lost in arm draft" in line
    assert f"{REPORT.tasks_holdout} held-out tasks" in line
