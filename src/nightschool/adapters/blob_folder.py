"""Content-addressed files: a blob's path is its digest, written once, verified whenever it is read."""

from __future__ import annotations

import os
import secrets
from collections.abc import Collection
from pathlib import Path

from nightschool.core.errors import Conflict, NotFound, UserError
from nightschool.core.values import Digest, digest_bytes

HEX = frozenset("0123456789abcdef")


class BlobFolder:
    """Blobs below one folder, as `ab/cdef...`: owner only, whole or not there at all."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, content: bytes) -> Digest:
        digest = digest_bytes(content)
        path = self._path(digest)
        try:
            # A damaged copy is not kept because of its name.
            if not path.is_file() or path.read_bytes() != content:
                self._write(path, content)
        except OSError as error:
            raise UserError(
                f"cannot write {path}: {error.strerror}; free space or rights in {self._folder}"
            ) from error
        return digest

    def get(self, digest: Digest) -> bytes:
        path = self._path(digest)
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            raise NotFound(f"no blob {digest} in {self._folder}") from None
        except OSError as error:
            raise UserError(f"cannot read {path}: {error.strerror}") from error
        if digest_bytes(content) != digest:
            raise Conflict(f"{path} no longer holds what was stored there; restore it from a backup")
        return content

    def keep(self, wanted: Collection[Digest]) -> int:
        """Remove all but these, and parts that a killed process has left; how many went."""
        gone = 0
        for path in self._folder.glob("??/*"):
            if path.parent.name + path.name not in wanted:
                path.unlink(missing_ok=True)
                gone += not path.name.startswith(".")
        return gone

    def _path(self, digest: Digest) -> Path:
        # A digest may come from outside; nothing else may become a path.
        if len(digest) != 64 or not set(digest) <= HEX:
            raise NotFound(f"no digest: {digest!r}")
        return self._folder / digest[:2] / digest[2:]

    def _write(self, path: Path, content: bytes) -> None:
        if not path.parent.is_dir():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            sync_folder(self._folder)
        part = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
        try:
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor, so that the mode is ours
                file.write(content)
                file.flush()
                os.fsync(descriptor)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make a rename in the folder outlast a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
