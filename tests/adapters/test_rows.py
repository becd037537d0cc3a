"""Lines of JSON by byte offset: what is wrong costs itself and is named."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightschool.adapters import rows
from nightschool.adapters.listing import list_files, named
from nightschool.adapters.rows import Row, RowFile, open_rows
from nightschool.core.sessions import LeftOut, Offset


def read(path: Path, since: Offset | None = None) -> tuple[list[Row], RowFile]:
    opened = open_rows(str(path), since)
    assert isinstance(opened, RowFile)
    with opened:
        return list(opened.rows()), opened


def test_rows_carry_their_bytes(tmp_path: Path) -> None:
    """Offset and end are byte offsets, whatever letters stand before."""
    path = tmp_path / "x"
    path.write_bytes('{"a":"ü"}\n\n{"b":2}\n'.encode())
    found, opened = read(path)
    assert found == [Row(0, 11, {"a": "ü"}), Row(12, 20, {"b": 2})]
    assert opened.position == 20
    assert opened.left_out == []


@pytest.mark.parametrize(
    "line", [b"[1,2]", b"42", b"null", b'"x"', b"{", b"\xff{}", b'{"a":1}]', b"[" * 9000]
)
def test_a_bad_line_costs_itself(line: bytes, tmp_path: Path) -> None:
    """Whatever stands in a line, the lines around it are read and the line is named by its offset."""
    path = tmp_path / "x"
    path.write_bytes(b'{"a":1}\n' + line + b'\n{"b":2}\n')
    found, opened = read(path)
    assert {"a": 1} in [row.value for row in found]
    assert found[-1][2] == {"b": 2}
    assert [(out.reason, out.offset) for out in opened.left_out] == [("bad-record", 8)]


def test_rows_run_together_are_both_read(tmp_path: Path) -> None:
    """Two records on one line count both, with their own offsets; a torn rest is named."""
    path = tmp_path / "x"
    path.write_bytes('{"a":"ü"}{"b":2} {"c":3}\n{"d":4}{"e\n'.encode())
    found, opened = read(path)
    assert [(row.offset, row.value) for row in found] == [
        (0, {"a": "ü"}),
        (10, {"b": 2}),
        (17, {"c": 3}),
        (26, {"d": 4}),
    ]
    assert [out.offset for out in opened.left_out] == [26]


def test_a_dull_line_that_hides_a_row_is_parsed(tmp_path: Path) -> None:
    """What is skipped by its first bytes is parsed where another row may have run into it."""
    path = tmp_path / "x"
    path.write_bytes(b'{"dull":1}\n{"dull":2}{"b":2}\n{"dull":3\n{"c":3}\n')
    opened = open_rows(str(path))
    assert isinstance(opened, RowFile)
    with opened:
        found = [row.value for row in opened.rows(lambda line: line.startswith(b'{"dull"'))]
    assert found == [{"dull": 2}, {"b": 2}, {"c": 3}]
    assert len(opened.left_out) == 1


def test_half_a_surrogate_pair_becomes_a_sign(tmp_path: Path) -> None:
    """A sign that was cut in half cannot be stored as it is, and costs no more than itself."""
    path = tmp_path / "x"
    path.write_bytes(b'{"a":["cut \\ud83d","\\ud83d\\ude00"]}\n')
    found, opened = read(path)
    assert found[0][2] == {"a": ["cut \ufffd", "\U0001f600"]}
    assert opened.left_out == []


def test_half_a_last_line_is_left_for_later(tmp_path: Path) -> None:
    """B16: a row that is still being written is neither read nor named; later it is read from its start."""
    path = tmp_path / "x"
    path.write_bytes(b'{"a":1}\n{"b":')
    found, opened = read(path)
    assert [row.value for row in found] == [{"a": 1}]
    assert (opened.position, opened.left_out) == (8, [])
    since = opened.offset("s", session="", carry="")
    path.write_bytes(b'{"a":1}\n{"b":2}')
    found, opened = read(path, since)
    assert found == [Row(8, 15, {"b": 2})]
    assert not opened.restarted


def test_another_file_is_read_from_its_start(tmp_path: Path) -> None:
    """A file whose first bytes differ, or that is shorter than before, is another file."""
    path = tmp_path / "x"
    path.write_bytes(b'{"a":1}\n' * 300)
    since = read(path)[1].offset("s", session="", carry="")
    path.write_bytes(b'{"z":1}\n' * 400)
    found, opened = read(path, since)
    assert (len(found), opened.restarted) == (400, True)
    path.write_bytes(b'{"a":1}\n' * 299)
    assert read(path, since)[1].restarted
    path.write_bytes(b'{"a":1}\n' * 301)
    found, opened = read(path, since)
    assert (len(found), opened.restarted) == (1, False)


def test_a_line_that_is_too_long_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is bounded: a line longer than any row is named and skipped, and left while it still grows."""
    monkeypatch.setattr(rows, "LONGEST", 50)
    path = tmp_path / "x"
    path.write_bytes(b'{"a":"' + b"x" * 500 + b'"}\n{"b":2}\n{"c":"' + b"x" * 500)
    found, opened = read(path)
    assert [row.value for row in found] == [{"b": 2}]
    assert [(out.offset, "longer" in out.detail) for out in opened.left_out] == [(0, True)]
    assert path.read_bytes()[opened.position :].startswith(b'{"c"')


