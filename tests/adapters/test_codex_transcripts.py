"""Codex's transcripts: one turn a prompt in each of its shapes, and how each call ended."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from corpus import absent, files_of
from nightschool.adapters.codex.transcripts import CodexTranscripts
from nightschool.core.jobs import MARKER
from nightschool.core.sessions import CallStatus, Roots, Session
from nightschool.testing import demo
from transcripts import (
    CASES,
    CODEX_ID,
    START,
    codex,
    codex_call,
    codex_item,
    codex_meta,
    codex_output,
    codex_prompt,
    codex_said,
    codex_user_row,
    dumped,
    read_file,
    ref_of,
    session_of,
    write_rows,
)

SOURCE = CodexTranscripts(redact=lambda text: text)
FILES = files_of("codex")
NAME = f"rollout-2026-03-01T09-00-00-{CODEX_ID}.jsonl"


def read(tmp_path: Path, *rows: Mapping[str, Any] | bytes, name: str = NAME) -> Session:
    return session_of(SOURCE, write_rows(tmp_path / name, rows))


def words(session: Session) -> list[str]:
    return [turn.text for turn in session.human_turns]


@absent
@pytest.mark.cases
def test_unknown_rows_are_no_turns() -> None:
    """A file with one row of every kind is read without a complaint, and nobody spoke but who did."""
    result = read_file(SOURCE, CASES / "codex/v0.146-schema-zoo.jsonl")
    assert result.session is not None
    assert result.left_out == ()
    assert words(result.session) == ["List the files"]


@pytest.mark.parametrize("path", sorted((demo.HERE / "transcripts/codex").iterdir()), ids=str)
def test_sessions_of_today_are_read(path: Path) -> None:
    """What Codex 0.171 wrote for typed prompts gives two or three turns, calls with results and codes,
    project, branch and commit, and no complaint."""
    result = read_file(SOURCE, path)
    session = result.session
    assert session is not None
    assert result.left_out == ()
    assert len(session.human_turns) in {2, 3}
    assert len({turn.row for turn in session.human_turns}) == len(session.human_turns)
    assert session.calls
    assert all(call.exit_code == 0 and call.result is not None and call.command for call in session.calls)
    assert (session.project, session.branch, session.agent_version) == ("/home/sam/ledger", "main", "0.171.0")
    assert session.commit is not None
    assert path.stem.endswith(session.session_id)
    assert (session.headless, session.sidechain, session.ours) == (False, False, False)


def test_a_turn_counts_once_in_each_shape(tmp_path: Path) -> None:
    """A prompt as event, as item, as both, beside its response item; the same words twice are two."""
    session = read(
        tmp_path,
        codex_meta(),
        codex_user_row(1, "# AGENTS.md instructions for /x"),
        codex_user_row(1, "old"),
        codex_prompt(1, "old"),
        codex_said(2, "Done."),
        codex_user_row(3, "new"),
        codex_item(3, "new"),
        codex_item(3, "Done.", kind="AgentMessage"),
        codex_said(4, "Done."),
        codex_prompt(5, "both"),
        codex_item(5, "both"),
        codex_item(6, "again"),
        codex_item(7, "again"),
        codex_item(8, "<environment_context>x</environment_context>"),
    )
    assert words(session) == ["old", "new", "both", "again", "again"]
    assert [turn.text for turn in session.turns if turn.speaker == "agent"] == ["Done.", "Done."]


def test_a_broken_first_line_costs_only_itself(tmp_path: Path) -> None:
    """B14: the session is kept, its directory comes from the context, its id from the name of the file."""
    rows = [codex_prompt(number, f"prompt {number}") for number in range(300)]
    broken = dumped(codex_meta())[:-9]
    path = write_rows(tmp_path / NAME, [broken, codex("turn_context", 0, cwd="/home/me/app"), *rows])
    result = read_file(SOURCE, path)
    assert result.session is not None
    assert len(result.session.human_turns) == 300
    assert (result.session.project, result.session.agent_version) == ("/home/me/app", None)
    assert result.session.session_id == CODEX_ID
    assert [(out.reason, out.offset) for out in result.left_out] == [("bad-record", 0)]
    assert SOURCE.recognises(ref_of(SOURCE, path))


def test_the_history_that_a_fork_took_over_is_its_parents(tmp_path: Path) -> None:
    """B09: own and parent's meta, the parent's history at the start second, one real turn: one turn."""
    rows = [
        codex_meta(10),
        codex_meta(10.01, id="0199a213-81c0-7800-8aa1-bbab2a035a53", cwd="/home/parent"),
        codex_prompt(10.01, "of the parent"),
        codex_call(10.02, "ls"),
        codex_output(10.03, 10.02, "Process exited with code 1\nOutput:\n"),
        codex_prompt(60, "my own"),
        codex_said(61, "Done."),
    ]
    session = read(tmp_path, *rows)
    assert (words(session), session.calls) == (["my own"], ())
    assert (session.session_id, session.project) == (CODEX_ID, "/home/me/app")
    resumed = read(tmp_path, codex_meta(), codex_prompt(1, "a"), codex_meta(90), codex_prompt(91, "b"))
    assert words(resumed) == ["a", "b"]


@pytest.mark.parametrize(
    "told",
    [{"source": "exec"}, {"originator": "codex_exec"}, {"source": "mcp"}, {"source": {"subagent": "review"}}],
    ids=str,
)
def test_machines_have_no_turns(told: dict[str, Any], tmp_path: Path) -> None:
    """B03: prompts of a headless run or of another agent are no turns; the calls still count."""
    session = read(
        tmp_path, codex_meta(**told), codex_prompt(1, "go"), codex_call(2, "ls"), codex_item(3, "on")
    )
    assert (words(session), len(session.calls)) == ([], 1)
    assert (session.headless, session.sidechain) == ("subagent" not in str(told), "subagent" in str(told))


def test_prompts_of_a_review_are_codexs_own(tmp_path: Path) -> None:
    """Between entering and leaving a review nobody typed, in both shapes, also when read in two parts."""
    rows = [
        codex_meta(),
        codex_prompt(1, "go"),
        codex("event_msg", 2, type="entered_review_mode"),
        codex_prompt(3, "Review the code"),
        codex("event_msg", 4, type="exited_review_mode"),
        codex_item(5, "", kind="EnteredReviewMode"),
        codex_item(6, "Review it again"),
        codex_item(7, "", kind="ExitedReviewMode"),
        codex_prompt(8, "implement"),
    ]
    assert words(read(tmp_path, *rows)) == ["go", "implement"]
    for cut in range(1, len(rows)):
        first = read_file(SOURCE, write_rows(tmp_path / NAME, rows[:cut]))
        second = read_file(SOURCE, write_rows(tmp_path / NAME, rows), first.offset)
        assert first.session is not None
        assert second.session is not None
        assert words(first.session.extended(second.session)) == ["go", "implement"]


@pytest.mark.parametrize(
    ("output", "status", "code"),
    [
        ("Chunk ID: 1\nProcess exited with code 0\nOutput:\nProcess exited with code 3\n", "ok", 0),
        ("Chunk ID: 1\nProcess exited with code 2\nOutput:\n", "error", 2),
        ("Exit code: 1\nWall time: 0.1 seconds\nOutput:\nno", "error", 1),
        ("Chunk ID: 1\nProcess running with session ID 3\nOutput:\n", "ok", None),
        ("apply_patch verification failed: no such lines", "error", None),
        ("aborted by user after 10.2s", "unknown", None),
        ("Wall time: 1.2 seconds\naborted by user", "unknown", None),
        ('exec_command failed: Rejected("rejected by user")', "refused", None),
        ('{"output":"x","metadata":{"exit_code":1}}', "error", 1),
        ([{"text": "Script"}, {"text": '{"exit_code":0}'}, {"text": '{"exit_code": 4'}], "error", 4),
        ([{"text": "Script completed\nOutput:\n"}, {"text": "exit_code 4"}], "ok", None),
        ([{"text": "Script completed\nOutput:\n"}, {"text": '{"output":"{\\"exit_code\\":1}"}'}], "ok", None),
        (None, "unknown", None),
    ],
)  # fmt: skip
def test_how_a_call_ended(output: object, status: str, code: int | None, tmp_path: Path) -> None:
    """The exit code in the head of a result, what a script printed, and the tool's own failures."""
    (call,) = read(tmp_path, codex_meta(), codex_call(1, "make"), codex_output(2, 1, output)).calls
    assert (call.status, call.exit_code) == (CallStatus(status), code)


