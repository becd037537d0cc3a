"""OpenCode's transcripts: the database and the tree of files before it, read and never written to."""

from __future__ import annotations

import errno
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from corpus import absent, counted
from cycle_builders import tree
from nightschool.adapters import databases
from nightschool.adapters.opencode.transcripts import OpenCodeTranscripts
from nightschool.adapters.sqlite_store import SqliteStore
from nightschool.core.jobs import MARKER
from nightschool.core.sessions import CallStatus, Roots, Session
from nightschool.core.spent import Spent
from nightschool.stages.harvest import HarvestRequest, harvest
from nightschool.testing.clock import FakeClock
from samples import AT, OPENCODE_SCHEMA
from transcripts import CASES

SOURCE = OpenCodeTranscripts(redact=lambda text: text.replace("hunter2", "[secret]"))


def said(text: str, **more: object) -> dict[str, object]:
    return {"type": "text", "text": text, **more}


def call(number: int, tool: str = "bash", **state: object) -> dict[str, object]:
    state = {"status": "completed", "input": {"command": "make"}, "output": "ok", **state}
    return {"type": "tool", "tool": tool, "callID": f"call_{number}", "state": state}


class Store:
    """A database as OpenCode makes it, in WAL mode, with its writer at work."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.writer = sqlite3.connect(path)
        self.writer.execute("pragma journal_mode=wal")
        self.writer.executescript(OPENCODE_SCHEMA)
        self._number = 0

    def session(self, own: str, changed: int = 0, **more: object) -> None:
        row = {"parent_id": None, "revert": None, "permission": None, **more}
        self.writer.execute(
            "insert or replace into session values (?, ?, '/home/me/app', '1.18.33', ?, ?, ?, ?)",
            (own, row["parent_id"], row["revert"], row["permission"], AT, AT + changed),
        )
        self.writer.commit()

    def message(self, session: str, role: str, *parts: Mapping[str, object], **more: object) -> str:
        self._number += 1
        own, at = f"msg_{self._number:03}", AT + 1000 * self._number
        told = {"role": role, "time": {"created": at}, **more}
        self.writer.execute(
            "insert into message values (?, ?, ?, ?, ?)", (own, session, at, at, json.dumps(told))
        )
        for number, part in enumerate(parts):
            row = (f"prt_{self._number:03}{number}", own, session, at, at, json.dumps(part))
            self.writer.execute("insert into part values (?, ?, ?, ?, ?, ?)", row)
        self.writer.commit()
        return own


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def database(home: Path) -> Any:
    made = Store(home / ".local/share/opencode/opencode.db")
    yield made
    made.writer.close()


def found(home: Path) -> dict[str, Session]:
    """All sessions that a look at that home leads to."""
    results = [SOURCE.read(ref, None) for ref in SOURCE.discover(Roots(home=str(home)))]
    assert all(result.left_out == () for result in results)
    return {one.session.session_id: one.session for one in results if one.session is not None}


def words(session: Session) -> list[str]:
    return [turn.text for turn in session.human_turns]


@absent
@pytest.mark.cases
@pytest.mark.parametrize(
    ("name", "expected"),
    [("storage_legacy", ("0", "1", "0", "0")), ("storage_v2", ("3", "2", "1", "0"))],
)
def test_trees_of_earlier_versions_give_their_figures(
    name: str, expected: tuple[str, ...], home: Path
) -> None:
    """Parts nested by message or flat; a command that failed although its call completed is an error."""
    shutil.copytree(CASES / "opencode" / name, home / ".local/share/opencode/storage")
    sessions = found(home).values()
    total = [sum(int(counted(one)[place]) for one in sessions) for place in range(4)]
    assert tuple(map(str, total)) == expected
    assert {one.project for one in sessions} <= {"/tmp/large", "/tmp/repo", "/tmp/drift"}


def test_a_command_that_was_stopped_is_not_done(database: Store, home: Path) -> None:
    """It is written as completed, without an exit code, and its output says who ended it."""
    cut = "(no output)\n\n<shell_metadata>\nUser aborted the command\n</shell_metadata>"
    database.session("ses_a", 1)
    database.message("ses_a", "user", said("go"))
    stopped = call(1, output=cut, metadata={"exit": None})
    quoted = call(2, output=cut, metadata={"exit": 0})
    database.message("ses_a", "assistant", stopped, quoted)
    assert [one.status for one in found(home)["ses_a"].calls] == [CallStatus.UNKNOWN, CallStatus.OK]


def test_sessions_of_a_database_in_use(database: Store, home: Path) -> None:
    """What lies in the log of a writer at work is read too, calls with what they gave; no file changes."""
    database.session("ses_a", 1)
    database.message("ses_a", "user", said("go"), said("put in", synthetic=True))
    database.message(
        "ses_a",
        "assistant",
        said("Going."),
        call(1),
        call(2, metadata={"exit": 2}),
        call(3, status="error", error="The user rejected permission to use this tool."),
        call(4, status="running"),
        call(5, "write", input={"filePath": "a.py", "content": "hunter2"}),
        call(6, "skill", input={"name": "notes"}),
        modelID="m-1",
        tokens={"input": 1, "output": 4, "reasoning": 5, "cache": {"read": 2, "write": 3}},
        cost=0.25,
    )
    database.message("ses_a", "assistant", error={"name": "MessageAbortedError"})
    database.message("ses_a", "user", said("synthetic", synthetic=True))
    before = {path: content for path, content in tree(home).items() if not str(path).endswith("-shm")}
    session = found(home)["ses_a"]
    after = {path: content for path, content in tree(home).items() if not str(path).endswith("-shm")}
    assert after == before
    assert words(session) == ["go"]
    assert [(one.status, one.exit_code) for one in session.calls[:4]] == [
        (CallStatus.OK, None),
        (CallStatus.ERROR, 2),
        (CallStatus.REFUSED, None),
        (CallStatus.UNKNOWN, None),
    ]
    assert (session.calls[4].files, session.skills) == (("a.py",), ("notes",))
    assert "hunter2" not in repr(session)
    assert session.turns[-1].interrupted
    assert (session.project, session.agent_version) == ("/home/me/app", "1.18.33")
    assert session.turns[1].model == "m-1"
    assert session.spent == Spent(input=6, output=9, cost=Decimal("0.25"))


def test_a_writer_that_died_leaves_its_log_to_be_read(database: Store, home: Path, tmp_path: Path) -> None:
    """Without the index that SQLite would make anew there: read from a copy, and none is laid beside it."""
    database.session("ses_a")
    database.message("ses_a", "user", said("go"))
    dead = tmp_path / "dead/.local/share/opencode"
    dead.mkdir(parents=True)
    for ending in ("", "-wal"):
        shutil.copyfile(f"{database.path}{ending}", dead / f"opencode.db{ending}")
    before = tree(tmp_path / "dead")
    assert words(found(tmp_path / "dead")["ses_a"]) == ["go"]
    assert tree(tmp_path / "dead") == before


def test_a_database_whose_writer_died_is_copied_once(
    database: Store, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many sessions it has. The copy goes once there is another; one that fits nowhere is told with
    its size, and leaves nothing."""
    database.session("ses_a")
    database.session("ses_b")
    (place := tmp_path / "place").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    dead = []
    for name in ("one", "other"):
        dead.append(tmp_path / name / ".local/share/opencode")
        dead[-1].mkdir(parents=True)
        for ending in ("", "-wal"):
            shutil.copyfile(f"{database.path}{ending}", dead[-1] / f"opencode.db{ending}")
    copies = set()
    for name in ("one", "one", "other"):
        assert set(found(tmp_path / name)) == {"ses_a", "ses_b"}
        (copy,) = place.iterdir()
        copies.add(copy)
    assert len(copies) == 2
    databases._copied.cache_clear()
    assert list(place.iterdir()) == []
    monkeypatch.setattr(shutil, "copyfile", _full)
    (told,) = (SOURCE.read(ref, None) for ref in SOURCE.discover(Roots(home=str(tmp_path / "one"))))
    assert "no copy of it (0 MiB: its writer died) fits into" in told.left_out[0].detail
    assert list(place.iterdir()) == []


