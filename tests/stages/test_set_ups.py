"""A set-up that fails at a commit that nobody tried before: what becomes of the cycle that finds it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from cycle_builders import Place, QuickRunner, cycle_in, run_cycle
from nightschool.core.errors import SetUpFailed
from nightschool.core.jobs import Job, LostTry, Outcome

TOKEN = "ghp_" + "a1B2" * 9


def fails(project: str, job: Job) -> Outcome | None:
    if job.task is None:
        return None
    raise SetUpFailed(
        place=project,
        commit="c0ffee" * 7,
        command=f"fetch {TOKEN}",
        came_to="ended with exit code 5",
        said=f"{TOKEN}\nno such host",
        way_out="mend it",
    )


def test_a_set_up_that_fails_in_the_middle_ends_the_practice_of_its_project(tmp_path: Path) -> None:
    """What was in flight is lost at a known cost of nothing, nothing further is begun, and it is told once,
    redacted."""
    place = Place.made(tmp_path)
    runner = QuickRunner(before=partial(fails, str(place.project)))
    report = run_cycle(place, runner=runner)
    (told,) = [note for note in report.notes if "cannot be set up" in note]
    assert told.startswith(f"{place.project} cannot be set up")
    assert told.endswith("| no such host. The way out: mend it")
    assert TOKEN not in str(report)
    assert {learned.code for learned in report.learned} == {"set-up-failed"}
    assert report.spend.jobs <= 2, "as many as run at once"
    assert (report.spend.unknown_tokens, report.spend.unknown_cost) == (0, 0)
    with cycle_in(place) as (parts, _):
        lost = parts.store.find(LostTry)
    assert lost
    assert TOKEN not in str(lost)
