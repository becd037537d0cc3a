"""Gemini CLI at the keyboard."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from agents.recording.hands import HELPER_PROMPT, SKILL, Hands, Tools

_MODEL = ("--model", "gemini-2.5-flash")


def _lay_out(home: Path, url: str) -> Mapping[str, str]:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
    }
    folder = home / ".gemini"
    folder.mkdir(parents=True)
    (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    return {"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": url}


GEMINI = Hands(
    source="gemini",
    package="@google/gemini-cli",
    program="gemini",
    stores=(".gemini/tmp",),
    skills=".gemini/skills",
    tools=Tools(
        runs="run_shell_command",
        write="write_file",
        skill=("activate_skill", {"name": SKILL}),
        helper=("invoke_agent", {"agent_name": "generalist", "prompt": HELPER_PROMPT}),
        helper_ends=("complete_task", {"result": "None."}),
    ),
    lay_out=_lay_out,
    arguments=_MODEL,
    ready="Type your message",
    leave="/quit",
    headless=lambda prompt: ("-p", prompt, *_MODEL, "--yolo", "--skip-trust"),
    resume=("--resume", "latest"),
    fork=None,
    compact="/compress",
    compacted="compressed from",
    asks="1. Allow once",
    stopped="Request cancelled",
    model="gemini-2.5-flash",
    failed="ok",
    helpers={"sub-agent": 1},
    knows_headless=False,
    refusing_stops=True,
    cut="unknown",
    killed=None,
)
