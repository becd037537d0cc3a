"""Which tasks of an exam tell nothing, and what taking them out costs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate_builders import POLICY, pair
from nightschool.core.trials import Pair
from nightschool.rules.silent import SILENT_AFTER, silence, silent


def pairs(task: str, *scores: tuple[float, float], role: str = "target") -> list[Pair]:
    return [
        replace(pair(number, base, draft), task=task, role=role)
        for number, (base, draft) in enumerate(scores)
    ]


@pytest.mark.parametrize(
    ("score", "told"),
    [(0.0, "not passed in any of 5 pairs"), (1.0, "passed without the edit and with it in all of 5 pairs")],
)
def test_a_task_that_is_always_alike_is_silent(score: float, told: str) -> None:
    """Neither arm ever passes it, or both always do; and the words say which."""
    (one,) = silent(pairs("t-1", *[(score, score)] * SILENT_AFTER))
    assert (one.task, one.passed) == ("t-1", score == 1.0)
    assert told in one.told


def test_what_differed_once_or_was_tried_little_is_not_silent() -> None:
    """One difference is enough, also of both arms together; and few pairs say nothing of a task. Only what
    the wealth is bet on counts."""
    assert silent(pairs("t-1", *[(0.0, 0.0)] * 7, (0.0, 1.0))) == ()
    assert silent(pairs("t-1", *[(0.0, 0.0)] * 7, (1.0, 1.0))) == ()
    assert silent(pairs("t-1", *[(0.0, 0.0)] * (SILENT_AFTER - 1))) == ()
    assert silent(pairs("t-1", *[(0.0, 0.0)] * 7, role="guard")) == ()


def test_the_way_out_has_its_price() -> None:
    """The evidence is given up, the next number of the hold-out is needed with its clean wins, and too few
    kinds left are said."""
    found = silent(pairs("t-1", *[(0.0, 0.0)] * 6))
    told = silence(found, wealth=3.2, k=2, alpha=0.1, left=["a", "b", "c"], policy=POLICY)
    assert told is not None
    way, cost = told.lines
    assert "`nightschool tasks withhold t-1 --reason WHY`" in way
    assert "evidence of 3.2 is given up" in cost
    assert "edit number 2" in cost
    assert "65.8" in cost
    assert "9 clean wins" in cost
    assert "would be left" not in cost
    few = silence(found, wealth=3.2, k=2, alpha=0.1, left=["a", "a"], policy=POLICY)
    assert few is not None
    assert "1 kind would be left, and the gate needs 3" in few.cost
    assert silence((), wealth=1, k=2, alpha=0.1, left=[], policy=POLICY) is None
