"""`nightschool tasks`: the replayable work that was made of the sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from nightschool.cli.exits import ExitCode
from nightschool.cli.options import Json
from nightschool.cli.output import Output
from nightschool.cli.reading import Project, reading, root_of
from nightschool.cli.render import Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nightschool.core.tasks import Candidate, Check, Task

AllProjects = Annotated[bool, typer.Option("--all-projects", help="The tasks of all projects.")]
PROMPT_SHOWN = 60


def tasks(*, project: Project = None, all_projects: AllProjects = False, json: Json = False) -> ExitCode:
    """List the tasks of this project: which side of the split, how they are checked, what they concern.

    \b
    Example:
      nightschool tasks
      nightschool tasks --all-projects --json
    """
    from nightschool.core.tasks import Candidate, Task  # noqa: PLC0415 - help needs no store

    root = None if all_projects else root_of(project)
    with reading(fleeting=True) as parts:
        found = parts.store.find(Task, root)
        candidates = {candidate.id: candidate for candidate in parts.store.find(Candidate)}
    rows = [_row(task, candidates) for task in found]
    where = "any project" if root is None else root
    empty = [
        f"No task of {where} yet: they are made when sessions are read.",
        "next: nightschool run --dry-run",
    ]
    return Output(json=json).result(
        {"project": root, "tasks": rows}, [_table(found, candidates)] if found else empty
    )


def _row(task: Task, candidates: Mapping[str, Candidate]) -> dict[str, object]:
    return {
        "id": task.id,
        "split": task.split,
        "cluster": task.cluster,
        "prompt": task.prompt,
        "checks": [in_words(check) for check in task.checks],
        "concerns": [
            {"candidate": name, "statement": candidates[name].statement if name in candidates else None}
            for name in task.concerns
        ],
        "session": task.session,
        "turn": task.turn,
        "source": task.source,
        "project": task.project,
        "workspace": task.workspace.kind,
        "at": task.at,
    }


def _table(found: Sequence[Task], candidates: Mapping[str, Candidate]) -> Table:
    return Table(
        columns=("task", "split", "cluster", "passes if", "concerns", "prompt"),
        rows=[
            (
                task.id,
                task.split,
                task.cluster,
                "; ".join(in_words(check) for check in task.checks),
                "; ".join(
                    candidates[name].statement if name in candidates else name for name in task.concerns
                )
                or "guard",
                first_line(task.prompt),
            )
            for task in found
        ],
    )


def first_line(text: str) -> str:
    """The start of a request, for a cell of a table."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= PROMPT_SHOWN else line[: PROMPT_SHOWN - 1] + "\N{HORIZONTAL ELLIPSIS}"


def in_words(check: Check) -> str:
    """A check as a person reads it."""
    from nightschool.core.tasks import Footprint  # noqa: PLC0415

    if not isinstance(check, Footprint):
        return "changes one of " + ", ".join(check.paths)
    if check.wanted is None:
        return f"does something, without {check.unwanted!r}"
    if check.unwanted is None:
        return f"uses {check.wanted!r}"
    return f"uses {check.wanted!r} and not {check.unwanted!r}"
