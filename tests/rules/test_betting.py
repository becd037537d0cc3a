"""The bets keep their promise: under the null no factor gains in the mean, so Ville's inequality holds."""

from __future__ import annotations

import math
from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightschool.rules.betting import (
    HARM_STAKE,
    STAKES,
    Wealth,
    alpha_share,
    harm_of,
    wealth_of,
    wins_needed,
)

differences = st.lists(st.sampled_from([-1.0, 0.0, 1.0]) | st.floats(-1, 1), max_size=30)
chances = st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0.001, 1)).map(
    lambda weights: tuple(weight / sum(weights) for weight in weights)
)


@pytest.mark.parametrize(("k", "wins"), [(1, 7), (2, 9), (3, 11), (5, 13)])
def test_clean_wins(k: int, wins: int) -> None:
    """With alpha 0.10 the k-th draft needs 7, 9, 11, 13 clean wins for k = 1, 2, 3, 5, and not one less."""
    share = alpha_share(0.10, k)
    assert wins_needed(share) == wins
    assert wealth_of([1.0] * wins) >= 1 / share > wealth_of([1.0] * (wins - 1))


def test_shares_sum_to_alpha() -> None:
    """However many drafts follow, together they never spend more than alpha."""
    spent = math.fsum(alpha_share(0.1, k) for k in range(1, 100_001))
    assert 0.09999 < spent < 0.1


def test_drafts_count_from_one() -> None:
    """There is no draft number 0 that would be free."""
    with pytest.raises(ValueError, match="from 1"):
        alpha_share(0.1, 0)


@given(null=chances, margin=st.sampled_from([0.0, 0.05, 0.15, 0.5]), past=differences)
def test_no_gain_under_the_null(null: tuple[float, float, float], margin: float, past: list[float]) -> None:
    """For every distribution on {-1, 0, 1} whose mean is at most -margin, and after any past, the wealth
    does not grow in the mean: it is a test (super)martingale."""
    worse, same, better = null
    worse, better = max(worse, better), min(worse, better)
    short = max(0.0, margin - (worse - better))  # move mass down until the mean is at most -margin
    moved = min(same, short)
    worse, same = worse + moved, same - moved
    moved = min(better, max(0.0, (margin - (worse - better)) / 2))
    worse, better = worse + moved, better - moved
    assert better - worse <= -margin + 1e-9
    wealth = Wealth(margin)
    for d in past:
        wealth = wealth.after(d)
    expected = sum(
        chance * wealth.after(d).value for chance, d in ((worse, -1.0), (same, 0.0), (better, 1.0))
    )
    assert expected <= wealth.value * (1 + 1e-9)


@given(ds=differences, seed=st.integers())
def test_order_does_not_matter(ds: list[float], seed: int) -> None:
    """The same pairs in another order give the same wealth and the same harm."""
    shuffled = list(ds)
    Random(seed).shuffle(shuffled)
    assert wealth_of(shuffled) == pytest.approx(wealth_of(ds))
    assert harm_of(shuffled) == pytest.approx(harm_of(ds))


def test_ville_by_full_enumeration() -> None:
    """Over all 2^14 equally likely runs of +1 and -1 the share that ever reaches 1/a is at most a."""
    level, reached = alpha_share(0.1, 1), 0
    for run in product((-1.0, 1.0), repeat=14):
        products = [1.0] * len(STAKES)
        for d in run:
            products = [value * (1 + stake * d) for value, stake in zip(products, STAKES, strict=True)]
            if sum(products) / len(products) >= 1 / level:
                reached += 1
                break
    assert 0.01 < reached / 2**14 <= level


def test_not_worse_by_ties() -> None:
    """A draft that behaves as before earns its "not worse" by ties; one that loses the margin does not."""
    assert wealth_of([0.0] * 60, margin=0.15) > 1 / alpha_share(0.1, 1)
    assert wealth_of([0.0] * 60) == 1
    assert wealth_of(([-1.0] + [0.0] * 3) * 15, margin=0.15) < 1


@pytest.mark.parametrize(("d", "gain"), [(1.0, 1.0), (0.0, 0.15 / 1.15), (-0.15, 0.0), (-1.0, -0.85 / 1.15)])
def test_factor_of_not_worse(d: float, gain: float) -> None:
    """The factor is 1 + (2 theta - 1)(d + m)/(1 + m): a win counts whole, the margin itself nothing."""
    wanted = [1 + stake * gain for stake in STAKES]
    assert Wealth(0.15).after(d).products == pytest.approx(wanted)


def test_harm_grows_by_losses_only() -> None:
    """A guard's harm is the product of 1 - 0.8 d."""
    assert harm_of([-1, -1]) == pytest.approx((1 + HARM_STAKE) ** 2)
    assert harm_of([0, 0, 1]) == pytest.approx(1 - HARM_STAKE)


@pytest.mark.parametrize("d", [43.0, -1.01, math.nan, math.inf])
def test_scores_out_of_range_are_refused(d: float) -> None:
    """A judge that answers 43 or NaN is an error, never a bet."""
    with pytest.raises(ValueError, match=r"\[-1, 1\]"):
        Wealth().after(d)
    with pytest.raises(ValueError, match=r"\[-1, 1\]"):
        harm_of([d])
