"""`nightschool tasks`: the replayable work that was made of the sessions."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from nightschool.cli.exits import ExitCode
from nightschool.cli.options import Json
from nightschool.cli.output import Output
from nightschool.cli.reading import Project, reading, root_of, run_for
from nightschool.cli.render import Line, Piece, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nightschool.core.ports import Store
    from nightschool.core.tasks import Check, Task
    from nightschool.wiring import Parts

AllProjects = Annotated[bool, typer.Option("--all-projects", help="The tasks of all projects.")]
PROMPT_SHOWN = 60
PROJECTS_SHOWN = 3
SIDES = {"train": "training", "holdout": "exam"}


def tasks(*, project: Project = None, all_projects: AllProjects = False, json: Json = False) -> ExitCode:
    """List the tasks of this project: for training or exam, about what, when passed.

    \b
    Example:
      nightschool tasks
      nightschool tasks --all-projects --json
    """
    from nightschool.core.tasks import Task  # noqa: PLC0415 - help needs no store

    root = None if all_projects else root_of(project)
    with reading(fleeting=True) as parts:
        found = parts.store.find(Task, root)
        said = _said(parts.store)
        told = [*_told(found, said), *_legend()] if found else _none(parts, root)
    rows = [_row(task, said) for task in found]
    return Output(json=json).result({"project": root, "tasks": rows}, told)


def _said(store: Store) -> dict[str, str]:
    """The person's words behind each candidate, as `nightschool corrections` has them."""
    from nightschool.core.tasks import Candidate, Correction  # noqa: PLC0415

    heard = {item.id: item.statement for item in store.find(Correction)}
    return {item.id: heard.get(item.correction, item.statement) for item in store.find(Candidate)}


def _none(parts: Parts, root: str | None) -> list[Piece | str]:
    """Why there is none, and which project to go to: the home folder is none."""
    from nightschool.core.sessions import Session  # noqa: PLC0415
    from nightschool.rules.telling import counted  # noqa: PLC0415

    counts = Counter(
        parts.projects.root(session.project) for session in parts.store.find(Session) if session.project
    )
    here = sum(counts.values()) if root is None else counts[root]
    where = "any project" if root is None else root
    told: list[Piece | str] = [
        f"No task of {where} yet. `nightschool run` makes them of the sessions; it tells its plan, and asks "
        "before the first time.",
    ]
    if here:
        return [*told, f"{counted(here, 'session')} of it read so far.", "next: nightschool run"]
    if not counts:
        return [*told, "No session was read so far.", "next: nightschool corrections"]
    names = [name for name, _ in counts.most_common(PROJECTS_SHOWN)]
    rows = [(name, counts[name]) for name in names]
    table = Table(
        columns=("project", "sessions"), rows=rows, title="None of the sessions so far is of it, but:"
    )
    return [*told, table, f"next: {run_for(counts.elements())}"]


def _row(task: Task, said: Mapping[str, str]) -> dict[str, object]:
    return {
        "id": task.id,
        "split": task.split,
        "cluster": task.cluster,
        "prompt": task.prompt,
        "checks": [in_words(check) for check in task.checks],
        "concerns": [{"candidate": name, "statement": said.get(name)} for name in task.concerns],
        "session": task.session,
        "turn": task.turn,
        "source": task.source,
        "project": task.project,
        "workspace": task.workspace.kind,
        "at": task.at,
    }


def _told(found: Sequence[Task], said: Mapping[str, str]) -> list[Piece | str]:
    rows = [
        (
            task.id,
            SIDES[task.split.value],
            "; ".join(said.get(name, name) for name in task.concerns) or "other work",
            "; ".join(in_words(check) for check in task.checks),
            first_line(task.prompt),
        )
        for task in found
    ]
    return [Table(columns=("task", "for", "about", "passes if it", "prompt"), rows=rows)]


def _legend() -> list[Piece | str]:
    return [
        Line(
            "For: a task to train on may be seen by who writes the edits, one for the exam never. "
            "Other work: what you did not correct; it must not suffer from an edit.",
            "dim",
        )
    ]


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
