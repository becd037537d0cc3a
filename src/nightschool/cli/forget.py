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
    from collections.abc import Iterable

    from nightschool.core.forgetting import Thing
    from nightschool.rules.forgetting import Plan
    from nightschool.rules.speaking_of import Chosen
    from nightschool.stages.schedule import Scheduling
    from nightschool.wiring import Parts

What = Annotated[
    str, typer.Argument(metavar="SESSION|PROJECT", help="A session's id, or a project's folder or name.")
]
Ignored = Annotated[bool, typer.Option("--ignored", help="All that your own ignore list names by now.")]
Old = Annotated[bool, typer.Option("--old", help="All that is older than `retention_days` by now.")]
Allow = Annotated[bool, typer.Option("--allow", help="Let it be read again: takes it off the list.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Tell what would go, and change nothing.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]

SHORTEST_PREFIX = 8
STAYS = (
    "What stays of it are figures, digests and what you wrote yourself; the agent's own transcript stays "
    "where it lies, unless you delete it there:"
)
SHOWN = 5
BY_LIST = "what your ignore list names"
BY_AGE = "what is older than retention_days lets it be kept"
LASTING = {
    BY_LIST: "it is not read again while your list names it",
    BY_AGE: "what comes to that age goes by itself from now on",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Named:
    """What the person means."""

    thing: Thing
    name: str
    chosen: Chosen

    @property
    def heading(self) -> str:
        return self.name if self.name in {BY_LIST, BY_AGE} else f"{self.thing}: {self.name}"


def forget(
    what: What = "",
    *,
    allow: Allow = False,
    ignored: Ignored = False,
    old: Old = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    json: Json = False,
) -> ExitCode:
    """Make unread what was read: a session, or all of a project, and whatever was made of it.

    Tells first what goes, and asks. Turns, evidence, tasks, answers of agents, reports and proposals go, of a
    folder with all below it; a rule that you adopted stays in its file until `nightschool undo`, and so do
    your pins and the schedule, each named with its command. It is never read again, unless you say so with
    --allow. With --old what `retention_days` is to take goes, and from then on by itself.

    \b
    Example:
      nightschool forget claude-code:0f3c6a52-7d1e-4a5b-9c1d-2e8f7a6b5c4d
      nightschool forget ~/work/secret --dry-run
      nightschool forget --ignored
    """
    from nightschool.cli.opening import opening  # noqa: PLC0415 - help needs no store

    if ignored + old + bool(what) + allow > 1 + (bool(what) and allow):
        raise UserError("--ignored and --old stand alone: each says what is to be forgotten")
    if not what.strip() and not (ignored or old):
        raise UserError("forget what? An empty name would mean the folder that you stand in")
    out = Output(json=json)
    with opening(fleeting=dry_run, forgiving=True) as parts:
        if allow:
            return _allowed(parts, what, out)
        forgetting = parts.forgetting()
        named = _by_list(parts) if ignored else _by_age(parts) if old else _named(parts, what)
        scheduling = scheduling_here(parts.settings)
        planned = forgetting.planned(named.chosen)
        if dry_run:
            told = [*_told(named, planned, scheduling, "would go"), "nothing was changed"]
            return out.result(_document(named, planned, scheduling, done=False), told)
        if not yes:
            out.note(*_told(named, planned, scheduling, "will go"))
            out.confirm(
                f"Forget {named.heading}?",
                otherwise="pass --yes to forget without being asked.",
            )
        with parts.store.hold("cycle"):
            forgetting.settle()
            if named.thing == "project":
                scheduling.forget(named.name)
            # What a setting names is kept from being read by it, as long as it is there.
            done = forgetting.forget(named.chosen, for_good=not (ignored or old))
            if old and parts.settings.retention_days is not None:
                forgetting.agree(parts.settings.retention_days)
    lasting = LASTING.get(
        named.name, f"it is not read again, unless: nightschool forget {shlex.quote(named.name)} --allow"
    )
    told = [*_told(named, done, scheduling, "went"), lasting]
    return out.result(_document(named, done, scheduling, done=True), told)


def _by_list(parts: Parts) -> _Named:
    """What the person's own list names of what is stored. What a project's own file names stays hidden."""
    from nightschool.core.forgetting import Thing  # noqa: PLC0415
    from nightschool.rules.speaking_of import Chosen  # noqa: PLC0415

    sessions = parts.forgetting().listed(parts.ignoring(), by_person=True)
    return _Named(thing=Thing.SESSION, name=BY_LIST, chosen=Chosen(sessions=sessions))


def _by_age(parts: Parts) -> _Named:
    """What the person's `retention_days` is to take."""
    from nightschool.core.forgetting import Thing  # noqa: PLC0415

    days = parts.settings.retention_days
    if days is None:
        raise UserError("--old: retention_days is not set, so nothing is too old to be kept")
    chosen = parts.forgetting().past_keeping(parts.ignoring())
    return _Named(thing=Thing.SESSION, name=BY_AGE, chosen=chosen)


def _named(parts: Parts, what: str) -> _Named:
    from nightschool.core.forgetting import Forgotten, Thing, trace_of  # noqa: PLC0415
    from nightschool.core.sessions import Session  # noqa: PLC0415
    from nightschool.plug_ins import known  # noqa: PLC0415
    from nightschool.rules.speaking_of import Chosen  # noqa: PLC0415
    from nightschool.stages.veil import unveiled  # noqa: PLC0415

    def one(session: str) -> _Named:
        return _Named(thing=Thing.SESSION, name=session, chosen=Chosen(sessions=frozenset({session})))

    sessions = unveiled(parts.store).find(Session)
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
    """The root of the project that is meant: a folder that is there or was, or the name of a known one. The
    name of a known project is never taken for a folder that happens to lie here."""
    from nightschool.core.forgetting import Forgotten, Thing, is_inside, trace_of  # noqa: PLC0415
    from nightschool.core.tasks import Task  # noqa: PLC0415
    from nightschool.stages.veil import unveiled  # noqa: PLC0415

    roots = {
        parts.projects.root(folder)
        for folder in (*folders, *(t.project for t in unveiled(parts.store).find(Task)))
    }
    path = Path(os.path.normpath(typed(Path(what))))
    here = parts.projects.root(str(path))
    bare = os.sep not in what and what not in {".", "..", "~"}
    if bare:
        known = _of_name(what, roots)
        if len(known) > 1:
            listed = ", ".join(known)
            raise UserError(f"{what!r} is the name of several projects: {listed}; name the folder of one")
        if known:
            return known[0]
    places = {*roots, *folders}
    if any(is_inside(here, place) for place in places) or (here in roots and path.is_dir()):
        return here
    if bare:
        _refuse_part(what, folders, parts)
    trace = f"{Thing.PROJECT}.{trace_of(Thing.PROJECT, here)}"
    if parts.store.get(Forgotten, trace) is not None:
        return here
    if not path.is_dir():
        return None
    if bare:
        raise UserError(
            f"no project {what!r} is known, and nothing of the folder {here} is stored; to have it never "
            f"read, name it in full: nightschool forget {shlex.quote(here)}"
        )
    return here


def _of_name(what: str, roots: Iterable[str]) -> list[str]:
    """The known projects of a name; where there is none, the folders of that name that hold known ones."""
    from nightschool.core.forgetting import folders_of  # noqa: PLC0415

    found = {root for root in roots if Path(root).name == what}
    return sorted(
        found or {above for root in roots for above in folders_of(root) if Path(above).name == what}
    )


def _refuse_part(what: str, folders: Iterable[str], parts: Parts) -> None:
    """A folder in a project is not forgotten by its name alone: the whole project would go."""
    inside = {folder: parts.projects.root(folder) for folder in folders}
    wanted = sorted(root for folder, root in inside.items() if folder != root and Path(folder).name == what)
    if wanted:
        raise UserError(
            f"{what!r} is a folder in the project {wanted[0]}, and a project is forgotten as a whole: "
            f"nightschool forget {shlex.quote(Path(wanted[0]).name)}"
        )


def _allowed(parts: Parts, what: str, out: Output) -> ExitCode:
    """By the name that it was forgotten by, or by that of its folder: what it was is not stored any more."""
    forgetting = parts.forgetting()
    try:
        named = _named(parts, what)
    except UserError:
        if not forgetting.allow_by_name(what):
            raise
        thing, name, was = "project", what, True
    else:
        thing, name = named.thing, named.name
        was = forgetting.allow(named.thing, named.name) or forgetting.allow_by_name(what)
    above = None if was else forgetting.forgotten_above(name)
    if above is not None:
        raise UserError(
            f"{name} was forgotten with {above}, and only that whole folder is let in again: "
            f"nightschool forget {shlex.quote(above)} --allow"
        )
    document = {"thing": thing, "name": name, "allowed": True, "was_forgotten": was}
    told = "may be read again; the next harvest does" if was else "was not forgotten; nothing was changed"
    return out.result(document, [f"the {thing} {name} {told}"])


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
    return bool(_starts(named, scheduling))


def _starts(named: _Named, scheduling: Scheduling) -> list[str]:
    """The projects that are started by themselves, of what is forgotten."""
    from nightschool.core.forgetting import is_inside  # noqa: PLC0415

    plan = scheduling.memory.plan()
    return [] if plan is None else [root for root in plan.projects if is_inside(named.name, root)]


def _settings(named: _Named, planned: Plan, scheduling: Scheduling) -> list[str]:
    """What names the project and stays, since the person set it; with what takes it away."""
    told = [
        f"the pin of {pin.path} stays, a setting of yours: nightschool unpin {shlex.quote(pin.path)}, and "
        "then forget once more, take that name away too"
        for pin in planned.pins
    ]
    for root in _starts(named, scheduling):
        way = f"nightschool schedule remove --project {shlex.quote(root)}"
        told.append(f"its scheduled runs stay, a setting of yours, and find nothing to read: {way}")
    return told


def _told(named: _Named, planned: Plan, scheduling: Scheduling, heading: str) -> list[Piece | str]:
    from nightschool.stages.forget import standing  # noqa: PLC0415

    rows = [(what, number) for what, number in planned.counts.items() if number]
    pieces: list[Piece | str] = [named.heading]
    if rows:
        pieces.append(Table(columns=(heading, "how many"), rows=rows))
    else:
        pieces.append("nothing of it is stored, so nothing goes; it is only kept from being read")
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
