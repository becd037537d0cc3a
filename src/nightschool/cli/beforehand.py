"""What a person should know of an adoption before it is done. Relieves `show` and `adopt` of the same."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from nightschool.cli import dossiers, expected
from nightschool.core.harness import Scope, Target
from nightschool.core.proposals import Status
from nightschool.plug_ins import known
from nightschool.rules.standing import say_the_same
from nightschool.rules.telling import counted
from nightschool.stages import publish
from nightschool.stages.releases import drafts, read_only

if TYPE_CHECKING:
    from nightschool.core.ports import Surface
    from nightschool.core.proposals import Dossier
    from nightschool.wiring import Parts


def to_know(case: Dossier, parts: Parts) -> list[str]:
    """All of it; nothing once it was adopted or can't be any more."""
    if case.status not in dossiers.WAITING:
        return []
    return [
        *_written(case, parts),
        *_elsewhere(case, parts),
        *_other_agents(case, parts),
        *losing_told(losing(case, parts), parts),
    ]


def leading_out(case: Dossier, parts: Parts) -> Path | None:
    """The file outside of the project that a link there leads to; None where it stays inside."""
    return publish.leads_out(case.draft.target, parts.place(case.draft.target))


def _written(case: Dossier, parts: Parts) -> list[str]:
    """What is to be known of the file itself."""
    path, away = parts.place(case.draft.target), leading_out(case, parts)
    told = []
    if away is not None:
        told.append(
            f"{path} is a link that leads out of the project: {away} is what is written, for all that read it"
        )
    return [*told, *(text for _, text in read_only(parts.live.read(path)))]


def losing(case: Dossier, parts: Parts) -> list[Dossier]:
    """Other proposals that the gate accepted for the file as it is now: their certificates speak of it."""
    path = parts.place(case.draft.target).resolve()
    return [
        other
        for other in drafts(parts.store)
        if other.status in dossiers.WAITING
        and other.certified
        and other.draft.id not in {case.draft.id, case.draft.made_from}
        and parts.place(other.draft.target).resolve() == path
        and not dossiers.is_stale(other, parts)
    ]


def losing_told(others: list[Dossier], parts: Parts) -> list[str]:
    """What adopting costs them, and that it can be taken back."""
    if not others:
        return []
    names = ", ".join(case.draft.id for case in others)
    cost = expected.in_short(parts, expected.JOBS_A_CANDIDATE * len(others))
    return [
        f"the gate accepted {names} for this file too, each without this edit beside it. Once this one is "
        f"adopted that says nothing any more: `nightschool rebase` makes each anew and the next run examines "
        f"it, {cost}. Undoing this one gives back what they were accepted on"
    ]


def _elsewhere(case: Dossier, parts: Parts) -> list[str]:
    told = []
    for other in say_the_same(case, drafts(parts.store)):
        path = parts.place(other.draft.target)
        if other.status is Status.PUBLISHED:
            way = f"`nightschool undo {other.draft.id}` takes it out there"
            told.append(f"the same stands in {path}, which the agent reads along with this file: {way}")
        else:
            told.append(
                f"{other.draft.id} proposes the same for {path}, read along with this file: one will do"
            )
    return told


def _other_agents(case: Dossier, parts: Parts) -> list[str]:
    """The agents that were corrected and that would not read the file."""
    target = case.draft.target
    sessions = () if case.candidate is None else case.candidate.sessions
    heard = Counter(session.partition(":")[0] for session in sessions)
    project = target.project or None
    told = []
    for agent in sorted(heard.keys() & set(known("surfaces")) - {target.agent}):
        surface = parts.surface(agent)
        if _reads(surface, parts.place(target), project, parts.person_home):
            continue
        theirs = _memory(surface, project, parts.person_home)
        too = (
            f"too ({counted(heard[agent], 'session')})" if target.agent in heard else "and to no other agent"
        )
        way = f"`{dossiers.run_again(case)} --runner {agent}`"
        told.append(
            f"you said it to {agent}, {too}. That one does not read this file: {way} practises it there and "
            f"proposes it for {theirs}"
        )
    return told


def _memory(surface: Surface, project: str | None, home: Path) -> Path:
    """The memory file that an agent reads."""
    harness = surface.load(Path(project) if project else None, home)
    return surface.live_path(surface.memory_target(project=project, beside=harness), home)


def _reads(surface: Surface, file: Path, project: str | None, home: Path) -> bool:
    """Whether an agent reads a file: as its own, through a link, or as an import."""
    real = file.resolve()
    harness = surface.load(Path(project) if project else None, home)
    places = (
        Target(agent=surface.name, scope=Scope.PROJECT, project=project or "", place=one.path)
        for one in harness.files
    )
    return any(
        surface.live_path(place, home).resolve() == real
        and surface.read_instead(place.place, harness) is None
        for place in places
    )
