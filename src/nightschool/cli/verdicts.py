"""How a verdict is told: first in plain words, then its figures, each with what it means.

Relieves `dossiers` of the gate. Codes and all figures are in the document.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from nightschool.cli.render import Line, Piece, Table
from nightschool.core.proposals import Certify, VerdictKind
from nightschool.rules.gate import Policy
from nightschool.rules.guards import told as showed
from nightschool.rules.telling import counted, figures

if TYPE_CHECKING:
    from rich.console import RenderableType

    from nightschool.core.proposals import Draft, Verdict, VerdictCode
    from nightschool.core.trials import Estimate

BARS = "▁▂▃▄▅▆▇█"
CURVE_WIDTH = 60
TOLD_BY_FIGURES = frozenset({"enough-wealth", "low-wealth"})
"""Reasons that the figures below show; any other is told in its own words."""
GAINS = {
    VerdictKind.ACCEPT: "passed. With this edit your agent does what you asked for more often.",
    VerdictKind.REJECT: "failed. The tries speak against this edit.",
    VerdictKind.UNDERPOWERED: "not proven. There is too little to try it on.",
    VerdictKind.INVALID: "no verdict. This exam can say nothing about the edit.",
}
LACKS: dict[VerdictCode, str] = {
    "suggest-mode": "It did better in a few tries; in this mode nothing is certified.",
    "gate-off": "The gate is off: nothing was tried.",
    "many-losses": "Too many tries were lost to the machine or the network.",
}
UNGUARDED = "Whether other work of yours suffers is not known: none was found that could show it."
KEEPS = {**GAINS, VerdictKind.ACCEPT: "passed. With this edit your agent does its work no worse."}


def examined(draft: Draft, verdict: Verdict | None) -> list[Piece | str]:
    """What the gate says of a proposal."""
    if verdict is None:
        return [Line("Gate: it has not spoken of this revision yet", "bold")]
    told: list[Piece | str] = [Line(f"Gate: {_sentence(draft, verdict)}", "bold")]
    if verdict.code not in TOLD_BY_FIGURES:
        told.append(f"  {verdict.why}")
    if verdict.mode != "certify":
        told.append(f"  mode {verdict.mode}: nothing is certified in it")
    if verdict.pairs:
        told += _figures(draft, verdict)
    return told


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A wealth from pair to pair: bars on a terminal, a picture on a page."""

    path: tuple[float, ...]
    needed: float | None

    def plain(self) -> str:
        return f"  pair by pair: {curve(self.path)}"

    def styled(self) -> RenderableType:
        return Line(self.plain()).styled()


def curve(path: Sequence[float], width: int = CURVE_WIDTH) -> str:
    """A wealth from pair to pair as a row of bars, in powers as it grows; of many pairs every n-th."""
    if not path:
        return ""
    every = -(-len(path) // width)
    # The last one always stands at the end: it is the one that decides.
    heights = [math.log(max(value, 1e-6)) for value in path[::-1][::every][::-1]]
    low = min(0.0, *heights)
    span = max(0.0, *heights) - low or 1.0
    return "".join(BARS[round((height - low) / span * (len(BARS) - 1))] for height in heights)


def _sentence(draft: Draft, verdict: Verdict) -> str:
    if verdict.kind is VerdictKind.UNDECIDED:
        return f"not decided yet. {_lacks(verdict)}"
    told = (KEEPS if draft.certify is Certify.NOT_WORSE else GAINS)[verdict.kind]
    return f"{told} {UNGUARDED}" if verdict.unguarded else told


def _lacks(verdict: Verdict) -> str:
    """What an exam that is not decided lacks."""
    if verdict.code in LACKS:
        return LACKS[verdict.code]
    if not verdict.pairs:
        return "Nothing was tried yet."
    if verdict.wealth is None or not verdict.alpha or verdict.wealth < 1 / verdict.alpha:
        return "What was tried so far shows neither yes nor no."
    kinds = min(Policy().won_clusters, verdict.target_clusters) - verdict.clusters_won
    if kinds > 0:
        return f"The evidence is there; {counted(kinds, 'more kind')} of task must be won."
    return "The evidence is there; whether other work suffers was not tried to its end."


def _figures(draft: Draft, verdict: Verdict) -> list[Piece | str]:
    told: list[Piece | str] = [
        f"  {counted(verdict.pairs, 'pair')} of tries, the same held-out task without and with the edit: "
        f"{_pairs(draft, verdict)}",
        f"  better in {verdict.clusters_won} of {counted(verdict.target_clusters, 'kind')} of task"
        " (tasks that are nearly the same are one kind)",
    ]
    if verdict.kind is VerdictKind.ACCEPT and verdict.target_clusters < Policy().won_clusters:
        told.append("  these are few kinds: it may not hold for others")
    if draft.certify is Certify.NOT_WORSE and verdict.margin:
        told.append(f"  a loss of up to {verdict.margin:.0%} would not count as one")
    if verdict.wealth is not None:
        # With alpha the gate accepts at 1/alpha, however often it looks.
        needed = f", {figures(1 / verdict.alpha)} is needed to pass" if verdict.alpha else ""
        told.append(
            f"  evidence {figures(verdict.wealth)}{needed}: it starts at 1, grows where the edit does "
            "better and shrinks where it does worse"
        )
        told.append(Curve(path=verdict.path, needed=1 / verdict.alpha if verdict.alpha else None))
    told += scores(verdict)
    told += _guards(verdict)
    if verdict.losses_base or verdict.losses_draft:
        told.append(
            f"  tries lost to the machine or the network, not counted: {verdict.losses_base} without the "
            f"edit, {verdict.losses_draft} with it"
        )
    return told


def _pairs(draft: Draft, verdict: Verdict) -> str:
    alike = f"alike in {verdict.pairs - verdict.decided}"
    # Without a margin the wealth rises where the edit did better and falls where it did worse.
    better = sum(after > before for before, after in pairwise(verdict.path))
    worse = sum(after < before for before, after in pairwise(verdict.path))
    if draft.certify is Certify.GAIN and better + worse == verdict.decided:
        return f"better with it in {better}, worse in {worse}, {alike}"
    return f"different in {verdict.decided}, {alike}"


def scores(verdict: Verdict) -> list[Piece | str]:
    """How often each arm passed, where it was tried anew after the decision."""
    rows = [
        _score(name, value)
        for name, value in (("without the edit", verdict.base), ("with the edit", verdict.proposal))
        if value is not None
    ]
    if not rows:
        return []
    return [
        "",
        Table(
            title="How often the task was passed, in fresh tries made after the decision",
            columns=("tried", "passed", "likely between", "tries"),
            rows=rows,
        ),
        Line("Likely between: in 95 of 100 such exams the true share lies in it.", "dim"),
    ]


def _score(arm: str, value: Estimate) -> tuple[object, ...]:
    return (arm, f"{value.mean:.0%}", f"{value.low:.0%} and {value.high:.0%}", value.n)


def _guards(verdict: Verdict) -> list[Piece | str]:
    if not verdict.guards:
        return [] if verdict.unguarded else ["  whether other work suffers was not tried"]
    return [
        "",
        Table(
            title="Guards: other work of yours, tried without and with the edit, that must not suffer",
            columns=("task", "pairs", "found", "could go unseen"),
            rows=[
                (one.task, one.pairs, showed(one), f"up to {one.unseen_loss:.0%}" if one.could_show else None)
                for one in verdict.guards
            ],
        ),
        Line("Could go unseen: with so few pairs, a loss in this share of tries might not show.", "dim"),
    ]
