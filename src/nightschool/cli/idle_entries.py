"""Entries of the person's ignore list that keep nothing out: a slip of the pen lets read what was meant.

Relieves doctor and the commands that read of looking for them.
"""

from __future__ import annotations

from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from nightschool.core.forgetting import Skipped, folders_of
from nightschool.core.sessions import Session
from nightschool.rules.health import Finding
from nightschool.stages.veil import unveiled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nightschool.wiring import Parts


def idle_entries(parts: Parts) -> list[str]:
    """What is to be known of each. A folder that is there may get sessions yet: that is no slip."""
    patterns = parts.settings.ignore.rules.projects
    if not patterns:
        return []
    # What the list hides by now is named by it.
    store = unveiled(parts.store)
    projects = {one.project for one in store.find(Session) if one.project}
    places = {place for project in projects for place in folders_of(project)}
    ignored = any(one.reason == "ignored" for one in store.find(Skipped))
    return [
        f"ignore.projects: {pattern} names no folder and no session that is known{_near(pattern, places)}"
        for pattern in patterns
        if not _names(pattern, places, ignored=ignored)
    ]


def findings(parts: Parts) -> Iterator[Finding]:
    """The same for `doctor`."""
    for text in idle_entries(parts):
        fix = "mend it in your settings, then nightschool forget --ignored forgets what was read meanwhile"
        yield Finding(about="ignore list", state="note", text=text, fix=fix)


def _names(pattern: str, places: set[str], *, ignored: bool) -> bool:
    """Whether it is known to name something, or may be what left sessions out: of these no name is kept."""
    if "/" in pattern:
        whole = pattern.rstrip("/")
        return any(Path("/").glob(whole[1:])) or any(fnmatchcase(place, whole) for place in places)
    names = {place.rpartition("/")[2].casefold() for place in places}
    return ignored or any(fnmatchcase(name, pattern.casefold()) for name in names)


def _near(pattern: str, places: set[str]) -> str:
    """What may have been meant: a folder beside it, or one of a known session."""
    path = Path(pattern.rstrip("/"))
    beside: list[str] = []
    if path.is_absolute() and path.parent.is_dir():
        beside = [one.name for one in path.parent.iterdir() if one.is_dir()]
    known = {place.rpartition("/")[2] for place in places}
    found = get_close_matches(path.name, [*beside, *sorted(known)], n=1)
    return f"; did you mean {path.with_name(found[0])}?" if found else ""
