"""The only writer of a person's files: whole or not at all, and only over the bytes it was told of."""

from __future__ import annotations

import os
import re
import secrets
import shlex
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from nightschool.core.errors import Conflict, UserError
from nightschool.core.harness import LiveFile

NEW_FILE_MODE = 0o644


class FileSystemLiveFiles:
    """The `LiveFiles` port on the file system. Content is bytes; no encoding is assumed."""

    def read(self, path: Path) -> LiveFile:
        with _plainly("read", path):
            real = Path(os.path.realpath(path))
            content, status = _look(real)
            absent = tuple(folder for folder in reversed(real.parents) if not folder.exists())
        mode = None if status is None else _mode(status)
        return LiveFile(path=real, content=content, mode=mode, absent=absent)

    def swap(
        self, path: Path, *, expected: bytes | None, content: bytes | None, mode: int | None
    ) -> LiveFile:
        with _plainly("write", path):
            real = Path(os.path.realpath(path))
            status = _still(real, expected)
            if content is None:
                _remove(real, expected)
                return LiveFile(path=real, content=None, mode=None)
            if mode is None:
                mode = NEW_FILE_MODE if status is None else _mode(status)
            if content != expected or status is None or mode != _mode(status):
                _replace(real, expected=expected, content=content, mode=mode, owner=status)
        return LiveFile(path=real, content=content, mode=mode)

    def clear(self, folders: Sequence[Path]) -> None:
        for folder in reversed(folders):
            with _plainly("remove", folder):
                if folder.is_symlink() or not folder.is_dir():
                    continue
                if any(folder.iterdir()):
                    return  # somebody put something in: it is theirs by now
                folder.rmdir()


def _look(real: Path) -> tuple[bytes | None, os.stat_result | None]:
    """Bytes and status of one and the same file; (None, None) where there is none."""
    try:
        # O_NONBLOCK: opening a pipe must not wait for its writer.
        descriptor = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None, None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise UserError(f"{real} is no regular file; name a file, or move this out of the way")
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(), status
    finally:
        os.close(descriptor)


def _still(real: Path, expected: bytes | None) -> os.stat_result | None:
    """The file's status, if it holds what is expected and may be replaced."""
    content, status = _look(real)
    if content != expected:
        raise Conflict(f"{real} is not as it was read; nothing was written")
    if status is not None and not status.st_mode & stat.S_IWUSR:
        # Root may write it all the same; that is no reason to.
        raise UserError(
            f"{real} is read-only (mode {_mode(status):04o}), so it is left as it is; "
            f"`chmod u+w {shlex.quote(str(real))}` lets it be changed"
        )
    if status is not None and status.st_nlink > 1:
        raise UserError(
            f"{real} has {status.st_nlink} names (hard links); replacing it would part them: "
            "make the others symbolic links, or copies"
        )
    return status


def _remove(real: Path, expected: bytes | None) -> None:
    if expected is not None:
        real.unlink()
        _sync_folder(real.parent)


def _replace(
    real: Path, *, expected: bytes | None, content: bytes, mode: int, owner: os.stat_result | None
) -> None:
    real.parent.mkdir(parents=True, exist_ok=True)
    _sweep(real)
    part = real.with_name(f".{real.name}.nightschool-{secrets.token_hex(6)}")
    try:
        _write(part, content, mode=mode, owner=owner)
        # Writing took time in which a person may have saved: look again. What is left between this look
        # and the rename is shorter than any save by hand.
        _still(real, expected)
        part.replace(real)
    finally:
        part.unlink(missing_ok=True)
    _sync_folder(real.parent)


def _write(part: Path, content: bytes, *, mode: int, owner: os.stat_result | None) -> None:
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as file:  # noqa: PTH123 - made with our mode, never wider
        file.write(content)
        file.flush()
        mine = os.fstat(descriptor)
        if owner is not None and (owner.st_uid, owner.st_gid) != (mine.st_uid, mine.st_gid):
            _give(descriptor, owner)
        os.fchmod(descriptor, mode)
        os.fsync(descriptor)


def _give(descriptor: int, owner: os.stat_result) -> None:
    try:
        os.fchown(descriptor, owner.st_uid, owner.st_gid)
    except PermissionError:
        # Only root gives files away. A person who may write in the folder gets a file of their own,
        # as from every editor that saves by rename.
        return


def _sweep(real: Path) -> None:
    """Remove what a killed swap of this file left beside it."""
    ours = re.compile(rf"\.{re.escape(real.name)}\.nightschool-[0-9a-f]{{12}}")
    for entry in real.parent.iterdir():
        if ours.fullmatch(entry.name):
            entry.unlink(missing_ok=True)


def _mode(status: os.stat_result) -> int:
    return stat.S_IMODE(status.st_mode)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _plainly(act: str, path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UserError(f"cannot {act} {path}: {error.strerror}") from error