def _full(_from: str, _to: str) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_database_at_rest_gets_no_file_beside_it(database: Store, home: Path) -> None:
    """Where the log is empty or gone, SQLite would make one to read."""
    database.session("ses_a")
    database.message("ses_a", "user", said("go"))
    database.writer.close()
    before = tree(home)
    assert words(found(home)["ses_a"]) == ["go"]
    assert tree(home) == before


def test_only_what_changed_looks_changed(database: Store, home: Path) -> None:
    """The time of a session is its own, so that one that grew does not have all others read again."""
    for own in ("ses_a", "ses_b"):
        database.session(own)
        database.message(own, "user", said("go"))
    first = {ref.part: ref for ref in SOURCE.discover(Roots(home=str(home)))}
    database.message("ses_b", "user", said("on"))
    database.session("ses_b", 5000)
    second = {ref.part: ref for ref in SOURCE.discover(Roots(home=str(home)))}
    assert first["ses_a"].mtime == second["ses_a"].mtime
    assert first["ses_b"].mtime != second["ses_b"].mtime
    offset = SOURCE.read(first["ses_b"], None).offset
    again = SOURCE.read(second["ses_b"], offset)
    assert again.restarted
    assert again.session is not None
    assert words(again.session) == ["go", "on"]
    assert again.offset is not None
    assert again.offset.id == second["ses_b"].id


