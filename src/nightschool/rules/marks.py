"""What a person's words on single tasks come to: which tasks serve, and which always guard.

A task is taken out of the hold-out without looking at any outcome here, and the ledger of alpha stays: what
is examined on other tasks has another digest of tasks in its wealth key, and with it a k of its own. So
however often tasks are taken out, all drafts of one version share one alpha.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nightschool.core.tasks import HoldoutVersion, Split, Task, TaskAct, TaskMark
from nightschool.core.values import Value

OUT = (TaskAct.WITHHOLD, TaskAct.RETIRE)
REASONED = OUT
"""Acts that need a reason: what is left out of an exam must not be chosen by what it showed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing(Value):
    """What stands of one task, each with the word that says it; None: nothing of this kind was said."""

    review: TaskMark | None = None
    protection: TaskMark | None = None
    out: TaskMark | None = None
    """Withheld or retired: the newest of both."""

    def serves(self, task: Task) -> bool:
        """Whether a run may use it. One from a file only once a person has read it."""
        return self.out is None and (not task.imported or self.review is not None)

    def said(self, act: TaskAct) -> TaskMark | None:
        """The word that says just this already."""
        match act:
            case TaskAct.REVIEW:
                return self.review
            case TaskAct.PROTECT:
                return self.protection
        return self.out if self.out is not None and self.out.act is act else None


NOTHING_SAID = Standing()


def standings(marks: Iterable[TaskMark]) -> dict[str, Standing]:
    """By task. `marks` in the order of writing: the clock may have been set back between two."""
    found: dict[str, Standing] = {}
    for mark in marks:
        old = found.get(mark.task, NOTHING_SAID)
        review, protection, out = old.review, old.protection, old.out
        match mark.act:
            case TaskAct.REVIEW:
                review = mark
            case TaskAct.PROTECT:
                protection = mark
            case TaskAct.RELEASE:
                protection = None
            case TaskAct.WITHHOLD | TaskAct.RETIRE:
                out = mark
        found[mark.task] = Standing(review=review, protection=protection, out=out)
    return found


def serving(tasks: Iterable[Task], marks: Iterable[TaskMark]) -> tuple[Task, ...]:
    """The tasks that a run may use."""
    known = standings(marks)
    return tuple(task for task in tasks if known.get(task.id, NOTHING_SAID).serves(task))


def objections(task: Task, act: TaskAct, standing: Standing, reason: str) -> list[tuple[str, str]]:
    """Why something cannot be said of a task, each with a code; empty: it can."""
    found = []
    if act in REASONED and not reason.strip():
        found.append(("reason-missing", f"to {act} a task takes your reason: it stays with the task"))
    if act in {TaskAct.PROTECT, TaskAct.WITHHOLD} and task.split is not Split.HOLDOUT:
        text = f"{task.id} is for training: it sits in no exam, so it can neither guard nor be taken out"
        found.append(("not-held-out", text))
    if act is TaskAct.PROTECT and standing.out is not None:
        text = f"{task.id} was taken out ({standing.out.act}, by {standing.out.actor}): it cannot guard"
        found.append(("taken-out", text))
    if act in OUT and standing.protection is not None:
        text = f"{task.id} is protected: `nightschool tasks protect {task.id} --off` first"
        found.append(("protected", text))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitting(Value):
    """The tasks that an exam is held on, of one version of the hold-out."""

    tasks: tuple[Task, ...]
    protected: tuple[str, ...]
    out: tuple[str, ...]
    """Tasks of the version that do not sit in it: taken out by a person, not chosen, or of a project that
    cannot be set up."""


def sitting(
    version: HoldoutVersion,
    tasks: Sequence[Task],
    marks: Sequence[TaskMark],
    *,
    chosen: frozenset[str] | None = None,
    without: frozenset[str] = frozenset(),
    late: frozenset[str] = frozenset(),
) -> Sitting:
    """Of the pool's `tasks` those of the version that serve, and all that are protected, whichever version
    they came with. With `chosen` (what a person's file names) the held-out ones among these alone, whether
    or not they were there when the version was opened; what is protected guards in any case. None of
    the tasks `without` sits: they cannot be tried.
    """
    known = standings(marks)
    kept, protected = [], []
    for task in sorted(tasks, key=lambda task: task.id):
        standing = known.get(task.id, NOTHING_SAID)
        if task.split is not Split.HOLDOUT or task.id in without:
            continue
        named = chosen is not None and task.id in chosen
        if standing.out is not None or not (named or standing.serves(task)):
            continue
        guards = standing.protection is not None
        if guards:
            protected.append(task.id)
        if guards or named or (chosen is None and (task.id in version.tasks or task.id in late)):
            kept.append(task)
    there = {task.id for task in kept}
    out = tuple(sorted(set(version.tasks) & {task.id for task in tasks} - there))
    return Sitting(tasks=tuple(kept), protected=tuple(protected), out=out)
