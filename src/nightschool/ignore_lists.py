"""Ignore lists as they hold on this disk: of a folder's own file, and with the places that links lead to.

Relieves wiring of it.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from nightschool.core.errors import UserError
from nightschool.core.forgetting import IgnoreList
from nightschool.core.sessions import in_text
from nightschool.settings import project_ignore


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
