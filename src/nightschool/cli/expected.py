"""What jobs will cost, told before they start. Relieves `run` and `gate calibrate` of the same lines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from nightschool.core.errors import AuthenticationFailed, RunnerUnusable, SandboxUnavailable

if TYPE_CHECKING:
    from nightschool.core.cycles import CycleReport
    from nightschool.core.ports import Runner
    from nightschool.rules.limits import Room
    from nightschool.settings import Settings
    from nightschool.wiring import Parts

JOBS_A_CANDIDATE = 190
"""Pairs at a usual gain (70), guards with their probes (90), the report (24), training and the edit."""
CLEAR = "the fewer where an edit helps in every try, the more where it helps in one of three"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usual:
    """Mean time, tokens and dollars of a runner's last jobs that told them; None while none did."""

    wall: timedelta | None = None
    tokens: int | None = None
    cost: Decimal | None = None


def lines(parts: Parts, jobs: int, least: int | None = None) -> list[str]:
    """Runner, time and use to expect for so many jobs (`least`: or for so few), and the limits."""
    from nightschool.core.cycles import TOKENS_BOOKED  # noqa: PLC0415 - help needs no core
    from nightschool.rules.telling import about_minutes, about_tokens, dollars  # noqa: PLC0415

    width, usual = parts.settings.limits.width, usually(parts)
    wall, tokens, cost = usual.wall, usual.tokens, usual.cost
    few = jobs if least is None else least

    def span(told: Callable[[int], str]) -> str:
        return told(jobs) if told(few) == told(jobs) else f"{told(few)} to {told(jobs)}"

    unknown, each = "unknown before the first job", None if wall is None else wall / width
    booked = (
        f"{unknown}; {TOKENS_BOOKED:,} tokens are booked for each, "
        f"{about_tokens(jobs * TOKENS_BOOKED)} in all"
    )
    return [
        *_runner(parts),
        f"expected: {_jobs(few, jobs)}, each one try of your agent at one task"
        + (f"; {CLEAR}" if few < jobs else ""),
        "  time: " + (unknown if each is None else span(lambda n: about_minutes(n * each))),
        "  use: " + (booked if tokens is None else span(lambda n: about_tokens(n * tokens))),
        "  money: "
        + (
            "unknown, no job has told its cost yet"
            if cost is None
            else span(lambda n: f"about {dollars(n * cost)}")
        ),
        *limits_told(parts),
    ]


def limits_told(parts: Parts) -> list[str]:
    """The limits in one line; where none is set of tokens or money, a line to copy that sets one."""
    limits = bounds(parts.settings)
    chosen = parts.settings.limits
    if chosen.max_tokens is not None or chosen.max_dollars is not None:
        return [f"limits: {limits}"]
    runner = _there(parts)
    return [
        f"limits: {limits}, no limit of tokens or money; to set one: {setting_one(runner)} nightschool run"
    ]


def bounds(settings: Settings) -> str:
    from nightschool.rules.telling import counted, dollars  # noqa: PLC0415 - help needs no rules

    limits = settings.limits
    told = [
        counted(limits.max_jobs, "job") if limits.max_jobs else "no limit of jobs",
        counted(limits.max_minutes, "minute") if limits.max_minutes else "no limit of minutes",
    ]
    if limits.max_tokens is not None:
        told.append(counted(limits.max_tokens, "token"))
    if limits.max_dollars is not None:
        told.append(dollars(limits.max_dollars))
    return ", ".join(told)


def setting_one(runner: Runner | None) -> str:
    """A limit that this runner can keep."""
    if runner is None or runner.tells_cost:
        return "NIGHTSCHOOL_LIMITS_MAX_DOLLARS=5"
    return "NIGHTSCHOOL_LIMITS_MAX_TOKENS=2000000"


def setting_in_file(parts: Parts) -> str:
    """The same as lines of the settings file, for runs that nobody starts by hand."""
    from nightschool.settings import CONFIG_VARIABLE, config_path  # noqa: PLC0415 - help needs no settings

    file = parts.environment.get(CONFIG_VARIABLE) or config_path()
    name, _, value = setting_one(_there(parts)).removeprefix("NIGHTSCHOOL_LIMITS_").partition("=")
    return f"{name.lower()} = {value} under [limits] in {file}"


def in_short(parts: Parts, jobs: int, least: int | None = None) -> str:
    """What so many jobs take, in a few words."""
    from nightschool.rules.telling import about_minutes, about_tokens, dollars  # noqa: PLC0415

    usual = usually(parts)
    told = [_jobs(jobs if least is None else least, jobs)]
    if usual.wall is not None:
        told.append(about_minutes(jobs * usual.wall / parts.settings.limits.width))
    if usual.tokens is not None:
        told.append(about_tokens(jobs * usual.tokens))
    told.append("money unknown" if usual.cost is None else f"about {dollars(jobs * usual.cost)}")
    return ", ".join(told)


