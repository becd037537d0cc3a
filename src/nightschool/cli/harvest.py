"""`nightschool harvest`: what the transcripts hold."""

from __future__ import annotations

import os
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nightschool.cli.exits import ExitCode
from nightschool.cli.harvested import Reading, Stream, summary
from nightschool.cli.options import Json
from nightschool.cli.output import Output
from nightschool.cli.reading import Since, Source, reading, typed, while_busy
from nightschool.cli.render import Line, Piece, Table
from nightschool.core.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime

    from nightschool.core.sessions import Session
    from nightschool.rules.words import Words
    from nightschool.stages.harvest import HarvestReport, HarvestRequest
    from nightschool.stages.told import Step
    from nightschool.wiring import Parts

Paths = Annotated[
    list[Path] | None,
    typer.Argument(metavar="PATH", help="Transcript files or folders, whatever their names."),
]
Root = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Where that agent's sessions lie, if not in its usual place."),
]
Everything = Annotated[
    bool, typer.Option("--all", help="All that there is and was, however old, known or new.")
]
MEANT = frozenset({"sub-agent", "own-replay", "ignored", "forgotten", "too-old"})
"""Reasons to leave out a file with which nothing is wrong."""
NAMED = 10
"""Files that are named with what is wrong with them."""
DryRun = Annotated[bool, typer.Option("--dry-run", help="Read without storing anything.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before much is stored from a folder.")]
Lines = Annotated[
    bool,
    typer.Option("--stream", help="Print each session as it is read: JSON, one on a line, with its turns."),
]
DEEPEST = 5
"""Below an agent's own folder no session lies deeper."""
MANY = 500
SHOWN = 5
STOPPED = (
    "stopped: the sessions that were read so far are kept, and the next time goes on behind them "
    "(nightschool forget FOLDER makes those of a folder unread)"
)


def harvest(  # noqa: PLR0913 - one parameter an option
    paths: Paths = None,
    *,
    source: Source = None,
    root: Root = None,
    since: Since = None,
    everything: Everything = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    json: Json = False,
    stream: Lines = False,
) -> ExitCode:
    """Read sessions, and tell what each holds: turns, tool calls, errors, refusals, corrections.

    Without a path, what is new where your agents keep their sessions (docs/agents.md): 72 hours back, and
    further until there is enough to learn from. With --since, --all or paths, every session in
    them, those too that were read before; the agent of a path is recognised by content unless --source says
    it. No model is called and no file of yours changes.

    With --stream what is left out stands in the line of its session, or in a line with no id. A session that
    lies in several files comes again with more of it: its last line counts.

    \b
    Example:
      nightschool harvest --since 7d
      nightschool harvest session.jsonl --dry-run --json
      nightschool harvest --all --stream | jq -c 'select(.id) | [.id, (.signals | length)]'
    """
    from nightschool.cli.when import moment, within  # noqa: PLC0415 - help needs no store

    out, named = Output(json=json or stream, stream=stream), _named(paths, root)
    with reading(source, fleeting=dry_run) as parts:
        begins, rooted, words = moment(since, parts.clock.now()), cache(parts.projects.root), parts.words()
        explicit = named if begins is None else _changed(parts, named, begins)
        if named and not explicit:
            return _nothing(out, f"nothing in {named[0]} changed since {since}")
        if not (dry_run or yes):
            _ask_about_strange(parts, explicit, out)
        forgotten = () if dry_run else parts.forget_due()
        request = parts.harvest_request(
            explicit=explicit,
            since=begins,
            everything=everything,
            recognise=len(source or ()) != 1,
            dry_run=dry_run,
        )
        lines = Stream(out, lambda one: _plain_row(one, rooted), lambda one: within(one, begins), words)
        report = while_busy(lambda: _read(parts, request, out, lines if stream else None), out)
        every = bool(everything or begins) and not named
        if stream:
            out.note(*forgotten)
            lines.rest(_one_by_one(parts) if every else report.sessions, report.left_out)
            return ExitCode.DONE
        # Where there is nothing to tell of, nothing is compared: ten thousand sessions take a second.
        known = _known(parts, report) if every or report.sessions else []
        listed = [session for session in (known if every else report.sessions) if within(session, begins)]
        rows = _rows(listed, known, rooted, words)
    told = _document(report, rows, forgotten)
    return out.result(told, [*forgotten, *_pieces(report, rows, told["new"], dry_run=dry_run)])


def _nothing(out: Output, why: str) -> ExitCode:
    if out.stream:
        return ExitCode.DONE
    return out.result({"sessions": [], "new": [], "left_out": [], "forgotten": (), "postponed": 0}, [why])


