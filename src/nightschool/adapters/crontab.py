"""The person's crontab: one marked block in it is ours, the rest is theirs and stays byte for byte.

A crontab that could not be read is never written: only the words `no crontab for` mean that there is none.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from shutil import which

from nightschool.core.errors import Conflict, SchedulerFailed, UserError
from nightschool.core.schedules import Entry

NONE = b"no crontab for"
SECONDS = 20
LONGEST = 990
"""Bytes of a command that every cron takes (Vixie's limit is 1000)."""


class Crontab:
    """A `Scheduler` that is cron."""

    name = "cron"
    after_sleep = False

    def __init__(self, *, environment: Mapping[str, str]) -> None:
        self._environment = {**environment, "LC_ALL": "C"}

    def here(self) -> bool:
        return self._program() is not None

    def text(self, entry: Entry) -> str:
        begin, end = _marks(entry.mark)
        given = [f"{name}={value}" for name, value in entry.environment]
        # By env: the person's crontab may name a shell that knows no NAME=value before a command.
        command = shlex.join(["/usr/bin/env", *given, *entry.command]).replace("%", r"\%")
        if len(command.encode()) > LONGEST:
            raise UserError(
                f"the line for cron would be longer than {LONGEST} bytes, which not every cron takes: "
                "use --systemd, --all-projects, or fewer projects"
            )
        return f"{begin}\n{entry.at.minute} {entry.at.hour} * * * {command}\n{end}\n"

    def installed(self, mark: str) -> str | None:
        if not self.here():
            return None  # nothing starts by a cron that is not there
        _, ours, _ = _parted(self._read(), mark)
        return ours.decode("utf-8", "replace") if ours else None

    def install(self, entry: Entry) -> None:
        self._swap(entry.mark, self.text(entry).encode())

    def remove(self, mark: str) -> None:
        self._swap(mark, b"")

    def _swap(self, mark: str, block: bytes) -> None:
        before = self._read()
        head, ours, tail = _parted(before, mark)
        if ours == block:
            return
        gap = b"\n" if block and head and not head.endswith(b"\n") else b""
        wanted = head + gap + block + tail
        self._run(["-"], wanted)
        if self._read() != wanted:
            raise SchedulerFailed(
                "crontab took the new table and gives another back: look at it with `crontab -l`"
            )

    def _read(self) -> bytes:
        done = self._called(["-l"], b"")
        if done.returncode == 0:
            return done.stdout
        if not done.stdout and NONE in done.stderr:
            return b""
        raise SchedulerFailed(f"your crontab cannot be read, so it is left alone: {_said(done)}")

    def _run(self, arguments: Sequence[str], given: bytes) -> None:
        done = self._called(arguments, given)
        if done.returncode:
            raise SchedulerFailed(f"crontab did not take the new table, the old one holds: {_said(done)}")

    def _called(self, arguments: Sequence[str], given: bytes) -> subprocess.CompletedProcess[bytes]:
        program = self._program()
        if program is None:
            raise SchedulerFailed("there is no crontab on PATH: install cron, or use --systemd")
        try:
            return subprocess.run(
                [program, *arguments],
                input=given,
                env=self._environment,
                capture_output=True,
                timeout=SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise SchedulerFailed(f"crontab cannot be asked ({program}): {error}") from error

    def _program(self) -> str | None:
        return which("crontab", path=self._environment.get("PATH", os.defpath))


def _marks(mark: str) -> tuple[str, str]:
    return (
        f"# nightschool {mark} begin (made by `nightschool schedule`, which replaces it whole)",
        f"# nightschool {mark} end",
    )


def _parted(table: bytes, mark: str) -> tuple[bytes, bytes, bytes]:
    """What stands before our block, the block, and what stands behind it."""
    lines = table.splitlines(keepends=True)
    begin, end = f"# nightschool {mark} begin".encode(), f"# nightschool {mark} end".encode()
    begins = [at for at, line in enumerate(lines) if line.startswith(begin)]
    ends = [at for at, line in enumerate(lines) if line.startswith(end)]
    if not begins and not ends:
        return table, b"", b""
    if len(begins) != 1 or len(ends) != 1 or begins[0] > ends[0]:
        raise Conflict(
            f"the marks of nightschool {mark} in your crontab are not one begin and one end: put them "
            "right, or take their lines out, with `crontab -e`; nothing was written"
        )
    return (
        b"".join(lines[: begins[0]]),
        b"".join(lines[begins[0] : ends[0] + 1]),
        b"".join(lines[ends[0] + 1 :]),
    )


def _said(done: subprocess.CompletedProcess[bytes]) -> str:
    said = " ".join(done.stderr.decode("utf-8", "replace").split())
    return said[:500] or f"crontab ended with code {done.returncode} and said nothing"
