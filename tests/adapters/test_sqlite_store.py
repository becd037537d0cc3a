"""The store on SQLite, beyond the contract: processes, versions, damage, rights."""

from __future__ import annotations

import importlib
import os
import pkgutil
import signal
import sqlite3
import stat
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, event

import nightschool.core
from nightschool.adapters import migrations
from nightschool.adapters.record_tables import HEAD, KINDS, METADATA
from nightschool.adapters.sqlite_store import SqliteStore
from nightschool.core.errors import Busy, Conflict, NightschoolError, NotFound, UserError
from nightschool.core.sessions import Offset
from nightschool.core.tasks import TaskAct, TaskMark
from nightschool.core.trials import Partition
from nightschool.core.values import Digest, Record, digest_bytes

AT = datetime(2025, 3, 1, tzinfo=UTC)
PROLOGUE = """
import os, signal, sys
from pathlib import Path
from nightschool.adapters.sqlite_store import SqliteStore
from nightschool.core.trials import Partition
from nightschool.core.values import Digest

def partition(name):
    return Partition(wealth=Digest(name), targets=("t-1",), guards=())

home, name = Path(sys.argv[1]), sys.argv[2]
"""
WRITER = """
store = SqliteStore.open(home)
for number in range(40):
    store.commit(partition(f"{name} {number}"))
    print(store.take("draws"), flush=True)
"""
ENDLESS = """
store = SqliteStore.open(home)
number = 0
while True:
    store.commit(partition(f"{name} {number} a"), partition(f"{name} {number} b"))
    print(number, flush=True)
    number += 1
"""
HOLDER = """
store = SqliteStore.open(home)
with store.hold(name):
    print(os.getpid(), flush=True)
    sys.stdin.read()
"""
UP_TO_DATE = """
store = SqliteStore.open(home)
print("alembic" in sys.modules)
"""


def start(script: str, home: Path, name: str = "one") -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PROLOGUE + script, str(home), name]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def kill(process: subprocess.Popen[str]) -> str:
    process.send_signal(signal.SIGKILL)
    rest, _ = process.communicate()
    assert process.returncode == -signal.SIGKILL
    return rest


def partition(name: str) -> Partition:
    return Partition(wealth=Digest(name), targets=("t-1",), guards=())


def change(home: Path, *statements: str) -> None:
    connection = sqlite3.connect(home / "nightschool.db", isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_each_kind_of_record_has_a_table() -> None:
    """A kind of record that core declares and no table keeps would be lost at its first commit."""
    modules = [
        importlib.import_module(f"nightschool.core.{module.name}")
        for module in pkgutil.iter_modules(nightschool.core.__path__)
    ]
    values = [value for module in modules for value in vars(module).values() if isinstance(value, type)]
    declared = {value for value in values if issubclass(value, Record) and value is not Record}
    assert {kind.record for kind in KINDS} == declared
    assert len({kind.table for kind in KINDS}) == len(KINDS)


def test_migrations_end_at_the_declared_schema(tmp_path: Path) -> None:
    """A store made by the migrations has exactly the declared tables, and HEAD is their last revision."""
    SqliteStore.open(tmp_path).close()
    engine = create_engine(f"sqlite:///{tmp_path / 'nightschool.db'}")
    with engine.connect() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, METADATA) == []
        assert context.get_current_revision() == HEAD
    engine.dispose()
    assert ScriptDirectory(migrations.__path__[0]).get_current_head() == HEAD


def test_a_store_of_the_first_schema_is_brought_up_to_date(tmp_path: Path) -> None:
    """What was stored before tasks could be marked is still there, and marks can be kept."""
    kept = Partition(wealth=Digest("w"), targets=("t-1",), guards=())
    SqliteStore.open(tmp_path).commit(kept)
    with sqlite3.connect(tmp_path / "nightschool.db") as old:
        old.execute("DROP TABLE task_marks")
        old.execute("UPDATE alembic_version SET version_num = '0001'")
    store = SqliteStore.open(tmp_path)
    said = TaskMark(task="t-1", act=TaskAct.PROTECT, actor="sam", at=AT)
    store.commit(said)
    assert store.find(Partition) == (kept,)
    assert store.find(TaskMark, "t-1") == (said,)


def test_cursors_of_an_older_schema_keep_their_place(tmp_path: Path) -> None:
    """What was read before stamps stood beside the cursors is not read again."""
    cursor = Offset(source="s", path="/x", position=3, size=9, mtime=AT, head="h", session="one")
    SqliteStore.open(tmp_path).commit(cursor)
    with sqlite3.connect(tmp_path / "nightschool.db") as old:
        old.execute("ALTER TABLE offsets DROP COLUMN stamp")
        old.execute("UPDATE alembic_version SET version_num = '0004'")
    store = SqliteStore.open(tmp_path)
    assert store.beside(Offset, "stamp") == {cursor.id: cursor.stamp}
    assert store.find(Offset) == (cursor,)


