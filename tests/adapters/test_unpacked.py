"""Transcripts that zstd packed: the same as unpacked, whatever is wrong with the packing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from nightschool.adapters import unpacked
from nightschool.adapters.codex.transcripts import CodexTranscripts
from nightschool.adapters.rows import RowFile, open_rows
from nightschool.core.sessions import LeftOut, Roots
from nightschool.testing.conformance.source import PROMPTS
from transcripts import CODEX_ID, codex_meta, codex_prompt, codex_rows_for, dumped, read_file, session_of

SOURCE = CodexTranscripts(redact=str)
LIBRARY = unpacked.library()
assert LIBRARY is not None
NAME = f"rollout-2026-03-01T09-00-00-{CODEX_ID}.jsonl"
ROWS = b"".join(row + b"\n" for row in codex_rows_for(PROMPTS))


def packed(path: Path, content: bytes = ROWS, **given: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(LIBRARY.compress(content, **given))  # type: ignore[union-attr]  # as of a module
    return path


def offsets(path: Path) -> tuple[list[int], list[LeftOut]]:
    file = open_rows(str(path))
    assert isinstance(file, RowFile)
    with file:
        return [row.offset for row in file.rows()], file.left_out


def test_packed_is_as_unpacked(tmp_path: Path) -> None:
    """The same turns at the same places, under the same id: in the folders of today and of the archive, and
    once where the session is there in both forms."""
    plain = tmp_path / NAME
    plain.write_bytes(ROWS)
    for folder in (".codex/sessions/2026/03/01", ".codex/archived_sessions"):
        packed(tmp_path / folder / f"{NAME}.zst")
    whole = session_of(SOURCE, plain)
    found = list(SOURCE.discover(Roots(home=str(tmp_path))))
    assert len(found) == 2
    for ref in found:
        result = SOURCE.read(ref, None)
        assert result.session is not None
        assert (result.session.id, result.session.turns) == (whole.id, whole.turns)
        assert whole.extended(result.session).turns == whole.turns
        assert result.offset is not None
        assert (result.offset.size, result.offset.mtime) == (ref.size, ref.mtime), "it looks unchanged"


def test_an_id_out_of_the_name(tmp_path: Path) -> None:
    """Where no row tells it: the ending of the packing is no part of the name."""
    rows = b"".join(dumped(row) + b"\n" for row in (codex_prompt(1, "go"), codex_meta(2, id="other")))
    assert session_of(SOURCE, packed(tmp_path / f"{NAME}.zst", rows)).session_id == CODEX_ID


def test_what_was_read_is_not_read_again(tmp_path: Path) -> None:
    """One that was only touched has nothing new; one that was packed anew is read from its start."""
    path = packed(tmp_path / f"{NAME}.zst")
    offset = read_file(SOURCE, path).offset
    os.utime(path, (2_000_000_000, 2_000_000_000))
    again = read_file(SOURCE, path, offset)
    assert again.session is not None
    assert (again.restarted, again.session.turns) == (False, ())
    packed(path, ROWS + dumped(codex_prompt(9, "more")) + b"\n")
    anew = read_file(SOURCE, path, offset)
    assert anew.session is not None
    assert (anew.restarted, anew.session.human_turns[-1].text) == (True, "more")


def test_several_frames_are_one_file(tmp_path: Path) -> None:
    """Rows may lie across them, and a frame may hold what is to be skipped."""
    half = len(ROWS) // 2
    frames = [LIBRARY.compress(part) for part in (ROWS[:half], ROWS[half:])]  # type: ignore[union-attr]  # above
    path = tmp_path / "x.jsonl.zst"
    path.write_bytes(frames[0] + b"\x50\x2a\x4d\x18\x03\0\0\0abc" + frames[1])
    plain = tmp_path / "x.jsonl"
    plain.write_bytes(ROWS)
    assert offsets(path) == offsets(plain)


@pytest.mark.parametrize("cut", [1, 8, 40, 200])
def test_what_lies_before_a_cut_counts(tmp_path: Path, cut: int) -> None:
    """A frame without its end: whole rows are read, and the damage is named with its place."""
    many = b"".join(dumped(codex_prompt(number, os.urandom(30).hex())) + b"\n" for number in range(5000))
    path = packed(tmp_path / "x.jsonl.zst", many)
    path.write_bytes(path.read_bytes()[:-cut])
    found, left_out = offsets(path)
    assert len(found) > 1000
    assert [(out.reason, "damaged" in out.detail) for out in left_out] == [("unreadable", True)]
    assert left_out[0].offset is not None
    assert left_out[0].offset > found[-1]


@pytest.mark.parametrize(
    "content", [unpacked.MAGIC, unpacked.MAGIC + b"\xff" * 99, LIBRARY.compress(ROWS)[:30]]
)
def test_a_file_that_is_all_damage_is_named(tmp_path: Path, content: bytes) -> None:
    """It is unreadable, which is told as such and not as a file of another kind."""
    path = tmp_path / f"{NAME}.zst"
    path.write_bytes(content)
    result = read_file(SOURCE, path)
    assert result.session is None
    assert [(out.reason, "damaged" in out.detail) for out in result.left_out] == [("unreadable", True)]
    assert not SOURCE.recognises(next(iter(SOURCE.discover(Roots(home="/", explicit=(str(path),))))))


def test_bytes_that_are_changed_stop_nothing(tmp_path: Path) -> None:
    """Whichever byte of a frame is another: read as far as it goes."""
    path = packed(tmp_path / "x.jsonl.zst")
    content = path.read_bytes()
    for place in range(4, len(content), 3):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :])
        read_file(SOURCE, path)


def test_the_last_row_of_a_packed_file_is_nobodys_to_end(tmp_path: Path) -> None:
    """Half a row at the end was never written on: it is named, where in a growing file it is awaited."""
    path = packed(tmp_path / f"{NAME}.zst", ROWS + b'{"type":')
    assert [out.reason for out in read_file(SOURCE, path).left_out] == ["bad-record"]


def test_a_bomb_fills_no_memory(tmp_path: Path) -> None:
    """Much in a few bytes, without a newline and with many: in a process that may not have much."""
    row = dumped(codex_prompt(1, "go")) + b"\n"
    for name, more in (("a", b"\0" * (1 << 28)), ("b", b"\n" * (1 << 26))):
        packed(tmp_path / f"{name}.jsonl.zst", row + more)
    code = f"""
