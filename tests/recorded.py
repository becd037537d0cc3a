"""Sessions that real agents recorded: where they lie, what a harvest makes of them, their rows' shapes."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree
from typing import Any

from nightschool.core.sessions import Roots, Session
from nightschool.rules.sessions import ending
from nightschool.stages.harvest import HarvestReport, HarvestRequest, harvest
from nightschool.testing.clock import FakeClock
from nightschool.testing.memory_store import MemoryStore
from nightschool.wiring import source

FIXTURES = Path(__file__).parent / "fixtures"
EXPECTED = "expected.json"
HOME = "home"
DUMP = ".db.sql"
_KEY = re.compile(r"\A[A-Za-z_$][A-Za-z_$-]*\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One scene that one version of one agent recorded."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.relative_to(FIXTURES).as_posix()

    @property
    def agent(self) -> str:
        return self.name.split("/")[0]

    @property
    def version(self) -> str:
        return self.name.split("/")[1]

    @property
    def expected(self) -> Any:
        return json.loads((self.folder / EXPECTED).read_text(encoding="utf-8"))

    @property
    def size(self) -> int:
        return sum(path.stat().st_size for path in self.files())

    def files(self) -> Iterator[Path]:
        yield from (path for path in sorted(self.folder.rglob("*")) if path.is_file())

    def laid_out(self, home: Path) -> Path:
        """As it lay in the HOME of the person: a dump is a database again."""
        copytree(self.folder / HOME, home, dirs_exist_ok=True)
        for dump in home.rglob(f"*{DUMP}"):
            with closing(sqlite3.connect(dump.with_suffix(""))) as database:
                database.executescript(dump.read_text(encoding="utf-8"))
            dump.unlink()
        return home


def recordings() -> list[Recording]:
    return [Recording(folder=path.parent) for path in sorted(FIXTURES.glob(f"*/*/*/{EXPECTED}"))]


def harvested(agent: str, home: Path) -> HarvestReport:
    """All that the agent's source finds in this HOME."""
    return harvest(
        HarvestRequest(roots=Roots(home=str(home)), everything=True),
        sources={agent: source(agent, str)},
        store=MemoryStore(),
        clock=FakeClock(),
    )


def read(agent: str, home: Path) -> dict[str, Any]:
    """What a harvest of this HOME makes of it, in the terms of `expected.json`."""
    report = harvested(agent, home)
    sessions = sorted(report.sessions, key=lambda session: (str(session.started_at), str(session.ended_at)))
    return {
        "sessions": [meaning(session) for session in sessions],
        "left_out": dict(sorted(Counter(left.reason for left in report.left_out).items())),
    }


def meaning(session: Session) -> dict[str, Any]:
    """What a session says, without ids, times and places."""
    return {
        "turns": [turn.text for turn in session.human_turns],
        "calls": [[call.name, call.status.value] for call in session.calls],
        "skills": list(session.skills),
        "interrupted": sum(turn.interrupted for turn in session.turns),
        "ending": ending(session),
        "counted": session.spent is not None and session.spent.output is not None,
        "headless": session.headless,
        "models": sorted({turn.model for turn in session.turns if turn.model}),
        "project": session.project,
        "warnings": len(session.warnings),
    }


def shapes(folder: Path) -> set[str]:
    """Each kind of row under a folder with each path of keys in it."""
    found: set[str] = set()
    for path in folder.rglob("*"):
        if path.suffix == ".db" and path.is_file():
            found |= set(_database(path))
        elif path.suffix in {".jsonl", ".json"} and path.is_file():
            text = path.read_text(encoding="utf-8")
            rows = text.split("\n") if path.suffix == ".jsonl" else [text]
            for row in (json.loads(row) for row in rows if row.strip()):
                found |= set(_paths(row, _kind(row)))
    return found


def _database(path: Path) -> Iterator[str]:
    with closing(sqlite3.connect(path)) as database:
        names = database.execute("select name from sqlite_master where type = 'table'").fetchall()
        for (table,) in names:
            rows = database.execute(f'select * from "{table}"')  # noqa: S608 - names of its own tables
            columns = [column[0] for column in rows.description]
            yield from (f"{table}.{column}" for column in columns)
            for row in rows:
                for column, value in zip(columns, row, strict=True):
                    if isinstance(value, str) and value.startswith("{"):
                        inner = json.loads(value)
                        yield from _paths(inner, f"{table}.{column}{_kind(inner)}")


def _kind(row: Any) -> str:
    if not isinstance(row, Mapping):
        return "row"
    told = (row.get(key) for key in ("payload", "attachment", "message"))
    inner: Mapping[str, Any] = next((one for one in told if isinstance(one, Mapping)), {})
    item = inner.get("item") if isinstance(inner.get("item"), Mapping) else {}
    kinds = (row.get("type"), row.get("role"), inner.get("type"), inner.get("role"), (item or {}).get("type"))
    return "/".join(str(kind) for kind in kinds if isinstance(kind, str)) or "row"


def _paths(value: Any, path: str) -> Iterator[str]:
    match value:
        case Mapping():
            for key, item in value.items():
                here = f"{path}.{key if _KEY.match(key) else '*'}"
                yield here
                yield from _paths(item, here)
        case list():
            for item in value:
                yield from _paths(item, f"{path}[]")
