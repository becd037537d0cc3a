"""What git knows of the folder that a session ran in. Only ever reads."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from pathlib import Path

from nightschool.adapters.git_command import GitFailed, git, git_program
from nightschool.core.errors import UserError
from nightschool.core.harness import check_relative

REMEMBERED = 4096
"""Folders whose root is kept: a harvest asks for the same ones again and again."""


class GitProjects:
    """Projects by their git repositories, or by their folders where there is no git."""

    def __init__(self) -> None:
        self._roots = lru_cache(maxsize=REMEMBERED)(_root)

    def root(self, directory: str) -> str:
        return self._roots(directory)

    def commit_at(self, root: str, *, branch: str | None, at: datetime) -> str | None:
        if at.tzinfo is None:
            raise ValueError("a time without a zone names no moment")
        if not _is_repository(root):
            return None
        _need_git(root)
        folder = Path(root)
        start = "HEAD"
        if branch:
            # A full name: never read as an option, and never mistaken for a tag.
            name = f"refs/heads/{branch}"
            start = name if _says(["rev-parse", "--quiet", "--verify", name], folder) else "HEAD"
        return _says(["rev-list", "-1", f"--before={int(at.timestamp())}", start, "--"], folder) or None

    def text_at(self, root: str, commit: str, path: str) -> bytes | None:
        check_relative(path)
        if not commit or not set(commit) <= set("0123456789abcdef"):
            raise ValueError(f"not an object id of a commit: {commit!r}")
        if not _is_repository(root):
            return None
        _need_git(root)
        try:
            return git(["cat-file", "blob", f"{commit}:{path}"], folder=Path(root))
        except GitFailed:
            return None


def _root(directory: str) -> str:
    """The main working tree; for a folder that is gone or in no repository the folder itself."""
    folder = Path(directory)
    if git_program() is None or not folder.is_absolute() or not folder.is_dir():
        return directory
    common = _says(["rev-parse", "--path-format=absolute", "--git-common-dir"], folder)
    if not common:
        return directory
    if Path(common).name == ".git":
        return str(Path(common).parent)
    # A bare repository, or a submodule, whose git folder lies within another's.
    top = _says(["rev-parse", "--show-toplevel"], folder)
    return top or directory


def _is_repository(root: str) -> bool:
    """By what lies there, so that it can be told where git is absent."""
    return any((place / ".git").exists() for place in (Path(root), *Path(root).parents))


def _need_git(root: str) -> None:
    if git_program() is None:
        raise UserError(f"{root} is a git repository and git is not installed: install git to read it")


def _says(arguments: list[str], folder: Path) -> str:
    """The first line that git answers; "" where it fails."""
    try:
        return git(arguments, folder=folder).decode("utf-8", "surrogateescape").strip()
    except GitFailed:
        return ""
