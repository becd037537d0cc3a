"""What Claude Code lets us edit: CLAUDE.md, rules, skills, sub-agents, hooks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nightschool.adapters import harness_files
from nightschool.adapters.harness_files import Place
from nightschool.core.harness import Harness, Problem, Scope, Target

PROJECT = (
    "CLAUDE.md",
    "CLAUDE.local.md",
    ".claude/CLAUDE.md",
    ".claude/agents",
    ".claude/commands",
    ".claude/hooks",
    ".claude/rules",
    ".claude/settings.json",
    ".claude/skills",
)
USER = (".claude/CLAUDE.md", ".claude/agents", ".claude/commands", ".claude/rules", ".claude/skills")
"""Not the person's settings, which may hold keys, nor anything that holds a login or a transcript."""
MEMORY = (
    "project/CLAUDE.md",
    "project/CLAUDE.local.md",
    "project/.claude/CLAUDE.md",
    "user/.claude/CLAUDE.md",
)


class ClaudeCodeSurface:
    """The `Surface` of Claude Code, as of 2.1."""

    name = "claude-code"
    version = "claude-code-1"

    def memory_target(self, *, project: str | None) -> Target:
        if project is None:
            return Target(agent=self.name, scope=Scope.USER, project="", place="user/.claude/CLAUDE.md")
        return Target(agent=self.name, scope=Scope.PROJECT, project=project, place="project/CLAUDE.md")

    def live_path(self, target: Target, home: Path) -> Path:
        prefix, _, inside = target.place.partition("/")
        return (Path(target.project) if prefix == "project" else home) / inside

    def load(self, project: Path | None, home: Path) -> Harness:
        places = [Place(base=home, prefix="user", names=USER)]
        if project is not None:
            places.insert(0, Place(base=project, prefix="project", names=PROJECT))
        found = harness_files.collect(places)
        return Harness.of([*found.values(), *harness_files.imported(found, places, MEMORY).values()])

    def place(self, harness: Harness, root: Path, home: Path) -> None:
        harness_files.place(harness, root, home)

    def problems(self, harness: Harness) -> Sequence[Problem]:
        found: list[Problem] = []
        for file in harness.files:
            found.extend(harness_files.skill_problems(file))
            if file.path in MEMORY:
                found.extend(harness_files.text_problems(file))
        return found
