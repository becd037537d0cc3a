"""`nightschool corrections`: what a person keeps telling their agents."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from nightschool.cli.exits import ExitCode
from nightschool.cli.options import Json
from nightschool.cli.output import Output
from nightschool.cli.reading import (
    Every,
    Only,
    Since,
    Source,
    only,
    reading,
    run_for,
    where,
    while_busy,
)
from nightschool.cli.render import Line, Piece, Table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from nightschool.core.sessions import Session
    from nightschool.core.tasks import Correction
    from nightschool.stages.harvest import HarvestReport
    from nightschool.wiring import Parts

PROJECTS_SHOWN = 4
NEW_SHOWN = 12
UNTRIED_SHOWN = 6
ONCE_SHOWN = 10
"""Of what was told once, the latest are shown."""


def corrections(
    *,
    since: Since = None,
    source: Source = None,
    project: Only = None,
    all_projects: Every = False,
    json: Json = False,
) -> ExitCode:
    """See what you keep telling your agents: how often, where, when last, in which agents.

    Reads the sessions of all your agents where they lie, and remembers how far it read, so that the next
    time is quick. No model is called, nothing leaves this machine and no file of yours changes. What
    is older than `retention_days` is forgotten first, and what an ignore list names is hidden; both are told.

    \b
    Example:
      nightschool corrections
      nightschool corrections --since 30d --source codex --json
      nightschool corrections --project ~/shop
    """
    from nightschool.cli.idle_entries import idle_entries  # noqa: PLC0415 - help needs no rules
    from nightschool.cli.when import moment  # noqa: PLC0415
    from nightschool.rules.corrections import corrections as heard_in  # noqa: PLC0415
    from nightschool.rules.telling import BY_YOUR_WORD  # noqa: PLC0415

    out, roots = Output(json=json), only(project, every=all_projects)
    with reading(source) as parts:
        begins = moment(since, parts.clock.now())
        forgotten = parts.forget_due()
        report = while_busy(lambda: _read(parts, out), out)
        sessions = [
            session for session in _sessions(parts, begins) if roots is None or session.project in roots
        ]
        heard = heard_in(sessions, parts.words())
        if begins is None and source is None and roots is None:
            parts.store.commit(*heard)
        idle = idle_entries(parts)
        looked = [folder for reader in parts.sources().values() for folder in reader.folders(parts.roots())]
        names = parts.settings.sources
    document = {
        "corrections": [_row(item) for item in heard],
        "sessions": len(sessions),
        "human_turns": sum(len(session.human_turns) for session in sessions),
        "looked_at": looked,
        "left_out": dict(report.counts),
        "forgotten": forgotten,
        "idle_entries": idle,
    }
    told = [*forgotten, *_by_your_word(report), *idle, *_new(report, sessions)]
    kept_out = {reason for reason, _ in report.counts} & set(BY_YOUR_WORD)
    if not sessions and kept_out and roots is None:
        return out.result(document, [*told, *_nothing_left(kept_out, parts.settings.retention_days)])
    return out.result(document, [*told, *_pieces(heard, sessions, looked, names, roots)])


def _read(parts: Parts, out: Output) -> HarvestReport:
    from nightschool.cli.harvested import Reading  # noqa: PLC0415 - help needs no stage
    from nightschool.stages.harvest import harvest  # noqa: PLC0415

    request = parts.harvest_request(everything=True)
    with out.progress("reading") as steps:
        return harvest(
            request,
            sources=parts.sources(),
            store=parts.store,
            clock=parts.clock,
            progress=Reading(steps).at,
        )


def _by_your_word(report: HarvestReport) -> list[str]:
    """What was left out because the person or a project said so: else a list would look complete."""
    from nightschool.rules.telling import BY_YOUR_WORD, left_out  # noqa: PLC0415 - help needs no rules

    return [left_out(count, reason) for reason, count in report.counts if reason in BY_YOUR_WORD]


def _new(report: HarvestReport, sessions: Sequence[Session]) -> list[str]:
    """The projects that nothing was known of before, and how to keep one out of it: who sees a name here
    that is nobody's business should not have to look for the way."""
    from nightschool.settings import own_file  # noqa: PLC0415 - help needs no settings

    fresh = set(report.fresh)
    known = {session.project for session in sessions if session.id not in fresh}
    new = sorted({one.project for one in sessions if one.project and one.id in fresh} - known)
    if not new:
        return []
    return [
        f"newly read: {_named(new, NEW_SHOWN)}",
        "to leave one out: nightschool forget PROJECT  (takes it out again, and it is not read any more; one "
        f"that is not to be read at all goes on the ignore list in {own_file(os.environ)})",
    ]


def _nothing_left(reasons: set[str], days: int | None) -> list[str]:
    """Sessions lie where they were looked for, and the person's own word keeps all of them out."""
    ways = {
        "too-old": f"older than retention_days = {days} lets them be kept: raise it, or take it away",
        "ignored": "named by an ignore list: take off it what is to be read",
        "forgotten": "forgotten: nightschool forget NAME --allow lets one be read again",
    }
    told = (f"  {text}" for reason, text in ways.items() if reason in reasons)
    return ["Sessions lie there, and none of them is left to be read, by your word:", *told]


