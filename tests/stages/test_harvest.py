"""Harvest: each session once and whole, nothing lost, a cursor never ahead of what was stored."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from nightschool.adapters.claude_code.transcripts import ClaudeCodeTranscripts
from nightschool.adapters.codex.transcripts import CodexTranscripts
from nightschool.core.errors import Busy, NotFound, UserError
from nightschool.core.jobs import MARKER
from nightschool.core.ports import TellRow, TranscriptSource, Unchanged
from nightschool.core.sessions import Offset, ReadResult, Roots, Session, TranscriptRef, Window
from nightschool.core.values import Record
from nightschool.stages import harvest as stage
from nightschool.stages.harvest import LOCK, HarvestReport, HarvestRequest, harvest
from nightschool.testing.clock import FakeClock
from nightschool.testing.memory_store import MemoryStore
from transcripts import CLAUDE_ID, claude, codex_item, codex_meta, write_rows

NOW = datetime(2026, 3, 30, 12, tzinfo=UTC)
SOURCES: dict[str, TranscriptSource] = {
    "claude-code": ClaudeCodeTranscripts(redact=str),
    "codex": CodexTranscripts(redact=str),
}


class Home:
    """A home folder with transcripts, the store, and a clock that stands still."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = MemoryStore()
        self.clock = FakeClock(NOW, timedelta(0))

    def claude(self, name: str, *rows: dict[str, Any] | bytes, days: float = 0) -> Path:
        path = self.folder / ".claude/projects/-p" / f"{name}.jsonl"
        return self._aged(write_rows(path, rows or (claude("user", 1, f"prompt of {name}"),)), days)

    def codex(self, name: str, *rows: dict[str, Any] | bytes, days: float = 0) -> Path:
        return self._aged(write_rows(self.folder / ".codex/sessions/2026" / name, rows), days)

    @staticmethod
    def _aged(path: Path, days: float) -> Path:
        then = (NOW - timedelta(days=days)).timestamp()
        os.utime(path, (then, then))
        return path

    def harvest(self, *explicit: Path, enough: Any = None, **asked: Any) -> HarvestReport:
        roots = Roots(home=str(self.folder), explicit=tuple(str(path) for path in explicit))
        request = HarvestRequest(roots=roots, **asked)
        more = {} if enough is None else {"enough": enough}
        return harvest(request, sources=SOURCES, store=self.store, clock=self.clock, **more)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def names(report: HarvestReport) -> list[str]:
    return sorted(session.session_id for session in report.sessions)


def words(session: Session) -> list[str]:
    return [turn.text for turn in session.human_turns]


def test_both_agents_are_read_and_stored(home: Home) -> None:
    """Sessions of all sources are stored with the cursors of their files; a second harvest reads nothing."""
    home.claude("a")
    home.codex("rollout-b.jsonl", codex_meta(id="b"), codex_item(1, "hello"))
    report = home.harvest()
    assert names(report) == [CLAUDE_ID, "b"]
    assert {session.id for session in home.store.find(Session)} == {f"claude-code:{CLAUDE_ID}", "codex:b"}
    assert len(home.store.find(Offset)) == 2
    again = home.harvest()
    assert (again.sessions, again.files, again.unchanged, again.postponed) == ((), 0, 2, 0)


def test_a_session_that_grew_is_whole(home: Home) -> None:
    """Only the new rows are read, and the session that is stored and reported has the old ones too."""
    rows = [claude("user", 1, "first"), claude("assistant", 2, "Done."), claude("user", 3, "second")]
    home.claude("a", *rows[:2])
    home.harvest()
    home.claude("a", *rows)
    (session,) = home.harvest().sessions
    assert words(session) == ["first", "second"]
    assert home.store.get(Session, session.id) == session
    home.claude("a", *rows[2:])
    (session,) = home.harvest().sessions
    assert words(session) == ["second"], "a file that was replaced is another history"


