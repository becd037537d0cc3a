"""What Codex lets us edit: AGENTS.md and skills."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nightschool.adapters import harness_files
from nightschool.adapters.harness_files import Place
from nightschool.core.harness import Harness, Problem, Scope, Severity, Target

PROJECT = ("AGENTS.md", "AGENTS.override.md", ".agents/skills", ".codex/skills")
USER = (".codex/AGENTS.md", ".codex/AGENTS.override.md", ".agents/skills", ".codex/skills")
"""Not config.toml, which may hold keys, nor anything that holds a login or a transcript."""
MEMORY = (
    "project/AGENTS.md",
    "project/AGENTS.override.md",
    "user/.codex/AGENTS.md",
    "user/.codex/AGENTS.override.md",
)
LIMIT = 32 * 1024
"""Bytes of project memory that Codex reads (`project_doc_max_bytes`); the rest is cut without a word."""


class CodexSurface:
    """The `Surface` of Codex, as of 0.171."""

    name = "codex"
    version = "codex-1"

    def memory_target(self, *, project: str | None) -> Target:
        if project is None:
            return Target(agent=self.name, scope=Scope.USER, project="", place="user/.codex/AGENTS.md")
        return Target(agent=self.name, scope=Scope.PROJECT, project=project, place="project/AGENTS.md")

    def live_path(self, target: Target, home: Path) -> Path:
        prefix, _, inside = target.place.partition("/")
        return (Path(target.project) if prefix == "project" else home) / inside

    def load(self, project: Path | None, home: Path) -> Harness:
        places = [Place(base=home, prefix="user", names=USER)]
        if project is not None:
            places.insert(0, Place(base=project, prefix="project", names=PROJECT))
        return Harness.of(harness_files.collect(places).values())

    def place(self, harness: Harness, root: Path, home: Path) -> None:
        harness_files.place(harness, root, home)

    def problems(self, harness: Harness) -> Sequence[Problem]:
        found: list[Problem] = []
        for file in harness.files:
            found.extend(harness_files.skill_problems(file))
            if file.path not in MEMORY:
                continue
            found.extend(harness_files.text_problems(file))
            if len(file.content) > LIMIT:
                text = f"has {len(file.content)} bytes; Codex reads the first {LIMIT} and cuts the rest"
                found.append(Problem(severity=Severity.WARNING, path=file.path, text=text))
            override = file.path.removesuffix(".md") + ".override.md"
            if harness.get(override) is not None:
                text = f"is not read while {override} is there"
                found.append(Problem(severity=Severity.WARNING, path=file.path, text=text))
        return found
