"""`nightschool tasks` and `nightschool tasks show`: the replayable work that was made of the sessions."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nightschool.cli import no_tasks
from nightschool.cli.exits import ExitCode
from nightschool.cli.options import Json
from nightschool.cli.output import Output
from nightschool.cli.reading import Project, reading, root_of, run_for, sessions_above
from nightschool.cli.render import Line, Piece, Table
from nightschool.core.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nightschool.core.ports import Store
    from nightschool.core.tasks import Check, Task, TaskMark
    from nightschool.rules.marks import Standing
    from nightschool.rules.silent import Silent
    from nightschool.wiring import Parts

    Standings = Mapping[str, Standing]

AllProjects = Annotated[bool, typer.Option("--all-projects", help="The tasks of all projects.")]
Without = Annotated[
    bool, typer.Option("--none", help="Instead the sessions that gave no task, each with the reason.")
]
PROMPT_SHOWN = 60
PROJECTS_SHOWN = 3
SIDES = {"train": "training", "holdout": "exam"}
OUT = {"withhold": "taken out", "retire": "retired"}
Named = Annotated[str, typer.Argument(metavar="ID", help="Id of a task, or its beginning.")]


def tasks(
    context: typer.Context,
    *,
    project: Project = None,
    all_projects: AllProjects = False,
    none: Without = False,
    json: Json = False,
) -> ExitCode:
    """List the tasks of this project: for training or exam, about what, when passed.

    \b
    Example:
      nightschool tasks
      nightschool tasks --all-projects --json
      nightschool tasks --none
      nightschool tasks show t-1f2e
    """
    if context.invoked_subcommand is not None:
        if project is not None or all_projects or none or json:
            raise UserError(f"options stand behind the whole command: tasks {context.invoked_subcommand} ...")
        return ExitCode.DONE
    from nightschool.core.tasks import Task, TaskMark  # noqa: PLC0415 - help needs no store
    from nightschool.rules.marks import standings  # noqa: PLC0415
    from nightschool.stages.releases import drafts  # noqa: PLC0415
    from nightschool.stages.silences import silent_tasks  # noqa: PLC0415

    root = None if all_projects else root_of(project)
    if none:
        return no_tasks.told(root, Output(json=json))
    with reading(fleeting=True, forgiving=True) as parts:
        found = parts.store.find(Task, root)
        said, marked = said_of(parts.store), standings(parts.store.find(TaskMark))
        quiet = silent_tasks(drafts(parts.store), parts.store, parts.policy())
        rest = resting({task.project for task in found}, parts)
        told = [*_told(found, said, marked, rest), *_legend(), *_rest(rest), *_silent(found, quiet)]
        told = told if found else _none(parts, root)
    rows = [
        {**_row(task, said, marked), "rests": rest.get(task.project), "silent": quiet.get(task.id)}
        for task in found
    ]
    return Output(json=json).result({"project": root, "tasks": rows}, told)


def show(task: Named, *, json: Json = False) -> ExitCode:
    """Show a task: its whole request, what it starts from, when it is passed, where it came from.

    How it came out so far is not shown: a task that is taken out of the exam for what it showed would
    make the exam say what one likes. Only of tasks that never told anything the list says so; an exam
    without them begins anew.

    \b
    Example:
      nightschool tasks show t-1f2e3d4c5b6a
      nightschool tasks show t-1f2e --json
    """
    from nightschool.core.tasks import TaskMark  # noqa: PLC0415 - help needs no store
    from nightschool.rules.marks import standings  # noqa: PLC0415
    from nightschool.stages.mark import find_task  # noqa: PLC0415

    with reading(fleeting=True, forgiving=True) as parts:
        found = find_task(parts.store, task)
        marks = parts.store.find(TaskMark, found.id)
        said, marked = said_of(parts.store), standings(marks)
        rest = resting({found.project}, parts)
    rests = {"rests": rest.get(found.project)}
    document = {**_row(found, said, marked), **rests, "starts_from": _start(found), "marks": marks}
    return Output(json=json).result(document, [*_pieces(found, said, marked, marks), *_rest(rest)])


def _start(task: Task) -> dict[str, object]:
    start = task.workspace
    if start.kind == "git":
        return {"kind": start.kind, "repository": start.repository, "commit": start.commit}
    files = [{"path": file.path, "text": file.content.decode("utf-8", "replace")} for file in start.files]
    return {"kind": start.kind, "files": files}


def _pieces(
    task: Task, said: Mapping[str, str], marked: Standings, marks: Sequence[TaskMark]
) -> list[Piece | str]:
    from nightschool.rules.telling import counted  # noqa: PLC0415

    start = task.workspace
    begins = (
        f"commit {start.commit} of {start.repository}"
        if start.kind == "git"
        else f"{counted(len(start.files), 'file')}: {', '.join(file.path for file in start.files)}"
        if start.files
        else "an empty folder: the session made all its files"
    )
    came = f"session {task.session}, turn {task.turn}"
    standing = standing_of(task, marked)
    spoken: list[Piece | str] = ["", _spoken(marks)] if marks else []
    return [
        Line(f"{task.id}: for {SIDES[task.split]}" + (f", {standing}" if standing else ""), "bold"),
        f"about: {about(task, said)}",
        *(f"passed if it {in_words(check)}" for check in task.checks),
        f"starts from: {begins}",
        f"came from: {'a file of yours' if task.imported else came}",
        f"kind: {task.cluster} (tasks that are nearly the same are one kind)",
        "",
        Line("Request", "bold"),
        task.prompt,
        *spoken,
    ]


def _spoken(marks: Sequence[TaskMark]) -> Table:
    return Table(
        title="What was said of it",
        columns=("when", "who", "what", "why"),
        rows=[(f"{mark.at:%Y-%m-%d %H:%M}", mark.actor, mark.act, mark.reason or None) for mark in marks],
    )


def standing_of(task: Task, marked: Standings) -> str | None:
    """What a person's words made of a task; None: it serves as it was made."""
    from nightschool.rules.marks import NOTHING_SAID  # noqa: PLC0415

    standing = marked.get(task.id, NOTHING_SAID)
    if standing.out is not None:
        return OUT[standing.out.act]
    if not standing.serves(task):
        return "not reviewed"
    return "protected" if standing.protection is not None else None


