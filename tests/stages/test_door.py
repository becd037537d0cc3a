"""The one door in front of a runner: cache, hard budget, reservation, redaction, crashes."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from threading import Event
from typing import Any

import pytest

from job_builders import FREE, LOST, SECRET, FakeRunner, did, door_of, job_of, runs_of
from nightschool.core.cycles import COST_BOOKED, TOKENS_BOOKED, Budget
from nightschool.core.errors import AuthenticationFailed, BudgetExhausted
from nightschool.core.harness import File
from nightschool.core.jobs import (
    Delivered,
    Failed,
    FileChange,
    Finished,
    Job,
    LostTry,
    Outcome,
    Reason,
    Reservation,
    Usage,
)
from nightschool.core.sessions import ToolCall
from nightschool.core.values import canonical
from nightschool.testing.clock import FakeClock
from nightschool.testing.memory_store import MemoryStore

GO = Event()


def test_a_finished_job_never_runs_again() -> None:
    """A job whose key has a finished outcome is answered from the store, in this and in the next cycle."""
    store, runner = MemoryStore(), runs_of(did())
    first = door_of(runner, store)
    outcome = first.run(job_of(), GO)
    later = door_of(runner, store, budget=Budget(jobs=0))
    assert (first.run(job_of(), GO), later.run(job_of(), GO)) == (outcome, outcome)
    assert len(runner.jobs) == 1
    assert (first.spend.jobs, first.spend.reused, later.spend.jobs, later.spend.reused) == (1, 1, 0, 1)


def test_every_input_of_a_job_is_part_of_its_key() -> None:
    """A job that differs in draw, arm, repeat, prompt version, agent version or files is another job."""
    job = job_of()
    others = [
        replace(job, draw=1),
        replace(job, arm="draft"),
        replace(job, repeat=1),
        replace(job, prompt_version="2"),
        replace(job, agent_version="2"),
        replace(job, surface_version="2"),
        replace(job, files=(File(path="a", content=b""),)),
        replace(job, options=replace(job.options, model="m")),
    ]
    assert len({one.key for one in [job, *others]}) == len(others) + 1


def test_a_job_that_fails_of_itself_is_finished_too() -> None:
    """A time-out is an outcome with a score, so the same job is not bought a second time."""
    store, runner = MemoryStore(), runs_of(Failed(reason=Reason.TIMEOUT, message="too slow", usage=FREE))
    door = door_of(runner, store)
    door.run(job_of(), GO)
    door.run(job_of(), GO)
    assert len(runner.jobs) == 1


def test_what_dies_with_its_process_stays_booked() -> None:
    """A reservation is written before the job starts and stays unsettled where the process ends in it."""

    def die(_job: Job, _before: int) -> Outcome:
        assert len(store.find(Reservation)) == 1, "booked before the runner is called"
        raise SystemExit(9)

    store = MemoryStore()
    door = door_of(FakeRunner(die), store)
    with pytest.raises(SystemExit):
        door.run(job_of(), GO)
    (reservation,) = store.find(Reservation)
    assert (reservation.tokens, reservation.cost) == (TOKENS_BOOKED, COST_BOOKED)
    assert not store.find(Finished)
    assert not store.find(LostTry)
    assert (door.spend.jobs, door.spend.unsettled) == (1, 1)


@pytest.mark.parametrize(
    ("budget", "named"),
    [
        (Budget(jobs=None, wall=None, tokens=10 * TOKENS_BOOKED), "did not tell its tokens"),
        (Budget(jobs=None, wall=None, cost=10 * COST_BOOKED), "did not tell its cost"),
    ],
)
def test_unknown_use_stops_where_a_limit_is_set(budget: Budget, named: str) -> None:
    """Where a limit on tokens or money is set and a job does not tell its use, no further job starts."""
    runner = runs_of(did(usage=Usage()))
    door = door_of(runner, MemoryStore(), budget=budget)
    door.run(job_of("one"), GO)
    assert door.left() == 0
    with pytest.raises(BudgetExhausted, match=named):
        door.run(job_of("two"), GO)
    assert len(runner.jobs) == 1


def test_unknown_use_without_a_limit_is_counted() -> None:
    """Without a limit on tokens an unknown use stops nothing and is reported as unknown, not as zero."""
    door = door_of(runs_of(did(usage=Usage())), MemoryStore())
    door.run(job_of("one"), GO)
    door.run(job_of("two"), GO)
    assert (door.spend.unknown_tokens, door.spend.unknown_cost, door.spend.tokens) == (2, 2, 0)


@pytest.mark.parametrize(
    ("budget", "fits"),
    [
        (Budget(jobs=3, wall=None), 3),
        (Budget(jobs=None, wall=None, tokens=2 * TOKENS_BOOKED), 2),
        (Budget(jobs=None, wall=None, cost=COST_BOOKED * 3), 3),
        (Budget(jobs=None, wall=None, cost=COST_BOOKED), 1),
        (Budget(jobs=None, wall=None, tokens=TOKENS_BOOKED), 1),
        (Budget(jobs=2, wall=None, tokens=5 * TOKENS_BOOKED), 2),
        (Budget(jobs=None, wall=None, tokens=TOKENS_BOOKED - 1), 0),
    ],
)
def test_left_says_how_many_jobs_fit(budget: Budget, fits: int) -> None:
    """`left` never promises more jobs than `run` would start at once, whichever limit is the tight one."""
    door = door_of(runs_of(did()), MemoryStore(), budget=budget)
    assert door.left() == fits
    assert (door.stopped_by() is None) == bool(fits)


@pytest.mark.parametrize("budget", [{"tokens": 3 * TOKENS_BOOKED}, {"cost": 3 * COST_BOOKED}])
def test_a_running_job_stays_booked(budget: dict[str, Any]) -> None:
    """What runs now may still use all that was booked for it, so it is not left for others."""
    left: list[int] = []

    def look(_job: Job, _before: int) -> Outcome:
        left.append(door.left())
        return did()

    door = door_of(FakeRunner(look), MemoryStore(), budget=Budget(jobs=None, wall=None, **budget))
    door.run(job_of(), GO)
    assert left == [2]


def test_known_use_counts_against_the_limit() -> None:
    """Tokens that a job used are gone: the next starts only while a whole booking still fits."""
    door = door_of(
        runs_of(did(usage=Usage(tokens=50_000, cost=Decimal(0)))),
        MemoryStore(),
        budget=Budget(jobs=None, wall=None, tokens=50_000 + TOKENS_BOOKED),
    )
    door.run(job_of("one"), GO)
    assert door.left() == 1
    door.run(job_of("two"), GO)
    with pytest.raises(BudgetExhausted, match="110,000 tokens"):
        door.run(job_of("three"), GO)
    assert door.spend.tokens == 100_000


@pytest.mark.parametrize(
    "budget",
    [
        Budget(jobs=3, wall=None),
        Budget(jobs=None, wall=None, tokens=3 * TOKENS_BOOKED),
    ],
)
def test_the_limit_holds_under_threads(budget: Budget) -> None:
    """However many threads start jobs at once, the runner is called no more often than the budget allows."""
    barrier, release = threading.Barrier(8), Event()

    def wait(_job: Job, _before: int) -> Outcome:
        release.wait(10)
        return did()

    runner = FakeRunner(wait)
    door = door_of(runner, MemoryStore(), budget=budget)

    def start(number: int) -> bool:
        barrier.wait(10)
        try:
            door.run(job_of(f"job {number}"), GO)
        except BudgetExhausted:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(start, number) for number in range(8)]
        while sum(one.done() for one in asked) < 5:
            release.wait(0.01)
        release.set()
        started = sum(one.result() for one in asked)
    assert (started, len(runner.jobs), door.spend.jobs) == (3, 3, 3)


def test_the_time_limit_starts_no_further_job() -> None:
    """After the cycle's time is over no job starts, and the reason names the limit."""
    clock = FakeClock(step=timedelta(0))
    door = door_of(runs_of(did()), MemoryStore(), budget=Budget(jobs=None, wall=timedelta(minutes=5)))
    door.clock = clock
    door.run(job_of("one"), GO)
    clock.advance(timedelta(minutes=5))
    assert door.left() == 0
    assert door.stopped_by() == "the limit of 5 minutes is reached"
    with pytest.raises(BudgetExhausted):
        door.run(job_of("two"), GO)


