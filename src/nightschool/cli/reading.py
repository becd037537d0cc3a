"""What the commands that only read share: the store open, and the places that are looked at."""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from nightschool.cli.output import Output
from nightschool.cli.render import Line
from nightschool.core.errors import Busy, UserError

if TYPE_CHECKING:
    from nightschool.settings import Settings
    from nightschool.wiring import Parts

T = TypeVar("T")
AT_WORK = "nightschool status  (a run is at work, and no other can start)"
"""What to type next while no other run can start."""
GONE_SHOWN = 2
SURELY = 1.5
"""So alike are the names of a folder that is gone and of one beside it that may be the same."""
WAIT = 10
STEP = 0.1
"""Seconds."""

Source = Annotated[
    list[str] | None,
    typer.Option(
        metavar="AGENT",
        help="aider, claude-code, codex, copilot, cursor, gemini, opencode, pi or vscode-copilot; "
        "may be given twice.",
    ),
]
Since = Annotated[
    str | None, typer.Option(metavar="WHEN", help="Only what is newer: 36h, 7d, 2w, a date or a time.")
]
Project = Annotated[
    Path | None, typer.Option(metavar="DIR", help="The project; without it, that of this folder.")
]
Only = Annotated[
    list[Path] | None,
    typer.Option("--project", metavar="DIR", help="Only this project; may be given again."),
]
Every = Annotated[bool, typer.Option("--all-projects", help="All projects, as without --project.")]


def only(projects: Sequence[Path] | None, *, every: bool) -> frozenset[str] | None:
    """The roots that a list is kept to; None for all projects."""
    if every and projects:
        raise UserError("--project and --all-projects: take one of them")
    return frozenset(root_of(folder) for folder in projects) if projects else None


def no_folder(folder: Path) -> UserError:
    """What to do where a project was moved: its old sessions name the old place."""
    return UserError(
        f"--project {folder} is no folder: name one that is there. Where it was moved or renamed, `ln -s NEW "
        f"{shlex.quote(str(folder))}` lets what was said in the old place count for the new one"
    )


def concerns(pool: str, roots: frozenset[str] | None) -> bool:
    """Whether what is of these projects concerns one of those: what is of all, or the person's own, does."""
    from nightschool.core.tasks import roots_in  # noqa: PLC0415 - help needs no tasks

    return roots is None or not pool or bool(roots & (roots_in(pool) or frozenset()))


def where(roots: frozenset[str] | None) -> str:
    return ", ".join(sorted(roots)) if roots else "all projects"


@contextmanager
def reading(
    sources: Sequence[str] | None = None, *, fleeting: bool = False, forgiving: bool = False
) -> Iterator[Parts]:
    """The parts, over the person's own store, with the sources that were named; the rest is of `opening`."""
    from nightschool.cli.opening import opening  # noqa: PLC0415 - it imports this module

    flags = {"sources": tuple(sources) if sources else None}
    with opening(flags, fleeting=fleeting, forgiving=forgiving) as parts:
        yield parts


def while_busy(act: Callable[[], T], out: Output) -> T:
    """What a reading command does once whoever writes now is done: it waits shortly, and says so. `act`
    raises `Busy` before it has done anything."""
    ends = time.monotonic() + WAIT
    told = False
    while True:
        try:
            return act()
        except Busy as busy:
            if time.monotonic() >= ends:
                raise
            if not told:
                out.note(f"waiting up to {WAIT} seconds: {busy}")
            told = True
            time.sleep(STEP)


@contextmanager
def entered(
    enter: Callable[[], AbstractContextManager[object]], out: Output, *, wait: bool
) -> Iterator[None]:
    """What can be entered only by one at a time. `wait`: until whoever is in it is done, however long."""
    told = False
    with ExitStack() as stack:
        while True:
            try:
                stack.enter_context(enter())
            except Busy as busy:
                if not wait:
                    out.note("With --wait this run starts once the other is done.")
                    raise
                if not told:
                    out.note(f"waiting (Ctrl-C gives up): {busy}")
                told = True
                time.sleep(STEP)
            else:
                break
        yield


def settings_here(*, forgiving: bool = False) -> Settings:
    """The settings as they hold in this folder."""
    return settings_at(None, None, forgiving=forgiving)