def test_machines_are_left_out_and_counted(home: Home) -> None:
    """B03: one session of a person among nine headless runs and fourteen files of sub-agents, all alike."""
    home.claude("me", claude("user", 1, "fix the tests", sessionId="me"))
    for number in range(9):
        home.claude(
            f"run{number}", claude("user", 1, "fix the tests", sessionId=f"r{number}", entrypoint="sdk-cli")
        )
    for number in range(14):
        home.claude(f"agent-{number}", claude("user", 1, "fix the tests", isSidechain=True))
    home.codex("x.jsonl", codex_meta(id="x", source="exec"), codex_item(1, f"[{MARKER} ab]\nfix the tests"))
    report = home.harvest()
    assert sum(len(session.human_turns) for session in report.sessions) == 1
    assert sum(session.headless for session in report.sessions) == 9
    assert dict(report.counts) == {"sub-agent": 14, "own-replay": 1}
    assert len(home.store.find(Session)) == 10
    assert home.harvest().files == 0


def test_bad_files_and_rows_are_named(home: Home) -> None:
    """A bad row is named with file and offset, a dangling link with its path; all else is read."""
    path = home.claude("a", claude("user", 1, "first"), b"[1,2]", b"\xff", claude("user", 2, "second"))
    (path.parent / "gone.jsonl").symlink_to("nowhere")
    report = home.harvest(everything=True)
    (session,) = report.sessions
    assert words(session) == ["first", "second"]
    assert dict(report.counts) == {"bad-record": 2, "dangling-link": 1}
    assert {out.path for out in report.left_out} == {str(path), str(path.parent / "gone.jsonl")}
    assert len(session.warnings) == 2


def many(home: Home, *days: float) -> None:
    for number, day in enumerate(days):
        home.claude(
            f"s{number}", claude("user", 1, "hi", sessionId=f"s{number}", uuid=f"u{number}"), days=day
        )


def test_a_named_file_without_a_session_says_why_each_time(home: Home, tmp_path: Path) -> None:
    """Who names a file that gives no session is told the reason and the whole figures, however often it
    was read before and whatever was added to it since."""
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    rows = [claude("assistant", 1, [call], isSidechain=True)]
    agent = write_rows(tmp_path / "agent-1.jsonl", rows)
    other = write_rows(tmp_path / "notes.txt", [b"no transcript"])
    for _ in range(2):
        report = home.harvest(agent, other)
        assert report.sessions == ()
        assert dict(report.counts) == {"sub-agent": 1, "not-a-transcript": 1}
        (left,) = (out for out in report.left_out if out.reason == "sub-agent")
        assert (left.human_turns, left.tool_calls, left.tool_errors, left.refusals) == (0, 1, 0, 0)
    write_rows(agent, [*rows, claude("assistant", 2, [{**call, "id": "t2"}], isSidechain=True)])
    (left,) = home.harvest(agent).left_out
    assert left.tool_calls == 2


def test_the_look_back_widens_until_there_is_enough(home: Home) -> None:
    """72 hours, doubled until the caller has enough in all that is known; what lies before is counted."""
    many(home, 1, 2, 5, 10, 20, 60, 200)

    def known(count: int) -> Any:
        return lambda sessions: len(sessions) >= count

    assert (names(home.harvest(enough=known(2), dry_run=True)), home.store.find(Window)) == (["s0", "s1"], ())
    report = home.harvest(enough=known(4))
    assert (names(report), report.postponed) == (["s0", "s1", "s2", "s3"], 3)
    assert report.looked_back_to == NOW - timedelta(days=12)
    many(home, 1, 2, 5, 10, 20, 60, 200)
    home.claude("late", claude("user", 1, "hi", sessionId="late"), days=11)
    again = home.harvest(enough=known(5))
    assert (names(again), again.postponed) == (["late"], 3)
    assert names(home.harvest(everything=True)) == ["s4", "s5", "s6"]


def test_a_look_that_found_too_little_is_not_the_last_word(home: Home) -> None:
    """A first harvest of a short time, or with a caller who wants nothing, does not keep a later one from
    widening; once there is enough nothing older is read."""
    many(home, 1, 20, 40, 200)
    assert names(home.harvest(since=NOW - timedelta(days=2))) == ["s0"]
    report = home.harvest(enough=lambda sessions: len(sessions) >= 2)
    assert (names(report), report.postponed) == (["s1"], 2)
    assert names(home.harvest(enough=lambda sessions: len(sessions) >= 2)) == []
    assert names(home.harvest(enough=lambda _: False)) == ["s2"]


