"""What carrying out a job with an agent's own CLI has in common, whichever agent it is.

The agent runs headless in the sandbox, its model is reached through a gateway that is made for the job,
and how the job ended is told from three witnesses: the process, the agent's own report, the gateway.
"""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from http import HTTPStatus
from pathlib import Path
from threading import Event
from typing import Any
from urllib.parse import urlsplit

from nightschool.adapters.gateway import Gateway, RedactJson
from nightschool.core.errors import (
    AuthenticationFailed,
    RunnerUnusable,
    SandboxUnavailable,
    UserError,
    WorkspaceUnavailable,
)
from nightschool.core.jobs import MARKER, Delivered, Failed, Job, Outcome, Reason, Usage
from nightschool.core.ports import Redact, Sandbox, Surface, Workspace
from nightschool.core.sandboxes import Command, Execution, SandboxPlan
from nightschool.core.sessions import ToolCall
from nightschool.core.tasks import FilesSource

INSIDE_AGENT = "/opt/agent"
VERSION_SECONDS = 30
LONGEST_RESULT = 20_000
"""Characters of a tool's result that a trajectory keeps, after redaction; the cut is marked."""
DUMMY_KEY = "kept-outside-by-nightschool"


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """An agent's program: what of the host is shown inside, and what to start there."""

    host: Path
    """The native program, which the host starts for its version."""
    readable: tuple[str, str]
    inside: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """The way to the model: where it is, and the credentials that the gateway puts in."""

    upstream: str
    headers: Mapping[str, str]
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """The agent's own report of a run, as far as it came."""

    reply: str | None = None
    """None: it came to no end of its own."""
    calls: tuple[ToolCall, ...] = ()
    cost: Decimal | None = None
    error: str | None = None
    refused: bool = False
    """The model declined to do it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What an agent's runner is given."""

    sandbox: Sandbox
    surface: Surface
    redact: Redact
    redact_json: RedactJson | None = None
    """For what leaves; None sends it as it is (a model of our own)."""


@dataclass(slots=True, kw_only=True)
class Agent(ABC):
    """A `Runner` by an agent's own CLI. Its key stays outside, with the gateway."""

    tools: Tools
    environment: Mapping[str, str]
    """The person's: PATH, the key, the address of the model."""
    key_variable: str
    binary: Path | None = None
    endpoint: str | None = None
    """None: what the environment says, else the vendor's."""
    name: str
    title: str
    tells_cost: bool = True
    _version: str | None = None

    def version(self) -> str:
        if self._version is None:
            self._version = told_version(self.program(), self.version_in)
        return self._version

    @property
    def sends_to(self) -> str:
        """Without a password that may stand in it."""
        parts = urlsplit(self.upstream())
        return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()

    def check(self) -> None:
        self.program()
        self.way()
        with self.tools.sandbox.open(SandboxPlan(workspace=FilesSource())):
            return

    def run(self, job: Job, cancelled: Event) -> Outcome:
        return carry_out(self, self.tools, job, cancelled)

    @abstractmethod
    def program(self) -> Program: ...

    @abstractmethod
    def version_in(self, text: str) -> str | None:
        """The version in what the program says of itself."""

    @abstractmethod
    def upstream(self) -> str:
        """The address of the model."""

    @abstractmethod
    def way(self) -> Way: ...

    @abstractmethod
    def command(self, workspace: Workspace, job: Job, prompt: str) -> Command:
        """Prepares HOME and says what to run."""

    @abstractmethod
    def said(self, stdout: bytes) -> Said: ...


def carry_out(agent: Agent, tools: Tools, job: Job, cancelled: Event) -> Outcome:
    """Run one job from an empty sandbox to its outcome."""
    if not tools.sandbox.isolated:
        # An agent that asks nobody could do to the person's files whatever a model says.
        raise SandboxUnavailable(
            f"{agent.title} is never run without isolation: choose the sandbox `bubblewrap`"
        )
    if cancelled.is_set():
        return Failed(reason=Reason.CANCELLED, message="cancelled before it started")
    program, way = agent.program(), agent.way()
    gateway = Gateway(upstream=way.upstream, headers=way.headers, paths=way.paths, redact=tools.redact_json)
    try:
        with gateway as socket:
            plan = SandboxPlan(
                workspace=job.workspace,
                files=job.files,
                folder=job.folder,
                provision=job.provision,
                cancelled=cancelled,
                readable=(program.readable,),
                gateway=socket,
            )
            with tools.sandbox.open(plan) as workspace:
                return _inside(agent, tools, job, cancelled, workspace, gateway)
    except WorkspaceUnavailable as error:
        reason = Reason.CANCELLED if cancelled.is_set() else Reason.INFRASTRUCTURE
        used = Usage(tokens=gateway.tokens, cost=_cost(Said(), gateway))
        return Failed(reason=reason, message=tools.redact(str(error)), usage=used)


