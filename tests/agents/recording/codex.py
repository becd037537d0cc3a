"""Codex at the keyboard. It asks leave by a rule of the person's, and edits with its shell."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from agents.recording.hands import HELPER_PROMPT, MODEL, PROJECT, SKILL, Hands, Tools

_SETTINGS = """
model = "{model}"
model_provider = "fake"
approval_policy = "on-request"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[model_providers.fake]
name = "fake"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
request_max_retries = 0
stream_max_retries = 0
[projects."{project}"]
trust_level = "trusted"
[analytics]
enabled = false
"""


def _lay_out(home: Path, url: str) -> Mapping[str, str]:
    folder = home / ".codex"
    (folder / "rules").mkdir(parents=True)
    settings = _SETTINGS.format(model=MODEL, url=url, project=home / PROJECT)
    (folder / "config.toml").write_text(settings, encoding="utf-8")
    (folder / "rules/default.rules").write_text('prefix_rule(pattern = ["rm"], decision = "prompt")\n')
    return {"FAKE_KEY": "k"}


CODEX = Hands(
    source="codex",
    package="@openai/codex",
    program="codex",
    stores=(".codex/sessions",),
    skills=".codex/skills",
    tools=Tools(
        runs="exec_command",
        write="exec_command",
        skill=("shell", {"command": f"cat .codex/skills/{SKILL}/SKILL.md"}),
        helper=("spawn_agent", {"message": HELPER_PROMPT}),
    ),
    lay_out=_lay_out,
    arguments=(),
    ready="? for shortcuts",
    leave="/quit",
    headless=lambda prompt: ("exec", "--skip-git-repo-check", prompt),
    resume=("resume", "--last"),
    fork=lambda _home: ("fork", "--last"),
    compact="/compact",
    compacted="Context compacted",
    asks="Would you like to run",
    stopped="Conversation interrupted",
    refused="unknown",  # no row tells it from an interruption
    refusing_stops=True,
    cut="unknown",
    helpers={"sub-agent": 1},
    killing_stops=True,
    forks_whole=False,
)
