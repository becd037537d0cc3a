"""Sessions side by side: what a fork or a resume copied from another session counts there alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

from nightschool.core.sessions import Session, Speaker, Turn

_UNKNOWN = datetime.max.replace(tzinfo=UTC)


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
    return turn if len(left) == len(turn.calls) else replace(turn, calls=left)
