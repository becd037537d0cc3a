"""How the noise floor is shown. Imported by `gate`, which asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nightschool.cli.exits import ExitCode
from nightschool.cli.output import Output
from nightschool.cli.render import Line, Piece, Table
from nightschool.cli.tasks import first_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nightschool.core.trials import Estimate
    from nightschool.rules.noise import NoiseFloor
    from nightschool.stages.calibrate import Calibration, Ended
    from nightschool.stages.cycle import Cycle


def without_tasks(out: Output, project: str | None, above: Sequence[str]) -> ExitCode:
    """Nothing to run against itself: no error, and what to do."""
    where = "all projects at once" if project is None else project
    command = "nightschool run --all-projects" if project is None else "nightschool run"
    return out.result(
        {"project": project, "holdout": None, "pairs": 0, "share": None},
        [
            f"No held-out tasks of {where} yet: a run makes them.",
            *(
                above
                or [f"next: {command} (it reads your sessions and makes tasks of them), then this again"]
            ),
        ],
    )


def planned(out: Output, calibration: Calibration, plan: list[str], *, wanted: int, jobs: int) -> ExitCode:
    document = {
        "dry_run": True,
        "holdout": calibration.holdout.id,
        "tasks": len(calibration.tasks),
        "wanted": wanted,
        "remaining": calibration.remaining(wanted),
        "jobs": jobs,
        "plan": plan,
    }
    return out.result(document, [*plan, "nothing was started or stored"])


def result(out: Output, cycle: Cycle, calibration: Calibration, *, wanted: int, ended: Ended) -> ExitCode:
    """The noise floor, as a document and for the eyes."""
    from nightschool.rules.noise import told  # noqa: PLC0415 - help needs no rules
    from nightschool.rules.report import spend_line  # noqa: PLC0415
    from nightschool.rules.telling import took  # noqa: PLC0415

    floor, key = calibration.floor(), calibration.key
    document = {
        "project": cycle.project,
        "cycle": cycle.number,
        "holdout": calibration.holdout.id,
        "harness": key.base,
        "runner": key.runner,
        "runner_version": key.runner_version,
        "model": cycle.options.model,
        "wanted": wanted,
        "ended": ended,
        "pairs": floor.pairs,
        "differ": floor.differ,
        "better": floor.better,
        "share": floor.share,
        "mean_d": floor.mean_d,
        "base": floor.base,
        "wealth": {"now": floor.wealth, "highest": floor.highest, "needed": floor.needed},
        "false_alarm": floor.false_alarm,
        "false_alarm_expected": floor.expected,
        "losses": _losses(floor),
        "tasks": _tasks(calibration, floor),
        "told": told(floor),
        "spend": cycle.door.spend,
        "seconds": cycle.door.worked.total_seconds(),
    }
    pieces: list[Piece | str] = [
        *(Line(text, "bold" if not place else "") for place, text in enumerate(told(floor))),
        *_tables(calibration, floor),
        *_why(cycle, floor, wanted, ended),
        Line(f"{spend_line(cycle.door.spend)}; {took(cycle.door.worked)}", "dim"),
    ]
    return out.result(document, pieces, ExitCode.FAILED if ended == "many-losses" else ExitCode.DONE)


def _losses(floor: NoiseFloor) -> dict[str, int]:
    losses = floor.losses
    return {
        "tried": losses.tried,
        "first": losses.base_only,
        "second": losses.draft_only,
        "both": losses.both,
    }


def _tasks(calibration: Calibration, floor: NoiseFloor) -> list[dict[str, object]]:
    prompts = {task.id: task.prompt for task in calibration.tasks}
    return [
        {
            "task": one.task,
            "prompt": prompts[one.task],
            "cluster": one.cluster,
            "pairs": one.pairs,
            "differ": one.differ,
            "passed": one.passed,
            "rate": one.rate,
            "passes": one.passes,
        }
        for one in floor.tasks
    ]


def _tables(calibration: Calibration, floor: NoiseFloor) -> list[Piece]:
    if not floor.pairs:
        return []
    prompts = {task.id: first_line(task.prompt) for task in calibration.tasks}
    rows = [
        (
            one.task,
            one.passes,
            f"{one.passed} of {2 * one.pairs}",
            f"{one.differ} of {one.pairs}",
            prompts[one.task],
        )
        for one in floor.tasks
    ]
    figures = [
        ("pairs that differ", *_figures(floor.share, "")),
        ("second minus first run", *_figures(floor.mean_d, "+")),
        ("how often a run passes", *_figures(floor.base, "")),
    ]
    return [
        Table(columns=("figure", "mean", "95 % interval", "of"), rows=figures),
        Table(columns=("task", "passes", "runs passed", "pairs differ", "prompt"), rows=rows),
    ]


def _figures(value: Estimate | None, sign: str) -> tuple[object, ...]:
    if value is None:
        return None, None, 0
    return f"{value.mean:{sign}.2f}", f"{value.low:{sign}.2f} to {value.high:{sign}.2f}", value.n


def _why(cycle: Cycle, floor: NoiseFloor, wanted: int, ended: Ended) -> list[str]:
    """What was lost, and why it ended where it did not come to its end."""
    from nightschool.core.jobs import LostTry  # noqa: PLC0415

    losses = floor.losses
    lines = [
        f"lost pairs: {losses.lost} of {losses.tried} (first run {losses.base_only}, second "
        f"{losses.draft_only}, both {losses.both})"
    ]
    tries = cycle.store.find(LostTry, cycle.number)
    if tries:
        lines.append(f"the last loss: {tries[-1].message}")
    if ended == "budget-ended":
        limit = cycle.door.stopped_by() or "the budget is used up"
        lines.append(f"{limit}: {floor.pairs} of {wanted} pairs are there; the same command goes on")
    if ended == "many-losses":
        lines.append("too many runs were lost to go on; mend what they died of, and the same command goes on")
    return lines
