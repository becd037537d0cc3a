"""What jobs will cost, told before they start. Relieves `run` and `gate calibrate` of the same lines."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from nightschool.core.errors import AuthenticationFailed, RunnerUnusable, SandboxUnavailable

if TYPE_CHECKING:
    from nightschool.wiring import Parts

JOBS_A_CANDIDATE = 190
"""Pairs at a usual gain (70), guards with their probes (90), the report (24), training and the edit."""


def lines(parts: Parts, jobs: int) -> list[str]:
    """Runner, time and use to expect for so many jobs, and the limits."""
    from nightschool.rules.telling import about_minutes, about_tokens, counted, dollars  # noqa: PLC0415
    from nightschool.stages.door import TOKENS_BOOKED  # noqa: PLC0415

    limits = parts.settings.limits
    wall, tokens, cost = _usual(parts)
    expected = "unknown before the first job" if wall is None else about_minutes(jobs * wall / limits.width)
    used = (
        f"unknown before the first job; {TOKENS_BOOKED:,} tokens are booked for each, "
        f"{about_tokens(jobs * TOKENS_BOOKED)} in all"
        if tokens is None
        else about_tokens(jobs * tokens)
    )
    money = "unknown, no job has told its cost yet" if cost is None else f"about {dollars(jobs * cost)}"
    bounds = [
        counted(limits.max_jobs, "job") if limits.max_jobs else "no limit of jobs",
        counted(limits.max_minutes, "minute") if limits.max_minutes else "no limit of minutes",
    ]
    if limits.max_tokens is not None:
        bounds.append(counted(limits.max_tokens, "token"))
    if limits.max_dollars is not None:
        bounds.append(dollars(limits.max_dollars))
    if limits.max_tokens is None and limits.max_dollars is None:
        bounds.append("no limit of tokens or money (set limits.max_tokens or limits.max_dollars)")
    return [
        *_runner(parts),
        f"expected: up to {counted(jobs, 'job')}, each one try of your agent at one task",
        f"  time: {expected}",
        f"  use: {used}",
        f"  money: {money}",
        f"limits: {', '.join(bounds)}",
    ]


def in_short(parts: Parts, jobs: int) -> str:
    """The same in a few words."""
    from nightschool.rules.telling import about_minutes, about_tokens, counted, dollars  # noqa: PLC0415

    wall, tokens, cost = _usual(parts)
    told = [f"up to {counted(jobs, 'job')}"]
    if wall is not None:
        told.append(about_minutes(jobs * wall / parts.settings.limits.width))
    if tokens is not None:
        told.append(about_tokens(jobs * tokens))
    told.append("money unknown" if cost is None else f"about {dollars(jobs * cost)}")
    return ", ".join(told)


def _runner(parts: Parts) -> list[str]:
    """Who would practise, and what would keep it from it."""
    try:
        name, why = parts.runner_name()
    except RunnerUnusable as error:
        return [f"runner: none. {error}"]
    told = [f"runner: {name}, since {why}"]
    try:
        parts.runner(name).check()
    except (RunnerUnusable, AuthenticationFailed, SandboxUnavailable) as error:
        told.append(f"as it is now a run would stop here: {error}")
    return told


def _usual(parts: Parts) -> tuple[timedelta | None, int | None, Decimal | None]:
    """Mean time, tokens and dollars of this runner's last jobs that told them; None while none did."""
    from nightschool.core.jobs import Finished  # noqa: PLC0415

    try:
        runner, _ = parts.runner_name()
    except RunnerUnusable:
        return None, None, None
    # Not from the times of day, between which a machine may have slept.
    own = [job.outcome.usage for job in parts.store.find(Finished) if job.agent == runner]
    usages = own[-200:]
    walls = [usage.wall for usage in usages if usage.wall is not None]
    tokens = [usage.tokens for usage in usages if usage.tokens is not None]
    costs = [usage.cost for usage in usages if usage.cost is not None]
    wall = sum(walls, timedelta()) / len(walls) if walls else None
    cost = sum(costs, Decimal(0)) / len(costs) if costs else None
    return wall, round(sum(tokens) / len(tokens)) if tokens else None, cost
