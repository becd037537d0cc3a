"""A wealth from pair to pair as a picture (SVG): where it began, where it passes, where it fails.

It stands alone as a file, and inside a page that has `STYLE` among its rules.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import cycle

from nightschool.rules.gate import Policy
from nightschool.rules.markup import Markup, joined, tag
from nightschool.rules.telling import counted, figures

WIDTH, HEIGHT = 720, 280
LEFT, RIGHT, TOP, BOTTOM = 52, 16, 14, 40
LEAST = 1e-6
"""A wealth never comes to nothing; one that is all but nothing is drawn at the edge."""
ROOM = 1.25
"""How far the scale goes beyond the last line, as a factor."""
MOST_MARKS = 8
GAP = 13
"""Labels that are nearer to each other than this would lie on one another."""

LIGHT = "--ink:#1b1f24;--faint:#8a919a;--grid:#d5d9de;--pass:#1a7f37;--fail:#c1272d;--line:#0b62c4"
DARK = "--ink:#e6e9ed;--faint:#8d96a0;--grid:#3a414a;--pass:#4ac26b;--fail:#ff7b72;--line:#6cb0ff"
STYLE = (
    f".curve{{{LIGHT};font:12px system-ui,sans-serif}}"
    f"@media(prefers-color-scheme:dark){{.curve{{{DARK}}}}}"
    f"@media print{{.curve{{{LIGHT}}}}}"
    ".curve text{fill:var(--ink)}.curve .faint{fill:var(--faint)}"
    ".curve line{stroke:var(--grid)}"
    ".curve .pass,.curve .fail{stroke-dasharray:6 4}"
    ".curve .pass{stroke:var(--pass)}.curve .fail{stroke:var(--fail)}"
    ".curve polyline{fill:none;stroke:var(--line);stroke-width:2.5;stroke-linejoin:round}"
    ".curve .other{stroke-width:1;opacity:.4}.curve circle{fill:var(--line)}"
)


def curve(
    path: Sequence[float],
    *,
    needed: float | None,
    others: Sequence[Sequence[float]] = (),
    alone: bool = False,
) -> Markup:
    """The path of a wealth (from 1), with thinner ones behind it. `needed`: what it takes to pass, if known.

    `alone`: as a file of its own, which brings its style.
    """
    fails = Policy().reject_below
    lines = [1.0, fails, *([needed] if needed is not None else [])]
    values = [value for one in (path, *others) for value in one]
    scale = _Scale(
        low=min(*lines, *values) / (2 * ROOM),
        high=max(*lines, *values) * ROOM,
        pairs=max(1, *(len(one) - 1 for one in (path, *others))),
    )
    said = counted(len(path) - 1, "pair")
    ends = f"evidence {figures(path[-1])} after {said}" + (f"; {figures(needed)} is needed" if needed else "")
    return tag(
        "svg",
        *([tag("style", Markup(STYLE))] if alone else []),
        tag("title", ends),
        *_grid(scale, needed, fails),
        *(tag("polyline", points=scale.points(one), class_="other") for one in others),
        tag("polyline", points=scale.points(path)),
        tag("circle", cx=scale.x(len(path) - 1), cy=scale.y(path[-1]), r=4),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        class_="curve",
        role="img",
    )


class _Scale:
    """Places in the picture: pairs from left to right, the wealth upwards in powers, as it grows."""

    def __init__(self, *, low: float, high: float, pairs: int) -> None:
        self.low, self.high, self.pairs = max(low, LEAST), high, pairs

    def x(self, pair: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * pair / self.pairs, 1)

    def y(self, wealth: float) -> float:
        height = math.log(max(wealth, self.low) / self.low) / math.log(self.high / self.low)
        return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * height, 1)

    def points(self, path: Sequence[float]) -> str:
        return " ".join(f"{self.x(pair)},{self.y(wealth)}" for pair, wealth in enumerate(path))


def _grid(scale: _Scale, needed: float | None, fails: float) -> Iterator[Markup]:
    right = WIDTH - RIGHT
    marked = [(1.0, "1", ""), (fails, f"{fails:g}", "fail")]
    if needed is not None:
        marked.append((needed, figures(needed), "pass"))
    taken = [scale.y(value) for value, _, _ in marked]
    powers = range(math.ceil(math.log10(scale.low)), math.floor(math.log10(scale.high)) + 1)
    tens = [10.0**power for power in powers]
    marked += [
        (ten, f"{ten:g}", "") for ten in tens if all(abs(scale.y(ten) - place) > GAP for place in taken)
    ]
    for value, label, kind in marked:
        y = scale.y(value)
        yield tag("line", x1=LEFT, x2=right, y1=y, y2=y, class_=kind)
        yield tag("text", label, x=LEFT - 6, y=y + 4, text_anchor="end", class_="" if kind else "faint")
    # On the left every path is still near 1: there it crosses no words.
    if needed is not None:
        yield tag("text", "passes above this line", x=LEFT + 6, y=scale.y(needed) - 5)
    yield tag("text", "fails below this line", x=LEFT + 6, y=scale.y(fails) + 14)
    step = _step(scale.pairs)
    yield joined(
        tag("text", str(pair), x=scale.x(pair), y=HEIGHT - BOTTOM + 18, text_anchor="middle", class_="faint")
        for pair in range(0, scale.pairs + 1, step)
    )
    yield tag(
        "text", "pairs of tries", x=(LEFT + right) / 2, y=HEIGHT - 6, text_anchor="middle", class_="faint"
    )


def _step(pairs: int) -> int:
    """1, 2, 5, 10, 20, ... so that few numbers stand below."""
    step, factors = 1, cycle((2, 2.5, 2))
    while pairs / step > MOST_MARKS:
        step = round(step * next(factors))
    return step
