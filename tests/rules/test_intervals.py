"""The exact tests and intervals agree with published values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightschool.rules.intervals import binomial_tail, estimate, even_odds_p, share_above


@pytest.mark.parametrize(
    ("passed", "n", "low", "high"),
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (9, 10, 0.5958, 0.9821), (81, 263, 0.2553, 0.3662)],
)
def test_wilson_values(passed: int, n: int, low: float, high: float) -> None:
    """The interval is Wilson's: 81 of 263 is the example of Newcombe (1998)."""
    found = estimate([1.0] * passed + [0.0] * (n - passed))
    assert found.low == pytest.approx(low, abs=1e-4)
    assert found.high == pytest.approx(high, abs=1e-4)
    assert found.mean == pytest.approx(passed / n)
    assert found.n == n


@given(scores=st.lists(st.floats(0, 1), min_size=1, max_size=50))
def test_mean_lies_within(scores: list[float]) -> None:
    """An interval lies in [0, 1] and holds its own mean."""
    found = estimate(scores)
    assert 0 <= found.low <= found.mean <= found.high <= 1


@pytest.mark.parametrize("scores", [[], [1.2], [float("nan")]])
def test_no_interval_from_nothing(scores: list[float]) -> None:
    """No scores, or scores that are none, give an error and not a number."""
    with pytest.raises(ValueError, match="score"):
        estimate(scores)


@pytest.mark.parametrize(
    ("one", "other", "p"),
    [(0, 0, 1.0), (5, 0, 0.0625), (0, 6, 0.03125), (1, 7, 0.0703125), (8, 1, 0.0390625), (4, 4, 1.0)],
)
def test_sign_test_values(one: int, other: int, p: float) -> None:
    """The two-sided exact binomial test gives the values of its tables."""
    assert even_odds_p(one, other) == pytest.approx(p)


@pytest.mark.parametrize(
    ("count", "n", "bound"), [(0, 5, 0.4507), (0, 12, 0.2209), (1, 10, 0.3942), (10, 10, 1.0), (0, 0, 1.0)]
)
def test_upper_bound_values(count: int, n: int, bound: float) -> None:
    """Five clean pairs leave a loss of 45 points that could have gone unseen (1 - 0.05^(1/5))."""
    assert share_above(count, n) == pytest.approx(bound, abs=1e-4)


def test_tail_is_a_chance() -> None:
    """The tail sums to 1 from 0, and is nothing above n."""
    assert binomial_tail(0, 9, 0.3) == pytest.approx(1)
    assert binomial_tail(10, 9, 0.3) == 0
