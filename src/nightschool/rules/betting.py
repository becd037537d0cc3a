"""The bets behind the gate, and what they promise.

**The game.** A pair gives d = draft score - base score, in [-1, 1]. Before the pair is seen we stake the
share 2 theta - 1 of our money on "the draft is better": the money is multiplied by 1 + (2 theta - 1) d.
We begin with 1, split evenly over theta in {.6, .7, .8, .9}, and never move money between them: the
wealth is the mean of the four products.

**The theorem.** If, given everything that happened before, the mean of each next d is at most 0 (the
null), each factor has a conditional mean of at most 1, so each product is a non-negative supermartingale
that starts at 1, and so is their mean. Ville's inequality: the chance that such a process EVER reaches
1/a is at most a. Hence "accept only where the wealth has reached 1/a" accepts a draft of the null with a
chance of at most a, however often one looks, whenever one stops, and whyever one goes on.
The k-th draft of a hold-out version plays with alpha_k = alpha * 6 / (pi^2 k^2). These sum to alpha over
all k, so by the union bound the chance that ANY draft of the null is ever accepted on one version is at
most alpha, also where later drafts were made in the knowledge of how the earlier ones fared.

**What is assumed.**
* The draft, its targets, its k and its level are fixed before its first pair (`AlphaEntry`, `Partition`):
  who could still move the level, or the margin of "not worse", once pairs were seen would choose the winner.
  Where alpha is set anew while a version is open, drafts that began keep theirs, later ones take the new
  one, and the promise is that of the largest: the k-th share is at most that of the largest alpha.
* A k belongs to the exam that is the first to see an outcome under it. One whose every try was lost
  outside of the job has seen none: its wealth is 1 and it accepts nothing, so its k is handed on, and should
  it come again it enters anew. Each k is then held by at most one exam that sees outcomes, and it held the
  k before its first: given all that was known at that time, it accepts a draft of the null with a chance of
  at most alpha_k. So the chance that anything is falsely accepted under k is at most alpha_k, and the sum
  over all k at most alpha, as before. What is lost may hang on anything but the outcome, which nobody saw.
* Each pair is drawn anew and independently: a cluster among the target clusters, each with the same
  chance, then a task in it, each with the same chance, with replacement. So the mean that the promise is
  about is the **mean over clusters of the mean over the tasks of a cluster**: a session that gave ten
  tasks weighs as much as one that gave one. It is not the plain mean over tasks. Drawing without
  replacement, or balancing the clusters, would break the assumption: what is left to be drawn then
  depends on what was seen.
* Both arms are tried afresh under a draw number that is never used again, so no score is a remembered
  one, and neither arm knows of the other. Agents whose behaviour drifts during the exam do not matter as
  long as it drifts for both: the two trials of a pair are made together, in random order.
* The stakes are constants: predictable, whatever was seen.
* A pair of which a trial was lost is left out. The promise is then about pairs that were not lost; that
  losing has nothing to do with the arm is tested apart (`gate.loss_verdict`), not proven.
* Further demands on an accept (clusters won, guards unharmed) can only make accepting rarer.

**What is not promised.** Nothing about tasks outside the pool, about future work or about worth. Nothing
about one cluster by itself: a draft that helps most clusters and hurts some may be better in the mean.
Nothing about the size of a gain: the number in a report comes from fresh trials. And a draft that is
better may still stay undecided: power is shown by `calibration`, not promised.

**Not worse.** Where a draft deletes or shortens, the null is "worse by m or more": the mean of d is at most
-m. Then (d + m)/(1 + m) is in [-1, 1] with a mean of at most 0, and the same game is played with it.

**Harm.** For one guard the game is turned round: the product of 1 - 0.8 d is a supermartingale where the
mean of d is at least 0. That any of m unharmed guards ever reaches m/0.1 has a chance of at most 0.1.

Sources: J. Ville, Etude critique de la notion de collectif (1939); G. Shafer and V. Vovk, Game-Theoretic
Foundations for Probability and Finance (2019); I. Waudby-Smith and A. Ramdas, "Estimating means of
bounded random variables by betting", JRSS B 86 (2024).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

BELIEFS = (0.6, 0.7, 0.8, 0.9)
"""Theta: with which chance we would bet that a decided pair speaks for the draft."""
STAKES = tuple(2 * theta - 1 for theta in BELIEFS)
HARM_STAKE = 0.8


def check_difference(d: float) -> float:
    """A score outside its range would break the promise: refuse it aloud, NaN too."""
    if not -1 <= d <= 1:
        raise ValueError(f"a difference of scores lies in [-1, 1], not {d}")
    return d


@dataclass(frozen=True, slots=True)
class Wealth:
    """What the four bets have become. `margin` 0 asks for a gain, above 0 for "not worse by that much"."""

    margin: float = 0.0
    products: tuple[float, ...] = (1.0,) * len(STAKES)

    @property
    def value(self) -> float:
        return sum(self.products) / len(self.products)

    def after(self, d: float) -> Wealth:
        gain = (check_difference(d) + self.margin) / (1 + self.margin)
        return Wealth(
            self.margin,
            tuple(
                [product * (1 + stake * gain) for product, stake in zip(self.products, STAKES, strict=True)]
            ),
        )


def wealth_of(differences: Iterable[float], margin: float = 0.0) -> float:
    """The wealth after these pairs; their order does not matter."""
    wealth = Wealth(margin)
    for d in differences:
        wealth = wealth.after(d)
    return wealth.value


def alpha_share(alpha: float, k: int) -> float:
    """What the k-th draft of a hold-out version may spend; the shares of all k sum to alpha."""
    if k < 1:
        raise ValueError(f"drafts are counted from 1, not {k}")
    return alpha * 6 / (math.pi**2 * k**2)


def wins_needed(share: float, wealth: Wealth | None = None) -> int:
    """How many more clean wins (d = 1, nothing else) the wealth needs to reach 1/share."""
    wealth, wins = wealth or Wealth(), 0
    while wealth.value < 1 / share:
        wealth, wins = wealth.after(1.0), wins + 1
    return wins


def harm_of(differences: Iterable[float]) -> float:
    """The wealth of who bets that a guard suffers."""
    return math.prod(1 - HARM_STAKE * check_difference(d) for d in differences)
