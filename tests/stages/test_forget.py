"""Forget: what was read is gone, from every record and from the disk, and what has to stay has no words."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest

from cycle_builders import Place, QuickRunner, cycle_in, run_cycle
from nightschool.adapters.record_tables import KINDS
from nightschool.adapters.workspaces import Workspaces
from nightschool.core.cycles import CycleReport
from nightschool.core.forgetting import STAND_IN, Forgotten, Unfinished
from nightschool.core.jobs import Finished, Reservation
from nightschool.core.pins import Pin
from nightschool.core.proposals import Draft, Release, Status
from nightschool.core.sandboxes import SandboxPlan
from nightschool.core.sessions import Offset, Session, ToolCall
from nightschool.core.tasks import (
    IMPORTED,
    Assignment,
    Candidate,
    Correction,
    GitSource,
    HoldoutVersion,
    Split,
    Task,
    TaskAct,
    TaskMark,
    pool_of,
)
from nightschool.core.trials import AlphaEntry, Draw, Pair, Trial
from nightschool.core.values import Record, digest_of
from nightschool.rules.bare import GONE, strings
from nightschool.rules.forgetting import Plan
from nightschool.rules.ignoring import Ignoring
from nightschool.rules.report import markdown
from nightschool.rules.speaking_of import Chosen, Known
from nightschool.stages import publish, releases
from nightschool.stages.pins import pinned
from nightschool.stages.undo import undo
from nightschool.wiring import Parts
from stages.forgetting import killed_forgetting

WITHOUT_WORDS = {"Window", "AlphaEntry", "Draw", "Pair", "LostPair", "Partition"}
"""Kinds that hold ids, digests and figures alone."""
OWN = {"Forgotten", "Skipped", "Unfinished"}


@pytest.fixture(scope="module")
def learned(make_folder: Callable[[str], Path]) -> Place:
    """A whole cycle over the demo's sessions, with its report written as the command does."""
    place = Place.made(make_folder("forget"))
    report = run_cycle(place, runner=QuickRunner())
    folder = place.ours / "reports"
    folder.mkdir()
    (folder / f"{report.cycle}.md").write_text(markdown(report), encoding="utf-8")
    return place


@pytest.fixture
def place(learned: Place, tmp_path: Path) -> Place:
    """A copy of what that cycle stored."""
    return replace(learned, ours=Path(shutil.copytree(learned.ours, tmp_path / "ns")))


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What is known of one session before it is forgotten."""

    session: Session
    tasks: frozenset[str]
    words: frozenset[bytes]
    """That no other session holds."""


def about(parts: Parts, split: Split) -> About:
    """A session of one side of the exam that a correction was heard in."""
    homes = {name: one.split for one in parts.store.find(Assignment) for name in one.sessions}
    heard = {name for correction in parts.store.find(Correction) for name in correction.sessions}
    sessions = parts.store.find(Session)
    chosen = next(s for s in sessions if s.id in heard and homes.get(s.id) is split)
    others = "\n".join(text for s in sessions if s.id != chosen.id for text in strings(s))
    own = {turn.text for turn in chosen.human_turns if turn.text not in others}
    assert own, "a session that says nothing of its own shows nothing"
    names = {chosen.id, chosen.session_id, chosen.path}
    tasks = {task.id for task in parts.store.find(Task) if task.session == chosen.id}
    return About(
        session=chosen,
        tasks=frozenset(tasks),
        words=frozenset(text.encode() for text in own | names),
    )


def forgotten(parts: Parts, chosen: Chosen, *, for_good: bool = True) -> Plan:
    with parts.store.hold("cycle"):
        return parts.forgetting().forget(chosen, for_good=for_good)


def of(session: Session) -> Chosen:
    return Chosen(sessions=frozenset({session.id}))


def holding(folder: Path, words: frozenset[bytes]) -> list[tuple[str, bytes]]:
    """Files below a folder that hold one of the words, as they lie on the disk."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [(path.name, word) for path in files for word in words if word in path.read_bytes()]


def everything(parts: Parts) -> Iterator[Record]:
    for kind in KINDS:
        yield from parts.store.find(kind.record)


