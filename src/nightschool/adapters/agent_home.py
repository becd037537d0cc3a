"""Where an agent keeps what is the person's: memory, settings, sessions. The one place that knows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentHome:
    """An agent's folder: what it is called in HOME, and the variable that moves it elsewhere."""

    variable: str
    usual: str
    sessions: tuple[str, ...]
    """Folders in it that hold transcripts."""

    def folder(self, home: Path, environment: Mapping[str, str]) -> Path:
        moved = environment.get(self.variable)
        return Path(moved).absolute() if moved else home / self.usual

    def session_folders(self, home: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
        return tuple(self.folder(home, environment) / name for name in self.sessions)