def _inside(
    agent: Agent, tools: Tools, job: Job, cancelled: Event, workspace: Workspace, gateway: Gateway
) -> Outcome:
    try:
        for folder in (workspace.root, *workspace.shared):
            workspace.bring(tools.surface.touches(job.harness, folder))
        own = tools.surface.place(job.harness, workspace.root, workspace.home)
    except (UserError, OSError) as error:
        message = f"the harness could not be placed: {error}"
        return Failed(reason=Reason.INFRASTRUCTURE, message=tools.redact(message))
    command = agent.command(workspace, job, f"[{MARKER} {job.key[:8]}]\n{job.prompt}")
    workspace.seal(own)
    execution = workspace.execute(replace(command, timeout=job.options.timeout), cancelled)
    said = agent.said(execution.stdout)
    placed = {file.path.removeprefix("project/") for file in job.harness.files}
    files = tuple(change for change in workspace.changes() if change.path not in placed)
    calls = tuple(_bounded(call, tools.redact) for call in said.calls)
    usage = Usage(tokens=gateway.tokens, cost=_cost(said, gateway), wall=execution.wall)
    failure = _failure(agent, execution, said, gateway)
    if failure is None:
        return Delivered(reply=said.reply or "", files=files, trajectory=calls, usage=usage)
    reason, message = failure
    message = _as_known_outside(message, workspace.gateway_url, gateway.upstream)
    return Failed(reason=reason, message=tools.redact(message), files=files, trajectory=calls, usage=usage)


def _as_known_outside(message: str, inside: str | None, upstream: str) -> str:
    """An agent names the address that it was given; the person knows the one behind it."""
    return message if inside is None else message.replace(urlsplit(inside).netloc, urlsplit(upstream).netloc)


def _failure(agent: Agent, execution: Execution, said: Said, gateway: Gateway) -> tuple[Reason, str] | None:
    """Why the job failed, from the outside in; None where it delivered."""
    if execution.cancelled or execution.overfull:
        return _stopped(agent, execution)
    if execution.exit_code == 0 and said.reply and not said.error and not said.refused:
        return None
    _refuse_to_go_on(agent, said, gateway)
    away = _away(gateway, timed_out=execution.timed_out)
    if away is not None:
        return Reason.INFRASTRUCTURE, f"{away}: {_words(execution, said)}"
    if execution.timed_out:
        return Reason.TIMEOUT, f"{agent.title} was not done after {execution.wall.total_seconds():.0f} s"
    if said.refused:
        return Reason.REFUSED, f"the model declined: {_words(execution, said)}"
    return Reason.BAD_REPLY, f"{agent.title} gave no answer: {_words(execution, said)}"


def _stopped(agent: Agent, execution: Execution) -> tuple[Reason, str]:
    if execution.cancelled:
        return Reason.CANCELLED, f"{agent.title} was stopped"
    return Reason.BAD_REPLY, f"{agent.title} was stopped: it wrote more to the disk than a job may"


def _refuse_to_go_on(agent: Agent, said: Said, gateway: Gateway) -> None:
    """Raise where no further job could succeed: wrong credentials, no such model, no money."""
    answered = [call for call in gateway.calls if call.status == HTTPStatus.OK and call.method == "POST"]
    if answered:
        return
    host = gateway.upstream
    if gateway.refused_credentials:
        raise AuthenticationFailed(f"{host} refuses the credentials of {agent.title}: {said.error or ''}")
    statuses = {call.status for call in gateway.calls}
    if HTTPStatus.PAYMENT_REQUIRED in statuses or "credit balance" in (said.error or ""):
        raise RunnerUnusable(f"{host} wants to be paid first: {said.error or 'no credit is left'}")
    if HTTPStatus.NOT_FOUND in statuses:
        models = sorted({call.model for call in gateway.calls if call.model})
        raise RunnerUnusable(
            f"{host} answers `not found` to {agent.title} (model {', '.join(models) or 'unknown'}): "
            "set another model or address"
        )


