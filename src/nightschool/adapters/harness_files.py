"""Reads and writes the files of a harness: exact in bytes and modes, never out of project and HOME."""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from nightschool.core.errors import UserError
from nightschool.core.harness import File, Harness, Problem, Severity, check_relative
from nightschool.core.skills import (
    BOM,
    FILE,
    LONGEST_DESCRIPTION,
    LONGEST_NAME,
    NAME,
    Skill,
    fields,
    head_and_body,
    head_faults,
)

PASSED_OVER = frozenset({".git", "node_modules", "__pycache__", ".venv", ".system", ".DS_Store"})
"""Caches and what an agent unpacks for itself: no part of what a person shaped."""
KEYS = ("name", "description")
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
    found: dict[str, File] = {}
    for place in places:
        for name in place.names:
            for path in _walk(place.base / name, places, frozenset()):
                tree = f"{place.prefix}/{path.relative_to(place.base).as_posix()}"
                found[tree] = _read(path, tree)
    return found


def nested(root: Path, names: Sequence[str]) -> Iterator[str]:
    """Where such names may lie in the folders of a project: what an agent reads when it works there. Hidden
    folders, caches and links are not searched."""
    for folder, folders, files in os.walk(root):
        here = {*folders, *files}
        folders[:] = sorted({name for name in folders if not name.startswith(".")} - PASSED_OVER)
        if Path(folder) == root:
            continue
        for name in names:
            if name.partition("/")[0] in here:
                yield Path(folder, name).relative_to(root).as_posix()


def imported(
    found: Mapping[str, File], places: Sequence[Place], is_memory: Callable[[str], bool], *, outside: bool
) -> tuple[dict[str, File], list[tuple[str, Path]]]:
    """The files that memory files name as `@path`, and what these name; and, as (name, file that names it),
    those that are there but lie where they cannot be placed. What a project's memory names outside of the
    project counts only with `outside`: without it the agent does not read it either."""
    more: dict[str, File] = {}
    left: list[tuple[str, Path]] = []
    waiting = [file for path, file in found.items() if is_memory(path)]
    for _ in range(IMPORT_DEPTH):
        fresh = []
        for file in waiting:
            for name, path in _named(file, places):
                tree = _placed_at(name, path, places, near=file.path)
                if not outside and file.path.startswith("project/") and not _is_within(tree, "project"):
                    continue
                if tree is None or not reaches(path, places):
                    left.append((name, _on_disk(file.path, places)))
                elif tree not in found and tree not in more:
                    more[tree] = _read(path, tree)
                    fresh.append(more[tree])
        waiting = fresh
    return more, left


def _named(file: File, places: Sequence[Place]) -> Iterator[tuple[str, Path]]:
    """Each import whose file is there, as it is written and where it lies."""
    folder = _on_disk(file.path, places).parent
    home = next((place.base for place in places if place.prefix == "user"), None)
    for match in IMPORT.finditer(file.content.decode("utf-8", "replace")):
        name = match.group(1).rstrip(".,;:)")
        start = home / name[2:] if name.startswith("~/") and home is not None else folder / name
        path = Path(os.path.normpath(start))
        if is_there(path) and path.is_file():
            yield name, path


def _is_within(tree: str | None, prefix: str) -> bool:
    return tree is not None and tree.startswith(f"{prefix}/")


