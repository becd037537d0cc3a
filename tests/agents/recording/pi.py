"""pi at the keyboard. It asks leave for nothing and has no sub-agents."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from agents.recording.hands import MODEL, PROJECT, SKILL, Hands, Tools

_FOLDER = ".pi/agent"
_MODEL = ("--provider", "fake", "--model", MODEL)


def _lay_out(home: Path, url: str) -> Mapping[str, str]:
    fake = {"baseUrl": f"{url}/v1", "api": "openai-completions", "apiKey": "k", "models": [{"id": MODEL}]}
    folder = home / _FOLDER
    folder.mkdir(parents=True)
    (folder / "models.json").write_text(json.dumps({"providers": {"fake": fake}}), encoding="utf-8")
    return {"PI_OFFLINE": "1", "PI_TELEMETRY": "0"}


PI = Hands(
    source="pi",
    package="@mariozechner/pi-coding-agent",
    program="pi",
    stores=(f"{_FOLDER}/sessions",),
    skills=".pi/skills",
    tools=Tools(
        runs="bash",
        write="write",
        skill=("read", {"path": f"/home/sam/{PROJECT}/.pi/skills/{SKILL}/SKILL.md"}),
    ),
    lay_out=_lay_out,
    arguments=_MODEL,
    ready="(auto)",
    leave="/quit",
    headless=lambda prompt: ("-p", *_MODEL, prompt),
    resume=("--continue",),
    fork=lambda home: ("--fork", str(max((home / _FOLDER / "sessions").glob("*/*.jsonl")))),
    compact="/compact",
    compacted="Compacted from",
    asks=None,
    stopped="Operation aborted",
    knows_headless=False,
)