def test_two_processes_at_once_lose_nothing(tmp_path: Path) -> None:
    """Two processes that open a new home and write at once lose no record and share no number."""
    writers = [start(WRITER, tmp_path / "home", name) for name in ("one", "two")]
    taken = [number for writer in writers for number in writer.communicate(timeout=120)[0].split()]
    assert [writer.returncode for writer in writers] == [0, 0]
    assert sorted(map(int, taken)) == list(range(1, 81))
    stored = {found.wealth for found in SqliteStore.open(tmp_path / "home").find(Partition)}
    assert stored == {f"{name} {number}" for name in ("one", "two") for number in range(40)}


def test_kill_9_between_commits_loses_nothing_that_was_committed(tmp_path: Path) -> None:
    """A process killed in the middle of its commits leaves each commit whole or absent, never half."""
    for attempt in range(3):
        process = start(ENDLESS, tmp_path, f"try {attempt}")
        lines = [line_of(process) for _ in range(5 + attempt)]
        told = [*lines, *kill(process).splitlines(keepends=True)]
        confirmed = int([line for line in told if line.endswith("\n")][-1])
        store = SqliteStore.open(tmp_path)
        stored = [f.wealth for f in store.find(Partition) if f.wealth.startswith(f"try {attempt} ")]
        assert len(stored) % 2 == 0
        assert len(stored) // 2 > confirmed
        store.commit(partition(f"after {attempt}"))


def test_a_lock_dies_with_its_process(tmp_path: Path) -> None:
    """B56: while its holder lives a lock is refused, naming the pid; after kill -9 it is free at once."""
    store = SqliteStore.open(tmp_path)
    process = start(HOLDER, tmp_path, "cycle")
    pid = line_of(process).strip()
    with pytest.raises(Busy, match=rf"process {pid}\b"), store.hold("cycle"):
        pass
    kill(process)
    with store.hold("cycle"):
        assert (tmp_path / "locks" / "cycle.lock").read_text().strip() == str(os.getpid())


@pytest.mark.parametrize("name", ["../cycle", "", "a/b", "Cycle", ".hidden"])
def test_a_lock_is_no_path(tmp_path: Path, name: str) -> None:
    """A lock's name never leads out of the folder of locks."""
    store = SqliteStore.open(tmp_path)
    with pytest.raises(ValueError, match="not a name of a lock"), store.hold(name):
        pass


def test_an_up_to_date_store_is_opened_without_alembic(tmp_path: Path) -> None:
    """Alembic costs a start more than the rest: only a store that is behind imports it."""
    first = start(UP_TO_DATE, tmp_path)
    assert first.communicate()[0].strip() == "True"
    again = start(UP_TO_DATE, tmp_path)
    assert again.communicate()[0].strip() == "False"


def test_a_store_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    """The refusal names the file, its version, ours and the way out, and changes nothing."""
    SqliteStore.open(tmp_path).close()
    change(tmp_path, "UPDATE alembic_version SET version_num = '0999'")
    before = (tmp_path / "nightschool.db").read_bytes()
    with pytest.raises(UserError, match=rf"nightschool\.db has version 0999.* up to {HEAD}.*upgrade"):
        SqliteStore.open(tmp_path)
    assert (tmp_path / "nightschool.db").read_bytes() == before


def test_a_database_of_something_else_is_refused(tmp_path: Path) -> None:
    """A file that holds another program's tables is left alone."""
    change(tmp_path, "CREATE TABLE songs (id INTEGER)")
    with pytest.raises(UserError, match=r"something else.*songs.*NIGHTSCHOOL_HOME"):
        SqliteStore.open(tmp_path)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    """A corrupt file is named, and neither mended nor replaced by itself."""
    path = tmp_path / "nightschool.db"
    path.write_bytes(b"not a database at all, but long enough to have a header" * 100)
    with pytest.raises(UserError, match=r"no intact database.*move it away"):
        SqliteStore.open(tmp_path)
    assert path.read_bytes().startswith(b"not a database")


def test_a_home_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """Where the home is a file, the error names it and the variable that moves it."""
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"cannot make the folder .*file.*NIGHTSCHOOL_HOME"):
        SqliteStore.open(tmp_path / "file")


def test_a_full_disk_is_said(tmp_path: Path) -> None:
    """No space left is an error that says so; the records of that commit are not there, the old ones are."""
    store = SqliteStore.open(tmp_path)
    store.commit(partition("old"))

    def no_more_pages(connection: Any, _: object) -> None:
        connection.execute("PRAGMA max_page_count = 1")  # raised by SQLite to the present size

    event.listen(store._engine, "connect", no_more_pages)
    store._engine.dispose()
    with pytest.raises(NightschoolError, match="disk is full"):
        store.commit(*(partition(f"{number} " + "x" * 4000) for number in range(50)))
    assert [found.wealth for found in store.find(Partition)] == ["old"]


