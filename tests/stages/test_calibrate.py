"""The base against itself on the demo's tasks: what it counts, what it leaves alone, and that it goes on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cycle_builders import Place, QuickRunner, calibration_in, cycle_in, killed_at, run_cycle
from job_builders import FREE, LOST
from nightschool.core.errors import AuthenticationFailed
from nightschool.core.jobs import Delivered, FileChange, Finished, Job, Outcome, Reservation
from nightschool.core.proposals import Verdict
from nightschool.core.sessions import Offset
from nightschool.core.trials import AlphaEntry, Arm, Draw, LostPair, Pair, Partition
from nightschool.rules.noise import NoiseFloor, plan
from nightschool.stages.calibrate import newest
from nightschool.testing.apprentice import lot
from nightschool.testing.demo import apprentice
from nightschool.testing.script import Script
from nightschool.testing.scripted_runner import ScriptedRunner


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place.made(tmp_path)


def by_lot(job: Job) -> Outcome:
    """Passes in half of the draws, the same draw always alike."""
    added = "from pathlib import Path\nimport logging" if lot(job.key) < 0.5 else "import os.path\nprint(1)"
    files = (FileChange(path="ledger/reports.py", content=added.encode(), added=added),)
    return Delivered(reply="done", files=files, usage=FREE)


def scripted(place: Place, chances: Callable[[float], float], pairs: int) -> NoiseFloor:
    """The demo's apprentice at work in its folder, its rules taken with other chances."""
    known = apprentice()
    rules = tuple(replace(rule, probability=chances(rule.probability)) for rule in known.rules)
    script: Script = replace(known, rules=rules)
    with cycle_in(place) as (parts, _):
        runner = ScriptedRunner(script=script, sandbox=parts.sandbox(), surface=parts.surface("scripted"))
    with calibration_in(place, runner=runner) as (_, calibration):
        assert calibration.go_on(pairs) == "done"
        return calibration.floor()


def test_a_deterministic_apprentice_has_no_noise(place: Place) -> None:
    """Who always works alike differs from itself in no pair: no task passes sometimes, and no alarm."""
    floor = scripted(place, lambda chance: float(chance > 0.5), 9)
    assert (floor.pairs, floor.differ, floor.false_alarm, floor.level) == (9, 0, False, True)
    assert {one.passes for one in floor.tasks} <= {"always", "never", None}
    assert floor.wealth == floor.highest == 1


def test_a_noisy_apprentice_shows_its_noise(place: Place) -> None:
    """Who works by lot differs from itself; the share is that of the pairs, in its interval. That it holds
    the true share is so in 95 of 100 cases only: rules/test_noise.py counts them."""
    floor = scripted(place, lambda _: 0.5, 16)
    assert floor.share is not None
    assert 0 < floor.differ <= floor.pairs == 16
    assert floor.share.low < floor.share.mean == floor.differ / 16 < floor.share.high


def test_both_runs_are_of_the_base_and_fresh(place: Place) -> None:
    """Each pair is two jobs of the same harness and task under one draw number of its own, with arms that
    no exam has."""
    runner = QuickRunner(before=by_lot)
    with calibration_in(place, runner=runner) as (parts, calibration):
        calibration.go_on(12)
        draws = parts.store.find(Draw)
        by_draw = {draw.draw: [job for job in runner.jobs if job.draw == draw.draw] for draw in draws}
        assert len(by_draw) == 12
        for draw in draws:
            first, second = by_draw[draw.draw]
            assert {first.arm, second.arm} == {Arm.FIRST, Arm.SECOND}
            assert first.task == second.task == draw.task
            assert first.harness.digest == second.harness.digest == calibration.base.digest
        planned = plan(calibration.tasks, calibration.key.digest, 0, 12)
        assert [draw.task for draw in sorted(draws, key=lambda draw: draw.draw)] == planned
        assert Counter(draw.base_first for draw in draws)[True] in range(1, 12), "the order is drawn"


def test_no_wealth_of_a_draft_and_no_alpha_is_touched(place: Place) -> None:
    """A calibration enters nothing in the ledger; the exam after it is the first of the version, and no
    draw number, job or pair is in both."""
    mine = QuickRunner(before=by_lot)
    with calibration_in(place, runner=mine) as (parts, calibration):
        calibration.go_on(10)
        for kind in (AlphaEntry, Partition, Verdict):
            assert parts.store.find(kind) == (), kind
        wealth = calibration.key.digest
    run_cycle(place, runner=QuickRunner())
    with cycle_in(place) as (parts, _):
        assert min(entry.k for entry in parts.store.find(AlphaEntry)) == 1
        assert wealth not in {entry.wealth for entry in parts.store.find(AlphaEntry)}
        draws = parts.store.find(Draw)
        assert len({draw.draw for draw in draws}) == len(draws)
        assert {draw.role for draw in draws if draw.wealth == wealth} == {"calibrate"}
        assert "calibrate" not in {draw.role for draw in draws if draw.wealth != wealth}
        exams = {job.key for job in parts.store.find(Finished) if job.arm in {Arm.BASE, Arm.DRAFT}}
    assert exams
    assert not exams & {job.key for job in mine.jobs}


