"""A person's file of `NAME=value` lines that scheduled runs get in addition: the one place for a key."""

from __future__ import annotations

import os
import re
import shlex
import stat
from pathlib import Path

from nightschool.core.errors import UserError

LINE = re.compile(r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=(.*)")
OTHERS = 0o077
LARGEST = 1 << 16


def read_variables(path: Path) -> dict[str, str]:
    """The variables; none where there is no file. Of a value no error tells anything.

    Raises `UserError` where others may read or write the file, and where a line is no `NAME=value`.
    """
    try:
        # O_NONBLOCK: opening a pipe must not wait for its writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from error
    with os.fdopen(descriptor, "rb") as file:
        _only_the_persons(path, os.fstat(descriptor))
        text = file.read(LARGEST).decode("utf-8", "replace")
    return dict(_pair(path, number, line) for number, line in enumerate(text.splitlines(), 1) if _says(line))


def _only_the_persons(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise UserError(f"{path} is no regular file: write one with lines NAME=value")
    if status.st_mode & OTHERS or status.st_uid != os.geteuid():
        raise UserError(
            f"{path} may hold a key, and is not yours alone (mode {stat.S_IMODE(status.st_mode):04o}, "
            f"owner {status.st_uid}): chmod 600 {shlex.quote(str(path))}"
        )


def _says(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _pair(path: Path, number: int, line: str) -> tuple[str, str]:
    found = LINE.fullmatch(line.strip())
    if found is None:
        raise UserError(f"{path}:{number}: this line is no NAME=value")
    name, value = found[1], found[2]
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1]
    if "\0" in value:
        raise UserError(f"{path}:{number}: a value cannot hold a NUL")
    return name, value