def _document(
    report: HarvestReport, rows: Sequence[dict[str, object]], forgotten: Sequence[str]
) -> dict[str, Any]:
    return {
        "sessions": rows,
        "new": [row["id"] for row in rows if row["id"] in report.fresh],
        "left_out": report.left_out,
        "forgotten": forgotten,
        "postponed": report.postponed,
    }


def _read(parts: Parts, request: HarvestRequest, out: Output, lines: Stream | None) -> HarvestReport:
    from nightschool.cli.idle_entries import idle_entries  # noqa: PLC0415
    from nightschool.rules.corrections import enough  # noqa: PLC0415
    from nightschool.stages.harvest import harvest as read  # noqa: PLC0415

    try:
        with out.progress("reading") as steps:
            meter = Reading(steps)

            def progress(step: Step) -> None:
                meter.at(step)
                if lines is not None:
                    lines.at(step)

            report = read(
                request,
                sources=parts.sources(),
                store=parts.store,
                clock=parts.clock,
                enough=enough,
                progress=progress,
            )
    except KeyboardInterrupt:
        if not request.dry_run:
            out.note(STOPPED)
        raise
    out.note(*idle_entries(parts))
    return report


def _named(paths: Sequence[Path] | None, root: Path | None) -> tuple[str, ...]:
    """What the person pointed at, absolute; all of it must be there."""
    if paths and root is not None:
        raise UserError("--root and PATH exclude each other: name the folder once")
    given = paths or ((root,) if root else ())
    # Not resolved: a link that leads nowhere is to be told as such.
    named = tuple(Path(os.path.normpath(typed(path))) for path in given)
    missing = next((path for path in named if not os.path.lexists(path)), None)
    if missing is not None:
        raise UserError(f"there is no {missing}: name a transcript file or a folder that holds some")
    if root is not None and not named[0].is_dir():
        raise UserError(f"--root {named[0]} is no folder: a single file is named without --root")
    return tuple(str(path) for path in named)


def _ask_about_strange(parts: Parts, named: Sequence[str], out: Output) -> None:
    """Before sessions of a folder are stored that is none of an agent: one typed wrongly may hold those of
    many people, or of another program's tests."""
    folders = [folder for folder in named if os.path.isdir(folder)]  # noqa: PTH112 - as it was typed
    if not folders:
        return
    places: set[str] = set()
    with out.progress("looking for sessions") as steps:
        for source in parts.sources().values():
            for looked, ref in enumerate(source.discover(parts.roots(tuple(folders))), start=1):
                steps.at(looked)
                if source.recognises(ref):
                    places.add(ref.path)
    homes = Counter(home for path in places if (home := _strange(path, folders)) is not None)
    if not homes and len(places) <= MANY:
        return
    found = ", ".join(f"{home} ({count})" for home, count in homes.most_common(SHOWN))
    more = f", and in {len(homes) - SHOWN} other folders" if len(homes) > SHOWN else ""
    out.note(
        f"{', '.join(folders)}: {len(places)} files that look like sessions"
        + (f", deeper than an agent keeps its own: {found}{more}" if homes else "")
    )
    out.confirm("Store what they hold?", otherwise="name the folder of one agent's sessions, or pass --yes.")


def _strange(path: str, folders: Sequence[str]) -> str | None:
    """The folder directly below a named one that a file lies far below, or in a hidden folder; None where it
    lies as an agent lays it."""
    for folder in folders:
        below = path.removeprefix(folder.rstrip("/") + "/")
        parts = below.split("/")
        hidden = any(part.startswith(".") for part in parts[:-1])
        if below != path and (hidden or len(parts) > DEEPEST):
            return f"{folder.rstrip('/')}/{parts[0]}"
    return None


def _changed(parts: Parts, named: tuple[str, ...], begins: datetime) -> tuple[str, ...]:
    """The files below the named places that changed since."""
    if not named:
        return ()
    refs = [ref for source in parts.sources().values() for ref in source.discover(parts.roots(named))]
    return tuple(sorted({ref.path for ref in refs if ref.mtime >= begins}))


def _known(parts: Parts, report: HarvestReport) -> list[Session]:
    """All sessions of the chosen agents, those of a dry run too. Among them a row that forks and resumed
    copies share counts once."""
    from nightschool.core.sessions import Session  # noqa: PLC0415
    from nightschool.stages.harvest import in_order  # noqa: PLC0415

    stored = {one.id: one for one in parts.store.find(Session) if one.source in parts.settings.sources}
    return in_order({**stored, **{one.id: one for one in report.sessions}}.values())


def _one_by_one(parts: Parts) -> Iterator[Session]:
    """All sessions of the chosen agents, never those of two projects at once."""
    from nightschool.core.sessions import Session  # noqa: PLC0415

    for project in parts.store.owners(Session):
        stored = parts.store.find(Session, project)
        yield from (session for session in stored if session.source in parts.settings.sources)


