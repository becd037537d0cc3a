"""Calibrates: the base against itself on the held-out tasks, as a draft would be examined on them.

The arms have names of their own and their draws come from the counter of all draws, so that no trial of
an exam is used here and none of these there. The pairs belong to a wealth of their own, which no draft
has, and nothing is entered in the ledger of alpha.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from nightschool.core.harness import Harness
from nightschool.core.ports import Practice, Store
from nightschool.core.tasks import HoldoutVersion, Task
from nightschool.core.trials import Arm, WealthKey
from nightschool.rules import gate
from nightschool.rules.gate import Policy
from nightschool.rules.noise import NoiseFloor, noise_floor, plan
from nightschool.stages.numbers import give
from nightschool.stages.pairs import Pairs

ROLE = "calibrate"
Ended = Literal["done", "budget-ended", "many-losses"]


@dataclass(slots=True, kw_only=True)
class Calibration:
    """The pairs of one base with itself. Those of earlier runs count: what is asked for is the sum."""

    base: Harness
    holdout: HoldoutVersion
    tasks: tuple[Task, ...]
    """Those of the hold-out version."""
    key: WealthKey
    """Names the base in the place of the draft."""
    store: Store
    practice: Practice
    policy: Policy
    cycle: str
    batch: int = 4
    _pairs: Pairs = field(init=False)

    def __post_init__(self) -> None:
        if not self.key.draft == self.key.base == self.base.digest or self.key.holdout != self.holdout.id:
            raise ValueError("the key of a calibration names its base twice, and its hold-out version")
        self._pairs = Pairs(
            store=self.store,
            practice=self.practice,
            wealth=self.key.digest,
            cycle=self.cycle,
            arms=((Arm.FIRST, self.base), (Arm.SECOND, self.base)),
            tasks={task.id: task for task in self.tasks},
            targets=tuple(sorted(task.id for task in self.tasks)),
            check=None,
            seed=self.key.digest,
            batch=self.batch,
        )

    def remaining(self, pairs: int) -> int:
        """How many pairs are still wanting, where so many are wanted in all. A lost one is none."""
        return max(0, pairs - len(self._pairs.of(ROLE)))

    def go_on(self, pairs: int) -> Ended:
        """Try what remains, and say why it ended."""
        give(self.store, self.cycle)
        while remaining := self.remaining(pairs):
            if gate.many_losses(self._pairs.losses(ROLE, cycle=self.cycle), self.policy) is not None:
                return "many-losses"
            first = self._pairs.tried(ROLE).total()
            tasks = plan(self.tasks, self.key.digest, first, remaining)
            floor = self.floor()
            first_now, last = floor.pairs + 1, floor.pairs + min(remaining, self.batch)
            now = f"pair {last}" if first_now == last else f"pairs {first_now} to {last}"
            self.practice.tell(f"{now} of {pairs}: {floor.differ} differ so far")
            if not self._pairs.go_on(ROLE, remaining, tasks):
                return "budget-ended"
        return "done"

    def floor(self) -> NoiseFloor:
        """What the pairs so far say."""
        pairs, lost = self._pairs.of(ROLE), self._pairs.lost(ROLE)
        return noise_floor(pairs, lost, self.tasks, alpha=self.policy.alpha)


def newest(store: Store, pool: str) -> HoldoutVersion | None:
    """The hold-out version that is open in a pool; None while there is no held-out task."""
    return max(store.find(HoldoutVersion, pool), key=lambda version: version.number, default=None)
