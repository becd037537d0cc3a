"""Tasks of an exam that never told the two arms apart: they take tries and say nothing.

Relieves the report and the commands that show an exam. Nothing is dropped here: what is left out of a
running exam because of what it showed would break the promise of the gate. A person may take such a task
out; then the exam is held on other tasks, with a wealth of its own that starts at 1, on its own k.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from nightschool.core.trials import Pair
from nightschool.core.values import Value
from nightschool.rules.betting import alpha_share, wins_needed
from nightschool.rules.gate import Policy
from nightschool.rules.telling import counted, figures

SILENT_AFTER = 5
"""Pairs, all alike in the same way. A task whose tries differ in every third pair is silent so long in one
of eight cases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Silent(Value):
    """One task."""

    task: str
    pairs: int
    passed: bool
    """Both tries of all pairs; else neither of any."""

    @property
    def told(self) -> str:
        if self.passed:
            return f"passed without the edit and with it in all of {self.pairs} pairs"
        return f"not passed in any of {self.pairs} pairs, neither without the edit nor with it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence(Value):
    """Those of one exam, and what taking them out costs."""

    tasks: tuple[Silent, ...]
    wealth: float
    """That would be given up."""
    k: int
    """The number that the exam on the others would have."""
    alpha: float
    kinds: int
    """That would be left."""
    least: int
    """Kinds that the gate needs."""

    @property
    def cost(self) -> str:
        share = alpha_share(self.alpha, self.k)
        wins = wins_needed(share)
        told = (
            "taking one out begins each exam of this hold-out that is not decided anew, and its verdict "
            f"speaks of the other tasks alone: here the evidence of {figures(self.wealth)} is given up, and "
            f"as edit number {self.k} of this hold-out it needs {figures(1 / share)}, so {wins} clean wins"
        )
        if self.kinds < self.least:
            left = counted(self.kinds, "kind")
            return f"{told}; but without all of these {left} would be left, and the gate needs {self.least}"
        return told

    @property
    def lines(self) -> list[str]:
        """Each task with the way out, then what it costs."""
        ways = [
            f"{one.task}: {one.told}; `nightschool tasks withhold {one.task} --reason WHY`"
            for one in self.tasks
        ]
        return [*ways, self.cost]


def silent(pairs: Iterable[Pair]) -> tuple[Silent, ...]:
    """Of the target pairs of one wealth, by task."""
    found: dict[str, list[Pair]] = {}
    for pair in pairs:
        if pair.role == "target":
            found.setdefault(pair.task, []).append(pair)
    return tuple(
        Silent(task=task, pairs=len(own), passed=own[0].base_score >= 1)
        for task, own in sorted(found.items())
        if len(own) >= SILENT_AFTER and _alike(own)
    )


def _alike(pairs: list[Pair]) -> bool:
    return len({(pair.base_score, pair.draft_score) for pair in pairs}) == 1 and pairs[0].d == 0


def silence(
    found: tuple[Silent, ...], *, wealth: float, k: int, alpha: float, left: Iterable[str], policy: Policy
) -> Silence | None:
    """`left`: the clusters of the targets that are not silent."""
    if not found:
        return None
    return Silence(
        tasks=found, wealth=wealth, k=k, alpha=alpha, kinds=len(set(left)), least=policy.least_clusters
    )
