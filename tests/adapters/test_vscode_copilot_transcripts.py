"""Chats with Copilot in VS Code: documents and logs of operations, as they stand in the end."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from nightschool.adapters.vscode_copilot.transcripts import VSCodeCopilotTranscripts
from nightschool.core.jobs import MARKER
from nightschool.core.sessions import Became, CallStatus, Roots, RowFate, Session
from transcripts import (
    VSCODE_ID,
    read_file,
    ref_of,
    session_of,
    vscode_chat,
    vscode_log,
    vscode_request,
    write_rows,
)

SOURCE = VSCodeCopilotTranscripts(redact=lambda text: text.replace("hunter2", "[secret]"))
SET, PUSH, DELETE = 1, 2, 3


def call(own: str, tool: str = "copilot_readFile", **more: object) -> dict[str, Any]:
    told = {"kind": "toolInvocationSerialized", "toolId": tool, "toolCallId": own, "isComplete": True}
    return {**told, "isConfirmed": {"type": 4}, **more}


def terminal(own: str, code: int | None, **more: object) -> dict[str, Any]:
    shown = {"kind": "terminal", "commandLine": {"original": "make test"}}
    printed = {
        "terminalCommandOutput": {"text": "1 failed: hunter2"},
        "terminalCommandState": {"exitCode": code},
    }
    return call(own, "run_in_terminal", toolSpecificData={**shown, **printed}, **more)


def words(session: Session) -> list[str]:
    return [turn.text for turn in session.human_turns]


def document(path: Path, chat: Mapping[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(chat, indent=1), encoding="utf-8")
    return path


def log(path: Path, operations: Sequence[Mapping[str, Any]]) -> Path:
    return write_rows(path, operations)


def test_a_document(tmp_path: Path) -> None:
    """A prompt is a turn, its reply with what was called and what came of it another."""
    reference = {"kind": "inlineReference", "inlineReference": {"path": "/home/me/app/total.py"}}
    rounds = {
        "toolCallRounds": [
            {"toolCalls": [{"id": "c1", "name": "read_file", "arguments": '{"path": "a.py"}'}]}
        ],
        "toolCallResults": {"c1": {"content": [{"value": "total = 1"}]}},
    }
    chat = vscode_chat(
        vscode_request(
            1,
            "Fix the total",
            "Looking at ",
            reference,
            ".",
            {"kind": "thinking", "value": "hm"},
            call("c1__vscode-17"),
            terminal("c2", 1),
            call("c3", isConfirmed={"type": 0}),
            call("c4", isConfirmed=False),
            call("c5", isComplete=False, isConfirmed=None),
            call(
                "c6",
                "mcp_x",
                resultDetails={"isError": True, "input": '{"n": 1}', "output": [{"value": "no"}]},
            ),
            call("c7", "runSubagent", toolSpecificData={"kind": "subagent"}, subAgentInvocationId="s"),
            call("c8", subAgentInvocationId="s"),
            result={"metadata": rounds},
        ),
        vscode_request(2, "No, use uv, not pip", "As", modelState={"value": 2, "completedAt": 1772355660000}),
    )
    session = session_of(SOURCE, document(tmp_path / "x.json", chat))
    assert words(session) == ["Fix the total", "No, use uv, not pip"]
    assert session.turns[1].text == "Looking at total.py."
    assert [(one.name, one.status, one.result) for one in session.calls] == [
        ("read_file", CallStatus.OK, "total = 1"),
        ("run_in_terminal", CallStatus.ERROR, "1 failed: [secret]"),
        ("copilot_readFile", CallStatus.REFUSED, ""),
        ("copilot_readFile", CallStatus.REFUSED, ""),
        ("copilot_readFile", CallStatus.UNKNOWN, None),
        ("mcp_x", CallStatus.ERROR, "no"),
        ("runSubagent", CallStatus.OK, ""),
    ]
    assert session.calls[0].arguments == '{"path":"a.py"}'
    assert (session.calls[1].command, session.calls[1].exit_code) == ("make test", 1)
    assert [turn.interrupted for turn in session.turns] == [False, False, False, True]
    assert (session.session_id, session.agent_version) == (VSCODE_ID, "0.38.0")
    assert session.turns[1].model == "copilot/m-1"
    assert str(session.ended_at) == "2026-03-01 09:01:00+00:00"


def test_a_log_leads_to_what_the_document_says(tmp_path: Path) -> None:
    """Whole, set, push and delete, replies that come in pieces and are written over: the same chat."""
    whole = session_of(
        SOURCE,
        document(
            tmp_path / "x.json",
            vscode_chat(
                vscode_request(1, "Fix the total", "On it.", call("c1")),
                vscode_request(2, "No, use uv, not pip", "Done."),
            ),
        ),
    )
    replayed = session_of(
        SOURCE,
        log(
            tmp_path / "x.jsonl",
            [
                *vscode_log(
                    (SET, ["inputState"], {"inputText": "a draft that was never sent"}),
                    (PUSH, ["requests"], [vscode_request(1, "Fix the total", "On")]),
                    (PUSH, ["requests", 0, "response"], ["x"]),
                ),
                {"kind": PUSH, "k": ["requests", 0, "response"], "i": 0, "v": [{"value": "On it."}]},
                *vscode_log(
                    (PUSH, ["requests", 0, "response"], [call("c1")]),
                    (SET, ["requests", 0, "isHidden"], True),
                    (DELETE, ["requests", 0, "isHidden"], None),
                    (PUSH, ["requests"], [vscode_request(9, "gone"), vscode_request(8, "too")]),
                )[1:],
                {"kind": PUSH, "k": ["requests"], "i": 1, "v": [vscode_request(2, "x", "Done.")]},
                *vscode_log((SET, ["requests", 1, "message"], {"text": "No, use uv, not pip"}))[1:],
            ],
        ),
    )
    assert [(turn.text, turn.row, turn.calls) for turn in replayed.turns] == [
        (turn.text, turn.row, turn.calls) for turn in whole.turns
    ]


def test_each_line_is_told_of(tmp_path: Path) -> None:
    """What a line became, also by what a later one did to it."""
    lines = [
        *vscode_log(
            (PUSH, ["requests"], [vscode_request(1, "one", "1")]),
            (PUSH, ["requests"], [vscode_request(2, "two", "2")]),
            (SET, ["requests", 0, "vote"], 1),
        ),
        {"kind": PUSH, "k": ["requests"], "i": 1},
        *vscode_log((SET, ["requests", 7, "vote"], 1), (9, ["requests"], 1), (SET, [], 1))[1:],
        {"kind": SET, "k": ["requests", -1], "v": 1},
    ]
    path = log(tmp_path / "x.jsonl", lines)
    told: list[RowFate] = []
    result = SOURCE.read(ref_of(SOURCE, path), None, told=told.append)
    assert [fate.became for fate in told] == [
        Became.FACTS,
        Became.HUMAN,
        Became.SAID,
        Became.LEFT_OUT,
        Became.COPY,
        Became.COPY,
        Became.COPY,
    ]
    assert [out.detail for out in result.left_out] == [
        "it changes what is not there",
        "no operation on a chat",
        "an operation without a path",
        "an operation without a path",
    ]
    assert [fate.offset for fate in told] == sorted(fate.offset for fate in told)
    assert result.session is not None
    assert words(result.session) == ["one"]


def test_what_is_no_turn(tmp_path: Path) -> None:
    """What others answered or nobody, what the editor sent, a click on an answer, what was taken back."""
    chat = vscode_chat(
        vscode_request(1, "go", "ok"),
        vscode_request(2, "of another", "no", agent={"id": "other.agent"}),
        vscode_request(3, "of nobody", agent=None),
        vscode_request(4, "The command ended", "I see.", isSystemInitiated=True),
        vscode_request(5, 'Continue: "go on?"', "Going on.", confirmation="Continue"),
        vscode_request(6, "taken back", "no", shouldBeRemovedOnSend={"requestId": "x"}),
        vscode_request(7, " "),
    )
    path = document(tmp_path / "x.json", chat)
    told: list[RowFate] = []
    session = SOURCE.read(ref_of(SOURCE, path), None, told=told.append).session
    assert session is not None
    assert words(session) == ["go"]
    assert [turn.text for turn in session.turns] == ["go", "ok\n\nI see.\n\nGoing on."]
    assert [fate.why for fate in told if fate.became is Became.LEFT_OUT] == [
        "not answered by Copilot",
        "not answered by Copilot",
        "put in by the editor",
        "an answer to a question",
        "the person went back to before it",
        "without words",
    ]


def test_ours_is_known(tmp_path: Path) -> None:
    """By the marker in its first prompt."""
    path = document(tmp_path / "x.json", vscode_chat(vscode_request(1, f"[{MARKER} 1] go", "ok")))
    assert session_of(SOURCE, path).ours


@pytest.mark.parametrize(
    ("environment", "user"),
    [
        ({}, ".config/Code/User"),
        ({}, ".config/Code - Insiders/User"),
        ({}, ".config/VSCodium/User"),
        ({"XDG_CONFIG_HOME": "{home}/set"}, "set/Code/User"),
        ({}, "Library/Application Support/Code/User"),
        ({}, "AppData/Roaming/Code/User"),
        ({"APPDATA": "{home}/Roaming"}, "Roaming/Code - Insiders/User"),
        ({"VSCODE_APPDATA": "{home}/data"}, "data/Code/User"),
        ({"VSCODE_PORTABLE": "{home}/portable"}, "portable/user-data/User"),
    ],
)
def test_where_they_lie(environment: dict[str, str], user: str, tmp_path: Path) -> None:
    """In the folders of workspaces and in that of windows without one, on each system, beside much else."""
    made = tmp_path / user
    chats = [
        document(
            made / "workspaceStorage/ab/chatSessions/x.json", vscode_chat(vscode_request(1, "go", "ok"))
        ),
        log(made / "globalStorage/emptyWindowChatSessions/y.jsonl", vscode_log()),
    ]
    document(made / "workspaceStorage/ab/other.extension/chat.json", vscode_chat())
    given = tuple((key, value.format(home=tmp_path)) for key, value in environment.items())
    roots = Roots(home=str(tmp_path), environment=given)
    assert [ref.path for ref in SOURCE.discover(roots)] == sorted(map(str, chats))
    assert list(SOURCE.folders(roots)) == [
        made / "workspaceStorage",
        made / "globalStorage/emptyWindowChatSessions",
    ]


@pytest.mark.parametrize(
    ("beside", "project"),
    [
        ('{"folder": "file:///home/me/my%20app"}', "/home/me/my app"),
        ('{"folder": "file:///c%3A/Users/me/app"}', "c:/Users/me/app"),
        ('{"workspace": "file:///home/me/all.code-workspace"}', None),
        ('{"folder": "vscode-remote://ssh-remote%2Bhost/home/me/app"}', None),
        ('{"folder": "file://host/share"}', None),
        ('{"folder": "file:///home/me/%00"}', None),
        ('{"folder": "file://[bad"}', None),
        ('{"folder": []}', None),
        ("[", None),
        (None, None),
    ],
)
def test_the_folder_of_a_chat(beside: str | None, project: str | None, tmp_path: Path) -> None:
    """As the file beside the chats says; of a workspace of several folders, or on another machine, none."""
    path = document(tmp_path / "ab/chatSessions/x.json", vscode_chat(vscode_request(1, "go", "ok")))
    if beside is not None:
        (tmp_path / "ab/workspace.json").write_text(beside)
    result = read_file(SOURCE, path)
    assert result.session is not None
    assert result.session.project == project
    assert len(result.left_out) == (beside == "[")


def test_the_same_chat_in_two_places_counts_once(tmp_path: Path) -> None:
    """VS Code copies the chats of a window without a folder when one is opened in it."""
    chat = vscode_chat(vscode_request(1, "go", "ok", call("c1")))
    one = session_of(SOURCE, document(tmp_path / "emptyWindowChatSessions/x.json", chat))
    place = log(tmp_path / "ab/chatSessions/x.jsonl", [{"kind": 0, "v": chat}])
    (tmp_path / "ab/workspace.json").write_text('{"folder": "file:///home/me/app"}')
    other = session_of(SOURCE, place)
    for joined in (one.extended(other), other.extended(one)):
        assert (words(joined), len(joined.calls), joined.project) == (["go"], 1, "/home/me/app")


def test_a_log_that_grew_or_was_written_anew_is_read_whole(tmp_path: Path) -> None:
    """What was taken back since is gone from the session; a line that is being written is left."""
    first = vscode_log((PUSH, ["requests"], [vscode_request(1, "one", "1")]))
    path = log(tmp_path / "x.jsonl", first)
    offset = read_file(SOURCE, path).offset
    with path.open("a") as file:
        file.write(
            json.dumps({"kind": PUSH, "k": ["requests"], "i": 0, "v": [vscode_request(2, "two")]}) + "\n"
        )
        file.write('{"kind": 2, "k": ["req')
    result = read_file(SOURCE, path, offset)
    assert (result.restarted, result.left_out) == (True, ())
    assert result.session is not None
    assert words(result.session) == ["two"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"{}", "not-a-transcript"),
        (b'{"requests": 7}', "not-a-transcript"),
        (b'{"some": "rows"}\n{"of": "another"}\n', "not-a-transcript"),
        (b'{"kind": 1, "k": ["requests"], "v": []}\n', "not-a-transcript"),
        (b'{"version": 3, "requests": [\n', "bad-record"),
        (b"[]", "bad-record"),
    ],
)
def test_what_is_no_chat_is_named(content: bytes, reason: str, tmp_path: Path) -> None:
    """Whatever the file holds: nothing is raised, nothing is read, and it is said."""
    path = tmp_path / "x.json"
    path.write_bytes(content)
    result = read_file(SOURCE, path)
    assert result.session is None
    assert [out.reason for out in result.left_out] == [reason]
    assert not SOURCE.recognises(ref_of(SOURCE, path))


def test_requests_that_are_none_cost_themselves(tmp_path: Path) -> None:
    """In a document, in a list that is pushed, in the place of one that was there."""
    path = document(tmp_path / "x.json", vscode_chat(7, vscode_request(1, "go", "ok", 7)))
    assert [out.reason for out in read_file(SOURCE, path).left_out] == ["bad-record", "bad-record"]
    path = log(
        tmp_path / "x.jsonl",
        vscode_log(
            (PUSH, ["requests"], [None, vscode_request(1, "go", "ok"), vscode_request(2, "on", "ok")]),
            (SET, ["requests", 1], 7),
            (SET, ["requests", 3], vscode_request(3, "more", "ok")),
            (SET, ["requests", 10**9], vscode_request(4, "x", "ok")),
            (DELETE, ["requests", 3], None),
        ),
    )
    result = read_file(SOURCE, path)
    assert result.session is not None
    assert words(result.session) == ["on"]
    assert len(result.left_out) == 2


def test_many_operations_cost_no_square(tmp_path: Path) -> None:
    """A long chat that is changed at its beginning again and again is read to its end."""
    count = 20_000
    requests = [vscode_request(number, "go") for number in range(count)]
    changes: list[tuple[int, Sequence[object], object]] = [(PUSH, ["requests"], requests)]
    changes += [(SET, ["requests", 0], vscode_request(0, f"go {number}")) for number in range(count)]
    session = session_of(SOURCE, log(tmp_path / "x.jsonl", vscode_log(*changes)))
    assert (len(session.human_turns), session.turns[0].text) == (count, f"go {count - 1}")