def resting(projects: Iterable[str], parts: Parts) -> dict[str, str]:
    """By project, why no edit for it is practised now: its folder is gone, or is part of another project."""
    found = {}
    for project in projects:
        named = shlex.quote(project)
        root = parts.projects.root(project) if Path(project).is_dir() else None
        if root is None:
            found[project] = (
                f"{project} is no folder any more; where it was moved or renamed, `ln -s NEW {named}` lets "
                f"what was said there count for the new place; `nightschool forget {named}` lets it go"
            )
        elif root != project:
            found[project] = (
                f"{project} belongs to {root} by now, and so does what is said there; `nightschool forget "
                f"{named}` lets these go, with their sessions"
            )
    return found


def _rest(rest: Mapping[str, str]) -> list[Piece | str]:
    if not rest:
        return []
    return [
        *(
            Line(f"At rest, since no edit for their project is practised: {why}", "yellow")
            for _, why in sorted(rest.items())
        ),
        Line("An exam of your own memory file may still try them.", "dim"),
    ]


def about(task: Task, said: Mapping[str, str]) -> str:
    return "; ".join(said.get(name, name) for name in task.concerns) or "other work"


def said_of(store: Store) -> dict[str, str]:
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
    above = sessions_above(parts, root)
    if above:
        return [*told, *above]
    if not counts:
        return [*told, "No session was read so far.", "next: nightschool corrections"]
    names = [name for name, _ in counts.most_common(PROJECTS_SHOWN)]
    rows = [(name, counts[name]) for name in names]
    table = Table(
        columns=("project", "sessions"), rows=rows, title="None of the sessions so far is of it, but:"
    )
    return [*told, table, f"next: {run_for(counts.elements())}"]


def _row(task: Task, said: Mapping[str, str], marked: Standings) -> dict[str, object]:
    return {
        "id": task.id,
        "split": task.split,
        "standing": standing_of(task, marked),
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


def _told(
    found: Sequence[Task], said: Mapping[str, str], marked: Standings, rest: Mapping[str, str]
) -> list[Piece | str]:
    standing = {task.id: "at rest" if task.project in rest else standing_of(task, marked) for task in found}
    with_standing = any(standing.values())
    rows = [
        (
            task.id,
            SIDES[task.split.value],
            *((standing[task.id],) if with_standing else ()),
            about(task, said),
            "; ".join(in_words(check) for check in task.checks),
            first_line(task.prompt),
        )
        for task in found
    ]
    columns = ("task", "for", *(("now",) if with_standing else ()), "about", "passes if it", "prompt")
    return [Table(columns=columns, rows=rows)]


def _legend() -> list[Piece | str]:
    return [
        Line(
            "For: a task to train on may be seen by who writes the edits, one for the exam never. "
            "Other work: what you had not corrected when the task was made; it must not suffer from an edit.",
            "dim",
        )
    ]


def _silent(found: Sequence[Task], quiet: Mapping[str, Silent]) -> list[Piece | str]:
    """Those that an exam which is not decided learns nothing from."""
    own = [quiet[task.id] for task in found if task.id in quiet]
    if not own:
        return []
    return [
        "",
        Line("Tasks that never told an edit and its absence apart, and take tries of an exam", "bold"),
        *(f"  {one.task}: {one.told}" for one in own),
        f"next: nightschool tasks withhold {own[0].task} --reason WHY; what it costs the exam stands in "
        "nightschool show of the proposal",
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
