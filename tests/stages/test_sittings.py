"""Which tasks a draft is examined on, where some came after the hold-out's version."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cycle_builders import Place, QuickRunner, run_cycle
from exam_builders import AT
from gate_builders import CANDIDATE, WEALTH, task
from nightschool.core.tasks import HoldoutVersion, Split
from nightschool.core.trials import AlphaEntry, Partition
from nightschool.stages.sittings import sitting_of
from nightschool.testing.memory_store import MemoryStore

EARLY = tuple(task(f"early {n}", concerned=False) for n in range(3))
LATE = tuple(task(f"late {n}") for n in range(3))
VERSION = HoldoutVersion(pool="/p", number=1, tasks=tuple(one.id for one in EARLY))
OTHER = replace(CANDIDATE, correction="c-2")


@pytest.fixture
def store() -> MemoryStore:
    store = MemoryStore()
    store.commit(
        VERSION, *EARLY, *LATE, task("for training", split=Split.TRAIN), task("of others", concerned=False)
    )
    return store


def sat(store: MemoryStore, draft: str | None = None) -> set[str]:
    return {one.id for one in sitting_of(VERSION, store, candidate=CANDIDATE, draft=draft).tasks}


def test_targets_that_came_after_the_version_sit_in_the_exam_of_their_own_correction(
    store: MemoryStore,
) -> None:
    """A correction that is heard after the first run has its exam, without a wait for ten further tasks. What
    came late and concerns something else sits nowhere, and in the exam of another correction none does."""
    assert sat(store) == {one.id for one in (*EARLY, *LATE)}
    assert {one.id for one in sitting_of(VERSION, store, candidate=OTHER).tasks} == set(VERSION.tasks)
    assert {one.id for one in sitting_of(VERSION, store).tasks} == set(VERSION.tasks)


def test_no_task_comes_into_an_exam_that_has_begun(store: MemoryStore) -> None:
    """What sits is fixed before the first trial: a draft keeps its tasks, and its wealth, when more come. A
    draft that has not begun takes all that are there."""
    entry = AlphaEntry(holdout=VERSION.id, k=1, wealth=WEALTH, draft="d-1", alpha=0.1, margin=0.15, at=AT)
    begun = Partition(wealth=WEALTH, targets=tuple(one.id for one in LATE), guards=VERSION.tasks)
    later = task("later still")
    store.commit(entry, begun, later)
    assert sat(store, "d-1") == {one.id for one in (*EARLY, *LATE)}
    assert sat(store, "d-2") == sat(store) == {one.id for one in (*EARLY, *LATE, later)}


def test_what_is_heard_after_the_first_run_can_be_certified(tmp_path: Path) -> None:
    """A first run that saw the sessions of one correction alone opens the hold-out; the other correction,
    heard later in as many sessions, passes its exam in the second run."""
    place = Place.made(tmp_path)
    transcripts = [path for path in place.person.rglob("*.jsonl") if b"pathlib" in path.read_bytes()]
    aside = tmp_path / "aside"
    aside.mkdir()
    for number, path in enumerate(transcripts):
        path.rename(aside / str(number))
    first = run_cycle(place, runner=QuickRunner())
    assert not [one for one in first.learned if "pathlib" in one.statement]
    for number, path in enumerate(transcripts):
        (aside / str(number)).rename(path)
    second = run_cycle(place, runner=QuickRunner())
    (learned,) = [one for one in second.learned if "pathlib" in one.statement]
    assert learned.code == "accept", learned.why
