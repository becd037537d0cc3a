"""What the exit code of a command means, and which error leads to which."""

from __future__ import annotations

import errno
from enum import IntEnum

from nightschool.core import errors


class ExitCode(IntEnum):
    """docs/exit-codes.md is written from these lines."""

    DONE = 0
    FAILED = 1
    WRONG_USE = 2
    NOTHING_CERTIFIED = 3
    NEEDS_PERSON = 4
    AUTHENTICATION = 5
    BUSY = 6
    INTERRUPTED = 130
    BROKEN_PIPE = 141
    TERMINATED = 143


MEANING: dict[ExitCode, str] = {
    ExitCode.DONE: "The command did what it was asked to, even where there was nothing to do.",
    ExitCode.FAILED: "It failed for a reason that is not yours: it says which.",
    ExitCode.WRONG_USE: "A wrong argument, name or setting: it says which, and what is allowed.",
    ExitCode.NOTHING_CERTIFIED: "A run came to its end, and the gate accepted no draft.",
    ExitCode.NEEDS_PERSON: (
        "It stopped before an act that is yours to decide or to make possible: a missing reason or "
        "confirmation, a file that changed since, an agent or a sandbox that is not installed, an "
        "endpoint that does not answer, a set-up that fails. Nothing was written."
    ),
    ExitCode.AUTHENTICATION: "The agent or model refuses the login or the key.",
    ExitCode.BUSY: "Another cycle or harvest runs.",
    ExitCode.INTERRUPTED: "You stopped it (Ctrl-C). What was finished is kept.",
    ExitCode.BROKEN_PIPE: "The reader of the output went away.",
    ExitCode.TERMINATED: "It was told to end (SIGTERM). It stops as for a Ctrl-C: what was finished is kept.",
}

BY_ERROR: tuple[tuple[type[errors.NightschoolError], ExitCode], ...] = (
    (errors.UserError, ExitCode.WRONG_USE),
    (errors.NotAllowed, ExitCode.NEEDS_PERSON),
    (errors.Conflict, ExitCode.NEEDS_PERSON),
    (errors.RunnerUnusable, ExitCode.NEEDS_PERSON),
    (errors.SandboxUnavailable, ExitCode.NEEDS_PERSON),
    (errors.SetUpFailed, ExitCode.NEEDS_PERSON),
    (errors.AuthenticationFailed, ExitCode.AUTHENTICATION),
    (errors.Busy, ExitCode.BUSY),
    (errors.NightschoolError, ExitCode.FAILED),
)

DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
ENVIRONMENT = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, *DISK_FULL})
"""Troubles of disk and rights, told in one line. Any other OSError is a defect and keeps its traceback."""


def exit_code(error: errors.NightschoolError) -> ExitCode:
    return next(code for kind, code in BY_ERROR if isinstance(error, kind))


def error_code(error: errors.NightschoolError) -> str:
    """The error's name in a document: `NotFound` is not-found."""
    name = type(error).__name__
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("-")
