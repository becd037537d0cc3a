"""Whole cycles and harvests that are killed at any moment, and go on until they are done."""

from __future__ import annotations

import os
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache
from pathlib import Path
from threading import Event

from cycle_builders import Place, QuickRunner, cycle_in, tree
from nightschool.adapters.claude_code.transcripts import ClaudeCodeTranscripts
from nightschool.adapters.codex.transcripts import CodexTranscripts
from nightschool.adapters.sqlite_store import SqliteStore
from nightschool.adapters.system_clock import SystemClock
from nightschool.core.cycles import CycleReport
from nightschool.core.jobs import Finished, Job, Outcome, Reservation
from nightschool.core.ports import Runner, TranscriptSource
from nightschool.core.proposals import Verdict, VerdictKind
from nightschool.core.sessions import Roots, Session
from nightschool.core.trials import Draw, LostPair, Pair
from nightschool.core.values import digest_bytes
from nightschool.rules.redaction import Redactor
from nightschool.stages.harvest import HarvestRequest, harvest
from nightschool.testing import demo
from soak.cases import Case, Part, Seen
from soak.forks import left_of, run_for, run_whole

KEY = b"a key of the soak, 32 bytes long."
COPIES = 5
"""Of the demo's transcripts: more than one transaction of a harvest."""


class Logged:
    """A runner that notes each job as it begins."""

    def __init__(self, runner: Runner, log: Path) -> None:
        self.name = runner.name
        self.runner = runner
        self.log = log
        self.tells_cost, self.sends_to = runner.tells_cost, runner.sends_to

    def version(self) -> str:
        return self.runner.version()

    def check(self) -> None:
        self.runner.check()

    def run(self, job: Job, cancelled: Event) -> Outcome:
        with self.log.open("a") as file:
            file.write(job.key + "\n")
        return self.runner.run(job, cancelled)


