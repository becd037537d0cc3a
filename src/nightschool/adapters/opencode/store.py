"""What OpenCode stores: `opencode.db` since 1.2, before it a tree of small JSON files, both below
`~/.local/share/opencode`. Relieves the transcripts of the two ways to the same rows.
"""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from nightschool.adapters.conversation import milliseconds
from nightschool.adapters.databases import database
from nightschool.adapters.listing import NEVER, is_name
from nightschool.adapters.snapshot_rows import content_of, object_in
from nightschool.core.sessions import LeftOut, in_text

DATABASE = "opencode.db"
HEAD = "head"
MESSAGE = "message"


_COUNTED = """
select session_id, count(*) as rows from message group by session_id
union all
select session_id, count(*) from part group by session_id
"""
# A column beside a lone max() is that of the row that has it: the session's last message.
_TIMES = """
select session_id, max(time_updated) as changed from message group by session_id
union all
select session_id, max(time_updated) from part where message_id in
    (select id from (select id, max(time_created) from message group by session_id))
    group by session_id
"""


class Stored(NamedTuple):
    """A session as a cheap look shows it."""

    own: str
    rows: int
    """Messages and their parts."""
    changed: datetime


def sessions(path: str) -> list[Stored]:
    """Those of a database, in order. Raises `Unreadable`.

    Of the parts, the bulk of it, only what an index answers is asked: how many there are, and when those of
    the last message changed, which may still be written to.
    """
    rows: Counter[str] = Counter()
    times: dict[str, list[object]] = {}
    with database(path) as connection:
        for row in connection.execute("select id, time_updated from session order by id"):
            times[row["id"]] = [row["time_updated"]]
        for row in connection.execute(_COUNTED):
            rows[row["session_id"]] += row["rows"]
        for row in connection.execute(_TIMES):
            times.get(row["session_id"], []).append(row["changed"])
    moments = {own: [milliseconds(stamp) or NEVER for stamp in stamps] for own, stamps in times.items()}
    return [Stored(str(own), rows[own], max(moments[own])) for own in times]


@dataclass(slots=True)
class Found:
    """The rows of a session, and what of it cannot be read."""

    path: str
    rows: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)

    def file(self, path: Path) -> dict[str, Any] | None:
        """The object that a file of the tree holds."""
        content = content_of(str(path))
        if isinstance(content, LeftOut):
            self.left_out.append(content)
            return None
        return self._object(content, in_text(str(path)), 0, "")

    def files(self, folder: Path) -> Iterator[dict[str, Any]]:
        """The objects of a folder's files. A folder that is not there has none."""
        try:
            names = sorted(entry.name for entry in os.scandir(folder) if entry.name.endswith(".json"))
        except FileNotFoundError:
            return
        except OSError as error:
            detail = f"a folder that cannot be listed: {error.strerror}"
            self.left_out.append(LeftOut(path=in_text(str(folder)), reason="unreadable", detail=detail))
            return
        for name in names:
            value = self.file(folder / name)
            if value is not None:
                yield value

    def below(self, folder: Path, name: object) -> Iterator[dict[str, Any]]:
        """The same of a folder that a file names: a name that leads out of the tree, or is no name of a
        folder at all, leads nowhere and is not told."""
        if is_name(name):
            yield from self.files(folder / name)
        else:
            self._bad(self.path, 0, "the id of the session, or of a message of it, names no folder")

    def row(self, table: str, row: sqlite3.Row) -> dict[str, Any] | None:
        """The object in the data of a row."""
        return self._object(row["data"], self.path, None, f"{table}, row {row['place']}: ")

    def list_or_object(self, told: Mapping[str, Any], name: str) -> Any:
        """What a column of the session's own row holds as JSON, if anything."""
        if not told.get(name):
            return None
        try:
            return orjson.loads(told[name])
        except (ValueError, TypeError):
            self._bad(self.path, None, f"session, row {told['place']}, {name}: no JSON")
            return None

    def _object(self, content: object, path: str, offset: int | None, where: str) -> dict[str, Any] | None:
        value = object_in(content) if isinstance(content, bytes) else "no text"
        if isinstance(value, dict):
            return value
        self._bad(path, offset, where + (value if content else "empty"))
        return None

    def _bad(self, path: str, offset: int | None, detail: str) -> None:
        self.left_out.append(LeftOut(path=path, reason="bad-record", offset=offset, detail=detail))


def rows_of_database(path: str, session: str) -> Found:
    """The head of a session, then its messages in order, each with its parts. Raises `Unreadable`."""
    found = Found(in_text(path))
    with database(path) as connection:
        head = connection.execute("select rowid as place, * from session where id = ?", (session,)).fetchone()
        if head is None:
            return found
        told = {key: head[key] for key in head.keys()}  # noqa: SIM118 - a Row is no mapping
        found.rows.append(
            {
                "$kind": HEAD,
                "id": told["id"],
                "directory": told.get("directory"),
                "version": told.get("version"),
                "parentID": told.get("parent_id"),
                "revert": found.list_or_object(told, "revert"),
                "permission": found.list_or_object(told, "permission"),
            }
        )
        parts: dict[str, list[dict[str, Any]]] = {}
        for row in connection.execute(
            "select rowid as place, id, message_id, cast(data as blob) as data from part"
            " where session_id = ? order by id",
            (session,),
        ):
            part = found.row("part", row)
            if part is not None:
                parts.setdefault(row["message_id"], []).append({**part, "id": row["id"]})
        for row in connection.execute(
            "select rowid as place, id, cast(data as blob) as data from message"
            " where session_id = ? order by time_created, id",
            (session,),
        ):
            message = found.row("message", row)
            if message is not None:
                found.rows.append(_message(row["id"], message, parts.get(row["id"], [])))
    return found


def rows_of_tree(path: Path, head: Mapping[str, Any]) -> Found:
    """The same of a tree: `session/<project>/<session>.json`, `message/<session>/*.json`, and parts below
    `part/<message>/`, in the oldest version below `part/`."""
    found = Found(in_text(str(path)), [{**head, "$kind": HEAD}])
    root = path.parent.parent.parent
    flat: dict[str, list[dict[str, Any]]] = {}
    for part in found.files(root / "part"):
        flat.setdefault(str(part.get("messageID")), []).append(part)
    messages = found.below(root / "message", head.get("id"))
    for message in sorted(messages, key=_born):
        own = message.get("id")
        nested = list(found.below(root / "part", own))
        found.rows.append(_message(own, message, nested + flat.get(str(own), [])))
    return found


def _message(own: object, told: Mapping[str, Any], parts: list[dict[str, Any]]) -> dict[str, Any]:
    return {**told, "$kind": MESSAGE, "id": own, "parts": parts}


def _born(message: Mapping[str, Any]) -> tuple[float, str]:
    time = message.get("time")
    created = time.get("created") if isinstance(time, dict) else None
    stamp = created if isinstance(created, int | float) else 0
    return float(stamp), str(message.get("id"))
