"""Mirrors and layers that nobody used for long. Relieves workspaces, which make them, of their age."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from nightschool.adapters.file_locks import holding
from nightschool.core.errors import Busy

KEPT_SECONDS = 30 * 24 * 3600
SOURCE = "nightschool-source"
"""In a mirror: the repository that it mirrors. Its time is that of the last use."""
FINISHED = "folders.json"
"""In a layer; its time too is that of the last use."""


def used(mirror: Path, repository: Path) -> None:
    """Note that a mirror is used now, and of which repository it is."""
    descriptor = os.open(mirror / SOURCE, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(os.fsencode(repository))


def prune(mirrors: Path, now: float) -> None:
    """Remove the mirrors of repositories that are gone, and layers of any, after 30 days without use. One
    that is in use by another process stays. What is in place is no more than a copy that can be made anew."""
    for mirror in _folders(mirrors):
        source = mirror / SOURCE
        if not source.exists() or not _is_old(source, now):
            continue
        if not Path(os.fsdecode(source.read_bytes())).exists():
            _remove(mirror)
    for layers in mirrors.glob("*/layers"):
        for layer in _folders(layers):
            if (layer / FINISHED).exists() and _is_old(layer / FINISHED, now):
                _remove(layer)


def _folders(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*") if path.is_dir() and not path.is_symlink())


def _is_old(path: Path, now: float) -> bool:
    return now - path.stat().st_mtime > KEPT_SECONDS


def _remove(folder: Path) -> None:
    with suppress(Busy), holding(folder.parent, folder.name):
        shutil.rmtree(folder, ignore_errors=True)
