"""The runner of the demo."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from threading import Event

import pytest

from nightschool.adapters.bubblewrap import BubblewrapSandbox
from nightschool.adapters.claude_code.surface import ClaudeCodeSurface
from nightschool.adapters.unsafe_process import UnsafeProcessSandbox
from nightschool.core.harness import File, Harness
from nightschool.core.jobs import Delivered, Failed, Reason, Role
from nightschool.core.ports import Runner, Sandbox
from nightschool.core.tasks import FilesSource, GitSource
from nightschool.testing import demo
from nightschool.testing.conformance.runner import check_runner, job
from nightschool.testing.script import Rule, Script, Write
from nightschool.testing.scripted_runner import CANDIDATE, ScriptedRunner

PROMPT = "Write a function csv_files(folder) in ledger/files.py that lists the CSV files in a folder."


def runner(sandbox: Sandbox, script: Script) -> ScriptedRunner:
    return ScriptedRunner(script=script, sandbox=sandbox, surface=ClaudeCodeSurface())


@pytest.mark.parametrize("kind", [BubblewrapSandbox, UnsafeProcessSandbox])
def test_conformance(kind: type[BubblewrapSandbox | UnsafeProcessSandbox], tmp_path: Path) -> None:
    """The scripted runner keeps the contract of the port, in the sandbox and without one."""

    @contextmanager
    def make(script: Script) -> Iterator[Runner]:
        yield runner(kind(work=tmp_path), script)

    own = "user/.claude/CLAUDE.md"
    check_runner(make, memory="project/CLAUDE.md", own=own, isolated=kind is BubblewrapSandbox)
    assert list(tmp_path.glob("jobs/*")) == []


def test_the_apprentice_follows_what_it_is_taught(tmp_path: Path) -> None:
    """On the demo's task the rule in the memory file decides, by job and not by chance of the run."""
    files = [
        File(path=path.relative_to(demo.HERE / "project").as_posix(), content=path.read_bytes())
        for path in sorted((demo.HERE / "project").rglob("*.py"))
    ]
    mine = runner(UnsafeProcessSandbox(work=tmp_path), demo.apprentice())
    rule = Harness(files=(File(path="project/CLAUDE.md", content=b"- use pathlib, not os.path\n"),))
    added: dict[bool, list[str]] = {False: [], True: []}
    for taught in (False, True):
        for repeat in range(4):
            asked = replace(
                job(mine, PROMPT),
                workspace=FilesSource(files=tuple(files)),
                harness=rule if taught else Harness(),
                repeat=repeat,
            )
            outcome = mine.run(asked, Event())
            assert outcome == replace(mine.run(asked, Event()), usage=outcome.usage)
            assert isinstance(outcome, Delivered)
            assert [change.path for change in outcome.files] == ["ledger/files.py"]
            added[taught].append(outcome.files[0].added)
    assert sum("pathlib" in text for text in added[True]) > sum("pathlib" in text for text in added[False])
    assert any("os.path" in text for text in added[False])


def test_a_lost_workspace_is_lost_and_a_broken_script_scores(tmp_path: Path) -> None:
    """A repository that is gone is infrastructure; a script that writes outside is a bad reply."""
    script = Script(rules=(Rule(then=(Write(path="../out", content=""),)),))
    mine = runner(UnsafeProcessSandbox(work=tmp_path), script)
    gone = GitSource(repository=str(tmp_path / "gone"), commit="0" * 40)
    lost = mine.run(replace(job(mine, PROMPT), workspace=gone), Event())
    assert isinstance(lost, Failed)
    assert lost.reason is Reason.INFRASTRUCTURE
    broken = mine.run(job(mine, PROMPT), Event())
    assert isinstance(broken, Failed)
    assert broken.reason is Reason.BAD_REPLY
    assert "outside of its folder" in broken.message


def evidence(*quotes: str, statement: str = "", rules: tuple[str, ...] = ()) -> File:
    moments = [{"session": f"codex:{n}", "turn": n, "quote": quote} for n, quote in enumerate(quotes)]
    text = {"statement": statement, "evidence": moments, "rules": rules}
    return File(path=CANDIDATE, content=json.dumps(text).encode())


@pytest.mark.parametrize(
    ("file", "rules"),
    [
        (evidence("use a", "use b!", statement="use b!"), ["use b!"]),
        (evidence("use a", "use b!", statement="said elsewhere"), ["use a"]),
        (evidence("use a", rules=("use a",)), []),
        (evidence(), []),
    ],
)
def test_the_editor_quotes_the_person(file: File, rules: list[str], tmp_path: Path) -> None:
    """The rule is a quote of the evidence with its moment, and nothing where a rule says it already."""
    mine = runner(UnsafeProcessSandbox(work=tmp_path), Script())
    outcome = mine.run(replace(job(mine, "edit"), role=Role.EDIT, files=(file,)), Event())
    assert isinstance(outcome, Delivered)
    edits = json.loads(outcome.reply)["edits"]
    assert [edit["rule"] for edit in edits] == rules
    assert all(edit["session"] == f"codex:{edit['turn']}" for edit in edits)
    assert (outcome.usage.tokens, outcome.usage.cost) == (0, Decimal(0))
