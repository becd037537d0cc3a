"""A small transcript of each source in each of its forms, with a value in every field that it has.

`SAMPLES` has one of every source that is installed: a test that goes over all sources begins here.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from nightschool.adapters.record_tables import record_of, row_of
from nightschool.core.ports import Redact, TranscriptSource
from nightschool.core.sessions import ReadResult, Roots, RowFate
from sample_rows import (
    AIDER_ROWS,
    CLAUDE_ROWS,
    CODEX_ROWS,
    COPILOT_ROWS,
    COPILOT_STORED,
    COPILOT_TABLES,
    CURSOR_ROWS,
    GEMINI_DOCUMENT,
    GEMINI_ROWS,
    OPENCODE_FILES,
    OPENCODE_ROWS,
    OPENCODE_TABLES,
    PI_ROWS,
    PLACES,
    VSCODE_ROWS,
)
from transcripts import CLAUDE_ID, CODEX_ID, PI_ID

Lay = Callable[[Path, Sequence[Any]], Path]


def _lines(name: str) -> Lay:
    def lay(folder: Path, rows: Sequence[Any]) -> Path:
        path = folder / name
        path.write_bytes(b"".join(json.dumps(row, separators=(",", ":")).encode() + b"\n" for row in rows))
        return path

    return lay


def _document(folder: Path, rows: Sequence[Any]) -> Path:
    path = folder / "session-1.json"
    path.write_text(json.dumps(rows[0]), encoding="utf-8")
    return path


def _database(name: str, tables: str) -> Lay:
    def lay(folder: Path, rows: Sequence[Any]) -> Path:
        path = folder / name
        path.unlink(missing_ok=True)
        connection = sqlite3.connect(path)
        connection.executescript(f"pragma synchronous=off; pragma journal_mode=memory; {tables}")
        for row in rows:
            told = dict(row) if isinstance(row, dict) else {}
            table = told.pop("$table", None)
            if not isinstance(table, str) or f"create table {table} (" not in tables:
                continue
            columns = {key: _column(value) for key, value in told.items()}
            signs = ", ".join("?" * len(columns))
            into = f"insert into {table} ({', '.join(columns)}) values ({signs})"  # noqa: S608 - names of ours
            connection.execute(into, tuple(columns.values()))
        connection.commit()
        connection.close()
        return path

    return lay


def _column(value: object) -> object:
    plain = value is None or (isinstance(value, str | int | float) and not isinstance(value, bool))
    return value if plain else json.dumps(value)


def _tree(folder: Path, rows: Sequence[Any]) -> Path:
    root = folder / "storage"
    for place, row in zip(PLACES, rows, strict=True):
        path = root / f"{place}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(row), encoding="utf-8")
    return root / f"{PLACES[0]}.json"


def _chats(folder: Path, rows: Sequence[Any]) -> Path:
    said, typed = [], []
    for row in rows:
        told = row if isinstance(row, dict) else {"reply": row}
        said += [f"\n# aider chat started at {told['chat']}\n\n"] if "chat" in told else []
        if "prompt" in told:
            said.append("\n" + "".join(f"#### {line}  \n" for line in str(told["prompt"]).split("\n")))
            entry = "".join(f"+{line}\n" for line in str(told["prompt"]).split("\n"))
            typed.append(f"\n# {told.get('typed')}.000001\n{entry}")
        said += [f"\n{told['reply']}\n\n"] if "reply" in told else []
        notes = told.get("notes", [])
        said += [
            f"> {line}  \n"
            for note in (notes if isinstance(notes, list) else [notes])
            for line in str(note).split("\n")
        ]
    (folder / ".aider.input.history").write_text("".join(typed), encoding="utf-8")
    path = folder / ".aider.chat.history.md"
    path.write_text("".join(said), encoding="utf-8")
    return path


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The rows of a transcript, and how they are laid where the source finds them."""

    source: str
    form: str
    rows: Sequence[Mapping[str, Any]]
    lay: Lay
    of_lines: bool = False
    """Whether each row is a line of one file."""


