"""How a file that was read is known again. Relieves `sessions`, which says what a cursor holds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def of_part(source: str, path: str, part: str = "") -> str:
    """The id of the cursor of a file, or of a part of it."""
    return f"{source}:{path}#{part}" if part else f"{source}:{path}"


def stamp_of(size: int, microseconds: int) -> str:
    """A file that has the same one did not change. The time is told since 1970."""
    return f"{size} {microseconds}"


def since_1970(moment: datetime) -> int:
    """In microseconds."""
    return (moment - _BEGINNING) // _MICROSECOND
