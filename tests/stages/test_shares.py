"""What a project's own limits leave it in a run over several."""

from __future__ import annotations

from pathlib import Path

from cycle_builders import Place, QuickRunner, cycle_in
from nightschool.core.cycles import Budget
from nightschool.stages.shares import Share


def test_the_jobs_of_a_project_fit_into_its_share(tmp_path: Path) -> None:
    """Attempts at its tasks and edits of its corrections all count; none is begun beyond it, and what is
    refused says whose limit it was."""
    place, runner = Place.made(tmp_path), QuickRunner()
    share = Share(budget=Budget(jobs=6, wall=None), said_by="its file")
    with cycle_in(place, runner=runner) as (parts, cycle), cycle.held():
        cycle.replay.shares = {str(place.project): share}
        report = cycle.practise(cycle.prepare(parts.harvest_request(everything=True)))
    assert 0 < len(runner.jobs) <= 6
    assert report.budget.jobs is None
    assert share.spend.jobs == len(runner.jobs)
    assert share.refuses(7) is not None
    assert "its file" in str(share.refuses(7))


def test_another_projects_jobs_are_not_of_the_share(tmp_path: Path) -> None:
    """The share of one project takes nothing from another."""
    place, runner = Place.made(tmp_path), QuickRunner()
    with cycle_in(place, runner=runner) as (parts, cycle), cycle.held():
        cycle.replay.shares = {"/elsewhere": Share(budget=Budget(jobs=1), said_by="its file")}
        cycle.practise(cycle.prepare(parts.harvest_request(everything=True)))
    assert len(runner.jobs) > 6
