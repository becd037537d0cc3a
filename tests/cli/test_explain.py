"""`explain`: each row of a session, each condition of a proposal; nothing is stored and no file touched."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cycle_builders import tree
from nightschool.adapters.sqlite_store import SqliteStore
from nightschool.cli.app import run
from nightschool.core.proposals import Draft, Verdict, VerdictKind
from nightschool.core.sessions import Session
from nightschool.core.tasks import Task
from nightschool.testing.demo import lay_out
from transcripts import CLAUDE_ID, claude, write_rows

Ask = Callable[..., Any]


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person with the recorded sessions of both agents, in their project."""
    person = tmp_path / "sam"
    person.mkdir()
    root = lay_out(person)
    config = tmp_path / "config.toml"
    config.write_text('runner = "scripted"\n[harvest]\nlookback_limit_days = 36500\n', encoding="utf-8")
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.setenv("USER", "sam")
    monkeypatch.setenv("NIGHTSCHOOL_HOME", str(tmp_path / "school"))
    monkeypatch.setenv("NIGHTSCHOOL_CONFIG", str(config))
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    def asked(*arguments: str, code: int = 0) -> Any:
        capsys.readouterr()
        assert run([*arguments, "--json"]) == code
        return json.loads(capsys.readouterr().out)

    return asked


@pytest.mark.parametrize("source", ["claude-code", "codex"])
def test_every_row_of_a_session_is_told(ledger: Path, tmp_path: Path, ask: Ask, source: str) -> None:
    """In the order of the file, with its byte; the corrections and tasks are those that a run makes."""
    ask("harvest", "--all")
    sessions = SqliteStore.open(tmp_path / "school").find(Session)
    for session in (one for one in sessions if one.source == source):
        told = ask("explain", session.id)
        assert told == ask("explain", session.session_id) == ask("explain", session.path)
        content = Path(session.path).read_bytes()
        offsets = [row["offset"] for row in told["rows"]]
        assert offsets == sorted(offsets)
        assert len(set(offsets)) == len(content.splitlines())
        assert all(row["why"] for row in told["rows"])
        people = [index for index, turn in enumerate(session.turns) if turn.speaker == "human"]
        assert [row["turn"] for row in told["rows"] if row["became"] == "human"] == people
        heard = {name for row in told["rows"] for name in row["corrections"]}
        assert heard == {one["id"] for one in told["corrections"]}
        made = {name for row in told["rows"] for name in row["tasks"]}
        assert made == {one["id"] for one in told["tasks"]}
        assert told["tasks"] or told["no_task"]


def test_to_explain_stores_nothing_and_agrees_with_a_run(ledger: Path, tmp_path: Path, ask: Ask) -> None:
    """What it says that a run would make is what the run makes; until then there is no store at all."""
    person = ledger.parent
    before = tree(person)
    files = sorted((person / ".claude/projects").rglob("*.jsonl"))
    foretold = {task["id"] for path in files for task in ask("explain", str(path))["tasks"]}
    assert not (tmp_path / "school").exists()
    assert tree(person) == before
    ask("harvest", "--all")
    ask("explain", str(files[0]))
    store = SqliteStore.open(tmp_path / "school")
    assert store.find(Task) == ()
    ask("run", "--yes", "--max-jobs", "1", code=3)
    assert {task.id for task in store.find(Task) if task.source == "claude-code"} == foretold


