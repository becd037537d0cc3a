"""What every `TranscriptSource` keeps: each row counts once, a bad one costs itself, nothing raises."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

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


def check_source(make_source: MakeSource, rows_for: RowsFor, folder: Path) -> None:
    """Raises `AssertionError` where the source breaks its contract. `folder` is empty and ours."""
    source = make_source(lambda text: text.replace(SECRET, STAND_IN))
    rows = rows_for(PROMPTS)
    whole = _written(folder / "whole.jsonl", rows)
    _finds(source, folder, whole)
    session = _reads(source, whole)
    _bad_rows(source, folder, rows, session)
    _parts(source, folder, rows, session)
    _tells(source, folder, rows)
    _replaced(source, folder, rows)
    _no_files(source, folder)
    _odd_files_are_found(source, folder)
    _only_reads(source, folder)


def _written(path: Path, rows: Sequence[bytes]) -> Path:
    path.write_bytes(b"".join(row + b"\n" for row in rows))
    return path


def _ref(source: TranscriptSource, path: Path) -> TranscriptRef:
    return TranscriptRef(source=source.name, path=str(path), size=0, mtime=datetime.fromtimestamp(0, UTC))


def _read(source: TranscriptSource, path: Path, since: Offset | None = None) -> ReadResult:
    return source.read(_ref(source, path), since)


def _session(result: ReadResult) -> Session:
    assert result.session is not None, "no session was read"
    return result.session


def _prompts(session: Session) -> list[str]:
    return [turn.text for turn in session.human_turns]


def _finds(source: TranscriptSource, folder: Path, whole: Path) -> None:
    other = folder / "notes without an ending"
    other.write_text('{"some": "rows"}\n{"of": "another"}\n')
    (folder / "below").mkdir()
    deep = folder / "below" / "x.jsonl"
    deep.write_bytes(whole.read_bytes())
    found = list(source.discover(Roots(home=str(folder / "nowhere"), explicit=(str(folder),))))
    assert [ref.path for ref in found] == sorted(str(path) for path in (other, whole, deep)), "files"
    assert all(ref.source == source.name for ref in found), "a ref names its source"
    known = {ref.path: ref for ref in found}[str(whole)]
    assert known.size == whole.stat().st_size, "a cheap look gives the size"
    assert abs(known.mtime.timestamp() - whole.stat().st_mtime) < 1, "a cheap look gives the time"
    assert known.mtime.utcoffset() == timedelta(0), "which is aware, in UTC"
    assert list(source.discover(Roots(home=str(folder / "nowhere")))) == [], "no home, no files"
    assert source.recognises(_ref(source, whole)), "its own rows are not recognised"
    assert not source.recognises(_ref(source, other)), "rows of nobody are recognised"
    assert [out.reason for out in _read(source, other).left_out] == ["not-a-transcript"]


def _reads(source: TranscriptSource, whole: Path) -> Session:
    result = _read(source, whole)
    session = _session(result)
    assert _prompts(session) == [prompt.replace(SECRET, STAND_IN) for prompt in PROMPTS], "prompts"
    assert SECRET not in repr(result), "a secret came through"
    assert session.source == source.name
    assert session.session_id
    assert session.path == str(whole)
    assert result.left_out == ()
    assert result.offset is not None
    assert result.offset.position == whole.stat().st_size, "all was read"
    assert result.offset.session == session.session_id
    content = whole.read_bytes()
    times = [turn.at for turn in session.turns] + [session.started_at, session.ended_at]
    assert all(at is None or at.utcoffset() == timedelta(0) for at in times), "times are aware, in UTC"
    for turn in session.turns:
        assert turn.offset == 0 or content[turn.offset - 1 : turn.offset] == b"\n", "an offset in a row"
    assert len({turn.row for turn in session.turns}) == len(session.turns), "rows share an id"
    assert _read(source, whole) == result, "reading twice gives another result"
    return session


def _bad_rows(source: TranscriptSource, folder: Path, rows: Sequence[bytes], clean: Session) -> None:
    spoiled: list[bytes] = []
    places: list[int] = []
    for index, row in enumerate(rows):
        places.append(sum(len(line) + 1 for line in spoiled))
        spoiled += [BAD[index % len(BAD)], row, b""]
    result = _read(source, _written(folder / "spoiled.jsonl", spoiled))
    session = _session(result)
    assert _prompts(session) == _prompts(clean), "a bad row cost more than itself"
    assert [(out.reason, out.offset) for out in result.left_out] == [("bad-record", at) for at in places]
    assert len(session.warnings) == len(places), "the session does not tell of its bad rows"
    joined = _read(source, _written(folder / "joined.jsonl", [b"".join(rows)]))
    assert _prompts(_session(joined)) == _prompts(clean), "rows run together on one line were lost"
    assert joined.left_out == ()


def _parts(source: TranscriptSource, folder: Path, rows: Sequence[bytes], clean: Session) -> None:
    """A file that grows, also in the middle of a row, gives what it gives when read at once."""
    path = folder / "growing.jsonl"
    whole = b"".join(row + b"\n" for row in rows)
    ends = [sum(len(row) + 1 for row in rows[: index + 1]) for index in range(len(rows))]
    for cut in sorted({*ends, *(end - 7 for end in ends), ends[0] + 1}):
        path.write_bytes(whole[:cut])
        first = _read(source, path)
        assert first.offset is not None
        full = max((end for end in ends if end <= cut), default=0)
        assert first.offset.position == full, "the cursor stands in a row that is still being written"
        path.write_bytes(whole)
        behind = _read(source, path, first.offset)
        assert not behind.restarted, "a file that grew was taken for another"
        joined = _session(behind) if first.session is None else first.session.extended(_session(behind))
        assert joined.turns == _session(_read(source, path)).turns, f"cut at {cut}: the halves differ"
        assert _prompts(joined) == _prompts(clean)
        assert joined.extended(_session(behind)).turns == joined.turns, "reading twice doubled something"


def _tells(source: TranscriptSource, folder: Path, rows: Sequence[bytes]) -> None:
    """Who asks is told of each row, and reads the same."""
    path = _written(folder / "told.jsonl", (rows[0], BAD[0], *rows[1:]))
    told: list[RowFate] = []
    result = source.read(_ref(source, path), None, told=told.append)
    assert result == _read(source, path), "to tell of rows changes what is read"
    lines = path.read_bytes().splitlines(keepends=True)
    offsets = [sum(map(len, lines[:number])) for number in range(len(lines))]
    bad = {out.offset for out in result.left_out if out.offset is not None}
    assert sorted({fate.offset for fate in told} | bad) == offsets, "a row was not told of"
    assert [fate.offset for fate in told] == sorted(fate.offset for fate in told), "told out of order"
    session = _session(result)
    people = [index for index, turn in enumerate(session.turns) if turn.speaker is Speaker.HUMAN]
    assert [f.turn for f in told if f.became is Became.HUMAN] == people, "a person's turn is told once"
    assert all(f.why for f in told if f.became in {Became.COPY, Became.LEFT_OUT}), "no reason was told"
    assert SECRET not in repr(told), "a secret was told"


def _replaced(source: TranscriptSource, folder: Path, rows: Sequence[bytes]) -> None:
    path = _written(folder / "replaced.jsonl", rows)
    since = _read(source, path).offset
    path.write_bytes(b"\n" + path.read_bytes() + b"\n")
    again = _read(source, path, since)
    assert again.restarted, "a file with another head was read from the middle"
    assert len(_session(again).human_turns) == len(PROMPTS)
    _written(path, rows[:1])
    assert _read(source, path, since).restarted, "a file that shrank was read from the middle"


def _no_files(source: TranscriptSource, folder: Path) -> None:
    odd = folder / "odd"
    odd.mkdir()
    (odd / "dangling.jsonl").symlink_to(odd / "gone")
    (odd / "empty.jsonl").touch()
    os.mkfifo(odd / "pipe.jsonl")
    reasons = {
        odd / "dangling.jsonl": "dangling-link",
        odd / "empty.jsonl": "empty",
        odd / "pipe.jsonl": "unreadable",
        odd / "vanished.jsonl": "vanished",
        odd: "unreadable",
    }
    for path, reason in reasons.items():
        result = _read(source, path)
        assert result.session is None, path
        assert [out.reason for out in result.left_out] == [reason], path
        assert not source.recognises(_ref(source, path)), path


def _odd_files_are_found(source: TranscriptSource, folder: Path) -> None:
    """What cannot be read is given too, so that reading can name it; what is missing only if asked for."""
    odd = folder / "odd"
    names = ("dangling.jsonl", "empty.jsonl", "pipe.jsonl")
    below = list(source.discover(Roots(home=str(folder), explicit=(str(odd),))))
    assert [ref.path for ref in below] == [str(odd / name) for name in names], "odd files were passed over"
    gone = (str(odd / "vanished.jsonl"),)
    asked = list(source.discover(Roots(home=str(folder), explicit=gone)))
    assert [ref.path for ref in asked] == list(gone), "a missing file that was asked for is not given"


def _only_reads(source: TranscriptSource, folder: Path) -> None:
    before = {path: path.lstat().st_mtime_ns for path in folder.rglob("*")}
    for ref in source.discover(Roots(home=str(folder), explicit=(str(folder),))):
        source.recognises(ref)
        source.read(ref, None)
    assert {path: path.lstat().st_mtime_ns for path in folder.rglob("*")} == before, "reading wrote something"