def test_one_message_has_one_session_read(database: Store, home: Path, tmp_path: Path) -> None:
    """Of three in a database that grew as a whole; so has a call that ended in place, and one taken away."""
    for own in ("ses_a", "ses_b", "ses_c"):
        database.session(own)
        database.message(own, "user", said("go"))
        database.message(own, "assistant", call(1, status="running"))
    school, clock = SqliteStore.open(tmp_path / "school"), FakeClock()

    def read() -> list[str]:
        request = HarvestRequest(roots=Roots(home=str(home)), everything=True)
        report = harvest(request, sources={SOURCE.name: SOURCE}, store=school, clock=clock)
        assert report.files + report.unchanged == 3
        assert report.files == len(report.sessions)
        return [one.session_id for one in report.sessions]

    assert read() == ["ses_a", "ses_b", "ses_c"]
    assert read() == []
    before = database.path.stat().st_size
    database.message("ses_b", "user", said("on " * 10_000))
    database.writer.execute("pragma wal_checkpoint(truncate)")
    assert database.path.stat().st_size > before
    assert read() == ["ses_b"]
    database.writer.execute(
        "update part set data = ?, time_updated = ? where session_id = 'ses_c' and data like '%running%'",
        (json.dumps(call(1)), AT + 10**6),
    )
    database.writer.commit()
    assert read() == ["ses_c"]
    database.writer.execute("delete from message where session_id = 'ses_a' and data like '%user%'")
    database.writer.commit()
    assert read() == ["ses_a"]
    assert read() == []


def test_whose_prompts_they_are(database: Store, home: Path) -> None:
    """A sub-agent's session has a parent, a program's run answers no question, ours carries the marker; what
    a person took back counts nothing."""
    database.session("ses_sub", parent_id="ses_x")
    database.message("ses_sub", "user", said("find it"))
    database.session("ses_run", permission=json.dumps([{"permission": "question", "action": "deny"}]))
    database.message("ses_run", "user", said("go"))
    database.session("ses_ours")
    database.message("ses_ours", "user", said(f"[{MARKER} 1] go"))
    database.session("ses_back")
    database.message("ses_back", "user", said("go"))
    back = database.message("ses_back", "user", said("wrong"))
    database.message("ses_back", "assistant", said("As you say."))
    database.session("ses_back", revert=json.dumps({"messageID": back}))
    sessions = found(home)
    assert (sessions["ses_sub"].sidechain, words(sessions["ses_sub"])) == (True, [])
    assert (sessions["ses_run"].headless, words(sessions["ses_run"])) == (True, [])
    assert sessions["ses_ours"].ours
    assert [(turn.text, turn.went_back) for turn in sessions["ses_back"].turns] == [("go", True)]


