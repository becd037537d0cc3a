"""OpenCode at the keyboard."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from agents.recording.hands import HELPER_PROMPT, MODEL, SKILL, Hands, Tools


def _lay_out(home: Path, url: str) -> Mapping[str, str]:
    fake = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Fake",
        "options": {"baseURL": f"{url}/v1", "apiKey": "k"},
        "models": {MODEL: {"name": MODEL, "limit": {"context": 100_000, "output": 4000}}},
    }
    settings = {
        "provider": {"fake": fake},
        "model": f"fake/{MODEL}",
        "small_model": f"fake/{MODEL}",
        "autoupdate": False,
        "share": "disabled",
        "permission": {"bash": "ask"},
    }
    folder = home / ".config/opencode"
    folder.mkdir(parents=True)
    (folder / "opencode.json").write_text(json.dumps(settings), encoding="utf-8")
    return {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"}


OPENCODE = Hands(
    source="opencode",
    package="opencode-ai",
    program="opencode",
    stores=(".local/share/opencode/opencode.db",),
    skills=".opencode/skills",
    tools=Tools(
        runs="bash",
        write="write",
        skill=("skill", {"name": SKILL}),
        helper=("task", {"description": "Count", "prompt": HELPER_PROMPT, "subagent_type": "general"}),
    ),
    lay_out=_lay_out,
    arguments=(),
    ready="ctrl+p commands",
    leave="/exit",
    headless=lambda prompt: ("run", "--auto", prompt),
    resume=("--continue",),
    fork=lambda _home: ("--continue", "--fork"),
    compact="/compact",
    compacted="Compaction",
    asks="Permission required",
    refuse=("Escape",),
    stop=("Escape", "Escape"),
    stopped="interrupted",
    helpers={"sub-agent": 1},
    cut="unknown",
)
