"""`nightschool gate ...`: what the gate does where the truth is known."""

from __future__ import annotations

from typing import Annotated

import typer

from nightschool.cli.exits import ExitCode
from nightschool.cli.options import Json
from nightschool.cli.output import Output
from nightschool.cli.render import Table
from nightschool.core.errors import UserError

Simulate = Annotated[int, typer.Option(min=1, metavar="N", help="Drafts to simulate in each scene.")]
Effect = Annotated[
    float | None,
    typer.Option(metavar="E", help="By how much the draft passes more often; without it, not at all."),
]
Seed = Annotated[int, typer.Option(help="Another seed gives other draws.")]


def calibrate(*, simulate: Simulate, effect: Effect = None, seed: Seed = 0, json: Json = False) -> ExitCode:
    """Show how often the gate accepts where the truth is known.

    Without --effect the drafts gain nothing, in three ways: arms that are identical, that differ by as
    many +1 as -1, and that are better on half of the tasks and worse on the others. What is accepted then
    is a false accept; the share of the worst scene is at most alpha. With --effect 0.3 the share is the
    gate's power at +30 points. No model is called.

    \b
    Example:
      nightschool gate calibrate --simulate 1000
      nightschool gate calibrate --simulate 1000 --effect 0.3 --json
    """
    from nightschool.rules.calibration import calibrate as simulated  # noqa: PLC0415 - help needs no rules
    from nightschool.rules.calibration import worst  # noqa: PLC0415

    try:
        found = simulated(simulate, effect, seed=seed)
    except ValueError as error:
        raise UserError(f"--effect: {error}") from error
    row = worst(found)
    summary = {
        name: getattr(row, name)
        for name in ("alpha", "effect", "simulated", "accepted", "share", "mean_pairs")
    }
    table = Table(
        columns=("arms", "simulated", "accepted", "share", "pairs in the mean"),
        rows=[(one.arms, one.simulated, one.accepted, one.share, one.mean_pairs) for one in found],
    )
    promise = (
        f"at most {row.alpha:g} may be accepted falsely over all drafts of one hold-out version, "
        f"{row.spent:.3g} of it on the first"
    )
    return Output(json=json).result({**summary, "scenes": found}, [table, promise])
