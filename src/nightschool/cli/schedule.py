"""`nightschool schedule` and its commands: runs that start by themselves, by systemd's timer or by cron."""

from __future__ import annotations

import os
import pwd
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from nightschool.cli.exits import ExitCode
from nightschool.cli.options import Json
from nightschool.cli.output import Output
from nightschool.cli.reading import no_folder, root_of, settings_here, typed
from nightschool.cli.render import Line, Piece
from nightschool.cli.scheduled import (
    key_hint,
    login_trouble,
    look_line,
    look_pieces,
    scheduling_here,
    whose,
)
from nightschool.core.errors import NightschoolError, NotFound, UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from nightschool.core.schedules import Plan, Scheduler
    from nightschool.settings import Settings
    from nightschool.stages.schedule import Scheduling

At = Annotated[str | None, typer.Option(metavar="HH:MM", help="Time of the day; 03:17 at first.")]
Cron = Annotated[bool, typer.Option("--cron", help="By cron.")]
Systemd = Annotated[bool, typer.Option("--systemd", help="By systemd's manager of your user.")]
Projects = Annotated[
    list[Path] | None,
    typer.Option("--project", metavar="DIR", help="A project, may be given again; else that of this folder."),
]
AllProjects = Annotated[bool, typer.Option("--all-projects", help="All projects in one cycle.")]

