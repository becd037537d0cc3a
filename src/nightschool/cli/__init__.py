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
        signals = _Interrupts()
        # Each by itself: what a shell starts in the background has its Ctrl-C switched off, and can be told
        # to end all the same.
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, signals)
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, signals)
        from nightschool.cli.app import run  # noqa: PLC0415

        sys.exit(run(sys.argv[1:]))
    except Terminated:
        sys.exit(143)
    except KeyboardInterrupt:
        sys.exit(130)


class Terminated(KeyboardInterrupt):
    """SIGTERM came (`kill`, the end of a service, a machine that shuts down): to stop as for a Ctrl-C."""


class _Interrupts:
    """The first Ctrl-C or SIGTERM ends the command, which takes up to two seconds: jobs are stopped, their
    folders are removed. A second one comes from impatience and must not break that off; a third Ctrl-C does.
    """

    def __init__(self) -> None:
        self._number = count(1)

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        place = next(self._number)
        if number == signal.SIGTERM:
            if place == 1:
                raise Terminated
        elif place != 2:
            raise KeyboardInterrupt