def test_every_kind_of_record_is_thought_of() -> None:
    """A new kind of record is either looked at when something is forgotten, or said to hold no words."""
    looked_at = {field.split("[")[1].split(",")[0] for field in Known.__annotations__.values()}
    assert {kind.record.__name__ for kind in KINDS} == looked_at | WITHOUT_WORDS | OWN


@pytest.mark.parametrize("split", list(Split))
def test_no_byte_of_a_session_is_left(place: Place, split: Split) -> None:
    """Of a forgotten session no word, id or path is left in any file of ours: not in the free space of the
    database, not in its log, not in a report, a blob or an answer of an agent."""
    with cycle_in(place) as (parts, _):
        known = about(parts, split)
        logs = place.ours / "schedule"
        logs.mkdir()
        for name in ("run.log", "run.log.1"):
            (logs / name).write_bytes(b"\n".join(known.words))
        assert {word for _, word in holding(place.ours, known.words)} == known.words
        plan = forgotten(parts, of(known.session))
        assert holding(place.ours, known.words) == []
        assert {task.id for task in parts.store.find(Task)} & known.tasks == set()
        assert plan.counts["sessions"] == 1
        assert parts.store.get(Unfinished, "forgetting") is None
    assert holding(place.ours, known.words) == []


def written(prompt: str, *, like: Task, made_of: str = "") -> Task:
    """A task as an import stores it, read by the person."""
    return replace(
        like, prompt=prompt, session=f"{IMPORTED}:{len(prompt)}", source=IMPORTED, made_of=made_of, turn=0
    )


def marked(parts: Parts, task: Task, act: TaskAct, reason: str = "") -> TaskMark:
    return TaskMark(task=task.id, act=act, actor="sam", reason=reason, at=parts.clock.now())


def test_a_task_that_was_made_of_a_sessions_task_goes_with_it(place: Place) -> None:
    """One that was exported, edited and imported goes, counted, with its marks and what agents answered to
    it; what is written of one's own stays, but a word on it that quotes what is gone."""
    with cycle_in(place) as (parts, _):
        known = about(parts, Split.HOLDOUT)
        task = next(task for task in parts.store.find(Task) if task.id in known.tasks)
        made = written(f"{task.prompt} And Xanadu", like=task, made_of=known.session.id)
        own = written("Paint the shed", like=task)
        call = ToolCall(call_id="c", name="Bash", command=f"cat {made.prompt}")
        job = replace(parts.store.find(Finished)[0], key=digest_of("xanadu"), task=made.id)
        job = replace(job, outcome=replace(job.outcome, trajectory=(call,)))
        said = [
            marked(parts, made, TaskAct.REVIEW),
            marked(parts, made, TaskAct.PROTECT, "Xanadu matters"),
            marked(parts, own, TaskAct.REVIEW),
            marked(parts, own, TaskAct.PROTECT, f"unlike {task.prompt}"),
            marked(parts, own, TaskAct.RELEASE),
        ]
        parts.store.commit(made, own, job, *said)
        planned = parts.forgetting().planned(of(known.session))
        assert planned.counts["tasks"] == len(known.tasks) + 1
        forgotten(parts, of(known.session))
        assert parts.store.get(Task, made.id) is None
        assert parts.store.get(Task, own.id) == own
        left = [mark for mark in parts.store.find(TaskMark) if mark.task in {made.id, own.id}]
        assert left == [said[2], replace(said[3], reason=GONE), said[4]]
        assert holding(place.ours, known.words | {b"Xanadu"}) == []


def test_a_page_that_lists_the_task_goes(place: Place) -> None:
    """Also of a task that concerns no correction: pages of reports have the requests that were tried."""
    with cycle_in(place) as (parts, _):
        (report,) = parts.store.find(CycleReport)
        tried = {trial.task for trial in parts.store.find(Trial)}
        heard = {name for correction in parts.store.find(Correction) for name in correction.sessions}
        task = next(t for t in parts.store.find(Task) if t.id in tried and t.session not in heard)
        page = place.ours / "reports" / f"{report.cycle}.html"
        page.write_text(task.prompt, encoding="utf-8")
        forgotten(parts, Chosen(sessions=frozenset({task.session})))
        assert holding(place.ours, frozenset({task.prompt.encode()})) == []
        assert not page.exists()
        assert parts.store.find(CycleReport) == (report,)


