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
from nightschool.rules.report import cycle_line, job_lines, markdown, promise, spend_line, stands_on
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
        "5 corrections, 1 worth an edit; 2 tasks to practise on, 4 held out for the exam",
        "no task from 6 sessions: the files that it began with are not known",
        "3.0 minutes",
        "model: the agent's own choice",
        "certified: it passed the gate and waits for your review**: the wealth reached 20",
        "Proposal `d-1`",
        "| without the edit | 25% | 10% and 50% | 12 |",
        "| with the edit | unknown | | 0 |",
        "replace: Use npm. by: Use pnpm. (said twice)",
        "delete: \\# x \\<b\\>: no rule reads so",
        "10 tokens known, 1 job did not tell",
        "$0.50 known, 2 jobs did not tell",
        "tries that stayed lost, though each was started again: 1 with the edit",
        "6 scored tries",
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
    told = promise([*ledger, entry("old", 1, 0.1, 366)], [NOW, NOW - timedelta(days=370)], NOW)
    assert told is not None
    assert "passed an exam 1 time." in told
    assert "2 sets of held-out tasks" in told
    assert "of 0.30 edits at most" in told
    assert promise([entry("old", 1, 0.1, 366)], [NOW], NOW) is None
    assert promise(ledger, [], NOW) is None, "where none passed none can have passed by luck"


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
    line = cycle_line(REPORT)
    assert f"{REPORT.tasks_holdout} held out for the exam; 3.0 minutes" in line


def test_the_figures_of_jobs_add_up() -> None:
    """What was tried is told by what for, and jobs that were no tries stand beside it."""
    made = replace(
        REPORT,
        spend=Spend(jobs=34, lost=24),
        trials=8,
        tries=(("probe", 1), ("side", 2), ("target", 3), ("train", 2)),
        edit_jobs=2,
        lost_by_arm=(("base", 4), ("draft", 4)),
    )
    told = job_lines(made)
    assert told[0].startswith("34 jobs started, 0 answered from finished ones, 24 lost; ")
    assert told[1] == (
        "8 scored tries: 1 to find guards (other work, that must not suffer), 5 in exams, "
        "2 to practise; beside them 2 jobs that wrote edits"
    )
    assert told[2] == (
        "tries that stayed lost, though each was started again: 4 without the edit, 4 with the edit; they "
        "count in no exam"
    )


@pytest.mark.parametrize(
    ("project", "told"),
    [
        ("/p", "9 sessions of its project known, 0 of them with something new since its last cycle"),
        ("", "9 sessions of all projects known, 0 of them with something new since the last cycle"),
    ],
)
def test_a_run_tells_what_it_stands_on(project: str, told: str) -> None:
    """Nothing new is not nothing: a run goes by all that is known of its projects."""
    nothing_new = replace(REPORT, project=project, sessions_own=9, sessions_read=0, human_turns=0)
    assert stands_on(nothing_new) == told
    assert stands_on(replace(REPORT, sessions_own=9)).endswith(", 20 human turns in these")
