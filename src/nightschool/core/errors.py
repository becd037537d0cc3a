"""Exceptions, sorted by who must react. A task that fails is a `Failed` outcome, never one of these."""

from __future__ import annotations

from collections.abc import Sequence


class NightschoolError(Exception):
    """Base of all of ours. The text is for the person: what, where, the way out."""


class UserError(NightschoolError):
    """The person can mend it: a wrong name, a wrong setting, a missing file (exit code 2)."""


class NotFound(UserError):
    """No such id. Never answered with a similar one."""


class Conflict(NightschoolError):
    """What is stored or live is not what the caller started from; nothing was written."""


class NotAllowed(NightschoolError):
    """An act that the evidence does not carry. All failing reasons at once, each with a code for programs."""

    def __init__(self, reasons: Sequence[tuple[str, str]]) -> None:
        self.reasons = tuple(reasons)
        super().__init__("; ".join(text for _, text in self.reasons))


class Busy(NightschoolError):
    """Another process holds the lock (exit code 6)."""


class AuthenticationFailed(NightschoolError):
    """The agent or model refuses the credentials: no further job could succeed (exit code 5)."""


class RunnerUnusable(NightschoolError):
    """The agent is missing or cannot run here at all: no further job could succeed."""


class SandboxUnavailable(NightschoolError):
    """The sandbox cannot be had; the text says how to get it."""


class SchedulerFailed(NightschoolError):
    """Cron or systemd cannot be read or does not take what it is given; the text says what stands now."""


class BudgetExhausted(NightschoolError):
    """The cycle's budget is used up. What was done is kept."""


class WorkspaceUnavailable(NightschoolError):
    """The workspace of one job cannot be built (its repository or commit is gone): other jobs go on."""
