"""The files of ../shared/cases for one agent, and what a right harvester finds in them."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from nightschool.core.ports import TranscriptSource
from nightschool.core.sessions import Session
from transcripts import CASES, read_file, session_of

absent = pytest.mark.skipif(not CASES.is_dir(), reason=f"no real inputs: {CASES} is absent")
FIGURES = ("human_turns", "tool_calls", "tool_errors", "user_rejections")


def manifest() -> list[dict[str, str]]:
    if not CASES.is_dir():
        return []
    with (CASES / "MANIFEST.tsv").open(encoding="utf-8", newline="") as rows:
        return list(csv.DictReader(rows, delimiter="\t"))


def files_of(agent: str) -> list[str]:
    return [row["file"] for row in manifest() if row["agent"] == agent]


def figures(name: str) -> tuple[str, ...]:
    (row,) = (row for row in manifest() if row["file"] == name)
    return tuple(row[figure] for figure in FIGURES)


def counted(session: Session) -> tuple[str, ...]:
    found = (len(session.human_turns), len(session.calls), session.tool_errors, session.refusals)
    return tuple(str(number) for number in found)


def strangers(agent: str) -> Iterator[Path]:
    """Files of all other agents."""
    for row in manifest():
        path = CASES / row["file"]
        if row["agent"] != agent and path.is_file():
            yield path


def halves_are_the_whole(source: TranscriptSource, name: str, folder: Path, cuts: int = 12) -> None:
    """Read up to a row, then the rest: together they are what one reading gives, wherever the cut is."""
    path = folder / "11111111-2222-4333-8444-555555555555.jsonl"
    if name.rsplit("/", 1)[-1].startswith("agent-"):
        path = folder / name.rsplit("/", 1)[-1]
    shutil.copyfile(CASES / name, path)
    path.chmod(0o600)
    whole, content = session_of(source, path), (CASES / name).read_bytes()
    ends = [at + 1 for at, byte in enumerate(content) if byte == ord("\n")]
    for end in ends[:: max(1, len(ends) // cuts)]:
        path.write_bytes(content[:end])
        first = read_file(source, path)
        path.write_bytes(content)
        second = read_file(source, path, first.offset)
        assert second.session is not None
        joined = second.session if first.session is None else first.session.extended(second.session)
        assert replace(joined, path=whole.path) == whole, f"cut behind byte {end}"
