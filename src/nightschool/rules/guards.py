"""Guards: tasks that a draft is not about and must not harm. They can block an accept, never earn one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nightschool.core.trials import SIDE_CHECKS, GuardReport, Pair
from nightschool.rules.betting import harm_of
from nightschool.rules.gate import Policy
from nightschool.rules.intervals import share_above
from nightschool.rules.telling import counted


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
    base_passed: int = 0

    def report(self) -> GuardReport:
        """With the loss that could have gone unseen: the mean of -d is at most the share of pairs with
        d < 0, and that share's exact upper bound at 95 % is given."""
        return GuardReport(
            task=self.task,
            pairs=self.pairs,
            harm=self.harm,
            total=self.total,
            unseen_loss=share_above(self.losses, self.pairs),
            base_passed=self.base_passed,
        )


def guard_step(
    task: str,
    differences: Sequence[float],
    *,
    bases: Sequence[float] = (),
    tried: int,
    guards: int,
    policy: Policy,
) -> GuardStanding:
    """Five pairs, up to twelve while the harm stays above 2; m / 0.1 over m guards blocks. `bases`: what each
    pair scored without the edit.

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
        base_passed=sum(score >= 1 for score in bases[: len(seen)]),
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
        (pair.base_others, pair.draft_others - pair.base_others)
        for pair in targets
        if pair.base_others is not None and pair.draft_others is not None
    ]
    count = len(chosen) + bool(side)
    found = []
    for task in chosen:
        own = [pair for pair in pairs if pair.task == task]
        found.append(
            guard_step(
                task,
                [pair.d for pair in own],
                bases=[pair.base_score for pair in own],
                tried=tried.get(task, 0),
                guards=count,
                policy=policy,
            )
        )
    if side:
        most = max(len(side), tried.get(SIDE_CHECKS, 0))
        bases, differences = zip(*side, strict=True)
        found.append(
            guard_step(SIDE_CHECKS, differences, bases=bases, tried=most, guards=count, policy=policy)
        )
    return tuple(found)


def never_passed(task: str, tries: int) -> GuardReport:
    """A protected task that was passed in none of so many tries without the edit. It is no guard."""
    return GuardReport(task=task, pairs=0, harm=1.0, total=0.0, unseen_loss=1.0, base_passed=0, probed=tries)


def told(guard: GuardReport) -> str:
    """What it showed, in a few words. What was not tried, or had nothing to lose, is not called unharmed."""
    if guard.probed:
        return f"cannot guard: passed in none of {counted(guard.probed, 'try', 'tries')} without the edit"
    if not guard.pairs:
        return "not tried"
    if guard.total < 0:
        return "did worse"
    if not guard.could_show:
        return f"could not show harm: passed in {guard.base_passed} of {guard.pairs} without the edit"
    return "unharmed" if guard.harm <= 1 else "no worse in sum"


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
