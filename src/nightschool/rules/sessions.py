"""How a session ended; and sessions side by side: what a fork copied from another counts there alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum

from nightschool.core.sessions import CallStatus, Session, Speaker, Turn

_UNKNOWN = datetime.max.replace(tzinfo=UTC)


class Ending(StrEnum):
    DONE = "done"
    """The agent came to the end of its reply."""
    INTERRUPTED = "interrupted"
    ABANDONED = "abandoned"
    """The last word is the person's: a request without an answer, or a call that was turned down."""
    FAILING = "failing"
    """The last thing that the agent did failed."""


_ENDED_BY = {
    CallStatus.OK: Ending.DONE,
    CallStatus.REFUSED: Ending.ABANDONED,
    CallStatus.ERROR: Ending.FAILING,
    CallStatus.UNKNOWN: None,
}
"""By the last call."""


def ending(session: Session) -> Ending | None:
    """How it ended, as far as it was read; None where that is not known: a call may still be running."""
    if not session.turns:
        return None
    last = session.turns[-1]
    if last.speaker is Speaker.HUMAN:
        return Ending.ABANDONED
    if last.interrupted:
        return Ending.INTERRUPTED
    return _ENDED_BY[last.calls[-1].status if last.calls else CallStatus.OK]


def without_copies(sessions: Iterable[Session]) -> tuple[Session, ...]:
    """The sessions in the order of their beginning, each without turns and calls of an earlier one.

    A copy keeps the times of its original, so of two that begin alike the one that ended first is it.
    """
    rows: set[tuple[str, str]] = set()
    calls: set[tuple[str, str]] = set()
    kept: list[Session] = []
    for session in sorted(sessions, key=_age):
        own = tuple(
            fresh
            for turn in session.turns
            if (fresh := _fresh(turn, session.source, rows, calls)) is not None
        )
        rows.update((session.source, turn.row) for turn in session.turns)
        calls.update((session.source, call.call_id) for turn in session.turns for call in turn.calls)
        kept.append(session if own == session.turns else replace(session, turns=own))
    return tuple(kept)


def _age(session: Session) -> tuple[datetime, datetime, str]:
    return session.started_at or _UNKNOWN, session.ended_at or _UNKNOWN, session.id


def _fresh(turn: Turn, source: str, rows: set[tuple[str, str]], calls: set[tuple[str, str]]) -> Turn | None:
    """The turn without what is known; None where nothing of it is left."""
    copied = (source, turn.row) in rows
    if turn.speaker is Speaker.HUMAN:
        return None if copied else turn
    left = tuple(call for call in turn.calls if (source, call.call_id) not in calls)
    if copied and not left:
        return None
    return replace(turn, calls=left, spent=None) if copied or len(left) < len(turn.calls) else turn
