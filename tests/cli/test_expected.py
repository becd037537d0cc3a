"""What a run is told to cost before it starts."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

from cycle_builders import Place, cycle_in
from job_builders import did, job_of
from nightschool.cli.expected import lines
from nightschool.cli.run import practised
from nightschool.core.cycles import Spend
from nightschool.core.jobs import Finished, Role, Usage
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


def test_consent_is_to_one_runner(tmp_path: Path) -> None:
    """Only jobs of the runner that would be paid now count as a run that was agreed to."""
    with cycle_in(Place.made(tmp_path, empty=True)) as (parts, _):
        parts.store.commit(replace(REPORT, runner="scripted"), replace(REPORT, cycle="n-2", spend=Spend()))
        assert practised(parts, "scripted")
        assert not practised(parts, "codex"), "it started no job"
        assert not practised(parts, "claude-code")
