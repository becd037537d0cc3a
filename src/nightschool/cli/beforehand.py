"""What a person should know of an adoption before it is done. Relieves `show` and `adopt` of the same."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from nightschool.cli import dossiers, expected
from nightschool.core.harness import Scope, Target
from nightschool.core.sessions import Session
from nightschool.plug_ins import known
from nightschool.rules.standing import say_the_same
from nightschool.rules.telling import counted
from nightschool.stages import publish
from nightschool.stages.in_file import of_case, takes_back
from nightschool.stages.releases import WAITING, drafts, published, read_only

if TYPE_CHECKING:
    from nightschool.core.ports import Surface
    from nightschool.core.proposals import Dossier, Release
    from nightschool.wiring import Parts


def to_know(case: Dossier, parts: Parts) -> list[str]:
    """All of it; nothing once it was adopted or can't be any more."""
    if case.status not in WAITING:
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
        if other.status in WAITING
        and other.certified
        and other.draft.id not in {case.draft.id, case.draft.made_from}
        and parts.place(other.draft.target).resolve() == path
        and not dossiers.is_stale(other, parts)
    ]


def made_stale(release: Release, parts: Parts) -> list[Dossier]:
    """The other proposals for the file as it was before it was written."""
    return [
        case
        for case in drafts(parts.store)
        if case.status in WAITING
        and case.draft.live == release.before
        and str(parts.place(case.draft.target).resolve()) == release.path
        and dossiers.is_stale(case, parts)
        and dossiers.superseded_by(case, parts) is None
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
        state = of_case(other, parts.store, parts.live)
        if state is not None:
            if state.stands:
                way = _way_out(other, parts)
                out = f": `{way}` takes it out there" if way else ""
                told.append(f"the same stands in {path}, which the agent reads along with this file{out}")
        elif dossiers.superseded_by(other, parts) is None:
            told.append(
                f"{other.draft.id} proposes the same for {path}, read along with this file: one will do"
            )
    return told


def _way_out(case: Dossier, parts: Parts) -> str | None:
    return takes_back(published(case.releases)[-1], parts.store, parts.live, name=case.draft.id)


def _other_agents(case: Dossier, parts: Parts) -> list[str]:
    """The agents that were corrected and that would not read the file."""
    target = case.draft.target
    project = target.project or None
    heard = Counter(session.partition(":")[0] for session in _sessions(case, parts))
    told = []
    for agent in sorted(heard.keys() & set(known("surfaces")) - {target.agent}):
        surface = parts.surface(agent)
        if _reads(surface, parts.place(target), project, parts.person_home) or _told_it(case, agent, parts):
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


def _sessions(case: Dossier, parts: Parts) -> list[str]:
    """Where it was said, but for what is known to be of other projects than the file."""
    sessions = () if case.candidate is None else case.candidate.sessions
    project = case.draft.target.project
    if not project:
        return [*sessions]
    known = {one.id: one.project for one in parts.store.find(Session)}
    return [name for name in sessions if parts.projects.root(known.get(name) or project) == project]


def _told_it(case: Dossier, agent: str, parts: Parts) -> bool:
    """Whether that agent was given the same already, where its file is read along."""
    correction = case.candidate and case.candidate.correction
    return any(
        other.draft.target.agent == agent
        and other.draft.target.project in {"", case.draft.target.project}
        and other.candidate is not None
        and other.candidate.correction == correction
        and (state := of_case(other, parts.store, parts.live)) is not None
        and state.stands
        for other in drafts(parts.store)
    )


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