def room(parts: Parts) -> Room:
    """How many jobs probably fit into the limits on jobs, tokens and money, and which one allows no more."""
    from nightschool.rules.limits import room as fitting  # noqa: PLC0415 - help needs no rules

    usual = usually(parts)
    return fitting(parts.settings.limits.budget, tokens=usual.tokens, cost=usual.cost)


def unkept(parts: Parts, runner: Runner) -> str | None:
    """Why the limit of money cannot be kept, with the way out; None where it can, or none is set."""
    if parts.settings.limits.max_dollars is None or runner.tells_cost:
        return None
    origin = parts.settings.origin("limits.max_dollars")
    return (
        f"{runner.name} does not tell what a job costs, so limits.max_dollars ({origin}) cannot be kept: "
        "take it away (NIGHTSCHOOL_LIMITS_MAX_DOLLARS=none) and set limits.max_tokens instead "
        f"({setting_one(runner)}); tokens it does tell"
    )


def agreed_before(parts: Parts, runner: str, pool: str | None) -> bool:
    """Whether a cycle of these projects ever started a job of this runner and model under limits that allowed
    as much as those of now. One that had nothing to practise was no consent to pay, and a free apprentice's
    is none to pay an agent."""
    from nightschool.core.cycles import CycleReport  # noqa: PLC0415 - help needs no core
    from nightschool.core.tasks import Task, roots_in  # noqa: PLC0415

    budget, model = parts.settings.limits.budget, parts.settings.model
    known = [
        report
        for report in parts.store.find(CycleReport)
        if report.spend.jobs
        and (report.runner, report.model) == (runner, model)
        and budget.within(report.budget)
    ]
    practised: set[str] = set()
    for report in known:
        practised |= _practised(parts, report) if report.roots is None else report.roots
    roots = roots_in(pool)
    if roots is None:
        roots = frozenset(task.project for task in parts.store.find(Task))
    return bool(roots) and roots <= practised


def _practised(parts: Parts, report: CycleReport) -> set[str]:
    """The projects that a run over all of them tried tasks of: no word was given for one that came later."""
    from nightschool.core.tasks import Task  # noqa: PLC0415 - help needs no core
    from nightschool.core.trials import Trial  # noqa: PLC0415

    tried = {trial.task for trial in parts.store.find(Trial) if trial.cycle == report.cycle}
    return {task.project for task in parts.store.find(Task) if task.id in tried}


def _jobs(least: int, jobs: int) -> str:
    from nightschool.rules.telling import counted  # noqa: PLC0415 - help needs no rules

    return f"{least:,} to {counted(jobs, 'job')}" if least < jobs else f"up to {counted(jobs, 'job')}"


def _there(parts: Parts) -> Runner | None:
    try:
        return parts.runner(parts.runner_name()[0])
    except RunnerUnusable:
        return None


def _runner(parts: Parts) -> list[str]:
    """Who would practise, where that sends what it works on, and what would keep it from it."""
    try:
        name, why = parts.runner_name()
    except RunnerUnusable as error:
        return [f"runner: none. {error}"]
    runner = parts.runner(name)
    sent = f"; prompts and the files of tasks go to {runner.sends_to}" if runner.sends_to else ""
    told = [f"runner: {name}, since {why}{sent}"]
    try:
        runner.check()
    except (RunnerUnusable, AuthenticationFailed, SandboxUnavailable) as error:
        told.append(f"as it is now a run would stop here: {error}")
    if (trouble := unkept(parts, runner)) is not None:
        told.append(f"as it is now a run would stop here: {trouble}")
    return told


def usually(parts: Parts) -> Usual:
    from nightschool.core.jobs import Finished  # noqa: PLC0415 - help needs no core

    try:
        runner, _ = parts.runner_name()
    except RunnerUnusable:
        return Usual()
    # Not from the times of day, between which a machine may have slept.
    own = [job.outcome.usage for job in parts.store.find(Finished) if job.agent == runner]
    usages = own[-200:]
    walls = [usage.wall for usage in usages if usage.wall is not None]
    tokens = [usage.tokens for usage in usages if usage.tokens is not None]
    costs = [usage.cost for usage in usages if usage.cost is not None]
    return Usual(
        wall=sum(walls, timedelta()) / len(walls) if walls else None,
        tokens=round(sum(tokens) / len(tokens)) if tokens else None,
        cost=sum(costs, Decimal(0)) / len(costs) if costs else None,
    )