def test_a_read_only_database_is_said(tmp_path: Path) -> None:
    """A store that cannot be written names the file and what to do."""
    store = SqliteStore.open(tmp_path)

    def only_reads(connection: Any, _: object) -> None:
        connection.execute("PRAGMA query_only = ON")

    event.listen(store._engine, "connect", only_reads)
    store._engine.dispose()
    with pytest.raises(UserError, match=r"nightschool\.db cannot be written"):
        store.commit(partition("new"))


def test_a_locked_database_is_said(tmp_path: Path) -> None:
    """Where another process keeps the file locked beyond the wait, that is Busy and names the file."""
    store = SqliteStore.open(tmp_path)

    def impatient(connection: Any, _: object) -> None:
        connection.execute("PRAGMA busy_timeout = 1")

    event.listen(store._engine, "connect", impatient)
    store._engine.dispose()
    other = sqlite3.connect(tmp_path / "nightschool.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Busy, match=r"nightschool\.db was locked"):
        store.commit(partition("new"))
    other.close()


def test_only_the_owner_can_read(tmp_path: Path) -> None:
    """Records, blobs and locks are 0600 in folders of 0700, whatever the umask; other folders keep theirs."""
    home = tmp_path / "deep" / "home"
    old = os.umask(0)
    try:
        store = SqliteStore.open(home)
        store.commit(partition("one"))
        digest = store.put_blob(b"secret")
        with store.hold("cycle"):
            pass
        files = [path for path in home.rglob("*") if path.is_file()]
        folders = [home, *(path for path in home.rglob("*") if path.is_dir())]
    finally:
        os.umask(old)
    assert {path.name for path in files} >= {"nightschool.db", "nightschool.db-wal", digest[2:]}
    assert {mode(path) for path in files} == {0o600}
    assert {mode(path) for path in folders} == {0o700}
    chosen = tmp_path / "chosen"
    chosen.mkdir(mode=0o755)
    SqliteStore.open(chosen)
    assert mode(chosen) == 0o755


def test_a_damaged_blob_is_not_handed_out(tmp_path: Path) -> None:
    """What is read back has the digest that it was asked for, or is an error; storing it again mends it."""
    store = SqliteStore.open(tmp_path)
    digest = store.put_blob(b"as it was")
    (path,) = (path for path in (tmp_path / "blobs").rglob("*") if path.is_file())
    assert path == tmp_path / "blobs" / digest[:2] / digest[2:]
    path.write_bytes(b"as it is!")
    with pytest.raises(Conflict, match="no longer holds"):
        store.blob(digest)
    assert store.put_blob(b"as it was") == digest
    assert store.blob(digest) == b"as it was"


@pytest.mark.parametrize("name", ["../../etc/passwd", "", "ab", "A" * 64, digest_bytes(b"") + "/"])
def test_a_digest_is_no_path(tmp_path: Path, name: str) -> None:
    """Only a digest names a blob; nothing else becomes a path."""
    with pytest.raises(NotFound):
        SqliteStore.open(tmp_path).blob(Digest(name))


def test_an_unknown_key_in_a_body_is_an_error(tmp_path: Path) -> None:
    """A record that holds a key of another version is refused, naming file, kind, id and field."""
    store = SqliteStore.open(tmp_path)
    store.commit(partition("one"))
    change(tmp_path, """UPDATE partitions SET body = replace(body, '"guards"', '"mood": 1, "guards"')""")
    with pytest.raises(UserError, match=r"nightschool\.db: Partition one: field mood"):
        store.get(Partition, "one")
    change(tmp_path, """UPDATE partitions SET body = '{"wealth": 7, "targets": [], "guards": []}'""")
    with pytest.raises(UserError, match="field wealth"):
        store.find(Partition)


def test_text_that_no_file_can_hold_is_an_error(tmp_path: Path) -> None:
    """Half a surrogate pair cannot be stored: said at once, with the record's name, nothing written."""
    store = SqliteStore.open(tmp_path)
    with pytest.raises(ValueError, match=r"Partition 'half .ud800' cannot be stored"):
        store.commit(partition("whole"), partition("half \ud800"))
    assert store.find(Partition) == ()


def test_a_kind_without_a_table_is_an_error(tmp_path: Path) -> None:
    """A kind that nobody declared is refused by name."""

    class Stranger(Record):
        pass

    with pytest.raises(TypeError, match="Stranger has no table"):
        SqliteStore.open(tmp_path).find(Stranger)


def test_many_records_in_one_commit(tmp_path: Path) -> None:
    """A commit may hold more records than a query may hold ids; one that grows twice keeps the last."""
    store = SqliteStore.open(tmp_path)
    many = [partition(f"{number:04d}") for number in range(1200)]
    store.commit(*many, *many[:5])
    assert list(store.find(Partition)) == many
    first, then = (
        Offset(source="codex", path="p", position=n, size=9, mtime=AT, head="", session="") for n in (1, 2)
    )
    store.commit(first, then)
    assert store.find(Offset) == (then,)