import resource
resource.setrlimit(resource.RLIMIT_DATA, (200 << 20,) * 2)
from nightschool.adapters.rows import open_rows
from nightschool.adapters import unpacked
for name, unpacked.LEAST in (("a", 1 << 28), ("b", 1 << 20)):
    file = open_rows({str(tmp_path)!r} + f"/{{name}}.jsonl.zst")
    with file:
        rows = list(file.rows())
    print(len(rows), [out.detail for out in file.left_out])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stderr, done.returncode) == ("", 0)
    told = done.stdout.splitlines()
    assert len(told) == 2
    assert "longer than 32 MiB" in told[0]
    assert "it unpacks to more than" in told[1]
    assert all(line.startswith("1 ") for line in told)


def test_a_frame_with_a_vast_window_is_refused(tmp_path: Path) -> None:
    """It would be held whole while it is unpacked."""
    wide = {LIBRARY.CompressionParameter.window_log: 27}  # type: ignore[union-attr]  # as of a module
    path = tmp_path / "x.jsonl.zst"
    with LIBRARY.open(path, "wb", options=wide) as file:  # type: ignore[union-attr]  # as of a module
        file.write(ROWS)
    found, left_out = offsets(path)
    assert (found, [out.reason for out in left_out]) == ([], ["unreadable"])


def test_a_library_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the line that installs it, and the way without."""
    monkeypatch.setattr(unpacked, "_NAMES", ("no.such.module",))
    (left,) = read_file(SOURCE, packed(tmp_path / f"{NAME}.zst")).left_out
    assert left.reason == "unreadable"
    assert "pip install backports.zstd" in left.detail
    assert "zstd -d" in left.detail
