"""What OpenCode stores: `opencode.db` since 1.2, before it a tree of small JSON files, both below
`~/.local/share/opencode`. Relieves the transcripts of the two ways to the same rows.

Nothing is ever written there. SQLite would lay files of its own beside a database in WAL mode, so one that
is in use is read with the files that are there, and one whose writer died is read from a copy.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson

from nightschool.adapters.rows import LONGEST, open_file
from nightschool.core.sessions import LeftOut

DATABASE = "opencode.db"
MAGIC = b"SQLite format 3\0"
HEAD = "head"
MESSAGE = "message"
WAIT_SECONDS = 2.0
"""So long a database that is being written is waited for."""


class Unreadable(Exception):
    """Why a store cannot be read, in words."""


def is_database(path: str) -> bool:
    """By its first bytes. Of the many small files of a tree none is opened."""
    if path.endswith(".json"):
        return False
    file = open_file(path)
    if isinstance(file, LeftOut):
        return False
    with file:
        return file.read(len(MAGIC)) == MAGIC


@contextmanager
def database(path: str) -> Iterator[sqlite3.Connection]:
    """A connection that changes nothing. Raises `Unreadable`."""
    log, index = Path(f"{path}-wal"), Path(f"{path}-shm")
    written = log.is_file() and log.stat().st_size > 0
    with tempfile.TemporaryDirectory(prefix="nightschool-opencode-") as folder:
        try:
            place, mode = path, "ro" if written else "ro&immutable=1"
            if written and not index.exists():
                place, mode = os.path.join(folder, DATABASE), "rw"  # noqa: PTH118 - a text, as `path` is
                shutil.copyfile(path, place)
                shutil.copyfile(log, f"{place}-wal")
            address = f"file:{quote(place)}?mode={mode}"
            with closing(sqlite3.connect(address, uri=True, timeout=WAIT_SECONDS)) as connection:
                connection.row_factory = sqlite3.Row
                yield connection
        except (sqlite3.Error, OSError) as error:
            raise Unreadable(f"the database cannot be read: {error}") from error


def sessions(path: str) -> list[tuple[str, datetime]]:
    """Id and time of the last change of each session in a database. Raises `Unreadable`."""
    with database(path) as connection:
        found = connection.execute("select id, time_updated from session")
        return [
            (str(row["id"]), when(row["time_updated"]) or datetime.fromtimestamp(0, UTC)) for row in found
        ]


def rows_of_database(path: str, session: str) -> list[dict[str, Any]]:
    """The head of a session, then its messages in order, each with its parts. Raises `Unreadable`."""
    with database(path) as connection:
        head = connection.execute("select * from session where id = ?", (session,)).fetchone()
        if head is None:
            return []
        told = {key: head[key] for key in head.keys()}  # noqa: SIM118 - a Row is no mapping
        rows = [
            {
                "$kind": HEAD,
                "id": told["id"],
                "directory": told.get("directory"),
                "version": told.get("version"),
                "parentID": told.get("parent_id"),
                "revert": _json(told.get("revert")),
                "permission": _json(told.get("permission")),
            }
        ]
        parts: dict[str, list[dict[str, Any]]] = {}
        for part in connection.execute(
            "select id, message_id, data from part where session_id = ? order by id", (session,)
        ):
            parts.setdefault(part["message_id"], []).append({**_object(part["data"]), "id": part["id"]})
        messages = connection.execute(
            "select id, time_created, data from message where session_id = ? order by time_created, id",
            (session,),
        )
        rows += [_message(one["id"], _object(one["data"]), parts.get(one["id"], [])) for one in messages]
        return rows


def rows_of_tree(path: Path) -> list[dict[str, Any]]:
    """The same of a tree: `session/<project>/<session>.json`, `message/<session>/*.json`, and parts below
    `part/<message>/`, in the oldest version below `part/`."""
    root = path.parent.parent.parent
    head = _file(path)
    found = [_file(file) for file in sorted((root / "message" / str(head.get("id"))).glob("*.json"))]
    flat: dict[str, list[dict[str, Any]]] = {}
    for file in sorted((root / "part").glob("*.json")):
        part = _file(file)
        flat.setdefault(str(part.get("messageID")), []).append(part)
    rows: list[dict[str, Any]] = [{**head, "$kind": HEAD}]
    for message in sorted(found, key=_born):
        own = str(message.get("id"))
        nested = [_file(file) for file in sorted((root / "part" / own).glob("*.json"))] if _plain(own) else []
        rows.append(_message(own, message, nested + flat.get(own, [])))
    return rows


def when(value: object) -> datetime | None:
    """A time in milliseconds since 1970."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        return datetime.fromtimestamp(value / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _message(own: str, told: Mapping[str, Any], parts: list[dict[str, Any]]) -> dict[str, Any]:
    return {**told, "$kind": MESSAGE, "id": own, "parts": parts}


def _born(message: Mapping[str, Any]) -> tuple[float, str]:
    time = message.get("time")
    created = time.get("created") if isinstance(time, dict) else None
    stamp = created if isinstance(created, int | float) else 0
    return float(stamp), str(message.get("id"))


def _plain(name: str) -> bool:
    """Whether a name out of a file is no way out of the folder."""
    return name not in {"", ".", ".."} and "/" not in name and "\0" not in name


def _file(path: Path) -> dict[str, Any]:
    file = open_file(str(path))
    if isinstance(file, LeftOut):
        return {}
    with file:
        return _object(file.read(LONGEST))


def _object(content: bytes | str) -> dict[str, Any]:
    value = _json(content)
    return value if isinstance(value, dict) else {}


def _json(content: object) -> Any:
    if not isinstance(content, bytes | str):
        return None
    try:
        return orjson.loads(content)
    except ValueError:
        return None