def _rows(
    listed: Sequence[Session], known: Sequence[Session], root: Callable[[str], str], words: Words
) -> list[dict[str, object]]:
    from nightschool.rules.corrections import own_turns  # noqa: PLC0415
    from nightschool.rules.sessions import without_copies  # noqa: PLC0415

    ids = {session.id for session in listed}
    corrected = {
        session.id: _corrected(session, fresh, words)
        for session, fresh in own_turns(known)
        if session.id in ids
    }
    counted = {session.id: session for session in without_copies(known) if session.id in ids}
    return [
        {**_plain_row(counted[session.id], root), "corrections": corrected.get(session.id, 0)}
        for session in listed
    ]


def _corrected(session: Session, fresh: frozenset[int], words: Words) -> int:
    from nightschool.core.signals import SignalKind  # noqa: PLC0415
    from nightschool.rules.signals import signals  # noqa: PLC0415

    given = signals(session, words)
    return sum(found.kind is SignalKind.CORRECTION and found.turn in fresh for found in given)


def _plain_row(session: Session, root: Callable[[str], str]) -> dict[str, object]:
    """What a session says of itself alone."""
    from nightschool.rules.sessions import ending  # noqa: PLC0415

    return {
        "id": session.id,
        "source": session.source,
        "agent_version": session.agent_version,
        "project": session.project,
        "root": root(session.project) if session.project else None,
        "started_at": session.started_at,
        "ended_at": session.ended_at,
        "human_turns": len(session.human_turns),
        "tool_calls": len(session.calls),
        "tool_errors": session.tool_errors,
        "refusals": session.refusals,
        "ending": ending(session),
        "tokens_in": session.spent and session.spent.input,
        "tokens_out": session.spent and session.spent.output,
        "cost": session.spent and session.spent.cost,
        "warnings": session.warnings,
    }


def _pieces(
    report: HarvestReport, rows: list[dict[str, object]], new: list[str], *, dry_run: bool
) -> list[Piece | str]:
    from nightschool.rules.telling import counted, left_out  # noqa: PLC0415

    pieces: list[Piece | str] = [_table(rows, new)] if rows else []
    pieces += [Line(), summary(rows, new, _name), Line()] if len(rows) > 1 else []
    files = f"{counted(report.files, 'file')} read"
    if report.unchanged:
        files += f", {report.unchanged} unchanged since they were read before"
    told = f"{counted(len(rows), 'session')}, {len(new)} with something new" if rows else "no session"
    if not rows and report.unchanged:
        told = "nothing new (what is known: --all)"
    pieces.append(f"{told}; {files}" + ("; nothing stored" if dry_run else ""))
    pieces += [Line(f"warning: {row['id']}: {text}", "yellow") for row in rows for text in _warnings(row)]
    pieces += [left_out(count, reason) for reason, count in report.counts]
    pieces += _troubles(report, rows)
    if report.postponed:
        pieces.append(f"{counted(report.postponed, 'file')} left for later; --all reads all that there is")
    pieces.append("next: nightschool corrections")
    return pieces


def _table(rows: list[dict[str, object]], new: list[str]) -> Table:
    heads = ("last", "turns", "calls", "errors", "refused", "corrected", "new", "project", "session")
    columns = ("human_turns", "tool_calls", "tool_errors", "refusals", "corrections")
    cells = [
        (_day(row), *(row[name] for name in columns), row["id"] in new, _name(row), row["id"]) for row in rows
    ]
    return Table(columns=heads, rows=cells)


def _name(row: dict[str, object]) -> str | None:
    """The project's name, as every list has it, with the folder in it where that is another."""
    folder, root = str(row["project"] or ""), str(row["root"] or "")
    if not folder:
        return None
    below = folder.removeprefix(root) if folder.startswith(f"{root}/") else ""
    return (Path(root).name or root) + below


def _day(row: dict[str, object]) -> str | None:
    last = row["ended_at"] or row["started_at"]
    return f"{last:%Y-%m-%d}" if last else None


def _troubles(report: HarvestReport, rows: list[dict[str, object]]) -> list[str]:
    """The files with which something is wrong, by name."""
    from nightschool.rules.telling import why_left_out  # noqa: PLC0415

    troubles = [
        out for out in report.left_out if out.offset is None and (out.reason not in MEANT or not rows)
    ]
    lines = [f"  {out.path}: {why_left_out(out.reason, out.detail)}" for out in troubles[:NAMED]]
    more = len(troubles) - NAMED
    return [*lines, f"  and {more} more: --json names them all"] if more > 0 else lines


def _warnings(row: dict[str, object]) -> tuple[str, ...]:
    found = row["warnings"]
    return tuple(map(str, found)) if isinstance(found, tuple) else ()
