"""One piece of work for a model or an agent, and what it gave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Literal

from nightschool.core.harness import LARGE_FILES, SUBMODULE, File, Harness
from nightschool.core.sessions import ToolCall
from nightschool.core.tasks import FilesSource, WorkspaceSource
from nightschool.core.values import Digest, Record, Value, digest_of

MARKER = "nightschool-job"
"""Stands in each prompt of ours, so that a harvest knows our own sessions wherever they lie."""


class Role(StrEnum):
    ATTEMPT = "attempt"
    EDIT = "edit"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOptions(Value):
    """How a job is run. Part of its key."""

    model: str | None = None
    """None: the agent's own default, which the key then records as such."""
    effort: str | None = None
    timeout: timedelta = timedelta(minutes=10)
    network: bool = False
    """Always off today; the key would differ if it were not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provision(Value):
    """What a workspace of a commit is given besides the commit's own files. Part of a job's key."""

    setup: str | None = None
    """A command line that is run once per commit, in a sandbox of its own. None: nothing is run."""
    network: bool = False
    """Whether that command, and nothing else, has a network."""
    folder: str = ""
    """Where below the top that command is run: the folder of the file that says it. Not run at a commit
    that has no such folder."""
    minutes: int = 15
    """After which it is stopped."""
    submodules: bool = False
    """Whether the files of submodules are laid in their places, from the person's own folder."""
    lfs: bool = False
    """Whether the content of large files stands in the place of their pointers, from there too."""

    @property
    def brings(self) -> frozenset[str]:
        """Kinds of what a commit does not hold that are laid under it."""
        kinds = ((SUBMODULE, self.submodules), (LARGE_FILES, self.lfs))
        return frozenset(kind for kind, laid in kinds if laid)


def provided(provisions: Mapping[str, Provision], project: str, folder: str = "") -> tuple[str, Provision]:
    """What work that began in a folder of a project is given, and the place that says so: the nearest one
    from that folder up to the project's root."""
    parts = folder.split("/") if folder else []
    for depth in range(len(parts), -1, -1):
        place = "/".join((project, *parts[:depth]))
        if place in provisions:
            return place, provisions[place]
    return project, Provision()


@dataclass(frozen=True, slots=True, kw_only=True)
class Job(Value):
    """Everything that a runner needs and nothing that it must not see (no checks, no split)."""

    role: Role
    prompt: str
    agent: str
    """Name of the runner."""
    agent_version: str
    harness: Harness
    workspace: WorkspaceSource = FilesSource()
    files: tuple[File, ...] = ()
    """Laid over the workspace: evidence for an editor."""
    folder: str = ""
    """Where in the workspace the agent starts; at its top where the workspace has no such folder."""
    provision: Provision = Provision()
    options: JobOptions = JobOptions()
    task: str | None = None
    prompt_version: str = ""
    surface_version: str = ""
    repeat: int = 0
    arm: str | None = None
    draw: int | None = None
    """For a trial of the gate: its fresh draw number; a cache can never stand in for it."""

    @property
    def key(self) -> Digest:
        return digest_of(self)


class Reason(StrEnum):
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    """Stopped from outside, by Ctrl-C or since another job could not go on."""
    INFRASTRUCTURE = "infrastructure"
    """Failed outside the job (429, 5xx, sandbox start, disk). This and a cancelled job lose a trial."""
    REFUSED = "refused"
    BAD_REPLY = "bad_reply"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage(Value):
    """What a job used. None means unknown, which a budget counts as over, never as free."""

    tokens: int | None = None
    cost: Decimal | None = None
    """US dollars."""
    priced: date | None = None
    """Date of the price table that the cost rests on; None where the agent named the cost."""
    wall: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange(Value):
    """A file that the job changed, made or deleted in its workspace."""

    path: str
    content: bytes | None
    """None: deleted."""
    mode: int = 0o644
    added: str = ""
    """Text lines that were not in the file before, joined by newlines; "" for binary content."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered(Value):
    kind: Literal["delivered"] = "delivered"
    reply: str
    files: tuple[FileChange, ...] = ()
    trajectory: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed(Value):
    """Partial evidence is kept. `message` is redacted and fit to be shown."""

    kind: Literal["failed"] = "failed"
    reason: Reason
    message: str
    files: tuple[FileChange, ...] = ()
    trajectory: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()

    @property
    def lost(self) -> bool:
        """Failed outside the job: retried on the same draw, no score. All else scores 0."""
        return self.reason in {Reason.INFRASTRUCTURE, Reason.CANCELLED}


Outcome = Delivered | Failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation(Record):
    """Written before a job starts. Without a `Finished` of the same key it stays booked."""

    key: Digest
    attempt: int
    cycle: str
    at: datetime
    tokens: int
    cost: Decimal

    @property
    def id(self) -> str:
        return f"{self.key}.{self.attempt}"

    @property
    def owner(self) -> str:
        return self.cycle


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished(Record):
    """A finished job. Never run again."""

    key: Digest
    cycle: str
    role: Role
    agent: str
    started_at: datetime
    ended_at: datetime
    outcome: Outcome
    task: str | None = None
    arm: str | None = None
    draw: int | None = None

    @property
    def id(self) -> str:
        return self.key

    @property
    def owner(self) -> str:
        return self.cycle


@dataclass(frozen=True, slots=True, kw_only=True)
class LostTry(Record):
    """A try that failed outside the job: booked at what it used, retried, and counted per arm."""

    key: Digest
    attempt: int
    cycle: str
    reason: Reason
    message: str
    usage: Usage
    arm: str | None = None

    @property
    def id(self) -> str:
        return f"{self.key}.{self.attempt}"

    @property
    def owner(self) -> str:
        return self.cycle
