"""Carries out jobs with Codex, headless, in the sandbox."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nightschool.adapters import agent_jobs
from nightschool.adapters.agent_jobs import DUMMY_KEY, INSIDE_AGENT, Agent, Program, Said, Way
from nightschool.adapters.codex.rows import skills_read
from nightschool.core.errors import AuthenticationFailed, RunnerUnusable
from nightschool.core.jobs import Job
from nightschool.core.ports import Workspace
from nightschool.core.sandboxes import Command
from nightschool.core.sessions import CallStatus, ToolCall

INSTALL = "`npm install -g @openai/codex`, or see https://developers.openai.com/codex"
ENDPOINT = "https://api.openai.com/v1"
NATIVE = "@openai/codex-linux-{architecture}"
DUMMY_VARIABLE = "NIGHTSCHOOL_DUMMY_KEY"
NOWHERE = "http://127.0.0.1:9"
"""There is no network inside. Codex looks for plugins at its end; so it hears no at once, not in 5 s."""
CONFIG = """\
model_provider = "nightschool"
check_for_update_on_startup = false

[model_providers.nightschool]
name = "nightschool"
base_url = {url}
wire_api = "responses"
env_key = "{variable}"
request_max_retries = 2
stream_max_retries = 2
"""
"""A busy model is our own retry's concern, not a long wait of the agent's."""


@dataclass(slots=True, kw_only=True)
class CodexRunner(Agent):
    """The `Runner` of Codex."""

    key_variable: str = "OPENAI_API_KEY"
    name: str = "codex"
    title: str = "Codex"
    tells_cost: bool = False

    def version_in(self, text: str) -> str | None:
        """`codex-cli 0.171.0`."""
        name, _, version = text.partition(" ")
        return version if name == "codex-cli" else None

    def program(self) -> Program:
        path = agent_jobs.found("codex", self.binary, self.environment, INSTALL)
        for native in (path, *_natives(path)):
            if not agent_jobs.is_native(native):
                continue
            inside = f"{INSIDE_AGENT}/codex"
            if native.parent.name == "bin" and (native.parent.parent / "codex-package.json").exists():
                # The package brings helpers beside it; all of it is shown.
                return Program(
                    host=native, readable=(str(native.parent.parent), inside), inside=f"{inside}/bin/codex"
                )
            return Program(host=native, readable=(str(native), inside), inside=inside)
        raise RunnerUnusable(f"{path} is no native program, and none lies beside it: {INSTALL}")

    def upstream(self) -> str:
        return self.endpoint or self.environment.get("OPENAI_BASE_URL") or ENDPOINT

    def way(self) -> Way:
        key = self.environment.get(self.key_variable)
        if not key:
            raise AuthenticationFailed(
                f"Codex has no key for the sandbox: set {self.key_variable}. "
                "What lies in ~/.codex/auth.json, be it a ChatGPT login or a key, is never copied: give a "
                "key by that variable. A subscription alone does not serve here."
            )
        headers = {"Authorization": f"Bearer {key}"}
        return Way(upstream=self.upstream(), headers=headers, paths=("/responses", "/models"))

    def command(self, workspace: Workspace, job: Job, prompt: str) -> Command:
        folder = workspace.home / ".codex"
        folder.mkdir(exist_ok=True)
        url = json.dumps(str(workspace.gateway_url))
        (folder / "config.toml").write_text(CONFIG.format(url=url, variable=DUMMY_VARIABLE), encoding="utf-8")
        argv = [
            self.program().inside,
            "exec",
            "--json",
            "--skip-git-repo-check",
            "--dangerously-bypass-approvals-and-sandbox",
        ]
        if job.options.model is not None:
            argv += ["--model", job.options.model]
        if job.options.effort is not None:
            argv += ["--config", f"model_reasoning_effort={json.dumps(job.options.effort)}"]
        return Command(
            argv=(*argv, "-"),
            environment=((DUMMY_VARIABLE, DUMMY_KEY), ("HTTPS_PROXY", NOWHERE)),
            stdin=prompt.encode("utf-8", "replace"),
        )

    def said(self, stdout: bytes) -> Said:
        return read(stdout)


def read(stdout: bytes) -> Said:
    """What the stream of `codex exec --json` tells."""
    calls: dict[str, ToolCall] = {}
    reply: str | None = None
    error: str | None = None
    done = False
    for row in agent_jobs.json_rows(stdout):
        item = row.get("item") or {}
        match row.get("type"):
            case "item.started" | "item.updated" | "item.completed":
                if item.get("type") == "agent_message":
                    reply = str(item.get("text", ""))
                call = _call(item)
                if call is not None:
                    calls[call.call_id] = call
            case "turn.completed":
                done = True
            case "turn.failed":
                error = _message(row.get("error") or {})
            case "error":
                error = _message(row)
    ended = reply if done else None
    return Said(reply=ended, calls=tuple(calls.values()), error=None if done else error)


def _call(item: Mapping[str, Any]) -> ToolCall | None:
    identity = str(item.get("id"))
    match item.get("type"):
        case "command_execution":
            command = unwrapped(str(item.get("command", "")))
            code = item.get("exit_code")
            return ToolCall(
                call_id=identity,
                name="exec_command",
                arguments=json.dumps({"cmd": command}, ensure_ascii=False),
                command=command,
                result=None if code is None else str(item.get("aggregated_output", "")),
                status=CallStatus.UNKNOWN if code is None else _status(failed=code != 0),
                exit_code=code,
                skills=skills_read(command),
            )
        case "file_change":
            changes = item.get("changes") or []
            return ToolCall(
                call_id=identity,
                name="apply_patch",
                arguments=json.dumps(changes, ensure_ascii=False),
                files=tuple(str(change.get("path")) for change in changes),
                status=_status(failed=item.get("status") == "failed"),
            )
        case "mcp_tool_call":
            return ToolCall(
                call_id=identity,
                name=f"{item.get('server')}.{item.get('tool')}",
                arguments=json.dumps(item.get("arguments"), ensure_ascii=False),
                status=_status(failed=item.get("status") == "failed"),
            )
    return None


def _status(*, failed: bool) -> CallStatus:
    return CallStatus.ERROR if failed else CallStatus.OK


def unwrapped(command: str) -> str:
    """The command line in `/bin/bash -lc '...'`; any other as it is."""
    try:
        parts = shlex.split(command)
    except ValueError:
        return command
    return parts[2] if len(parts) == 3 and parts[1] in {"-lc", "-c"} else command


def _message(error: Mapping[str, Any]) -> str:
    return str(error.get("message") or "it did not say why")


def _natives(path: Path) -> Iterator[Path]:
    """Where npm puts the native program of the wrapper at this path."""
    name = NATIVE.format(architecture=agent_jobs.architecture())
    for folder in agent_jobs.module_folders(path):
        yield from sorted((folder / name).glob("vendor/*/bin/codex"))
