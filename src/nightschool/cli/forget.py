"""`nightschool forget`: what was read is made unread."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nightschool.cli.exits import ExitCode
from nightschool.cli.options import Json
from nightschool.cli.output import Output
from nightschool.cli.reading import typed
from nightschool.cli.render import Line, Piece, Table
from nightschool.cli.scheduled import scheduling_here
from nightschool.core.errors import NotFound, UserError

if TYPE_CHECKING:
    from nightschool.core.forgetting import Thing
    from nightschool.rules.forgetting import Chosen, Plan
    from nightschool.stages.schedule import Scheduling
    from nightschool.wiring import Parts

What = Annotated[
    str, typer.Argument(metavar="SESSION|PROJECT", help="A session's id, or a project's folder or name.")
]
Allow = Annotated[bool, typer.Option("--allow", help="Let it be read again: takes it off the list.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Tell what would go, and change nothing.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]

SHORTEST_PREFIX = 8
STAYS = (
    "What stays of it are figures, digests and what you wrote yourself; the agent's own transcript stays "
    "where it lies, unless you delete it there:"
)
SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class _Named:
    """What the person means."""

    thing: Thing
    name: str
    chosen: Chosen


def forget(
    what: What, *, allow: Allow = False, dry_run: DryRun = False, yes: Yes = False, json: Json = False
) -> ExitCode:
    """Make unread what was read: a session, or all of a project, and whatever was made of it.

    Tells first what goes, and asks. Turns, evidence, tasks, answers of agents, reports and proposals go; a
    rule that you adopted stays in its file until `nightschool undo`, and so do your pins and the schedule,
    each named with its command. It is never read again, unless you say so with --allow.

    \b
    Example:
      nightschool forget claude-code:0f3c6a52-7d1e-4a5b-9c1d-2e8f7a6b5c4d
      nightschool forget ~/work/secret --dry-run
    """
    from nightschool.cli.opening import opening  # noqa: PLC0415 - help needs no store

    if not what.strip():
        raise UserError("forget what? An empty name would mean the folder that you stand in")
    out = Output(json=json)
    with opening(fleeting=dry_run, forgiving=True) as parts:
        named = _named(parts, what)
        forgetting = parts.forgetting()
        scheduling = scheduling_here(parts.settings)
        if allow:
            return _allowed(parts, named, out)
        planned = forgetting.planned(named.chosen)
        if dry_run:
            told = [*_told(named, planned, scheduling, "would go"), "nothing was changed"]
            return out.result(_document(named, planned, scheduling, done=False), told)
        if not yes:
            out.note(*_told(named, planned, scheduling, "will go"))
            out.confirm(
                f"Forget the {named.thing} {named.name}?",
                otherwise="pass --yes to forget without being asked.",
            )
        with parts.store.hold("cycle"):
            forgetting.settle()
            if named.thing == "project":
                scheduling.forget(named.name)
            done = forgetting.forget(named.chosen, for_good=True)
    lasting = f"nightschool forget {shlex.quote(named.name)} --allow"
    return out.result(
        _document(named, done, scheduling, done=True),
        [*_told(named, done, scheduling, "went"), f"it is not read again, unless: {lasting}"],
    )


def _named(parts: Parts, what: str) -> _Named:
    from nightschool.core.forgetting import Forgotten, Thing, trace_of  # noqa: PLC0415
    from nightschool.core.sessions import Session  # noqa: PLC0415
    from nightschool.rules.forgetting import Chosen  # noqa: PLC0415
    from nightschool.wiring import known  # noqa: PLC0415

    def one(session: str) -> _Named:
        return _Named(thing=Thing.SESSION, name=session, chosen=Chosen(sessions=frozenset({session})))

    sessions = parts.store.find(Session)
    begun = [s for s in sessions if what in {s.id, s.session_id}]
    if not begun and len(what) >= SHORTEST_PREFIX:
        begun = [s for s in sessions if s.id.startswith(what) or s.session_id.startswith(what)]
    if len(begun) > 1:
        listed = ", ".join(session.id for session in begun)
        raise UserError(f"{what!r} is the beginning of several sessions: {listed}; name one of them")
    if begun:
        return one(begun[0].id)
    root = _root(parts, what, {s.project for s in sessions if s.project})
    if root is not None:
        return _Named(thing=Thing.PROJECT, name=root, chosen=parts.forgetting().of_project(root))
    source, colon, rest = what.partition(":")
    if colon and rest and source in known("sources"):
        return one(what)  # not read yet, and never to be
    for name in (f"{source}:{what}" for source in known("sources")):
        if parts.store.get(Forgotten, f"{Thing.SESSION}.{trace_of(Thing.SESSION, name)}") is not None:
            return one(name)
    raise NotFound(
        f"no session and no project {what!r}: `nightschool corrections --json` names the sessions, and a "
        "project is a folder; one that was not read yet, or was forgotten, is named in full (claude-code:ID, "
        "or the project's path)"
    )


def _root(parts: Parts, what: str, folders: set[str]) -> str | None:
    """The root of the project that is meant: a folder that is there or was, or the name of a known one."""
    from nightschool.core.forgetting import Forgotten, Thing, trace_of  # noqa: PLC0415

    path = Path(os.path.normpath(typed(Path(what))))
    roots = {parts.projects.root(folder) for folder in folders}
    if str(path) in roots or path.is_dir():
        return parts.projects.root(str(path))
    found = sorted(root for root in roots if Path(root).name == what)
    if len(found) > 1:
        raise UserError(f"{what!r} is the name of several projects: {', '.join(found)}; name its folder")
    if found:
        return found[0]
    known = parts.store.get(Forgotten, f"{Thing.PROJECT}.{trace_of(Thing.PROJECT, str(path))}")
    inside = any(folder.startswith(f"{path}/") for folder in folders)
    return str(path) if inside or known is not None else None


def _allowed(parts: Parts, named: _Named, out: Output) -> ExitCode:
    was = parts.forgetting().allow(named.thing, named.name)
    document = {"thing": named.thing, "name": named.name, "allowed": True, "was_forgotten": was}
    told = "may be read again; the next harvest does" if was else "was not forgotten; nothing was changed"
    return out.result(document, [f"the {named.thing} {named.name} {told}"])


def _document(named: _Named, planned: Plan, scheduling: Scheduling, *, done: bool) -> dict[str, object]:
    return {
        "thing": named.thing,
        "name": named.name,
        "done": done,
        "goes": planned.counts,
        "stays": [{"proposal": draft.id, "place": draft.target.place} for draft in planned.standing],
        "settings": [pin.path for pin in planned.pins],
        "scheduled": _scheduled(named, scheduling),
        "copies": planned.copies,
        "transcripts": _transcripts(planned),
    }


def _transcripts(planned: Plan) -> list[str]:
    from nightschool.core.sessions import Session  # noqa: PLC0415

    return sorted({record.path for record in planned.removed if isinstance(record, Session)})


def _scheduled(named: _Named, scheduling: Scheduling) -> bool:
    """Whether runs of the project start by themselves: that is a setting of the person's, and stays."""
    plan = scheduling.memory.plan()
    return plan is not None and named.name in plan.projects


