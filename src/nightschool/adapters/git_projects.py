"""What git knows of the folder that a session ran in. Only ever reads."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from itertools import islice
from pathlib import Path

from nightschool.adapters.git_command import GitFailed, git, git_program
from nightschool.core.errors import UserError
from nightschool.core.harness import LARGE_FILES, SUBMODULE, Absent, check_relative
from nightschool.core.sessions import in_text

_BRANCH = re.compile(r"(?!-)(?:(?!\.\.|@\{)[^\x00-\x20\x7f~^:?*\[\\]){1,255}\Z")
"""A name that git allows: what else stands there is read as a revision, or as a pattern."""
GITLINK = b"160000 "
"""Begins the row of a tree that names a commit of another repository."""
MOST_ABSENT = 50
MOST_NEIGHBOURS = 1000
"""Names in a folder that are looked at for the repository of a worktree that is gone."""
LONGEST_PATH = 4096
REMEMBERED = 4096
"""Folders whose root is kept: a harvest asks for the same ones again and again."""


class GitProjects:
    """Projects by their git repositories, or by their folders where there is no git."""

    def __init__(self) -> None:
        self._roots = lru_cache(maxsize=REMEMBERED)(_root)
        self._whole = lru_cache(maxsize=REMEMBERED)(lambda root, commit: _is_whole(Path(root), commit))

    def root(self, directory: str) -> str:
        return self._roots(directory)

    def worktree(self, directory: str) -> str | None:
        """The working tree that holds a folder, where it is another one than the project's root."""
        folder = Path(directory)
        if git_program() is None or not folder.is_dir():
            return None
        top = _says(["rev-parse", "--show-toplevel"], folder)
        return in_text(top) if top and in_text(top) != self.root(directory) else None

    def commit_at(self, root: str, *, branch: str | None, at: datetime) -> str | None:
        if at.tzinfo is None:
            raise ValueError("a time without a zone names no moment")
        seconds = int(at.timestamp())
        if seconds < 0 or not _is_repository(root):
            return None
        _need_git(root)
        folder = Path(root)
        start = "HEAD"
        if branch is not None and _BRANCH.match(branch):
            # A full name: never read as an option, and never mistaken for a tag.
            name = f"refs/heads/{branch}"
            start = name if _says(["rev-parse", "--quiet", "--verify", name], folder) else "HEAD"
        found = _says(["rev-list", "-1", f"--before=@{seconds} +0000", start, "--"], folder)
        return found if found and self._whole(root, found) else None

    def holds(self, root: str, commit: str) -> bool:
        _check_object_id(commit)
        if not _is_repository(root):
            return False
        _need_git(root)
        return _says(["cat-file", "-t", commit], Path(root)) == "commit" and self._whole(root, commit)

    def tracks(self, path: Path) -> bool:
        folder = next(place for place in path.parents if place.is_dir())
        if not _is_repository(str(folder)):
            return False
        _need_git(str(folder))
        try:
            # As it is written: a name may hold what git takes for a pattern.
            name = f":(literal){path.relative_to(folder).as_posix()}"
            return bool(git(["ls-files", "-z", "--", name], folder=folder))
        except GitFailed as error:
            raise UserError(f"git cannot tell whether it tracks {path}: {error}") from error

    def text_at(self, root: str, commit: str, path: str) -> bytes | None:
        check_relative(path)
        _check_object_id(commit)
        if not _is_repository(root):
            return None
        _need_git(root)
        try:
            return git(["cat-file", "blob", f"{commit}:{path}"], folder=Path(root))
        except GitFailed:
            return None

    def absent(self, root: str, commit: str) -> Sequence[Absent]:
        _check_object_id(commit)
        try:
            tree = git(["ls-tree", "-r", "-z", "--full-tree", commit], folder=Path(root))
        except GitFailed:
            return ()
        rows = [row.partition(b"\t") for row in tree.split(b"\0") if row]
        known = {name for _, _, name in rows}
        modules = [name for about, _, name in rows if about.startswith(GITLINK)]
        beside = [os.fsencode(path.name) for path in Path(root).glob(".env*") if path.is_file()]
        found = (
            *((SUBMODULE, name, ".gitmodules") for name in modules),
            *((LARGE_FILES, name, ".gitattributes") for name in _large(Path(root), commit)),
            *(("file that git does not keep", name, "") for name in sorted(beside) if name not in known),
        )
        return tuple(
            Absent(kind=kind, name=name.decode("utf-8", "replace"), place=str(Path(root, place)))
            for kind, name, place in found[:MOST_ABSENT]
        )


