"""Replaying: requests in, scored trials out."""

from __future__ import annotations

from threading import Event
from typing import Any

import pytest

from job_builders import FREE, LOST, FakeRunner, did, door_of, job_of, replay_of, requests_of, runs_of
from nightschool.core.cycles import Budget
from nightschool.core.errors import BudgetExhausted
from nightschool.core.jobs import Failed, Finished, Job, LostTry, Outcome, Reason
from nightschool.core.trials import Trial
from nightschool.rules.checking import Judgement
from nightschool.stages.replay import PAUSE_SECONDS, TRIES
from nightschool.testing.memory_store import MemoryStore


def test_trials_come_in_the_order_of_the_requests() -> None:
    """Each request gives one trial, scored by the checks of its task, in the order of asking."""
    runner = FakeRunner(lambda job, _: did("pnpm install" if "good" in job.prompt else "npm install"))
    store = MemoryStore()
    replay = replay_of(door_of(runner, store), store)
    trials = replay.trials(requests_of("good 1", "bad", "good 2"))
    assert [trial.score for trial in trials] == [1.0, 0.0, 1.0]
    assert sorted(store.find(Trial), key=lambda one: one.id) == sorted(trials, key=lambda one: one.id)
    assert replay.made == 3


def test_another_judge_judges_the_same_outcome_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """A trial is of one version of the judge: with a new one no job runs again, and the old score stays."""
    runner, store = runs_of(did("npm install")), MemoryStore()
    replay = replay_of(door_of(runner, store), store)
    (before,) = replay.trials(requests_of("a"))
    monkeypatch.setattr("nightschool.stages.replay.JUDGE_VERSION", "another")
    monkeypatch.setattr(
        "nightschool.stages.replay.judge", lambda *_: Judgement(score=1.0, failed=(), note="")
    )
    (after,) = replay.trials(requests_of("a"))
    assert (before.score, after.score, after.judge) == (0.0, 1.0, "another")
    assert (len(runner.jobs), store.find(Trial)) == (1, (before, after))


def test_a_runner_sees_no_check_and_no_split() -> None:
    """A job of a trial holds the task's prompt and workspace, and nothing of how it is judged."""
    runner, store = runs_of(did()), MemoryStore()
    (request,) = requests_of("Set it up", draw=3)
    replay_of(door_of(runner, store), store).trials([request])
    (job,) = runner.jobs
    assert (job.prompt, job.arm, job.draw) == ("Set it up", "base", 3)
    assert "npm" not in repr(job)
    assert "train" not in repr(job)


def test_only_a_trial_of_the_gate_carries_its_arm() -> None:
    """A trial without a draw is one job whatever it is for, and is not bought again; one with a draw is
    the gate's alone."""
    runner, store = runs_of(did()), MemoryStore()
    replay = replay_of(door_of(runner, store), store)
    (plain,), (drawn,) = requests_of("a"), requests_of("a", draw=5)
    assert replay.job(plain).arm is None
    assert replay.job(drawn).arm == "base"
    replay.trials([plain])
    replay.trials([plain])
    assert (len(runner.jobs), replay.made, len(store.find(Trial))) == (1, 1, 1)


def test_a_lost_try_is_made_again_on_the_same_draw() -> None:
    """B24: one of several tries gives nothing; it is retried under the same draw, the others stand."""
    runner = FakeRunner(lambda job, before: LOST if job.prompt == "b" and before == 0 else did())
    store, pauses = MemoryStore(), list[float]()
    replay = replay_of(door_of(runner, store), store, paused=pauses.append)
    trials = replay.trials(requests_of("a", "b", "c", draw=4))
    assert [trial.score for trial in trials] == [1.0, 1.0, 1.0]
    assert [job.draw for job in runner.jobs] == [4] * 4
    assert [job.prompt for job in runner.jobs].count("b") == 2
    assert len({job.key for job in runner.jobs}) == 3
    assert (len(store.find(LostTry)), pauses, replay.lost) == (1, [PAUSE_SECONDS], {})


def test_a_trial_that_stays_lost_has_no_score() -> None:
    """B24: what is lost after the last try has the score None, is counted per arm and not kept."""
    runner, store = FakeRunner(lambda job, _: LOST if job.prompt == "b" else did()), MemoryStore()
    replay = replay_of(door_of(runner, store), store)
    trials = replay.trials(requests_of("a", "b", draw=4))
    assert [trial.score for trial in trials] == [1.0, None]
    assert [trial.task for trial in store.find(Trial)] == [trials[0].task]
    assert len(store.find(LostTry)) == TRIES
    assert (replay.lost, replay.made) == ({"base": 1}, 1)


def test_a_later_cycle_makes_a_lost_trial_anew() -> None:
    """Nothing of a lost trial is cached: asked again, it runs again on the same draw and then has a score."""
    runner, store = runs_of(*[LOST] * TRIES, did()), MemoryStore()
    replay_of(door_of(runner, store), store).trials(requests_of("a", draw=4))
    (trial,) = replay_of(door_of(runner, store), store).trials(requests_of("a", draw=4))
    assert (trial.score, trial.draw, len(runner.jobs)) == (1.0, 4, TRIES + 1)


def test_an_attempt_that_fails_of_itself_scores_zero() -> None:
    """A time-out of the agent is its own failure: score 0, not retried, not lost."""
    runner, store = runs_of(Failed(reason=Reason.TIMEOUT, message="too slow")), MemoryStore()
    replay = replay_of(door_of(runner, store), store)
    (trial,) = replay.trials(requests_of("a"))
    assert (trial.score, len(runner.jobs), replay.lost) == (0.0, 1, {})


