"""Says which tasks of a hold-out a draft is examined on.

Relieves `cycle`, and `outlook`, which foresees the same. A version of the hold-out opens with the tasks that
there are, and another one only after many more; what is heard for the first time in between has its tasks in
neither. So the tasks that concern a draft's own correction and came later sit in its exam as well, from its
first trial on and no others after that: it is the next draft of the same version, at its own share of the
same alpha, so the promise over all drafts of the version is what it was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nightschool.core.errors import NotFound
from nightschool.core.ports import Store
from nightschool.core.tasks import Candidate, HoldoutVersion, Split, Task, TaskMark
from nightschool.core.trials import AlphaEntry, Partition
from nightschool.rules.marks import Sitting, sitting
from nightschool.stages.mine import pooled


def sitting_of(
    holdout: HoldoutVersion,
    store: Store,
    *,
    candidate: Candidate | None = None,
    draft: str | None = None,
    chosen: frozenset[str] | None = None,
    kept: Callable[[Sequence[Task]], tuple[Task, ...]] = tuple,
) -> Sitting:
    """The tasks that an exam of `draft` (an id; None: one that is not made yet) is held on.

    `candidate`: what it answers; None for an exam of nothing, on the tasks of the version alone. `chosen`:
    those that a person's file names. `kept`: those that can be tried.
    """
    tasks = pooled(store, holdout.pool)
    missing = set(holdout.tasks) - {task.id for task in tasks}
    if missing:
        raise NotFound(f"hold-out {holdout.id} names {min(missing)}, a task that is not in the store")
    without = {task.id for task in tasks} - {task.id for task in kept(tasks)}
    return sitting(
        holdout,
        tasks,
        store.find(TaskMark),
        chosen=chosen,
        without=frozenset(without),
        late=frozenset() if candidate is None else _late(holdout, tasks, candidate, draft, store),
    )


def _late(
    holdout: HoldoutVersion, tasks: Sequence[Task], candidate: Candidate, draft: str | None, store: Store
) -> frozenset[str]:
    """Targets that came after the version: those that the exam began with, or where it did not begin, all."""
    begun = _targets(holdout, draft, store)
    if begun is None:
        begun = {task.id for task in tasks if task.split is Split.HOLDOUT and candidate.id in task.concerns}
    return frozenset(begun - set(holdout.tasks))


def _targets(holdout: HoldoutVersion, draft: str | None, store: Store) -> set[str] | None:
    entries = [entry for entry in store.find(AlphaEntry, holdout.id) if entry.draft == draft]
    if not entries:
        return None
    parted = store.get(Partition, max(entries, key=lambda entry: entry.k).wealth)
    return None if parted is None else set(parted.targets)
