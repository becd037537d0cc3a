"""What Copilot CLI keeps of its sessions in `session-store.db`: what was said, as events without calls.

Relieves the transcripts of a second way to the same rows. Where a session's own events are there too, they
say more, and the database is not asked.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from nightschool.adapters.databases import database
from nightschool.adapters.listing import is_name
from nightschool.core.sessions import in_text

DATABASE = "session-store.db"
STATES, EVENTS = "session-state", "events.jsonl"
STORED = "$stored"


class Stored(NamedTuple):
    """A session as a cheap look shows it."""

    own: str
    turns: int
    changed: datetime | None


def sessions(path: str) -> list[Stored]:
    """Those whose events are not there. Raises `Unreadable`."""
    asked = "select s.id, s.updated_at, count(t.session_id) as turns from sessions s "
    joined = "left join turns t on t.session_id = s.id group by s.id order by s.id"
    with database(path) as connection:
        found = [
            Stored(str(row["id"]), row["turns"], moment_of(row["updated_at"]))
            for row in connection.execute(asked + joined)
        ]
    states = os.path.join(os.path.dirname(path), STATES)  # noqa: PTH118, PTH120 - texts, as paths of refs are
    return [one for one in found if not _has_events(states, one.own)]


def rows_of(path: str, session: str) -> list[dict[str, Any]]:
    """A session's beginning and its turns, as the events that would tell them. Raises `Unreadable`."""
    with database(path) as connection:
        head = connection.execute("select * from sessions where id = ?", (session,)).fetchone()
        if head is None:
            return []
        told = {key: head[key] for key in head.keys()}  # noqa: SIM118 - a Row is no mapping
        turns = connection.execute(
            "select turn_index, user_message, assistant_response, timestamp from turns "
            "where session_id = ? order by turn_index",
            (session,),
        )
        context = {"cwd": told.get("cwd"), "branch": told.get("branch")}
        begins = {"sessionId": in_text(session), "context": context}
        rows = [_event("session.start", f"{session}.start", told.get("created_at"), begins)]
        for number, turn in enumerate(turns):
            rows += _turn(f"{session}.{number}", turn)
        return rows


def _turn(own: str, turn: Any) -> Iterator[dict[str, Any]]:
    at = turn["timestamp"]
    yield _event("user.message", own, at, {"content": turn["user_message"]})
    if turn["assistant_response"]:
        yield _event("assistant.message", f"{own}.reply", at, {"content": turn["assistant_response"]})


def _event(kind: str, own: str, at: object, told: dict[str, Any]) -> dict[str, Any]:
    when = moment_of(at)
    stamp = None if when is None else when.isoformat()
    return {"type": kind, "id": own, "timestamp": stamp, "data": told, STORED: True}


def moment_of(stamp: object) -> datetime | None:
    """A time in the database. Where SQLite wrote it, it names no zone and is in UTC."""
    if not isinstance(stamp, str):
        return None
    try:
        found = datetime.fromisoformat(stamp)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _has_events(states: str, own: str) -> bool:
    """Whether a session has a transcript of its own. Its id comes out of a file and names one here."""
    if not is_name(own):
        return False
    places = (os.path.join(states, own, EVENTS), os.path.join(states, f"{own}.jsonl"))  # noqa: PTH118 - texts
    return any(map(os.path.lexists, places))
