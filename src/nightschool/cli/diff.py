"""`nightschool diff`: what changed from one cycle to another."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Annotated

import typer

from nightschool.cli.exits import ExitCode
from nightschool.cli.options import Json
from nightschool.cli.output import Output
from nightschool.cli.reading import Project, reading, root_of
from nightschool.cli.render import Line, Piece, Table
from nightschool.core.errors import UserError

if TYPE_CHECKING:
    from nightschool.core.cycles import Learned
    from nightschool.core.trials import Estimate
    from nightschool.rules.compared import Changed, Comparison, Course, Figure

Before = Annotated[str | None, typer.Argument(metavar="A", help="The cycle to begin with, e.g. n-0001.")]
After = Annotated[str | None, typer.Argument(metavar="B", help="The cycle to compare it with.")]


def diff(
    before: Before = None, after: After = None, *, project: Project = None, json: Json = False
) -> ExitCode:
    """Tell what changed from cycle A to cycle B: sessions, corrections, what each came to, scores, use.

    Without A and B: the last two cycles of this project.

    \b
    Example:
      nightschool diff
      nightschool diff n-0001 n-0004 --json
    """
    from nightschool.cli.history import newest_cycles, the_cycle  # noqa: PLC0415 - help needs no store
    from nightschool.rules.compared import compared  # noqa: PLC0415

    if (before is None) != (after is None):
        raise UserError("diff takes two cycles, A and B, or none: then the last two of this project")
    with reading(fleeting=True, forgiving=True) as parts:
        if before is None or after is None:
            first, second = newest_cycles(parts.store, root_of(project), 2)
        else:
            first, second = the_cycle(parts.store, before), the_cycle(parts.store, after)
    found = compared(first, second)
    return Output(json=json).result(_document(found), _told(found))


def _document(found: Comparison) -> dict[str, object]:
    return {
        "before": found.before,
        "after": found.after,
        "conditions": [{"what": what, "before": then, "after": now} for what, then, now in found.conditions],
        "figures": [
            {"name": one.name, "before": one.before, "after": one.after, "by": one.by}
            for one in found.figures
        ],
        "candidates": [
            {
                "candidate": one.candidate,
                "statement": one.statement,
                "change": one.change,
                "before": one.before,
                "after": one.after,
            }
            for one in found.candidates
        ],
    }


def _told(found: Comparison) -> list[Piece | str]:
    pieces: list[Piece | str] = [Line(f"from {found.before} to {found.after}", "bold")]
    if found.conditions:
        pieces += [
            Table(columns=("not the same", "then", "now"), rows=found.conditions),
            Line("Scores of other conditions say little about each other.", "yellow"),
            "",
        ]
    changed = [one for one in found.figures if one.before != one.after or one.by is None]
    if changed:
        rows = [_figure(one) for one in changed]
        pieces += [Table(columns=("figure", "then", "now", "more"), rows=rows), ""]
    if found.candidates:
        heads = ("correction", "", "then", "now", "without the edit", "with it", "proposal")
        minor = ("proposal",)
        pieces.append(Table(columns=heads, rows=[_course(one) for one in found.candidates], minor=minor))
    return pieces if len(pieces) > 1 else [*pieces, "nothing changed"]


def _figure(one: Changed) -> tuple[object, ...]:
    by = one.by
    if isinstance(one.before, Decimal) and isinstance(one.after, Decimal):
        by = round(one.after, 2) - round(one.before, 2)  # of the figures that stand beside it
    more = _number(by)
    if by is not None and by > 0:
        more = f"+{more}"
    return (one.name, _number(one.before), _number(one.after), more)


def _number(value: Figure) -> str | None:
    from nightschool.rules.telling import dollars  # noqa: PLC0415 - help needs no rules

    if value is None:
        return None
    return f"{value:,}" if isinstance(value, int) else dollars(value)


def _course(one: Course) -> tuple[object, ...]:
    then, now = one.before, one.after
    return (
        one.statement,
        one.change,
        _outcome(then),
        _outcome(now),
        _arrow(*(_score(item, item.base) if item else None for item in (then, now))),
        _arrow(*(_score(item, item.proposal) if item else None for item in (then, now))),
        next((item.draft for item in (now, then) if item and item.draft), None),
    )


def _outcome(item: Learned | None) -> str | None:
    from nightschool.cli.history import came_to  # noqa: PLC0415 - help needs no store

    return None if item is None else came_to(item)


def _score(item: Learned, score: Estimate | None) -> str | None:
    from nightschool.rules.scores import told  # noqa: PLC0415 - help needs no rules

    return told(score, item.code, item.pairs)


def _arrow(then: str | None, now: str | None) -> str | None:
    """What is told of both, or of the one that there is."""
    if then is None and now is None:
        return None
    return then if then == now else f"{then or '-'} to {now or '-'}"
