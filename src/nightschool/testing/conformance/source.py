"""What every `TranscriptSource` keeps: each row counts once, a bad one costs itself, nothing raises.

A `Sample` lays down a session as the agent would: `lines` for an agent that appends lines; one that keeps
documents, a tree of files or a database says itself how, and how some of its records are damaged.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from nightschool.core.jobs import MARKER
from nightschool.core.ports import Redact, TranscriptSource
from nightschool.core.sessions import (
    Became,
    Offset,
    ReadResult,
    Roots,
    RowFate,
    Session,
    Speaker,
    TranscriptRef,
)

MakeSource = Callable[[Redact], TranscriptSource]
RowsFor = Callable[[Sequence[str]], Sequence[bytes]]
"""Rows of a session in which a person sends these prompts and the agent answers each: one line of JSON
a row, without newlines, at least one row a prompt, in order, the same for the same prompts."""

PROMPTS = ("add a test", "the key is hunter2hunter2, use it", "h\u00fcbsch \U0001f600", "commit")
SECRET = "hunter2hunter2"  # noqa: S105 - planted
STAND_IN = "[secret]"
BAD = (b"[1,2]", b"42", b'{"type":', b"\xff\xfe{}", b'"text"')
NEVER = datetime.fromtimestamp(0, UTC)
NO_SESSION = (b"", b"{}", b"[]", b"\xff", b"{" * 3000, b"some text\n", b"SQLite format 3\0" + b"x" * 5000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """How a session of one agent is laid down."""

    place: str
    """Below a home, the file that its agent would keep it in, by default."""
    write: Callable[[Path, Sequence[str]], None]
    """Lays down a session in that file (and around it) in which a person sends these prompts and the agent
    answers each. It may be there with fewer of them."""
    spoil: Callable[[Path], Sequence[tuple[Path, int | None]]]
    """Damages records that hold no prompt: gives for each the file that names it, and the offset if any."""
    rows: RowsFor | None = None
    """Of an agent that appends lines."""


def lines(place: str, rows_for: RowsFor) -> Sample:
    """Of an agent that appends lines to a file."""

    def write(path: Path, prompts: Sequence[str]) -> None:
        _written(path, rows_for(prompts))

    def spoil(path: Path) -> Sequence[tuple[Path, int | None]]:
        spoiled: list[bytes] = []
        places: list[tuple[Path, int | None]] = []
        for index, row in enumerate(path.read_bytes().splitlines()):
            places.append((path, sum(len(line) + 1 for line in spoiled)))
            spoiled += [BAD[index % len(BAD)], row, b""]
        _written(path, spoiled)
        return places

    return Sample(place=place, write=write, spoil=spoil, rows=rows_for)


def check_source(make_source: MakeSource, sample: Sample, folder: Path) -> None:
    """Raises `AssertionError` where the source breaks its contract. `folder` is empty and ours."""
    check = _Check(make_source(lambda text: text.replace(SECRET, STAND_IN)), sample, folder)
    check.finds()
    session = check.reads()
    check.grows(session)
    check.spoiled(session)
    check.tells()
    check.knows_our_own()
    check.names_what_is_none()
    check.no_files()
    if sample.rows is not None:
        lined = _Lines(check.source, sample.rows, folder / "lines")
        lined.folder.mkdir()
        lined.joined(session)
        lined.parts(session)
        lined.tells_of_each_row()
        lined.replaced()
    check.only_reads()


def _written(path: Path, rows: Sequence[bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(row + b"\n" for row in rows))
    return path


def _ref(source: TranscriptSource, path: Path) -> TranscriptRef:
    """The one session in a file that was named."""
    (ref,) = source.discover(Roots(home="/nowhere", explicit=(str(path),)))
    return ref


def _read(source: TranscriptSource, path: Path, since: Offset | None = None) -> ReadResult:
    return source.read(_ref(source, path), since)


def _session(result: ReadResult) -> Session:
    assert result.session is not None, f"no session was read: {result.left_out}"
    return result.session


def _prompts(session: Session) -> list[str]:
    return [turn.text for turn in session.human_turns]


def _together(first: ReadResult, behind: ReadResult) -> Session:
    """What both reads come to: one that was read anew takes the place of what was read before."""
    later = _session(behind)
    return later if first.session is None or behind.restarted else first.session.extended(later)


@dataclass(frozen=True, slots=True)
class _Check:
    """What holds of every source."""

    source: TranscriptSource
    sample: Sample
    folder: Path

    def _laid(self, name: str, prompts: Sequence[str] = PROMPTS) -> Path:
        path = self.folder / name / self.sample.place
        path.parent.mkdir(parents=True)
        self.sample.write(path, prompts)
        return path

    def finds(self) -> None:
        source, path = self.source, self._laid("home")
        (ref,) = source.discover(Roots(home=str(self.folder / "home")))
        assert ref.path == str(path), "its default place"
        assert ref.source == source.name, "a ref names its source"
        assert ref.size > 0, "a cheap look gives the size"
        assert ref.mtime.utcoffset() == timedelta(0), "and the time, which is aware, in UTC"
        assert list(source.discover(Roots(home=str(self.folder / "nowhere")))) == [], "no home, no files"
        assert source.recognises(ref), "its own rows are not recognised"
        assert _ref(source, path).id == ref.id, "a file that is named is the same file"

    def reads(self) -> Session:
        path = self.folder / "home" / self.sample.place
        result = _read(self.source, path)
        session = _session(result)
        assert _prompts(session) == [prompt.replace(SECRET, STAND_IN) for prompt in PROMPTS], "prompts"
        assert SECRET not in repr(result), "a secret came through"
        assert (session.source, session.path) == (self.source.name, str(path))
        assert (result.left_out, session.warnings) == ((), ())
        assert result.offset is not None
        assert result.offset.session == session.session_id != ""
        times = [turn.at for turn in session.turns] + [session.started_at, session.ended_at]
        assert all(at is None or at.utcoffset() == timedelta(0) for at in times), "times are aware, in UTC"
        assert len({turn.row for turn in session.turns}) == len(session.turns), "rows share an id"
        assert _read(self.source, path) == result, "reading twice gives another result"
        return session

    def grows(self, whole: Session) -> None:
        path = self._laid("growing", PROMPTS[:2])
        first = _read(self.source, path)
        assert _prompts(_session(first)) == _prompts(whole)[:2]
        self.sample.write(path, PROMPTS)
        behind = _read(self.source, path, first.offset)
        together = _together(first, behind)
        assert _prompts(together) == _prompts(whole), "a session that grew"
        assert together.extended(_session(behind)).turns == together.turns, "reading twice doubled something"

    def spoiled(self, clean: Session) -> None:
        path = self._laid("spoiled")
        places = self.sample.spoil(path)
        result = _read(self.source, path)
        assert _prompts(_session(result)) == _prompts(clean), "a bad record cost more than itself"
        assert [(out.path, out.offset) for out in result.left_out] == [
            (str(place), offset) for place, offset in places
        ], "bad records are not named"
        assert {out.reason for out in result.left_out} <= {"bad-record", "unreadable"}
        assert all(out.detail for out in result.left_out), "it is not said what is wrong"
        assert len(_session(result).warnings) == len(places), "the session does not tell of its bad records"

    def tells(self) -> None:
        """Who asks is told of each row, in order, and reads the same."""
        path = self.folder / "spoiled" / self.sample.place
        told: list[RowFate] = []
        result = self.source.read(_ref(self.source, path), None, told=told.append)
        assert result == _read(self.source, path), "to tell of rows changes what is read"
        assert [fate.offset for fate in told] == sorted(fate.offset for fate in told), "told out of order"
        people = [i for i, turn in enumerate(_session(result).turns) if turn.speaker is Speaker.HUMAN]
        assert [f.turn for f in told if f.became is Became.HUMAN] == people, "a person's turn is told once"
        assert all(f.why for f in told if f.became in {Became.COPY, Became.LEFT_OUT}), "no reason was told"
        assert SECRET not in repr(told), "a secret was told"

    def knows_our_own(self) -> None:
        own, other = f"[{MARKER} 1] do it", f"do it [{MARKER} 1]"
        assert _session(_read(self.source, self._laid("ours", [own, *PROMPTS]))).ours, "by its first prompt"
        assert not _session(_read(self.source, self._laid("theirs", [other, own]))).ours
        path = self._laid("read on", [own])
        since = _read(self.source, path).offset
        self.sample.write(path, [own, *PROMPTS])
        assert _session(_read(self.source, path, since)).ours, "also when it is read on"

    def names_what_is_none(self) -> None:
        """Whatever a file holds: nothing is raised, nothing is read, and it is said once."""
        place = self.folder / "none" / self.sample.place
        place.parent.mkdir(parents=True)
        for content in (*NO_SESSION, b'{"some": "rows"}\n{"of": "another"}\n'):
            place.write_bytes(content)
            for path in (place, place.with_name("no ending")):
                path.write_bytes(content)
                result = _read(self.source, path)
                assert (result.session, len(result.left_out)) == (None, 1), content[:20]
                assert not self.source.recognises(_ref(self.source, path)), content[:20]

    def no_files(self) -> None:
        """What cannot be read is given too, so that reading can name it; what is missing only if named."""
        odd = self.folder / "odd"
        odd.mkdir()
        end = Path(self.sample.place).name
        dangling, empty, pipe, gone = (odd / f"{name}{end}" for name in ("dangling", "empty", "pipe", "gone"))
        dangling.symlink_to(odd / "nothing")
        empty.touch()
        os.mkfifo(pipe)
        reasons = {dangling: "dangling-link", empty: "empty", pipe: "unreadable", gone: "vanished"}
        for path, reason in {**reasons, odd: "unreadable"}.items():
            ref = TranscriptRef(source=self.source.name, path=str(path), size=0, mtime=NEVER)
            result = self.source.read(ref, None)
            assert (result.session, [out.reason for out in result.left_out]) == (None, [reason]), path
            assert not self.source.recognises(ref), path
        (asked,) = self.source.discover(Roots(home="/nowhere", explicit=(str(gone),)))
        assert asked.path == str(gone), "a missing file that was asked for is not given"

    def only_reads(self) -> None:
        before = {path: path.lstat().st_mtime_ns for path in self.folder.rglob("*")}
        for path in [path for path in before if path.is_file()]:
            for ref in self.source.discover(Roots(home=str(self.folder), explicit=(str(path),))):
                self.source.recognises(ref)
                self.source.read(ref, None)
        assert {path: path.lstat().st_mtime_ns for path in self.folder.rglob("*")} == before, "it wrote"


@dataclass(frozen=True, slots=True)
class _Lines:
    """What holds of a source of lines: it reads on where it stopped, and each line is told of."""

    source: TranscriptSource
    rows_for: RowsFor
    folder: Path

    def joined(self, clean: Session) -> None:
        path = _written(self.folder / "joined.jsonl", [b"".join(self.rows_for(PROMPTS))])
        result = _read(self.source, path)
        assert _prompts(_session(result)) == _prompts(clean), "rows run together on one line were lost"
        assert result.left_out == ()

    def parts(self, clean: Session) -> None:
        """A file that grows, also in the middle of a row, gives what it gives when read at once."""
        path = self.folder / "growing.jsonl"
        rows = self.rows_for(PROMPTS)
        whole = b"".join(row + b"\n" for row in rows)
        ends = [sum(len(row) + 1 for row in rows[: index + 1]) for index in range(len(rows))]
        for cut in sorted({*ends, *(end - 7 for end in ends), ends[0] + 1}):
            path.write_bytes(whole[:cut])
            first = _read(self.source, path)
            assert first.offset is not None
            full = max((end for end in ends if end <= cut), default=0)
            assert first.offset.position == full, "the cursor stands in a row that is still being written"
            path.write_bytes(whole)
            behind = _read(self.source, path, first.offset)
            joined = _together(first, behind)
            assert joined.turns == _session(_read(self.source, path)).turns, (
                f"cut at {cut}: the halves differ"
            )
            assert _prompts(joined) == _prompts(clean)
            assert joined.extended(_session(behind)).turns == joined.turns, "reading twice doubled something"
        for turn in clean.turns:
            assert turn.offset == 0 or whole[turn.offset - 1 : turn.offset] == b"\n", "an offset in a row"

    def tells_of_each_row(self) -> None:
        rows = self.rows_for(PROMPTS)
        path = _written(self.folder / "told.jsonl", (rows[0], BAD[0], *rows[1:]))
        told: list[RowFate] = []
        result = self.source.read(_ref(self.source, path), None, told=told.append)
        lines = path.read_bytes().splitlines(keepends=True)
        offsets = [sum(map(len, lines[:number])) for number in range(len(lines))]
        bad = {out.offset for out in result.left_out if out.offset is not None}
        assert sorted({fate.offset for fate in told} | bad) == offsets, "a row was not told of"

    def replaced(self) -> None:
        rows = self.rows_for(PROMPTS)
        path = _written(self.folder / "replaced.jsonl", rows)
        since = _read(self.source, path).offset
        path.write_bytes(b"\n" + path.read_bytes() + b"\n")
        again = _read(self.source, path, since)
        assert again.restarted, "a file with another head was read from the middle"
        assert len(_session(again).human_turns) == len(PROMPTS)
        _written(path, rows[:1])
        assert _read(self.source, path, since).restarted, "a file that shrank was read from the middle"
