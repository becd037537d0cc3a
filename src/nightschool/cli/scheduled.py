"""How a schedule is told, by the command of its name, by `status` and by `doctor`."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from nightschool.cli.render import Line, Piece
from nightschool.core.errors import AuthenticationFailed, NightschoolError, UserError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from nightschool.core.schedules import Plan, ScheduledRun
    from nightschool.settings import Settings
    from nightschool.stages.schedule import Look, Scheduling
    from nightschool.wiring import Parts

ENDED = {
    0: "a proposal passed or nothing was to do",
    1: "failed",
    2: "wrong use or setting",
    3: "nothing passed",
    4: "needs you",
    5: "login refused",
    6: "another cycle ran",
    130: "interrupted",
    143: "told to end",
}
"""What a run's exit code says of it."""
MENDS = {
    "changed": "nightschool schedule install writes it anew; nightschool schedule remove takes it away",
    "gone": "nightschool schedule install puts it back; nightschool schedule remove forgets it",
    "unremembered": "nightschool schedule install writes it anew; nightschool schedule remove takes it away",
}


def scheduling_here(chosen: Settings) -> Scheduling:
    from nightschool.wiring import scheduling  # noqa: PLC0415 - help needs no wiring

    return scheduling(chosen.home, environment=dict(os.environ), person_home=Path.home())


def known_look(chosen: Settings) -> Look | None:
    """What is scheduled as it stands now; None, and nobody is asked, where nothing ever was."""
    scheduling = scheduling_here(chosen)
    known = scheduling.memory.plan() is not None or scheduling.memory.last() is not None
    return scheduling.look() if known else None


def whose(plan: Plan) -> str:
    return ", ".join(plan.projects) or "all projects"


def look_line(look: Look) -> str:
    """What stands, in one line."""
    plan = look.plan
    meant = f"each day at {plan.entry.at} by {plan.scheduler}, for {whose(plan)}" if plan else ""
    match look.state:
        case "installed":
            return f"scheduled {meant}"
        case "changed":
            return f"scheduled {meant}, but the entry was changed by hand or by an older version"
        case "gone":
            return f"not scheduled any more: the entry ({meant}) is gone"
        case "unremembered":
            return "an entry of ours is there, but nothing is known of it: nobody can say when it starts"
        case "unknown":
            return f"nobody knows whether something is scheduled: {look.trouble}"
        case _:
            return "nothing is scheduled"


def look_pieces(look: Look) -> Iterable[Piece | str]:
    yield look_line(look)
    if look.state in MENDS:
        yield Line(f"    fix: {MENDS[look.state]}", "yellow")
    kept = kept_from() if look.plan is not None else None
    if kept is not None:
        yield Line(f"no scheduled run starts: {kept}", "yellow")
    elif look.next is not None:
        yield f"next scheduled run: {_time(look.next)}"
    if look.plan is not None or look.last is not None:
        yield last_line(look.last, goes_on=look.goes_on)


def kept_from() -> str | None:
    """What is wrong with the file of variables, of which nothing is taken then."""
    from nightschool.wiring import variables_of_schedule  # noqa: PLC0415 - help needs no store

    try:
        variables_of_schedule()
    except UserError as error:
        return str(error)
    return None


def last_line(last: ScheduledRun | None, *, goes_on: bool) -> str:
    if last is None:
        return "last scheduled run: none yet"
    begun = f"last scheduled run: {_time(last.started_at.astimezone())}"
    if last.note:
        return f"{begun}, {last.note}"
    runs = "; ".join(f"{run.project or 'all projects'}: {ended(run.code)}" for run in last.runs)
    if last.ended_at is None:
        told = "running now" if goes_on else "broken off before its end"
        return f"{begun}, {told}{f'; {runs}' if runs else ''}"
    return f"{begun}, {runs}"


def ended(code: int) -> str:
    return f"{ENDED[code]} (exit code {code})" if code in ENDED else f"exit code {code}"


def login_trouble(parts: Parts, plan: Plan) -> str:
    """Why a scheduled run would not reach the model, "" where it would: its environment is not the shell's.

    What lacks besides a login (an agent, a sandbox) lacks here too, and `doctor` tells it.
    """
    from nightschool.wiring import variables_of_schedule  # noqa: PLC0415 - help needs no wiring

    there = replace(parts, environment={**dict(plan.entry.environment), **variables_of_schedule()})
    try:
        name, _ = there.runner_name()
        there.runner(name).check()
    except AuthenticationFailed as error:
        return str(error)
    except NightschoolError:
        return ""
    return ""


def key_hint(variables: Path) -> str:
    return f"write the key as NAME=value into {variables}, then: chmod 600 {variables}"


def _time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M %Z}".strip()
