"""Bugs that others met, in the circumstances in which they met them: through several rooms at once."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cycle_builders import Place, QuickRunner, cycle_in
from exam_builders import TARGETS, exam, sit
from gate_builders import ScriptedPractice
from job_builders import did, door_of, replay_of, requests_of, runs_of, task_of
from nightschool.adapters.claude_code.transcripts import ClaudeCodeTranscripts
from nightschool.cli import app
from nightschool.core.jobs import Delivered, Job, Role
from nightschool.core.proposals import Draft, VerdictKind
from nightschool.core.sessions import CallStatus, Session, ToolCall
from nightschool.core.tasks import Footprint, Task
from nightschool.core.trials import Arm, Pair
from nightschool.rules.corrections import corrections
from nightschool.rules.gate import Policy
from nightschool.rules.redaction import Redactor
from nightschool.rules.report import markdown
from nightschool.rules.signals import signals
from nightschool.testing.memory_store import MemoryStore
from transcripts import claude, claude_call, claude_result, read_file, write_rows

KEY = "sk-ant-api03-" + "Zq7Xw2Lp9Rt4Vb6N" * 5 + "MnAAAA"
PASSWORD = "Tr0ub4dor-x9Kq"
DATABASE = f"postgres://app:{PASSWORD}@db.internal:5432/shop"
STAND_IN = re.compile(r"\[secret:[a-z]{1,24}:[0-9a-f]{6}\]")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place.made(tmp_path)


def test_results_of_tools_say_nothing_for_the_person(tmp_path: Path) -> None:
    """B01: 193 of 200 rows of type user are results, with words of a correction in each; the person is heard
    in the seven others alone, as turns, as signals and as what is learned."""
    rows: list[dict[str, Any]] = []
    for number in range(193):
        rows += [
            claude_call(10 * number, "Bash", command="cat notes"),
            claude_result(10 * number + 1, 10 * number, "No, that is wrong. Use yarn, not npm. Always."),
        ]
    rows += [
        claude("user", 5000 + number, f"Add the page number {number} to the index") for number in range(6)
    ]
    rows += [claude("assistant", 6000, "Done."), claude("user", 6001, "use pnpm, not npm")]
    source = ClaudeCodeTranscripts(redact=str)
    session = read_file(source, write_rows(tmp_path / "x.jsonl", rows)).session
    assert session is not None
    assert len(session.human_turns) == 7
    assert [session.turns[found.turn].text for found in signals(session)] == ["use pnpm, not npm"]
    assert [found.wanted for found in corrections([session])] == ["pnpm"]


def test_arms_are_compared_on_the_tasks_that_both_have() -> None:
    """B29: base is right in two of eight tasks, the draft in two of the six that were not lost: 33 % against
    25 % is no gain, neither for a proof nor for a suggestion."""
    right, lost = TARGETS[:2], TARGETS[6:8]
    eight = exam(TARGETS[:8])

    def practice() -> ScriptedPractice:
        return ScriptedPractice(
            lambda held, _arm: float(held in right), lose=lambda r: r.arm is Arm.DRAFT and r.task in lost
        )

    for seed in range(8):
        store = MemoryStore()
        verdict = sit(eight, practice(), store, policy=Policy(mode="suggest"), seed=seed)
        assert verdict.kind is VerdictKind.REJECT, verdict.why
        pairs = store.find(Pair)
        assert sum(pair.base_score for pair in pairs) == sum(pair.draft_score for pair in pairs)
        assert not {pair.task for pair in pairs} & {task.id for task in lost}
        proved = sit(eight, practice(), seed=seed)
        assert proved.kind not in {VerdictKind.ACCEPT, VerdictKind.UNDERPOWERED}, proved.why
        assert proved.decided == 0


def test_secrets_of_a_prompt_reach_nothing(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    """B52: a person pastes a key and a database's address with its password; neither is in the store, in a
    job, a proposal or a report, and the request stays one that can be practised."""
    pasted = f" The key is {KEY} and the database is {DATABASE} for now."
    assert typed_after(place.person, "that lists the CSV files in a folder.", pasted) >= 1
    assert typed_after(place.person, "use pathlib, not os.path", "." + pasted) >= 1
    runner = QuickRunner()
    with cycle_in(place, runner=runner) as (parts, cycle), cycle.held():
        prepared = cycle.prepare(parts.harvest_request(everything=True))
        report = cycle.practise(prepared)
        tasks = parts.store.find(Task)
        drafts = parts.store.find(Draft)
    assert drafts
    texts = [markdown(report), repr(prepared), repr(report), repr(drafts), *map(repr, runner.jobs)]
    stored = b"".join(path.read_bytes() for path in place.ours.rglob("*") if path.is_file())
    printed = "".join(capsys.readouterr())
    for secret in (KEY, PASSWORD, KEY[20:60]):
        assert not [text for text in [*texts, printed] if secret in text]
        assert secret.encode() not in stored
    (asked,) = [task.prompt for task in tasks if "csv_files(folder)" in task.prompt]
    assert "that lists the CSV files" in asked
    assert "db.internal:5432/shop" in asked
    assert len(STAND_IN.findall(asked)) == 2


def typed_after(person: Path, words: str, more: str) -> int:
    """Let the person have typed some more behind these words, in every row that holds them."""
    told = 0
    for path in person.rglob("*.jsonl"):
        text = path.read_text(encoding="utf-8")
        told += text.count(words)
        path.write_text(text.replace(words, words + more), encoding="utf-8")
    return told


def test_a_secret_that_a_tool_printed_is_one_stand_in_everywhere(place: Place) -> None:
    """B53: a tool prints a .env that the person never typed, and a later row of the assistant repeats half of
    the key: both are the same stand-in, and nothing of it is stored. In a sub-agent's file it is the same."""
    folder = next((place.person / ".claude/projects").iterdir())
    rows = [
        claude("user", 1, "Why does the import fail?", cwd=str(place.project)),
        claude_call(2, "Bash", command="cat .env"),
        claude_result(3, 2, f"ANTHROPIC_API_KEY={KEY}\nDB_PASSWORD={PASSWORD}\n"),
        claude("assistant", 4, [{"type": "text", "text": f"The key {KEY[:50]} is set, and {PASSWORD} too."}]),
    ]
    write_rows(folder / "env.jsonl", [{**row, "sessionId": "env"} for row in rows])
    child = folder / "env/subagents/agent-1.jsonl"
    write_rows(child, [{**row, "sessionId": "env", "isSidechain": True, "agentId": "1"} for row in rows[1:]])
    with cycle_in(place, runner=QuickRunner()) as (parts, cycle), cycle.held():
        prepared = cycle.prepare(parts.harvest_request(everything=True))
        assert dict(prepared.harvested.counts)["sub-agent"] == 1
        (session,) = [one for one in parts.store.find(Session) if one.session_id == "env"]
    stored = b"".join(path.read_bytes() for path in place.ours.rglob("*") if path.is_file())
    assert not [part for part in (KEY, KEY[:50], KEY[20:60], PASSWORD) if part.encode() in stored]
    printed = STAND_IN.findall(session.calls[0].result or "")
    echoed = STAND_IN.findall(session.turns[-1].text)
    assert len(set(printed)) == 2
    assert echoed == printed

    source = ClaudeCodeTranscripts(redact=Redactor((place.ours / "redaction.key").read_bytes()))
    sub_agent = read_file(source, child)
    assert KEY[:50] not in repr(sub_agent)
    assert sub_agent.session is not None
    assert STAND_IN.findall(sub_agent.session.calls[0].result or "") == printed


