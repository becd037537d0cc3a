"""What Codex lets us edit: AGENTS.md and skills."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from nightschool.adapters import harness_files
from nightschool.adapters.codex.home import HOME, configured
from nightschool.adapters.file_surface import FileSurface, Layout
from nightschool.core.harness import File, Harness, Problem, Severity

OVERRIDE = "AGENTS.override.md"
MEMORY = ("AGENTS.md", OVERRIDE)
LIMIT = 32 * 1024
"""Bytes of project memory that Codex reads (`project_doc_max_bytes`), from the project's root down to the
folder that it works in; the rest is cut without a word. The person's own file is read whole."""


class CodexSurface(FileSurface):
    """The `Surface` of Codex, as of 0.171."""

    name = "codex"
    version = "codex-3"
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
        found = list(_cut(harness))
        for file in harness.files:
            found.extend(harness_files.skill_problems(file))
            if PurePosixPath(file.path).name not in MEMORY:
                continue
            found.extend(harness_files.text_problems(file))
            override = self.read_instead(file.path, harness)
            if override is not None:
                text = f"is not read while {override} is there"
                found.append(Problem(severity=Severity.WARNING, path=file.path, text=text))
        return found

    def read_instead(self, place: str, harness: Harness) -> str | None:
        """A project's override is read even when it is empty, the person's only with text in it."""
        path = PurePosixPath(place)
        if path.name != self.layout.memory:
            return None
        override = harness.get(str(path.with_name(OVERRIDE)))
        if override is None or (place.startswith("user/") and not override.content.strip()):
            return None
        return override.path


def _cut(harness: Harness) -> Iterator[Problem]:
    """What Codex reads in part, or not at all: a file that grows may silence those in the folders below."""
    read = {
        PurePosixPath(file.path).parent: file
        for name in MEMORY  # where both are there, the override is read
        for file in harness.files
        if file.path.startswith("project/") and PurePosixPath(file.path).name == name
    }
    for folder, file in read.items():
        above = sum(_size(read, place) for place in folder.parents)
        own = len(file.content)
        if own + above > LIMIT:
            behind = f" behind {above} of the folders above it" if above else ""
            text = f"has {own} bytes{behind}; Codex reads the first {LIMIT} and cuts the rest"
            yield Problem(severity=Severity.ERROR, path=file.path, text=text)


def _size(read: Mapping[PurePosixPath, File], folder: PurePosixPath) -> int:
    return len(read[folder].content) if folder in read else 0
