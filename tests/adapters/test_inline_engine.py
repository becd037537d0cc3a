"""The engine that runs jobs in threads."""

from __future__ import annotations

import threading
from threading import Event

import pytest

from job_builders import did, job_of
from nightschool.adapters.inline_engine import InlineEngine
from nightschool.core.errors import AuthenticationFailed
from nightschool.core.jobs import Failed, Job, Outcome, Reason

STOPPED = Failed(reason=Reason.CANCELLED, message="stopped")


def test_outcomes_come_in_the_order_of_completion() -> None:
    """What is done first is given first, under the ticket that `submit` gave for it."""
    second_done = Event()

    def run(job: Job, _cancelled: Event) -> Outcome:
        if job.prompt == "first":
            assert second_done.wait(10)
        return did(reply=job.prompt)

    engine = InlineEngine(run, width=2)
    first, second = engine.submit(job_of("first")), engine.submit(job_of("second"))
    given = []
    for ticket, outcome in engine.completed():
        given.append((ticket, outcome))
        second_done.set()
    assert given == [(second, did(reply="second")), (first, did(reply="first"))]
    assert list(engine.completed()) == [], "nothing is outstanding any more"


def test_no_more_run_at_once_than_the_width() -> None:
    """The width bounds how many jobs run at once, and is used."""
    lock, running, most = threading.Lock(), 0, 0
    both = threading.Barrier(2)

    def run(_job: Job, _cancelled: Event) -> Outcome:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        both.wait(10)
        with lock:
            running -= 1
        return did()

    engine = InlineEngine(run, width=2)
    for number in range(6):
        engine.submit(job_of(str(number)))
    assert len(list(engine.completed())) == 6
    assert most == 2


def test_an_error_stops_the_rest_before_it_is_raised() -> None:
    """What a job raises is raised here, after running jobs were told to stop and waiting ones dropped."""
    started, ended, begun = Event(), Event(), []

    def run(job: Job, cancelled: Event) -> Outcome:
        begun.append(job.prompt)
        if job.prompt == "refused":
            assert started.wait(10)
            raise AuthenticationFailed("the key is refused")
        started.set()
        assert cancelled.wait(10), "it was told to stop"
        ended.set()
        return STOPPED

    engine = InlineEngine(run, width=2)
    for name in ("long", "refused", *(f"long {number}" for number in range(5))):
        engine.submit(job_of(name))
    with pytest.raises(AuthenticationFailed, match="refused"):
        list(engine.completed())
    assert ended.is_set()
    assert len(begun) <= 3, "one may have begun in the place of the one that was refused"
    assert list(engine.completed()) == []


def test_an_interrupt_by_the_caller_stops_everything() -> None:
    """Where the caller leaves the loop, nothing of the engine goes on running."""
    ended = Event()

    def run(job: Job, cancelled: Event) -> Outcome:
        if job.prompt == "short":
            return did()
        assert cancelled.wait(10)
        ended.set()
        return STOPPED

    engine = InlineEngine(run, width=2)
    engine.submit(job_of("long"))
    engine.submit(job_of("short"))
    outcomes = engine.completed()
    next(outcomes)
    with pytest.raises(KeyboardInterrupt):
        outcomes.throw(KeyboardInterrupt())  # type: ignore[attr-defined]  # it is a generator
    assert ended.is_set()


def test_one_job_can_be_cancelled() -> None:
    """`cancel` tells the job of that ticket alone to stop; its outcome is given as any other."""
    let_go = Event()

    def run(job: Job, cancelled: Event) -> Outcome:
        if job.prompt == "one":
            assert cancelled.wait(10)
            let_go.set()
            return STOPPED
        assert let_go.wait(10)
        return STOPPED if cancelled.is_set() else did()

    engine = InlineEngine(run, width=2)
    one, other = engine.submit(job_of("one")), engine.submit(job_of("other"))
    engine.cancel(one)
    assert dict(engine.completed()) == {one: STOPPED, other: did()}


def test_an_engine_has_a_width() -> None:
    """A width below one is a mistake of the caller and is named."""
    with pytest.raises(ValueError, match="at least 1"):
        InlineEngine(lambda *_: did(), width=0)
