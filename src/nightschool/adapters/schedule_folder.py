"""What this machine keeps of scheduled starts: the plan, the last one, and a log of bounded size."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, BinaryIO, TypeVar

from pydantic import TypeAdapter, ValidationError

from nightschool.adapters.file_locks import holder, holding
from nightschool.core.errors import UserError
from nightschool.core.schedules import Plan, ScheduledRun

T = TypeVar("T")
LOG_BYTES = 1 << 20
"""A log of this size is moved aside, and of one command no more is kept."""
CHUNK = 1 << 16
PLAN, LAST = TypeAdapter(Plan), TypeAdapter(ScheduledRun)


class ScheduleFolder:
    """A folder below the one of Nightschool's data; it is made by the first thing that is kept."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "schedule"
        self.log = self.folder / "run.log"

    def plan(self) -> Plan | None:
        return _read(self.folder / "plan.json", PLAN)

    def keep_plan(self, plan: Plan | None) -> None:
        path = self.folder / "plan.json"
        if plan is None:
            path.unlink(missing_ok=True)
        else:
            self._write(path, PLAN.dump_json(plan, indent=1))

    def last(self) -> ScheduledRun | None:
        return _read(self.folder / "last.json", LAST)

    def keep_last(self, run: ScheduledRun) -> None:
        self._write(self.folder / "last.json", LAST.dump_json(run, indent=1))

    def held(self) -> AbstractContextManager[None]:
        """The lock of scheduled starts: of two at once the second raises `Busy`."""
        self._make()
        return holding(self.folder, "start")

    def goes_on(self) -> bool:
        return holder(self.folder, "start") is not None

    def carry_out(self, command: Sequence[str], environment: Mapping[str, str]) -> int:
        """Run a command to its end, what it says into the log; its exit code."""
        with (
            self._opened() as log,
            subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=dict(environment),
            ) as process,
        ):
            try:
                if process.stdout is not None:
                    _pour(process.stdout, log)
                code = process.wait()
            except BaseException:
                process.terminate()  # who ends this start ends its run, which stops as for a Ctrl-C
                if process.stdout is not None:
                    _pour(process.stdout, log)
                raise
        return 128 - code if code < 0 else code

    def write_line(self, line: str) -> None:
        with self._opened() as log:
            log.write(f"{line}\n".encode("utf-8", "backslashreplace"))

    def _opened(self) -> BinaryIO:
        """The log at its end; one that is full is moved aside first, over the one before it."""
        self._make()
        if self.log.exists() and self.log.stat().st_size >= LOG_BYTES:
            self.log.replace(self.log.with_name("run.log.1"))
        return os.fdopen(os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "wb", buffering=0)

    def _write(self, path: Path, content: bytes) -> None:
        self._make()
        new = path.with_name(f".{path.name}.{os.getpid()}")
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(content)
        new.replace(path)

    def _make(self) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def _pour(said: IO[bytes], log: BinaryIO) -> None:
    """All of it is read, so that nothing waits; what would make the log longer than allowed is dropped."""
    room, dropped = LOG_BYTES, 0
    while chunk := said.read(CHUNK):
        log.write(chunk[:room])
        dropped += max(0, len(chunk) - room)
        room = max(0, room - len(chunk))
    if dropped:
        log.write(f"\n[{dropped} bytes more were said and not kept]\n".encode())


def _read(path: Path, kind: TypeAdapter[T]) -> T | None:
    try:
        return kind.validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not as it was written"
        raise UserError(f"{path}: {why}; remove it, then: nightschool schedule install") from error
