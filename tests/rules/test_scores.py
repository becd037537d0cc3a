"""Scores in a cell, or why there are none."""

from __future__ import annotations

import pytest

from nightschool.core.proposals import VerdictKind
from nightschool.core.trials import Estimate
from nightschool.rules.scores import told


def test_a_score_has_its_interval() -> None:
    """A mean of few tries without its interval would be taken for a fact."""
    assert told(Estimate(mean=0.3, low=0.1, high=0.55, n=12), "accept") == "30% (10% to 55%, 12 tries)"


@pytest.mark.parametrize(
    ("came_to", "pairs", "why"),
    [
        (VerdictKind.ACCEPT, 20, "too few fresh tries"),
        ("adopted", 20, "too few fresh tries"),
        (VerdictKind.UNDECIDED, 100, "no fresh tries: not decided after 100 pairs"),
        (VerdictKind.UNDECIDED, 0, "not tried"),
        (VerdictKind.REJECT, 9, "no fresh tries: it did not pass"),
        (VerdictKind.INVALID, 12, "no fresh tries: it did not pass"),
        (VerdictKind.UNDERPOWERED, 0, "not examined"),
        (None, 0, "not examined"),
        ("already-followed", 0, None),
    ],
)
def test_where_there_is_none_it_says_why(came_to: str | None, pairs: int, why: str | None) -> None:
    """Fresh tries are made only after an accept; what no exam is about has no score to miss."""
    assert told(None, came_to, pairs) == why
