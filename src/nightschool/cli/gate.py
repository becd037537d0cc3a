"""`nightschool gate ...`: what the gate does where the truth is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nightschool.cli import noise, setting_up
from nightschool.cli.exits import ExitCode
from nightschool.cli.options import Json
from nightschool.cli.output import Output
from nightschool.cli.progress import Told
from nightschool.cli.reading import sessions_above, typed
from nightschool.cli.render import Table
from nightschool.cli.run import AllProjects, MaxJobs, Model, Project, Runner
from nightschool.core.errors import NotAllowed, UserError

if TYPE_CHECKING:
    from nightschool.stages.cycle import Cycle

Pairs = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Pairs of runs to have in all: 20, unless you say otherwise."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Tell what it would cost, and start nothing.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before it starts.")]
Simulate = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Call no model: simulate so many drafts in each scene."),
]
Effect = Annotated[
    float | None,
    typer.Option(
        metavar="E", help="With --simulate: by how much the draft passes more often; else not at all."
    ),
]
Seed = Annotated[int | None, typer.Option(help="With --simulate: another seed gives other draws.")]
USUAL_PAIRS = 20
"""40 jobs, less than half of a cycle's usual limit."""


def calibrate(  # noqa: PLR0913 - one parameter an option
    *,
    pairs: Pairs = None,
    project: Project = None,
    all_projects: AllProjects = False,
    runner: Runner = None,
    model: Model = None,
    max_jobs: MaxJobs = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    agree_setup: setting_up.AgreeSetup = None,
    simulate: Simulate = None,
    effect: Effect = None,
    seed: Seed = None,
    json: Json = False,
) -> ExitCode:
    """Show how noisy your own tasks are, or how often the gate accepts where the truth is known.

    Runs your harness against itself on the held-out tasks of this project: what differs then is noise,
    and an edit has to win clearly more often than that. It tells what it will cost and asks first. It
    spends nothing of the gate's alpha and changes no file. What was broken off goes on where it was, and
    pairs of before count, as long as harness, agent, model and tasks are the same.

    With --simulate no model is called. Without --effect the simulated drafts gain nothing, in three ways:
    arms that are identical, that differ by as many +1 as -1, and that are better on half of the tasks and
    worse on the others. What is accepted then is a false accept; the share of the worst scene is at most
    alpha. With --effect 0.3 the share is the gate's power at +30 points.

    \b
    Example:
      nightschool gate calibrate --dry-run
      nightschool gate calibrate --pairs 30 --runner codex
      nightschool gate calibrate --simulate 1000 --effect 0.3 --json
    """
    out = Output(json=json)
    real = {
        "--pairs": pairs,
        "--project": project,
        "--all-projects": all_projects or None,
        "--runner": runner,
        "--model": model,
        "--max-jobs": max_jobs,
        "--dry-run": dry_run or None,
        "--yes": yes or None,
        "--agree-setup": agree_setup or None,
    }
    if simulate is not None:
        _refuse(real, "no model is called with --simulate: leave it out")
        return _simulated(out, simulate, effect, seed or 0)
    _refuse({"--effect": effect, "--seed": seed}, "it is for --simulate N alone")
    flags = {"runner": runner, "model": model, "limits.max_jobs": max_jobs}
    wanted = USUAL_PAIRS if pairs is None else pairs
    how = {"all_projects": all_projects, "dry_run": dry_run, "yes": yes}
    return _measured(out, wanted, flags, project, agreed=agree_setup or (), **how)


def _refuse(flags: Mapping[str, object], why: str) -> None:
    given = [flag for flag, value in flags.items() if value is not None]
    if given:
        raise UserError(f"{given[0]}: {why}")


def _measured(
    out: Output,
    wanted: int,
    flags: Mapping[str, object],
    project: Path | None,
    *,
    all_projects: bool,
    dry_run: bool,
    yes: bool,
    agreed: Sequence[str],
) -> ExitCode:
    """The base against itself."""
    from nightschool.cli import expected, opening, project_files  # noqa: PLC0415 - help needs no store
    from nightschool.core.tasks import Task  # noqa: PLC0415
    from nightschool.stages.calibrate import newest  # noqa: PLC0415

    root = None if all_projects else opening.project_root(project, out)
    with opening.opening(flags, project, rehearsal=dry_run, own=all_projects) as parts:
        holdout = newest(parts.store, root or "")
        if holdout is None:
            return noise.without_tasks(out, root, sessions_above(parts, root))
        told_to = Told()
        cycle = parts.cycle(project=root, progress=told_to)
        with cycle.held():
            held = [task for task in parts.store.find(Task, root) if task.id in holdout.tasks]
            files = project_files.said(parts, held, root, typed(project or Path()).resolve())
            if files.wrong:
                raise UserError("; ".join(files.wrong))
            files.into(cycle)
            ups = setting_up.wanted(parts, held)
            cycle.replay.provisions |= ups.provisions
            calibration = cycle.calibration(holdout)
            remaining = calibration.remaining(wanted)
            jobs = _affordable(cycle, remaining)
            plan = [
                f"{wanted} pairs of runs of the same harness on {len(calibration.tasks)} held-out tasks; "
                f"{wanted - remaining} of them are there already",
                *expected.lines(parts, jobs),
            ]
            if dry_run:
                return noise.planned(out, calibration, plan, wanted=wanted, jobs=jobs)
            if remaining:
                setting_up.consent(parts, ups, out, plan=None if yes else plan, agreed=agreed)
            with told_to.shown(out, "calibrate, jobs", total=jobs):
                if remaining:
                    cycle.set_up(calibration.tasks)
                for stop in cycle.set_ups.stops.values():
                    raise NotAllowed([(stop.code, stop.told)])
                ended = calibration.go_on(wanted)
        return noise.result(out, cycle, calibration, wanted=wanted, ended=ended)


def _affordable(cycle: Cycle, remaining: int) -> int:
    """Jobs that are going to be started; an error where not even one pair fits into the limits."""
    left = cycle.door.left()
    if remaining and left < 2:
        why = cycle.door.stopped_by() or f"the limits leave room for {left} job"
        raise UserError(f"{why}, and a pair takes two: raise --max-jobs, or the [limits] of your settings")
    return min(2 * remaining, left // 2 * 2)


def _simulated(out: Output, simulate: int, effect: float | None, seed: int) -> ExitCode:
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
    return out.result(summary, [table, promise])
