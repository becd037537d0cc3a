"""How pairs come about: what is drawn, and what two trials say together. No decision is made here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

from nightschool.core.tasks import Candidate, Check, Footprint, Task
from nightschool.core.trials import Draw, LostPair, Pair, Trial


def partition(
    tasks: Sequence[Task],
    candidate: Candidate,
    protected: Sequence[str],
    seed: str,
    skill: str | None = None,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Part the hold-out into targets and the pool that guards are taken from, without any outcome.

    Targets are all tasks that the candidate concerns. The pool is the rest in random order, for a skill
    the tasks first in whose sessions it was loaded: of these it is that they must not suffer. What a person
    protects stands before all, also where it is a target: then it is tried as a guard as well. No guard is a
    task that asks for what the candidate takes back ("use zerolog, not slog", after "use slog" was said).
    """
    targets = tuple(sorted(task.id for task in tasks if candidate.id in task.concerns))
    kept = tuple(sorted({task.id for task in tasks} & set(protected)))
    against = {task.id for task in tasks if any(_against(check, candidate.check) for check in task.checks)}
    rest = sorted({task.id for task in tasks} - set(targets) - set(kept) - against)
    stream(seed, "guards").shuffle(rest)
    own = {task.id for task in tasks if skill is not None and skill in task.skills}
    rest.sort(key=lambda name: name not in own)
    return targets, (*kept, *rest)


def _against(check: Check, other: Check | None) -> bool:
    """Whether one check wants what the other forbids."""
    if not isinstance(check, Footprint) or not isinstance(other, Footprint):
        return False
    wants = ((check.wanted, other.unwanted), (other.wanted, check.unwanted))
    return any(wanted is not None and wanted == unwanted for wanted, unwanted in wants)


def stream(*seed: object) -> Random:
    """Random numbers that are the same for the same seed in every process and version of Python."""
    return Random(":".join(map(str, seed)))  # noqa: S311 - draws of an experiment, not secrets


def draw_target(targets: Sequence[Task], seed: str, draw: int) -> tuple[Task, bool]:
    """A cluster at random, then a task in it at random; and whether the base goes first."""
    random = stream(seed, draw)
    cluster = random.choice(sorted({task.cluster for task in targets}))
    task = random.choice(sorted((t for t in targets if t.cluster == cluster), key=lambda t: t.id))
    return task, random.random() < 0.5


def score_for(trial: Trial, task: Task, check: Check | None) -> float | None:
    """The score on the check that the edit was made for. Other checks of the task are guards.

    Where the task does not carry that check its own score counts. A job that failed scores 0 though no
    check looked at it.
    """
    if trial.score is None or check not in task.checks or not trial.failed_checks:
        return trial.score
    return 0.0 if task.checks.index(check) in trial.failed_checks else 1.0


def score_of_others(trial: Trial, task: Task, check: Check | None) -> float | None:
    """The score on all the other checks of a target; None where there are none, or the trial is lost."""
    if trial.score is None or check not in task.checks or len(task.checks) == 1:
        return None
    if not trial.failed_checks:
        return trial.score
    return 0.0 if set(trial.failed_checks) - {task.checks.index(check)} else 1.0


def settle(
    draw: Draw,
    base: Trial,
    draft: Trial,
    *,
    task: Task,
    check: Check | None,
    cycle: str,
    skill: str | None = None,
) -> Pair | LostPair:
    """Only where both arms have a score is there a pair: never one arm's score against nothing.

    A guard counts with its whole score, all else with the check that the edit was made for, if any.
    """
    if draw.role == "guard":
        ours, theirs = draft.score, base.score
    else:
        ours, theirs = score_for(draft, task, check), score_for(base, task, check)
    if ours is None or theirs is None:
        return LostPair(
            wealth=draw.wealth,
            draw=draw.draw,
            role=draw.role,
            task=draw.task,
            base_lost=theirs is None,
            draft_lost=ours is None,
            cycle=cycle,
        )
    target = draw.role in {"target", "side"}
    return Pair(
        wealth=draw.wealth,
        draw=draw.draw,
        role=draw.role,
        task=draw.task,
        cluster=task.cluster,
        base_score=theirs,
        draft_score=ours,
        base_others=score_of_others(base, task, check) if target else None,
        draft_others=score_of_others(draft, task, check) if target else None,
        loaded=None if skill is None or draft.skills is None else skill in draft.skills,
        cycle=cycle,
    )


def report_plan(targets: Sequence[Task], seed: str, *, per_cluster: int, most: int) -> list[str]:
    """The tries that a report's number comes from: equally many from each target cluster, up to `most`.

    The clusters stand in random order, so that a cap favours none.
    """
    random = stream(seed, "report")
    clusters = sorted({task.cluster for task in targets})
    random.shuffle(clusters)
    members = {c: sorted(task.id for task in targets if task.cluster == c) for c in clusters}
    return [random.choice(members[c]) for _ in range(per_cluster) for c in clusters][:most]


@dataclass(frozen=True, slots=True, kw_only=True)
class Losses:
    """Pairs that were tried (targets and guards) and how many were lost, by the arm that was lost."""

    tried: int
    base_only: int = 0
    draft_only: int = 0
    both: int = 0

    @property
    def lost(self) -> int:
        return self.base_only + self.draft_only + self.both

    @classmethod
    def of(cls, pairs: Iterable[Pair], lost: Sequence[LostPair]) -> Losses:
        return cls(
            tried=len(lost) + sum(1 for _ in pairs),
            base_only=sum(pair.base_lost and not pair.draft_lost for pair in lost),
            draft_only=sum(pair.draft_lost and not pair.base_lost for pair in lost),
            both=sum(pair.base_lost and pair.draft_lost for pair in lost),
        )