def test_the_look_back_has_a_limit(home: Home) -> None:
    """Where there is never enough it ends at the limit, and what is older is counted."""
    many(home, 1, 80, 89, 91)
    report = home.harvest(enough=lambda _: False)
    assert (names(report), report.postponed) == (["s0", "s1", "s2"], 1)


def test_a_cap_postpones_and_loses_nothing(home: Home) -> None:
    """Newest first; what is behind the cap is counted and read by the next runs, one by one."""
    many(home, 0.1, 0.2, 0.3, 0.4, 0.5)
    seen: list[str] = []
    for left in (3, 1, 0):
        report = home.harvest(max_sessions=2)
        seen += names(report)
        assert report.postponed == left
        home.clock.advance(timedelta(days=30))
    assert sorted(seen) == ["s0", "s1", "s2", "s3", "s4"]


def test_since_takes_what_changed_since(home: Home) -> None:
    """With a time only files that changed since are read, whatever zone it is told in."""
    many(home, 1, 3)
    assert names(home.harvest(since=NOW - timedelta(days=2))) == ["s0"]


def test_a_dry_run_writes_nothing(home: Home) -> None:
    """No session, no cursor, no window, no lock."""
    many(home, 1)
    with home.store.hold(LOCK):
        assert names(home.harvest(dry_run=True)) == ["s0"]
    assert [home.store.find(kind) for kind in (Session, Offset, Window)] == [(), (), ()]


def test_two_harvests_at_once(home: Home) -> None:
    """The second one is told so and writes nothing."""
    many(home, 1)
    with home.store.hold(LOCK), pytest.raises(Busy):
        home.harvest()
    assert home.store.find(Offset) == ()


class BrokenStore(MemoryStore):
    """Cannot store sessions."""

    def commit(self, *records: Record) -> None:
        if any(isinstance(record, Session) for record in records):
            raise OSError("the disk is full")
        super().commit(*records)


def test_a_cursor_never_moves_past_what_was_not_stored(home: Home) -> None:
    """Where storing fails no cursor moved, and the next harvest reads all of it."""
    many(home, 1)
    whole, home.store = home.store, BrokenStore()
    with pytest.raises(OSError, match="full"):
        home.harvest()
    assert home.store.find(Offset) == ()
    home.store = whole
    assert names(home.harvest()) == ["s0"]


def test_a_copy_in_the_archive_is_the_same_session(home: Home) -> None:
    """One session in two files is one, with all that either holds."""
    rows = [codex_meta(id="b"), codex_item(1, "hello"), codex_item(2, "more")]
    home.codex("rollout-b.jsonl", *rows[:2], days=1)
    home.harvest()
    write_rows(home.folder / ".codex/archived_sessions/rollout-b.jsonl", rows)
    (session,) = home.harvest(everything=True).sessions
    assert words(session) == ["hello", "more"]
    assert len(home.store.find(Session)) == 1


def test_named_files_are_recognised_by_content(home: Home, tmp_path: Path) -> None:
    """Files that a person names are read whatever their names and ages, by the agent that wrote them; what
    is none is named, and so is what is not there."""
    folder = tmp_path / "somewhere"
    write_rows(folder / "one.txt", [claude("user", 1, "hi", sessionId="one")])
    write_rows(folder / "two", [codex_meta(id="two"), codex_item(1, "hello")])
    write_rows(folder / "notes.md", [b"# Notes"])
    report = home.harvest(folder, folder / "missing", max_sessions=None)
    assert {(s.source, s.session_id) for s in report.sessions} == {("claude-code", "one"), ("codex", "two")}
    assert {(Path(out.path).name, out.reason) for out in report.left_out} >= {
        ("notes.md", "not-a-transcript"),
        ("missing", "vanished"),
    }
    again = home.harvest(folder)
    assert names(again) == ["one", "two"], "what was named is shown also where nothing is new"


