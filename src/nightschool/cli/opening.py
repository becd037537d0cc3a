"""How a command that acts opens what it works with: the settings that hold here, and the person's store."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from nightschool.cli.reading import root_of, settings_at, typed
from nightschool.core.errors import UserError

if TYPE_CHECKING:
    from nightschool.cli.output import Output
    from nightschool.settings import Settings
    from nightschool.wiring import Parts

DATABASE = "nightschool.db"
KEY = "redaction.key"


@contextmanager
def opening(
    flags: Mapping[str, object] | None = None,
    project: Path | None = None,
    *,
    rehearsal: bool = False,
    fleeting: bool = False,
    own: bool = False,
    forgiving: bool = False,
) -> Iterator[Parts]:
    """The parts over the person's own store; in a rehearsal over a copy of it that is thrown away.

    `fleeting`: nothing will be stored, so where there is no store yet none is left behind. `own`: by the
    person's settings alone, so that no file of a project keeps a change from being taken back. `forgiving`:
    a project's file that is wrong is told and left aside; for what only reads the store, or takes away.
    """
    from nightschool.wiring import opened  # noqa: PLC0415

    environment = dict(os.environ)
    settings = settings_at(project, flags, own=own, forgiving=forgiving)
    if not (rehearsal or (fleeting and not (settings.home / DATABASE).exists())):
        with opened(settings, environment=environment, person_home=Path.home()) as parts:
            yield parts
        return
    _check(settings.home)
    with (
        tempfile.TemporaryDirectory(prefix="nightschool-rehearsal-") as folder,
        _rehearsing(_copy(settings, Path(folder)), settings.home, environment) as parts,
    ):
        yield parts


def _check(home: Path) -> None:
    """That the store's folder can be there: else "nothing is known" would be said of what cannot be looked
    at."""
    near = next(place for place in (home, *home.parents) if os.path.lexists(place))
    way = "mend that, or set NIGHTSCHOOL_HOME to another folder"
    if not near.is_dir():
        raise UserError(f"{home} cannot hold the store: {near} is no folder; {way}")
    if not os.access(near, os.R_OK | os.X_OK | (0 if near == home else os.W_OK)):
        raise UserError(f"{home} cannot hold the store: {near} is not yours to use; {way}")


@contextmanager
def _rehearsing(copied: Settings, home: Path, environment: Mapping[str, str]) -> Iterator[Parts]:
    """The parts over a copy. What is wrong with it is wrong with the person's own, and is told so."""
    from nightschool.wiring import opened  # noqa: PLC0415 - help needs no settings

    with ExitStack() as stack:
        try:
            parts = stack.enter_context(opened(copied, environment=environment, person_home=Path.home()))
        except UserError as error:
            raise UserError(str(error).replace(str(copied.home), str(home))) from error
        yield parts


def project_root(project: Path | None, out: Output) -> str:
    """The root of the project that a command works on, told to the person."""
    from nightschool.wiring import worktree_of  # noqa: PLC0415 - help needs no wiring

    root = root_of(project)
    out.note(f"project: {root}")
    tree = worktree_of(typed(project or Path()))
    if tree is not None:
        out.note(
            f"{tree} is a worktree of it: sessions of all worktrees count, and an edit is proposed for the "
            f"file in {root}, from where it comes into the others as any change does, by git"
        )
    return root


def project_roots(projects: Sequence[Path], out: Output, *, every: bool = False) -> str | None:
    """The pool of the projects that a command works on: of several those that were named, each told; None
    for every one there is."""
    from nightschool.core.tasks import pool_of  # noqa: PLC0415 - help needs no tasks

    if every and projects:
        raise UserError("--project and --all-projects: take one of them")
    if every:
        return None
    return pool_of([project_root(project, out) for project in (projects or (None,))])


def write_private(path: Path, text: str) -> None:
    """Write a file that the person alone may read, whole or not at all."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    new.replace(path)


def _copy(settings: Settings, folder: Path) -> Settings:
    """Records and the key of the stand-ins; contents (blobs) are not needed to read and plan."""
    database = settings.home / DATABASE
    if database.is_file():
        # Read-only, and through SQLite: the log beside the file may hold what the file does not yet.
        source = f"{database.absolute().as_uri()}?mode=ro"
        with (
            closing(sqlite3.connect(source, uri=True)) as old,
            closing(sqlite3.connect(folder / DATABASE)) as new,
        ):
            try:
                old.backup(new)
            except sqlite3.OperationalError as error:
                raise UserError(
                    f"{database} cannot be copied to {folder.parent}: {error}; free some space there, or "
                    "set TMPDIR to another folder"
                ) from error
    key = settings.home / KEY
    if key.is_file():
        (folder / KEY).write_bytes(key.read_bytes())
    return replace(settings, home=folder)
