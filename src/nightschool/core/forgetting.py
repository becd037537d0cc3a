"""What was made unread, and what is to stay unread: digests and rules, without a word of what it was."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from nightschool.core.values import Digest, Record, Value, digest_of

STAND_IN = "forgotten:"
"""Begins the name that a forgotten session has wherever something must still count it."""


class Thing(StrEnum):
    """What can be forgotten."""

    SESSION = "session"
    FILE = "file"
    """The transcript that gave it: known by its path, so that it need not be opened again."""
    PROJECT = "project"
    NAME = "name"
    """Of a project's folder alone, so that a person need not remember where it lay."""


def trace_of(thing: Thing, name: str) -> Digest:
    """What is left of a name: enough to know it again, not to tell it."""
    return digest_of("forgotten", thing, name)


def is_inside(folder: str, place: str) -> bool:
    """Whether a place is this folder, or lies below it."""
    return place == folder or place.startswith(f"{folder.rstrip('/')}/")


def folders_of(place: str) -> tuple[str, ...]:
    """A folder, and all above it; of what is no absolute path itself alone."""
    if not place.startswith("/"):
        return (place,) if place else ()
    parts = place.split("/")
    return tuple("/".join(parts[:depth]) for depth in range(len(parts), 1, -1))


def stand_in(session: str) -> str:
    return STAND_IN + trace_of(Thing.SESSION, session)[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten(Record):
    """Never to be read again, until the person says otherwise."""

    GROWS = True

    thing: Thing
    trace: Digest
    of: Digest
    """Trace of what the person named: with it, all that was forgotten by that word may be read again."""
    at: datetime

    @property
    def id(self) -> str:
        return f"{self.thing}.{self.trace}"

    @property
    def owner(self) -> str:
        return self.thing


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped(Record):
    """A transcript that was left out by the ignore list: not opened again until it or the list changes.

    It has no cursor. Should the list change, it is read from its first byte.
    """

    GROWS = True

    source: str
    file: Digest
    size: int
    mtime: datetime
    rules: Digest | None
    """Under which it was left out; None where another look is needed each time."""
    reason: str
    stored: str = ""
    """The session's id where an earlier part of it is stored, so that the next cycle forgets that."""

    @property
    def id(self) -> str:
        return self.file

    @property
    def owner(self) -> str:
        return self.source


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfinished(Record):
    """Written with what is forgotten and removed when its last trace is gone from the disk.

    Between the two the records are forgotten already, and their bytes may still lie in freed space.
    """

    GROWS = True

    at: datetime
    cycles: tuple[str, ...]
    """Whose report files go."""

    @property
    def id(self) -> str:
        return "forgetting"


@dataclass(frozen=True, slots=True, kw_only=True)
class IgnoreList(Value):
    """Whose sessions are left out. Empty: nobody's."""

    projects: tuple[str, ...] = ()
    """Names of folders, or absolute paths; both may hold `*`."""
    paths: tuple[str, ...] = ()
    """Patterns of a transcript's path, of the folder it ran in, and of files that it wrote."""
    words: tuple[str, ...] = ()
    """In whatever case, anywhere in a session."""

    def __bool__(self) -> bool:
        return bool(self.projects or self.paths or self.words)


class OwnFiles(Protocol):
    """What lies in our own folder beside the store: reports, logs, mirrors, folders of jobs."""

    def clear(self, *, cycles: Collection[str], repositories: Collection[str]) -> None:
        """Remove the report files of these cycles, what the logs say, the mirrors of all repositories but
        these, and what killed jobs have left. What is gone already is no error."""
        ...

    def hide(self, *, cycles: Collection[str], mark: str) -> int:
        """Take the report files of these cycles away, once for each `mark`: what is written anew since is
        kept until another one is given. How many went."""
        ...