def test_a_file_that_vanished_is_no_error(home: Home) -> None:
    """Between the look and the read a file may go."""

    class Forgetful:
        name = "codex"
        moved_by: str | None = None
        folders = CodexTranscripts(redact=str).folders
        discover = CodexTranscripts(redact=str).discover
        recognises = CodexTranscripts(redact=str).recognises
        retention = CodexTranscripts(redact=str).retention

        def read(
            self, ref: TranscriptRef, since: Offset | None, *, told: TellRow | None = None
        ) -> ReadResult:
            Path(ref.path).unlink()
            return CodexTranscripts(redact=str).read(ref, since)

    home.codex("x.jsonl", codex_meta())
    request = HarvestRequest(roots=Roots(home=str(home.folder)))
    report = harvest(request, sources={"codex": Forgetful()}, store=home.store, clock=home.clock)
    assert (report.sessions, report.left_out, report.files) == ((), (), 1)


def test_an_unknown_source_is_named(home: Home) -> None:
    """The error lists what there is."""
    with pytest.raises(UserError, match="claude-code, codex"):
        home.harvest(sources=("cursor",))


def test_a_file_that_did_not_change_is_not_even_made_a_value(home: Home) -> None:
    """The source is told which files are as they were, and gives those alone that are not: one that grew, one
    that shrank, one whose head is another. Where a file is named each is given."""
    grew, shrank, same = (f"{number}1111111-1111-4111-8111-111111111111" for number in (1, 2, 3))
    for name in (grew, shrank):
        home.claude(name, claude("user", 1, f"said in {name}"))
    kept = home.claude(same)
    home.harvest()
    given: list[str] = []

    class Watched(ClaudeCodeTranscripts):
        def discover(self, roots: Roots, unchanged: Unchanged | None = None) -> list[TranscriptRef]:
            found = list(super().discover(roots, unchanged))
            given.extend(Path(ref.path).stem for ref in found)
            return found

    watched: dict[str, TranscriptSource] = {"claude-code": Watched(redact=str)}

    def again(*explicit: Path) -> HarvestReport:
        roots = Roots(home=str(home.folder), explicit=tuple(map(str, explicit)))
        return harvest(HarvestRequest(roots=roots), sources=watched, store=home.store, clock=home.clock)

    assert (again().unchanged, given) == (3, [])
    home.claude(grew, claude("user", 1, f"said in {grew}"), claude("user", 2, "and more"))
    home.claude(shrank, claude("user", 1, "less"))
    report = again()
    assert (report.unchanged, report.files, sorted(given)) == (1, 2, [grew, shrank])
    texts = {Path(one.path).stem: [turn.text for turn in one.turns] for one in report.sessions}
    assert texts == {grew: [f"said in {grew}", "and more"], shrank: ["less"]}
    given.clear()
    assert (again(kept).unchanged, given) == (1, [same])


def test_what_is_stored_is_held_no_longer(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once so many bytes were read they are stored, and their sessions are read back when they are asked for,
    in their order; in a dry run they are held."""
    monkeypatch.setattr(stage, "MOST_AT_ONCE", 1)
    held: list[int] = []

    class Watched(MemoryStore):
        def commit(self, *records: Record) -> None:
            held.append(sum(isinstance(record, Session) for record in records))
            super().commit(*records)

    home.store = Watched()
    names = [f"{number}1111111-1111-4111-8111-111111111111" for number in (1, 2, 3)]
    for name in names:
        home.claude(name, claude("user", 1, f"said in {name}"))
    report = home.harvest(dry_run=True)
    assert [one.turns[0].text for one in report.sessions] == [f"said in {name}" for name in names]
    report = home.harvest()
    assert held[:3] == [1, 1, 1]
    assert [one.id for one in report.sessions] == list(report.fresh)
    assert (report.sessions[0], len(report.sessions[1:])) == (next(iter(report.sessions)), 2)
    home.store.remove(Session, report.fresh[0])
    with pytest.raises(NotFound, match="forgotten while it was read"):
        list(report.sessions)


def test_progress_is_told(home: Home) -> None:
    """Each file read is told, with how many there are."""
    many(home, 1, 2)
    told: list[tuple[int, int]] = []
    harvest(
        HarvestRequest(roots=Roots(home=str(home.folder))),
        sources=SOURCES,
        store=home.store,
        clock=home.clock,
        progress=lambda step: told.append((step.done, step.total)),
    )
    assert told == [(1, 2), (2, 2)]
