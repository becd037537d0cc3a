"""One real agent on a stage of its own: sandbox, surface, scripted model."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from nightschool.adapters.agent_jobs import Tools
from nightschool.adapters.bubblewrap import BubblewrapSandbox
from nightschool.adapters.claude_code.runner import ClaudeCodeRunner
from nightschool.adapters.claude_code.surface import ClaudeCodeSurface
from nightschool.adapters.codex.runner import CodexRunner
from nightschool.adapters.codex.surface import CodexSurface
from nightschool.core.ports import Runner, Surface
from nightschool.testing.model_server import ModelServer
from nightschool.testing.script import Script

MODULES = Path(os.environ.get("AGENT_MODULES") or Path(__file__).parent / "node_modules")
"""Where npm put the agents: the pinned ones, or those that `make test-newest` names."""
KEY = "the-right-key"


@dataclass(frozen=True, slots=True, kw_only=True)
class Agents:
    """Both agents as npm installed them: what a person would have on PATH."""

    claude: Path
    codex: Path

    @property
    def path(self) -> str:
        return str(self.claude.parent)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One agent with its surface, ready to run against the scripted model."""

    name: str
    runner: Runner
    surface: Surface
    model: ModelServer

    @property
    def memory(self) -> str:
        return self.surface.memory_target(project="/any").place

    @property
    def own_memory(self) -> str:
        return self.surface.memory_target(project=None).place


class MakeStage(Protocol):
    def __call__(self, name: str, script: Script, key: str = KEY) -> AbstractContextManager[Stage]: ...


@contextmanager
def open_stage(agents: Agents, work: Path, name: str, script: Script, key: str = KEY) -> Iterator[Stage]:
    """The agent of that name, whose model behaves as the script says."""
    surface: Surface = ClaudeCodeSurface() if name == "claude-code" else CodexSurface()
    tools = Tools(sandbox=BubblewrapSandbox(work=work), surface=surface, redact=str)
    with ModelServer(script, key=KEY) as model:
        environment = {"PATH": f"{agents.path}:{os.defpath}"}
        if name == "claude-code":
            environment |= {"ANTHROPIC_API_KEY": key, "ANTHROPIC_BASE_URL": model.url}
            runner: Runner = ClaudeCodeRunner(tools=tools, environment=environment)
        else:
            environment |= {"OPENAI_API_KEY": key, "OPENAI_BASE_URL": f"{model.url}/v1"}
            runner = CodexRunner(tools=tools, environment=environment)
        yield Stage(name=name, runner=runner, surface=surface, model=model)
