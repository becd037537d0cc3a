"""Claude Code at the keyboard."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from agents.recording.hands import HELPER_PROMPT, MODEL, PROJECT, SKILL, Hands, Tools

_KEY = "sk-ant-api03-scripted-key-0001"
_APPROVED = 20
"""It keeps the last characters of a key that a person has approved."""


def _lay_out(home: Path, url: str) -> Mapping[str, str]:
    project = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    settings = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [_KEY[-_APPROVED:]], "rejected": []},
        "projects": {str(home / PROJECT): project},
    }
    (home / ".claude.json").write_text(json.dumps(settings), encoding="utf-8")
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": _KEY,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
    }


CLAUDE_CODE = Hands(
    source="claude-code",
    package="@anthropic-ai/claude-code",
    program="claude",
    stores=(".claude/projects",),
    skills=".claude/skills",
    tools=Tools(
        runs="Bash",
        write="Write",
        skill=("Skill", {"skill": SKILL}),
        helper=(
            "Agent",
            {"description": "Count", "prompt": HELPER_PROMPT, "subagent_type": "general-purpose"},
        ),
    ),
    lay_out=_lay_out,
    arguments=("--model", MODEL, "--permission-mode", "default"),
    ready="? for shortcuts",
    leave="/exit",
    headless=lambda prompt: ("-p", prompt, "--model", MODEL, "--allowedTools", "Bash", "Write"),
    resume=("--continue",),
    fork=lambda _home: ("--continue", "--fork-session"),
    compact="/compact",
    compacted="Compacted",
    asks="Do you want to",
    stopped="Interrupted",
    model="scripted-1",
    helpers={"sub-agent": 1},
    cut="unknown",
    killed="refused",  # as if a person had turned it down: a signal leaves no other trace
)
