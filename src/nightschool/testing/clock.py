"""A clock that tests set: the same times in every run."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta


class FakeClock:
    """Gives `start`, then `start + step`, and so on: no two readings are alike unless `step` is zero."""

    def __init__(
        self, start: datetime = datetime(2025, 3, 1, 2, 0, tzinfo=UTC), step: timedelta = timedelta(seconds=1)
    ) -> None:
        if start.utcoffset() is None:
            raise ValueError("a clock's times are aware")
        self._guard = threading.Lock()
        self._next = start.astimezone(UTC)
        self._step = step
        self._awake = timedelta(0)

    def now(self) -> datetime:
        with self._guard:
            now = self._next
            self._next = now + self._step
            self._awake += self._step
        return now

    def awake(self) -> timedelta:
        with self._guard:
            return self._awake

    def advance(self, by: timedelta) -> None:
        """Let time pass without a reading."""
        with self._guard:
            self._next += by
            self._awake += by

    def jump(self, by: timedelta) -> None:
        """Let the machine sleep so long, or somebody set its clock."""
        with self._guard:
            self._next += by