@pytest.mark.parametrize("jump", [timedelta(hours=-2), timedelta(hours=9)], ids=["set back", "slept"])
def test_a_jump_of_the_clock_neither_gives_nor_takes_time(jump: timedelta) -> None:
    """The time limit counts what the machine was awake, whatever its clock says meanwhile: a night's sleep
    between two jobs ends no run, and a clock that was set back lengthens none."""
    clock = FakeClock(step=timedelta(0))
    door = door_of(runs_of(did()), MemoryStore(), budget=Budget(jobs=None, wall=timedelta(minutes=5)))
    door.clock = clock
    door.run(job_of("one"), GO)
    clock.advance(timedelta(minutes=4))
    clock.jump(jump)
    assert (door.left() > 0, door.worked) == (True, timedelta(minutes=4))
    door.run(job_of("two"), GO)
    clock.advance(timedelta(minutes=1))
    assert door.left() == 0


def test_a_person_who_thinks_about_it_loses_no_time() -> None:
    """The time limit begins with the first job, not with the question whether to start."""
    clock = FakeClock(step=timedelta(0))
    door = door_of(runs_of(did()), MemoryStore(), budget=Budget(jobs=None, wall=timedelta(minutes=5)))
    door.clock = clock
    clock.advance(timedelta(hours=1))
    assert (door.left() > 0, door.worked) == (True, timedelta(0))


