"""What a cycle says of its progress, for a bar or for lines."""

from __future__ import annotations

from collections.abc import Callable

from nightschool.cli.output import Steps


def told_by(steps: Steps) -> Callable[[str, int, int], None]:
    """Reading is counted against its files; jobs are counted up, for the gate decides as it goes."""
    made = 0

    def tell(what: str, done: int, total: int) -> None:
        nonlocal made
        if what == "read":
            steps.at(done, total, "reading sessions" if done == total else "")
            return
        made += 1
        steps.at(made, None, "practising")

    return tell