def test_calls_are_told_in_full(tmp_path: Path) -> None:
    """Command lines of each kind of shell tool, and the files that patches and here-documents write."""
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** Add File: b.py\n+z\n*** End Patch"
    script = 'const r = await tools.exec_command({"cmd":"npm test","workdir":"/x"});\ntext(r.output)'
    calls = [
        codex_call(1, "cat > c.py <<'EOF'\nx\nEOF"),
        codex("response_item", 2, type="custom_tool_call", call_id="2", name="apply_patch", input=patch),
        codex("response_item", 3, type="custom_tool_call", call_id="3", name="exec", input=script),
        codex(
            "response_item",
            4,
            type="function_call",
            call_id="4",
            name="shell",
            arguments='{"command":["bash","-lc","ls -l"]}',
        ),
        codex("response_item", 5, type="function_call", call_id="5", name="update_plan", arguments="{cut"),
    ]
    session = read(
        tmp_path, codex_meta(), codex("turn_context", 0, model="m-1"), codex_prompt(0, "go"), *calls
    )
    found = [(call.name, call.command, call.files) for call in session.calls]
    assert found == [
        ("exec_command", "cat > c.py <<'EOF'\nx\nEOF", ("c.py",)),
        ("apply_patch", None, ("a.py", "b.py")),
        ("exec", "npm test", ()),
        ("shell", "ls -l", ()),
        ("update_plan", None, ()),
    ]
    assert session.calls[1].arguments == patch
    assert session.turns[1].model == "m-1"
    assert session.turns[0].at == START