def test_an_echo_in_a_later_read_is_known(tmp_path: Path) -> None:
    """B53: the password stands in what an earlier read has read, its echo in what was written since; another
    process reads on, and the stand-in is the same."""
    rows = [
        claude("user", 1, "Why does the import fail?"),
        claude_call(2, "Bash", command="cat .env"),
        claude_result(3, 2, f"DB_PASSWORD={PASSWORD}\n"),
        claude("assistant", 4, [{"type": "text", "text": f"It is {PASSWORD}."}]),
    ]
    path = tmp_path / "x.jsonl"
    first = read_file(reader(), write_rows(path, rows[:3]))
    later = read_file(reader(), write_rows(path, rows), first.offset)
    assert first.session is not None
    assert later.session is not None
    assert PASSWORD not in repr(later)
    printed = STAND_IN.findall(first.session.calls[0].result or "")
    assert STAND_IN.findall(later.session.turns[-1].text) == printed != []


def reader() -> ClaudeCodeTranscripts:
    """As another process has it: with the same key, and without memory."""
    return ClaudeCodeTranscripts(redact=Redactor(b"k" * 32))


WORK = "Run the linter over the page and mend what it finds"
LINTED = Footprint(wanted="ruff check")
MADE_UP = Delivered(reply="I ran `ruff check .`:\n\n    All checks passed!\n\nNothing was to mend.")


