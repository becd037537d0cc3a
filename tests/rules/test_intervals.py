"""The exact tests and intervals agree with published values."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightschool.rules.intervals import binomial_tail, estimate, even_odds_p, mean_difference, share_above


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


@pytest.mark.parametrize(
    ("better", "worse", "n", "low", "high"),
    [(9, 3, 32, -0.027, 0.390), (3, 9, 32, -0.390, 0.027), (0, 0, 20, -0.1611, 0.1611)],
)
def test_mean_difference_values(better: int, worse: int, n: int, low: float, high: float) -> None:
    """The interval is Tango's: 9 against 3 of 32 is his own example (1998); where no pair differs it is
    z^2/(n + z^2) to each side."""
    found = mean_difference(better, worse, n)
    assert found[0] == pytest.approx(low, abs=5e-4)
    assert found[1] == pytest.approx(high, abs=5e-4)


@given(counts=st.tuples(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30)).filter(any))
def test_mean_difference_holds_what_was_seen(counts: tuple[int, int, int]) -> None:
    """The interval lies in [-1, 1], holds the mean that was seen, and turns round with the arms."""
    better, worse, _same = counts
    n = sum(counts)
    low, high = mean_difference(better, worse, n)
    assert -1 <= low <= (better - worse) / n + 1e-9
    assert (better - worse) / n - 1e-9 <= high <= 1
    turned = mean_difference(worse, better, n)
    assert turned[0] == pytest.approx(-high, abs=1e-9)
    assert turned[1] == pytest.approx(-low, abs=1e-9)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 1.0])
def test_mean_difference_covers(share: float) -> None:
    """Between equals of 20 pairs it holds 0 about 95 times in 100, however many pairs differ: the exact
    chance, summed over all that could come."""
    n, held = 20, 0.0
    for better in range(n + 1):
        for worse in range(n + 1 - better):
            ways = math.comb(n, better) * math.comb(n - better, worse)
            chance = ways * (share / 2) ** (better + worse) * (1 - share) ** (n - better - worse)
            low, high = mean_difference(better, worse, n)
            held += chance * (low <= 0 <= high)
    assert 0.93 <= held <= 1


@pytest.mark.parametrize("counts", [(1, 1, 1), (0, 0, 0), (-1, 0, 5)])
def test_mean_difference_of_impossible_counts(counts: tuple[int, int, int]) -> None:
    """More pairs that differ than pairs are no figures."""
    with pytest.raises(ValueError, match="differences"):
        mean_difference(*counts)