def _cycle(place: Place, log: Path, sandbox: str) -> None:
    """One cycle with the demo's scripted runner in a sandbox, or with a quick one without."""
    with cycle_in(place, sandbox=sandbox or "unsafe-process") as (parts, cycle), cycle.held():
        runner: Runner = cycle.door.runner if sandbox else QuickRunner()
        cycle.door.runner = Logged(runner, log)
        cycle.practise(cycle.prepare(parts.harvest_request(everything=True)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Undisturbed:
    """What a cycle that nobody kills comes to here, and how long it takes."""

    place: Place
    before: Mapping[str, tuple[int, str]]
    seconds: float
    came_to: Mapping[str, VerdictKind]


@cache
def _undisturbed(shared: Path, sandbox: str) -> Undisturbed:
    folder = shared / f"cycle-{os.getpid()}-{sandbox}"
    folder.mkdir()
    place = Place.made(folder)
    before = tree(place.person)
    seconds = run_whole(lambda: _cycle(place, folder / "log", sandbox))
    with closing(SqliteStore.open(place.ours)) as store:
        came_to = _came_to(store)
    return Undisturbed(place=place, before=before, seconds=seconds, came_to=came_to)


def _came_to(store: SqliteStore) -> dict[str, VerdictKind]:
    """What the gate said last of each draft. One that it accepted waits for review in later cycles."""
    return {verdict.draft: verdict.kind for verdict in store.find(Verdict)}


def _finished(place: Place) -> set[str]:
    if not (place.ours / "nightschool.db").exists():
        return set()
    with closing(SqliteStore.open(place.ours)) as store:
        return {record.key for record in store.find(Finished)}


def _begun(log: Path) -> list[str]:
    return log.read_text().split() if log.exists() else []


def cycle_killed(case: Case) -> Seen:
    return _killed(case, "")


def sandboxed_cycle_killed(case: Case) -> Seen:
    return _killed(case, "bubblewrap")


def _killed(case: Case, sandbox: str) -> Seen:
    expected = _undisturbed(case.shared, sandbox)
    place = replace(expected.place, ours=case.folder / "ns")
    log = case.folder / "begun"
    seen: Seen = Counter()
    for _ in range(case.random.randint(1, 3)):
        finished, begun = _finished(place), len(_begun(log))
        ended = run_for(expected.seconds * case.random.random(), lambda: _cycle(place, log, sandbox))
        again = finished & set(_begun(log)[begun:])
        assert not again, f"finished jobs ran again: {again}"
        assert left_of(case.folder) == []
        seen["kills" if not ended else "runs that ended first"] += 1
        if ended:
            break
    finished, begun = _finished(place), len(_begun(log))
    seen["jobs finished before the last kill"] += len(finished)
    run_whole(lambda: _cycle(place, log, sandbox))
    assert left_of(case.folder) == []
    again = finished & set(_begun(log)[begun:])
    assert not again, f"finished jobs ran again: {again}"
    _is_whole(place)
    _adds_up(place, _begun(log), begun)
    assert tree(place.person) == expected.before, "something of the person's moved"
    with closing(SqliteStore.open(place.ours)) as store:
        came_to = _came_to(store)
    assert came_to == expected.came_to
    return seen


def _is_whole(place: Place) -> None:
    """No row, blob or workspace is there in part."""
    with closing(sqlite3.connect(place.ours / "nightschool.db")) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    for path in (place.ours / "blobs").rglob("*"):
        if path.is_file() and not path.name.startswith("."):
            assert digest_bytes(path.read_bytes()) == path.parent.name + path.name
    jobs = place.ours / "work" / "jobs"
    left = list(jobs.iterdir()) if jobs.exists() else []
    assert left == [], "workspaces are left"


def _adds_up(place: Place, begun: list[str], before: int) -> None:
    """Each pair is one entry of a wealth; what was booked, begun, finished and reported is the same."""
    with closing(SqliteStore.open(place.ours)) as store:
        report = store.find(CycleReport)[-1]
        booked, finished = store.find(Reservation), store.find(Finished)
        pairs, draws, lost = store.find(Pair), store.find(Draw), store.find(LostPair)
        verdicts = store.find(Verdict)
    names = [(pair.wealth, pair.draw) for pair in pairs]
    assert len(names) == len(set(names))
    assert {*names, *((pair.wealth, pair.draw) for pair in lost)} <= {(d.wealth, d.draw) for d in draws}
    for verdict in verdicts:
        told = [p for p in pairs if p.wealth == verdict.wealth_key and p.role == "target"]
        assert verdict.pairs == len(told), (verdict.pairs, len(told))
        assert len(verdict.path) == verdict.pairs + 1 or not verdict.path
    keys = {record.key for record in booked}
    assert set(begun) <= keys, "a job began that was not booked"
    assert {record.key for record in finished} <= keys
    own = [record for record in booked if record.cycle == report.cycle]
    assert report.spend.jobs == len(own) == len(begun) - before
    assert (report.spend.unsettled, report.spend.lost) == (0, 0)
    tokens = sum(r.outcome.usage.tokens or 0 for r in finished if r.cycle == report.cycle)
    assert report.spend.tokens == tokens


def _sources() -> dict[str, TranscriptSource]:
    redact = Redactor(KEY)
    return {"claude-code": ClaudeCodeTranscripts(redact=redact), "codex": CodexTranscripts(redact=redact)}


def _harvest(home: Path, person: Path) -> None:
    request = HarvestRequest(roots=Roots(home=str(person)), everything=True, lookback=timedelta(days=9))
    with closing(SqliteStore.open(home)) as store:
        harvest(request, sources=_sources(), store=store, clock=SystemClock())


@cache
def _many() -> Mapping[str, bytes]:
    """Transcripts by their place in a HOME: the demo's, and copies with ids of their own."""
    found: dict[str, bytes] = {}
    for path in sorted((demo.HERE / "transcripts").rglob("*.jsonl")):
        session = path.stem[-36:]
        for copy in range(COPIES):
            own = f"{copy:08x}{session[8:]}"
            name = path.name.replace(session, own)
            below = (
                ".claude/projects/-home-sam-ledger"
                if path.parent.name == "claude-code"
                else (".codex/sessions/2026/11/09")
            )
            found[f"{below}/{name}"] = path.read_bytes().replace(session.encode(), own.encode())
    return found


def _lay(person: Path, size: Callable[[bytes], int]) -> None:
    for name, content in _many().items():
        path = person / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content[: size(content)])


def _sessions(home: Path) -> dict[str, Session]:
    with closing(SqliteStore.open(home)) as store:
        found = store.find(Session)
    assert len({session.id for session in found}) == len(found)
    return {session.id: _bare(session) for session in found}


def _bare(session: Session) -> Session:
    """Wherever its file lay, and whether a last row was read before its newline was written."""
    turns = tuple(replace(turn, end=0) for turn in session.turns)
    return replace(session, path=Path(session.path).name, turns=turns)


@cache
def _harvested(shared: Path) -> tuple[dict[str, Session], float]:
    folder = shared / f"harvest-{time.monotonic_ns()}"
    _lay(folder / "sam", len)
    seconds = run_whole(lambda: _harvest(folder / "ns", folder / "sam"))
    return _sessions(folder / "ns"), seconds


def harvest_killed(case: Case) -> Seen:
    """The files grow between one to three harvests that are killed; the last one is not."""
    expected, seconds = _harvested(case.shared)
    person, home = case.folder / "sam", case.folder / "ns"
    lengths = dict.fromkeys(_many().values(), 0)
    seen: Seen = Counter()
    for _ in range(case.random.randint(1, 3)):
        for content, length in lengths.items():
            lengths[content] = case.random.randint(length, len(content))
        _lay(person, lengths.__getitem__)
        ended = run_for(1.1 * seconds * case.random.random(), lambda: _harvest(home, person))
        seen["harvests that ended" if ended else "kills"] += 1
    if home.exists():
        seen["sessions stored before the last harvest"] += len(_sessions(home))
    _lay(person, len)
    run_whole(lambda: _harvest(home, person))
    found = _sessions(home)
    assert found.keys() == expected.keys()
    for name, session in expected.items():
        assert found[name] == session, name
    return seen


PARTS = (
    Part(
        name="cycles killed",
        group="kills",
        holds=(
            "no finished job ran again; database and blobs are whole; no lock, process or workspace is left; "
            "one entry in the wealth for each pair; spend adds up; the same verdicts on the same drafts"
        ),
        cases=240,
        check=cycle_killed,
    ),
    Part(
        name="sandboxed cycles killed",
        group="kills",
        holds="the same, with the scripted runner's processes in the sandbox",
        cases=30,
        check=sandboxed_cycle_killed,
    ),
    Part(
        name="harvests killed",
        group="kills",
        holds="every session is there once, with all its turns, though its file grew meanwhile",
        cases=200,
        check=harvest_killed,
    ),
)
