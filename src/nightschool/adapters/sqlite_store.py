"""The store on SQLite: one file for the records, one folder for the blobs, one for the locks."""

from __future__ import annotations

import errno
import os
import threading
import weakref
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Connection, Engine, Table, create_engine, event, insert, select, text, update
from sqlalchemy.exc import DBAPIError, IntegrityError

from nightschool.adapters.blob_folder import BlobFolder
from nightschool.adapters.file_locks import holder, holding
from nightschool.adapters.record_tables import COUNTERS, HEAD, WRITTEN, record_of, record_table, row_of
from nightschool.core.errors import Busy, Conflict, NightschoolError, UserError
from nightschool.core.ports import R
from nightschool.core.values import Digest, Record

BUSY_MILLISECONDS = 30_000
MANY = 500
OF_CALLERS = "of callers: "
"""Ids in one query: every database allows that many parameters."""
BEGIN = "nightschool_begin"
"""Execution option of a connection: the statement that begins its transactions."""

Row = dict[str, object]


class SqliteStore:
    """The `Store` port. Open one a process; its threads may share it."""

    def __init__(self, *, home: Path, engine: Engine) -> None:
        self._home = home
        self._path = home / "nightschool.db"
        self._engine = engine
        self._writer = _writer(engine)
        self._blobs = BlobFolder(home / "blobs")
        self._writing = threading.Lock()
        self._close = weakref.finalize(self, engine.dispose)

    @classmethod
    def open(cls, home: Path) -> SqliteStore:
        """Open the store of a home; make it, or bring it up to date, where it is not."""
        path = home / "nightschool.db"
        _make_folders(home)
        engine = _engine(path)
        with _plainly(path):
            # Alembic is slow to import: an up-to-date store is opened without it.
            if not path.exists() or _revision(engine, path) != HEAD:
                with holding(home / "locks", "store", wait=True):
                    _migrate(engine, path)
        return cls(home=home, engine=engine)

    def close(self) -> None:
        self._close()

    def commit(self, *records: Record) -> None:
        if not records:
            return
        rows: dict[type[Record], list[tuple[Record, Row]]] = {}
        for record in records:
            rows.setdefault(type(record), []).append((record, row_of(record)))
        with self._transaction(writes=True) as connection:
            for kind, of_kind in rows.items():
                self._write(connection, kind, of_kind)

    def get(self, kind: type[R], record_id: str) -> R | None:
        table = record_table(kind)
        with self._transaction() as connection:
            body = connection.scalar(select(table.c.body).where(table.c.id == record_id))
        return None if body is None else self._read(kind, record_id, body)

    def find(self, kind: type[R], owner: str | None = None) -> Sequence[R]:
        table = record_table(kind)
        query = select(table.c.id, table.c.body).order_by(table.c.written)
        if owner is not None:
            query = query.where(table.c.owner == owner)
        with self._transaction() as connection:
            # Row by row: the texts of all sessions beside the sessions would take their memory twice.
            return tuple(self._read(kind, row.id, row.body) for row in connection.execute(query))

    def owners(self, kind: type[Record]) -> Sequence[str]:
        table = record_table(kind)
        with self._transaction() as connection:
            return tuple(connection.scalars(select(table.c.owner).distinct().order_by(table.c.owner)))

    def beside(self, kind: type[Record], name: str) -> Mapping[str, str]:
        table = record_table(kind)
        query = f"SELECT id, {table.c[name].name} FROM {table.name}"  # noqa: S608 - names of our own tables
        with self._transaction() as connection:
            # Of the driver itself: a row of SQLAlchemy's costs as much as ten thousand files have time for.
            return dict(connection.connection.cursor().execute(query))

    def remove(self, kind: type[Record], record_id: str) -> None:
        if not kind.GROWS:
            raise TypeError(f"a {kind.__name__} is never removed")
        table = record_table(kind)
        with self._transaction(writes=True) as connection:
            connection.execute(table.delete().where(table.c.id == record_id))

    def forget(self, removed: Sequence[Record], kept: Sequence[Record]) -> None:
        with self._transaction(writes=True) as connection:
            for record in removed:
                table = record_table(type(record))
                connection.execute(table.delete().where(table.c.id == record.id))
            for record in kept:
                table, row = record_table(type(record)), row_of(record)
                there = connection.execute(update(table).where(table.c.id == record.id).values(**row))
                if not there.rowcount:
                    place = _take(connection, WRITTEN, 1)
                    connection.execute(insert(table), {WRITTEN: place, **row})

    def purge(self, blobs: Collection[Digest]) -> int:
        with _plainly(self._path), self._engine.execution_options(**{BEGIN: ""}).connect() as connection:
            connection.exec_driver_sql("VACUUM")
            # What was written so far lies in the log beside the file until it is cut off.
            busy = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").scalar_one()
        if busy:
            raise Busy(f"{self._path} is read by another process; end it, or try again")
        return self._blobs.keep(blobs)

    def put_blob(self, content: bytes) -> Digest:
        return self._blobs.put(content)

    def blob(self, digest: Digest) -> bytes:
        return self._blobs.get(digest)

    def take(self, counter: str, count: int = 1) -> int:
        if count < 1:
            raise ValueError(f"cannot take {count} numbers of {counter}")
        with self._transaction(writes=True) as connection:
            # Apart from our own counters of rows, whatever name a caller chooses.
            return _take(connection, f"{OF_CALLERS}{counter}", count)

    def taken(self, counter: str) -> int:
        named = select(COUNTERS.c.value).where(COUNTERS.c.name == f"{OF_CALLERS}{counter}")
        with self._transaction() as connection:
            value: int | None = connection.scalar(named)
        return 0 if value is None else value

    def hold(self, lock: str, *, by: str = "") -> AbstractContextManager[None]:
        return holding(self._home / "locks", lock, by=by)

    def holder(self, lock: str) -> str | None:
        return holder(self._home / "locks", lock)

    def _write(self, connection: Connection, kind: type[Record], rows: list[tuple[Record, Row]]) -> None:
        table = record_table(kind)
        known = _bodies(connection, table, [record.id for record, _ in rows])
        new: dict[str, Row] = {}
        changed: dict[str, Row] = {}
        for record, row in rows:
            body = known.get(record.id)
            if body is None:
                new[record.id] = row
            elif body == row["body"] or self._read(kind, record.id, body) == record:
                continue
            elif record.GROWS:
                (new if record.id in new else changed)[record.id] = row
            else:
                raise Conflict(
                    f"{kind.__name__} {record.id} is stored with another content in {self._path}; "
                    "nothing was written"
                )
            known[record.id] = str(row["body"])
        if new:
            first = _take(connection, WRITTEN, len(new))
            placed = [{WRITTEN: first + index, **row} for index, row in enumerate(new.values())]
            connection.execute(insert(table), placed)
        for record_id, row in changed.items():
            connection.execute(update(table).where(table.c.id == record_id).values(**row))

    def _read(self, kind: type[R], record_id: str, body: str) -> R:
        try:
            record = record_of(kind, body)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            field = ".".join(str(part) for part in first["loc"])
            raise UserError(
                f"{self._path}: {kind.__name__} {record_id}: field {field or 'body'}: {first['msg']}; "
                "it was written by another version of nightschool or by hand"
            ) from error
        if not isinstance(record, kind):
            raise TypeError(f"{kind.__name__} was read as {type(record).__name__}")
        return record

    @contextmanager
    def _transaction(self, *, writes: bool = False) -> Iterator[Connection]:
        with _plainly(self._path):
            if not writes:
                with self._engine.begin() as connection:
                    yield connection
                return
            # Threads queue here, in turn; SQLite's own waiting is for other processes and not fair.
            with self._writing, self._writer.begin() as connection:
                yield connection