def test_retention_takes_what_was_made_of_an_old_session_and_not_what_one_wrote(place: Place) -> None:
    """A task that a person wrote has no age; one that was edited from an old session's is as old as that."""
    with cycle_in(place) as (parts, _):
        sessions = {one.id: one for one in parts.store.find(Session)}
        task = min(parts.store.find(Task), key=lambda one: str(sessions[one.session].ended_at))
        made = written("Ask Kublai Khan", like=task, made_of=task.session)
        own = written("Paint the shed", like=task)
        parts.store.commit(made, own)
        end = sessions[task.session].ended_at
        assert end is not None
        with parts.store.hold("cycle"):
            parts.forgetting().agree(1)
            parts.forgetting().forget_due(Ignoring(oldest=end + timedelta(seconds=1), days=1))
        assert parts.store.get(Task, made.id) is None
        assert parts.store.get(Task, own.id) == own


def test_what_the_promise_of_the_gate_rests_on_stays(place: Place) -> None:
    """Ledger, draws and pairs are what they were; the exam goes on without the task that is gone."""
    with cycle_in(place) as (parts, _):
        kinds: tuple[type[Record], ...] = (AlphaEntry, Draw, Pair)
        before = [tuple(parts.store.find(kind)) for kind in kinds]
        assert all(before)
        (old,) = parts.store.find(HoldoutVersion)
        known = about(parts, Split.HOLDOUT)
        draw = parts.store.take("draws")
        forgotten(parts, of(known.session))
        assert [tuple(parts.store.find(kind)) for kind in kinds] == before
        (version,) = parts.store.find(HoldoutVersion)
        assert version.id == old.id
        assert set(version.tasks) == set(old.tasks) - known.tasks
        assert parts.store.take("draws") == draw + 1
        jobs = parts.store.find(Finished)
        assert {booked.key for booked in parts.store.find(Reservation)} == {job.key for job in jobs}
        assert {trial.job for trial in parts.store.find(Trial)} <= {job.key for job in jobs}


def test_the_next_cycle_goes_on_without_it(place: Place) -> None:
    """A cycle after a forgetting reads it no more, keeps the sides of all others and breaks on nothing."""
    with cycle_in(place) as (parts, _):
        known = about(parts, Split.HOLDOUT)
        sides = {name: one.split for one in parts.store.find(Assignment) for name in one.sessions}
        forgotten(parts, of(known.session))
    report = run_cycle(place, runner=QuickRunner())
    assert ("forgotten", 1) in report.left_out
    assert report.failed is None
    with cycle_in(place) as (parts, _):
        assert parts.store.get(Session, known.session.id) is None
        after = {name: one.split for one in parts.store.find(Assignment) for name in one.sessions}
        assert {name: after.get(name) for name in sides if name != known.session.id} == {
            name: side for name, side in sides.items() if name != known.session.id
        }
    assert holding(place.ours, known.words) == []


def test_what_jobs_cost_is_counted_however_often_the_same_is_forgotten(place: Place) -> None:
    """The same work, read again, practised again and forgotten again, is not put in the place of the first:
    what was used stays the sum of the reports."""
    with cycle_in(place) as (parts, _):
        known = about(parts, Split.TRAIN)
        before, tasks = parts.store.find(Finished), parts.store.find(Task)
        forgotten(parts, of(known.session), for_good=False)
        left = {job.key for job in parts.store.find(Finished)}
        anew = [replace(job, cycle="n-0009") for job in before if job.key not in left]
        parts.store.commit(known.session, *anew)
        again = len(parts.store.find(Finished))
        assert again > len(before)
        parts.store.commit(*(task for task in tasks if task.id in known.tasks))
        forgotten(parts, of(known.session), for_good=False)
        assert {job.key for job in anew} - {job.key for job in parts.store.find(Finished)}
        assert len(parts.store.find(Finished)) == again


def test_it_is_read_again_only_when_the_person_says_so(place: Place) -> None:
    """What was forgotten may come back by a word of the person, and then on the side that it had."""
    with cycle_in(place) as (parts, _):
        known = about(parts, Split.HOLDOUT)
        forgotten(parts, of(known.session))
        assert not parts.forgetting().allow(parts.store.find(Forgotten)[0].thing, "claude-code:other")
        assert parts.forgetting().allow(parts.store.find(Forgotten)[0].thing, known.session.id)
        assert not parts.store.find(Forgotten)
    run_cycle(place, runner=QuickRunner())
    with cycle_in(place) as (parts, _):
        assert parts.store.get(Session, known.session.id) is not None
        tasks = [task for task in parts.store.find(Task) if task.session == known.session.id]
        assert {task.split for task in tasks} <= {Split.HOLDOUT}


