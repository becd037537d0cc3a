"""Ignore lists as they hold on this disk: of a folder's own file, and with the places that links lead to.

Relieves wiring of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

from nightschool.core.errors import UserError
from nightschool.core.forgetting import IgnoreList
from nightschool.core.sessions import in_text
from nightschool.core.values import Digest
from nightschool.rules.ignoring import Ignoring
from nightschool.settings import Settings, project_ignore


def ignoring_by(
    settings: Settings, *, home: Path, root: Callable[[str], str], now: datetime, forgotten: frozenset[Digest]
) -> Ignoring:
    """What may not be read or not be seen, as the person's settings and the files of folders have it."""
    days = settings.retention_days
    return Ignoring(
        own=with_real_paths(settings.ignore.rules),
        of_folder=cache(ignored_by),
        root=root,
        real=cache(real),
        home=real(str(home)),
        oldest=None if days is None else now - timedelta(days=days),
        days=days,
        forgotten=forgotten,
    )


def ignored_by(folder: str) -> IgnoreList | str:
    """What a folder's own file names; a text says what is wrong with that file."""
    try:
        return with_real_paths(project_ignore(Path(folder))) if folder.startswith("/") else IgnoreList()
    except UserError as error:
        return str(error)


def with_real_paths(rules: IgnoreList) -> IgnoreList:
    """Patterns as they were written, and as they are where a part of them is a link."""

    def both(patterns: tuple[str, ...]) -> tuple[str, ...]:
        places = (real(pattern) for pattern in patterns if pattern.startswith("/"))
        return tuple(dict.fromkeys((*patterns, *places)))

    return replace(rules, projects=both(rules.projects), paths=both(rules.paths))


def real(path: str) -> str:
    """Where a path leads that may have links in it."""
    return path if "\0" in path else in_text(os.path.realpath(path))
