"""What Codex lets us edit: AGENTS.md and skills."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from nightschool.adapters import harness_files
from nightschool.adapters.codex.home import HOME, configured
from nightschool.adapters.file_surface import FileSurface, Layout
from nightschool.core.harness import Harness, Problem, Severity

MEMORY = ("AGENTS.md", "AGENTS.override.md")
LIMIT = 32 * 1024
"""Bytes of project memory that Codex reads (`project_doc_max_bytes`); the rest is cut without a word. The
person's own file is read whole."""


class CodexSurface(FileSurface):
    """The `Surface` of Codex, as of 0.171."""

    name = "codex"
    version = "codex-2"
    layout = Layout(
        home=HOME,
        configured=configured,
        memory="AGENTS.md",
        project=(*MEMORY, ".agents/skills", ".codex/skills"),
        nested=MEMORY,
        own=(*MEMORY, "skills"),
        shared=(".agents/skills",),
        skills=(".agents/skills", ".codex/skills"),
        own_skills=(".agents/skills", f"{HOME.usual}/skills"),
    )

    def problems(self, harness: Harness) -> Sequence[Problem]:
        found: list[Problem] = []
        for file in harness.files:
            found.extend(harness_files.skill_problems(file))
            if PurePosixPath(file.path).name not in MEMORY:
                continue
            found.extend(harness_files.text_problems(file))
            if file.path.startswith("project/") and len(file.content) > LIMIT:
                text = f"has {len(file.content)} bytes; Codex reads the first {LIMIT} and cuts the rest"
                found.append(Problem(severity=Severity.ERROR, path=file.path, text=text))
            override = file.path.removesuffix(".md") + ".override.md"
            if harness.get(override) is not None:
                text = f"is not read while {override} is there"
                found.append(Problem(severity=Severity.WARNING, path=file.path, text=text))
        return found
