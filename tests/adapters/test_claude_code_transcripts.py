"""Claude Code's transcripts: whose words each row carries, and what became of each call."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from corpus import absent, files_of
from nightschool.adapters.claude_code.transcripts import ClaudeCodeTranscripts
from nightschool.adapters.conversation import RESULT_LIMIT
from nightschool.core.sessions import CallStatus, Roots, Session, Speaker, TranscriptRef
from nightschool.testing import demo
from transcripts import (
    CASES,
    CLAUDE_ID,
    START,
    claude,
    claude_call,
    claude_result,
    dumped,
    read_file,
    session_of,
    write_rows,
)

SOURCE = ClaudeCodeTranscripts(redact=lambda text: text)
FILES = files_of("claude-code")


def read(tmp_path: Path, *rows: Mapping[str, Any] | bytes, name: str = f"{CLAUDE_ID}.jsonl") -> Session:
    return session_of(SOURCE, write_rows(tmp_path / name, rows))


def words(session: Session) -> list[str]:
    return [turn.text for turn in session.human_turns]


@absent
@pytest.mark.cases
def test_unknown_rows_are_no_turns() -> None:
    """A file with one row of nearly every kind is read, and no one spoke in it; its authors took the ids of
    some calls out, and nothing else is complained of."""
    result = read_file(SOURCE, CASES / "claude/v2.1.161-schema-zoo.jsonl")
    assert result.session is not None
    assert [out.detail.partition("a call")[1:] for out in result.left_out] == [
        ("a call", " without an id")
    ] * 3
    assert all(turn.text in {"Hello", "[trimmed for fixture]"} for turn in result.session.human_turns)


@pytest.mark.parametrize("path", sorted((demo.HERE / "transcripts/claude-code").iterdir()), ids=str)
def test_sessions_of_today_are_read(path: Path) -> None:
    """What Claude Code 2.1.197 wrote for typed prompts gives two or three turns, calls with results, a
    project, a branch, and no complaint."""
    result = read_file(SOURCE, path)
    session = result.session
    assert session is not None
    assert result.left_out == ()
    assert len(session.human_turns) in {2, 3}
    assert session.calls
    assert {call.status for call in session.calls} <= {CallStatus.OK, CallStatus.REFUSED}
    assert all(call.result is not None for call in session.calls)
    assert (session.project, session.branch, session.agent_version) == ("/home/sam/ledger", "main", "2.1.197")
    assert session.session_id == path.stem
    assert (session.headless, session.sidechain, session.ours) == (False, False, False)


def test_results_of_tools_are_no_turns(tmp_path: Path) -> None:
    """B01: of 200 rows of type user 193 carry results; seven human turns are left."""
    rows: list[dict[str, Any]] = []
    for number in range(193):
        rows += [
            claude_call(10 * number, "Read", file_path="a"),
            claude_result(10 * number + 1, 10 * number, "x"),
        ]
    rows += [claude("user", 5000 + number, f"prompt {number}") for number in range(7)]
    session = read(tmp_path, *rows)
    assert words(session) == [f"prompt {number}" for number in range(7)]
    assert len(session.calls) == 193


def test_headless_runs_and_sub_agents_have_no_turns(tmp_path: Path) -> None:
    """B03: a prompt that a program sent, or another agent, is nobody's; the calls still count."""
    headless = read(
        tmp_path,
        claude("user", 1, "list the files", entrypoint="sdk-cli", promptSource="sdk"),
        claude_call(2, "Bash", command="ls"),
    )
    assert (headless.headless, words(headless), len(headless.calls)) == (True, [], 1)
    rows = [
        claude("user", 1, "list", isSidechain=True),
        claude_call(2, "Bash", command="ls") | {"isSidechain": True},
    ]
    for name in ("agent-a1b2c3.jsonl", "some.jsonl"):
        aside = read(tmp_path, *rows, name=name)
        assert (aside.sidechain, words(aside), len(aside.calls)) == (True, [], 1)
        assert aside.session_id.startswith(f"{CLAUDE_ID}/agent-"), "never mixed up with its parent"


