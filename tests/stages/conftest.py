"""What tests of publishing begin with: an empty store, and a live memory file."""

from __future__ import annotations

from pathlib import Path

import pytest

from nightschool.testing.memory_store import MemoryStore
from publish_builders import BEFORE, MODE


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "project" / "CLAUDE.md"
    path.parent.mkdir()
    path.write_bytes(BEFORE)
    path.chmod(MODE)
    return path