def test_a_crash_of_a_runner_is_an_outcome() -> None:
    """An exception that is none of ours becomes a failed outcome that names it, redacted, and is kept."""

    def crash(_job: Job, _before: int) -> Outcome:
        raise KeyError(SECRET)

    store = MemoryStore()
    outcome = door_of(FakeRunner(crash), store).run(job_of(), GO)
    assert isinstance(outcome, Failed)
    assert outcome.reason is Reason.BAD_REPLY
    assert "KeyError" in outcome.message
    assert SECRET not in outcome.message
    assert [finished.outcome for finished in store.find(Finished)] == [outcome]


def test_a_full_disk_is_no_failure_of_the_agent() -> None:
    """What failed for this machine's want of room is lost: no score, and the same job may run again."""

    def full(_job: Job, before: int) -> Outcome:
        if before == 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return did()

    store = MemoryStore()
    door = door_of(FakeRunner(full), store)
    outcome = door.run(job_of(), GO)
    assert isinstance(outcome, Failed)
    assert outcome.lost
    assert "No space left" in outcome.message
    assert not store.find(Finished)
    assert door.run(job_of(), GO) == did()


def test_what_makes_every_job_fail_is_raised_and_settled() -> None:
    """A refused login goes up to the cycle; its try is on record as lost, so nothing stays booked."""

    def refuse(_job: Job, _before: int) -> Outcome:
        raise AuthenticationFailed(f"the key {SECRET} is refused")

    store = MemoryStore()
    door = door_of(FakeRunner(refuse), store)
    with pytest.raises(AuthenticationFailed):
        door.run(job_of(), GO)
    (lost,) = store.find(LostTry)
    assert lost.reason is Reason.INFRASTRUCTURE
    assert SECRET not in lost.message
    assert (door.spend.unsettled, door.spend.lost) == (0, 1)
    assert not store.find(Finished)


