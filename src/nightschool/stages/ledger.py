"""Keeps a draft's place in the ledger of a hold-out version: its k, its terms, its targets and guards.

Relieves `examine`, and `outlook`, which must foresee what an exam would find. The entry and the parting are
stored in one transaction before the first trial, and a k is never given twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from nightschool.core.errors import Conflict
from nightschool.core.ports import Clock, Store
from nightschool.core.proposals import Draft
from nightschool.core.tasks import Candidate, HoldoutVersion, Task
from nightschool.core.trials import AlphaEntry, Partition, WealthKey
from nightschool.core.values import Digest
from nightschool.rules import pairing
from nightschool.rules.betting import alpha_share
from nightschool.rules.gate import Policy, Terms


@dataclass(slots=True, kw_only=True)
class Ledger:
    """As it stands for one draft. Nothing is stored before `enter` or `part`."""

    store: Store
    clock: Clock
    policy: Policy
    draft: Draft
    candidate: Candidate
    holdout: HoldoutVersion
    key: WealthKey
    tasks: tuple[Task, ...]
    protected: tuple[str, ...] = ()
    seed: str
    entry: AlphaEntry | None = None
    targets: tuple[str, ...] = field(init=False)
    pool: tuple[str, ...] = field(init=False)
    """What guards are taken from, in random order."""
    begun: bool = field(init=False)
    """Whether a trial may have been made already."""

    def __post_init__(self) -> None:
        known = self.store.get(Partition, self.wealth)
        self.begun = known is not None
        if known is None:
            skill = self.draft.target.skill
            self.targets, self.pool = pairing.partition(
                self.tasks, self.candidate, self.protected, self.seed, skill
            )
        else:
            self.targets, self.pool = known.targets, known.guards
        self.entry = self._own_entry(self._entries())

    @property
    def wealth(self) -> Digest:
        return self.key.digest

    @property
    def terms(self) -> Terms:
        """Those that the draft began with, whatever the settings say now; before that, today's."""
        entry, policy, k = self.entry, self.policy, next_k(self._entries())
        if entry is not None:
            policy, k = replace(policy, alpha=entry.alpha, margin=entry.margin), entry.k
        targets = set(self.targets)
        return Terms(
            policy=policy,
            certify=self.draft.certify,
            skill=self.draft.target.skill,
            share=alpha_share(policy.alpha, k),
            clusters=len({task.cluster for task in self.tasks if task.id in targets}),
        )

    def part(self) -> None:
        """Fix targets and guards."""
        self.store.commit(self._partition())

    def enter(self) -> None:
        """Take the next k, in the same transaction that fixes the targets."""
        while self.entry is None:
            entries = self._entries()
            entry = self._own_entry(entries) or AlphaEntry(
                holdout=self.holdout.id,
                k=next_k(entries),
                wealth=self.wealth,
                draft=self.draft.id,
                alpha=self.policy.alpha,
                margin=self.policy.margin,
                at=self.clock.now(),
            )
            try:
                self.store.commit(entry, self._partition())
            except Conflict:
                if not self._taken(entry):
                    raise
                continue  # another process was quicker: the next k
            self.entry = entry

    def _partition(self) -> Partition:
        return Partition(wealth=self.wealth, targets=self.targets, guards=self.pool)

    def _entries(self) -> Sequence[AlphaEntry]:
        return self.store.find(AlphaEntry, self.holdout.id)

    def _own_entry(self, entries: Sequence[AlphaEntry]) -> AlphaEntry | None:
        return next((entry for entry in entries if entry.wealth == self.wealth), None)

    def _taken(self, entry: AlphaEntry) -> bool:
        return any(known.k == entry.k and known != entry for known in self._entries())


def next_k(entries: Sequence[AlphaEntry]) -> int:
    """Which draft of its version would enter next, counted from 1."""
    return max((entry.k for entry in entries), default=0) + 1
