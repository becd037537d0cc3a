"""The command line: one function a command, each a few lines."""

from __future__ import annotations

import signal
import sys
from itertools import count
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from types import FrameType


def main() -> NoReturn:
    """The entry point. Importing this room costs nothing; an interrupt is quiet from the first moment."""
    try:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _Interrupts())
        from nightschool.cli.app import run  # noqa: PLC0415

        sys.exit(run(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)


class _Interrupts:
    """The first Ctrl-C ends the command, which takes up to two seconds: jobs are stopped, their folders are
    removed. The second one comes from impatience and must not break that off; a third one does."""

    def __init__(self) -> None:
        self._number = count(1)

    def __call__(self, _signal: int, _frame: FrameType | None) -> None:
        if next(self._number) != 2:
            raise KeyboardInterrupt