def _sessions(parts: Parts, begins: datetime | None) -> list[Session]:
    """What is known of the chosen agents, with the root of its project as its project."""
    from dataclasses import replace  # noqa: PLC0415

    from nightschool.cli.when import within  # noqa: PLC0415
    from nightschool.core.sessions import Session  # noqa: PLC0415

    roots: dict[str, str] = {}
    found = []
    for session in parts.store.find(Session):
        if session.source not in parts.settings.sources or not within(session, begins):
            continue
        if session.project is not None:
            if session.project not in roots:
                roots[session.project] = parts.projects.root(session.project)
            session = replace(session, project=roots[session.project])  # noqa: PLW2901 - the same session, under its root
        found.append(session)
    return found


def _row(item: Correction) -> dict[str, object]:
    from nightschool.rules.worth import has_form, why_no_form  # noqa: PLC0415

    return {
        "id": item.id,
        "statement": item.statement,
        "wanted": item.wanted,
        "unwanted": item.unwanted,
        "sessions": len(item.sessions),
        "session_ids": item.sessions,
        "projects": item.projects,
        "sources": item.sources,
        "last_at": item.last_at,
        "cannot_be_tried": None if has_form(item) else why_no_form(item),
        "moments": item.moments,
    }


def _pieces(
    heard: Sequence[Correction],
    sessions: Sequence[Session],
    looked: list[Path],
    sources: Sequence[str],
    roots: frozenset[str] | None,
) -> list[Piece | str]:
    from nightschool.rules.telling import counted  # noqa: PLC0415

    if not sessions:
        return [
            f"No session{'' if roots is None else f' of {where(roots)}'} was found. Looked in:",
            *(f"  {folder}{'' if folder.is_dir() else ' (not there)'}" for folder in looked),
            "If yours lie elsewhere, name the agent and the folder, then this again:",
            *(f"  nightschool harvest --source {name} --root DIR" for name in sources),
            "next: nightschool demo  (the whole loop on recorded sessions, in seconds)",
        ]
    agents = ", ".join(sorted({session.source for session in sessions}))
    turns = sum(len(session.human_turns) for session in sessions)
    read = f"{counted(len(sessions), 'session')} of {agents}, {counted(turns, 'human turn')}"
    if not heard:
        return [
            f"Read {read}: no correction was heard in them.",
            *(f"  looked in {folder}" for folder in looked),
            "That is fine. Work on, and look again when your agents got something wrong a few times.",
            "next: nightschool demo",
        ]
    often = [item for item in heard if item.recurs]
    once = sorted((item for item in heard if not item.recurs), key=_when, reverse=True)
    pieces: list[Piece | str] = [f"{read}, {where(roots)}"]
    if often:
        pieces += ["", _table(often, "What you keep telling your agents"), *_untried(often)]
    else:
        pieces.append("Nothing was said in more than one session so far.")
    if once:
        pieces += ["", _table(once[:ONCE_SHOWN], "Said once so far: perhaps meant for that moment only")]
    if len(once) > ONCE_SHOWN:
        pieces.append(Line(f"{len(once) - ONCE_SHOWN} more, older: --json has them all", "dim"))
    run = run_for(_where_said(often or heard, sessions))
    return [*pieces, "", f"next: {run} --dry-run  (what your agent would practise)"]


def _where_said(heard: Sequence[Correction], sessions: Sequence[Session]) -> list[str]:
    """The project of each session in which something was said that can be practised, or where nothing can,
    that was said at all: the project with most of them has most to learn."""
    from nightschool.rules.worth import has_form  # noqa: PLC0415

    projects = {session.id: session.project for session in sessions}
    tried = [item for item in heard if has_form(item)] or heard
    found = {session for item in tried for session in item.sessions}
    return [project for session in found if (project := projects.get(session)) is not None]


def _untried(often: Sequence[Correction]) -> list[Piece | str]:
    """Of those that no task could be made of, why."""
    from nightschool.rules.worth import HOW, has_form, why_no_form  # noqa: PLC0415

    loose = [item for item in often if not has_form(item)]
    more = len(loose) - UNTRIED_SHOWN
    return [
        *(Line(f'not tried: "{one.statement}": {why_no_form(one)}', "dim") for one in loose[:UNTRIED_SHOWN]),
        *([Line(f"{more} more are not tried: --json says why of each", "dim")] if more > 0 else []),
        *([Line(HOW, "dim")] if loose else []),
    ]


def _when(item: Correction) -> float:
    return item.last_at.timestamp() if item.last_at else 0.0


def _named(projects: Sequence[str], shown: int = PROJECTS_SHOWN) -> str | None:
    """The first projects by the names of their folders, and how many more there are."""
    names = [Path(project).name or project for project in projects]
    more = [f"and {len(names) - shown} more"] if len(names) > shown else []
    return ", ".join([*names[:shown], *more]) or None


def _table(items: Sequence[Correction], title: str) -> Table:
    return Table(
        columns=("sessions", "last", "what you said", "projects", "agents"),
        rows=[
            (
                len(item.sessions),
                f"{item.last_at:%Y-%m-%d}" if item.last_at else None,
                item.statement,
                _named(item.projects),
                ", ".join(item.sources),
            )
            for item in items
        ],
        title=title,
        minor=("projects", "agents"),
    )
