"""Mirrors, checkouts and layers that nobody used for long, and what a killed process left of one. Relieves
workspaces, which make them, of their age.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path

from nightschool.adapters import disk_use
from nightschool.adapters.file_locks import holding
from nightschool.core.errors import Busy

KEPT_SECONDS = 30 * 24 * 3600
KEPT_BYTES = 20 << 30
"""Of the checkouts of one repository; beyond, those go first that were used last the longest ago."""
SOURCE = "nightschool-source"
"""In a mirror: the repository that it mirrors. Its time is that of the last use."""
FINISHED = "finished.json"
"""In a checkout or a layer: it is whole. Its time too is that of the last use."""
CHECKOUTS, LAYERS = "checkouts", "layers"
MAKING, GOING = ".making-", ".going-"
"""Before the name of what is not there yet, and of what is removed."""
DEEP, DEEP_LENGTH = 100, 1000
"""Folders and characters below a folder of ours; what lies deeper is moved up to be removed."""


def used(mirror: Path, repository: Path) -> None:
    """Note that a mirror is used now, and of which repository it is."""
    write_private(mirror / SOURCE, os.fsencode(repository))


def finish(folder: Path, told: object) -> None:
    """Note that a checkout or a layer is whole, and how much it takes up: at once or not at all."""
    takes = max(disk_use.taken(folder))
    write_private(folder / f".{FINISHED}", json.dumps({"bytes": takes, "told": told}).encode())
    (folder / f".{FINISHED}").rename(folder / FINISHED)


def told(folder: Path) -> list[str]:
    found: list[str] = json.loads((folder / FINISHED).read_bytes())["told"]
    return found


def write_private(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)


def prune(mirrors: Path, now: float) -> None:
    """Remove the mirrors of repositories that are gone, and checkouts and layers of any, after 30 days
    without use; at once what is half made or half removed. One that is in use by another process stays.
    What is in place is no more than a copy that can be made anew."""
    for mirror in _folders(mirrors):
        if mirror.name.startswith(GOING) or _is_orphan(mirror / SOURCE, now):
            _remove(mirror)
    for kind in (CHECKOUTS, LAYERS):
        for folder in (folder for kept in mirrors.glob(f"*/{kind}") for folder in _folders(kept)):
            whole = (folder / FINISHED).exists() and not folder.name.startswith(GOING)
            if not whole or _is_old(folder / FINISHED, now):
                _remove(folder)


def make_room(checkouts: Path) -> None:
    """Remove what was not used for the longest time, but nothing that is in use, down to what may be kept."""
    whole = [folder for folder in _folders(checkouts) if (folder / FINISHED).exists()]
    whole.sort(key=lambda folder: (folder / FINISHED).stat().st_mtime, reverse=True)
    kept = 0
    for folder in whole:
        kept += int(json.loads((folder / FINISHED).read_bytes())["bytes"])
        if kept > KEPT_BYTES:
            _remove(folder)


def _folders(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*") if path.is_dir() and not path.is_symlink())


def _is_orphan(source: Path, now: float) -> bool:
    gone = source.exists() and not Path(os.fsdecode(source.read_bytes())).exists()
    return gone and _is_old(source, now)


def _is_old(path: Path, now: float) -> bool:
    return now - path.stat().st_mtime > KEPT_SECONDS


def _remove(folder: Path) -> None:
    """Out of its place first, so that a half of it is never taken for the whole."""
    name = folder.name.removeprefix(MAKING).removeprefix(GOING)
    with suppress(Busy), holding(folder.parent, name):
        going = folder.with_name(f"{GOING}{name}")
        if folder != going:
            remove_tree(going)
            folder.rename(going)
        remove_tree(going)


def remove_tree(base: Path) -> None:
    """Remove a job's folder, also where the job took away its own rights to parts of it, or nested them
    deeper than a path can name: what lies deep is moved up first."""
    if not base.exists():
        return
    todo, moved = [base], 0
    while todo:
        for folder, names, _ in os.walk(todo.pop()):
            below = folder[len(str(base)) :]
            deep = len(below) > DEEP_LENGTH or below.count("/") > DEEP
            for name in [*names]:
                path = Path(folder, name)
                if path.is_symlink():
                    continue
                if stat.S_IMODE(path.lstat().st_mode) & stat.S_IRWXU != stat.S_IRWXU:
                    path.chmod(0o700)
                if deep:
                    names.remove(name)
                    todo.append(path.rename(base / f"deep-{moved}"))
                    moved += 1
    shutil.rmtree(base, ignore_errors=False)
