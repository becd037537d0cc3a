"""What the gate asks of a draft, condition by condition, with the figures of its verdict.

It decides nothing: the verdict was said by `gate` and `guards`, and these are the numbers that it was said
from, against the same limits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nightschool.core.proposals import Certify, Draft, Verdict, VerdictKind
from nightschool.core.trials import SIDE_CHECKS, GuardReport
from nightschool.core.values import Value
from nightschool.rules.gate import Policy, loss_verdict, many_losses
from nightschool.rules.guards import told
from nightschool.rules.intervals import even_odds_p
from nightschool.rules.pairing import Losses
from nightschool.rules.telling import counted, figures


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition(Value):
    """One thing that is asked."""

    code: str
    holds: bool | None
    """None: not looked at, since the exam ended before."""
    asked: str
    """In plain words."""
    found: str
    """The figures."""


def conditions(
    draft: Draft, verdict: Verdict, losses: Losses, policy: Policy | None = None
) -> tuple[Condition, ...]:
    """All that has to hold for `accept`. `losses`: the pairs of this exam, targets and guards."""
    return tuple(_conditions(draft, verdict, losses, policy or Policy()))


def _conditions(draft: Draft, verdict: Verdict, losses: Losses, policy: Policy) -> Iterator[Condition]:
    code = verdict.code
    tried = verdict.wealth is not None and verdict.pairs > 0
    yield Condition(
        code="certifies",
        holds=verdict.mode == "certify",
        asked="the gate is set to certify, and not only to suggest",
        found=f"mode {verdict.mode}",
    )
    yield Condition(
        code="apart",
        holds=code != "overlap" if verdict.holdout is not None else None,
        asked="no task of the exam was seen by who wrote the edit, nor anything like one",
        found=verdict.why if code == "overlap" else "training and exam are apart",
    )
    yield Condition(
        code="enough-kinds",
        holds=verdict.target_clusters >= policy.least_clusters,
        asked=f"the exam has tasks of {policy.least_clusters} kinds or more that the edit is about",
        found=f"{counted(verdict.target_clusters, 'kind')} (tasks that are nearly the same are one kind)",
    )
    yield Condition(
        code="enough-budget",
        holds=code != "few-pairs" if tried or code == "few-pairs" else None,
        asked="the limits of the run leave room for the fewest tries that could decide",
        found=verdict.why if code == "few-pairs" else "enough to begin",
    )
    yield _told_apart(draft, verdict, tried=tried)
    yield from _wealth(draft, verdict, policy, tried=tried)
    yield from _guards(verdict, policy)
    yield from _losses(losses, policy)


def _told_apart(draft: Draft, verdict: Verdict, *, tried: bool) -> Condition:
    blind = verdict.code in {"base-passes-all", "checks-blind"}
    may_be_alike = draft.certify is Certify.NOT_WORSE
    asked = "the tasks can show a difference: not all are done right without the edit, and not all alike"
    return Condition(
        code="told-apart",
        holds=not blind if tried else None,
        asked="the tasks are passed at times, so that a loss would show" if may_be_alike else asked,
        found=verdict.why
        if blind
        else f"{verdict.decided} of {counted(verdict.pairs, 'pair')} came out differently",
    )


def _wealth(draft: Draft, verdict: Verdict, policy: Policy, *, tried: bool) -> Iterator[Condition]:
    wealth, needed = verdict.wealth, None if not verdict.alpha else 1 / verdict.alpha
    aim = "the edit does better"
    if draft.certify is Certify.NOT_WORSE:
        aim = f"the edit does not worse by more than {verdict.margin or policy.margin:.0%}"
    reached = "nothing was tried"
    if wealth is not None and needed is not None:
        reached = f"{figures(wealth)}, {figures(needed)} is needed"
    number = "" if verdict.k is None else f"; edit number {verdict.k} of this exam"
    yield Condition(
        code="enough-evidence",
        holds=None if wealth is None or needed is None else wealth >= needed,
        asked=f"the evidence that {aim} is so strong that luck alone seldom gives it",
        found=reached + number,
    )
    kinds = min(policy.won_clusters, max(policy.least_clusters, verdict.target_clusters))
    yield Condition(
        code="enough-kinds-won",
        holds=verdict.clusters_won >= kinds if tried else None,
        asked=f"it is better in {kinds} kinds of task, not in one alone",
        found=f"better in {verdict.clusters_won} of {verdict.target_clusters}",
    )
    low = wealth is not None and verdict.decided >= policy.reject_after and wealth < policy.reject_below
    yield Condition(
        code="not-against",
        holds=not low if tried else None,
        asked=f"the evidence stays above {policy.reject_below:g} once {policy.reject_after} pairs differ",
        found="nothing was tried"
        if wealth is None
        else f"{figures(wealth)} after {verdict.decided} that differ",
    )


def _guards(verdict: Verdict, policy: Policy) -> Iterator[Condition]:
    """One condition a guard, since each can block alone."""
    asked = "other work of yours does not suffer"
    if all(guard.task == SIDE_CHECKS for guard in verdict.guards):
        accepted = verdict.kind is VerdictKind.ACCEPT
        none = "nobody knows: no task was found that is done right without the edit, so that it could suffer"
        yield Condition(code="guards", holds=None, asked=asked, found=none if accepted else "not tried")
    limit = sum(not guard.probed for guard in verdict.guards) / policy.guard_alpha
    for guard in verdict.guards:
        yield Condition(
            code="guard",
            holds=_unharmed(guard, limit, policy, verdict),
            asked=f"{asked}: {guard.task}",
            found=told(guard)
            if not guard.could_show
            else (
                f"{counted(guard.pairs, 'pair')}: {_in_sum(guard.total)}; the suspicion of harm starts "
                f"at 1, is {figures(guard.harm)} now, and at {figures(limit)} the edit fails; a loss of up "
                f"to {guard.unseen_loss:.0%} could go unseen"
            ),
        )


def _in_sum(total: float) -> str:
    if total == 0:
        return "passed as often with the edit as without"
    return f"passed {abs(total):g} times {'more' if total > 0 else 'less'} with the edit"


def _unharmed(guard: GuardReport, limit: float, policy: Policy, verdict: Verdict) -> bool | None:
    if guard.harm >= limit:
        return False
    if not guard.could_show:
        return None
    # The other checks of the targets are tried with the targets; the gate has seen that they sufficed.
    enough = (
        guard.pairs >= policy.guard_pairs or guard.task == SIDE_CHECKS or verdict.kind is VerdictKind.ACCEPT
    )
    return True if enough else None


def _losses(losses: Losses, policy: Policy) -> Iterator[Condition]:
    tried = losses.tried > 0
    chance = even_odds_p(losses.base_only, losses.draft_only)
    differ = loss_verdict(losses, policy)
    yield Condition(
        code="losses-alike",
        holds=(differ is None or differ.code != "losses-differ") if tried else None,
        asked="tries were not lost to the machine or the network on one side only",
        found="no pair lost the one try without the other"
        if losses.base_only + losses.draft_only == 0
        else (
            f"{losses.base_only} lost without the edit alone, {losses.draft_only} with it alone; where luck "
            f"alone loses tries it is at least so uneven in {chance:.0%} of exams, and under "
            f"{policy.loss_level:.0%} the exam says nothing"
        ),
    )
    yield Condition(
        code="few-losses",
        holds=many_losses(losses, policy) is None if tried else None,
        asked=f"at most {policy.lost_share:.0%} of the pairs were lost",
        found=f"{losses.lost} of {losses.tried}",
    )
