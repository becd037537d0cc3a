"""What Claude Code lets us edit: CLAUDE.md, rules, skills, sub-agents, hooks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from nightschool.adapters import harness_files
from nightschool.adapters.claude_code.home import HOME, configured, imports_from_outside
from nightschool.adapters.file_surface import FileSurface, Layout
from nightschool.core.harness import Harness, Problem

MEMORY = frozenset({"CLAUDE.md", "CLAUDE.local.md"})
LISTING = 8_000
"""Characters of the list of skills that Claude Code has room for, where the model's window is not known."""
NESTED = (
    "CLAUDE.md",
    "CLAUDE.local.md",
    ".claude/CLAUDE.md",
    ".claude/rules",
    ".claude/skills",
)


def is_memory(path: str) -> bool:
    """Whether Claude Code takes the whole text as memory, with its imports."""
    pure = PurePosixPath(path)
    return pure.name in MEMORY or (pure.suffix == ".md" and "/.claude/rules/" in path)


class ClaudeCodeSurface(FileSurface):
    """The `Surface` of Claude Code, as of 2.1."""

    name = "claude-code"
    version = "claude-code-2"
    layout = Layout(
        home=HOME,
        configured=configured,
        memory="CLAUDE.md",
        project=(*NESTED, ".claude/agents", ".claude/commands", ".claude/hooks", ".claude/settings.json"),
        nested=NESTED,
        own=("CLAUDE.md", "agents", "commands", "rules", "skills"),
        skills=(".claude/skills",),
        own_skills=(f"{HOME.usual}/skills",),
        imports=is_memory,
        imports_from_outside=imports_from_outside,
    )

    def problems(self, harness: Harness) -> Sequence[Problem]:
        found: list[Problem] = []
        for file in harness.files:
            found.extend(harness_files.skill_problems(file))
            if is_memory(file.path):
                found.extend(harness_files.text_problems(file))
        found.extend(harness_files.listing_problems(harness, self.skills(harness), LISTING, "Claude Code"))
        return found
