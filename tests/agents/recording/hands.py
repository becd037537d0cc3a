"""How a person handles one agent: how it is set up, opened, answered, stopped and left."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

MODEL = "fake-1"
PROJECT = "shop"
HELPER_PROMPT = "Count the files of this folder."
SKILL = "greeting"
SKILL_TEXT = f"---\nname: {SKILL}\ndescription: How this shop greets.\n---\nSay good day, and bow.\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What the agent calls its tools, as its transcripts name them, and how two of them are called."""

    runs: str
    """Its shell."""
    write: str
    skill: tuple[str, Mapping[str, object]]
    """The call that loads the skill."""
    helper: tuple[str, Mapping[str, object]] | None = None
    """The call that has a sub-agent do `HELPER_PROMPT`; None where there are no sub-agents."""
    helper_ends: tuple[str, Mapping[str, object]] | None = None
    """The call by which a sub-agent says that it is done; None where it just answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hands:
    """One agent."""

    source: str
    """The name of the source that reads it."""
    package: str
    program: str
    stores: tuple[str, ...]
    """Below HOME, what a fixture keeps of it."""
    skills: str
    """Below the project, the folder that it reads skills from."""
    tools: Tools
    lay_out: Callable[[Path, str], Mapping[str, str]]
    """Writes its settings for a HOME and the address of a model server; gives variables for it."""
    arguments: tuple[str, ...]
    """Of every start."""
    ready: str
    """Stands on the screen when the first prompt can be typed."""
    leave: str
    headless: Callable[[str], tuple[str, ...]]
    """The arguments of a run without a person, with this prompt."""
    resume: tuple[str, ...]
    """The arguments that go on with the newest session."""
    fork: Callable[[Path], tuple[str, ...]] | None
    """The arguments that start a copy of the newest session under this HOME."""
    compact: str
    compacted: str
    """Stands on the screen when it is done."""
    asks: str | None
    """Stands on the screen when leave is asked for a command; None where the agent never asks."""
    allow: tuple[str, ...] = ("Enter",)
    refuse: tuple[str, ...] = ("Escape",)
    stop: tuple[str, ...] = ("Escape",)
    stopped: str = ""
    """Stands on the screen when a command was stopped."""
    trust: str = ""
    """Stands on the screen of a first start that asks whether the folder is trusted; Enter says yes."""

    # How its transcripts tell what happened.
    model: str = MODEL
    failed: str = "error"
    """The status of a command that ended with a code other than 0."""
    refused: str = "refused"
    refusing_stops: bool = False
    """Whether it stops its turn when a call is refused."""
    cut: str = "error"
    """The status of a command that was stopped."""
    killed: str | None = "unknown"
    """The status of a command during which the agent was ended; None where nothing of it was written."""
    killing_stops: bool = False
    """Whether it writes that it was ended."""
    knows_headless: bool = True
    """Whether its transcripts tell a run without a person from others."""
    helpers: Mapping[str, int] = field(default_factory=dict)
    """What a harvest leaves out when a sub-agent was at work: how many, by reason."""
    forks_whole: bool = True
    """Whether a copy of a session holds what it was copied from."""
