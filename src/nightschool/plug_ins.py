"""What plugs in by entry point: the names that are installed of a kind, and what one of them loads.

Relieves `wiring` of it, so that settings know a name that nobody declares for what it is.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

from nightschool.core.errors import UserError

SINGULAR = {"sources": "source", "surfaces": "surface", "runners": "runner", "sandboxes": "sandbox"}


def known(kind: str) -> tuple[str, ...]:
    """Names of what is installed of a kind: sources, surfaces, runners, sandboxes."""
    return tuple(sorted(point.name for point in entry_points(group=f"nightschool.{kind}")))


def loaded(kind: str, name: str) -> Any:
    """The factory of that name."""
    found = [point for point in entry_points(group=f"nightschool.{kind}") if point.name == name]
    if not found:
        raise UserError(f"there is no {SINGULAR[kind]} {name!r}; there are: {', '.join(known(kind))}")
    return found[0].load()
