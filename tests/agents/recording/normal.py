"""Makes a fixture of what an agent stored: fixed ids, times and ports, and no text of the vendor's."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

LONGEST = 200
"""All that is typed, answered or done in a scene is shorter. What is longer, the vendor wrote."""
BASE = datetime(2026, 1, 5, 9, tzinfo=UTC)
Words = tuple[str, ...]
_RUN = 9
_SCHEMAS = {"input_schema", "inputSchema", "parameters", "parametersJsonSchema"}
_REPEATED = ("api-request", "api-request-blob", "cost-state")
_LOGS = {"event": "type", "migration": None}
"""Tables that repeat what others hold, and by which column one row each is kept."""
_NAMES = 4
"""So many of a list of names are kept: tools, agents, skills, experiments."""
_OS = re.compile(r"Linux \d+\.\d+[-\w.]*")
_MARK = "[cut: {count} characters]"
_HEAD = re.compile(
    r"\s*(?:<[^>\n]{1,60}>|#+ [^\n]{1,40}|The user doesn't want to (?:proceed with|take) this \w+( use)?"
    r"|This session is being continued|Base directory for this skill:|Exit code \d+|\[Request interrupted)"
)
"""By this a row is told from what a person typed, so it is left in its place."""
_ISO = re.compile(r"(20\d\d-\d\d-\d\d)T(\d\d)([:-])(\d\d)[:-](\d\d)((?:[.-]\d{3,9})?)(?=Z|\+00:00|[-_.\"]|$)")
_EPOCH = re.compile(r"(?<![\w.])(1[6-9]\d{8})(\d{3})?(?:\.(\d+))?(?!\w)")
_NEAR = timedelta(days=1)
_PORT = re.compile(r"127\.0\.0\.1:\d{2,5}")
_UUID = re.compile(r"(?<![0-9a-zA-Z])[0-9a-f]{8}-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
_HEX = re.compile(r"(?<![0-9a-zA-Z.-])(?=[0-9]*[a-f])[0-9a-f]{16,64}(?![0-9a-zA-Z-])")
_SHORT = re.compile(r'(?<=[iI]d":")[0-9a-f]{8}(?=")')
_SORTED = re.compile(r"(?<![0-9a-zA-Z])(ses|msg|prt|per|que|evt|tool|pty|wrk)_([0-9a-f]{12}[0-9A-Za-z]{14})")
_SQL = ".sql"


@dataclass(slots=True, kw_only=True)
class Normal:
    """The rewriting of the files of one scene."""

    vendors: AbstractSet[Words]
    """Runs of words that the vendor wrote: a text with one of them is cut, however short it is."""
    _names: dict[str, str] = field(default_factory=dict)
    _since: datetime = BASE

    def files(self, found: Mapping[str, Path]) -> dict[str, str]:
        """Name and text of each file of the fixture, from the name below HOME of each that was stored."""
        texts = {name: self._text(path) for name, path in found.items()}
        texts = {f"{name}{_SQL}" if name.endswith(".db") else name: text for name, text in texts.items()}
        times = [_time(match) for text in texts.values() for match in _ISO.finditer(text)]
        epochs = [_instant(match) for text in texts.values() for match in _EPOCH.finditer(text)]
        self._since = min(times or [BASE])
        if not times:
            self._since = min(epochs or [BASE])
        for text in texts.values():
            self._learn(text)
        return {self._rewritten(name): self._rewritten(text) for name, text in texts.items()}

    def _text(self, path: Path) -> str:
        if path.suffix == ".db":
            return "".join(f"{line}\n" for line in _dump(path, self._json))
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".jsonl":
            lines = (line for line in text.split("\n") if line.strip())
            return "".join(f"{self._json(line)}\n" for line in _sampled(lines))
        return self._json(text) + "\n"

    def _json(self, text: str) -> str:
        """A line, a document or a text, without what is the vendor's."""
        try:
            value = json.loads(text)
        except ValueError:
            return str(self._without(text))
        return json.dumps(self._without(value), ensure_ascii=False, separators=(",", ":"))

    def _without(self, value: Any) -> Any:
        match value:
            case str():
                foreign = len(value) > LONGEST or any(run in self.vendors for run in runs(value))
                return shortened(value) if foreign else value
            case Mapping() if "name" in value and _SCHEMAS & value.keys():
                return {"name": value["name"]}  # a tool as it was offered to the model
            case Mapping():
                return {key: self._without(item) for key, item in value.items()}
            case list():
                names = len(value) > _NAMES and all(isinstance(item, str) for item in value)
                return [self._without(item) for item in (value[:_NAMES] if names else value)]
        return value

    def _learn(self, text: str) -> None:
        """A name for each id, in order. Where ids are sorted by time, so are their names."""
        for match in _UUID.finditer(text):
            number = len(self._names) + 1
            self._names.setdefault(match[0], f"{number:08x}-0000-{match[1]}000-8000-{number:012x}")
        for pattern in (_HEX, _SHORT):
            for match in pattern.finditer(text):
                self._names.setdefault(match[0], f"{len(self._names) + 1:0{len(match[0])}x}")
        for kind, own in sorted({(match[1], match[2]) for match in _SORTED.finditer(text)}):
            if own not in self._names:
                self._names[own] = f"{len(self._names) + 1:012x}{'0' * 14}"
            del kind

    def _rewritten(self, text: str) -> str:
        text = _ISO.sub(self._shifted, text)
        text = _EPOCH.sub(self._shifted_epoch, text)
        day = self._since.date().isoformat()
        text = text.replace(day, BASE.date().isoformat())
        text = text.replace(day.replace("-", "/"), BASE.date().isoformat().replace("-", "/"))
        text = _PORT.sub("127.0.0.1:8719", _OS.sub("Linux 6.1.0", text))
        for pattern in (_UUID, _HEX, _SHORT):
            text = pattern.sub(lambda match: self._names.get(match[0], match[0]), text)
        return _SORTED.sub(lambda match: f"{match[1]}_{self._names.get(match[2], match[2])}", text)

    def _shifted(self, match: re.Match[str]) -> str:
        day, _, mark, _, _, rest = match.groups()
        del day
        moved = _time(match) - self._since + BASE
        return f"{moved:%Y-%m-%d}T{moved:%H}{mark}{moved:%M}{mark}{moved:%S}{rest}"

    def _shifted_epoch(self, match: re.Match[str]) -> str:
        seconds, thousandths, fraction = match.groups()
        if abs(_instant(match) - self._since) > _NEAR:
            return match[0]
        moved = int(seconds) + int((BASE - self._since.replace(microsecond=0)).total_seconds())
        return f"{moved}{thousandths or ''}" + (f".{fraction}" if fraction else "")