def _large(folder: Path, commit: str) -> list[bytes]:
    """The patterns of names whose content LFS keeps apart."""
    attributes = ["grep", "-h", "-I", "-F", "-e", "filter=lfs", commit, "--", ":(glob)**/.gitattributes"]
    try:
        lines = git(attributes, folder=folder).splitlines()
    except GitFailed:  # also where there is none
        return []
    return [line.split()[0] for line in lines if line.split() and not line.startswith(b"#")]


def _check_object_id(commit: str) -> None:
    if not commit or not set(commit) <= set("0123456789abcdef"):
        raise ValueError(f"not an object id of a commit: {commit!r}")


def _root(directory: str) -> str:
    """The main working tree; for a folder that is gone or in no repository the folder itself, where it
    really lies: git, too, says where a link leads."""
    folder = Path(directory)
    if not folder.is_absolute() or "\0" in directory:
        return directory
    # os.path, unlike Path, says no where it may not look or the name is none.
    found = os.path.realpath(directory)
    real = directory if found == os.path.normpath(directory) else in_text(found)
    if git_program() is None or not os.path.isdir(folder):  # noqa: PTH112 - bytes that are no UTF-8
        return _root_of_gone(found) or real
    common = _says(["rev-parse", "--path-format=absolute", "--git-common-dir"], folder)
    if not common:
        return real
    if _says(["config", "--bool", "core.bare"], Path(common)) == "true":
        return _first_tree(Path(common)) or real
    if Path(common).name == ".git":
        return in_text(str(Path(common).parent))
    # A submodule, or a repository whose git folder lies elsewhere.
    top = _says(["rev-parse", "--show-toplevel"], folder)
    return in_text(top) or real


def _root_of_gone(folder: str) -> str:
    """The root of the repository that still lists a folder that is gone as one of its worktrees: one above
    it, or one of its neighbours. "" where none does."""
    parents = Path(folder).parents if len(folder) < LONGEST_PATH else ()
    above = next((place for place in parents if os.path.isdir(place)), None)  # noqa: PTH112 - see _root
    for place in () if above is None else (above, *_neighbours(above)):
        lines = _says(["worktree", "list", "--porcelain"], place).split("\n")
        # The first is the main one: what is gone in it is no worktree.
        trees = [line.removeprefix("worktree ") for line in lines if line.startswith("worktree ")]
        if any(
            folder == tree or folder.startswith(f"{tree}/") for tree in trees[1:]
        ):  # the first is no other
            return _root(str(place))
    return ""


def _neighbours(folder: Path) -> list[Path]:
    """Repositories right in a folder that have worktrees."""
    try:
        with os.scandir(folder) as entries:
            inside = sorted(entry.path for entry in islice(entries, MOST_NEIGHBOURS))
    except OSError:
        return []
    return [Path(path) for path in inside if os.path.isdir(f"{path}/.git/worktrees")]  # noqa: PTH112 - see _root


def _first_tree(bare: Path) -> str:
    """Of a bare repository, which has no main working tree: the one that has its branch checked out, else
    the first that is there; "" where there is none."""
    head = _says(["symbolic-ref", "--quiet", "HEAD"], bare)
    trees: dict[str, str] = {}
    for block in _says(["worktree", "list", "--porcelain"], bare).split("\n\n"):
        lines = block.split("\n")
        path = lines[0].removeprefix("worktree ")
        if "bare" not in lines and os.path.isdir(path):  # noqa: PTH112 - see _root
            branch = next((line.removeprefix("branch ") for line in lines if line.startswith("branch ")), "")
            trees.setdefault(branch, path)
    return in_text(trees.get(head) or next(iter(trees.values()), ""))


def _is_whole(folder: Path, commit: str) -> bool:
    """Whether all files of a commit are here. A partial clone lacks those that were never checked out, and
    nothing may be fetched into the person's folder."""
    if not _says(["config", "--get-regexp", r"^remote\..*\.(promisor|partialclonefilter)$"], folder):
        return True
    listed = ["rev-list", "--objects", "--no-walk", "--missing=print", "--no-object-names", commit]
    try:
        objects = git(listed, folder=folder)
    except GitFailed:
        return False
    return not any(line.startswith(b"?") for line in objects.splitlines())


def _is_repository(root: str) -> bool:
    """By what lies there, so that it can be told where git is absent. A path that is relative (a URL, `..`)
    means nothing here."""
    folder = Path(root)
    places = (folder, *folder.parents) if folder.is_absolute() else ()
    return any(os.path.exists(place / ".git") for place in places)  # noqa: PTH110 - see _root


def _need_git(root: str) -> None:
    if git_program() is None:
        raise UserError(f"{root} is a git repository and git is not installed: install git to read it")


def _says(arguments: list[str], folder: Path) -> str:
    """The first line that git answers; "" where it fails."""
    try:
        return git(arguments, folder=folder).decode("utf-8", "surrogateescape").strip()
    except GitFailed:
        return ""
