"""What can befall the folder of an agent, for every source that is installed: reading goes on, tells what it
left out, and changes nothing there."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightschool.adapters import snapshot_rows, unpacked
from nightschool.core.ports import TranscriptSource
from nightschool.core.sessions import ReadResult, Roots
from sample_rows import OPENCODE_ROWS
from soak.hostile import ACTS, befall, read_below
from source_samples import SAMPLES, Sample, read_all, sources

SOURCES = sources(str)
each = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: f"{sample.source}-{sample.form}")


def test_every_source_has_a_sample() -> None:
    """A new source is held to all of this from its first day."""
    assert {sample.source for sample in SAMPLES} == set(SOURCES)


@each
def test_a_sample_is_read_whole(sample: Sample, tmp_path: Path) -> None:
    """Else what follows would test nothing."""
    (result,), told = read_all(SOURCES[sample.source], sample.lay(tmp_path, sample.rows))
    assert result.session is not None
    assert result.left_out == ()
    assert len(told) >= len(sample.rows) // 3


@given(
    sample=st.sampled_from(SAMPLES),
    acts=st.lists(st.sampled_from(ACTS), min_size=1, max_size=4),
    seed=st.integers(0, 2**32),
)
def test_whatever_befalls_a_file(sample: Sample, acts: list[Callable[..., list[bytes]]], seed: int) -> None:
    """Bytes flipped, lines lost, doubled, moved, joined, torn, nested ten thousand deep, in any order."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        sample.lay(folder, sample.rows)
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        befall(Random(seed), files[seed % len(files)], acts)
        read_below(SOURCES[sample.source], folder)


