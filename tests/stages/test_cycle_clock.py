"""A cycle on a machine that sleeps, and whose clock is set while it runs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cycle_builders import Place, QuickRunner, cycle_in
from nightschool.core.cycles import CycleReport
from nightschool.core.jobs import Job
from nightschool.core.proposals import Verdict
from nightschool.testing.clock import FakeClock

START = datetime(2026, 11, 30, 2, tzinfo=UTC)


def cycle_with_a_jump(place: Place, jump: timedelta) -> tuple[CycleReport, tuple[Verdict, ...]]:
    """A whole cycle in whose fifth job the time of day jumps."""
    clock, runner = FakeClock(START), QuickRunner()

    def sleep(_: Job) -> None:
        if len(runner.jobs) == 5:
            clock.jump(jump)

    runner.before = sleep
    with cycle_in(place, runner=runner) as (parts, cycle), cycle.held():
        cycle.clock = cycle.door.clock = cycle.preparation.clock = clock
        report = cycle.practise(cycle.prepare(parts.harvest_request(everything=True)))
        return report, tuple(parts.store.find(Verdict))


@pytest.mark.parametrize("hours", [9, -30], ids=["slept", "set back"])
def test_a_night_of_sleep_changes_no_verdict(tmp_path: Path, hours: int) -> None:
    """Where the machine sleeps for hours between two jobs, or its clock is set back beyond the start of the
    cycle, the same jobs run and the same verdicts are given; the report says so, and counts the work."""
    place = Place.made(tmp_path)
    expected, before = cycle_with_a_jump(place.beside("undisturbed"), timedelta(0))
    report, after = cycle_with_a_jump(place, timedelta(hours=hours))
    assert [(one.code, one.pairs) for one in report.learned] == [
        (one.code, one.pairs) for one in expected.learned
    ]
    assert [one.kind for one in after] == [one.kind for one in before]
    assert (report.spend.jobs, report.worked) == (expected.spend.jobs, expected.worked)
    assert report.ended_by is None
    (note,) = (note for note in report.notes if "slept" in note)
    assert f"{hours * 60:+,}.0 minutes" in note
    assert not any("slept" in note for note in expected.notes)
