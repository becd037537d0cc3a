"""A score in a cell of a table: with the interval that it likely lies in, or why there is none.

Relieves the lists of proposals and of cycles. Scores come from fresh tries, which are made only after an
accept: the pairs that decide flatter whoever they stop for.
"""

from __future__ import annotations

from nightschool.core.trials import Estimate


def told(score: Estimate | None, came_to: str | None, pairs: int = 0) -> str | None:
    """`came_to` is the kind of a verdict, or what a cycle says that it came to; None: no verdict."""
    if score is not None:
        return f"{score.mean:.0%} ({score.low:.0%} to {score.high:.0%}, {score.n} tries)"
    match came_to:
        case "accept" | "adopted":
            return "too few fresh tries"
        case "undecided":
            return f"no fresh tries: not decided after {pairs} pairs" if pairs else "not tried"
        case "reject" | "invalid":
            return "no fresh tries: it did not pass"
        case None | "underpowered":
            return "not examined"
    return None
