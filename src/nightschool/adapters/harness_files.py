"""Reads and writes the files of a harness: exact in bytes and modes, never out of project and HOME."""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from nightschool.core.errors import UserError
from nightschool.core.harness import File, Harness, Problem, Severity, check_relative

PASSED_OVER = frozenset({".git", "node_modules", "__pycache__", ".venv", ".system", ".DS_Store"})
"""Caches and what an agent unpacks for itself: no part of what a person shaped."""
IMPORT = re.compile(r"(?:^|(?<=\s))@([^\s`@]+)")
IMPORT_DEPTH = 5
"""As deep as Claude Code follows imports."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where files of a harness lie: a base folder, its prefix in the tree, names below it.

    A name is a file, or a folder with all that it holds.
    """

    base: Path
    prefix: str
    names: Sequence[str]


def collect(places: Sequence[Place]) -> dict[str, File]:
    """The files at the places, by path in the tree. A link is followed to what lies inside of one of the
    bases, and its content stands under the path of the link; other links are passed over."""
    allowed = [place.base.resolve() for place in places]
    found: dict[str, File] = {}
    for place in places:
        for name in place.names:
            for path in _walk(place.base / name, allowed, frozenset()):
                relative = path.relative_to(place.base).as_posix()
                found[f"{place.prefix}/{relative}"] = _read(path, f"{place.prefix}/{relative}")
    return found


def imported(found: dict[str, File], places: Sequence[Place], memory: Iterable[str]) -> dict[str, File]:
    """The files that memory files name as `@path`, and what these name, if they lie at the bases."""
    bases = {place.prefix: place.base for place in places}
    allowed = [base.resolve() for base in bases.values()]
    more: dict[str, File] = {}
    waiting = [found[path] for path in memory if path in found]
    for _ in range(IMPORT_DEPTH):
        named = [item for file in waiting for item in _named(file, bases, allowed)]
        waiting = [file for file in named if file.path not in found and file.path not in more]
        more.update((file.path, file) for file in waiting)
    return more


def _named(file: File, bases: dict[str, Path], allowed: Sequence[Path]) -> Iterator[File]:
    prefix, _, inside = file.path.partition("/")
    folder = (bases[prefix] / inside).parent
    for match in IMPORT.finditer(file.content.decode("utf-8", "replace")):
        name = match.group(1).rstrip(".,;:)")
        start = bases["user"] / name[2:] if name.startswith("~/") and "user" in bases else folder / name
        path = Path(os.path.normpath(start))
        for place, base in bases.items():
            if path.is_relative_to(base) and _reaches(path, allowed) and path.is_file():
                yield _read(path, f"{place}/{path.relative_to(base).as_posix()}")
                break


def _walk(path: Path, allowed: Sequence[Path], above: frozenset[Path]) -> Iterator[Path]:
    if path.name in PASSED_OVER or not _reaches(path, allowed):
        return
    if path.is_file():
        yield path
    elif path.is_dir() and (real := path.resolve()) not in above:
        for child in _children(path):
            yield from _walk(child, allowed, above | {real})


def _children(path: Path) -> list[Path]:
    try:
        return sorted(path.iterdir())
    except PermissionError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}. Make it readable.") from error


def _reaches(path: Path, allowed: Sequence[Path]) -> bool:
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError):  # gone, dangling, a loop of links
        return False
    return any(real.is_relative_to(base) for base in allowed)


def _read(path: Path, name: str) -> File:
    try:
        check_relative(name)
        return File(path=name, content=path.read_bytes(), mode=stat.S_IMODE(path.stat().st_mode))
    except ValueError as error:
        raise UserError(f"{path} has a name that cannot be placed elsewhere: {error}") from error
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}. Make it readable or move it.") from error


def place(harness: Harness, root: Path, home: Path) -> None:
    """Write `project/` below root and `user/` below home. Folders that are links may lead nowhere else;
    a link in the place of a file is replaced, never written through."""
    for file in harness.files:
        prefix, _, inside = file.path.partition("/")
        base = root if prefix == "project" else home
        _write(base, base / inside, file)


def _write(base: Path, path: Path, file: File) -> None:
    if not path.parent.resolve().is_relative_to(base.resolve()):
        raise UserError(f"{path.parent} is a link that leads out of {base}; {file.path} was not written")
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, fresh = tempfile.mkstemp(dir=path.parent, prefix=".placing-")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(file.content)
        Path(fresh).chmod(file.mode)
        Path(fresh).replace(path)
    except OSError:
        Path(fresh).unlink(missing_ok=True)
        raise


def text_problems(file: File) -> Iterator[Problem]:
    """What is wrong with any text that an agent is given: it cannot be read, it says nothing."""
    try:
        text = file.content.decode("utf-8")
    except UnicodeDecodeError as error:
        yield Problem(
            severity=Severity.ERROR,
            path=file.path,
            text=f"is not UTF-8 (byte {error.start}): save it as UTF-8",
        )
        return
    if not text.strip():
        yield Problem(severity=Severity.NOTE, path=file.path, text="is empty")


def skill_problems(file: File) -> Iterator[Problem]:
    """A skill without a head of name and description is not listed, so it is never opened."""
    if PurePosixPath(file.path).name != "SKILL.md":
        return
    yield from text_problems(file)
    lines = file.content.decode("utf-8", "replace").lstrip("\ufeff").splitlines()
    head = lines[1 : lines.index("---", 1)] if lines[:1] == ["---"] and "---" in lines[1:] else []
    for key in ("name", "description"):
        if not any(line.startswith(f"{key}:") and line.partition(":")[2].strip() for line in head):
            yield Problem(
                severity=Severity.WARNING,
                path=file.path,
                text=f"has no `{key}:` in its head, so no agent lists it",
            )