def settings_at(
    project: Path | None,
    flags: Mapping[str, object] | None,
    *,
    own: bool = False,
    forgiving: bool = False,
) -> Settings:
    """The settings as they hold in a folder, by default this one; see `opening`."""
    from nightschool.settings import BadProjectFile, load  # noqa: PLC0415 - help needs no settings

    environment = dict(os.environ)
    root, place = Path(root_of(project)), typed(project or Path()).resolve()
    if own:
        return load(project=None, environment=environment, flags=flags)
    try:
        return load(project=root, folder=place, environment=environment, flags=flags)
    except BadProjectFile as error:
        if not forgiving:
            raise
        aside = "it is left aside here; a run refuses until it is mended or moved away"
        Output().note(Line(f"warning: {error}; {aside}", "yellow"))
    return load(project=None, environment=environment, flags=flags)


def disks(place: str | None) -> str:
    """How much is free where something could not be written, and where we and jobs write else."""
    named = {place: "there"} if place else {}
    with suppress(UserError):
        named[str(settings_here(forgiving=True).home)] = "NIGHTSCHOOL_HOME"
    named[tempfile.gettempdir()] = "TMPDIR"
    told = []
    for path, name in named.items():
        near = next(one for one in (Path(path), *Path(path).parents) if one.exists())
        told.append(f"{shutil.disk_usage(near).free >> 20} MiB at {path} ({name})")
    return ", ".join(told)


def root_of(project: Path | None) -> str:
    """The root of the project that holds a folder, by default this one."""
    if project is not None and not typed(project).is_dir():
        raise no_folder(project)
    from nightschool.wiring import project_root  # noqa: PLC0415

    return project_root(typed(project or Path()))


def sessions_above(parts: Parts, root: str | None) -> list[str]:
    """Where no session began in a folder without git: the folder above it in which some did, and what to
    type. Each folder without git is a project of its own, so what was meant may be the one above."""
    from nightschool.core.sessions import Session  # noqa: PLC0415 - help needs no sessions
    from nightschool.rules.telling import counted  # noqa: PLC0415

    if root is None or not Path(root).is_dir() or Path(root, ".git").exists():
        return []
    counts = Counter(
        parts.projects.root(session.project) for session in parts.store.find(Session) if session.project
    )
    above = next((str(folder) for folder in Path(root).parents if counts[str(folder)]), None)
    if counts[root] or above is None:
        return []
    return [
        f"no session began in {root}, which is in no git repository and so a project of its own; "
        f"{counted(counts[above], 'session')} began above it, in {above}",
        f"next: nightschool run --project {shlex.quote(above)}",
    ]


def sessions_elsewhere(parts: Parts, root: str) -> list[str]:
    """Where no session began in a project: that none did, where most of those that are known began, and what
    to type."""
    from nightschool.core.sessions import Session  # noqa: PLC0415 - help needs no sessions
    from nightschool.rules.telling import counted, why_left_out  # noqa: PLC0415

    counts = Counter(
        parts.projects.root(session.project) for session in parts.store.find(Session) if session.project
    )
    if counts[root]:
        return []
    if (why := parts.ignoring().project(root)) is not None:
        return [f"of {root} nothing is read: {why_left_out(why.reason, why.detail)}"]
    if not counts:
        return []
    gone = sorted(
        (place for place in counts if not Path(place).exists()), key=lambda place: -_alike(place, root)
    )[:GONE_SHOWN]
    moved = [
        f"{place}, in which {counted(counts[place], 'session')} began, is not there any more: if it was "
        f"moved here, `ln -s {shlex.quote(root)} {shlex.quote(place)}` lets what was said there count"
        for place in gone
    ]
    if gone and _alike(gone[0], root) > SURELY:
        return moved[:1]
    ((most, number),) = counts.most_common(1)
    return [
        *moved,
        f"no session began in {root}; {number} of {counted(counts.total(), 'session')} known began in {most}",
        f"next: {run_for(counts.elements())}",
    ]


def _alike(place: str, root: str) -> float:
    return SequenceMatcher(None, Path(place).name, Path(root).name).ratio() + (
        Path(place).parent == Path(root).parent
    )


def run_for(projects: Iterable[str]) -> str:
    """The command that practises what was heard in these projects: from a folder that is none of them, the
    home folder above all, with the one that has most."""
    counts = Counter(project for project in projects if Path(project).is_dir())
    if not counts or root_of(None) in counts:
        return "nightschool run"
    return f"nightschool run --project {shlex.quote(counts.most_common(1)[0][0])}"


def typed(path: Path) -> Path:
    """A path as a person typed it, absolute. The shell may well stand in a folder that is gone."""
    try:
        return Path.cwd() / os.path.expanduser(path)  # noqa: PTH111 - Path's own raises for a ~ of nobody
    except FileNotFoundError:
        raise UserError("the current folder is gone: change to one that exists") from None
