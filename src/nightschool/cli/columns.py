"""How a table fits a width: relieves `render` of the choice of what stands beside what.

Short cells (ids, numbers, dates) are never broken: a person types them. Long ones share what is left and
fold; where that is too little the minor columns go, and then long cells move below their row. Nothing is
cut, and what is not shown is named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

LONG = 24
"""A column with a longer cell may fold, but gets so much at least, and as much as its longest word: a path
that is broken cannot be typed."""
GAP = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Arranged:
    """Positions of columns: with their widths in the row, below it, and not shown."""

    beside: tuple[tuple[int, int], ...]
    below: tuple[int, ...] = ()
    dropped: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """The width that a column would like, and the width of its longest word."""

    natural: int
    word: int = 0

    @property
    def least(self) -> int:
        return min(self.natural, max(LONG, self.word))


def arranged(wishes: Sequence[Wish], room: int, minor: Sequence[int]) -> Arranged:
    """`minor` are the columns to drop, the last one first."""
    kept = list(range(len(wishes)))
    dropped: list[int] = []
    for gone in [None, *reversed(minor)]:
        if gone is not None:
            kept.remove(gone)
            dropped.insert(0, gone)
        widths = _side_by_side([wishes[at] for at in kept], room)
        if widths is not None:
            return Arranged(beside=tuple(zip(kept, widths, strict=True)), dropped=tuple(dropped))
    beside: list[tuple[int, int]] = []
    used = 0
    for at in kept:
        if wishes[at].natural <= LONG and used + wishes[at].natural <= room:
            beside.append((at, wishes[at].natural))
            used += wishes[at].natural + GAP
    shown = {at for at, _ in beside}
    below = tuple(at for at in kept if at not in shown)
    return Arranged(beside=tuple(beside), below=below, dropped=tuple(dropped))


def _side_by_side(wishes: Sequence[Wish], room: int) -> list[int] | None:
    """The widths in one row; None where a column would get too little."""
    widths = [wish.least for wish in wishes]
    left = room - sum(widths) - GAP * (len(wishes) - 1)
    if left < 0:
        return None
    # Those that want little more first: what they do not need is for the others.
    more = sorted((wish.natural - wish.least, at) for at, wish in enumerate(wishes))
    for done, (wanted, at) in enumerate(more):
        given = min(wanted, left // (len(more) - done))
        widths[at] += given
        left -= given
    return widths
