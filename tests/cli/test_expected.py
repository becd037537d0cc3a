"""What a run is told to cost before it starts."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

from cycle_builders import Place, QuickRunner, cycle_in
from gate_builders import task, trial
from job_builders import did, job_of
from nightschool.adapters.agent_jobs import Tools
from nightschool.adapters.codex.runner import CodexRunner
from nightschool.cli.expected import agreed_before, limits_told, lines, room, unkept
from nightschool.core.cycles import Budget, Spend
from nightschool.core.jobs import Finished, Role, Usage
from nightschool.core.trials import Arm
from nightschool.wiring import Parts
from report_builders import REPORT

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def finished(number: int, usage: Usage) -> Finished:
    """A job between whose times of day the machine slept a night."""
    return Finished(
        key=job_of(str(number)).key,
        cycle="n-0001",
        role=Role.ATTEMPT,
        agent="scripted",
        started_at=NOW,
        ended_at=NOW + timedelta(hours=9),
        outcome=did(usage=usage),
    )


def test_time_use_and_money_are_those_of_the_jobs_before(tmp_path: Path) -> None:
    """Means of what earlier jobs told of themselves, a night's sleep not counted; unknown is called so."""
    with cycle_in(Place.made(tmp_path, empty=True)) as (parts, _):
        told = lines(parts, 40)
        assert "  time: unknown before the first job" in told
        assert "  money: unknown, no job has told its cost yet" in told
        assert any("tokens are booked for each" in line for line in told)
        minutes = timedelta(minutes=parts.settings.limits.width)
        parts.store.commit(
            finished(1, Usage(tokens=20_000, cost=Decimal("0.10"), wall=minutes)),
            finished(2, Usage(tokens=30_000, cost=Decimal("0.30"), wall=minutes)),
            finished(3, Usage()),
            # What a free apprentice took tells nothing of a paid agent, and the other way round.
            replace(finished(4, Usage(tokens=9, cost=Decimal(0), wall=minutes * 9)), agent="codex"),
        )
        told = lines(parts, 40)
    assert "  time: about 40 minutes" in told
    assert "  use: about 1.0 million tokens" in told
    assert "  money: about $8.00" in told


def test_consent_is_to_one_runner_one_project_and_so_much(tmp_path: Path) -> None:
    """Only a run of this project whose jobs were of the runner and model that would be paid now, under limits
    that allowed as much, counts as one that was agreed to."""
    with cycle_in(Place.made(tmp_path, empty=True), jobs=100) as (parts, _):
        ran = replace(REPORT, runner="scripted", project="/p", budget=Budget(jobs=40))
        parts.store.commit(ran, replace(REPORT, cycle="n-2", spend=Spend()))
        assert not agreed_before(parts, "scripted", "/p"), "40 jobs were agreed to"
        parts.store.commit(replace(ran, cycle="n-3", budget=Budget(jobs=100)))
        assert agreed_before(parts, "scripted", "/p")
        assert not agreed_before(parts, "scripted", "/other")
        assert not agreed_before(parts, "scripted", None), "all projects are more than one"
        assert not agreed_before(parts, "codex", "/p"), "it started no job"
        assert not agreed_before(parts, "claude-code", "/p")
        parts.store.commit(replace(ran, cycle="n-4", project="", budget=Budget(jobs=None)))
        assert not agreed_before(parts, "scripted", "/other"), "it tried nothing there"
        other = replace(task("work there"), project="/other")
        parts.store.commit(other, replace(trial(Arm.BASE, 1.0), task=other.id, cycle="n-4"))
        assert agreed_before(parts, "scripted", "/other")
        assert agreed_before(parts, "scripted", None)
        parts.store.commit(replace(task("work elsewhere"), project="/new"))
        assert not agreed_before(parts, "scripted", None), "a project that came since"


def test_a_limit_that_is_no_limit_allows_more() -> None:
    """Each of jobs, tokens and money, an open one included."""
    wide, small = Budget(jobs=None), Budget(jobs=40, cost=Decimal(5))
    assert small.within(wide)
    assert not wide.within(small)
    assert not replace(small, cost=None).within(small)
    assert replace(small, tokens=10).within(small)


def limited(parts: Parts, **limits: object) -> Parts:
    changed = replace(parts.settings.limits, **limits)  # type: ignore[arg-type]  # fields by name
    return replace(parts, settings=replace(parts.settings, limits=changed))


def test_limits_of_money_and_tokens_bound_the_plan(tmp_path: Path) -> None:
    """So many jobs are promised as these let start at the usual price, and the limit is named; before a job
    told its price each counts as it is booked."""
    with cycle_in(Place.made(tmp_path, empty=True), jobs=100) as (parts, _):
        assert room(limited(parts, max_dollars=Decimal("2.50"))).jobs == 10
        parts.store.commit(finished(1, Usage(tokens=32_000, cost=Decimal("0.20"), wall=timedelta(minutes=1))))
        found = room(limited(parts, max_dollars=Decimal(1)))
        assert (found.jobs, found.limit) == (4, "the limit of $1.00")
        found = room(limited(parts, max_tokens=200_000))
        assert (found.jobs, found.limit) == (5, "the limit of 200,000 tokens")
        assert room(limited(parts, max_tokens=59_999)).jobs == 0
        assert room(parts).limit == "the limit of 100 jobs"
        told = lines(parts, 99, 45)
        assert any(line.startswith("expected: 45 to 99 jobs, each") for line in told)
        assert "  money: about $9.00 to about $19.80" in told


def test_a_limit_that_cannot_be_kept_is_told(tmp_path: Path) -> None:
    """Money with a runner that never tells its cost: before any job, with the limit that it can keep."""
    with cycle_in(Place.made(tmp_path, empty=True)) as (parts, cycle):
        rich = limited(parts, max_dollars=Decimal(5))
        assert unkept(rich, cycle.door.runner) is None
        silent = QuickRunner(tells_cost=False)
        assert unkept(parts, silent) is None
        told = unkept(rich, silent)
        assert told is not None
        assert "NIGHTSCHOOL_LIMITS_MAX_TOKENS" in told
        assert limits_told(parts)[0].endswith("NIGHTSCHOOL_LIMITS_MAX_DOLLARS=5 nightschool run")
    tools = Tools(sandbox=parts.sandbox(), surface=parts.surface("codex"), redact=str)
    codex = CodexRunner(tools=tools, environment={"OPENAI_BASE_URL": "https://me:pw@models.example/v1"})
    assert not codex.tells_cost
    assert codex.sends_to == "https://models.example/v1"
