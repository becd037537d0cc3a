"""The real agents, in pinned versions, and a scripted model for each test."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from agents.stages import MODULES, Agents, MakeStage, open_stage


@pytest.fixture(scope="session")
def agents_env() -> Agents:
    """Paths of both programs. Fails, not skips, where they are missing."""
    claude, codex = MODULES / ".bin/claude", MODULES / ".bin/codex"
    missing = [str(path) for path in (claude, codex) if not path.exists()]
    if missing:
        pytest.fail(f"{', '.join(missing)} missing: run `make test-agents`, which installs the agents")
    return Agents(claude=claude, codex=codex)


@pytest.fixture
def make_stage(agents_env: Agents, tmp_path: Path) -> MakeStage:
    """`with make_stage("codex", script) as stage:` with the right key, or another by `key=`."""
    return partial(open_stage, agents_env, tmp_path / "work")
