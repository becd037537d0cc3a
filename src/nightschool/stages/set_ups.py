"""Tries the set-up of each project before anything of it is practised, and knows whose set-up failed.

Relieves the cycle, whose other projects go on, and the jobs, each of which would be lost to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from nightschool.core.errors import SetUpFailed, WorkspaceUnavailable
from nightschool.core.jobs import Provision
from nightschool.core.ports import Redact, Sandbox
from nightschool.core.sandboxes import SandboxPlan
from nightschool.core.tasks import GitSource, Task


@dataclass(slots=True, kw_only=True)
class SetUps:
    """The set-ups of one run."""

    sandbox: Sandbox
    redact: Redact
    failed: dict[str, SetUpFailed] = field(default_factory=dict)
    """By project, redacted."""

    def try_out(
        self,
        tasks: Iterable[Task],
        given: Callable[[Task], Provision],
        *,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Make the layer of each project's newest task, one for each set-up. What fails at an older commit
        is found by its job."""
        for task, provision in _newest(tasks, given).values():
            if task.project in self.failed or not isinstance(task.workspace, GitSource):
                continue
            tell(f"setting up {task.project}")
            try:
                with self.sandbox.open(SandboxPlan(workspace=task.workspace, provision=provision)):
                    pass
            except SetUpFailed as error:
                self.found(error.redacted(self.redact))
            except WorkspaceUnavailable:
                continue  # the commit is gone: the loss of its own jobs, not of the project

    def found(self, error: SetUpFailed) -> None:
        self.failed.setdefault(error.project, error)

    def kept(self, tasks: Iterable[Task]) -> tuple[Task, ...]:
        """The tasks that can be practised."""
        return tuple(task for task in tasks if task.project not in self.failed)

    def keeps_from(self, tasks: Iterable[Task]) -> str | None:
        """Why none of a candidate's tasks can be practised; None where one can, or where it has none."""
        projects = {task.project for task in tasks}
        if not projects or projects - self.failed.keys():
            return None
        return "; ".join(self.failed[project].why for project in sorted(projects))


def _newest(
    tasks: Iterable[Task], given: Callable[[Task], Provision]
) -> Mapping[tuple[str, Provision], tuple[Task, Provision]]:
    found: dict[tuple[str, Provision], tuple[Task, Provision]] = {}
    timed = [(task.at.timestamp() if task.at else 0.0, task.id, task) for task in tasks]
    for _, _, task in sorted(timed, key=lambda one: one[:2]):
        provision = given(task)
        if provision.setup is not None and isinstance(task.workspace, GitSource):
            found[task.project, provision] = (task, provision)
    return found
