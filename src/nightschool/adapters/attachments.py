"""What a commit names and does not hold: submodules, and large files that LFS keeps apart.

Relieves workspaces, which know commits alone. It is taken from the person's own folder where it is there;
nothing is fetched, and no program of theirs (no `git lfs`) is run. What is not there stays as it is.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from nightschool.adapters.git_command import GitFailed, git
from nightschool.core.errors import WorkspaceUnavailable
from nightschool.core.harness import check_relative
from nightschool.core.tasks import GitSource

POINTER = re.compile(rb"version https://git-lfs\.github\.com/spec/v1\n(?:.*\n)*?oid sha256:([0-9a-f]{64})\n")
LONGEST_POINTER = 1024
GITLINK = b"160000"

CheckOut = Callable[[GitSource, Path], None]


def large_files(repository: Path, root: Path) -> list[Path]:
    """Put the content of large files in the place of their pointers, where the person has it. Gives where it
    would lie where they have it not."""
    kept = _git_folder(repository) / "lfs/objects"
    filled, absent = [], []
    for path in _files(root):
        status = path.lstat()
        found = POINTER.match(path.read_bytes()) if status.st_size <= LONGEST_POINTER else None
        if found is None:
            continue
        name = found.group(1).decode()
        content = kept / name[:2] / name[2:4] / name
        if content.is_file() and not content.is_symlink() and _sha256(content) == name:
            shutil.copyfile(content, path, follow_symlinks=False)
            filled.append(os.fsencode(path.relative_to(root)))
        else:
            absent.append(content)
    if filled:
        # To git they are changed now; an agent that asks what it changed is not to be told so.
        git(["update-index", "--assume-unchanged", "--", *map(os.fsdecode, filled)], folder=root)
    return absent


def submodules(source: GitSource, root: Path, check_out: CheckOut) -> list[Path]:
    """Lay the files of submodules in their places, from what the person's folder has of each. They are
    plain folders then: the workspace's own repository is the one that there is. Gives where those would lie
    that it has not."""
    absent = []
    modules = _git_folder(Path(source.repository)) / "modules"
    names = dict(_named(root))
    for path, commit in _links(root):
        name = names.get(path, path)
        try:
            check_relative(path)
            check_relative(name)
        except ValueError:
            continue
        if not (modules / name / "HEAD").is_file():
            absent.append(modules / name / "HEAD")
            continue
        check_out(GitSource(repository=str(modules / name), commit=commit), root / path)
        shutil.rmtree(root / path / ".git")
    return absent


def _git_folder(repository: Path) -> Path:
    try:
        told = git(["rev-parse", "--path-format=absolute", "--git-common-dir"], folder=repository)
    except GitFailed as error:
        raise WorkspaceUnavailable(f"{repository} cannot be asked for its git folder: {error}") from error
    return Path(os.fsdecode(told.rstrip(b"\n")))


def _links(root: Path) -> Iterator[tuple[str, str]]:
    """(path, commit) of each submodule of a workspace's commit."""
    for row in git(["ls-tree", "-r", "-z", "HEAD"], folder=root).split(b"\0"):
        about, _, path = row.partition(b"\t")
        if about.startswith(GITLINK):
            yield os.fsdecode(path), about.split()[2].decode()


def _named(root: Path) -> Iterator[tuple[str, str]]:
    """(path, name) as `.gitmodules` says: the name is the folder that git keeps it in."""
    listed = ["config", "--blob", "HEAD:.gitmodules", "-z", "--get-regexp", r"^submodule\..*\.path$"]
    try:
        rows = git(listed, folder=root).split(b"\0")
    except GitFailed:  # there is none, or it is no configuration
        return
    for row in rows:
        key, _, path = os.fsdecode(row).partition("\n")
        yield path, key.removeprefix("submodule.").removesuffix(".path")


def _files(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != ".git"]
        for name in names:
            path = Path(folder, name)
            if path.is_file() and not path.is_symlink():
                yield path


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
