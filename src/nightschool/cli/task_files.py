"""`nightschool tasks export` and `import`: tasks as a file that a person reads and edits."""

from __future__ import annotations

import os
import shlex
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nightschool.cli.exits import ExitCode
from nightschool.cli.options import Json
from nightschool.cli.output import Output
from nightschool.cli.reading import Project, root_of, typed
from nightschool.cli.render import Line, Piece, Table
from nightschool.cli.tasks import SIDES, about, first_line, said_of, standing_of
from nightschool.core.errors import NotAllowed, UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nightschool.rules.task_file import TaskFile, Wrong
    from nightschool.stages.bring import Bringing, Brought
    from nightschool.wiring import Parts

File = Annotated[Path, typer.Argument(metavar="FILE", help="A file of tasks (TOML).")]
Ids = Annotated[list[str] | None, typer.Argument(metavar="ID", help="Only these tasks.")]
Force = Annotated[bool, typer.Option("--force", help="Write over a file that is there already.")]
LARGEST = 32 << 20


def export(
    file: File, ids: Ids = None, *, project: Project = None, force: Force = False, json: Json = False
) -> ExitCode:
    """Write the tasks of this project to a file that you read and edit.

    Each task stands there whole: its request, what it starts from, when it is passed, which corrections it
    concerns. What was taken out or retired is left out, unless you name it. Mind that the file holds the
    tasks of the exam too: who edits your agent's files by hand should not tune them to it.

    \b
    Example:
      nightschool tasks export tasks.toml
      nightschool tasks export two.toml t-1f2e t-9a8b
    """
    from nightschool.cli.opening import opening, write_private  # noqa: PLC0415 - help needs no store
    from nightschool.core.tasks import Candidate, Task, TaskMark  # noqa: PLC0415
    from nightschool.rules.marks import standings  # noqa: PLC0415
    from nightschool.rules.task_file import can_be_written, written  # noqa: PLC0415
    from nightschool.rules.telling import counted  # noqa: PLC0415
    from nightschool.stages.mark import find_task  # noqa: PLC0415

    path, root = typed(file), root_of(project)
    _may_write(path, force=force)
    with opening(fleeting=True, forgiving=True) as parts:
        store = parts.store
        marked = standings(store.find(TaskMark))
        found = [find_task(store, name) for name in ids or ()]
        foreign = next((task for task in found if task.project != root), None)
        if foreign is not None:
            raise UserError(f"{foreign.id} is a task of {foreign.project}: name that with --project")
        every = [
            task for task in store.find(Task, root) if task.id not in marked or marked[task.id].out is None
        ]
        asked = list(dict.fromkeys(found or every))
        tasks = [task for task in asked if can_be_written(task)]
        candidates = [one for one in store.find(Candidate) if one.project in {"", root}]
        if not tasks:
            raise UserError(
                "; ".join(_no_text([task.id for task in asked]))
                or f"{root} has no task to export; `nightschool tasks` tells why"
            )
        write_private(path, written(root, tasks, candidates, said_of(store)))
    document = {"file": path, "project": root, "tasks": [task.id for task in tasks]}
    document["left_out"] = [task.id for task in asked if task not in tasks]
    bring = f"nightschool tasks import {shlex.quote(str(file))}"
    told: list[Piece | str] = [
        Line(f"{counted(len(tasks), 'task')} written to {path}", "bold"),
        *_no_text([task.id for task in asked if task not in tasks]),
        f"next: edit it, then {bring}",
    ]
    return Output(json=json).result(document, told)


def _no_text(left_out: Sequence[str]) -> list[str]:
    """What a file of text cannot hold and give back as it is."""
    if not left_out:
        return []
    return [
        f"not written, since it holds what a file of text cannot give back (bytes, a mode, signs that do not "
        f"show): {', '.join(left_out)}; such a task serves as it is"
    ]


def import_(file: File, *, project: Project = None, json: Json = False) -> ExitCode:
    """Take the tasks of a file that you edited, or wrote.

    A task never changes: one that you edited is taken as a new one, and the old one stays until you retire
    it. Whether a new task is for training or for the exam, nightschool decides before anything is learned
    from it; what is asked nearly as in a known task or session goes where that one is. A wrong field is
    told with its place, and then nothing of the file is taken. Until `reviewed` is true, for the file and
    for the task, no run uses it.

    \b
    The file has format, project, reviewed, and for each [[task]]:
      prompt    the request, in your words
      commit    whole id of the commit it begins with; or [[task.file]] with path and text; or
                empty = true for an empty folder
      folder    where in the project the agent starts; left out: at its top
      concerns  ids of the corrections it is about, as an exported file lists them; may be empty
      reviewed  true once you have read it
      [[task.check]]  kind = "footprint": wanted and unwanted are words that must and must not be in
                      the commands the agent runs or the text it adds
                      kind = "touched": paths, one of which the agent must change
      id, split  of a known task; they stay as they are. Leave them out for a new one.

    \b
    Example:
      nightschool tasks import tasks.toml
    """
    from nightschool.cli.opening import opening  # noqa: PLC0415 - help needs no store

    tasks, wrong = read_tasks(file)
    root = root_of(project)
    with opening() as parts, parts.store.hold("cycle"):
        brought = bringing(parts, root, file).bring(tasks, wrong)
        return Output(json=json).result(_document(file, tasks, brought), _told(parts, file, brought))


