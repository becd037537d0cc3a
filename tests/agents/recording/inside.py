"""Runs in the booth: plays one scene with one agent. `python -m agents.recording.inside AGENT SCENE`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from agents.recording.agents import HANDS
from agents.recording.scenes import play

SENT = "sent.json"


def main() -> None:
    agent, scene = sys.argv[1:]
    home = Path.home()
    model = play(HANDS[agent], scene, home)
    sent = [[seen.path, seen.body] for seen in model.requests]
    (home / SENT).write_text(json.dumps(sent), encoding="utf-8")


if __name__ == "__main__":
    main()
