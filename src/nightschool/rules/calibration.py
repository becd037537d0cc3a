"""Shows what the gate does where the truth is known: simulated pairs through the real decision code.

Guards are left out (they only make accepting rarer), and so are losses. A simulated draft has at most
`Policy.most_pairs` pairs: 100, two cycles of the default budget.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from random import Random

from nightschool.core.proposals import Certify, VerdictKind
from nightschool.core.values import Value
from nightschool.rules.betting import alpha_share
from nightschool.rules.gate import Policy, Tally, Terms, decide
from nightschool.rules.intervals import binomial_tail
from nightschool.rules.pairing import stream

DEFAULT_BASE = 0.3
DEFAULT_CLUSTERS = 8


class Arms(StrEnum):
    """How base and draft relate in a simulation. The first three are no better in the mean."""

    IDENTICAL = "identical"
    """Both pass with the same chance, independently of each other."""
    SWINGS = "swings"
    """Each pair is +1 or -1 with the same chance: the most noise that a null can have."""
    OPPOSED = "opposed"
    """Always better on one half of the clusters, always worse on the other half."""
    HELPED = "helped"
    """The draft passes with a chance that is higher by the effect."""


NULLS = (Arms.IDENTICAL, Arms.SWINGS, Arms.OPPOSED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene(Value):
    """The truth of a simulation."""

    arms: Arms
    base: float = DEFAULT_BASE
    """How often the base passes."""
    effect: float = 0.0
    clusters: int = DEFAULT_CLUSTERS

    def __post_init__(self) -> None:
        if self.clusters < 1 or (self.arms is Arms.OPPOSED and self.clusters % 2):
            raise ValueError("a scene has at least one cluster, and opposed arms need an even number")
        if not (0 <= self.base <= 1 and 0 <= self.base + self.effect <= 1):
            raise ValueError(
                f"base {self.base:g} with effect {self.effect:g} leaves [0, 1]: choose another effect or base"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration(Value):
    """How often the gate accepted, over `simulated` drafts."""

    arms: Arms
    alpha: float
    """Of the whole hold-out version."""
    spent: float
    """Of that on this draft, as the k-th."""
    k: int
    base: float
    effect: float
    clusters: int
    simulated: int
    accepted: int
    share: float
    mean_pairs: float
    """Until the decision, or until `most_pairs` where none came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated(Value):
    """One simulated draft: what was said of it, and its wealth after each pair, from 1."""

    kind: VerdictKind
    path: tuple[float, ...]

    @property
    def pairs(self) -> int:
        return len(self.path) - 1


def simulate(n: int, scene: Scene, *, policy: Policy | None = None, k: int = 1, seed: int = 0) -> Calibration:
    """Put n drafts through `decide`, each as the k-th of its hold-out version."""
    if n < 1:
        raise ValueError("simulate at least one draft")
    policy = policy or Policy()
    terms = Terms(
        policy=policy, certify=Certify.GAIN, share=alpha_share(policy.alpha, k), clusters=scene.clusters
    )
    random = stream("calibration", seed, scene.arms, k)
    names = [f"cluster {number}" for number in range(scene.clusters)]
    accepted = pairs = 0
    for _ in range(n):
        draft = one_draft(terms, scene, names, random)
        accepted += draft.kind is VerdictKind.ACCEPT
        pairs += draft.pairs
    return Calibration(
        arms=scene.arms,
        alpha=policy.alpha,
        spent=terms.share,
        k=k,
        base=scene.base,
        effect=scene.effect,
        clusters=scene.clusters,
        simulated=n,
        accepted=accepted,
        share=accepted / n,
        mean_pairs=pairs / n,
    )


def one_draft(terms: Terms, scene: Scene, names: list[str], random: Random) -> Simulated:
    """One draft to its end."""
    tally, path, kind = Tally.start(terms), [1.0], VerdictKind.UNDECIDED
    while tally.pairs < terms.policy.most_pairs:
        cluster = random.randrange(scene.clusters)
        base, draft = _scores(scene, cluster, random)
        tally = tally.after(names[cluster], base, draft)
        path.append(tally.wealth.value)
        ruling = decide(tally, terms)
        if ruling is not None:
            kind = ruling.kind
            break
    return Simulated(kind=kind, path=tuple(path))


def _scores(scene: Scene, cluster: int, random: Random) -> tuple[float, float]:
    match scene.arms:
        case Arms.IDENTICAL | Arms.HELPED:
            base = float(random.random() < scene.base)
            return base, float(random.random() < scene.base + scene.effect)
        case Arms.SWINGS:
            base = float(random.random() < 0.5)
            return base, 1 - base
        case Arms.OPPOSED:
            return (0.0, 1.0) if cluster % 2 else (1.0, 0.0)


def calibrate(
    n: int, effect: float | None = None, *, policy: Policy | None = None, k: int = 1, seed: int = 0
) -> tuple[Calibration, ...]:
    """What `gate calibrate --simulate N [--effect E]` shows: the three nulls, or one effect.

    `worst` of the nulls is the false-accept rate.
    """
    if effect is not None and effect != 0:
        scene = Scene(arms=Arms.HELPED, effect=effect)
        return (simulate(n, scene, policy=policy, k=k, seed=seed),)
    # Twelve clusters, so that opposed arms win six: with eight the demand of five would hide the bets.
    scenes = (Scene(arms=arms, base=0.5, clusters=12) for arms in NULLS)
    return tuple(simulate(n, scene, policy=policy, k=k, seed=seed) for scene in scenes)


def worst(calibrations: tuple[Calibration, ...]) -> Calibration:
    return max(calibrations, key=lambda calibration: calibration.share)


def fixed_size_pairs(
    effect: float, power: float, *, share: float | None = None, base: float = DEFAULT_BASE
) -> int:
    """How many pairs an exact test needs that looks once, at the end: the one-sided sign test on pairs
    with d not 0 (McNemar's), at the same level as the first draft has.

    The smallest n whose exact power reaches `power`, base and draft passing independently.
    """
    if not 0 < power < 1 or not 0 < effect <= 1 - base:
        raise ValueError("power lies between 0 and 1, and base + effect within 1")
    level = share if share is not None else alpha_share(Policy().alpha, 1)
    better, worse = (base + effect) * (1 - base), base * (1 - base - effect)
    decided = better + worse
    wins: list[float] = []  # by decided pairs: the chance of a significant result
    n = 0
    while True:
        wins.append(_sign_power(len(wins), better / decided, level))
        chance = math.fsum(
            math.comb(n, d) * decided**d * (1 - decided) ** (n - d) * won for d, won in enumerate(wins)
        )
        if chance >= power:
            return n
        n += 1


def _sign_power(decided: int, better: float, level: float) -> float:
    """The chance that so many decided pairs give a one-sided exact sign test below the level."""
    needed = decided + 1
    while needed > 0 and binomial_tail(needed - 1, decided, 0.5) <= level:
        needed -= 1
    return binomial_tail(needed, decided, better)