def read_tasks(file: Path) -> tuple[TaskFile, Sequence[Wrong]]:
    """The tasks of a file without the fields that are wrong, and what is wrong with it."""
    from nightschool.rules.task_file import read  # noqa: PLC0415 - help needs no rules

    path = typed(file)
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as opened:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                raise UserError(f"{file} is no file; name one that `nightschool tasks export` writes")
            content = opened.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise UserError(f"{file} cannot be read: {why}; name a file of tasks") from None
    if len(content) > LARGEST:
        raise UserError(f"{file} is larger than {LARGEST >> 20} MiB: part it")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{file} is no UTF-8 at byte {error.start}: save it as UTF-8") from None
    return read(text, str(file))


def bringing(parts: Parts, root: str, file: Path) -> Bringing:
    from nightschool.stages.bring import Bringing  # noqa: PLC0415 - help needs no stage

    return Bringing(
        store=parts.store,
        projects=parts.projects,
        clock=parts.clock,
        redact=parts.redact,
        ignoring=parts.ignoring(),
        actor=parts.actor,
        project=root,
        where=str(file),
    )


def refuse_unreviewed(file: Path, tasks: TaskFile, runner: str) -> None:
    """Before an agent that costs anything works on what nobody has read."""
    fields = tasks.unreviewed
    if fields:
        named = "; ".join(fields[:3]) + (f"; and {len(fields) - 3} more" if len(fields) > 3 else "")
        text = f"{file} is not reviewed, and {runner} costs time or money: read it, and set to true: {named}"
        raise NotAllowed([("unreviewed", text)])


def _may_write(path: Path, *, force: bool) -> None:
    if not path.parent.is_dir():
        raise UserError(f"{path.parent} is no folder: make it, or name another file")
    if path.is_dir() or (path.exists() and not path.is_file()):
        raise UserError(f"{path} is no file: name another one")
    if (path.exists() or path.is_symlink()) and not force:
        raise UserError(f"{path} is there already: name another file, or write over it with --force")


def _document(file: Path, tasks: TaskFile, brought: Brought) -> dict[str, object]:
    return {
        "file": file,
        "project": tasks.project,
        "tasks": [{"id": task.id, "split": task.split, "cluster": task.cluster} for task in brought.tasks],
        "new": brought.new,
        "edited": [{"known": known, "new": new} for known, new in brought.edited],
        "reviewed": brought.reviewed,
        "unreviewed": tasks.unreviewed,
    }


def _told(parts: Parts, file: Path, brought: Brought) -> list[Piece | str]:
    from nightschool.core.tasks import TaskMark  # noqa: PLC0415
    from nightschool.rules.marks import standings  # noqa: PLC0415

    said, marked = said_of(parts.store), standings(parts.store.find(TaskMark))
    rows = [
        (
            task.id,
            SIDES[task.split],
            "new" if task.id in brought.new else "known",
            standing_of(task, marked),
            about(task, said),
            first_line(task.prompt),
        )
        for task in brought.tasks
    ]
    told: list[Piece | str] = [
        Table(columns=("task", "for", "is", "now", "about", "prompt"), rows=rows, minor=("now",))
    ]
    told += [
        f"{new} was made of {known}, which stays: nightschool tasks retire {known} --reason WHY"
        for known, new in brought.edited
        if known not in marked or marked[known].out is None
    ]
    told += [
        Line(
            f"{new} was made of {known}, which you took out ({out.act}: {out.reason}), and will serve where "
            f"that one does not: nightschool tasks retire {new} --reason WHY",
            "yellow",
        )
        for known, new in brought.edited
        if known in marked and (out := marked[known].out) is not None
    ]
    if any(standing_of(task, marked) == "not reviewed" for task in brought.tasks):
        again = f"nightschool tasks import {shlex.quote(str(file))}"
        told.append(
            f"What is not reviewed serves in no run. Set `reviewed` to true in the file, then: {again}"
        )
    return [*told, f"next: nightschool run --tasks {shlex.quote(str(file))} --dry-run"]
