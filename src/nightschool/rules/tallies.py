"""What the tries of one exam came to, task by task. Relieves the report of what a trial counts for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from nightschool.core.tasks import Candidate, Split, Task
from nightschool.core.trials import Arm, Draw, Trial
from nightschool.core.values import Digest, Value
from nightschool.rules.pairing import score_for
from nightschool.rules.unreported import number

Made = TypeVar("Made", Draw, Trial)
FULL = 1.0
BOTH = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally(Value):
    """One task: how many of its tries passed, without and with the edit."""

    task: Task
    guard: bool
    """It is not about the edit and must not suffer."""
    base_passed: int = 0
    base_tries: int = 0
    draft_passed: int = 0
    draft_tries: int = 0

    def after(self, arm: Arm, *, passed: bool) -> Tally:
        if arm is Arm.DRAFT:
            return replace(self, draft_passed=self.draft_passed + passed, draft_tries=self.draft_tries + 1)
        return replace(self, base_passed=self.base_passed + passed, base_tries=self.base_tries + 1)


def tallies(
    candidate: Candidate,
    tasks: Mapping[str, Task],
    trials: Iterable[Trial],
    draws: Iterable[Draw],
    *,
    base: Digest,
) -> tuple[Tally, ...]:
    """By task: training first, then the exam's targets, then its guards. `base`: the harness that the edit
    was made from; training on another one was for another edit.

    A trial counts as the gate counts it: a guard's by all checks of the task, any other by the check that
    the edit was made for. What has no second arm is left out: a try whose other one was lost, and those by
    which guards were chosen. A trial of another judge, made of the same job, is counted once, as it was
    judged last.
    """
    roles = {draw.draw: draw.role for draw in draws}
    kept = {
        (trial.job, trial.purpose): trial
        for trial in trials
        if trial.task in tasks and _counts(trial, tasks[trial.task], candidate, roles, base)
    }
    arms = Counter(trial.draw for trial in kept.values())
    found: dict[tuple[str, bool], Tally] = {}
    for trial in kept.values():
        if trial.draw is not None and arms[trial.draw] < BOTH:
            continue
        task, guard = tasks[trial.task], trial.purpose == "guard"
        score = trial.score if guard else score_for(trial, task, candidate.check)
        if score is not None:
            tally = found.setdefault((task.id, guard), Tally(task=task, guard=guard))
            found[task.id, guard] = tally.after(trial.arm, passed=score >= FULL)
    return tuple(sorted(found.values(), key=lambda tally: (tally.task.split is Split.HOLDOUT, tally.guard)))


def _counts(trial: Trial, task: Task, candidate: Candidate, roles: Mapping[int, str], base: Digest) -> bool:
    if trial.draw is None:
        return trial.purpose == "train" and candidate.id in task.concerns and trial.harness == base
    return roles.get(trial.draw) == trial.purpose


def until(made: Sequence[Made], cycle: str) -> Sequence[Made]:
    """What was drawn or tried up to the end of a cycle: a later one may have gone on with it."""
    return [one for one in made if number(one.cycle) <= number(cycle)]