def test_what_a_person_reads_has_the_reasons(ledger: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A correction with its words, what it was heard as, the task of the request, and rows without turns."""
    (path,) = (ledger.parent / ".claude/projects").rglob("e54871b7*.jsonl")
    assert run(["explain", str(path)]) == 0
    told = capsys.readouterr().out
    for words in ("correction: 'We always use pathlib here", "the request of task t-", "worth an edit (k-"):
        assert words in told
    assert "says nothing of turns or calls" in told


def test_rows_that_became_nothing_are_counted(
    ledger: Path, ask: Ask, capsys: pytest.CaptureFixture[str]
) -> None:
    """They stand in the document and among the rows; with --brief a line says how many of which kind."""
    (path,) = (ledger.parent / ".claude/projects").rglob("e54871b7*.jsonl")
    quiet = [row for row in ask("explain", str(path))["rows"] if row["became"] == "nothing"]
    assert quiet
    assert run(["explain", str(path)]) == 0
    row = re.compile(rf"^ *{quiet[0]['offset']} .*says nothing of turns or calls", re.MULTILINE)
    assert row.search(capsys.readouterr().out)
    assert run(["explain", str(path), "--brief"]) == 0
    told = capsys.readouterr().out
    assert f"not shown: {len(quiet)} that say nothing of turns or calls" in told
    assert not row.search(told)


def test_secrets_are_not_told(ledger: Path, ask: Ask) -> None:
    """Texts are redacted as everywhere, and bounded."""
    secret = "sk-ant-api03-" + "Ab3dEf6hIj" * 8
    rows = [claude("user", 1, f"log in with {secret} " + "and so on " * 200)]
    path = write_rows(ledger.parent / f"{CLAUDE_ID}.jsonl", [*rows, b"no row"])
    told = ask("explain", str(path))
    assert secret not in json.dumps(told)
    assert len(told["rows"][0]["text"]) <= 100
    assert (told["rows"][1]["became"], told["rows"][1]["kind"]) == ("left out", "no row")


def test_what_is_none_is_told(ledger: Path, ask: Ask) -> None:
    """No such session or file, no transcript, another thing's id: wrong use, with where to look."""
    ask("harvest", "--all")
    assert ask("explain", "nothing-of-that-name", code=2)["error"]["code"] == "not-found"
    assert ask("explain", "d-0000000000", code=2)["error"]["code"] == "not-found"
    assert "there is no file" in ask("explain", "./none.jsonl", code=2)["error"]["text"]
    assert "no transcript" in ask("explain", "./ledger/totals.py", code=2)["error"]["text"]
    assert "tasks show" in ask("explain", "t-0123456789ab", code=2)["error"]["text"]
    assert ask("explain", "", code=2)["error"]["code"] in {"not-found", "user-error"}


def test_what_was_forgotten_or_is_ignored_is_not_told(ledger: Path, tmp_path: Path, ask: Ask) -> None:
    """By id or by file, with the way back, and not a word of it; taken off the list it is told again."""
    ask("harvest", "--all")
    session = SqliteStore.open(tmp_path / "school").find(Session)[0]
    words = session.human_turns[0].text[:30]
    assert words in json.dumps(ask("explain", session.id))
    ask("forget", session.id, "--yes")
    for name in (session.id, session.session_id, session.path):
        refused = ask("explain", name, code=2)
        assert "you had it forgotten" in refused["error"]["text"]
        assert f"nightschool forget {session.id} --allow" in refused["error"]["text"]
        assert words not in json.dumps(refused)
    ask("forget", session.id, "--allow")
    assert ask("explain", session.path)["rows"]
    config = tmp_path / "config.toml"
    before = config.read_text(encoding="utf-8")
    config.write_text(f'{before}[ignore]\nprojects = ["ledger"]\n', encoding="utf-8")
    refused = ask("explain", session.path, code=2)
    assert "on an ignore list (by ignore.projects of your list)" in refused["error"]["text"]
    config.write_text(f"retention_days = 1\n{before}", encoding="utf-8")
    assert ask("explain", session.path)["rows"]


def test_a_proposal_is_explained_condition_by_condition(ledger: Path, tmp_path: Path, ask: Ask) -> None:
    """Before the exam has ended something is open; once it is accepted all holds, and so does what adopting
    asks, until the file changes. How an exam comes out is chance, and what is told of it is not."""
    ask("run", "--yes", "--max-jobs", "20", code=3)
    store = SqliteStore.open(tmp_path / "school")
    for draft in store.find(Draft):
        told = ask("explain", draft.id[:7])
        assert told["proposal"] == draft.id
        assert {one["holds"] for one in told["gate"]} != {True}
        assert False in [one["holds"] for one in told["adopting"]]
    assert run(["run", "--yes", "--max-jobs", "2000"]) in {0, 3}
    kinds = {verdict.draft: verdict.kind for verdict in store.find(Verdict)}
    for draft in store.find(Draft):
        accepted = kinds[draft.digest] is VerdictKind.ACCEPT
        told = ask("explain", draft.id)
        assert ({one["holds"] for one in told["gate"]} == {True}) is accepted
        assert ({one["holds"] for one in told["adopting"]} == {True}) is accepted
    (ledger / "CLAUDE.md").write_text("# mine\n", encoding="utf-8")
    for draft in store.find(Draft):
        told = ask("explain", draft.id)
        failing = {one["asked"] for one in told["adopting"] if not one["holds"]}
        stale = {"the file is still the one that it was made from"}
        assert failing == stale if kinds[draft.digest] is VerdictKind.ACCEPT else failing > stale
        assert run(["explain", draft.id]) == 0


@pytest.mark.parametrize(
    ("name", "command"),
    [("r-0005", "nightschool releases"), ("c-0123456789", "nightschool corrections --json")],
)
def test_what_is_neither_leads_to_the_command_that_has_its_id(
    name: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Releases and corrections have commands of their own, named so that the id is found there."""
    assert run(["explain", name]) == 2
    assert f"`{command}` tells of it" in capsys.readouterr().err
