"""The time of the machine."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta


class SystemClock:
    """The `Clock` port over the operating system's clocks: the one place that reads the time of day."""

    def now(self) -> datetime:
        return datetime.now(UTC)  # noqa: TID251 - this is the Clock that everything else takes

    def awake(self) -> timedelta:
        # On Linux and macOS this clock does not count the time of a suspended machine.
        return timedelta(seconds=time.monotonic())