def test_a_person_who_takes_up_a_headless_run_is_heard(tmp_path: Path) -> None:
    """Prompts of a program and of a person in one file: the person's count, in one read or in two."""
    rows = [
        claude("user", 1, "made by a program", entrypoint="sdk-cli"),
        claude("assistant", 2, "Done."),
        claude("user", 3, "No, use pathlib", entrypoint="cli"),
    ]
    session = read(tmp_path, *rows)
    assert (session.headless, words(session)) == (False, ["No, use pathlib"])
    first = read_file(SOURCE, write_rows(tmp_path / f"{CLAUDE_ID}.jsonl", rows[:2]))
    assert first.session is not None
    assert first.session.headless
    second = read_file(SOURCE, write_rows(tmp_path / f"{CLAUDE_ID}.jsonl", rows), first.offset)
    assert second.session is not None
    assert first.session.extended(second.session) == session


def test_a_history_that_is_appended_again_counts_once(tmp_path: Path) -> None:
    """B06: each turn appends the whole earlier history with the same uuids; three human turns, not six."""
    history: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    for number in range(3):
        history += [
            claude("user", 2 * number, "same words"),
            claude("assistant", 2 * number + 1, f"{number}"),
        ]
        rows += history
    session = read(tmp_path, *rows)
    assert len(session.human_turns) == 3
    assert [turn.text for turn in session.turns if turn.speaker is Speaker.AGENT] == ["0", "1", "2"]


def test_the_project_is_what_the_rows_say(tmp_path: Path) -> None:
    """B18: two projects share one folder name; each session has the directory that its rows name."""
    one = read(tmp_path / "-home-me---", claude("user", 1, "a", cwd="/home/me/日本"), name="a.jsonl")
    two = read(tmp_path / "-home-me---", claude("user", 1, "b", cwd="/home/me/中国"), name="b.jsonl")
    assert (one.project, two.project) == ("/home/me/日本", "/home/me/中国")
    assert read(tmp_path / "-home-me-x", claude("user", 1, "a", cwd=None), name="c.jsonl").project is None


def queued(number: int, prompt: str, **more: object) -> dict[str, Any]:
    row = claude("attachment", number, "")
    del row["message"]
    attachment = {"type": "queued_command", "prompt": prompt, "commandMode": "prompt", **more}
    return {**row, "attachment": attachment}


def test_a_queued_prompt_counts_once(tmp_path: Path) -> None:
    """B57: a prompt that only an attachment holds is a turn, in order; a removed one and notices are not;
    one that a user row delivers too is one turn."""
    operation = {"type": "queue-operation", "timestamp": "2026-03-01T09:00:02Z", "sessionId": CLAUDE_ID}
    session = read(
        tmp_path,
        claude("user", 1, "first"),
        {**operation, "operation": "enqueue", "content": "never sent"},
        {**operation, "operation": "remove", "content": "never sent"},
        claude_call(3, "Bash", command="make"),
        queued(4, "also run the tests"),
        queued(5, "<task-notification>done</task-notification>", commandMode="task-notification"),
        queued(12, "the build is done", commandMode="task-notification"),
        queued(6, "from another agent", origin={"kind": "task-notification"}),
        claude("assistant", 7, "They pass."),
        queued(8, "delivered too", source_uuid="row-9"),
        claude("user", 9, "delivered too"),
        queued(10, "delivered in its own row"),
        claude("user", 11, "delivered in its own row"),
    )
    assert words(session) == ["first", "also run the tests", "delivered too", "delivered in its own row"]
    assert [turn.speaker for turn in session.turns][:4] == ["human", "agent", "human", "agent"]


@pytest.mark.parametrize(
    "row",
    [
        claude("user", 1, "hidden", isMeta=True),
        claude("user", 1, "summed up", isCompactSummary=True),
        claude("user", 1, "a notice", origin={"kind": "task-notification"}),
        claude("user", 1, "<command-name>/model</command-name>\n<command-message>model</command-message>"),
        claude("user", 1, "<local-command-stdout>Bye!</local-command-stdout>"),
        claude("user", 1, "<bash-input>ls</bash-input>"),
        claude("user", 1, "[Request interrupted by user]"),
        claude("user", 1, [{"type": "text", "text": "<system-reminder>\nmind this\n</system-reminder>"}]),
        claude("user", 1, "Operation stopped by hook: no"),
        claude("user", 1, "<task-notification>\n<task-id>1</task-id>"),
        claude("assistant", 1, "Login expired", isApiErrorMessage=True),
        claude("system", 1, "a prompt?"),
        {"type": "last-prompt", "lastPrompt": "typed", "sessionId": CLAUDE_ID},
    ],
    ids=lambda row: str(row.get("message", row))[:60],
)
def test_what_nobody_typed_is_no_turn(row: dict[str, Any], tmp_path: Path) -> None:
    """Rows that the client wrote have no words of a person, and outages none of the agent."""
    session = read(tmp_path, row)
    assert words(session) == []
    assert "".join(turn.text for turn in session.turns) == ""


