"""`nightschool schedule run`: what the timer or cron starts. Its runs speak to a log, not to a person."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from nightschool.cli.exits import ExitCode
from nightschool.cli.options import Json
from nightschool.cli.output import Output
from nightschool.cli.reading import settings_here, typed
from nightschool.cli.render import Line, Piece
from nightschool.cli.schedule import AllProjects, Projects
from nightschool.cli.scheduled import ended, scheduling_here
from nightschool.core.errors import Busy, UserError

if TYPE_CHECKING:
    from nightschool.core.ports import Clock
    from nightschool.core.schedules import ScheduledRun, ScheduleMemory


def start(*, project: Projects = None, all_projects: AllProjects = False, json: Json = False) -> ExitCode:
    """Run each project in turn, and keep what is said in a log: this is what the timer or cron starts.

    It asks nothing (`run --yes`), reads keys from ~/.config/nightschool/schedule.env, and tells only what
    went wrong. The exit code is that of the first run that went wrong, or 3 where nothing passed in any.

    \b
    Example:
      nightschool schedule run --project ~/shop
    """
    from nightschool.wiring import variables_of_schedule  # noqa: PLC0415 - help needs no wiring

    if bool(project) == all_projects:
        raise UserError("name what to run: --project DIR (may be given again), or --all-projects")
    scheduling = scheduling_here(settings_here(forgiving=True))
    folder, clock = scheduling.memory, scheduling.clock
    try:
        with folder.held():
            environment = {**os.environ, **variables_of_schedule()}
            names = [str(typed(path)) for path in project or ()] or [""]
            done = _each(names, environment, folder, clock)
    except Busy as error:
        folder.write_line(
            f"== {clock.now():%Y-%m-%d %H:%M:%S} UTC: not started, another start goes on: {error}"
        )
        raise
    except UserError as error:
        folder.write_line(f"== {clock.now():%Y-%m-%d %H:%M:%S} UTC: not started: {error}")
        folder.keep_last(_run(clock, note=f"not started: {error}"))
        raise
    bad = done.code not in {ExitCode.DONE, ExitCode.NOTHING_CERTIFIED}
    pieces: list[Piece | str] = [
        Line(f"{run.project or 'all projects'}: {ended(run.code)}", "yellow") for run in done.runs if bad
    ]
    if bad:  # cron mails what is printed
        pieces.append(f"log: {folder.log}")
    code = ExitCode(done.code) if done.code in set(ExitCode) else ExitCode.FAILED
    return Output(json=json).result(done, pieces, code)


def _each(
    projects: list[str], environment: Mapping[str, str], folder: ScheduleMemory, clock: Clock
) -> ScheduledRun:
    from dataclasses import replace  # noqa: PLC0415

    from nightschool.core.schedules import ProjectRun  # noqa: PLC0415

    now = _run(clock)
    folder.keep_last(now)
    for project in projects:
        folder.write_line(f"== {clock.now():%Y-%m-%d %H:%M:%S} UTC: {project or 'all projects'}")
        scope = ["--project", project] if project else ["--all-projects"]
        command = [sys.executable, "-P", "-m", "nightschool", "run", "--yes", *scope]
        code = folder.carry_out(command, environment)
        folder.write_line(f"== {ended(code)}")
        now = replace(now, runs=(*now.runs, ProjectRun(project=project, code=code)))
        folder.keep_last(now)
    now = replace(now, ended_at=clock.now())
    folder.keep_last(now)
    return now


def _run(clock: Clock, note: str = "") -> ScheduledRun:
    from nightschool.core.schedules import ScheduledRun  # noqa: PLC0415

    begun = clock.now()
    return ScheduledRun(started_at=begun, ended_at=begun if note else None, note=note)
