"""Tries the set-ups before anything is practised, and knows of which places nothing can be.

Relieves the cycle, whose other projects go on, and the jobs, each of which would be lost to a failing set-up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from nightschool.core.errors import SetUpFailed, WorkspaceUnavailable
from nightschool.core.jobs import Provision
from nightschool.core.ports import Redact, Sandbox
from nightschool.core.sandboxes import SandboxPlan
from nightschool.core.tasks import GitSource, Task
from nightschool.core.values import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop(Value):
    """Why nothing is practised of a place. All texts are redacted."""

    code: str
    """Of `Learned`."""
    why: str
    told: str
    """With the way out."""


@dataclass(slots=True, kw_only=True)
class SetUps:
    """The set-ups of one run."""

    sandbox: Sandbox
    redact: Redact
    provided: Callable[[Task], tuple[str, Provision]]
    """What a task's workspace is given, and the place whose settings say so."""
    stops: dict[str, Stop] = field(default_factory=dict)
    """By place: the root of a project, or a folder of it with a set-up of its own."""

    def try_out(self, tasks: Iterable[Task], *, tell: Callable[[str], None]) -> None:
        """Make the layer of each place's newest task. What fails at an older commit is found by its job."""
        for place, task in self._newest(tasks).items():
            if self._stop(task) is not None:
                continue
            tell(f"setting up {place}")
            plan = SandboxPlan(workspace=task.workspace, provision=self.provided(task)[1])
            try:
                with self.sandbox.open(plan):
                    pass
            except SetUpFailed as error:
                self.found(error.redacted(self.redact))
            except WorkspaceUnavailable:
                continue  # the commit is gone: the loss of its own jobs, not of the project

    def _newest(self, tasks: Iterable[Task]) -> dict[str, Task]:
        timed = [(task.at.timestamp() if task.at else 0.0, task.id, task) for task in tasks]
        found: dict[str, Task] = {}
        for _, _, task in sorted(timed, key=lambda one: one[:2]):
            place, provision = self.provided(task)
            if provision.setup is not None and isinstance(task.workspace, GitSource):
                found[place] = task
        return found

    def found(self, error: SetUpFailed) -> None:
        """Take note of a set-up that failed; the error is redacted."""
        self.stops.setdefault(error.place, Stop(code="set-up-failed", why=error.why, told=str(error)))

    def _stop(self, task: Task) -> Stop | None:
        """Of the project, else of the folder that the task is set up by."""
        return self.stops.get(task.project) or self.stops.get(self.provided(task)[0])

    def kept(self, tasks: Iterable[Task]) -> tuple[Task, ...]:
        """The tasks that can be practised."""
        return tuple(task for task in tasks if self._stop(task) is None)

    def keeps_from(self, tasks: Iterable[Task]) -> Stop | None:
        """Why none of a candidate's tasks can be practised; None where one can, or where it has none."""
        found = [self._stop(task) for task in tasks]
        stops = [stop for stop in found if stop is not None]
        return stops[0] if stops and len(stops) == len(found) else None
