"""What the files of projects say in a run over them. Relieves `wiring` of all that needs no adapter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from nightschool.core.jobs import Provision
from nightschool.settings import PROJECT_FILE, Origin, load, places


def speaking(project: str, folders: Iterable[str]) -> list[str]:
    """Of the folders that work of a project began in, and those above them, the ones with a file of settings:
    relative to the root, which always comes first."""
    root = Path(project)
    if not root.is_absolute():
        return [""]
    found = {place for folder in folders for place in places(root, root / folder)[1:]}
    own = [str(place.relative_to(root)) for place in found if (place / PROJECT_FILE).is_file()]
    return ["", *sorted(own)]


def provision_at(project: str, folder: str, environment: Mapping[str, str]) -> tuple[Provision, Origin]:
    """What workspaces are given for work that began in a folder of a project, and who says so."""
    root = Path(project)
    chosen = load(project=root if root.is_absolute() else None, folder=root / folder, environment=environment)
    asked, origin = chosen.setup, chosen.origin("setup.command")
    plain = Provision(submodules=asked.submodules, lfs=asked.lfs)
    if asked.command is None:
        return plain, origin
    where = Path(origin.where).parent if origin.place == "project" else root
    full = replace(
        plain,
        setup=asked.command,
        network=asked.network,
        minutes=asked.minutes,
        folder="" if where == root else str(where.relative_to(root)),
    )
    return full, origin
