"""The gate's figures: false accepts, power, and pairs against an exact test of fixed size.

    python bench/bench_gate.py [DRAFTS]

No figure is a timed one; all are the same in each run.
"""

from __future__ import annotations

import sys
from random import Random

from nightschool.core.proposals import Certify, VerdictKind
from nightschool.rules.betting import alpha_share
from nightschool.rules.calibration import Arms, Scene, calibrate, fixed_size_pairs, one_draft, simulate
from nightschool.rules.gate import Policy, Terms

EFFECT = 0.3
CELLS = [(base, clusters) for base in (0.0, 0.1, 0.2, 0.3, 0.35, 0.5, 0.6, 0.7) for clusters in (3, 5, 8, 12)]


def main() -> None:
    drafts = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    policy = Policy()
    print(
        f"false accepts of a draft that gains nothing ({drafts} simulated, at most {policy.most_pairs} pairs)"
    )
    for row in calibrate(drafts):
        print(
            f"  {row.arms:<10} {row.share:.4f}  (this draft may {row.spent:.4f}, all together {row.alpha:g})"
        )
    print(
        f"  any of 10 drafts on one hold-out version, arms 'swings': {any_of_ten(drafts // 10, policy):.4f}"
    )
    powers = (0.80, 0.95, 0.99)
    print()
    print(f"power at +{100 * EFFECT:.0f} points (first draft), against an exact sign test that looks once")
    print("  base  clusters   power  mean pairs | fixed 80 / 95 / 99 % | ratio 80 / 95 / 99 %")
    for base, clusters in CELLS:
        scene = Scene(arms=Arms.HELPED, base=base, effect=EFFECT, clusters=clusters)
        row = simulate(max(drafts // 10, 500), scene)
        fixed = [fixed_size_pairs(EFFECT, power, base=base) for power in powers]
        ratios = " / ".join(f"{row.mean_pairs / size:.2f}" for size in fixed)
        sizes = " / ".join(f"{size:3d}" for size in fixed)
        print(
            f"  {base:4.2f}  {clusters:8d}   {row.share:.3f}  {row.mean_pairs:10.1f} | {sizes:>20} | {ratios}"
        )


def any_of_ten(versions: int, policy: Policy) -> float:
    """The share of hold-out versions on which any of ten useless drafts was accepted."""
    scene = Scene(arms=Arms.SWINGS, base=0.5)
    names = [f"cluster {number}" for number in range(scene.clusters)]
    random = Random(7)
    fooled = 0
    for _ in range(versions):
        for k in range(1, 11):
            terms = Terms(
                policy=policy,
                certify=Certify.GAIN,
                share=alpha_share(policy.alpha, k),
                clusters=scene.clusters,
            )
            if one_draft(terms, scene, names, random).kind is VerdictKind.ACCEPT:
                fooled += 1
                break
    return fooled / versions


if __name__ == "__main__":
    main()