@pytest.mark.parametrize("budget", [Budget(jobs=2, wall=None), Budget(jobs=None, wall=None, tokens=130_000)])
def test_a_budget_refuses_before_it_starts_any(budget: Budget) -> None:
    """Where not all of the trials fit into the budget, none is started and nothing is spent."""
    runner, store = runs_of(did()), MemoryStore()
    door = door_of(runner, store, budget=budget)
    replay = replay_of(door, store)
    with pytest.raises(BudgetExhausted, match="3 more jobs"):
        replay.trials(requests_of("a", "b", "c"))
    assert (runner.jobs, door.spend.jobs) == ([], 0)
    assert [trial.score for trial in replay.trials(requests_of("a", "b"))] == [1.0, 1.0]


def test_finished_jobs_cost_nothing() -> None:
    """Trials whose jobs finished before start no job and need no budget."""
    runner, store = runs_of(did()), MemoryStore()
    first = replay_of(door_of(runner, store), store).trials(requests_of("a", "b"))
    door = door_of(runner, store, budget=Budget(jobs=1, wall=None))
    again = replay_of(door, store).trials(requests_of("a", "b", "c"))
    assert list(again[:2]) == list(first)
    assert [job.prompt for job in runner.jobs[2:]] == ["c"]
    assert (door.spend.jobs, door.spend.reused, door.left()) == (1, 2, 0)


def test_one_job_serves_requests_that_are_alike() -> None:
    """Two requests for the same job start it once and give one trial each."""
    runner, store = runs_of(did()), MemoryStore()
    trials = replay_of(door_of(runner, store), store).trials(requests_of("a", "a"))
    assert (len(trials), len(runner.jobs), len(store.find(Finished))) == (2, 1, 1)


def test_retries_stop_where_the_budget_does() -> None:
    """A lost try is not repeated beyond the limit of jobs: the trial stays lost and nothing is raised."""
    runner, store = runs_of(LOST), MemoryStore()
    door = door_of(runner, store, budget=Budget(jobs=1, wall=None))
    (trial,) = replay_of(door, store).trials(requests_of("a"))
    assert (trial.score, len(runner.jobs)) == (None, 1)


def test_progress_is_told() -> None:
    """What it is for, and after each outcome how many jobs ended, of those that the budget allows."""
    store, heard = MemoryStore(), list[tuple[str, int, int | None]]()
    replay = replay_of(door_of(runs_of(did()), store, budget=Budget(jobs=9, wall=None)), store, width=1)
    replay.progress = lambda *told: heard.append(told)
    replay.about = "correction 1 of 2: "
    replay.tell("practising")
    replay.trials(requests_of("a", "b"))
    assert heard[0] == ("correction 1 of 2: practising", 0, 9)
    assert heard[-1] == ("correction 1 of 2: practising", 2, 9)
    assert len(heard) == 3


def test_an_edit_goes_through_the_same_door() -> None:
    """A job that is no trial is retried, cached and refused by the budget like one."""
    runner, store = runs_of(LOST, did(reply="{}")), MemoryStore()
    door = door_of(runner, store, budget=Budget(jobs=2, wall=None))
    replay = replay_of(door, store)
    assert replay.ask(job_of("edit")) == did(reply="{}")
    assert replay.ask(job_of("edit")) == did(reply="{}")
    assert len(runner.jobs) == 2
    with pytest.raises(BudgetExhausted, match="2 jobs"):
        replay.ask(job_of("another edit"))
    assert store.find(Trial) == ()


class Stoppable:
    """A runner whose first job ends at once; the others run until they are told to stop."""

    name = "fake"
    tells_cost = True
    sends_to = ""

    def __init__(self) -> None:
        self.begun, self.stopped = Event(), Event()

    def version(self) -> str:
        return "1"

    def check(self) -> None:
        """It needs nothing."""

    def run(self, job: Job, cancelled: Event) -> Outcome:
        if job.prompt == "short":
            assert self.begun.wait(10)
            return did()
        self.begun.set()
        if cancelled.wait(10):
            self.stopped.set()
        return Failed(reason=Reason.CANCELLED, message="stopped", usage=FREE)


def interrupt(*_: object) -> Any:
    raise KeyboardInterrupt


def test_an_interrupt_in_a_progress_line_stops_every_job() -> None:
    """Ctrl-C (or a reader who went away) while progress is told stops what runs, then goes up."""
    runner, store = Stoppable(), MemoryStore()
    replay = replay_of(door_of(runner, store), store)
    replay.progress = interrupt
    with pytest.raises(KeyboardInterrupt):
        replay.trials(requests_of("short", "long"))
    assert runner.stopped.is_set()
    assert [lost.reason for lost in store.find(LostTry)] == [Reason.CANCELLED]


def test_an_interrupt_between_two_submits_stops_every_job(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while jobs are still handed over stops those that began already."""
    runner, store = Stoppable(), MemoryStore()
    replay = replay_of(door_of(runner, store), store)
    submit = replay.engine.submit

    def second_is_interrupted(job: Job) -> int:
        if runner.begun.wait(0 if job.prompt == "long" else 10):
            raise KeyboardInterrupt
        return submit(job)

    monkeypatch.setattr(replay.engine, "submit", second_is_interrupted)
    with pytest.raises(KeyboardInterrupt):
        replay.trials(requests_of("long", "other"))
    assert runner.stopped.is_set()
    assert not store.find(Finished)
