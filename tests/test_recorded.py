"""Sessions that today's agents recorded, against what was meant by them.

`tests/fixtures/AGENT/VERSION/SCENE` holds what the real agent left in a HOME, and `expected.json` what a
right harvest makes of it, written from the scene and not from a harvest. How they are remade is told there.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from agents.recording.agents import HANDS
from agents.recording.meant import expected
from agents.recording.normal import LONGEST, runs, told
from agents.recording.scenes import AGAIN, GREET, OTHER, scenes_of
from nightschool.rules.sessions import without_copies
from recorded import DUMP, FIXTURES, Recording, harvested, read, recordings

ALL = recordings()
MOST_BYTES = 64_000
MOST_BYTES_OF_ALL = 750_000
OF_A_VENDOR = (
    "You are Claude Code", "You are Codex", "You are opencode", "You are OpenCode", "You are Gemini",
    "You are an", "You are a ", "IMPORTANT:", "# Tone and style", "Use this tool", "You must", "NEVER",
)  # fmt: skip
"""How system prompts, descriptions of tools and reminders speak."""
OF_A_MACHINE = re.compile(
    r"/root/|/tmp/(?!claude-1000/)|/work\b|node_modules|/opt/|\broot@|-fc-|sk-ant|20\d\d-(?!01-05)\d\d-\d\dT"
)


def named(recording: Recording) -> str:
    return recording.name


@pytest.mark.parametrize("recording", ALL, ids=named)
def test_a_session_is_read_as_it_was_meant(recording: Recording, tmp_path: Path) -> None:
    """Turns that a person typed, calls and how they ended, interruptions, skills, model and folder, and what
    is left out: exactly what was played."""
    assert read(recording.agent, recording.laid_out(tmp_path)) == recording.expected


@pytest.mark.parametrize("recording", [one for one in ALL if one.folder.name == "resumed"], ids=named)
def test_what_was_copied_counts_once(recording: Recording, tmp_path: Path) -> None:
    """A session that was gone on with, and its copy: each word was typed once."""
    report = harvested(recording.agent, recording.laid_out(tmp_path))
    typed = [turn.text for session in without_copies(report.sessions) for turn in session.human_turns]
    assert sorted(typed) == sorted([GREET, AGAIN, OTHER][: 3 if HANDS[recording.agent].fork else 2])


def test_each_agent_has_each_scene() -> None:
    """All that can be played with an agent was recorded, with what the scene means today."""
    for agent, hands in HANDS.items():
        recorded = {one.folder.name: one for one in ALL if one.agent == agent}
        assert set(recorded) == set(scenes_of(hands)), agent
        assert all(one.expected == expected(hands, scene) for scene, one in recorded.items()), agent


@pytest.mark.parametrize("recording", ALL, ids=named)
def test_no_text_of_a_vendor_and_nothing_of_a_machine(recording: Recording) -> None:
    """Long texts are cut, no known phrase of a system prompt is left, and no path, date or key of where it
    was recorded."""
    for path in recording.files():
        text = path.read_text(encoding="utf-8")
        assert len(text.encode()) < MOST_BYTES, path
        assert [phrase for phrase in OF_A_VENDOR if phrase in text] == [], path
        assert OF_A_MACHINE.findall(text) == [], path
        if path.suffix == ".jsonl":
            rows = [json.loads(line) for line in text.split("\n") if line]
            assert [one for row in rows for one in told(row) if len(one) > 2 * LONGEST] == [], path


def test_recordings_are_of_the_pinned_versions() -> None:
    """Those that `make fixtures` installs; `make test-agents` plays the same."""
    agents = Path(__file__).parent / "agents"
    pinned, played = (
        json.loads((folder / "package.json").read_text(encoding="utf-8"))["dependencies"]
        for folder in (agents / "recording", agents)
    )
    assert played.items() <= pinned.items()
    newest = {one.agent: one.version for one in ALL}
    assert {HANDS[agent].package: version for agent, version in newest.items()} == pinned


def test_all_recordings_are_small() -> None:
    """They are read by people, and cloned by everyone."""
    sizes = {path: path.stat().st_size for path in FIXTURES.rglob("*") if path.is_file()}
    assert sum(sizes.values()) < MOST_BYTES_OF_ALL


def test_runs_tell_a_copied_text() -> None:
    """Nine words in a row of somebody else's are found, fewer are everybody's."""
    assert len(list(runs("one two three four five six seven eight nine ten"))) == 2
    assert list(runs("one two three four five six seven eight")) == []
    assert list(told({"type": "tool_result", "content": "x"})) == []
    assert DUMP.endswith(".sql")
