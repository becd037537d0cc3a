"""What a cycle says of its progress, for a bar or for lines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nightschool.cli.output import Output, Steps


class Told:
    """Handed to a cycle; shows what it is told only while `shown`, so that a question or a table between
    two phases has the terminal for itself.

    Reading is counted against its files. Jobs are counted up, for the gate decides as it goes.
    """

    def __init__(self) -> None:
        self._steps: Steps | None = None
        self._made = 0

    def __call__(self, what: str, done: int, total: int) -> None:
        if what != "read":
            self._made += 1
        if self._steps is not None:
            self._steps.at(*((done, total) if what == "read" else (self._made, None)))

    @contextmanager
    def shown(self, out: Output, what: str) -> Iterator[None]:
        """A bar on a terminal, lines elsewhere, until the block ends."""
        with out.progress(what) as steps:
            self._steps = steps
            try:
                yield
            finally:
                self._steps = None
