"""What starts by itself: at which time of the day, which projects, with which command and environment."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol, Self

from nightschool.core.errors import UserError
from nightschool.core.values import Value

CLOCK = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])")
ENDS_A_LINE = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Control signs, half signs and separators of lines and paragraphs, by their category."""
ENDED_WELL = frozenset({0, 3})
"""Exit codes of a run that came to its end: something passed, or nothing did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeOfDay(Value):
    """A time on the clock of this machine, whatever its zone."""

    hour: int
    minute: int

    @classmethod
    def typed(cls, text: str) -> Self:
        found = CLOCK.fullmatch(text.strip())
        if found is None:
            raise UserError(f"--at {text!r} is no time of the day: write it as 03:17, from 00:00 to 23:59")
        return cls(hour=int(found[1]), minute=int(found[2]))

    def __str__(self) -> str:
        return f"{self.hour:02}:{self.minute:02}"

    def after(self, now: datetime) -> datetime:
        """The next time that a clock on the wall shows it; `now` is what it shows now."""
        today = now.replace(hour=self.hour, minute=self.minute, second=0, microsecond=0)
        return today if today > now else today + timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry(Value):
    """What is given to the machine's scheduler: one for a folder of Nightschool's own data."""

    mark: str
    """Digest of that folder's path: what is not marked so is not ours to touch."""
    at: TimeOfDay
    command: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        given = (f"{name}={value}" for name, value in self.environment)
        for text in (*self.command, *given):
            if any(unicodedata.category(sign) in ENDS_A_LINE for sign in text):
                # A line break would end the line of a crontab, and begin one of somebody else's.
                raise UserError(f"{text!a} holds control characters: a schedule cannot name it")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(Value):
    """An entry, where it was put, and for which projects it is."""

    scheduler: str
    entry: Entry
    projects: tuple[str, ...] = ()
    """Roots; empty for all projects at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectRun(Value):
    """One run of a scheduled start, with its exit code."""

    project: str
    """Root, "" for all."""
    code: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledRun(Value):
    """A start by the scheduler. Without `ended_at` it goes on, or its process died."""

    started_at: datetime
    ended_at: datetime | None = None
    runs: tuple[ProjectRun, ...] = ()
    note: str = ""
    """Why it started none."""

    @property
    def code(self) -> int:
        """That of the first run that went wrong; else 0, or 3 where nothing passed in any."""
        codes = [run.code for run in self.runs]
        bad = [code for code in codes if code not in ENDED_WELL]
        return bad[0] if bad else min(codes, default=0)


class Scheduler(Protocol):
    """What starts a command each day on this machine. It touches its own marked entry alone."""

    name: str
    after_sleep: bool
    """Whether it makes up for a start that the machine slept through."""

    def here(self) -> bool:
        """Whether it can be used on this machine, by this person, now."""
        ...

    def text(self, entry: Entry) -> str:
        """What `install` would leave behind, as it can be printed."""
        ...

    def installed(self, mark: str) -> str | None:
        """The entry with that mark as it stands, as `text` gives it; None where there is none.

        Raises `SchedulerFailed` where that cannot be known.
        """
        ...

    def install(self, entry: Entry) -> None:
        """Make the entry with its mark this one, or raise and leave all as it was."""
        ...

    def remove(self, mark: str) -> None: ...


class ScheduleMemory(Protocol):
    """What is remembered of what was scheduled and of the last start, with the log of such starts."""

    log: Path

    def plan(self) -> Plan | None: ...

    def keep_plan(self, plan: Plan | None) -> None: ...

    def last(self) -> ScheduledRun | None: ...

    def keep_last(self, run: ScheduledRun) -> None: ...

    def held(self) -> AbstractContextManager[None]:
        """The lock of scheduled starts: of two at once the second raises `Busy`."""
        ...

    def goes_on(self) -> bool:
        """Whether a start holds its lock at this moment."""
        ...

    def carry_out(self, command: Sequence[str], environment: Mapping[str, str]) -> int:
        """Run a command to its end, what it says into the log; its exit code."""
        ...

    def write_line(self, line: str) -> None:
        """Into the log, which never grows beyond a bound."""
        ...
