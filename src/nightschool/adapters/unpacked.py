"""What lies in a file that zstd compressed, read as it is unpacked: nothing is written, little is held.

Relieves `rows`, for which a transcript is lines, of how an agent packs its old ones.
"""

from __future__ import annotations

import io
from importlib import import_module
from types import ModuleType
from typing import Any, BinaryIO

ENDING = ".zst"
MAGIC = b"\x28\xb5\x2f\xfd"
MOST, LEAST, TIMES = 2 << 30, 16 << 20, 100
"""Bytes that a file may unpack to: so many times its own, with a few for each, and never more than the most.
Transcripts pack to a tenth; but a hundred bytes can stand for a million."""
_LARGEST_WINDOW = 26
"""Of a frame, as a power of two: so much is held while it is unpacked. What Codex writes has 21."""
_NAMES = ("compression.zstd", "backports.zstd")
"""Part of Python since 3.14; before, the same by another name."""


class Unpacked(io.RawIOBase):
    """What an open file unpacks to. What is wrong with the packing is an `OSError`."""

    def __init__(self, file: BinaryIO, size: int, library: ModuleType) -> None:
        self._packed = file
        parameters = {library.DecompressionParameter.window_log_max: _LARGEST_WINDOW}
        self._file: Any = library.ZstdFile(file, options=parameters)
        self._broken: tuple[type[Exception], ...] = (library.ZstdError, EOFError)
        self.length = min(MOST, LEAST + TIMES * size)
        """Bytes that there are to read, at most."""

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            # What comes before a damage is given first: no more is asked for at once than is there.
            content: bytes = self._file.read1(len(buffer))
        except self._broken as error:
            raise OSError(0, f"what zstd packed is damaged: {error}") from error
        if self._file.tell() > self.length:
            told = f"it unpacks to more than {self.length >> 20} MiB: unpack it with `zstd -d`"
            raise OSError(0, told)
        buffer[: len(content)] = content
        return len(content)

    def seek(self, position: int, whence: int = io.SEEK_SET) -> int:
        try:
            found: int = self._file.seek(position, whence)
        except self._broken as error:
            raise OSError(0, f"what zstd packed is damaged: {error}") from error
        return found

    def close(self) -> None:
        self._file.close()
        self._packed.close()
        super().close()


def library() -> ModuleType | None:
    """What unpacks; None where it is not installed."""
    for name in _NAMES:
        try:
            return import_module(name)
        except ImportError:
            continue
    return None
