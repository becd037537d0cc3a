"""How a file is called everywhere: by the name that its agent reads, and what that is a link to.

Relieves the plan, `show` and the commands that write of saying it in their own ways.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nightschool.core.proposals import Release
    from nightschool.wiring import Parts


def named(path: Path) -> str:
    """The file by its name; where it is a link, with what it leads to."""
    real, plain = path.resolve(), path.parent.resolve() / path.name
    if real == plain:
        return str(path)
    return f"{path} (a link to {real.name if real.parent == plain.parent else real})"


def written(release: Release, parts: Parts) -> str:
    """The file of a release, as its proposal called it; by its own path where the link was changed since."""
    path = parts.place(release.target)
    return named(path) if str(path.resolve()) == release.path else release.path
