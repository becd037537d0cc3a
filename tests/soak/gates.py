"""The gate's decision code on simulated drafts of which the truth is known."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from nightschool.rules.betting import alpha_share
from nightschool.rules.calibration import NULLS, Arms, Scene, fixed_size_pairs, simulate
from nightschool.rules.gate import Policy
from soak.cases import Case, Part, Seen

AT_ONCE = 500
"""Drafts in one case."""
POWERS = (0.80, 0.95, 0.99)
ENOUGH = 0.8
"""Of drafts that help by 30 points or more, at least so many are accepted."""
LEVEL = alpha_share(Policy().alpha, 1)
USELESS = {f"{arms}, base .5": Scene(arms=arms, base=0.5, clusters=12) for arms in NULLS}
USELESS |= {
    f"identical, base {base:g}": Scene(arms=Arms.IDENTICAL, base=base) for base in (0.0, 0.1, 0.3, 0.7, 1.0)
}
HELPFUL = {
    f"{base:g} to {base + effect:g}, {clusters} clusters": Scene(
        arms=Arms.HELPED, base=base, effect=effect, clusters=clusters
    )
    for base, effect in ((0.0, 0.3), (0.1, 0.3), (0.3, 0.3), (0.35, 0.3), (0.7, 0.3), (0.1, 0.5), (0.0, 0.7))
    for clusters in (5, 12)
}


def _simulated(scenes: dict[str, Scene], case: Case) -> Seen:
    names = list(scenes)
    name = names[case.number % len(names)]
    found = simulate(AT_ONCE, scenes[name], seed=case.random.getrandbits(32))
    return Counter(
        {
            f"{name}: drafts": AT_ONCE,
            f"{name}: accepted": found.accepted,
            f"{name}: pairs": round(found.mean_pairs * AT_ONCE),
        }
    )


def useless(case: Case) -> Seen:
    return _simulated(USELESS, case)


def helpful(case: Case) -> Seen:
    return _simulated(HELPFUL, case)


def _shares(scenes: dict[str, Scene], seen: Seen) -> Iterator[tuple[str, Scene, int, float, float]]:
    """Name, scene, drafts, share that was accepted, pairs in the mean."""
    for name, scene in scenes.items():
        drafts = seen[f"{name}: drafts"]
        if drafts:
            yield name, scene, drafts, seen[f"{name}: accepted"] / drafts, seen[f"{name}: pairs"] / drafts


def too_many(seen: Seen) -> Sequence[str]:
    """Scenes in which more was accepted than the first draft may; three standard deviations are chance."""
    return [
        f"{name}: {share:.4f} of {drafts} useless drafts were accepted, {LEVEL:.4f} may be"
        for name, _, drafts, share, _ in _shares(USELESS, seen)
        if share > LEVEL + 3 * math.sqrt(LEVEL * (1 - LEVEL) / drafts)
    ]


def too_few(seen: Seen) -> Sequence[str]:
    return [
        f"{name}: only {share:.3f} of {drafts} helpful drafts were accepted"
        for name, _, drafts, share, _ in _shares(HELPFUL, seen)
        if share < ENOUGH
    ]


def table_of_useless(seen: Seen) -> Sequence[str]:
    head = (
        f"False accepts of a useless first draft (it may have {LEVEL:.4f}, all drafts together "
        f"{Policy().alpha:g}; at most {Policy().most_pairs} pairs):"
    )
    rows = [
        f"| {name} | {scene.clusters} | {drafts:,} | {share:.4f} | {pairs:.1f} |"
        for name, scene, drafts, share, pairs in _shares(USELESS, seen)
    ]
    return [
        head,
        "",
        "| arms | clusters | drafts | accepted | mean pairs |",
        "| --- | ---: | ---: | ---: | ---: |",
        *rows,
    ]


def table_of_helpful(seen: Seen) -> Sequence[str]:
    """Pairs against an exact one-sided sign test at the same level that looks once, at the end."""
    rows = []
    for name, scene, drafts, share, pairs in _shares(HELPFUL, seen):
        fixed = [fixed_size_pairs(scene.effect, power, base=scene.base) for power in POWERS]
        ratios = " | ".join(f"{pairs / size:.2f}" for size in fixed)
        rows.append(f"| {name} | {drafts:,} | {share:.3f} | {pairs:.1f} | {ratios} |")
    return [
        "Power on the first draft, and its pairs as a ratio to those of an exact sign test that looks once "
        "(at 80, 95 and 99 % power):",
        "",
        "| passes | drafts | accepted | mean pairs | to 80 % | to 95 % | to 99 % |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        *rows,
    ]


PARTS = (
    Part(
        name="useless drafts at the gate",
        group="gate",
        holds=f"no more are accepted than the first draft may; {AT_ONCE} drafts a case",
        cases=20 * len(USELESS),
        check=useless,
        judge=too_many,
        table=table_of_useless,
    ),
    Part(
        name="helpful drafts at the gate",
        group="gate",
        holds=f"at least {ENOUGH:.0%} are accepted; {AT_ONCE} drafts a case",
        cases=20 * len(HELPFUL),
        check=helpful,
        judge=too_few,
        table=table_of_helpful,
    ),
)
