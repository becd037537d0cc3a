"""Finds the silent tasks of an exam that is not decided.

Relieves the cycle and the commands that show one.
"""

from __future__ import annotations

from collections.abc import Iterable

from nightschool.core.ports import Store
from nightschool.core.proposals import Dossier, Verdict, VerdictKind
from nightschool.core.tasks import Task, TaskMark
from nightschool.core.trials import Pair, Partition
from nightschool.rules.gate import Policy
from nightschool.rules.marks import serving
from nightschool.rules.silent import Silence, Silent, silence, silent
from nightschool.stages.ledger import next_k

OPEN = frozenset({VerdictKind.UNDECIDED, VerdictKind.INVALID})


def silences(verdict: Verdict | None, store: Store, policy: Policy) -> Silence | None:
    """Those of the exam that a verdict speaks of; None where it is decided, or none is silent. A task that
    was taken out meanwhile is none any more."""
    if verdict is None or verdict.wealth_key is None or verdict.wealth is None or verdict.holdout is None:
        return None
    parted = store.get(Partition, verdict.wealth_key)
    if verdict.kind not in OPEN or parted is None:
        return None
    targets = [task for name in parted.targets if (task := store.get(Task, name)) is not None]
    there = {task.id: task for task in serving(targets, store.find(TaskMark))}
    found = tuple(one for one in silent(store.find(Pair, verdict.wealth_key)) if one.task in there)
    quiet = {one.task for one in found}
    return silence(
        found,
        wealth=verdict.wealth,
        k=next_k(store, verdict.holdout),
        alpha=policy.alpha,
        left=[task.cluster for task in there.values() if task.id not in quiet],
        policy=policy,
    )


def silent_tasks(cases: Iterable[Dossier], store: Store, policy: Policy) -> dict[str, Silent]:
    """By task, those of the verdict that speaks of each proposal."""
    found = (silences(case.verdict, store, policy) for case in cases)
    return {silent.task: silent for one in found if one is not None for silent in one.tasks}