FIRST_TIME = "03:17"
USUAL_PATH = ("/usr/local/bin", "/usr/bin", "/bin")
HELPERS = ("node", "git", "bwrap")
"""Programs besides the agents that a run may start."""
FOLDERS = ("NIGHTSCHOOL_CONFIG", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
ADDRESSES = ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL")


def schedule(context: typer.Context, *, json: Json = False) -> ExitCode:
    """Show what starts runs by itself, when it last did and when it does next.

    A run that is missed because the machine slept is made up for by systemd's timer, not by cron. Two runs
    never overlap: one that finds another at work says so in the log and ends with exit code 6.

    \b
    Example:
      nightschool schedule install --at 03:17
      nightschool schedule
      nightschool schedule remove
    """
    if context.invoked_subcommand is not None:
        if json:
            raise UserError(
                f"--json stands behind the whole command: schedule {context.invoked_subcommand} ..."
            )
        return ExitCode.DONE
    scheduling = scheduling_here(settings_here(forgiving=True))
    look, log = scheduling.look(), scheduling.memory.log
    pieces: list[Piece | str] = [*look_pieces(look)]
    if log.exists():
        pieces.append(f"log: {log}")
    if look.state == "none":
        pieces.append("next: nightschool schedule print, or nightschool schedule install")
    document = {"look": look, "line": look_line(look), "log": str(log) if log.exists() else None}
    return Output(json=json).result(document, pieces)


def print_entry(
    *,
    at: At = None,
    cron: Cron = False,
    systemd: Systemd = False,
    project: Projects = None,
    all_projects: AllProjects = False,
    json: Json = False,
) -> ExitCode:
    """Print what `schedule install` would put into systemd's folder or into your crontab. Nothing is written.

    \b
    Example:
      nightschool schedule print --cron
      nightschool schedule print --systemd --at 02:30 --all-projects
    """
    chosen = settings_here(forgiving=True)
    scheduling = scheduling_here(chosen)
    scheduler = scheduling.choose(_asked(cron=cron, systemd=systemd), otherwise="cron")
    projects = _wanted(scheduling.memory.plan(), _roots(project, all_projects=all_projects))
    plan = _plan(scheduler, scheduling, chosen, at, projects)
    text = scheduler.text(plan.entry)
    out, warnings = Output(json=json), [*_warnings(scheduler, plan)]
    out.note(*(Line(warning, "yellow") for warning in warnings))
    document = {"scheduler": scheduler.name, "plan": plan, "text": text, "warnings": warnings}
    return out.result(document, text.splitlines())


def install(
    *,
    at: At = None,
    cron: Cron = False,
    systemd: Systemd = False,
    project: Projects = None,
    all_projects: AllProjects = False,
    json: Json = False,
) -> ExitCode:
    """Have a run of this project started each day; further projects are added to those that are there.

    By systemd's timer where your user has one, else by cron; time and way of an entry that is there are
    kept unless you say otherwise. Settings of your shell's environment and the places of the agents are
    named in the entry. A key never is: write it as NAME=value into ~/.config/nightschool/schedule.env, a
    file with the mode 0600, and scheduled runs read it there.

    \b
    Example:
      nightschool schedule install
      nightschool schedule install --at 02:30 --project ~/shop --project ~/site
      nightschool schedule install --cron --all-projects
    """
    chosen = settings_here()
    scheduling = scheduling_here(chosen)
    scheduler = scheduling.choose(_asked(cron=cron, systemd=systemd))
    projects = _wanted(scheduling.memory.plan(), _roots(project, all_projects=all_projects))
    plan = _plan(scheduler, scheduling, chosen, at, projects)
    before = scheduling.look()
    scheduling.install(plan)
    look = scheduling.look()
    pieces: list[Piece | str] = [*look_pieces(look)]
    if before.plan is not None and not plan.projects and before.plan.projects:
        pieces.append(f"before it was for {whose(before.plan)}")
    costs = _costs(plan)
    pieces += [*costs, *(Line(text, "yellow") for text in _warnings(scheduler, plan))]
    pieces.append("next: nightschool doctor")
    document = {"look": look, "changed": before.plan != look.plan, "costs": costs}
    return Output(json=json).result(document, pieces)


def remove(*, project: Projects = None, json: Json = False) -> ExitCode:
    """Take the entry away, or with --project that project out of it. Nothing else is touched.

    \b
    Example:
      nightschool schedule remove
      nightschool schedule remove --project ~/shop
    """
    from nightschool.wiring import project_root  # noqa: PLC0415 - help needs no wiring

    chosen = settings_here(forgiving=True)
    scheduling = scheduling_here(chosen)
    plan = scheduling.memory.plan()
    # One that is gone from the disk is to be taken out all the same.
    out = {project_root(typed(folder)) for folder in project or ()}
    if out:
        known = plan.projects if plan is not None else ()
        if not out <= set(known):
            others = ", ".join(sorted(out - set(known)))
            raise NotFound(f"not scheduled: {others}; there are: {', '.join(known) or 'none'}")
        left = tuple(root for root in known if root not in out)
        if plan is not None and left:
            scheduling.install(_plan(scheduling.schedulers[plan.scheduler], scheduling, chosen, None, left))
            look = scheduling.look()
            return Output(json=json).result({"removed": [], "look": look}, [*look_pieces(look)])
    removed = scheduling.remove()
    told = f"removed from {' and '.join(removed)}" if removed else "nothing was scheduled"
    return Output(json=json).result({"removed": removed, "look": scheduling.look()}, [told])


def _asked(*, cron: bool, systemd: bool) -> str | None:
    if cron and systemd:
        raise UserError("--cron and --systemd: give one of them")
    return "cron" if cron else "systemd" if systemd else None


def _roots(projects: Sequence[Path] | None, *, all_projects: bool) -> tuple[str, ...] | None:
    """The projects that were named, () for all, None where nothing was said."""
    if all_projects:
        if projects:
            raise UserError("--project and --all-projects: give one of them")
        return ()
    for folder in projects or ():
        if not typed(folder).is_dir():
            raise no_folder(folder)
    return tuple(_root(folder) for folder in projects) if projects else None


def _root(folder: Path | None) -> str:
    root = root_of(folder)
    if not Path(root).is_dir():  # what is no UTF-8 in a path stands in the text as an escape
        raise UserError(f"{root}: its path is no UTF-8, so an entry cannot name it: take --all-projects")
    return root


def _wanted(before: Plan | None, named: tuple[str, ...] | None) -> tuple[str, ...]:
    """The projects of an entry: those that it has, and those that were named, by default this folder's."""
    has = before.projects if before is not None else None
    if named is None:
        root = _root(None)
        if root != str(Path.home()):
            return () if has == () else tuple(dict.fromkeys((*(has or ()), root)))
        if has is None:
            raise UserError(
                "this is your home folder, not a project: name one with --project, or --all-projects"
            )
        return has
    if has == () and named:
        raise UserError(
            "all projects are scheduled already; for some of them: nightschool schedule remove, then install"
        )
    return tuple(dict.fromkeys((*(has or ()), *named))) if named else ()


def _plan(
    scheduler: Scheduler, scheduling: Scheduling, chosen: Settings, at: str | None, projects: tuple[str, ...]
) -> Plan:
    from nightschool.core.schedules import Entry, Plan, TimeOfDay  # noqa: PLC0415 - help needs none

    before = scheduling.memory.plan()
    time = before.entry.at if before is not None and at is None else TimeOfDay.typed(at or FIRST_TIME)
    named = [part for root in projects for part in ("--project", root)] or ["--all-projects"]
    # -P: no module of the folder that it is started in takes the place of one of ours.
    command = (sys.executable, "-P", "-m", "nightschool", "schedule", "run", *named)
    entry = Entry(
        mark=scheduling.mark, at=time, command=command, environment=tuple(_environment(chosen, os.environ))
    )
    return Plan(scheduler=scheduler.name, entry=entry, projects=projects)


def _environment(chosen: Settings, given: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What a run needs of this shell's environment: where things are, and settings. Never a key."""
    from nightschool.settings import KEYS  # noqa: PLC0415 - help needs no settings
    from nightschool.wiring import AGENTS  # noqa: PLC0415

    found = (shutil.which(program, path=given.get("PATH")) for program in (*AGENTS.values(), *HELPERS))
    folders = [str(Path(path).absolute().parent) for path in found if path is not None]
    yield "PATH", ":".join(dict.fromkeys((*folders, *USUAL_PATH)))
    if Path.home() != Path(pwd.getpwuid(os.getuid()).pw_dir):
        yield "HOME", str(Path.home())  # timers and cron would take the one that the system knows
    yield "NIGHTSCHOOL_HOME", str(chosen.home)
    for name in FOLDERS:
        if given.get(name):
            yield name, str(typed(Path(given[name])))
    for name in ADDRESSES:
        # One with a password in it is a secret: it belongs into the file of variables.
        if given.get(name) and "@" not in urlsplit(given[name]).netloc:
            yield name, given[name]
    for key in KEYS.values():
        if given.get(key.variable) and key.name != "home":
            yield key.variable, given[key.variable]


def _costs(plan: Plan) -> list[str]:
    """What a night may start, which nobody is asked about then, and the limit to set."""
    from nightschool.cli import expected  # noqa: PLC0415 - help needs no wiring
    from nightschool.cli.opening import opening  # noqa: PLC0415
    from nightschool.rules.limits import UNLIMITED_JOBS  # noqa: PLC0415

    with opening(fleeting=True, forgiving=True, own=True) as parts:
        jobs, runs = expected.room(parts).jobs, max(1, len(plan.projects))
        each = f", each of the {runs} projects as much" if runs > 1 else ""
        most = "any number of jobs" if jobs == UNLIMITED_JOBS else expected.in_short(parts, jobs)
        limits = parts.settings.limits
        told = [
            f"each night it starts without asking: {most}{each}",
            f"limits of each run: {expected.bounds(parts.settings)}",
        ]
        if limits.max_tokens is None and limits.max_dollars is None:
            told.append(f"no limit of tokens or money; to set one: {expected.setting_in_file(parts)}")
        return told


def _warnings(scheduler: Scheduler, plan: Plan) -> Iterable[str]:
    from nightschool.cli import expected  # noqa: PLC0415 - help needs no wiring
    from nightschool.cli.opening import opening  # noqa: PLC0415
    from nightschool.wiring import variables_file  # noqa: PLC0415

    if scheduler.after_sleep:
        yield "it starts while you are logged in; without that too: loginctl enable-linger"
    else:
        yield "cron does not make up for a run that the machine slept through"
    unkept = None
    try:
        with opening(fleeting=True, forgiving=True) as parts:
            trouble = login_trouble(parts, plan)
            with suppress(NightschoolError):  # what lacks besides is told by `doctor`
                unkept = expected.unkept(parts, parts.runner(parts.runner_name()[0]))
    except UserError as error:  # the file of variables, of which nothing is taken as it is
        yield f"no scheduled run would start: {error}"
        return
    if unkept is not None:
        yield f"a scheduled run would stop: {unkept}"
    if trouble:
        yield f"a scheduled run would stop: {trouble}\n    fix: {key_hint(variables_file())}"
