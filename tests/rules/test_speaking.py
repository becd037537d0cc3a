"""Which verdict speaks of a draft, and what its status allows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nightschool.core.errors import NotAllowed
from nightschool.core.proposals import (
    SAID_WITHOUT_A_TRY,
    STANDS_AS,
    Act,
    Decision,
    Review,
    Status,
    Verdict,
    VerdictCode,
    VerdictKind,
    advance,
    speaking,
    status_of,
)
from nightschool.rules.standing import came_to
from nightschool.testing.clock import FakeClock
from nightschool.testing.memory_store import MemoryStore
from publish_builders import draft_of, safety_of, verdict_of

DRAFT = draft_of(MemoryStore())
NOW = FakeClock().now()
RESTS = replace(verdict_of(DRAFT, VerdictKind.INVALID), code="checks-blind", pairs=12, why="twelve alike")
TRIED_NOTHING = {
    "few-pairs": VerdictKind.UNDERPOWERED,
    "few-targets": VerdictKind.UNDERPOWERED,
    "gate-off": VerdictKind.UNDECIDED,
    "many-losses": VerdictKind.UNDECIDED,
    "budget-ended": VerdictKind.UNDECIDED,
    "overlap": VerdictKind.INVALID,
}


def status(*verdicts: Verdict, reviews: tuple[Review, ...] = ()) -> Status:
    return status_of(DRAFT, safety=(safety_of(DRAFT),), verdicts=verdicts, reviews=reviews, releases=())


@pytest.mark.parametrize("code", TRIED_NOTHING)
def test_what_tried_nothing_replaces_no_verdict_that_rests_on_pairs(code: VerdictCode) -> None:
    """A small budget, a gate that is off, an endpoint that is away: what pairs showed before stands, for
    the status and for the words of the run."""
    nothing = replace(verdict_of(DRAFT, TRIED_NOTHING[code]), code=code, why="nothing tried", cycle="later")
    assert speaking([RESTS, nothing]) is RESTS
    assert speaking([nothing]) is nothing, "where there is nothing else it is what is known"
    assert status(RESTS, nothing) is Status.NO_VERDICT
    told = came_to(nothing, RESTS)
    assert told == ("invalid", "nothing tried; what its exam showed before stands: twelve alike")
    assert came_to(nothing, None) == (nothing.kind, "nothing tried")


def test_the_newest_that_rests_on_pairs_speaks() -> None:
    """Further evidence replaces older; one that was said without a try is none, whatever pairs there are."""
    newer = replace(verdict_of(DRAFT, VerdictKind.ACCEPT), pairs=7)
    assert speaking([RESTS, newer]) is newer
    assert came_to(newer, RESTS) == (newer.kind, newer.why)
    for code in SAID_WITHOUT_A_TRY:
        off = replace(verdict_of(DRAFT, VerdictKind.UNDECIDED), code=code, pairs=7)
        assert speaking([newer, off]) is newer


def test_no_verdict_is_a_word_of_its_own_and_can_be_turned_down() -> None:
    """An invalid exam is no failure: the person may turn the edit down, and may not take it; that word
    stands also when the exam is asked again."""
    assert status(RESTS) is Status.NO_VERDICT
    no = Review(draft=DRAFT.digest, reviewer="sam", decision=Decision.REJECT, reason="too broad", at=NOW)
    assert status(RESTS, reviews=(no,)) is Status.REJECTED
    assert status(RESTS, replace(RESTS, cycle="later"), reviews=(no,)) is Status.REJECTED
    with pytest.raises(NotAllowed, match="cannot adopt a proposal whose exam could say nothing about it"):
        advance(Status.NO_VERDICT, Act.APPROVE)


def test_each_status_has_words() -> None:
    """What a refusal says of a proposal is a sentence, and no name of a state."""
    assert set(STANDS_AS) == set(Status)
