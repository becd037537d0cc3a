"""Which sessions gave no task, and why: `tasks --none`. Relieves `tasks` of what must be mined to be told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nightschool.cli.render import Line, Piece, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nightschool.cli.exits import ExitCode
    from nightschool.cli.output import Output
    from nightschool.core.sessions import Session

    Without = tuple[Session, str, str]


def told(root: str | None, out: Output) -> ExitCode:
    """Each session of the project with each reason, the newest first, as the next run would find it."""
    from nightschool.cli.opening import opening  # noqa: PLC0415 - help needs no store
    from nightschool.core.sessions import Session  # noqa: PLC0415

    # On a copy of the store, as a dry run: what is read and made on the way is thrown away.
    with opening(rehearsal=True, forgiving=True) as parts:
        preparation = parts.preparation(project=root, progress=lambda _words, _done, _total: None)
        skipped = preparation.prepare(parts.harvest_request()).mined.skipped
        sessions = {session.id: session for session in parts.store.find(Session)}
    found = [(sessions[name], code, why) for name, code, why in skipped if name in sessions]
    found.sort(key=_begun, reverse=True)
    rows = [
        {"session": session.id, "began_at": session.started_at, "code": code, "why": why}
        for session, code, why in found
    ]
    return out.result({"project": root, "no_task": rows}, _pieces(found))


def _begun(one: Without) -> tuple[float, str, str]:
    session, code, _ = one
    return session.started_at.timestamp() if session.started_at else 0.0, session.id, code


def _pieces(found: Sequence[Without]) -> list[Piece | str]:
    if not found:
        return ["no session was left without a task"]
    rows = [
        (session.id, f"{session.started_at:%Y-%m-%d}" if session.started_at else None, why)
        for session, _, why in found
    ]
    text = "Other requests of a session may have given tasks. Each row of one: nightschool explain SESSION"
    return [Table(columns=("session", "began", "no task, since"), rows=rows), Line(text, "dim")]