@each
def test_cut_at_any_byte(sample: Sample, tmp_path: Path) -> None:
    """A writer that died left any part of a file."""
    laid = sample.lay(tmp_path, sample.rows)
    content = laid.read_bytes()
    for end in range(0, len(content), max(1, len(content) // 60)):
        laid.write_bytes(content[:end])
        read_below(SOURCES[sample.source], tmp_path)


@each
def test_what_is_no_file_is_told_and_the_rest_is_read(sample: Sample, tmp_path: Path) -> None:
    """A pipe that no one writes to, a device, a link to nothing, to itself, round in a circle and out of the
    folder, and a folder with the name of a file."""
    folder, outside = tmp_path / "home", tmp_path / "outside"
    for place in (folder, outside):
        place.mkdir()
    laid = sample.lay(folder, sample.rows)
    beside, ending = laid.parent, laid.suffix
    os.mkfifo(beside / f"pipe{ending}")
    (beside / f"device{ending}").symlink_to("/dev/zero")
    (beside / f"dangling{ending}").symlink_to(folder / "gone")
    (beside / f"itself{ending}").symlink_to(f"itself{ending}")
    (beside / f"folder{ending}").mkdir()
    (beside / "circle").symlink_to(folder)
    (outside / f"strange{ending}").write_text("{}\n")
    (beside / f"out{ending}").symlink_to(outside / f"strange{ending}")
    (beside / f"locked{ending}").write_bytes(laid.read_bytes())
    results = read_below(SOURCES[sample.source], folder)
    assert sum(result.session is not None for result in results) >= 1
    reasons = {Path(out.path).stem: out.reason for result in results for out in result.left_out}
    assert {reasons.get(name) for name in ("pipe", "device", "itself")} == {"unreadable"}
    assert reasons.get("dangling") == "dangling-link"


@each
@pytest.mark.parametrize(
    "happening", ["grows", "shrinks", "is emptied", "is replaced", "is gone", "is a pipe"]
)
def test_a_file_that_changes_while_it_is_read(sample: Sample, happening: str, tmp_path: Path) -> None:
    """It is read as it was, or told; the next reading finds all of it."""
    laid = sample.lay(tmp_path, sample.rows)
    content = laid.read_bytes()

    def change() -> None:
        match happening:
            case "grows":
                with laid.open("ab") as file:
                    file.write(content)
            case "shrinks":
                os.truncate(laid, len(content) // 3)
            case "is emptied":
                os.truncate(laid, 0)
            case "is replaced":
                laid.unlink()
                laid.write_bytes(content[::-1])
            case "is gone":
                laid.unlink()
            case _:
                laid.unlink()
                os.mkfifo(laid)

    changed: list[str] = []

    def redact(text: str) -> str:
        if not changed:
            changed.append(happening)
            change()
        return text

    source = sources(redact)[sample.source]
    for ref in list(source.discover(Roots(home="/nowhere", explicit=(str(laid),)))):
        result = source.read(ref, None)
        assert isinstance(result, ReadResult)
        assert isinstance(source.read(ref, result.offset), ReadResult)
    assert changed, "nothing was read"
    laid.unlink(missing_ok=True)
    sample.lay(tmp_path, sample.rows)
    (again,), _ = read_all(SOURCES[sample.source], laid)
    assert again.session is not None


@each
def test_between_the_look_and_the_reading(sample: Sample, tmp_path: Path) -> None:
    """What the look has found may be anything by the time that it is opened."""
    source = SOURCES[sample.source]
    laid = sample.lay(tmp_path, sample.rows)
    refs = list(source.discover(Roots(home="/nowhere", explicit=(str(laid),))))
    assert refs
    for place in (_gone, _a_pipe, _a_folder, _a_circle, _empty, _of_zeros):
        _nothing_at(laid)
        place(laid)
        for ref in refs:
            assert source.read(ref, None).session is None
            assert not source.recognises(ref)


def _nothing_at(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    else:
        path.unlink(missing_ok=True)


def _gone(path: Path) -> None:
    assert not path.exists()


def _a_pipe(path: Path) -> None:
    os.mkfifo(path)


def _a_folder(path: Path) -> None:
    path.mkdir()


def _a_circle(path: Path) -> None:
    path.symlink_to(path.name)


def _empty(path: Path) -> None:
    path.touch()


def _of_zeros(path: Path) -> None:
    path.write_bytes(bytes(100_000))


DATABASE = next(one for one in SAMPLES if (one.source, one.form) == ("opencode", "database"))


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return DATABASE.lay(tmp_path, OPENCODE_ROWS)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nightschool.adapters.databases.WAIT_SECONDS", 0.05)


def opencode(path: Path) -> list[ReadResult]:
    return read_below(SOURCES["opencode"], path.parent)


@pytest.mark.usefixtures("impatient")
def test_a_database_that_another_holds(database: Path) -> None:
    """Locked by a writer that does not let go: read all the same or told, not waited for without end."""
    writer = sqlite3.connect(database, isolation_level=None)
    writer.execute("pragma journal_mode=wal")
    writer.execute("begin exclusive")
    writer.execute("update session set version = 'x'")
    source: TranscriptSource = SOURCES["opencode"]
    for ref in list(source.discover(Roots(home="/nowhere", explicit=(str(database),)))):
        result = source.read(ref, None)
        assert result.session is not None or result.left_out
    writer.close()


@pytest.mark.parametrize(
    "content",
    [b"SQLite format 3\0", b"SQLite format 3\0" + bytes(5000), b"no database at all", b"{}\n", bytes(8192)],
)
def test_a_database_that_is_none(content: bytes, tmp_path: Path) -> None:
    """What only begins like one, or is of another kind, is told."""
    (tmp_path / "opencode.db").write_bytes(content)
    results = opencode(tmp_path / "opencode.db")
    assert [result.session for result in results] == [None]
    assert all(result.left_out for result in results)


def test_a_database_that_was_cut_or_overwritten(database: Path) -> None:
    """A page is missing at its end, or full of other bytes: no exception, and it is told."""
    content = database.read_bytes()
    for end in range(0, len(content), 512):
        database.write_bytes(content[:end])
        assert all(result.session is not None or result.left_out for result in opencode(database))
    for at in range(0, len(content), 1024):
        database.write_bytes(content[:at] + b"\xff" * 700 + content[at + 700 :])
        assert all(result.session is not None or result.left_out for result in opencode(database))


@pytest.mark.parametrize("spoilt", [b"create tabl\xed", b"create \xff\xfetle", b"creat\xc3 table"])
@pytest.mark.parametrize(
    "sample", [one for one in SAMPLES if one.form == "database"], ids=lambda one: one.source
)
def test_tables_whose_words_are_no_text(sample: Sample, spoilt: bytes, tmp_path: Path) -> None:
    """SQLite says what is wrong with a table in the bytes of that table, which Python cannot read."""
    path = sample.lay(tmp_path, sample.rows)
    content = path.read_bytes()
    path.write_bytes(content.replace(b"CREATE TABLE", spoilt).replace(b"create table", spoilt))
    results = read_below(SOURCES[sample.source], tmp_path)
    assert [result.session for result in results] == [None]
    assert all(result.left_out for result in results)


def test_tables_that_are_other_than_they_were(tmp_path: Path) -> None:
    """A database of another version, or of another program."""
    for statements in (
        "create table session (id text); insert into session values ('a')",
        "create table other (x)",
        "create view session as select 1 as id, 2 as time_updated",
        "create table session (id, time_updated); insert into session values (x'ff', 'never'), (null, 1e300)",
    ):
        path = tmp_path / "opencode.db"
        path.unlink(missing_ok=True)
        connection = sqlite3.connect(path)
        connection.executescript(statements)
        connection.close()
        assert all(result.session is not None or result.left_out for result in opencode(path))


def test_a_document_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its size tells, before anything of it is held."""
    monkeypatch.setattr(snapshot_rows, "LARGEST", 1000)
    path = tmp_path / "session-1.json"
    path.write_bytes(b" " * 2000)
    (ref,) = SOURCES["gemini"].discover(Roots(home="/nowhere", explicit=(str(path),)))
    (out,) = SOURCES["gemini"].read(ref, None).left_out
    assert (out.reason, out.path) == ("unreadable", str(path))


@pytest.mark.parametrize("name", ["gemini", "pi", "vscode-copilot"])
def test_lines_that_are_held_at_once_have_a_bound(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log whose later lines say what the earlier count: as large as the bound it is read, larger it is
    told; packed, by what it unpacks to."""
    sample = next(one for one in SAMPLES if one.source == name and one.form in {"journal", "session", "log"})
    source, laid = SOURCES[name], sample.lay(tmp_path, sample.rows)
    size = laid.stat().st_size
    cases = [(laid, size, True), (laid, size - 1, False)]
    library = unpacked.library()
    if library is not None:
        packed = tmp_path / f"packed-{laid.name}"
        packed.write_bytes(library.compress(laid.read_bytes()))
        cases += [(packed, size, True), (packed, size - 1, False)]
    for path, largest, read in cases:
        monkeypatch.setattr(snapshot_rows, "LARGEST", largest)
        (result,) = read_all(source, path)[0]
        assert (result.session is not None) is read
        assert [out.reason for out in result.left_out] == ([] if read else ["unreadable"])
