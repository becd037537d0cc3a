"""The agents as a person uses them, played at a terminal against the scripted model, and read by a harvest.

`make test-agents` plays a few scenes; `make test-newest` all of them with the newest agents, and tells which
kinds and keys of rows no fixture has.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from agents.recording.agents import HANDS
from agents.recording.meant import expected
from agents.recording.scenes import scenes_of
from agents.remake_fixtures import fixture, played, version, written
from agents.stages import MODULES
from recorded import Recording, read, recordings, shapes

pytestmark = pytest.mark.agents

FEW = ("claude-code/stopped", "codex/stopped", "pi/work")
ALL = tuple(f"{agent}/{scene}" for agent, hands in HANDS.items() for scene in scenes_of(hands))
NEWEST = os.environ.get("AGENT_SCENES") == "all"


@pytest.mark.parametrize("name", ALL if NEWEST else FEW)
def test_a_scene_is_read_as_it_was_meant(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a person typed, what was called and refused, where it was stopped: as it was played, from the
    files that the agent itself left."""
    agent, scene = name.split("/")
    hands, home = HANDS[agent], tmp_path / "home"
    home.mkdir()
    played(hands, scene, home, MODULES)
    if NEWEST:
        unseen = _unseen(agent, home, tmp_path)
        with capsys.disabled():
            told = "".join(f"\n  {shape}" for shape in unseen) or " none"
            sys.stdout.write(f"\n{name} {version(hands, MODULES)}: never seen before:{told}\n")
    assert read(agent, home) == expected(hands, scene)


def _unseen(agent: str, home: Path, work: Path) -> list[str]:
    """Kinds and keys of rows that no fixture of this agent has, in a form as fixtures have it."""
    now = Recording(folder=written(work / "now", fixture(HANDS[agent], home)))
    known: set[str] = set()
    for number, recording in enumerate(one for one in recordings() if one.agent == agent):
        known |= shapes(recording.laid_out(work / f"known-{number}"))
    return sorted(shapes(now.laid_out(work / "laid-out")) - known)