def test_what_was_typed_is_kept_without_what_was_put_in(tmp_path: Path) -> None:
    """Injected blocks go, a slash command stands as it was typed, a picture alone is a turn."""
    shown = "<ide_opened_file>The user opened x</ide_opened_file>"
    session = read(
        tmp_path,
        claude("user", 1, [{"type": "text", "text": shown}, {"type": "text", "text": "fix it"}]),
        claude("user", 2, f"{shown}\nand that: <system-reminder> is a tag"),
        claude("user", 3, "<command-message>pr</command-message>\n<command-name>/pr</command-name>"),
        claude(
            "user",
            4,
            "<command-message>x:do is running</command-message>\n<command-name>/x:do</command-name>\n"
            "<command-args>all of it\nnow</command-args>",
        ),
        claude("user", 5, [{"type": "image", "source": {}}]),
        claude("user", 6, "fix it"),
        claude("user", 7, "fix it"),
    )
    assert words(session) == [
        "fix it",
        "and that: <system-reminder> is a tag",
        "/pr",
        "/x:do all of it\nnow",
        "[image]",
        "fix it",
        "fix it",
    ]


def test_calls_are_told_in_full(tmp_path: Path) -> None:
    """Name, arguments, command, files, result, status and exit code of each call, and the skills loaded."""
    session = read(
        tmp_path,
        claude("user", 1, "go"),
        claude_call(2, "Bash", command="make test"),
        claude_call(3, "Edit", file_path="/a.py", old_string="x", new_string="y"),
        claude_call(4, "Skill", skill="review"),
        claude_call(5, "Bash", command="rm -r build"),
        claude_call(6, "Bash", command="sleep 9"),
        claude_result(7, 2, "Exit code 2\nmake: *** failed", error=True),
        claude_result(8, 3, "The file has been updated"),
        claude_result(9, 4, "<tool_use_error>Unknown skill</tool_use_error>", error=True),
        claude_result(10, 5, "The user doesn't want to proceed with this tool use. So", error=True),
        claude_result(11, 99, "of a call that is not here"),
        claude("assistant", 12, "", message={"role": "assistant", "model": "opus-9", "content": "Done."}),
    )
    (_, agent) = session.turns
    assert [(call.status, call.exit_code) for call in session.calls] == [
        (CallStatus.ERROR, 2),
        (CallStatus.OK, None),
        (CallStatus.ERROR, None),
        (CallStatus.REFUSED, None),
        (CallStatus.UNKNOWN, None),
    ]
    assert (agent.calls[0].command, agent.calls[0].arguments) == ("make test", '{"command":"make test"}')
    assert (agent.calls[1].files, agent.calls[1].command) == (("/a.py",), None)
    assert (agent.calls[2].skills, agent.loaded) == (("review",), ()), "the call that would load it failed"
    assert (agent.model, agent.text) == ("opus-9", "Done.")
    assert (agent.row, agent.at, session.started_at) == (
        "row-2",
        START.replace(second=2),
        START.replace(second=1),
    )
    assert [late.call_id for late in session.late] == ["toolu_99"]
    assert agent.calls[4].result is None


def test_an_interruption_belongs_to_the_agents_turn(tmp_path: Path) -> None:
    """A person who stops the agent says nothing; after a refusal the row that follows adds nothing."""
    session = read(
        tmp_path,
        claude("user", 1, "go"),
        claude("user", 2, [{"type": "text", "text": "[Request interrupted by user]"}]),
        claude("user", 3, "go on"),
        claude_call(4, "Bash", command="rm x"),
        claude_result(5, 4, "The user doesn't want to proceed with this tool use.", error=True),
        claude("user", 6, [{"type": "text", "text": "[Request interrupted by user for tool use]"}]),
    )
    assert [(turn.speaker, turn.interrupted) for turn in session.turns] == [
        ("human", False),
        ("agent", True),
        ("human", False),
        ("agent", False),
    ]


