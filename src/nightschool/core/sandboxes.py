"""What a sandbox is asked for and how a command in it ended. Relieves `ports`, which names who is asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from threading import Event

from nightschool.core.harness import File
from nightschool.core.jobs import Provision
from nightschool.core.tasks import WorkspaceSource


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxPlan:
    """What a workspace is made of and what it may reach. `cancelled` stops its making."""

    workspace: WorkspaceSource
    files: tuple[File, ...] = ()
    """Laid over the workspace."""
    name: str = "project"
    """Last part of the workspace's path inside."""
    folder: str = ""
    """Where in the workspace commands start, relative to its top; at the top where it has no such folder."""
    readable: tuple[tuple[str, str], ...] = ()
    """(host path, inside path) pairs mounted read-only: the agent's own program."""
    provision: Provision = Provision()
    network: bool = False
    """For a set-up alone, which no agent runs in; a job has the gateway, or nothing."""
    cancelled: Event = field(default_factory=Event, compare=False)
    gateway: Path | None = None
    """A unix socket outside; inside, `Workspace.gateway_url` leads to it. None: no network at all."""
    memory_bytes: int = 4 << 30
    processes: int = 512
    file_bytes: int = 1 << 30
    disk_bytes: int = 4 << 30
    """What a job may add to its workspace and HOME together, each file counting a few KiB at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command to run inside. `environment` is all that it gets besides PATH, HOME, LANG, TMPDIR."""

    argv: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()
    stdin: bytes = b""
    timeout: timedelta = timedelta(minutes=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """How a command ended. `exit_code` is None where it was stopped: `timed_out`, `cancelled` or `overfull`,
    which is what filled the disk beyond what the plan allows."""

    exit_code: int | None
    stdout: bytes
    stderr: bytes
    wall: timedelta
    timed_out: bool = False
    cancelled: bool = False
    overfull: bool = False