def test_made_up_output_passes_no_check() -> None:
    """B22: a skill that says to run the linter is replayed where the agent has no shell, and the agent tells
    what the linter would have printed. Neither arm passes by words; a linter that ran does."""
    request = replace(requests_of(WORK)[0], task=replace(task_of(WORK), checks=(LINTED,)))
    told, ran = runs_of(MADE_UP), runs_of(replace(MADE_UP, trajectory=(ran_by("ruff check ."),)))
    for arm in Arm:
        store = MemoryStore()
        (trial,) = replay_of(door_of(told, store), store).trials([replace(request, arm=arm)])
        assert (trial.score, trial.failed_checks) == (0.0, (0,))
        store = MemoryStore()
        (trial,) = replay_of(door_of(ran, store), store).trials([replace(request, arm=arm)])
        assert trial.score == 1.0


def ran_by(command: str) -> ToolCall:
    return ToolCall(call_id="1", name="Bash", status=CallStatus.OK, command=command)


@pytest.mark.parametrize(
    "said",
    [
        "",
        '{"reason": "looks fine"}',
        '{"score": 1.0, "verdict": "pass"}',
        'Here is my list:\n\n```json\n[{"pass": true}]\n```\n\nAll good.',
        '{"score": 1.0',
    ],
)
def test_what_a_reply_says_of_itself_is_no_verdict(said: str) -> None:
    """B27, B28: a reply that grades itself, without a verdict, wrapped in prose or cut off, changes the score
    of neither arm: what was done decides, and that alike for both."""
    for deed, score in (("pnpm install", 1.0), ("npm install", 0.0)):
        scores = set()
        for arm in Arm:
            store = MemoryStore()
            request = replace(requests_of("Set it up")[0], arm=arm)
            (trial,) = replay_of(door_of(runs_of(did(deed, reply=said)), store), store).trials([request])
            scores.add(trial.score)
        assert scores == {score}


def test_no_other_editor_stands_in_for_one_that_breaks(place: Place) -> None:
    """B36: the editor raises on an argument. Nothing else is asked in its place: the run says what broke in
    which runner, and proposes nothing."""

    def breaks(job: Job) -> None:
        if job.role is Role.EDIT:
            raise TypeError("edit() got an unexpected keyword argument 'rounds'")

    runner = QuickRunner(before=breaks)
    with cycle_in(place, runner=runner) as (parts, cycle), cycle.held():
        report = cycle.practise(cycle.prepare(parts.harvest_request(everything=True)))
        assert parts.store.find(Draft) == ()
    assert (report.runner, report.runner_version) == (runner.name, "quick")
    asked = [item for item in report.learned if "pathlib" in item.statement]
    assert asked
    assert all(item.draft is None and "unexpected keyword argument 'rounds'" in item.why for item in asked)
    assert "unexpected keyword argument" in markdown(report)


