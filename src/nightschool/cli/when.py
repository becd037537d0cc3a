"""Points in time as a person types them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from nightschool.core.errors import UserError

if TYPE_CHECKING:
    from nightschool.core.sessions import Session

UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
SPAN = re.compile(r"([0-9]{1,5})([hdw])")
FORMS = "a span back from now (36h, 7d, 2w), a date (2026-11-02) or a time (2026-11-02T08:00+01:00)"


def within(session: Session, begins: datetime | None) -> bool:
    """Whether a session goes on after that time. Of one that tells no time nobody knows that it is older."""
    last = session.ended_at or session.started_at
    return begins is None or last is None or last >= begins


def moment(text: str | None, now: datetime) -> datetime | None:
    """The time, aware, in UTC; None where nothing was typed."""
    if text is None:
        return None
    try:
        span = SPAN.fullmatch(text.strip().lower())
        if span is not None:
            return now - int(span[1]) * UNITS[span[2]]
        return datetime.fromisoformat(text.strip()).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        raise UserError(f"--since {text!r} is no time: write {FORMS}") from None
