"""Exact tests and intervals for small counts, in plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from nightschool.core.trials import Estimate

Z95 = 1.959963984540054
"""The two-sided 95 % point of the normal distribution."""


def estimate(scores: Sequence[float]) -> Estimate:
    """The mean of fresh scores in [0, 1] with its Wilson interval at 95 %.

    For scores between 0 and 1 it is wider than needed, since their variance is at most that of 0/1
    scores of the same mean. It takes the trials as independent. Trials that share a cluster are not
    quite: an equal number is taken from each cluster, which makes the spread over clusters smaller than
    in independent draws, but the interval speaks of these clusters, not of sessions to come.
    """
    if not scores:
        raise ValueError("no mean without scores")
    if not all(0 <= score <= 1 for score in scores):
        raise ValueError("a score lies in [0, 1]")
    n = len(scores)
    mean = sum(scores) / n
    low, high = wilson(mean, n)
    return Estimate(mean=mean, low=low, high=high, n=n)


def wilson(mean: float, n: int, z: float = Z95) -> tuple[float, float]:
    """E. B. Wilson's score interval (1927): sensible at 0, at 1 and at small n."""
    centre = mean + z * z / (2 * n)
    half = z * math.sqrt(mean * (1 - mean) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # At the ends the formula gives exactly 0 and 1, up to rounding; the mean always lies within.
    return min(mean, max(0.0, (centre - half) / scale)), max(mean, min(1.0, (centre + half) / scale))


def binomial_tail(wins: int, n: int, p: float) -> float:
    """P(X >= wins) for X ~ Binomial(n, p)."""
    return math.fsum(math.comb(n, x) * p**x * (1 - p) ** (n - x) for x in range(max(wins, 0), n + 1))


def even_odds_p(one: int, other: int) -> float:
    """Two-sided exact p-value of "each of these events fell on either side with the same chance"."""
    n = one + other
    return min(1.0, 2 * binomial_tail(max(one, other), n, 0.5))


def share_above(count: int, n: int, level: float = 0.05) -> float:
    """The exact upper bound (Clopper-Pearson, one-sided) of a share of which `count` in n were seen.

    With a smaller chance than `level`, so few would be seen if the share were larger.
    """
    if n == 0 or count >= n:
        return 1.0
    low, high = count / n, 1.0
    for _ in range(60):  # halving to far below what a report shows
        middle = (low + high) / 2
        if 1 - binomial_tail(count + 1, n, middle) > level:
            low = middle
        else:
            high = middle
    return high


def mean_difference(better: int, worse: int, n: int, z: float = Z95) -> tuple[float, float]:
    """T. Tango's score interval (Statistics in Medicine 17, 1998) for the mean of n differences, of which
    `better` are +1, `worse` are -1 and the rest 0. At small n it holds the truth about as often as it says,
    also where no pair differs."""
    if min(better, worse) < 0 or n < max(1, better + worse):
        raise ValueError("of n differences, one at least, some are better and some are worse")

    def distance(mean: float) -> float:
        """How many standard errors the differences lie above this mean, if it were the true one."""
        b = (2 * n - better + worse) * mean - better - worse
        root = math.sqrt(max(0.0, b * b + 8 * n * worse * mean * (1 - mean)))
        negative = max(0.0, (root - b) / (4 * n))
        variance = n * (2 * negative + mean * (1 - mean))
        gap = better - worse - n * mean
        return gap / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, gap) if gap else 0.0

    seen = (better - worse) / n
    return _root(distance, -1.0, seen, z), _root(distance, seen, 1.0, -z)


def _root(falling: Callable[[float], float], low: float, high: float, aim: float) -> float:
    """Where a function that falls from `low` to `high` passes the aim."""
    for _ in range(60):
        middle = (low + high) / 2
        if falling(middle) > aim:
            low = middle
        else:
            high = middle
    return (low + high) / 2