def _settings(named: _Named, planned: Plan, scheduling: Scheduling) -> list[str]:
    """What names the project and stays, since the person set it; with what takes it away."""
    told = [
        f"the pin of {pin.path} stays, a setting of yours: nightschool unpin {shlex.quote(pin.path)}, and "
        "then forget once more, take that name away too"
        for pin in planned.pins
    ]
    if _scheduled(named, scheduling):
        way = f"nightschool schedule remove --project {shlex.quote(named.name)}"
        told.append(f"its scheduled runs stay, a setting of yours, and find nothing to read: {way}")
    return told


def _told(named: _Named, planned: Plan, scheduling: Scheduling, heading: str) -> list[Piece | str]:
    from nightschool.stages.forget import standing  # noqa: PLC0415

    rows = [(what, number) for what, number in planned.counts.items() if number]
    pieces: list[Piece | str] = [f"{named.thing}: {named.name}"]
    if rows:
        pieces.append(Table(columns=(heading, "how many"), rows=rows))
    else:
        pieces.append("nothing of it is stored")
    pieces += [Line(standing(draft), "yellow") for draft in planned.standing]
    pieces += [
        Line(
            f"session {copy} holds rows of it too, and stays: nightschool forget {shlex.quote(copy)}",
            "yellow",
        )
        for copy in planned.copies
    ]
    pieces += [Line(text, "yellow") for text in _settings(named, planned, scheduling)]
    files = _transcripts(planned)
    if files:
        pieces += [Line(STAYS, "dim"), *(Line(f"  {path}", "dim") for path in files[:SHOWN])]
        if len(files) > SHOWN:
            pieces.append(Line(f"  and {len(files) - SHOWN} more: --json names them all", "dim"))
    return pieces