def test_a_session_of_a_store_that_is_not_read_is_not_found(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """B12: an id that only another agent's store holds is not found, by no command, and never taken for one
    that looks like it; `doctor` names the store."""
    theirs = place.person / ".kimi/sessions/ses_0f3c6a52aaaa.json"
    theirs.parent.mkdir(parents=True)
    theirs.write_text('{"id": "ses_0f3c6a52aaaa", "title": "use pnpm"}')
    folder = next((place.person / ".claude/projects").iterdir())
    write_rows(folder / "ses_0f3c6a52aaab.jsonl", [claude("user", 1, "hi", sessionId="ses_0f3c6a52aaab")])
    monkeypatch.setenv("HOME", str(place.person))
    monkeypatch.setenv("NIGHTSCHOOL_HOME", str(place.ours))
    monkeypatch.setenv("NIGHTSCHOOL_RUNNER", "scripted")
    monkeypatch.chdir(place.project)
    assert app.run(["harvest", "--all"]) == 0
    for command in (["explain"], ["forget", "--yes"]):
        capsys.readouterr()
        assert app.run([*command, "ses_0f3c6a52aaaa", "--json"]) == 2
        assert "no session" in json.loads(capsys.readouterr().out)["error"]["text"]
    app.run(["doctor"])
    said = capsys.readouterr().out
    assert f"{place.person / '.kimi'} is here, but" in said


SAY = """
import locale, sys
assert locale.getpreferredencoding(False).lower() not in {"utf-8", "utf8"}, locale.getpreferredencoding(False)
from nightschool.cli import app
raise SystemExit(app.run(sys.argv[1:]))
"""


def narrow(place: Place, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """A command on a machine whose default encoding holds no arrows and no accents."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("LC_")},
        "HOME": str(place.person),
        "NIGHTSCHOOL_HOME": str(place.ours),
        "NIGHTSCHOOL_RUNNER": "scripted",
        "NIGHTSCHOOL_LIMITS_MAX_JOBS": "14",  # too few for an exam: a suggestion, however the lots fall
        "LANG": "C",
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
    }
    return subprocess.run(
        [sys.executable, "-X", "warn_default_encoding", "-c", SAY, *arguments],
        env=environment,
        cwd=place.project,
        capture_output=True,
        check=False,
    )


def test_files_are_utf_8_whatever_the_machine_says(place: Place) -> None:
    """B39: where the default encoding is a narrow one, a memory file with arrows, accents, a byte order mark
    and the line ends of Windows is read, proposed, adopted and given back exactly, and nothing of ours leaves
    the encoding to the machine."""
    memory = place.project / "CLAUDE.md"
    old = b"\xef\xbb\xbf" + "# Projekt → Übersicht\r\n\r\n- naïve façade ✓\r\n".encode()
    memory.write_bytes(old)
    ran = narrow(place, "run", "--yes", "--json")
    assert ran.returncode == 3, ran.stderr.decode()
    learned = json.loads(ran.stdout)["learned"]
    drafts = [item["draft"] for item in learned if item["draft"]]
    assert "underpowered" in {item["code"] for item in learned if item["draft"]}
    shown = narrow(place, "show", drafts[0], "--diff")
    assert shown.returncode == 0, shown.stderr.decode()
    adopted = narrow(place, "adopt", drafts[0], "--reason", "w\u00e4hrend des Tests")
    assert adopted.returncode == 0, adopted.stderr.decode()
    new = memory.read_bytes()
    assert new.startswith(old)
    assert new.count(b"\n") == new.count(b"\r\n")
    undone = narrow(place, "undo")
    assert undone.returncode == 0, undone.stderr.decode()
    assert memory.read_bytes() == old
    (report,) = (place.ours / "reports").glob("*.md")
    assert report.read_text(encoding="utf-8").startswith("# Cycle ")
    left_to_the_machine = [
        line
        for done in (ran, shown, adopted, undone)
        for line in done.stderr.decode().splitlines()
        if "EncodingWarning" in line and "nightschool" in line
    ]
    assert left_to_the_machine == []
