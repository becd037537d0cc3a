"""What the files of projects say in a run over them. Relieves `wiring` of all that needs no adapter."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from nightschool.core.cycles import Budget
from nightschool.core.jobs import Provision
from nightschool.settings import PROJECT_FILE, BadProjectFile, Origin, Settings, keys_in, load, places

LIMITS = ("limits.max_jobs", "limits.max_minutes", "limits.max_tokens", "limits.max_dollars")
"""Those of a project's own file hold for its part of a run over several."""
TERMS = ("edit_budget", "gate.alpha", "gate.margin", "targets.memory", "targets.skills")
"""Those hold for the corrections that were heard in that project alone."""
OF_WORK = ("setup.", "ignore.")
"""Sections that concern each work and session in the file's folder, wherever a run is started."""


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


def wrong(project: str, folders: Iterable[str], environment: Mapping[str, str]) -> str | None:
    """What is wrong with the files of a project, that of its root and those that its work began below; None
    where nothing is."""
    for folder in speaking(project, folders):
        try:
            load(project=Path(project), folder=Path(project, folder), environment=environment)
        except BadProjectFile as error:
            return str(error)
    return None


def own_limits(project: str, environment: Mapping[str, str], whole: Settings) -> tuple[Budget, str] | None:
    """The limits that a project's own file sets, and that file; None where it sets none. What the person
    says by flag or variable goes before it, as in a run over that project alone."""
    chosen = load(project=Path(project), environment=environment)
    own = {
        key
        for key in LIMITS
        if chosen.origin(key).place == "project" and whole.origin(key).place not in {"environment", "flag"}
    }
    if not own:
        return None
    said = chosen.limits.budget
    jobs, wall, tokens, cost = (key in own for key in LIMITS)
    budget = Budget(
        jobs=said.jobs if jobs else None,
        wall=said.wall if wall else None,
        tokens=said.tokens if tokens else None,
        cost=said.cost if cost else None,
    )
    return budget, str(Path(project, PROJECT_FILE))


def own_terms(project: str, environment: Mapping[str, str], whole: Settings) -> Settings | None:
    """The settings as they hold for what was heard in a project, where its own file says of any of `TERMS`
    what differs from what holds for the whole; else None."""
    chosen = load(project=Path(project), environment=environment)
    own = [key for key in TERMS if chosen.origin(key).place == "project"]
    return chosen if any(chosen.get(key) != whole.get(key) for key in own) else None


def unused(project: str, folders: Iterable[str], *, standing: Path | None) -> list[str]:
    """What the files of a project say and a run does not heed, with the way to have it heeded. `standing`:
    the folder of it that the run is started for; None for a run over several projects."""
    root = Path(project)
    heeded = [] if standing is None else [place for place in places(root, standing) if place != root]
    told = []
    for folder in speaking(project, folders):
        place = root / folder
        if place in heeded or (place == root and standing is not None):
            continue
        also = (*LIMITS, *TERMS) if place == root else ()
        keys = [
            key for key in keys_in(place / PROJECT_FILE) if not key.startswith(OF_WORK) and key not in also
        ]
        if keys:
            told.append(
                f"{place / PROJECT_FILE}: {', '.join(keys)}: not used in this run, but in one of that folder "
                f"(nightschool run --project {shlex.quote(str(place))})"
            )
    return told