def test_an_adopted_rule_stays_and_goes_after_its_undo(place: Place) -> None:
    """A rule in a live file outlives what it came from, without its evidence, and can be undone; then the
    next cycle forgets its text too."""
    with cycle_in(place) as (parts, _):
        case = next(c for c in releases.drafts(parts.store) if c.status is Status.IN_REVIEW)
        memory = parts.place(case.draft.target)
        untouched = memory.read_bytes()
        publish.adopt(
            case.draft.id,
            store=parts.store,
            live=parts.live,
            place=parts.place,
            clock=parts.clock,
            actor="sam",
            vet=parts.vet(),
        )
        live = memory.read_bytes()
        source = case.draft.edits[0].moment
        plan = forgotten(parts, Chosen(sessions=frozenset({source.session})))
        assert [draft.id for draft in plan.standing] == [case.draft.id]
        assert memory.read_bytes() == live
        (kept,) = [draft for draft in parts.store.find(Draft) if draft.id == case.draft.id]
        assert kept.digest == case.draft.digest
        assert kept.edits[0].moment.session.startswith(STAND_IN)
        assert kept.edits[0].moment.quote == ""
        assert parts.forget_due() == ()
        undo(case.draft.id, store=parts.store, live=parts.live, clock=parts.clock, actor="sam")
        assert memory.read_bytes() == untouched
        parts.forget_due()
        assert parts.store.get(Draft, case.draft.id) is None
        assert [release for release in parts.store.find(Release) if release.draft == kept.digest] == []
        assert kept.after not in {path.parent.name + path.name for path in place.ours.glob("blobs/*/*")}


def test_of_a_project_nothing_is_left(place: Place) -> None:
    """All of a project goes: its name too, its mirror, its reports; nothing of it is read again."""
    root = str(place.project)
    with cycle_in(place) as (parts, _):
        workspace = next(t.workspace for t in parts.store.find(Task) if isinstance(t.workspace, GitSource))
        with Workspaces(place.ours / "work").open(SandboxPlan(workspace=workspace)):
            pass
        assert list(place.ours.glob("work/mirrors/*/HEAD"))
        plan = forgotten(parts, parts.forgetting().of_project(root))
        assert plan.counts["sessions"] == 15
        assert holding(place.ours, frozenset({root.encode(), b"os.path"})) == []
        assert not list((place.ours / "reports").iterdir())
        assert not list((place.ours / "work/mirrors").iterdir())
        kinds: tuple[type[Record], ...] = (Session, Offset, Task, Candidate, Correction, Draft, CycleReport)
        assert not [record for kind in kinds for record in parts.store.find(kind)]
        assert parts.store.find(AlphaEntry)
    assert run_cycle(place, runner=QuickRunner()).sessions_known == 0
    assert holding(place.ours, frozenset({b"os.path"})) == []


def test_of_a_project_that_was_practised_with_others_nothing_is_left(place: Place) -> None:
    """A report, an exam and a proposal's place over several projects lose the one that is forgotten, its path
    among them, and stay those of the others."""
    root, other = str(place.project), str(place.person / "shop")
    pool = pool_of([root, other])
    with cycle_in(place) as (parts, _):
        (report,) = parts.store.find(CycleReport)
        (version,) = parts.store.find(HoldoutVersion)
        theirs = replace(report.learned[0], candidate="k-of-the-shop", target=None, edits=(), refused=())
        elsewhere = replace(report.learned[0], candidate="k-of-both", edits=(), refused=())
        both = replace(report, cycle="n-9000", project=pool, learned=(*report.learned, theirs, elsewhere))
        every = replace(both, cycle="n-9001", project="")
        parts.store.commit(both, every, replace(version, pool=pool), replace(version, pool=other))
        forgotten(parts, parts.forgetting().of_project(root))
        assert holding(place.ours, frozenset({root.encode()})) == []
        kept = {report.cycle: report.project for report in parts.store.find(CycleReport)}
        assert kept == {"n-9000": other, "n-9001": ""}
        assert [version.pool for version in parts.store.find(HoldoutVersion)] == [other]