def test_the_same_session_in_both_stores_counts_once(database: Store, home: Path) -> None:
    """The database was made of the tree: each message is there once, whichever is read first."""
    database.session("ses_a")
    database.message("ses_a", "user", said("go"))
    head = {"id": "ses_a", "projectID": "p", "directory": "/home/me/app", "version": "1.1"}
    told = {"id": "msg_001", "sessionID": "ses_a", "role": "user", "time": {"created": AT + 1000}}
    part = {"id": "prt", "messageID": "msg_001", **said("go")}
    planted(
        home,
        {"session/p/ses_a.json": head, "message/ses_a/msg_001.json": told, "part/msg_001/prt.json": part},
    )
    one, other = (SOURCE.read(ref, None).session for ref in SOURCE.discover(Roots(home=str(home))))
    assert one is not None
    assert other is not None
    assert words(one.extended(other)) == words(other.extended(one)) == ["go"]


def test_odd_rows_stop_nothing(database: Store, home: Path) -> None:
    """Other columns, data that is no JSON, times that are none: what can be read is read."""
    database.session("ses_a", permission="{", revert="[]")
    database.writer.execute("insert into message values ('m0', 'ses_a', 'x', null, '{')")
    odd = json.dumps({"role": [], "time": 7})
    database.writer.execute("insert into message values ('m1', 'ses_a', 0, 0, ?)", (odd,))
    database.writer.execute("insert into part values ('p', 'm1', 'ses_a', 0, 0, '7')")
    database.message("ses_a", "user", said("go"), {"type": "text", "text": 7}, time={"created": 10**30})
    database.message("ses_a", "assistant", {"type": "tool", "callID": "c", "state": []}, call(1, input=7))
    database.writer.execute("insert into part values ('q', 'm1', 'ses_a', 0, 0, cast(x'ff' as text))")
    database.writer.commit()
    (ref,) = SOURCE.discover(Roots(home=str(home)))
    result = SOURCE.read(ref, None)
    assert result.session is not None
    assert words(result.session) == ["go"]
    assert sorted(out.detail for out in result.left_out) == [
        "message, row 1: no JSON: Expecting property name enclosed in double quotes",
        "part, row 1: it must be an object, not a number",
        "part, row 6: not UTF-8 at byte 0",
        "session, row 1, permission: no JSON",
    ]
    assert {(out.path, out.reason, out.offset) for out in result.left_out} == {
        (str(database.path), "bad-record", None)
    }
    assert len(result.session.warnings) == 4


def test_a_name_in_a_file_is_no_way_out_of_the_folder(tmp_path: Path, home: Path) -> None:
    """Ids of messages name folders: one that climbs is not followed."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out/x.json").write_text(json.dumps({"type": "text", "text": "stolen"}))
    climbs = "../" * 6 + "out"
    head = {"id": "ses_a", "projectID": "p", "directory": "/x"}
    message = {"id": climbs, "role": "user", "time": {"created": AT}}
    planted(home, {"session/p/ses_a.json": head, "message/ses_a/m.json": message})
    (ref,) = SOURCE.discover(Roots(home=str(home)))
    result = SOURCE.read(ref, None)
    assert result.session is not None
    assert words(result.session) == []
    assert ["names no folder" in out.detail for out in result.left_out] == [True]


def planted(home: Path, files: Mapping[str, object]) -> None:
    """A tree of these files."""
    for place, content in files.items():
        file = home / ".local/share/opencode/storage" / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(content))
