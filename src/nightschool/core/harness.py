"""The files that shape an agent, as one tree with a digest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath

from nightschool.core.skills import FILE
from nightschool.core.values import Digest, Value, digest_of


@dataclass(frozen=True, slots=True, kw_only=True)
class File(Value):
    """A file of a tree: a relative POSIX path, its bytes and its permission bits."""

    path: str
    content: bytes
    mode: int = 0o644

    def __post_init__(self) -> None:
        check_relative(self.path)

    @property
    def digest(self) -> Digest:
        return digest_of(self.path, self.content, self.mode)


def check_relative(path: str) -> None:
    """Refuse paths that could leave a tree: absolute, empty, with `..`, NUL or a backslash."""
    pure = PurePosixPath(path)
    if (
        not path
        or pure.is_absolute()
        or ".." in pure.parts
        or "\0" in path
        or "\\" in path
        or str(pure) != path
    ):
        raise ValueError(f"not a path inside a tree: {path!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Harness(Value):
    """A tree of files, ordered by path.

    Paths begin with `project/` (then relative to the project's root) or `user/` (then relative
    to HOME), and go on as the agent names the place: `project/CLAUDE.md`, `user/.codex/AGENTS.md`.
    """

    files: tuple[File, ...] = ()

    def __post_init__(self) -> None:
        paths = [file.path for file in self.files]
        if paths != sorted(set(paths)):
            raise ValueError("a harness holds each path once, in order")
        for path in paths:
            if not path.startswith(("project/", "user/")):
                raise ValueError(f"a harness path begins with project/ or user/: {path!r}")

    @classmethod
    def of(cls, files: Iterable[File]) -> Harness:
        return cls(files=tuple(sorted(files, key=lambda file: file.path)))

    @property
    def digest(self) -> Digest:
        return digest_of(*(file.digest for file in self.files))

    def get(self, path: str) -> File | None:
        return next((file for file in self.files if file.path == path), None)

    def having(self, file: File) -> Harness:
        """This tree with one file added or replaced."""
        return Harness.of([*(kept for kept in self.files if kept.path != file.path), file])

    def without(self, path: str) -> Harness:
        return Harness.of(kept for kept in self.files if kept.path != path)


NOTHING = Harness()


class Scope(StrEnum):
    PROJECT = "project"
    USER = "user"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target(Value):
    """Which live file a draft would change."""

    agent: str
    scope: Scope
    project: str
    """Root of the project (absolute); "" for the user's own files."""
    place: str
    """The path inside a harness, e.g. `project/CLAUDE.md`."""

    @property
    def skill(self) -> str | None:
        """The name of the skill's folder where the file is a SKILL.md."""
        path = PurePosixPath(self.place)
        return path.parent.name if path.name == FILE else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Absent(Value):
    """Something that shapes the agent at the person's desk and that a practice does not have. Names only:
    what a configuration holds beside them is never kept."""

    kind: str
    """MCP server, hook, plugin, import, ..."""
    name: str
    place: str
    """The file that names it."""


SUBMODULE = "submodule"
LARGE_FILES = "large files (LFS)"
"""Kinds of what is absent that a setting brings."""


class Severity(StrEnum):
    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem(Value):
    """What a surface finds wrong with a harness: would not load, would not be seen, too long."""

    severity: Severity
    path: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveFile:
    """A live file as it is now. `path` is the real path (links resolved)."""

    path: Path
    content: bytes | None
    """None: there is no file."""
    mode: int | None
    absent: tuple[Path, ...] = ()
    """Folders above it that are not there, the outermost first."""