def test_a_line_of_countless_records_gives_the_first(tmp_path: Path) -> None:
    """A few records may run together in a line; a line full of them costs no more than a few."""
    path = tmp_path / "x"
    path.write_bytes(b"{}" * (rows.MOST_JOINED + 5) + b'\n{"a":1}\n')
    found, opened = read(path)
    assert len(found) == rows.MOST_JOINED + 1
    assert found[-1][2] == {"a": 1}
    assert [out.offset for out in opened.left_out] == [0]


def test_a_file_of_another_kind_is_told_in_few_words(tmp_path: Path) -> None:
    """A file with countless lines that are no records names the first of them and counts the rest."""
    path = tmp_path / "x"
    path.write_bytes(b"no\n" * (rows.MOST_NAMED + 50) + b'{"a":1}\n')
    found, opened = read(path)
    assert [row.value for row in found] == [{"a": 1}]
    assert len(opened.left_out) == rows.MOST_NAMED + 1
    assert opened.left_out[-1] == LeftOut(
        path=str(path), reason="bad-record", offset=3 * rows.MOST_NAMED, detail="50 more from here on"
    )


def test_a_compressed_file_is_told_with_the_way_out(tmp_path: Path) -> None:
    """It is known by its first bytes, whatever its name."""
    (tmp_path / "x").write_bytes(b"\x1f\x8b\n{}\n")
    found = open_rows(str(tmp_path / "x"))
    assert isinstance(found, LeftOut)
    assert (found.reason, "`gzip -d`" in found.detail) == ("unreadable", True)


def test_what_is_no_file_is_named(tmp_path: Path) -> None:
    """Pipes, folders, dangling links and files that vanished are values with a reason."""
    (tmp_path / "link").symlink_to("gone")
    os.mkfifo(tmp_path / "pipe")
    reasons = {"link": "dangling-link", "pipe": "unreadable", ".": "unreadable", "gone": "vanished"}
    for name, reason in reasons.items():
        found = open_rows(str(tmp_path / name))
        assert isinstance(found, LeftOut)
        assert found.reason == reason
    assert isinstance(open_rows("nul\0byte"), LeftOut)


def test_folders_are_listed_once(tmp_path: Path) -> None:
    """Links to folders are followed, but no folder is listed twice; odd files under the name are given."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "1.jsonl").touch()
    (tmp_path / "a" / "notes.txt").touch()
    (tmp_path / "a" / "round").symlink_to(tmp_path)
    (tmp_path / "2.jsonl").symlink_to("gone")
    (tmp_path / "b.jsonl").mkdir()
    found = sorted(ref.path for ref in list_files("s", str(tmp_path), (".jsonl",)))
    assert found == [str(tmp_path / "2.jsonl"), str(tmp_path / "a" / "1.jsonl")]
    assert [ref.size for ref in named("s", str(tmp_path / "gone"))] == [0]
    assert list(list_files("s", str(tmp_path / "gone"))) == []


def test_nothing_is_made_of_what_did_not_change(tmp_path: Path) -> None:
    """Who lists is asked of each regular file, by path, size and time; what is no file is given all the
    same."""
    folder = tmp_path / "ü"
    folder.mkdir()
    for name in ("old", "new"):
        (folder / f"{name}.jsonl").write_text(name * 2)
        os.utime(folder / f"{name}.jsonl", ns=(0, 1_700_000_000_123_456_789))
    (folder / "gone.jsonl").symlink_to("nowhere")
    os.mkfifo(folder / "pipe.jsonl")
    asked: list[tuple[str, int, int]] = []

    def unchanged(path: str, size: int, mtime: int) -> bool:
        asked.append((path, size, mtime))
        return path.endswith("old.jsonl")

    found = {Path(ref.path).name: ref for ref in list_files("s", str(tmp_path), (".jsonl",), unchanged)}
    assert sorted(found) == ["gone.jsonl", "new.jsonl", "pipe.jsonl"]
    assert sorted(asked) == [
        (str(folder / f"{name}.jsonl"), 6, 1_700_000_000_123_456) for name in ("new", "old")
    ]
    assert found["new.jsonl"].stamp == "6 1700000000123456"


objects = st.dictionaries(st.text(max_size=3), st.text(max_size=5) | st.integers(0, 9), max_size=3)


@given(st.lists(objects, max_size=8), st.data())
def test_reading_in_two_halves_is_reading_at_once(
    tmp_path_factory: pytest.TempPathFactory, values: list[dict[str, object]], data: st.DataObject
) -> None:
    """Wherever the file is cut, both reads together give each row once."""
    content = b"".join(json.dumps(value).encode() + b"\n" for value in values)
    cut = data.draw(st.integers(0, len(content)))
    path = tmp_path_factory.mktemp("rows") / "x"
    path.write_bytes(content[:cut])
    first, opened = read(path)
    path.write_bytes(content)
    second, opened = read(path, opened.offset("s", session="", carry=""))
    assert [row.value for row in first + second] == values
    assert opened.left_out == []
