"""Exceptions, sorted by who must react. A task that fails is a `Failed` outcome, never one of these."""

from __future__ import annotations

from collections.abc import Callable, Sequence


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


class NothingAnswers(RunnerUnusable):
    """Job after job was lost to one and the same cause, and none came to an end: nothing was learned."""


class SandboxUnavailable(NightschoolError):
    """The sandbox cannot be had; the text says how to get it."""


class SchedulerFailed(NightschoolError):
    """Cron or systemd cannot be read or does not take what it is given; the text says what stands now."""


class BudgetExhausted(NightschoolError):
    """The cycle's budget is used up. What was done is kept."""


class WorkspaceUnavailable(NightschoolError):
    """The workspace of one job cannot be built (its repository or commit is gone): other jobs go on."""


class SetUpFailed(NightschoolError):
    """The set-up of one project, or of a folder of it, failed: no job of it can begin, others go on."""

    LINES, WIDTH, COMMAND_WIDTH = 8, 600, 200
    """What is shown of the end of the output, and of the command."""

    def __init__(
        self, *, place: str, commit: str, command: str, came_to: str, said: str, way_out: str
    ) -> None:
        self.place = place
        """Root of the project, or a folder of it that has a set-up of its own."""
        self.commit = commit
        self.command = command
        self.came_to = came_to
        self.said = said
        """Like the command whole, so that it is redacted before it is cut."""
        self.way_out = way_out
        words = " ".join(command.split())
        cut = words if len(words) <= self.COMMAND_WIDTH else f"{words[: self.COMMAND_WIDTH]}..."
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        shown = " | ".join(lines[-self.LINES :])[-self.WIDTH :]
        ended = f"The end of what it said: {shown}" if shown else "It said nothing"
        super().__init__(
            f"{place} cannot be set up, so its tasks are not practised: setup.command (`{cut}`) {came_to} "
            f"at commit {commit[:12]}. {ended}. The way out: {way_out}"
        )

    @property
    def why(self) -> str:
        """In a few words."""
        return f"{self.place} cannot be set up: setup.command {self.came_to}"

    def redacted(self, redact: Callable[[str], str]) -> SetUpFailed:
        """The same, fit to be stored and shown."""
        return SetUpFailed(
            place=self.place,
            commit=self.commit,
            command=redact(self.command),
            came_to=redact(self.came_to),
            said=redact(self.said),
            way_out=self.way_out,
        )