def test_an_interruption_belongs_to_the_agents_turn(tmp_path: Path) -> None:
    """A turn that a person aborted is marked; one that a newer prompt replaced is not."""
    aborted = [
        codex("event_msg", 3, type="turn_aborted", reason=reason) for reason in ("interrupted", "replaced")
    ]
    for row, stopped in zip(aborted, (True, False), strict=True):
        session = read(tmp_path, codex_meta(), codex_prompt(1, "go"), codex_said(2, "Well"), row)
        assert session.turns[-1].interrupted is stopped


def test_our_own_replays_are_known(tmp_path: Path) -> None:
    """A session whose first prompt begins with our marker is ours, headless or not."""
    for meta in (codex_meta(), codex_meta(source="exec")):
        assert read(tmp_path, meta, codex_item(1, f"[{MARKER} 0123abcd]\nDo it")).ours
    assert not read(tmp_path, codex_meta(), codex_item(1, "go"), codex_item(2, f"[{MARKER}]")).ours


def test_default_places(tmp_path: Path) -> None:
    """Sessions lie under ~/.codex/sessions and archived_sessions, or where CODEX_HOME says; compressed
    ones are named, with the way out."""
    row = dumped(codex_meta())
    live = write_rows(tmp_path / ".codex/sessions/2026/03/01" / NAME, [row])
    kept = write_rows(tmp_path / ".codex/archived_sessions" / NAME, [row])
    packed = write_rows(tmp_path / ".codex/sessions/2026/02/01" / f"{NAME}.zst", [b"\x28\xb5\x2f\xfd"])
    found = list(SOURCE.discover(Roots(home=str(tmp_path))))
    assert [ref.path for ref in found] == sorted(str(path) for path in (live, kept, packed))
    moved = Roots(home="/nowhere", environment=(("CODEX_HOME", str(tmp_path / ".codex")),))
    assert list(SOURCE.discover(moved)) == found
    (left,) = read_file(SOURCE, packed).left_out
    assert left.reason == "unreadable"
    assert "damaged" in left.detail