def is_there(path: Path) -> bool:
    """Whether anything is. What no system call takes as a path, or may look at, is not there for us."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _on_disk(tree: str, places: Sequence[Place]) -> Path:
    place = max(
        (place for place in places if tree.startswith(f"{place.prefix}/")),
        key=lambda place: len(place.prefix),
    )
    return place.base / tree.removeprefix(f"{place.prefix}/")


def _placed_at(name: str, path: Path, places: Sequence[Place], *, near: str) -> str | None:
    """Where in a tree an import must stand so that its name leads to it again; None where no tree has
    such a place."""
    side = "user" if name.startswith("~/") else near.partition("/")[0]
    start = f"user/{name[2:]}" if name.startswith("~/") else str(PurePosixPath(near).parent / name)
    tree = os.path.normpath(start)
    if not _is_within(tree, side) or "\\" in tree:
        return None
    return tree if name.startswith("~/") or _on_disk(tree, places) == path else None


def _walk(path: Path, places: Sequence[Place], above: frozenset[Path]) -> Iterator[Path]:
    if path.name in PASSED_OVER or not reaches(path, places):
        return
    if path.is_file():
        yield path
    elif path.is_dir() and (real := path.resolve()) not in above:
        for child in _children(path):
            yield from _walk(child, places, above | {real})


def _children(path: Path) -> list[Path]:
    try:
        return sorted(path.iterdir())
    except PermissionError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}. Make it readable.") from error


def reaches(path: Path, places: Sequence[Place]) -> bool:
    """Whether it is there, and inside of one of the bases also when links are followed."""
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError):  # gone, dangling, a loop of links
        return False
    return any(real.is_relative_to(place.base.resolve()) for place in places)


def _read(path: Path, name: str) -> File:
    try:
        check_relative(name)
        name.encode()  # else no store could keep it
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


def tops(harness: Harness, home: Path, folders: Sequence[str]) -> list[Path]:
    """What `place` laid below home: of a folder that holds several things each of them whole, so that
    nothing can be added to a skill; else the file."""
    found = set()
    for file in harness.files:
        prefix, _, inside = file.path.partition("/")
        if prefix != "user":
            continue
        path = PurePosixPath(inside)
        folder = next((name for name in folders if path.is_relative_to(name)), inside)
        found.add(home / folder / Path(*path.relative_to(folder).parts[:1]))
    return sorted(found)


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


def skills(harness: Harness, project: Sequence[str], own: Sequence[str]) -> tuple[Skill, ...]:
    """The skills of a tree: each folder with a SKILL.md below one of these folders. An agent calls a skill
    by the name of its folder. A project's folders may lie in its own folders too."""
    found: list[Skill] = []
    for file in harness.files:
        path = PurePosixPath(file.path)
        prefix, above = path.parts[0], path.parent.parent.as_posix()
        folders = project if prefix == "project" else own
        ends = (f"/{name}" for name in folders)
        if (
            path.name == FILE
            and any(above.endswith(end) for end in ends)
            and (prefix == "project" or above.removeprefix("user/") in own)
        ):
            found.append(Skill(name=path.parent.name, place=file.path))
    return tuple(found)


def listing_problems(harness: Harness, listed: Sequence[Skill], budget: int, agent: str) -> Iterator[Problem]:
    """An agent lists all skills in its first request, up to a budget; what does not fit is not seen."""
    texts = [_head(harness, skill) for skill in listed]
    total = sum(len(text.get("name", "")) + len(text.get("description", "")) for text in texts)
    if total > budget:
        said = f"{len(listed)} skills have {total} characters of names and descriptions"
        text = f"{said}, and {agent} lists {budget}"
        yield Problem(severity=Severity.WARNING, path=listed[-1].place, text=text)


def _head(harness: Harness, skill: Skill) -> dict[str, str]:
    file = harness.get(skill.place)
    parts = None if file is None else head_and_body(file.content)
    return {} if parts is None else fields(parts[0])


def skill_problems(file: File) -> Iterator[Problem]:
    """What the rules of Agent Skills want of a SKILL.md. One without a head of name and description is not
    listed, so it is never opened."""
    path = PurePosixPath(file.path)
    if path.name != FILE:
        return
    yield from text_problems(file)
    parts = head_and_body(file.content)
    if parts is None:
        text = "opens a head in line 1 that no line `---` closes"
        yield Problem(severity=Severity.ERROR, path=file.path, text=text)
        return
    head = fields(parts[0])
    texts = [f"has no `{key}:` in its head, so no agent lists it" for key in KEYS if not head.get(key)]
    texts += [f"line {number}: {text}" for number, text in head_faults(parts[0])]
    if file.content.startswith(BOM):
        texts.append("begins with a byte order mark, behind which Claude Code and Codex read no head")
    name, described = head.get("name", path.parent.name), len(head.get("description", ""))
    if len(name) > LONGEST_NAME or NAME.fullmatch(name) is None:
        rule = f"lower-case letters, digits and single hyphens, at most {LONGEST_NAME}"
        texts.append(f"its name {name[:LONGEST_NAME]!r} is none: {rule}")
    if described > LONGEST_DESCRIPTION:
        texts.append(f"its description has {described} characters, {LONGEST_DESCRIPTION} are allowed")
    for text in texts:
        yield Problem(severity=Severity.WARNING, path=file.path, text=text)
