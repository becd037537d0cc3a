"""Draws pairs and tries them. Relieves `examine` and `calibrate` of what both must do in the same order.

Each draw is stored before its trials, each pair once, after its trials (which `Practice` has stored by
then). What was cut off anywhere goes on with the draws that it had begun.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nightschool.core.errors import BudgetExhausted
from nightschool.core.harness import Harness
from nightschool.core.ports import Practice, Store
from nightschool.core.tasks import Check, Task
from nightschool.core.trials import Arm, Draw, LostPair, Pair, TrialRequest
from nightschool.core.values import Digest
from nightschool.rules import pairing
from nightschool.rules.pairing import Losses

DRAWS = "draws"
"""The counter of draw numbers. There is one, for all hold-out versions: two versions may share tasks, and a
number that both used would let the one's finished job answer for the other's fresh trial."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """The pairs of one wealth: those that are stored, and how further ones are made."""

    store: Store
    practice: Practice
    wealth: Digest
    cycle: str
    arms: tuple[tuple[Arm, Harness], tuple[Arm, Harness]]
    """The one that d is counted from first."""
    tasks: Mapping[str, Task]
    targets: tuple[str, ...]
    """What is drawn from where no task is named."""
    check: Check | None
    """The one that the pairs (but for guards) are scored by; None: all checks of a task."""
    seed: str
    skill: str | None = None
    """The one that the other harness edits."""
    batch: int
    """So many pairs are tried at once."""

    def of(self, role: str) -> list[Pair]:
        found = (pair for pair in self.store.find(Pair, self.wealth) if pair.role == role)
        return sorted(found, key=lambda pair: pair.draw)

    def lost(self, *roles: str) -> list[LostPair]:
        """Draws of these roles that a lost trial cost; of all roles where none is named."""
        return [lost for lost in self.store.find(LostPair, self.wealth) if not roles or lost.role in roles]

    def losses(self, *roles: str, cycle: str | None = None) -> Losses:
        pairs = [pair for role in roles for pair in self.of(role) if cycle in {None, pair.cycle}]
        return Losses.of(pairs, [lost for lost in self.lost(*roles) if cycle in {None, lost.cycle}])

    def tried(self, role: str) -> Counter[str]:
        """How often each task was drawn in this role, lost pairs too."""
        made = [pair.task for pair in self.of(role)] + [lost.task for lost in self.lost(role)]
        return Counter(made)

    def pending(self, role: str) -> list[Draw]:
        """What a cycle that died had begun, in order."""
        done = {pair.draw for pair in self.of(role)} | {lost.draw for lost in self.lost(role)}
        draws = self.store.find(Draw, self.wealth)
        begun = (draw for draw in draws if draw.role == role and draw.draw not in done)
        return sorted(begun, key=lambda draw: draw.draw)

    def begun(self, role: str) -> frozenset[str]:
        """The tasks that were ever drawn in this role."""
        return frozenset(draw.task for draw in self.store.find(Draw, self.wealth) if draw.role == role)

    def go_on(self, role: str, count: int, tasks: Sequence[str] = (), *, left: int | None = None) -> bool:
        """Try what is pending, else `count` fresh draws, as many as fit into the jobs that are left for it
        (None: into the budget). False: these are at their end."""
        draws = self.pending(role)[: self.batch]
        try:
            if not draws:
                count = min(count, self.batch, (self.practice.left() if left is None else left) // 2)
                if count == 0:
                    return False
                draws = self._draw(role, count, tasks[:count])
            self._try(draws)
        except BudgetExhausted:
            return False
        return True

    def _draw(self, role: str, count: int, tasks: Sequence[str]) -> list[Draw]:
        """Fresh draws: on the tasks named, else each on a target drawn at random."""
        first = self.store.take(DRAWS, count)
        targets = [self.tasks[task] for task in self.targets]
        draws = []
        for place in range(count):
            task, base_first = pairing.draw_target(targets, self.seed, first + place)
            draw = Draw(
                wealth=self.wealth,
                draw=first + place,
                role=role,
                task=tasks[place] if tasks else task.id,
                base_first=base_first,
                cycle=self.cycle,
            )
            draws.append(draw)
        self.store.commit(*draws)
        return draws

    def _try(self, draws: Sequence[Draw]) -> None:
        """Try both arms of each draw. Raises `BudgetExhausted` before any was started."""
        requests = []
        for draw in draws:
            for arm, harness in self.arms if draw.base_first else reversed(self.arms):
                request = TrialRequest(
                    task=self.tasks[draw.task], harness=harness, arm=arm, purpose=draw.role, draw=draw.draw
                )
                requests.append(request)
        trials = self.practice.trials(requests)
        (base, _), (other, _) = self.arms
        for place, draw in enumerate(draws):
            both = {trial.arm: trial for trial in trials[2 * place : 2 * place + 2]}
            settled = pairing.settle(
                draw,
                both[base],
                both[other],
                task=self.tasks[draw.task],
                check=self.check,
                cycle=self.cycle,
                skill=self.skill,
            )
            self.store.commit(settled)
