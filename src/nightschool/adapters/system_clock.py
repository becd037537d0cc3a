"""The time of the machine."""

from __future__ import annotations

from datetime import UTC, datetime


class SystemClock:
    """The `Clock` port over the operating system's clock: the one place that reads it."""

    def now(self) -> datetime:
        return datetime.now(UTC)  # noqa: TID251 - this is the Clock that everything else takes
