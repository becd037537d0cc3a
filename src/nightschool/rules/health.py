"""What `doctor` says of what it looked at: relieves the command of thresholds and wordings."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal

from nightschool.rules.telling import counted

if TYPE_CHECKING:
    from nightschool.core.retention import Retention  # each command's help would pay for it

State = Literal["ok", "note", "blocks"]
NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)+")
FAR_BEHIND = timedelta(hours=1)
"""Clocks of one machine and its file system differ by less."""
NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at. `blocks` is what keeps a run from starting."""

    about: str
    state: State
    text: str
    fix: str = ""


def version_finding(agent: str, said: str | None, path: str, tested: Collection[str]) -> Finding:
    """Of an agent on PATH; `said` is what it calls its version, None where it said nothing."""
    about = f"agent {agent}"
    if said is None:
        text = f"at {path}, and it told no version"
        return Finding(about=about, state="note", text=text, fix=f"see what `{path} --version` says")
    found = NUMBER.search(said)
    if not tested or (found is not None and found[0] in tested):
        return Finding(about=about, state="ok", text=f"{said} at {path}")
    known = ", ".join(sorted(tested))
    return Finding(
        about=about,
        state="note",
        text=f"{said} at {path}; tested is {known}",
        fix=f"none is needed while runs with it go well; else install {known}",
    )


def clock_finding(now: datetime, newest: datetime | None, what: str) -> Finding:
    """Whether this machine's clock is behind what was already written by it."""
    if newest is None or newest - now < FAR_BEHIND:
        return Finding(about="clock", state="ok", text=f"{now:%Y-%m-%d %H:%M} UTC")
    return Finding(
        about="clock",
        state="note",
        text=f"it shows {now:%Y-%m-%d %H:%M} UTC, but {what} is of {newest:%Y-%m-%d %H:%M} UTC",
        fix="set the clock (timedatectl set-ntp true): times decide what is new and which month is charged",
    )


def retention_finding(source: str, kept: Retention, lookback_days: int) -> Finding:
    """How long the agent leaves its transcripts: what it removes unread is never learned from."""
    about = f"retention {source}"
    if kept.days is None:
        text = f"nobody knows after how many days transcripts are removed: {kept.place} cannot be read"
        return Finding(about=about, state="note", text=text, fix=f"mend {kept.place}")
    days = counted(kept.days, "day")
    text = f"the agent removes a transcript {days} after its last use ({kept.place})"
    if kept.days >= lookback_days:
        return Finding(about=about, state="ok", text=text)
    return Finding(
        about=about,
        state="note",
        text=text,
        fix=f"run more often than that (nightschool schedule install), or set {kept.setting} to 365",
    )


def unread_findings(source: str, paths: Collection[str]) -> Iterator[Finding]:
    """Transcripts, or folders of them, that cannot be opened."""
    if paths:
        named = ", ".join(sorted(paths)[:NAMED]) + (", ..." if len(paths) > NAMED else "")
        yield Finding(
            about=f"sessions {source}",
            state="note",
            text=f"{counted(len(paths), 'file or folder', 'files or folders')} cannot be read: {named}",
            fix="make them readable for you (chmod u+r, of folders u+rx), or remove links that lead nowhere",
        )
