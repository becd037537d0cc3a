"""Keeps a draft's place in the ledger of a hold-out version: its k, its terms, its targets and guards.

Relieves `examine`, and `outlook`, which must foresee what an exam would find. The entry and the parting are
stored in one transaction before the first trial. A share of alpha is spent by an exam that saw an outcome:
one all of whose tries were lost outside of the job is no test, and hands its share on (`rules/betting`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from nightschool.core.errors import Conflict
from nightschool.core.jobs import Finished
from nightschool.core.ports import Clock, Store
from nightschool.core.proposals import Draft
from nightschool.core.tasks import Candidate, HoldoutVersion, Task
from nightschool.core.trials import AlphaEntry, Draw, LostPair, Pair, Partition, WealthKey
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
        entry, policy = self.entry, self.policy
        if entry is not None:
            policy = replace(policy, alpha=entry.alpha, margin=entry.margin)
        k = next_k(self.store, self.holdout.id) if entry is None else entry.level
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
            number = 1 + max((entry.k for entry in entries), default=0)
            level = next_k(self.store, self.holdout.id)
            entry = self._own_entry(entries) or AlphaEntry(
                holdout=self.holdout.id,
                k=number,
                instead_of=None if level == number else level,
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
        held = holders(entries).values()
        return next((entry for entry in held if entry.wealth == self.wealth), None)

    def _taken(self, entry: AlphaEntry) -> bool:
        return any(known.k == entry.k and known != entry for known in self._entries())


def next_k(store: Store, holdout: str) -> int:
    """The k whose share the next draft of a version would spend: the lowest whose holder saw no outcome,
    else the one behind all."""
    held = holders(store.find(AlphaEntry, holdout))
    free = (level for level, entry in sorted(held.items()) if saw_nothing(store, entry))
    return next(free, max(held, default=0) + 1)


def holders(entries: Iterable[AlphaEntry]) -> dict[int, AlphaEntry]:
    """Who has each share of a version, by its k: of several the one that entered last."""
    return {entry.level: entry for entry in sorted(entries, key=lambda entry: entry.k)}


def spent(store: Store) -> list[AlphaEntry]:
    """The entries that spent their share."""
    versions: dict[str, list[AlphaEntry]] = {}
    for entry in store.find(AlphaEntry):
        versions.setdefault(entry.holdout, []).append(entry)
    held = [entry for entries in versions.values() for entry in holders(entries).values()]
    return [entry for entry in held if not saw_nothing(store, entry)]


def saw_nothing(store: Store, entry: AlphaEntry) -> bool:
    """Whether pairs of an exam were begun and no trial of any came to an outcome. What cannot be known any
    more, since it was forgotten, counts as seen."""
    draws = [draw for draw in store.find(Draw, entry.wealth) if draw.role == "target"]
    if not draws or store.find(Pair, entry.wealth):
        return False
    if any(not (lost.base_lost and lost.draft_lost) for lost in store.find(LostPair, entry.wealth)):
        return False
    if any(store.get(Task, draw.task) is None for draw in draws):
        return False
    numbers = {draw.draw for draw in draws}
    return not any(job.draw in numbers for job in store.find(Finished))