SAMPLES: tuple[Sample, ...] = (
    Sample(source="aider", form="chats", rows=AIDER_ROWS, lay=_chats),
    Sample(
        source="claude-code",
        form="session",
        rows=CLAUDE_ROWS,
        lay=_lines(f"{CLAUDE_ID}.jsonl"),
        of_lines=True,
    ),
    Sample(
        source="claude-code", form="sub-agent", rows=CLAUDE_ROWS, lay=_lines("agent-1.jsonl"), of_lines=True
    ),
    Sample(
        source="codex",
        form="rollout",
        rows=CODEX_ROWS,
        lay=_lines(f"rollout-2026-03-01T09-00-00-{CODEX_ID}.jsonl"),
        of_lines=True,
    ),
    Sample(source="copilot", form="events", rows=COPILOT_ROWS, lay=_lines("events.jsonl"), of_lines=True),
    Sample(
        source="copilot",
        form="database",
        rows=COPILOT_STORED,
        lay=_database("session-store.db", COPILOT_TABLES),
    ),
    Sample(source="cursor", form="transcript", rows=CURSOR_ROWS, lay=_lines("odd.jsonl"), of_lines=True),
    Sample(source="gemini", form="journal", rows=GEMINI_ROWS, lay=_lines("session-1.jsonl"), of_lines=True),
    Sample(source="gemini", form="document", rows=GEMINI_DOCUMENT, lay=_document),
    Sample(
        source="opencode", form="database", rows=OPENCODE_ROWS, lay=_database("opencode.db", OPENCODE_TABLES)
    ),
    Sample(source="opencode", form="tree", rows=OPENCODE_FILES, lay=_tree),
    Sample(source="pi", form="session", rows=PI_ROWS, lay=_lines(f"2026-03-01_{PI_ID}.jsonl"), of_lines=True),
    Sample(source="vscode-copilot", form="log", rows=VSCODE_ROWS, lay=_lines("x.jsonl")),
)


@cache
def _installed() -> tuple[tuple[str, Any], ...]:
    return tuple((point.name, point.load()) for point in entry_points(group="nightschool.sources"))


def sources(redact: Redact) -> dict[str, TranscriptSource]:
    """All that are installed, by name."""
    return {name: make(redact=redact) for name, make in _installed()}


def read_all(source: TranscriptSource, path: Path) -> tuple[list[ReadResult], list[RowFate]]:
    """What a path gives that a person named, and what is told of its rows."""
    told: list[RowFate] = []
    refs = list(source.discover(Roots(home="/nowhere", explicit=(str(path),))))
    return [source.read(ref, None, told=told.append) for ref in refs], told


def places(value: object, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each field in a row, the row itself first."""
    yield before
    inner: Iterator[tuple[Any, Any]] = iter(())
    if isinstance(value, dict):
        inner = iter(value.items())
    elif isinstance(value, list):
        inner = iter(enumerate(value))
    for key, item in inner:
        yield from places(item, (*before, key))


def replaced(value: Any, place: tuple[Any, ...], new: object) -> Any:
    if not place:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[place[0]] = replaced(copy[place[0]], place[1:], new)
    return copy


def storable(result: ReadResult) -> str:
    """What the store would hold of it; raises what the store would raise."""
    bodies: list[str] = []
    for record in (result.session, result.offset):
        if record is not None:
            row = row_of(record)
            bodies.append(f"{row['id']} {row['body']}")
            assert record_of(type(record), str(row["body"])) == record
    return "\n".join(bodies)


def with_each_field(rows: Sequence[Mapping[str, Any]], new: object) -> Iterator[list[Any]]:
    for index, row in enumerate(rows):
        for place in places(row):
            yield [*rows[:index], replaced(row, place, new), *rows[index + 1 :]]
