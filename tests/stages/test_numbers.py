"""Numbers of cycles: what is given once, and to whom."""

from __future__ import annotations

from pathlib import Path

import pytest

from cycle_builders import Place, QuickRunner, cycle_in, run_cycle
from nightschool.core.cycles import CycleReport
from nightschool.core.jobs import Reservation
from nightschool.stages.numbers import give, holding_number, next_number
from nightschool.testing.memory_store import MemoryStore


def test_a_number_is_given_once() -> None:
    """Held alone it is only known; given, it is given for good, however often it is asked for."""
    store = MemoryStore()
    with holding_number(store) as number:
        assert (number, store.holder("cycle")) == ("n-0001", "n-0001")
    assert next_number(store) == "n-0001"
    with holding_number(store) as number:
        give(store, number)
        give(store, number)
        assert store.holder("cycle") == "n-0001"
    assert next_number(store) == "n-0002"


def test_one_that_ended_meanwhile_keeps_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between looking and holding another cycle may have had the number: then the next one is held."""
    store = MemoryStore()
    hold, others = store.hold, [None]

    def held_late(lock: str, *, by: str = "") -> object:
        if others:
            others.pop()
            give(store, "n-0001")
        return hold(lock, by=by)

    monkeypatch.setattr(MemoryStore, "hold", lambda _store, lock, *, by="": held_late(lock, by=by))
    with holding_number(store) as number:
        assert (number, store.holder("cycle")) == ("n-0002", "n-0002")


def test_a_run_that_stops_before_a_job_leaves_no_gap(tmp_path: Path) -> None:
    """Declined, stopped or refused before anything is practised: the first real one has the first number,
    its jobs and its report are of it, and the next one has the next."""
    place = Place.made(tmp_path)
    for _ in range(3):
        with cycle_in(place, runner=QuickRunner()) as (parts, cycle), cycle.held():
            cycle.prepare(parts.harvest_request(everything=True))
    assert run_cycle(place, runner=QuickRunner(), jobs=4).cycle == "n-0001"
    with cycle_in(place, runner=QuickRunner()) as (parts, cycle):
        assert {one.cycle for one in parts.store.find(Reservation)} == {"n-0001"}
        assert [one.cycle for one in parts.store.find(CycleReport)] == ["n-0001"]
        with cycle.held():
            assert cycle.practise(cycle.prepare(parts.harvest_request())).cycle == "n-0002"
            assert parts.store.holder("cycle") == "n-0002"
