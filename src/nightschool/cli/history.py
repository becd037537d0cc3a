"""`nightschool history`: the cycles so far. Also finds the cycle that another command names."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from nightschool.cli.exits import ExitCode
from nightschool.cli.options import Json
from nightschool.cli.output import Output
from nightschool.cli.reading import Project, reading, root_of
from nightschool.cli.render import Piece, Table
from nightschool.core.errors import NotFound

if TYPE_CHECKING:
    from nightschool.core.cycles import CycleReport, Learned
    from nightschool.core.ports import Store
    from nightschool.rules.unreported import Unreported

AllProjects = Annotated[bool, typer.Option("--all-projects", help="The cycles of all projects.")]
NAMED = 5
"""So many cycles are named to who names one that is not there."""


def history(*, project: Project = None, all_projects: AllProjects = False, json: Json = False) -> ExitCode:
    """List the cycles of this project, the newest first: what was read, what came of it, what it cost.

    Cycles over all projects are of each of them. One that started jobs and left no report is told too: it
    was broken off, or was a calibration.

    \b
    Example:
      nightschool history
      nightschool history --all-projects --json
    """
    from nightschool.core.cycles import CycleReport  # noqa: PLC0415 - help needs no store

    root = None if all_projects else root_of(project)
    with reading(fleeting=True, forgiving=True) as parts:
        known, others = parts.store.find(CycleReport), without_report(parts.store)
    found = of_project(known, root)[::-1]
    # Of which project nobody can tell may be of another, forgotten or broken off: it is counted, not listed.
    rest = [one for one in others if root is None or root in one.projects or not one.over][::-1]
    nameless = [one for one in others if root is not None and one.over and not one.projects]
    document = {
        "project": root,
        "cycles": found,
        "without_report": [_known(one) for one in rest],
        "of_no_known_project": len(nameless),
    }
    told = _told(found, rest) if found or rest else _none(known, root)
    return Output(json=json).result(document, [*_nameless(nameless), *told])


def _nameless(found: Sequence[Unreported]) -> list[str]:
    from nightschool.rules.telling import counted  # noqa: PLC0415 - help needs no rules

    if not found:
        return []
    what = f"{counted(len(found), 'more cycle')}, broken off or forgotten, of which no project is known"
    return [f"{what}: nightschool history --all-projects"]


def of_project(reports: Sequence[CycleReport], root: str | None) -> Sequence[CycleReport]:
    """Those that concern a project, in the order of writing: a clock that was set back moves none."""
    return [report for report in reports if report.concerns(None if root is None else frozenset({root}))]


def without_report(store: Store) -> Sequence[Unreported]:
    """The cycles that started jobs and left no report, by number."""
    from nightschool.core.cycles import CycleReport  # noqa: PLC0415 - help needs no store
    from nightschool.core.jobs import Finished, LostTry, Reservation  # noqa: PLC0415
    from nightschool.core.tasks import Task  # noqa: PLC0415
    from nightschool.core.trials import Draw  # noqa: PLC0415
    from nightschool.rules.unreported import unreported  # noqa: PLC0415

    return unreported(
        {report.cycle for report in store.find(CycleReport)},
        booked=store.find(Reservation),
        finished=store.find(Finished),
        lost=store.find(LostTry),
        draws=store.find(Draw),
        projects={task.id: task.project for task in store.find(Task)},
        running=store.holder("cycle"),
    )


def the_cycle(store: Store, name: str) -> CycleReport:
    """The report of a cycle by its whole id."""
    from nightschool.core.cycles import CycleReport  # noqa: PLC0415

    found = store.get(CycleReport, name)
    if found is None:
        broken = next((one for one in without_report(store) if one.cycle == name), None)
        if broken is not None:
            way = (
                "gate calibrate` shows its figures" if broken.calibration else "run` goes on with what ended"
            )
            raise NotFound(f"cycle {name} has no report: {broken.told}; `nightschool {way}")
        newest = [report.cycle for report in store.find(CycleReport)[-NAMED:]][::-1]
        there = f"the newest are {', '.join(newest)}" if newest else "no cycle has come to its end yet"
        raise NotFound(
            f"there is no report of a cycle {name!r}; {there}: see nightschool history --all-projects"
        )
    return found


def newest_cycles(store: Store, root: str, count: int) -> Sequence[CycleReport]:
    """The newest cycles of a project, the oldest of them first."""
    from nightschool.core.cycles import CycleReport  # noqa: PLC0415

    found = of_project(store.find(CycleReport), root)[-count:]
    if len(found) < count:
        needed = "no cycle" if count == 1 else f"fewer than {count} cycles"
        raise NotFound(
            f"{needed} of {root} with a report so far: name one of nightschool history --all-projects"
        )
    return found


def came_to(item: Learned) -> str:
    """What became of a candidate, in a word or two."""
    from nightschool.rules.came_to import in_short  # noqa: PLC0415 - help needs no rules

    return in_short(item.code)


def _known(one: Unreported) -> dict[str, object]:
    """For a program: what the screen tells, and its parts."""
    from nightschool.cli.output import plain  # noqa: PLC0415 - help needs no output

    return {**plain(one), "told": one.what}


def _told(found: Sequence[CycleReport], rest: Sequence[Unreported]) -> list[Piece | str]:
    from nightschool.rules.unreported import number  # noqa: PLC0415 - help needs no rules

    rows = [_row(report) for report in found]
    for one in rest:
        # Reports keep the order of writing; what has none stands by its number.
        later = sum(number(report.cycle) > number(one.cycle) for report in found)
        later += sum(number(other.cycle) > number(one.cycle) for other in rest)
        rows.insert(later, _bare_row(one))
    heads = ("cycle", "when (UTC)", "new", "came to", "used", "project")
    more = " or nightschool diff" if len(found) > 1 else ""
    return [
        Table(columns=heads, rows=rows, minor=("project", "new")),
        f"next: nightschool report {found[0].cycle}{more}" if found else "next: nightschool run",
    ]


def _row(report: CycleReport) -> tuple[object, ...]:
    from nightschool.rules.telling import counted, dollars  # noqa: PLC0415

    spend = report.spend
    cost = dollars(spend.cost) + (" and unknown" if spend.unknown_cost else "")
    outcomes = "; ".join(f"{item.statement}: {came_to(item)}" for item in report.learned)
    return (
        report.cycle,
        f"{report.started_at:%Y-%m-%d %H:%M}",
        counted(report.sessions_read, "session"),
        f"broke off: {report.failed}" if report.failed else outcomes or "nothing to learn",
        f"{counted(spend.jobs, 'job')}, {cost}",
        report.project or "all projects",
    )


def _bare_row(one: Unreported) -> tuple[object, ...]:
    when = None if one.started_at is None else f"{one.started_at:%Y-%m-%d %H:%M}"
    return one.cycle, when, None, one.what, one.used, ", ".join(one.projects) or None


def _none(known: Sequence[CycleReport], root: str | None) -> list[Piece | str]:
    """Where to go on when there is none: to the project that has some, or to the first run."""
    told = "no cycle has run yet" if root is None else f"no cycle of {root} has run yet"
    if not known:
        return [told, "next: nightschool run"]
    return [
        f"{told}, but of other projects",
        f"next: nightschool history --project {shlex.quote(min(known[-1].roots or (), default=''))}",
    ]
