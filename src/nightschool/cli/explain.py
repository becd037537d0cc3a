"""`nightschool explain`: what became of each row of a session, or of each condition that a proposal met."""

from __future__ import annotations

from typing import Annotated

import typer

from nightschool.cli.exits import ExitCode
from nightschool.cli.options import Json
from nightschool.cli.output import Output

Name = Annotated[
    str,
    typer.Argument(
        metavar="SESSION|ID", help="A session's id, its transcript file, or a proposal's id (d-...)."
    ),
]
Brief = Annotated[bool, typer.Option("--brief", help="Leave out rows that say nothing of turns, and copies.")]
OTHERS = {
    "t-": "nightschool tasks show",
    "c-": "nightschool corrections --json",
    "k-": "nightschool corrections --json",
    "n-": "nightschool history",
    "r-": "nightschool releases",
}


def explain(name: Name, *, brief: Brief = False, json: Json = False) -> ExitCode:
    """Tell what became of each row of a session, or what each condition of a proposal came to, and why.

    Of a session each row of its transcript is told, with the place at which it stands: a turn of yours, a
    call, a result, a correction, or left out; then which tasks came of it, and why not. With --brief the
    rows that became nothing of these are only counted. The file is only read, and nothing is stored. Of a
    proposal each thing that the gate asks is told with its figures, and each that adopting asks.

    \b
    Example:
      nightschool explain 0b9e6f2c-5d1a-4c0e-9a53-1f6f1f6a7c11
      nightschool explain ~/.codex/sessions/2026/03/01/rollout-1.jsonl
      nightschool explain d-1f2e3d4c5b --json
    """
    from nightschool.core.errors import UserError  # noqa: PLC0415 - help needs no core

    out = Output(json=json)
    if name.startswith("d-"):
        from nightschool.cli import explained_draft  # noqa: PLC0415

        return explained_draft.explain(name, out)
    other = OTHERS.get(name[:2])
    if other is not None:
        raise UserError(f"{name} is no session and no proposal: `{other}` tells of it")
    from nightschool.cli import explained_session  # noqa: PLC0415

    return explained_session.explain(name, out, brief=brief)