def _bodies(connection: Connection, table: Table, ids: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for start in range(0, len(ids), MANY):
        chosen = table.c.id.in_(ids[start : start + MANY])
        found.update(
            (row.id, row.body) for row in connection.execute(select(table.c.id, table.c.body).where(chosen))
        )
    return found


def _take(connection: Connection, counter: str, count: int) -> int:
    raised = update(COUNTERS).where(COUNTERS.c.name == counter).values(value=COUNTERS.c.value + count)
    last: int | None = connection.scalar(raised.returning(COUNTERS.c.value))
    if last is None:
        connection.execute(insert(COUNTERS).values(name=counter, value=count))
        return 1
    return last - count + 1


def _make_folders(home: Path) -> None:
    for folder in (home, home / "blobs", home / "locks"):
        try:
            # Only folders that we make: the mode of one that a person chose is theirs.
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(
                f"cannot make the folder {folder}: {error.strerror}; "
                "set NIGHTSCHOOL_HOME to a folder that you may write to"
            ) from error


def _engine(path: Path) -> Engine:
    engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": BUSY_MILLISECONDS / 1000})

    def connected(connection: Any, _: object) -> None:
        # The driver's own idea of when a transaction begins would leave schema changes outside.
        connection.isolation_level = None
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        # What is deleted or replaced is overwritten, not only given free.
        connection.execute("PRAGMA secure_delete = ON")

    def begun(connection: Connection) -> None:
        statement = connection.get_execution_options().get(BEGIN, "BEGIN")
        if statement:
            connection.exec_driver_sql(statement)

    event.listen(engine, "connect", connected)
    event.listen(engine, "begin", begun)
    return engine


def _writer(engine: Engine) -> Engine:
    """The same connections for transactions that write: SQLite must know so from their beginning."""
    return engine.execution_options(**{BEGIN: "BEGIN IMMEDIATE"})


def _revision(engine: Engine, path: Path) -> str | None:
    """The store's revision, None where it is new. Refuses what this version must not touch."""
    with engine.begin() as connection:
        tables = set(connection.scalars(text("SELECT name FROM sqlite_master WHERE type = 'table'")))
        if not tables:
            return None
        if "alembic_version" not in tables:
            raise UserError(
                f"{path} is a database of something else (it has the table {min(tables)!r}); "
                "set NIGHTSCHOOL_HOME to another folder"
            )
        revision = connection.scalar(text("SELECT version_num FROM alembic_version"))
    if not isinstance(revision, str) or not revision.isdigit():
        raise UserError(
            f"{path} has the unknown version {revision!r}; set NIGHTSCHOOL_HOME to another folder"
        )
    if revision > HEAD:
        raise UserError(
            f"{path} has version {revision}, this nightschool knows up to {HEAD}; "
            "upgrade nightschool, or set NIGHTSCHOOL_HOME to another folder"
        )
    return revision


def _migrate(engine: Engine, path: Path) -> None:
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    if _revision(engine, path) == HEAD:
        return  # another process was quicker
    from alembic import command  # noqa: PLC0415 - see open()
    from alembic.config import Config  # noqa: PLC0415

    with engine.execution_options(**{BEGIN: ""}).connect() as connection:
        connection.exec_driver_sql("PRAGMA journal_mode = WAL")  # stays with the file
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    with _writer(engine).begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, HEAD)


