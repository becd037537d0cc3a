"""Whether a correction was said only in a folder that has a memory file of its own, which stays as it is.

Relieves the plan of a run and `show`, which both say so.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nightschool.core.harness import Target
    from nightschool.core.tasks import Candidate
    from nightschool.wiring import Parts


def own_file_below(candidate: Candidate, target: Target, parts: Parts) -> str | None:
    """The note; None where it was said elsewhere too, or where that folder has none."""
    from nightschool.core.sessions import Session  # noqa: PLC0415 - help needs no sessions
    from nightschool.rules.telling import counted  # noqa: PLC0415

    if not target.project or target.skill is not None:
        return None
    root, name = Path(target.project), parts.place(target).name
    sessions = [parts.store.get(Session, one) for one in candidate.sessions]
    found = {
        None if one is None or one.project is None else _nearest(Path(one.project), root, name)
        for one in sessions
    }
    if len(found) != 1 or (folder := found.pop()) is None:
        return None
    where = folder.relative_to(root).as_posix()
    return (
        f"all {counted(len(sessions), 'session')} of it were in {where}, whose own {name} stays as it is: "
        "edits go to the project's file, which is read there too"
    )


def _nearest(folder: Path, root: Path, name: str) -> Path | None:
    """The folder below the root whose file of that name is read first."""
    if not folder.is_relative_to(root):
        return None
    here = [folder, *folder.parents]
    return next((one for one in here[: here.index(root)] if (one / name).is_file()), None)
