"""A commit's files, laid out once and read by all jobs of that commit.

Relieves workspaces, which make one, of sharing it: who waits for whom, what is whole, and what may go.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import IO

from nightschool.adapters import leftovers
from nightschool.adapters.git_command import git
from nightschool.core.errors import WorkspaceUnavailable
from nightschool.core.jobs import Provision
from nightschool.core.tasks import GitSource
from nightschool.core.values import digest_of

VERSION = 1
"""Of what a checkout holds."""
POLL_SECONDS = 0.2
Make = Callable[[Path], Sequence[Path]]
"""Lays a commit's files into a folder. Gives the paths that would have been read had they been there."""


@contextmanager
def shared(
    mirror: Path, source: GitSource, provision: Provision, make: Make, cancelled: Event
) -> Iterator[Path]:
    """The folder with the commit's files, for reading. It stays as long as this is open.

    One that was laid without something (large files, submodules) is laid anew when that has come.
    """
    checkouts = mirror / leftovers.CHECKOUTS
    checkouts.mkdir(mode=0o700, exist_ok=True)
    come: frozenset[str] = frozenset()
    while True:
        parts = VERSION, source.commit, provision.submodules, provision.lfs, sorted(come)
        folder = checkouts / digest_of(*parts)[:16]
        with open(folder.with_suffix(".lock"), "ab", opener=_private) as lock:
            _take(folder, lock, make, cancelled)
            more = frozenset(path for path in leftovers.told(folder) if Path(path).exists())
            if more <= come:
                os.utime(folder / leftovers.FINISHED)  # used today: see what is pruned by age
                yield folder / "tree"
                return
            come |= more


def link_objects(mirror: Path, commit: str, root: Path) -> bool:
    """Have the new repository at root hold the commit by the mirror's own files, where these hold nothing
    else: no job may see another commit. Only for what no job writes to. Whether it was done."""
    # Listed before they are counted: what another job fetches meanwhile is not among them.
    parts = sorted((mirror / "objects/pack").glob("pack-*"))
    counted = git(["count-objects", "-v"], folder=mirror).decode().split()
    held = {"packs:": "1", "count:": "0", "in-pack:": str(_objects(mirror, commit))}
    if any(counted[counted.index(key) + 1] != wanted for key, wanted in held.items()):
        return False
    for path in parts:
        os.link(path, root / ".git/objects/pack" / path.name)
    shallow = mirror / "shallow"
    if shallow.exists() and commit in shallow.read_text(encoding="ascii").split():
        (root / ".git/shallow").write_text(f"{commit}\n", encoding="ascii")
    git(["update-ref", "refs/heads/main", commit], folder=root)
    return True


def _objects(mirror: Path, commit: str) -> int:
    return git(["rev-list", "--objects", commit], folder=mirror).count(b"\n")


def _take(folder: Path, lock: IO[bytes], make: Make, cancelled: Event) -> None:
    """Hold the checkout among others who use it; where it is not there yet, alone to make it first."""
    while True:
        _wait(lock, fcntl.LOCK_SH, cancelled)
        if (folder / leftovers.FINISHED).exists():
            return
        _wait(lock, fcntl.LOCK_EX, cancelled)
        if not (folder / leftovers.FINISHED).exists():
            try:
                _lay(folder, make)
            except OSError as error:
                raise WorkspaceUnavailable(f"the commit's files cannot be laid out: {error}") from error


def _lay(folder: Path, make: Make) -> None:
    """Beside its place, then renamed into it: what lies there is whole, whenever a process dies."""
    making = folder.with_name(f"{leftovers.MAKING}{folder.name}")
    leftovers.remove_tree(making)
    making.mkdir(mode=0o700)
    try:
        (making / "tree").mkdir()
        absent = make(making / "tree")
        leftovers.finish(making, [str(path) for path in absent if not path.exists()])
    except BaseException:
        leftovers.remove_tree(making)
        raise
    making.rename(folder)
    leftovers.make_room(folder.parent)


def _wait(lock: IO[bytes], kind: int, cancelled: Event) -> None:
    while True:
        try:
            fcntl.flock(lock, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if cancelled.wait(POLL_SECONDS):
                raise WorkspaceUnavailable("stopped while the commit's files were laid out") from None
        else:
            return


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)
