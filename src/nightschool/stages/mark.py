"""Marks a task as protected, taken out or retired: the only writer of a person's words on tasks."""

from __future__ import annotations

from nightschool.core.errors import NotAllowed, NotFound, UserError
from nightschool.core.ports import Clock, Redact, Store
from nightschool.core.tasks import Task, TaskAct, TaskMark
from nightschool.rules.marks import NOTHING_SAID, objections, standings

SHORTEST_PREFIX = 4


def find_task(store: Store, which: str) -> Task:
    """A task by its id or the beginning of it."""
    exact = store.get(Task, which)
    if exact is not None:
        return exact
    found = [task for task in store.find(Task) if task.id.startswith(which)]
    if len(which) < SHORTEST_PREFIX or not found:
        raise NotFound(f"no task {which!r}; `nightschool tasks --all-projects` lists them")
    if len(found) > 1:
        listed = ", ".join(task.id for task in found)
        raise UserError(f"{which!r} is the beginning of several tasks: {listed}; name one of them")
    return found[0]


def mark(
    which: str, act: TaskAct, *, store: Store, clock: Clock, redact: Redact, actor: str, reason: str = ""
) -> TaskMark | None:
    """Say something of a task. What stands already is given again, and nothing is written; None where there
    is nothing to take back. Raises `NotAllowed` with every reason against it."""
    task = find_task(store, which)
    standing = standings(store.find(TaskMark, task.id)).get(task.id, NOTHING_SAID)
    known = standing.said(act)
    if known is not None:
        return known
    if act is TaskAct.RELEASE and standing.protection is None:
        return None
    against = objections(task, act, standing, reason)
    if not actor:
        against.append(("no-actor", "a word on a task needs the name of who says it"))
    if against:
        raise NotAllowed(against)
    said = TaskMark(task=task.id, act=act, actor=actor, reason=redact(reason.strip()), at=clock.now())
    store.commit(said)
    return said
