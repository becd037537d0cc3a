"""What an exam would take, said before anything is spent, and whose turn it is in a run.

Relieves the cycle, and the plan of a run, which must come to the same answer. No outcome decides the order
but what a wealth already holds: see decision 0011.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nightschool.core.values import Value
from nightschool.rules.gate import Policy
from nightschool.rules.telling import counted

PAIRS_A_WIN = 5
"""So many pairs a usual gain (30 points) takes for each clean win that is missing: 35 pairs where 7 wins are
needed (docs/measurements.md)."""
GUARD_JOBS = 15
"""Five tries of the base to find a guard, five pairs with it."""
CLEAR_GUARD_JOBS = 14
"""Four tries that all pass find one as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prospect(Value):
    """What one correction would take of a run."""

    clusters: int
    """Kinds of held-out task that it concerns: what it can be examined on."""
    practice: int = 0
    """Jobs before an exam could begin, at most but for retries; none where a draft is there."""
    pairs: int = 0
    """The fewest pairs in which its exam could pass."""
    most: int = 0
    """The most pairs that its exam may still take."""
    guards: int = 0
    """Held-out tasks that guards may be taken from."""
    begun: bool = False
    """Whether an exam has a wealth already, which is kept."""
    won: bool = False
    """Whether the wealth is enough: guards and figures are left."""
    earlier: int = 0
    """Drafts of it that an exam decided on before."""
    k: int = 1
    """The number of its exam in its hold-out version."""
    barred: str | None = None
    """Why no exam can pass; None where one can."""
    said: bool = False
    """Whether the file says it already, in the person's own words: another line may well change nothing."""

    @property
    def least(self) -> int:
        """The fewest jobs in which it could come to a decision: without these nothing is begun."""
        return self.practice + (0 if self.barred is not None or self.won else 2 * self.pairs)

    def probably(self, policy: Policy) -> int:
        """Jobs to expect until it passed, at a usual gain."""
        return self._until(policy, min(self.most, PAIRS_A_WIN * self.pairs), GUARD_JOBS)

    def if_clear(self, policy: Policy) -> int:
        """The same where the edit helps in every pair."""
        return self._until(policy, self.pairs, CLEAR_GUARD_JOBS)

    def _until(self, policy: Policy, pairs: int, guard: int) -> int:
        if self.barred is not None:
            return self.practice
        if policy.mode != "certify":
            return self.least
        betting = 0 if self.won else 2 * pairs
        figures = 2 * min(policy.most_report_pairs, policy.report_per_cluster * self.clusters)
        return self.practice + betting + guard * min(policy.most_guards, self.guards) + figures

    @property
    def _rank(self) -> tuple[int, int, int]:
        if self.won:
            return 0, 0, self.k
        if self.begun:
            return 1, 0, self.k
        return (4 if self.said else 3 if self.barred is not None else 2), self.earlier, -self.clusters


def in_turn(prospects: Sequence[Prospect]) -> list[int]:
    """Places in the order of their turns: first what has won its bets, then what has a wealth, then what was
    examined least often before, with most kinds of task; then what no exam can certify, and last what the
    file says already."""
    return sorted(range(len(prospects)), key=lambda place: prospects[place]._rank)  # noqa: SLF001 - its own module


def share(own: Prospect, later: Sequence[Prospect], left: int) -> int:
    """How many of the jobs that are left it may use before the later ones had their turn: an equal part of
    what practising those without an exam leaves, and no less than it needs to come to anything."""
    if own.won:
        return left
    examined = [one for one in later if one.barred is None]
    free = left - sum(one.practice for one in later if one.barred is not None)
    return min(left, max(free // (1 + len(examined)), own.least))


def waits(own: Prospect, left: int, whole: int) -> str | None:
    """Why it is not begun with what is left of a run; None: it is.

    Where not even a whole run would do it is begun all the same: a draft is staged as a suggestion.
    """
    if own.begun or own.least <= left or own.least > whole:
        return None
    what = "practice takes" if own.barred is not None else "its exam takes"
    if own.practice and own.barred is None:
        what = "practice and exam take"
    return (
        f"nothing was spent on it: {what} {counted(own.least, 'job')} or more and the budget of this run "
        f"has {left} left; the next run takes it up"
    )
