"""Whose turn it is in a run, and what it may use."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nightschool.rules.gate import Policy
from nightschool.rules.prospects import Prospect, in_turn, share, waits

FRESH = Prospect(clusters=6, practice=5, pairs=7, most=100, guards=8)
BEGUN = replace(FRESH, practice=0, begun=True, pairs=3)
WON = replace(BEGUN, won=True)
SMALL = Prospect(clusters=2, practice=5, pairs=7, most=100, barred="two kinds only")


def test_the_order_of_turns() -> None:
    """Won bets, then wealth that is kept, then what was examined least and has most kinds, then what no exam
    can certify."""
    tried_twice, wide = replace(FRESH, earlier=2, clusters=9), replace(FRESH, clusters=7)
    given = [SMALL, tried_twice, FRESH, wide, replace(BEGUN, k=3), BEGUN, WON]
    assert in_turn(given) == [6, 5, 4, 3, 2, 1, 0]


def test_equals_keep_their_order() -> None:
    """Nothing but the order in which they were heard parts those that are alike."""
    assert in_turn([FRESH, FRESH, FRESH]) == [0, 1, 2]


def test_each_has_an_equal_share() -> None:
    """Of what practising those without an exam leaves; the last has all that is left."""
    assert share(FRESH, [FRESH, FRESH], 90) == 30
    assert share(FRESH, [FRESH, SMALL, SMALL], 100) == 45
    assert share(FRESH, [], 90) == 90


def test_a_share_reaches_its_clean_wins() -> None:
    """Less than practice and clean wins could show nothing, so it is not parted further; never more than is
    left."""
    assert share(FRESH, [FRESH] * 9, 100) == FRESH.least == 19
    assert share(FRESH, [FRESH], 12) == 12


def test_what_won_has_all_it_needs() -> None:
    """Guards and figures of an exam that is over are bounded: the first result comes first."""
    assert share(WON, [FRESH, FRESH], 90) == 90


def test_nothing_is_begun_that_cannot_be_decided() -> None:
    """With less left than it needs at the least a correction waits and says so; not where a whole run would
    not do, and not where a wealth is kept."""
    assert waits(FRESH, 19, 100) is None
    told = waits(FRESH, 18, 100)
    assert told is not None
    assert "take 19 jobs or more" in told
    assert "18 left" in told
    assert "next run" in told
    assert waits(FRESH, 10, 10) is None, "else such a limit would never lead to a draft"
    assert waits(BEGUN, 2, 100) is None
    assert waits(SMALL, 5, 100) is None
    assert waits(SMALL, 4, 100) is not None


@pytest.mark.parametrize(
    ("own", "least", "probably"),
    [
        (FRESH, 5 + 14, 5 + 70 + 90 + 24),
        (BEGUN, 6, 30 + 90 + 24),
        (WON, 0, 90 + 24),
        (SMALL, 5, 5),
        (replace(BEGUN, most=4), 6, 8 + 90 + 24),
        (replace(FRESH, guards=0, clusters=3), 19, 5 + 70 + 12),
    ],
)
def test_what_an_exam_takes(own: Prospect, least: int, probably: int) -> None:
    """At least: practice and clean wins. Probably: pairs at a usual gain, guards with probes, figures. What
    cannot be certified takes its practice alone."""
    assert (own.least, own.probably(Policy())) == (least, probably)


def test_a_clear_gain_takes_fewer() -> None:
    """Where the edit helps in every pair: the clean wins alone, and guards that are found at once."""
    assert FRESH.if_clear(Policy()) == 5 + 14 + 6 * 14 + 24
    assert WON.if_clear(Policy()) == 6 * 14 + 24
    assert SMALL.if_clear(Policy()) == SMALL.probably(Policy()) == 5


def test_a_comparison_takes_its_pairs_alone() -> None:
    """Where the gate only suggests there are neither guards nor figures."""
    assert replace(FRESH, pairs=6).probably(Policy(mode="suggest")) == 5 + 12
