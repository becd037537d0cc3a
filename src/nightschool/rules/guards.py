"""Guards: tasks that a draft is not about and must not harm. They can block an accept, never earn one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nightschool.core.proposals import GuardReport
from nightschool.core.trials import Pair
from nightschool.rules.betting import harm_of
from nightschool.rules.gate import Policy
from nightschool.rules.intervals import share_above

SIDE_CHECKS = "other checks of the targets"
"""Stands where a guard's task stands: what the targets check besides the candidate's own check."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardStanding:
    """How one guard fares after its pairs, and how many more it gets now."""

    task: str
    pairs: int
    harm: float
    total: float
    losses: int
    """Pairs in which the draft did worse."""
    harmed: bool
    wanted: int

    def report(self) -> GuardReport:
        """With the loss that could have gone unseen: the mean of -d is at most the share of pairs with
        d < 0, and that share's exact upper bound at 95 % is given."""
        return GuardReport(
            task=self.task,
            pairs=self.pairs,
            harm=self.harm,
            total=self.total,
            unseen_loss=share_above(self.losses, self.pairs),
        )


def guard_step(
    task: str, differences: Sequence[float], *, tried: int, guards: int, policy: Policy
) -> GuardStanding:
    """Five pairs, up to twelve while the harm stays above 2; m / 0.1 over m guards blocks.

    Pairs are taken in order and none behind a block is looked at. `tried` counts lost pairs too, so that
    a guard whose trials keep getting lost comes to an end.
    """
    seen: Sequence[float] = differences
    harmed = False
    for count in range(1, len(differences) + 1):
        if harm_of(differences[:count]) >= guards / policy.guard_alpha:
            seen, harmed = differences[:count], True
            break
    harm = harm_of(seen)
    wanted = 0
    if not harmed and tried < policy.most_guard_pairs:
        room = policy.most_guard_pairs - tried
        if len(seen) < policy.guard_pairs:
            wanted = min(room, policy.guard_pairs - len(seen))
        elif harm > policy.guard_worry:
            wanted = 1
    return GuardStanding(
        task=task,
        pairs=len(seen),
        harm=harm,
        total=sum(seen),
        losses=sum(d < 0 for d in seen),
        harmed=harmed,
        wanted=wanted,
    )


def standings(
    chosen: Sequence[str],
    pairs: Sequence[Pair],
    *,
    tried: Mapping[str, int],
    targets: Sequence[Pair],
    policy: Policy,
) -> tuple[GuardStanding, ...]:
    """All guards, and as one more what the targets check besides the candidate's check.

    `pairs` are the guards' own; `targets` the target pairs that the wealth was bet on, then those that were
    drawn for their other checks alone; all in order. `tried` is by task, with `SIDE_CHECKS` for the latter.
    """
    side = [
        pair.draft_others - pair.base_others
        for pair in targets
        if pair.base_others is not None and pair.draft_others is not None
    ]
    count = len(chosen) + bool(side)
    found = []
    for task in chosen:
        differences = [pair.d for pair in pairs if pair.task == task]
        found.append(guard_step(task, differences, tried=tried.get(task, 0), guards=count, policy=policy))
    if side:
        most = max(len(side), tried.get(SIDE_CHECKS, 0))
        found.append(guard_step(SIDE_CHECKS, side, tried=most, guards=count, policy=policy))
    return tuple(found)


def fit_as_guard(scores: Sequence[float | None], policy: Policy) -> bool | None:
    """Whether the base passes four of five tries; None: not known before more tries.

    A lost try is no pass and no failure. Tries stop as soon as the answer is certain.
    """
    passes = sum(score is not None and score >= 1 for score in scores)
    failures = sum(score is not None and score < 1 for score in scores)
    if passes >= policy.guard_passes:
        return True
    if failures > policy.guard_tries - policy.guard_passes or len(scores) >= policy.guard_tries:
        return False
    return None
