"""Carries out jobs with Claude Code, headless, in the sandbox."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from nightschool.adapters import agent_jobs
from nightschool.adapters.agent_jobs import DUMMY_KEY, INSIDE_AGENT, Agent, Program, Said, Way
from nightschool.adapters.claude_code.home import APPROVED
from nightschool.adapters.claude_code.rows import skills_of
from nightschool.core.errors import AuthenticationFailed, RunnerUnusable
from nightschool.core.jobs import Job
from nightschool.core.ports import Workspace
from nightschool.core.sandboxes import Command
from nightschool.core.sessions import CallStatus, ToolCall
from nightschool.core.spent import money_of

INSTALL = "`npm install -g @anthropic-ai/claude-code`, or see https://code.claude.com/docs/en/setup"
ENDPOINT = "https://api.anthropic.com"
PACKAGE = "@anthropic-ai/claude-code-linux-{architecture}/claude"
SUBSCRIPTION = "CLAUDE_CODE_OAUTH_TOKEN"
"""The agent's own headless token, from `claude setup-token`."""
FIXED = {
    "IS_SANDBOX": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_MAX_RETRIES": "2",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
}
"""`IS_SANDBOX` lets it work without asking. A busy model is our own retry's concern, not the agent's."""


@dataclass(slots=True, kw_only=True)
class ClaudeCodeRunner(Agent):
    """The `Runner` of Claude Code."""

    key_variable: str = "ANTHROPIC_API_KEY"
    name: str = "claude-code"
    title: str = "Claude Code"

    def version_in(self, text: str) -> str | None:
        """`2.1.197 (Claude Code)`."""
        return text.split(maxsplit=1)[0] if text[:1].isdigit() else None

    def program(self) -> Program:
        path = agent_jobs.found("claude", self.binary, self.environment, INSTALL)
        native = PACKAGE.format(architecture=agent_jobs.architecture())
        places = [path, *(folder / native for folder in agent_jobs.module_folders(path))]
        for place in places:
            if agent_jobs.is_native(place):
                inside = f"{INSIDE_AGENT}/claude"
                return Program(host=place, readable=(str(place), inside), inside=inside)
        raise RunnerUnusable(
            f"{path} is no native program, and none lies beside it. Where npm skipped install scripts run "
            f"`node {path.parent.parent}/install.cjs` once; an old version: {INSTALL}"
        )

    def upstream(self) -> str:
        return self.endpoint or self.environment.get("ANTHROPIC_BASE_URL") or ENDPOINT

    def way(self) -> Way:
        headers, _ = self._credentials()
        return Way(upstream=self.upstream(), headers=headers, paths=("/v1/messages",))

    def _credentials(self) -> tuple[dict[str, str], str]:
        """The header that the gateway puts in, and the variable that makes the agent inside expect one."""
        key = self.environment.get(self.key_variable)
        if key:
            return {"x-api-key": key}, "ANTHROPIC_API_KEY"
        token = self.environment.get(SUBSCRIPTION)
        if token:
            # The agent, given a token of this kind, adds the other headers that go with it.
            return {"Authorization": f"Bearer {token}"}, SUBSCRIPTION
        raise AuthenticationFailed(
            f"Claude Code has no key for the sandbox: set {self.key_variable}, or {SUBSCRIPTION} "
            "from `claude setup-token`. A login in ~/.claude is never copied."
        )

    def command(self, workspace: Workspace, job: Job, prompt: str) -> Command:
        argv = [
            f"{INSIDE_AGENT}/claude",
            "--print",
            "--verbose",
            "--output-format",
            "stream-json",
            "--dangerously-skip-permissions",
            "--strict-mcp-config",
        ]
        if job.options.model is not None:
            argv += ["--model", job.options.model]
        if job.options.effort is not None:
            argv += ["--effort", job.options.effort]
        # Only what the person approved is placed in this HOME, so here it may be imported.
        places = {workspace.inside_root, f"{workspace.inside_root}/{job.folder}".rstrip("/")}
        state = {"projects": {place: {APPROVED: True} for place in sorted(places)}}
        (workspace.home / ".claude.json").write_text(json.dumps(state), encoding="utf-8")
        variable = self._credentials()[1]
        environment = {**FIXED, "ANTHROPIC_BASE_URL": str(workspace.gateway_url), variable: DUMMY_KEY}
        return Command(
            argv=tuple(argv), environment=tuple(environment.items()), stdin=prompt.encode("utf-8", "replace")
        )

    def said(self, stdout: bytes) -> Said:
        return read(stdout)


def read(stdout: bytes) -> Said:
    """What the stream of `--output-format stream-json` tells."""
    calls: dict[str, ToolCall] = {}
    end: Mapping[str, Any] | None = None
    for row in agent_jobs.json_rows(stdout):
        match row.get("type"):
            case "assistant" | "user":
                content = row.get("message", {}).get("content", [])
                for block in content if isinstance(content, list) else []:
                    _note(block, calls)
            case "result":
                end = row
    if end is None:
        return Said(calls=tuple(calls.values()))
    text = str(end.get("result") or "")
    failed = bool(end.get("is_error")) or end.get("subtype") != "success"
    return Said(
        reply=text,
        calls=tuple(calls.values()),
        cost=money_of(end.get("total_cost_usd")),
        error=(text or str(end.get("subtype"))) if failed else None,
        refused=end.get("stop_reason") == "refusal",
    )


def _note(block: Mapping[str, Any], calls: dict[str, ToolCall]) -> None:
    """Take down a call, or join a result to its call."""
    if block.get("type") == "tool_use":
        given = block.get("input", {})
        path = given.get("file_path") or given.get("notebook_path")
        identity = str(block.get("id"))
        calls[identity] = ToolCall(
            call_id=identity,
            name=str(block.get("name")),
            arguments=json.dumps(given, ensure_ascii=False),
            command=given.get("command") if block.get("name") == "Bash" else None,
            files=(path,) if path and block.get("name") != "Read" else (),
            skills=skills_of(str(block.get("name")), given),
        )
    elif block.get("type") == "tool_result" and str(block.get("tool_use_id")) in calls:
        identity = str(block["tool_use_id"])
        status = CallStatus.ERROR if block.get("is_error") else CallStatus.OK
        calls[identity] = replace(
            calls[identity], result=agent_jobs.joined(block.get("content")), status=status
        )
