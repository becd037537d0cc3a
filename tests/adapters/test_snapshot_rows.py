"""Documents that an agent writes anew each time: read whole or not at all, and again when they change."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from nightschool.adapters import snapshot_rows
from nightschool.adapters.rows import Row
from nightschool.adapters.snapshot_rows import SnapshotRows, open_document
from nightschool.core.sessions import LeftOut, Offset, TranscriptRef


def messages(document: Mapping[str, Any]) -> Iterable[object]:
    return list(document.get("messages", ()))


def opened(path: Path, since: Offset | None = None, part: str = "") -> SnapshotRows | LeftOut:
    ref = TranscriptRef(source="x", path=str(path), size=9, mtime=datetime(2026, 1, 2, tzinfo=UTC), part=part)
    return open_document(ref, since, messages)


def test_rows_carry_their_number_and_the_cursor_what_was_seen(tmp_path: Path) -> None:
    """The cursor is that of the cheap look, so that a change since is seen by the next one."""
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"messages": [{"a": 1}, 7, {"b": "ü"}]}))
    file = opened(path, part="one")
    assert isinstance(file, SnapshotRows)
    with file:
        assert list(file.rows()) == [Row(0, 1, {"a": 1}), Row(2, 3, {"b": "ü"})]
    assert [(out.reason, out.offset) for out in file.left_out] == [("bad-record", 1)]
    offset = file.offset("x", session="s", carry="")
    assert (offset.id, offset.size, offset.position) == (f"x:{path}#one", 9, 3)
    assert not file.restarted
    again = opened(path, offset)
    assert isinstance(again, SnapshotRows)
    assert again.restarted


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b'{"messages": [{"a": 1}', "bad-record"),
        (b"[]", "bad-record"),
        (b"{}{}", "bad-record"),
        (b"\xff", "bad-record"),
        (b"[" * 9000, "bad-record"),
    ],
)
def test_what_is_no_whole_object_is_named(content: bytes, reason: str, tmp_path: Path) -> None:
    """It may be in the middle of being written: nothing of it is taken."""
    path = tmp_path / "x.json"
    path.write_bytes(content)
    out = opened(path)
    assert isinstance(out, LeftOut)
    assert (out.reason, out.path) == (reason, str(path))


def test_half_a_sign_costs_itself(tmp_path: Path) -> None:
    """A cut in the middle of a surrogate pair becomes U+FFFD, as in lines."""
    path = tmp_path / "x.json"
    path.write_bytes(rb'{"messages": [{"a": "\ud800"}]}')
    file = opened(path)
    assert isinstance(file, SnapshotRows)
    assert [row.value for row in file.rows()] == [{"a": "\ufffd"}]


def test_a_document_that_is_too_large_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be held whole in memory."""
    monkeypatch.setattr(snapshot_rows, "LARGEST", 8)
    path = tmp_path / "x.json"
    path.write_bytes(b'{"messages": []}')
    out = opened(path)
    assert isinstance(out, LeftOut)
    assert out.reason == "unreadable"
    assert opened(tmp_path / "none.json") == LeftOut(
        path=str(tmp_path / "none.json"), reason="vanished", detail="there is no such file"
    )
