"""What a folder held at one moment, and what differs later. Links and special files are not followed."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from nightschool.core.jobs import FileChange
from nightschool.core.values import Digest

Before = Callable[[str], bytes | None]
"""The bytes that a path had at the moment of the snapshot; None where they are not known."""

OWN_GIT = ".git"
"""At the top of the folder only: the repository that we put there."""
FILE_BYTES = 4 << 20
ALL_BYTES = 64 << 20
CHANGES = 5_000
LINK_MODE = 0o120000
"""As git writes it: a changed link is listed with its target as content."""
RACY_NANOSECONDS = 50_000_000
"""A file may change again within one tick of the clock of its file system and keep its times."""
BLOCK = 1 << 20
LONGEST_PATH = os.pathconf("/", "PC_PATH_MAX") - 1
"""A job that goes down step by step can make files deeper than that."""
REST_PATH = ".nightschool/not-listed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One file or link. Two entries with equal `digest` and `mode` are the same."""

    digest: Digest
    mode: int
    link: bool
    size: int
    stamp: tuple[int, int, int]
    """Inode, size and time of change in nanoseconds, which no program inside can set at will."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    entries: Mapping[str, Entry]
    taken: int
    """Time of change of a file that was written when the snapshot began."""


def take(root: Path, *, clock: Path, known: Snapshot | None = None) -> Snapshot:
    """Read the whole folder. What `known` has under the same stamp is not read again."""
    clock.write_bytes(b"")
    taken = clock.stat().st_ctime_ns
    entries = {}
    for name, path in _walk(root):
        status = path.lstat()
        stamp = (status.st_ino, status.st_size, status.st_ctime_ns)
        old = known.entries.get(name) if known is not None else None
        settled = known is not None and status.st_ctime_ns < known.taken - RACY_NANOSECONDS
        if old is not None and settled and old.stamp == stamp:
            entries[name] = old
            continue
        entries[name] = _entry(path, status)
    return Snapshot(entries=entries, taken=taken)


def entry_of(path: Path, *, read: bool) -> Entry | None:
    """A file or link as it is now; None for anything else. Not `read`: its digest is left empty."""
    status = path.lstat()
    plain = stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode)
    return _entry(path, status, read=read) if plain else None


def _entry(path: Path, status: os.stat_result, *, read: bool = True) -> Entry:
    link = stat.S_ISLNK(status.st_mode)
    digest = Digest("")
    if read:
        digest = _digest_of_link(path) if link else _digest_of_file(path)
    return Entry(
        digest=digest,
        mode=LINK_MODE if link else stat.S_IMODE(status.st_mode),
        link=link,
        size=status.st_size,
        stamp=(status.st_ino, status.st_size, status.st_ctime_ns),
    )


def differences(root: Path, old: Snapshot, new: Snapshot, before: Before) -> tuple[FileChange, ...]:
    """Ordered by path. Bounded: too large a content, or too many paths, become a line that says so."""
    changed = sorted(
        name
        for name in {*old.entries, *new.entries}
        if not _same(old.entries.get(name), new.entries.get(name))
    )
    room = ALL_BYTES
    changes = []
    for name in changed[:CHANGES]:
        change = _change(root, name, old.entries.get(name), new.entries.get(name), before, room)
        room -= len(change.content or b"")
        changes.append(change)
    if len(changed) > CHANGES:
        rest = f"[nightschool: {len(changed) - CHANGES} more changed files are not listed]\n"
        changes.append(FileChange(path=REST_PATH, content=rest.encode()))
    return tuple(changes)


def _same(old: Entry | None, new: Entry | None) -> bool:
    return old is not None and new is not None and (old.digest, old.mode) == (new.digest, new.mode)


def _change(
    root: Path, name: str, old: Entry | None, new: Entry | None, before: Before, room: int
) -> FileChange:
    path = os.fsencode(name).decode("utf-8", "replace")
    if new is None:
        return FileChange(path=path, content=None, mode=old.mode if old is not None else 0o644)
    if new.link:
        return FileChange(path=path, content=_link_target(root / name), mode=new.mode)
    if new.size > min(FILE_BYTES, room):
        stands_in = f"[nightschool: {new.size} bytes, sha256 {new.digest}, too large to keep]\n"
        return FileChange(path=path, content=stands_in.encode(), mode=new.mode)
    content = b"".join(_blocks(root / name))
    if old is not None and old.size > FILE_BYTES:
        # What was in it is not kept, so what is new in it cannot be told.
        return FileChange(path=path, content=content, mode=new.mode)
    was = b"" if old is None or old.link else (before(name) or b"")
    return FileChange(path=path, content=content, mode=new.mode, added=added_lines(was, content))


def added_lines(old: bytes, new: bytes) -> str:
    """Lines of the new text that the old one does not hold; "" where the new content is no text."""
    try:
        text = new.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    if "\0" in text:
        return ""
    held = set(old.decode("utf-8", "replace").splitlines())
    return "\n".join(line for line in text.splitlines() if line not in held)


def bytes_of(path: Path) -> bytes | None:
    """Of a regular file that is not too large; None for anything else."""
    status = path.lstat()
    return b"".join(_blocks(path)) if stat.S_ISREG(status.st_mode) and status.st_size <= FILE_BYTES else None


def changed_bytes(root: Path, old: Snapshot, new: Snapshot) -> Iterator[tuple[str, bytes]]:
    """Path and bytes of each regular file of `new` that `old` does not hold so; too large ones are empty."""
    for name, entry in new.entries.items():
        if not entry.link and not _same(old.entries.get(name), entry):
            yield name, b"".join(_blocks(root / name)) if entry.size <= FILE_BYTES else b""


def empty() -> Snapshot:
    return Snapshot(entries={}, taken=0)


def _walk(root: Path) -> Iterator[tuple[str, Path]]:
    """Regular files and links below, by relative path; not those that no path can name."""
    todo = [root]
    while todo:
        folder = todo.pop()
        for entry in listed(folder):
            path = folder / entry.name
            if len(os.fsencode(path)) > LONGEST_PATH or (folder == root and entry.name == OWN_GIT):
                continue
            if entry.is_symlink() or entry.is_file(follow_symlinks=False):
                yield path.relative_to(root).as_posix(), path
            elif entry.is_dir(follow_symlinks=False):
                todo.append(path)


def listed(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except PermissionError:
        # The job took its own right away; the folder is ours, so it can be given back.
        folder.chmod(0o700)
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)


def _digest_of_link(path: Path) -> Digest:
    return Digest(hashlib.sha256(_link_target(path)).hexdigest())


def _link_target(path: Path) -> bytes:
    return os.fsencode(os.readlink(path))  # noqa: PTH115 - exact, not normalised


def _digest_of_file(path: Path) -> Digest:
    digest = hashlib.sha256()
    for block in _blocks(path):
        digest.update(block)
    return Digest(digest.hexdigest())


def _blocks(path: Path) -> Iterator[bytes]:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags)
    except PermissionError:
        mode = stat.S_IMODE(path.lstat().st_mode)
        path.chmod(mode | stat.S_IRUSR)
        descriptor = os.open(path, flags)
        os.fchmod(descriptor, mode)
    with os.fdopen(descriptor, "rb") as stream:
        while block := stream.read(BLOCK):
            yield block