def test_a_killed_calibration_goes_on_where_it_was(place: Place) -> None:
    """After a kill -9 no finished job runs again, and what comes of it is what would have come."""
    undisturbed = place.beside("undisturbed")
    with calibration_in(undisturbed) as (_, calibration):
        calibration.go_on(10)
        expected = calibration.floor()
    began = killed_at(place, 9, pairs=10)
    with cycle_in(place) as (parts, _):
        finished = {record.key for record in parts.store.find(Finished)}
        booked = {record.key for record in parts.store.find(Reservation)}
    assert finished < set(began) <= booked
    runner = QuickRunner()
    with cycle_in(place) as (parts, cycle), cycle.held():
        cycle.door.runner = runner
        holdout = newest(parts.store, str(place.project))
        assert holdout is not None
        calibration = cycle.calibration(holdout)
        assert 0 < calibration.remaining(10) < 10
        assert calibration.go_on(10) == "done"
        assert calibration.floor() == expected
        assert cycle.door.spend.reused == len(finished), "each of them answered"
    keys = [job.key for job in runner.jobs]
    assert not finished & set(keys)
    assert set(began) - finished <= set(keys), "what was broken off is made again, on its own draw"
    assert len(finished | set(keys)) == 20


def test_a_budget_is_kept_and_the_next_run_goes_on(place: Place) -> None:
    """The limit on jobs is never passed; the pairs of before count, and what is there costs nothing."""
    first, second, third = QuickRunner(), QuickRunner(), QuickRunner()
    with calibration_in(place, runner=first, jobs=7) as (_, calibration):
        assert calibration.go_on(5) == "budget-ended"
        assert (calibration.floor().pairs, calibration.remaining(5)) == (3, 2)
    with calibration_in(place, runner=second) as (_, calibration):
        assert calibration.go_on(5) == "done"
    with calibration_in(place, runner=third) as (_, calibration):
        assert calibration.remaining(5) == 0
        assert calibration.go_on(5) == "done"
        assert calibration.floor().pairs == 5
    assert [len(runner.jobs) for runner in (first, second, third)] == [6, 4, 0]


def test_a_changed_harness_starts_anew(place: Place) -> None:
    """Pairs of another harness say nothing of this one."""
    with calibration_in(place) as (_, calibration):
        calibration.go_on(3)
    with (place.project / "CLAUDE.md").open("a") as file:
        file.write("\nUse pathlib.\n")
    with calibration_in(place) as (_, calibration):
        assert calibration.remaining(3) == 3
        assert calibration.floor().pairs == 0


def test_losses_are_told_by_run_and_end_it(place: Place) -> None:
    """Where one run is lost again and again it ends before the budget does, and the next time it goes on
    until there are as many pairs as were asked for."""
    lossy = QuickRunner(before=lambda job: LOST if job.arm == Arm.SECOND else None)
    with calibration_in(place, runner=lossy) as (parts, calibration):
        assert calibration.go_on(20) == "many-losses"
        losses = calibration.floor().losses
        assert losses.draft_only == losses.tried == len(parts.store.find(LostPair)) == 4
        assert parts.store.find(Pair) == ()
    with calibration_in(place) as (_, calibration):
        assert calibration.go_on(6) == "done"
        assert (calibration.floor().pairs, calibration.floor().losses.tried) == (6, 10)


def test_a_refused_login_is_loud(place: Place) -> None:
    """A login that is refused ends it at once, and moves no cursor that the run before had moved."""

    def refuse(_: Job) -> Outcome:
        raise AuthenticationFailed("log in again")

    run_cycle(place, runner=QuickRunner())
    with cycle_in(place) as (parts, _):
        before = parts.store.find(Offset)
    with (
        pytest.raises(AuthenticationFailed, match="log in again"),
        calibration_in(place, runner=QuickRunner(before=refuse)) as (_, calibration),
    ):
        calibration.go_on(4)
    with cycle_in(place) as (parts, _):
        assert parts.store.find(Offset) == before


def test_a_key_of_a_draft_is_refused(place: Place) -> None:
    """A calibration cannot be given the wealth of a draft."""
    with calibration_in(place) as (_, calibration), pytest.raises(ValueError, match="names its base twice"):
        replace(calibration, key=replace(calibration.key, draft=calibration.key.checks))
