"""What an exam costs that tried nothing: no share of alpha, few jobs, no verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from cycle_builders import Place, QuickRunner, cycle_in, run_cycle
from exam_builders import exam, helpful, sit
from gate_builders import ScriptedPractice
from job_builders import FREE, LOST, FakeRunner, did, door_of, job_of
from nightschool.core.cycles import CycleReport
from nightschool.core.errors import NothingAnswers
from nightschool.core.jobs import Failed, Finished, Reason, Role
from nightschool.core.proposals import Verdict
from nightschool.core.tasks import GitSource
from nightschool.core.trials import AlphaEntry, Arm, Draw, TrialRequest
from nightschool.core.values import digest_of
from nightschool.rules.betting import alpha_share
from nightschool.stages.door import LOST_IN_A_ROW, Door
from nightschool.stages.ledger import next_k, spent
from nightschool.testing.clock import FakeClock
from nightschool.testing.memory_store import MemoryStore

NOW = FakeClock().now()


def lost_exam(lose: Callable[[TrialRequest], bool] = lambda _: True) -> MemoryStore:
    """A store in which an exam has lost its trials."""
    store, sat = MemoryStore(), exam()
    store.commit(*sat.tasks)
    sit(sat, ScriptedPractice(helpful, lose=lose), store)
    return store


def test_an_exam_that_lost_all_hands_its_share_on() -> None:
    """Where every try was lost outside of the job no outcome was seen: nothing is spent, the next draft has
    the k, and the one that lost it enters anew when it comes again."""
    store = lost_exam()
    assert spent(store) == []
    assert next_k(store, exam().holdout.id) == 1
    other = sit(exam(rule="use pnpm, please"), ScriptedPractice(helpful), store)
    assert (other.k, other.alpha) == (1, alpha_share(0.1, 1))
    again = sit(exam(), ScriptedPractice(helpful), store, cycle="next")
    assert (again.k, again.alpha) == (2, alpha_share(0.1, 2))
    assert [(entry.k, entry.level) for entry in store.find(AlphaEntry)] == [(1, 1), (2, 1), (3, 2)]
    assert sorted(entry.level for entry in spent(store)) == [1, 2]


def test_who_lost_all_keeps_its_share_while_nobody_took_it() -> None:
    """The same draft goes on under the terms that it entered with."""
    store = lost_exam()
    again = sit(exam(), ScriptedPractice(helpful), store, cycle="next")
    assert again.k == 1
    assert [entry.k for entry in store.find(AlphaEntry)] == [1]


def test_one_outcome_spends_the_share() -> None:
    """A pair of which one arm came to an outcome was seen, though it gave no pair."""
    store = lost_exam(lambda request: request.arm is Arm.DRAFT)
    assert [entry.level for entry in spent(store)] == [1]
    assert sit(exam(rule="use pnpm, please"), ScriptedPractice(helpful), store).k == 2


@pytest.mark.parametrize("finished", [False, True])
def test_pairs_that_were_begun_spend_it_once_a_job_finished(*, finished: bool) -> None:
    """A run that was killed, or a set-up that failed, with its first pairs in the air: what counts is
    whether a job of theirs came to an outcome."""
    store, sat = MemoryStore(), exam()
    store.commit(*sat.tasks)
    with pytest.raises(KeyboardInterrupt):
        sit(sat, ScriptedPractice(helpful, dies_after=0), store)
    draws = store.find(Draw)
    assert draws
    if finished:
        store.commit(
            Finished(
                key=digest_of("a job"),
                cycle="cy",
                role=Role.ATTEMPT,
                agent="scripted",
                started_at=NOW,
                ended_at=NOW,
                outcome=did(),
                draw=draws[0].draw,
            )
        )
    assert len(spent(store)) == finished


def test_what_was_forgotten_counts_as_seen() -> None:
    """Where the tasks of its pairs are not known any more nobody can tell that nothing was seen."""
    store = MemoryStore()
    sit(exam(), ScriptedPractice(helpful, lose=lambda _: True), store)
    assert [entry.level for entry in spent(store)] == [1]


def tried(door: Door, *prompts: str) -> None:
    for prompt in prompts:
        door.run(job_of(prompt), Event())


def test_jobs_that_all_meet_one_cause_end_the_run() -> None:
    """The third job in a row that is lost to the same, before any came to an end, is the last."""
    runner = FakeRunner(lambda _job, _before: replace(LOST, message=f"{LOST.message}: try later."))
    door = door_of(runner, MemoryStore())
    with pytest.raises(NothingAnswers, match=r"answered 503: try later\. No exam.*nightschool doctor"):
        tried(door, "a", "a", "a", "b", "b", "c", "never")
    assert [job.prompt for job in runner.jobs] == ["a", "a", "a", "b", "b", "c"]
    assert (door.spend.lost, door.spend.unsettled) == (6, 0)


def test_losses_of_other_kinds_end_no_run() -> None:
    """After one outcome losses are losses; different causes, one job alone and one workspace that is gone
    say nothing of the next job."""
    once = FakeRunner(lambda job, _: did() if job.prompt == "a" else LOST)
    tried(door_of(once, MemoryStore()), *"abcdef")
    causes = FakeRunner(lambda job, _: replace(LOST, message=f"cause {job.prompt}: 503"))
    tried(door_of(causes, MemoryStore()), *"abcdef")
    alone = FakeRunner(lambda _job, _before: LOST)
    tried(door_of(alone, MemoryStore()), *"aaaaaa")
    commit = "c" * 40
    gone = FakeRunner(lambda _job, _before: replace(LOST, message=f"no workspace at {commit[:12]}: gone"))
    door = door_of(gone, MemoryStore())
    for prompt in "abcdef":
        door.run(replace(job_of(prompt), workspace=GitSource(repository="/p", commit=commit)), Event())


def test_an_endpoint_that_is_away_ends_a_run_early_and_costs_nothing(tmp_path: Path) -> None:
    """A draft that waits for its exam and a night without the endpoint: few jobs are lost, the report says to
    what, no verdict is given, nothing is charged, and the next run goes on."""
    place = Place.made(tmp_path)
    first = run_cycle(place, runner=QuickRunner(), jobs=14).learned[0]
    with cycle_in(place) as (parts, _):
        before = parts.store.find(Verdict)
    away = Failed(reason=Reason.INFRASTRUCTURE, message="the connection to http://x broke off: x", usage=FREE)
    runner = QuickRunner(before=lambda _: away)
    with pytest.raises(NothingAnswers, match="http://x broke off"):
        run_cycle(place, runner=runner, jobs=24)
    assert len({job.key for job in runner.jobs}) <= LOST_IN_A_ROW + 4, "what was at work when it broke off"
    with cycle_in(place) as (parts, _):
        assert (parts.store.find(Verdict), spent(parts.store)) == (before, [])
        report = parts.store.find(CycleReport)[-1]
        assert report.failed is not None
        assert "broke off" in report.failed
    assert first.draft is not None
    assert run_cycle(place, runner=QuickRunner()).learned[0].code == "accept"


def test_a_run_over_all_projects_opens_no_second_exam(tmp_path: Path) -> None:
    """DESIGN 6: what shares tasks shares a ledger. A draft for a project's file is examined on the hold-out
    of that project whatever the run is about: it goes on with its wealth, and gets no further alpha."""
    place = Place.made(tmp_path)
    (first, *_) = run_cycle(place, runner=QuickRunner(), jobs=40).learned
    assert first.code == "undecided"
    with cycle_in(place) as (parts, _):
        before = parts.store.find(AlphaEntry)
        cycle = parts.cycle(project=None, progress=lambda *_: None)
        cycle.door.runner = QuickRunner()
        with cycle.held():
            report = cycle.practise(cycle.prepare(parts.harvest_request(everything=True)))
        assert report.project == ""
        assert (report.learned[0].code, report.learned[0].draft) == ("accept", first.draft)
        known = {entry.wealth for entry in before}
        assert {entry.wealth for entry in parts.store.find(AlphaEntry) if entry.draft == first.draft} == known
        assert {entry.holdout for entry in parts.store.find(AlphaEntry)} == {before[0].holdout}
