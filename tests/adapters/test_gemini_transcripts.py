"""Gemini CLI's transcripts: the newest copy of each message, in documents and in journals."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any, ClassVar

import pytest

from corpus import absent, counted, files_of
from nightschool.adapters.gemini.transcripts import GeminiTranscripts, Standing
from nightschool.adapters.reading import WENT_BACK
from nightschool.adapters.rows import Row
from nightschool.core.jobs import MARKER
from nightschool.core.sessions import CallStatus, Roots, Session
from transcripts import CASES, dumped, read_file, ref_of, session_of, stamp, write_rows
from transcripts import GEMINI_HEAD as HEAD
from transcripts import gemini as said

SOURCE = GeminiTranscripts(redact=lambda text: text)
FILES = files_of("gemini-cli")


def call(number: int, status: str, **response: str) -> dict[str, Any]:
    result = [{"functionResponse": {"id": f"c-{number}", "response": response}}]
    arguments = {"command": "make"}
    return {
        "id": f"c-{number}",
        "name": "run_shell_command",
        "args": arguments,
        "status": status,
        "result": result,
    }


def document(path: Path, rows: Sequence[dict[str, Any]], **more: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**HEAD, **more, "messages": rows}, indent=2), encoding="utf-8")
    return path


def words(session: Session) -> list[str]:
    return [turn.text for turn in session.human_turns]


@absent
@pytest.mark.cases
@pytest.mark.parametrize("order", list(permutations((1, 2, 3))), ids=str)
def test_saves_of_one_session_are_one_session(order: tuple[int, ...]) -> None:
    """Three saves of it, in any order, are one session with the turns and calls of the last."""
    names = [f"gemini/v0.23-snapshot-{number}-of-3.json" for number in order]
    whole, *others = (session_of(SOURCE, CASES / name) for name in names)
    for other in others:
        whole = whole.extended(other)
    assert counted(whole) == ("1", "9", "0", "0")


def test_a_document_that_grew_is_read_anew(tmp_path: Path) -> None:
    """What is read then takes the place of what was read before; half a document is left for later."""
    rows = [said(1, "user", "go"), said(2, "gemini", "", toolCalls=[call(1, "executing")])]
    path = document(tmp_path / "x.json", rows)
    first = read_file(SOURCE, path)
    assert first.session is not None
    assert [one.status for one in first.session.calls] == [CallStatus.UNKNOWN]
    rows[1]["toolCalls"] = [call(1, "success", output="ok"), call(2, "error", error="no")]
    document(path, [*rows, said(3, "user", [{"text": "and"}, {"inlineData": {}}, {"text": "on"}])])
    second = read_file(SOURCE, path, first.offset)
    assert second.restarted
    assert second.session is not None
    assert words(second.session) == ["go", "and\non"]
    assert [one.status for one in second.session.calls] == [CallStatus.OK, CallStatus.ERROR]
    path.write_bytes(path.read_bytes()[:-20])
    torn = read_file(SOURCE, path, second.offset)
    assert (torn.session, torn.offset) == (None, None)
    assert [out.reason for out in torn.left_out] == ["bad-record"]


def test_a_journal_is_what_came_of_its_lines(tmp_path: Path) -> None:
    """A message that is written again counts once, with its later calls; what a person went back from is
    told and counts nothing; a damaged line costs itself."""
    rows: list[dict[str, Any] | bytes] = [
        HEAD,
        said(1, "user", "go"),
        said(2, "gemini", "Going.", toolCalls=[], model="m-1"),
        {"$set": {"lastUpdated": stamp(3)}},
        said(3, "user", "the wrong way"),
        said(4, "gemini", "As you say."),
        said(2, "gemini", "Going.", toolCalls=[call(1, "success", output="ok")], model="m-1"),
        b"{",
        {"$rewindTo": "m-3"},
        said(5, "user", "the right way"),
    ]
    path = write_rows(tmp_path / "x.jsonl", rows)
    session = session_of(SOURCE, path)
    assert words(session) == ["go", "the right way"]
    assert [turn.text for turn in session.turns] == ["go", "Going.", "the right way"]
    assert [turn.went_back for turn in session.turns] == [False, True, False]
    assert (len(session.calls), session.turns[1].model) == (1, "m-1")
    fates: list[tuple[str, str]] = []
    result = SOURCE.read(ref_of(SOURCE, path), None, told=lambda fate: fates.append((fate.kind, fate.became)))
    assert sorted(became for _, became in fates if became != "nothing") == [
        "call",
        "copy",
        "facts",
        "human",
        "human",
        "left out",
        "left out",
        "result",
        "said",
    ]
    assert [out.offset for out in result.left_out] == [path.read_bytes().index(b"\n{\n") + 1]


def test_what_is_set_anew_takes_nothing_back(tmp_path: Path) -> None:
    """Where a request was cancelled or the session compressed, all that is gone from what the model is told
    happened all the same, and what stands in its place the client wrote; elsewhere what is new counts."""
    rows: list[dict[str, Any]] = [
        HEAD,
        {"$set": {"messages": [said(1, "user", "<session_context>x</session_context>"), 7, {"$set": {}}]}},
        said(2, "user", "go"),
        said(3, "gemini", "Going.", toolCalls=[call(1, "success")]),
        {
            "$set": {
                "messages": [said(2, "user", "go"), said(4, "user", "A summary."), said(5, "gemini", "Ok.")]
            }
        },
        said(6, "user", "on"),
    ]
    session = session_of(SOURCE, write_rows(tmp_path / "x.jsonl", rows))
    assert [turn.text for turn in session.turns] == ["go", "Going.", "on"]
    assert len(session.calls) == 1
    grown = [*rows[:4], {"$set": {"messages": [*(said(n, "user", str(n)) for n in (1, 2, 3, 4))]}}]
    assert words(session_of(SOURCE, write_rows(tmp_path / "y.jsonl", grown)))[-1] == "4"


def test_a_skill_is_activated_by_a_call(tmp_path: Path) -> None:
    """The call names the skill that it loads."""
    made = call(1, "success") | {"name": "activate_skill", "args": {"name": "greeting"}}
    rows = [said(1, "user", "go"), said(2, "gemini", "", toolCalls=[made])]
    assert session_of(SOURCE, document(tmp_path / "x.json", rows)).skills == ("greeting",)


def test_what_the_client_put_in_is_no_persons(tmp_path: Path) -> None:
    """Its context, its own words to go on, its notes; that a request was cancelled is an interruption."""
    rows = [
        said(1, "user", "<session_context>\nx\n</session_context>"),
        said(2, "user", "go"),
        said(3, "gemini", "", toolCalls=[call(1, "cancelled", error="User did not allow tool call")]),
        said(4, "user", "System: Please continue."),
        said(5, "gemini", "", toolCalls=[call(2, "cancelled", error="User cancelled tool execution.")]),
        said(6, "info", "Request cancelled."),
        said(7, "warning", "x"),
    ]
    session = session_of(SOURCE, document(tmp_path / "x.json", rows))
    assert words(session) == ["go"]
    assert [one.status for one in session.calls] == [CallStatus.REFUSED, CallStatus.UNKNOWN]
    assert session.turns[-1].interrupted


def test_the_project_is_what_a_file_names(tmp_path: Path) -> None:
    """Never the name of a folder, never a hash."""
    chats = tmp_path / ".gemini/tmp/app/chats"
    path = document(chats / "session-1.json", [said(1, "user", "go")])
    write_rows(tmp_path / ".gemini/tmp/app/logs.json", [{"a": 1}])
    assert session_of(SOURCE, path).project is None
    (chats.parent / ".project_root").write_text("/home/me/app\n", encoding="utf-8")
    assert session_of(SOURCE, path).project == "/home/me/app"
    (chats.parent / ".project_root").write_text("not a path", encoding="utf-8")
    assert session_of(SOURCE, path).project is None
    assert [ref.path for ref in SOURCE.discover(Roots(home=str(tmp_path)))] == [str(path)]
    moved = Roots(home="/nowhere", environment=(("GEMINI_CLI_HOME", str(tmp_path)),))
    assert [ref.path for ref in SOURCE.discover(moved)] == [str(path)]


def test_sub_agents_and_our_own_replays_are_known(tmp_path: Path) -> None:
    """By the head of the one, and by the marker in the first prompt of the other."""
    assert session_of(
        SOURCE, document(tmp_path / "a.json", [said(1, "user", "x")], kind="subagent")
    ).sidechain
    assert session_of(SOURCE, document(tmp_path / "b.json", [said(1, "user", f"[{MARKER} 1] x")])).ours


def test_messages_that_are_none_are_named(tmp_path: Path) -> None:
    """In what a journal sets anew, with the line that sets it; the messages around them count."""
    messages: list[Any] = [said(1, "user", "go"), 7, said(2, "gemini", "", toolCalls=[call(1, "success"), 7])]
    lines: list[Any] = [HEAD, {"$set": {"messages": messages}}, {"$set": {"messages": 7}}]
    result = read_file(SOURCE, write_rows(tmp_path / "x.jsonl", lines))
    assert result.session is not None
    assert (words(result.session), len(result.session.calls)) == (["go"], 1)
    first = len(dumped(HEAD)) + 1
    second = first + len(dumped(lines[1])) + 1
    assert sorted((out.reason, out.offset) for out in result.left_out) == [
        ("bad-record", first),
        ("bad-record", first),
        ("bad-record", second),
    ]


def test_a_folders_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """The session then names no project, and it is said why."""
    path = document(tmp_path / "app/chats/x.json", [said(1, "user", "go")])
    for spoil in ((tmp_path / "app/.project_root").mkdir, (tmp_path / "app/.project_root").rmdir):
        spoil()
        result = read_file(SOURCE, path)
        assert result.session is not None
        assert result.session.project is None
        assert len(result.left_out) == (spoil.__name__ == "mkdir")


class _Looked(str):
    """An id that counts how often it is compared."""

    __slots__ = ()
    looks: ClassVar[int] = 0

    def __eq__(self, other: object) -> bool:
        _Looked.looks += 1
        return super().__eq__(other)

    __hash__ = str.__hash__


def test_going_back_again_and_again_looks_at_what_is_left_alone() -> None:
    """Each of a thousand messages is gone back to, the last first: the others are not looked through."""
    standing, count = Standing(), 1000
    for number in range(count):
        value = {"id": _Looked(number), "type": "user", "content": ""}
        assert list(standing.take(Row(number, number + 1, value))) == []
    _Looked.looks = 0
    for number in reversed(range(count)):
        assert list(standing.take(Row(number, number + 1, {"$rewindTo": _Looked(number)}))) == []
    assert _Looked.looks < 10 * count
    assert [row.fate for row in standing.rows] == [WENT_BACK] * count + [None] * count