def _away(gateway: Gateway, *, timed_out: bool) -> str | None:
    """Whether the last thing that the model's side did was to be busy or away."""
    if timed_out and gateway.asked and not gateway.answered:
        # Slow is the agent's own failure; a model that never began to answer left it no chance.
        return f"{gateway.upstream} gave no answer at all"
    if not gateway.calls:
        return None
    last = gateway.calls[-1]
    if last.status is None:
        return f"{gateway.upstream} cannot be reached"
    if not last.complete:
        return f"the connection to {gateway.upstream} broke off"
    if last.status == HTTPStatus.TOO_MANY_REQUESTS or last.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return f"{gateway.upstream} answered {last.status}"
    return None


def _words(execution: Execution, said: Said) -> str:
    """The agent's own words for it, else the end of what it complained."""
    complaint = execution.stderr.decode("utf-8", "replace").strip()[-600:]
    return said.error or complaint or f"exit code {execution.exit_code}"


def _cost(said: Said, gateway: Gateway) -> Decimal | None:
    if gateway.tokens == 0:
        return Decimal(0)
    return said.cost


def _bounded(call: ToolCall, redact: Redact) -> ToolCall:
    result = None if call.result is None else redact(call.result)
    if result is not None and len(result) > LONGEST_RESULT:
        half = LONGEST_RESULT // 2
        cut = len(result) - 2 * half
        result = f"{result[:half]}\n[cut: {cut} characters]\n{result[-half:]}"
    command = None if call.command is None else redact(call.command)
    return replace(call, result=result, command=command, arguments=redact(call.arguments))


def found(name: str, binary: Path | None, environment: Mapping[str, str], install: str) -> Path:
    """The real path of an agent's command: the one that was named, else the one on the person's PATH."""
    if binary is not None:
        if not binary.exists():
            raise RunnerUnusable(f"{binary} is not there; it was named as the program of {name}")
        return binary.resolve()
    path = shutil.which(name, path=environment.get("PATH", ""))
    if path is None:
        raise RunnerUnusable(f"`{name}` is not installed: {install}")
    return Path(path).resolve()


def is_native(path: Path) -> bool:
    """Whether it is a program of this machine, which needs no interpreter inside."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return stream.read(4) == b"\x7fELF"


def architecture() -> str:
    """As npm packages name it."""
    return {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())


def module_folders(path: Path) -> Iterator[Path]:
    """The node_modules folders that a package at this path may find others in, the nearest first."""
    for folder in path.parents:
        if (folder / "node_modules").is_dir():
            yield folder / "node_modules"


def told_version(program: Program, read: Callable[[str], str | None]) -> str:
    """What the program says of its version, asked with an empty HOME."""
    with tempfile.TemporaryDirectory(prefix="nightschool-") as home:
        try:
            done = subprocess.run(
                [str(program.host), "--version"],
                env={"HOME": home, "PATH": "/usr/bin:/bin", "DISABLE_AUTOUPDATER": "1"},
                cwd=home,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=VERSION_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise RunnerUnusable(f"{program.host} cannot be started: {error}") from error
    text = done.stdout.decode("utf-8", "replace").strip()
    version = read(text) if done.returncode == 0 else None
    if not version:
        raise RunnerUnusable(f"{program.host} --version said {text[:200]!r}, which names no version")
    return version


def json_rows(stdout: bytes) -> Iterator[Mapping[str, Any]]:
    """The rows of a stream of JSON lines; a line that was cut or is no object is passed over."""
    for line in stdout.splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            yield row


def joined(blocks: object) -> str:
    """The text of a content that is a string or a list of blocks."""
    if isinstance(blocks, str):
        return blocks
    items: Sequence[object] = blocks if isinstance(blocks, list) else ()
    return "\n".join(str(item["text"]) for item in items if isinstance(item, dict) and "text" in item)
