"""The corrections of a run in turn, with a real door that counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from threading import Event

import pytest

from cycle_builders import Place, QuickRunner, cycle_in, run_cycle
from gate_builders import CANDIDATE
from job_builders import did, door_of, job_of, replay_of, runs_of
from nightschool.core.cycles import Budget, Learned
from nightschool.core.errors import AuthenticationFailed
from nightschool.core.jobs import Job, Outcome
from nightschool.core.proposals import Verdict
from nightschool.core.tasks import Candidate
from nightschool.rules.prospects import Prospect
from nightschool.stages.outlook import Outlook
from nightschool.stages.turns import take_turns
from nightschool.testing.clock import FakeClock
from nightschool.testing.memory_store import MemoryStore

FRESH = Prospect(clusters=6, practice=5, pairs=7, most=100, guards=8)
WON = replace(FRESH, practice=0, begun=True, won=True, pairs=0)
NAMES = ("first", "second", "third")


@dataclass
class Night:
    """A run in which each correction uses all that it may, `most` jobs where it ends by itself."""

    found: Sequence[Outlook]
    most: dict[str, int] = field(default_factory=dict)
    budget: Budget = field(default_factory=lambda: Budget(jobs=60, wall=None))
    used: list[tuple[str, int]] = field(default_factory=list)
    learned: dict[str, Learned] = field(default_factory=dict)
    open: set[str] = field(default_factory=set)

    def pass_by(self) -> None:
        store = MemoryStore()
        replay = replay_of(door_of(runs_of(did()), store, budget=self.budget), store)
        totals: dict[str, int] = {}

        def turn(candidate: Candidate) -> Learned:
            name, before = candidate.statement, replay.door.spend.jobs
            most = self.most.get(name, 1_000)
            while totals.get(name, 0) < most and replay.share() > 0:
                totals[name] = totals.get(name, 0) + 1
                replay.door.run(job_of(f"{name} {totals[name]}"), Event())
            self.used.append((name, replay.door.spend.jobs - before))
            (self.open.add if totals.get(name, 0) < most else self.open.discard)(candidate.id)
            return Learned.of(candidate, "undecided", "")

        take_turns(
            self.found,
            replay=replay,
            turn=turn,
            unfinished=self.open,
            learned=self.learned,
            words={one.candidate.id: one.candidate.statement for one in self.found},
        )


def outlooks(*prospects: Prospect) -> list[Outlook]:
    return [
        Outlook(candidate=replace(CANDIDATE, correction=name, statement=name), prospect=own)
        for name, own in zip(NAMES, prospects, strict=False)
    ]


def test_one_cannot_use_what_is_for_the_others() -> None:
    """Three that could each use the whole budget have a third each."""
    night = Night(outlooks(FRESH, FRESH, FRESH))
    night.pass_by()
    assert night.used[:3] == [("first", 20), ("second", 20), ("third", 20)]
    assert sum(used for _, used in night.used) == 60


def test_what_others_leave_is_used() -> None:
    """Who used up its share goes on, in the order of the turns, when all had theirs."""
    night = Night(outlooks(FRESH, FRESH, FRESH), most={"second": 8, "third": 8})
    night.pass_by()
    assert night.used == [("first", 20), ("second", 8), ("third", 8), ("first", 24)]


def test_what_is_settled_takes_no_share() -> None:
    """What starts no job leaves the whole budget to the others."""
    settled = Outlook(candidate=replace(CANDIDATE, correction="x", statement="x"), done=("pinned", "", None))
    night = Night([settled, *outlooks(FRESH, FRESH)], most={"x": 0})
    night.pass_by()
    assert {name: used for name, used in night.used if used} == {"first": 30, "second": 30}


def test_what_won_its_bets_is_finished_first() -> None:
    """Whatever place it had; what is then too little for another is not begun, and that is told."""
    night = Night(outlooks(FRESH, WON), most={"second": 50})
    night.pass_by()
    assert night.used == [("second", 50)]
    waiting = next(item for item in night.learned.values() if item.statement == "first")
    assert waiting.code == "next-run"
    assert "10 left" in waiting.why


def test_minutes_are_shared_too() -> None:
    """Where the limit of minutes binds and none of jobs does, a share ends by the clock."""
    clock = FakeClock(step=timedelta(0))
    door = door_of(runs_of(did()), MemoryStore(), budget=Budget(jobs=None, wall=timedelta(minutes=60)))
    door.clock = clock
    door.run(job_of("a"), Event())
    rest = door.share(door.left(), 3)
    assert rest() > 0
    clock.advance(timedelta(minutes=19))
    assert rest() > 0
    clock.advance(timedelta(minutes=2))
    assert rest() == 0
    assert door.left() > 0


def test_a_run_with_little_practises_all(tmp_path: Path) -> None:
    """The first exam does not eat what the second correction needs for its practice, and a verdict is stored
    once for each draft; the next run goes on with the kept wealth, with no finished job made again."""
    place, first, second = Place.made(tmp_path), QuickRunner(), QuickRunner()
    report = run_cycle(place, runner=first, jobs=40)
    assert all(item.draft is not None for item in report.learned), report.learned
    assert [item.code for item in report.learned] == ["undecided", "underpowered"]
    with cycle_in(place) as (parts, _):
        assert len(parts.store.find(Verdict)) == 2
    again = run_cycle(place, runner=second)
    assert again.learned[0].code == "accept"
    assert not {job.key for job in first.jobs} & {job.key for job in second.jobs}


def test_what_is_unfinished_when_a_run_breaks_off_keeps_its_verdict(tmp_path: Path) -> None:
    """A login that is refused in another's turn takes no verdict away."""
    place = Place.made(tmp_path)

    def refused(job: Job) -> Outcome | None:
        if any(b"logging" in file.content for file in job.files):  # the second correction's editor
            raise AuthenticationFailed("log in again")
        return None

    with pytest.raises(AuthenticationFailed):
        run_cycle(place, runner=QuickRunner(before=refused), jobs=40)
    with cycle_in(place) as (parts, _):
        assert [verdict.code for verdict in parts.store.find(Verdict)] == ["budget-ended"]