@contextmanager
def _plainly(path: Path) -> Iterator[None]:
    """Say what is wrong with the database in the person's words."""
    try:
        yield
    except IntegrityError as error:
        raise Conflict(f"{path}: {error.orig}; nothing was written") from error
    except OSError as error:
        way = "; free some space" if error.errno in {errno.ENOSPC, errno.EDQUOT} else ""
        raise UserError(f"cannot open {path}: {error.strerror}{way}") from error
    except DBAPIError as error:
        raise _worded(path, getattr(error.orig, "sqlite_errorname", ""), str(error.orig)) from error


def _worded(path: Path, code: str, words: str) -> NightschoolError:
    match code.split("_")[1:2]:
        case ["BUSY" | "LOCKED"]:
            return Busy(
                f"{path} was locked by another process for {BUSY_MILLISECONDS // 1000} seconds; "
                "end that process, or wait for it"
            )
        case ["FULL"]:
            return NightschoolError(f"{path}: the disk is full; nothing of this was written; free some space")
        case ["IOERR"]:
            return NightschoolError(
                f"{path}: {words}: the disk is full or failing; nothing of this was written; free some space"
            )
        case ["READONLY" | "CANTOPEN" | "PERM"]:
            return UserError(
                f"{path} cannot be written ({words}); give yourself the right to its folder, "
                "or set NIGHTSCHOOL_HOME to another one"
            )
        case ["NOTADB" | "CORRUPT"]:
            return UserError(
                f"{path} is no intact database ({words}); restore it from a backup, "
                "or move it away to begin anew"
            )
        case _:
            return NightschoolError(f"{path}: {words}")
