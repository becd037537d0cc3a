"""Copilot CLI at the keyboard, with a provider of the person's own: no account is needed for that."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from agents.recording.hands import HELPER_PROMPT, MODEL, SKILL, Hands, Tools


def _lay_out(home: Path, url: str) -> Mapping[str, str]:
    del home
    return {
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_PROVIDER_TYPE": "openai",
        "COPILOT_PROVIDER_API_KEY": "k",
        "COPILOT_MODEL": MODEL,
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
    }


COPILOT = Hands(
    source="copilot",
    package="@github/copilot",
    program="copilot",
    stores=(".copilot/session-state",),
    skills=".github/skills",
    tools=Tools(
        runs="bash",
        write="create",
        skill=("skill", {"skill": SKILL}),
        helper=(
            "task",
            {"description": "Count", "prompt": HELPER_PROMPT, "agent_type": "task", "name": "count"},
        ),
    ),
    lay_out=_lay_out,
    arguments=(),
    ready="/ commands",
    leave="/exit",
    headless=lambda prompt: ("-p", prompt, "--allow-all-tools"),
    resume=("--continue",),
    fork=None,
    compact="/compact",
    compacted="ompact",
    asks="Do you want to",
    refuse=("3", "no", "Enter"),
    stop=("Escape", "Escape"),
    stopped="peration cancel",
    trust="Do you trust the files",
    model="fake-1",
    knows_headless=False,
    killing_stops=True,
    cut="unknown",
)