def test_a_lost_try_is_no_finished_job() -> None:
    """What failed outside the job is a lost try of its own number; the same job may run again."""
    store, runner = MemoryStore(), runs_of(LOST, LOST, did())
    door = door_of(runner, store)
    outcomes = [door.run(job_of(arm="base", draw=7), GO) for _ in range(3)]
    assert outcomes == [LOST, LOST, did()]
    tries = store.find(LostTry)
    assert [(lost.key, lost.arm, lost.reason) for lost in tries] == [
        (job_of(arm="base", draw=7).key, "base", Reason.INFRASTRUCTURE)
    ] * 2
    assert len({lost.attempt for lost in tries}) == 2
    assert len(store.find(Finished)) == 1
    assert (door.spend.jobs, door.spend.lost) == (3, 2)


@pytest.mark.parametrize(
    "outcome",
    [
        Delivered(
            reply=f"a {SECRET}",
            files=(FileChange(path="x", content=f"b {SECRET}".encode(), added=f"c {SECRET}"),),
            trajectory=(
                ToolCall(
                    call_id="1",
                    name="shell",
                    arguments=f"d {SECRET}",
                    command=f"e {SECRET}",
                    result=f"f {SECRET}",
                ),
            ),
        ),
        Failed(
            reason=Reason.TIMEOUT,
            message=f"a {SECRET}",
            files=(FileChange(path="x", content=f"b {SECRET}".encode(), added=""),),
            trajectory=(ToolCall(call_id="1", name="shell", result=f"c {SECRET}"),),
        ),
        Failed(reason=Reason.INFRASTRUCTURE, message=f"a {SECRET}"),
    ],
)
def test_no_secret_is_stored(outcome: Outcome) -> None:
    """Every text of an outcome is redacted before it is stored or handed on; bytes that are no text stay."""
    store = MemoryStore()
    given = door_of(runs_of(outcome), store).run(job_of(), GO)
    kept = [*store.find(Finished), *store.find(LostTry)]
    assert len(kept) == 1
    assert SECRET.encode() not in canonical([given, kept]).replace(b"\n", b"")
    assert all(SECRET.encode() not in (change.content or b"") for change in given.files)


def test_no_secret_leaves() -> None:
    """Prompt and files reach the runner redacted; bytes that are no UTF-8 reach it as they are."""
    runner = runs_of(did())
    files = (
        File(path="a.txt", content=f"x {SECRET}".encode(), mode=0o755),
        File(path="b.bin", content=b"\xff\x00"),
    )
    door_of(runner, MemoryStore()).run(job_of(f"say {SECRET}", files=files), GO)
    (job,) = runner.jobs
    assert job.prompt == "say [secret]"
    assert job.files == (File(path="a.txt", content=b"x [secret]", mode=0o755), files[1])


def test_redaction_does_not_change_which_job_it_is() -> None:
    """A job and its redacted form are one job: the second is answered from the first."""
    store, runner = MemoryStore(), runs_of(did())
    door = door_of(runner, store)
    job = job_of(f"say {SECRET}")
    door.run(job, GO)
    assert door.known(job) == door.known(door.safe(job)) == did()
    assert door.safe(job).key == runner.jobs[0].key


def test_a_crash_in_one_thread_leaves_the_others() -> None:
    """Spend adds up over threads, crashed jobs among them."""

    def some(job: Job, _before: int) -> Outcome:
        if job.prompt.endswith("3"):
            raise ValueError("broken")
        return did()

    run: Callable[[int], Outcome]
    door = door_of(FakeRunner(some), MemoryStore())
    with ThreadPoolExecutor(4) as pool:
        run = lambda number: door.run(job_of(f"job {number}"), GO)  # noqa: E731 - used once
        outcomes = list(pool.map(run, range(8)))
    assert sum(isinstance(one, Failed) for one in outcomes) == 1
    assert (door.spend.jobs, door.spend.unsettled) == (8, 0)
