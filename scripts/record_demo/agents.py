"""The two agents as they are set up for a recording: files, environment, command line, transcript."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from scripts.record_demo.sessions import PROJECT

KEY = "sk-ant-scripted-0000000000000000000000000000"
"""No key of anyone: the scripted model takes all."""
CODEX_CONFIG = """\
model = "scripted-1"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 1
stream_max_retries = 1

[projects."{project}"]
trust_level = "trusted"
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """How one agent is started, and how one sees that it is ready."""

    name: str
    argv: tuple[str, ...]
    environment: dict[str, str]
    transcripts: str
    """A pattern below HOME."""
    ready: str
    """A text on the screen when a prompt may be typed."""


def claude_code(home: Path, url: str) -> Setup:
    (home / ".claude").mkdir()
    settings = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
        "projects": {PROJECT: {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}},
    }
    (home / ".claude.json").write_text(json.dumps(settings))
    allowed = {"permissions": {"allow": ["Read", "Write", "Edit", "Bash(git status:*)"]}}
    (home / ".claude/settings.json").write_text(json.dumps(allowed))
    environment = {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": KEY,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
    }
    binary = "/opt/agents/@anthropic-ai/claude-code/bin/claude.exe"
    argv = (binary, "--permission-mode", "acceptEdits")
    return Setup(
        name="claude-code",
        argv=argv,
        environment=environment,
        transcripts=".claude/projects/*/*.jsonl",
        ready="accept edits on",
    )


def codex(home: Path, url: str) -> Setup:
    (home / ".codex").mkdir()
    (home / ".codex/config.toml").write_text(CODEX_CONFIG.format(url=url, project=PROJECT))
    return Setup(
        name="codex",
        argv=("/opt/agents/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",),
        environment={"SCRIPTED_KEY": KEY},
        transcripts=".codex/sessions/*/*/*/*.jsonl",
        ready="scripted-1",
    )
