"""What a cycle says of its progress, for a bar or for lines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nightschool.cli.output import Output, Steps


class Told:
    """Handed to a cycle; shows what it is told only while `shown`, so that a question or a table between
    two phases has the terminal for itself."""

    def __init__(self) -> None:
        self._steps: Steps | None = None
        self._total: int | None = None

    def __call__(self, words: str, done: int, total: int | None) -> None:
        if self._steps is not None:
            self._steps.at(done, self._total or total, words)

    @contextmanager
    def shown(self, out: Output, what: str, *, total: int | None = None) -> Iterator[None]:
        """A bar on a terminal, lines elsewhere, until the block ends. `total` where the caller knows better
        than the budget how much there is to do."""
        with out.progress(what) as steps:
            self._steps, self._total = steps, total
            try:
                yield
            finally:
                self._steps = self._total = None
