"""The decision code itself, run on simulated drafts, keeps alpha and finds what helps."""

from __future__ import annotations

import pytest

from nightschool.rules.calibration import (
    NULLS,
    Arms,
    Scene,
    calibrate,
    fixed_size_pairs,
    simulate,
    worst,
)


def test_false_accepts_stay_below_alpha() -> None:
    """Drafts that gain nothing are accepted no more often than their share of alpha, with any kind of
    noise: identical arms, as many +1 as -1, better on half of the clusters and worse on the others."""
    found = calibrate(600, seed=3)
    assert [row.arms for row in found] == list(NULLS)
    assert worst(found).accepted > 0
    for row in found:
        # three standard deviations above the share are allowed for chance
        assert row.share <= row.spent + 3 * (row.spent * (1 - row.spent) / row.simulated) ** 0.5
        assert row.share <= row.alpha
        assert row.simulated == 600


def test_a_helpful_draft_is_found() -> None:
    """At +30 points the first draft is accepted nine times in ten."""
    (row,) = calibrate(400, 0.3, seed=5)
    assert row.arms is Arms.HELPED
    assert row.share >= 0.9
    assert row.mean_pairs <= 0.65 * fixed_size_pairs(0.3, 0.95)


def test_the_noisiest_base_is_found_too() -> None:
    """From .35 to .65, where pairs are noisiest, it is still nine in ten."""
    assert simulate(400, Scene(arms=Arms.HELPED, base=0.35, effect=0.3), seed=2).share >= 0.9


def test_a_harmful_draft_is_not_accepted() -> None:
    """At -30 points nothing is accepted, and it ends early."""
    row = simulate(200, Scene(arms=Arms.HELPED, base=0.6, effect=-0.3), seed=2)
    assert row.accepted == 0
    assert row.mean_pairs < 40


def test_later_drafts_need_more() -> None:
    """The tenth draft of a hold-out version spends a hundredth of the first one's share."""
    scene = Scene(arms=Arms.HELPED, effect=0.3)
    first, tenth = simulate(100, scene), simulate(100, scene, k=10)
    assert tenth.spent == pytest.approx(first.spent / 100)
    assert tenth.mean_pairs > first.mean_pairs


def test_same_seed_same_numbers() -> None:
    """A calibration can be repeated."""
    scene = Scene(arms=Arms.HELPED, effect=0.3)
    assert simulate(50, scene, seed=4) == simulate(50, scene, seed=4)


def test_fixed_size_test_is_exact() -> None:
    """Without noise (0 to .3) the test needs enough wins in any: power is a plain binomial tail, so the
    size can be checked by hand: five wins are significant at .0608, and 28 pairs give five with 95 %."""
    assert fixed_size_pairs(0.3, 0.95, base=0.0) == 28
    assert fixed_size_pairs(0.3, 0.80) < fixed_size_pairs(0.3, 0.95) < fixed_size_pairs(0.3, 0.99)


def test_impossible_scenes_are_refused() -> None:
    """A base of .3 with an effect of .9 would pass more often than always."""
    with pytest.raises(ValueError, match="another effect"):
        Scene(arms=Arms.HELPED, effect=0.9)
    with pytest.raises(ValueError, match="at least one"):
        simulate(0, Scene(arms=Arms.SWINGS))