def test_a_pin_of_a_forgotten_project_holds_and_loses_its_past(place: Place) -> None:
    """A pin is a setting of the person's and stays, told; one that they took back goes without a trace, and
    pins of other folders are not looked at."""
    files = [place.project / "CLAUDE.md", place.project / "AGENTS.md", place.person / "ledger2" / "CLAUDE.md"]
    with cycle_in(place) as (parts, _):
        at = parts.clock.now()
        said = [
            Pin(number=f"p-{n}", path=str(files[file]), holds=holds, actor="sam", reason="why", at=at)
            for n, (file, holds) in enumerate(
                [(0, True), (0, False), (1, True), (1, False), (1, True), (2, True)]
            )
        ]
        parts.store.commit(*said)
        plan = forgotten(parts, parts.forgetting().of_project(str(place.project)))
        assert plan.pins == (said[4],)
        assert parts.store.find(Pin) == (said[4], said[5])
        assert pinned(parts.store, files[1]) == said[4]
        assert holding(place.ours, frozenset({str(files[0]).encode()})) == []


IN_THE_TRANSACTION = [("DELETE FROM sessions", 1), ("UPDATE corrections", 1), ("INSERT INTO unfinished", 1)]
BEHIND_IT = [("SELECT tasks", 2), ("VACUUM", 1), ("PRAGMA wal_checkpoint", 1), ("DELETE FROM unfinished", 1)]


@pytest.mark.parametrize(("statement", "time"), IN_THE_TRANSACTION)
def test_a_kill_before_the_end_of_the_transaction_forgets_nothing(
    place: Place, statement: str, time: int
) -> None:
    """Killed while records are removed, all of them are still there, and the next try forgets them."""
    with cycle_in(place) as (parts, _):
        known = about(parts, Split.HOLDOUT)
        before = list(everything(parts))
    killed_forgetting(place, known.session.id, statement, time)
    with cycle_in(place) as (parts, _):
        assert list(everything(parts)) == before
        forgotten(parts, of(known.session))
        assert holding(place.ours, known.words) == []


@pytest.mark.parametrize(("statement", "time"), BEHIND_IT)
def test_a_kill_behind_the_transaction_is_told_and_gone_on_with(
    place: Place, statement: str, time: int
) -> None:
    """Killed while the disk is cleared, every record is forgotten already; that traces may be left is known
    and told, and the next harvest or run clears them away."""
    with cycle_in(place) as (parts, _):
        known = about(parts, Split.HOLDOUT)
    killed_forgetting(place, known.session.id, statement, time)
    with cycle_in(place) as (parts, _):
        assert parts.store.get(Session, known.session.id) is None
        assert parts.store.get(Unfinished, "forgetting") is not None
        assert parts.forget_due() == ("a forgetting that was broken off was brought to its end",)
        assert parts.store.get(Unfinished, "forgetting") is None
        assert holding(place.ours, known.words) == []


def test_what_is_older_than_it_is_kept_goes_by_itself(place: Place) -> None:
    """Retention forgets at the beginning of a cycle, once the person agreed to what it would take the first
    time, says so in its report, and reads nothing of it anew."""
    with cycle_in(place) as (parts, cycle):
        ends = sorted(s.ended_at for s in parts.store.find(Session) if s.ended_at is not None)
        limit = (parts.clock.now() - ends[4]).days
        cycle.door.runner = QuickRunner()
        parts.settings = replace(parts.settings, retention_days=limit)
        oldest = parts.clock.now() - timedelta(days=limit)
        old = sum(end < oldest for end in ends)
        assert 0 < old < len(ends)
        (asks,) = parts.forget_due()
        assert f"would forget {old} sessions" in asks
        assert "nightschool forget --old" in asks
        assert len(parts.store.find(Session)) == len(ends)
        parts.forgetting().agree(limit)
        with cycle.held():
            report = cycle.practise(cycle.prepare(parts.harvest_request(everything=True)))
        assert f"forgotten: {old} sessions older than {limit} days" in report.notes
        assert ("too-old", old) in report.left_out
        assert len(parts.store.find(Session)) == len(ends) - old
        assert not parts.store.find(Forgotten)
        assert parts.forget_due() == ()
