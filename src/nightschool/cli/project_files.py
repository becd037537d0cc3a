"""What the files of the projects of a run say: whose are wrong, whose limits hold, what is not used.

Relieves `run`, which goes on with the projects whose files are right.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from nightschool.cli.reading import sessions_above, sessions_elsewhere
from nightschool.core.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nightschool.core.sessions import LeftOut
    from nightschool.core.tasks import Task
    from nightschool.stages.cycle import Cycle
    from nightschool.stages.shares import Share, Terms
    from nightschool.wiring import Parts

MEND = "mend it or move it away"


@dataclass(slots=True, kw_only=True)
class Said:
    """What they say."""

    bad: dict[str, str] = field(default_factory=dict)
    """By project: what is wrong with its file."""
    unread: tuple[str, ...] = ()
    """What is wrong with files of projects that have no task, so that only their sessions were met."""
    shares: dict[str, Share] = field(default_factory=dict)
    terms: dict[str, Terms] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def wrong(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.bad.values(), *self.unread)))

    @property
    def told(self) -> list[str]:
        """For the plan and the report."""
        wrong = [f"a project is left out, its settings file is wrong: {why}; {MEND}" for why in self.wrong]
        limits = [
            f"{project}: at most what {share.said_by} allows its part"
            for project, share in self.shares.items()
        ]
        return [*wrong, *limits, *self.notes]

    def fit(self, tasks: Sequence[Task]) -> list[Task]:
        """The tasks of the projects whose files are right."""
        return [task for task in tasks if task.project not in self.bad]

    def into(self, cycle: Cycle) -> None:
        """Let a run heed it."""
        from nightschool.stages.set_ups import Stop  # noqa: PLC0415 - help needs no stage

        for project, why in self.bad.items():
            cycle.set_ups.stops[project] = Stop(code="needs-you", why=why, told=f"{why}; {MEND}")
        cycle.replay.shares |= self.shares
        cycle.own |= self.terms
        cycle.aiming = replace(
            cycle.aiming, own={project: terms.targets for project, terms in self.terms.items()}
        )
        cycle.notes += self.told


def said(
    parts: Parts,
    tasks: Sequence[Task],
    pool: str | None,
    standing: Path,
    left_out: Sequence[LeftOut] = (),
) -> Said:
    """By the files of the projects in a pool. In a run over one project what is wrong is an error."""
    from nightschool.core.tasks import only_root, roots_in  # noqa: PLC0415 - help needs no tasks
    from nightschool.project_settings import own_limits, own_terms, unused, wrong  # noqa: PLC0415
    from nightschool.rules.aims import Targets  # noqa: PLC0415
    from nightschool.rules.ignoring import BAD_SETTINGS  # noqa: PLC0415
    from nightschool.stages.shares import Share, Terms  # noqa: PLC0415

    folders: dict[str, set[str]] = {root: set() for root in roots_in(pool) or ()}
    for task in tasks:
        folders.setdefault(task.project, set()).add(task.folder)
    several = pool is None or only_root(pool) is None
    found = Said()
    if pool is not None and not several:
        found = Said(notes=sessions_above(parts, pool) or sessions_elsewhere(parts, pool))
    if several:
        found.unread = tuple(dict.fromkeys(out.detail for out in left_out if out.reason == BAD_SETTINGS))
    for project in sorted(folders):
        if not Path(project).is_absolute():
            continue  # a session named no folder of this machine: it has no file
        why = wrong(project, folders[project], parts.environment)
        if why is not None:
            if not several:
                raise UserError(why)
            found.bad[project] = why
            continue
        found.notes += unused(project, folders[project], standing=None if several else standing)
        own = own_limits(project, parts.environment, parts.settings) if several else None
        if own is not None:
            found.shares[project] = Share(budget=own[0], said_by=own[1])
        stricter = own_terms(project, parts.environment, parts.settings) if several else None
        if stricter is not None:
            gate, allowed = stricter.gate, stricter.targets
            found.terms[project] = Terms(
                policy=replace(parts.policy(), alpha=gate.alpha, margin=gate.margin),
                edit_budget=stricter.edit_budget,
                targets=Targets(memory=allowed.memory, skills=allowed.skills),
            )
    return found