def test_a_command_that_is_stopped_is_not_turned_down(tmp_path: Path) -> None:
    """The result says the same of both; the notice of the stop names the reply that it cut short."""
    notice = [{"type": "text", "text": "[Request interrupted by user for tool use]"}]
    session = read(
        tmp_path,
        claude("user", 1, "go"),
        claude_call(2, "Bash", command="rm x"),
        claude_result(3, 2, "The user doesn't want to proceed with this tool use.", error=True),
        claude_call(4, "Bash", command="sleep 100"),
        claude_result(5, 4, "The user doesn't want to proceed with this tool use.", error=True),
        claude("user", 6, notice) | {"interruptedMessageId": "m"},
    )
    assert [call.status.value for call in session.calls] == ["refused", "unknown"]
    assert [turn.interrupted for turn in session.turns] == [False, True]


SECRET = re.compile(r"tok_q{200,}")


def test_secrets_go_before_anything_is_cut(tmp_path: Path) -> None:
    """No piece of a secret that spans the place of a cut stays behind, in results, arguments or metadata."""
    source = ClaudeCodeTranscripts(redact=lambda text: SECRET.sub("[gone]", text))
    secret = f"tok_{'q' * 400}"
    long = "x" * (RESULT_LIMIT - 200) + " " + secret + " tail" * 5000
    rows = [
        claude("user", 1, f"use {secret}", cwd=f"/home/{secret}", gitBranch=secret),
        claude_call(2, "Bash", command=f"curl -H {secret}", description=secret),
        claude_result(3, 2, long),
        claude_call(
            4, "Edit", file_path=f"/{secret}", old_string=[{secret: secret}], new_string="x" * 19_900 + secret
        ),
    ]
    result = read_file(source, write_rows(tmp_path / "x.jsonl", rows))
    assert "tok_q" not in repr(result)
    assert "qqqq" not in repr(result)
    assert result.session is not None
    call = result.session.calls[0]
    assert call.result is not None
    assert "[gone]" in call.result
    assert re.search(r"\[cut: \d+ more characters\]$", call.result)
    assert call.command == "curl -H [gone]"


def test_default_places(tmp_path: Path) -> None:
    """Sessions lie under ~/.claude/projects, or where CLAUDE_CONFIG_DIR says."""
    row = dumped(claude("user", 1, "hello"))
    home = write_rows(tmp_path / "home/.claude/projects/-p/a.jsonl", [row])
    moved = write_rows(tmp_path / "moved/projects/-p/b.jsonl", [row])
    (home.parent / "notes.md").touch()
    assert [ref.path for ref in SOURCE.discover(Roots(home=str(tmp_path / "home")))] == [str(home)]
    there = Roots(home=str(tmp_path / "home"), environment=(("CLAUDE_CONFIG_DIR", str(tmp_path / "moved")),))
    assert [ref.path for ref in SOURCE.discover(there)] == [str(moved)]
    explicit = list(SOURCE.discover(Roots(home="/", explicit=(str(tmp_path / "none"),))))
    assert [(ref.path, ref.size) for ref in explicit] == [(str(tmp_path / "none"), 0)]
    assert isinstance(explicit[0], TranscriptRef)


def test_a_fork_keeps_its_own_id(tmp_path: Path) -> None:
    """A resumed copy keeps its parent's id in the copied rows of the person: the file's name decides,
    else the agent's rows."""
    rows = [claude("user", 1, "a", sessionId="parent"), claude("assistant", 2, "b", sessionId="child")]
    assert read(tmp_path, *rows).session_id == CLAUDE_ID
    assert read(tmp_path, *rows, name="copy of it").session_id == "child"


@pytest.mark.parametrize(
    ("entrypoint", "turns"), [("sdk-cli", 0), ("sdk-ts", 1), ("sdk-py", 1), ("claude-vscode", 1)]
)
def test_only_print_mode_is_headless(tmp_path: Path, entrypoint: str, turns: int) -> None:
    """An editor that hosts the SDK has a person at it; a run of `claude -p` has none."""
    session = read(tmp_path, claude("user", 1, "Fix it", entrypoint=entrypoint, promptSource="sdk"))
    assert len(session.human_turns) == turns