def _time(match: re.Match[str]) -> datetime:
    day, hour, _, minute, second, _ = match.groups()
    return datetime.fromisoformat(f"{day}T{hour}:{minute}:{second}+00:00")


def _instant(match: re.Match[str]) -> datetime:
    return datetime.fromtimestamp(int(match[1]), UTC)


def shortened(text: str) -> str:
    """What is left of a long text: the tag or heading that says what it is, and how long it was."""
    head = _HEAD.match(text)
    tag = re.match(r"\s*<([\w-]+)", text)
    tail = f"</{tag[1]}>" if tag and text.rstrip().endswith(f"</{tag[1]}>") else ""
    return f"{head[0] if head else ''}{_MARK.format(count=len(text))}{tail}"


def _sampled(lines: Iterable[str]) -> Iterator[str]:
    """All lines, but of kinds that no reader needs one each: what was sent to the model, again."""
    seen: set[str] = set()
    for line in lines:
        kind = next((kind for kind in _REPEATED if line.startswith(f'{{"type":"{kind}"')), None)
        if kind is None or kind not in seen:
            yield line
        seen.add(kind or "")


def runs(text: str) -> Iterator[Words]:
    """Each run of so many words that two writers do not come to by chance."""
    words = text.split()
    yield from (tuple(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1))


def _dump(path: Path, rewritten: Callable[[str], str]) -> Iterator[str]:
    """A database as the statements that make it again, its tables in order and their JSON cut."""
    with closing(sqlite3.connect(path)) as database:
        tables = database.execute("select name, sql from sqlite_master where type = 'table' order by rowid")
        for name, sql in tables.fetchall():
            if name.startswith("sqlite_") or sql is None:
                continue
            yield " ".join(sql.split()) + ";"
            yield from _rows(database, name, rewritten)


def _rows(database: sqlite3.Connection, table: str, rewritten: Callable[[str], str]) -> Iterator[str]:
    rows = database.execute(f'select * from "{table}"')  # noqa: S608 - names of its own tables
    columns = [column[0] for column in rows.description]
    kind = _LOGS.get(table)
    seen: set[object] = set()
    for row in rows:
        own = row[columns.index(kind)] if kind else None
        if table in _LOGS and own in seen:
            continue
        seen.add(own)
        values = ", ".join(_literal(value, rewritten) for value in row)
        yield f'INSERT INTO "{table}" VALUES({values});'


def _literal(value: object, rewritten: Callable[[str], str]) -> str:
    match value:
        case None:
            return "NULL"
        case bytes():
            return f"X'{value.hex()}'"
        case str():
            text = rewritten(value) if value[:1] in {"{", "["} or len(value) > LONGEST else value
            return "'" + text.replace("'", "''") + "'"
    return str(value)


def told(value: Any) -> Iterator[str]:
    """Every text in a request but the results of tools."""
    match value:
        case str():
            yield value
        case Mapping():
            result = str(value.get("type")).endswith(("_result", "_output")) or value.get("role") == "tool"
            if not result and "functionResponse" not in value:
                for item in value.values():
                    yield from told(item)
        case list():
            for item in value:
                yield from told(item)
