"""The list of what the program guarantees, and guarantees that no single room can hold."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import json
import os
import pkgutil
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event

import pytest

from cycle_builders import Place, QuickRunner, cycle_in
from job_builders import did, job_of
from nightschool import core
from nightschool.adapters import agent_jobs
from nightschool.adapters.agent_jobs import Agent, Program, Said, Tools, Way
from nightschool.adapters.bubblewrap import BubblewrapSandbox
from nightschool.adapters.claude_code.surface import ClaudeCodeSurface
from nightschool.adapters.claude_code.transcripts import ClaudeCodeTranscripts
from nightschool.adapters.codex.transcripts import CodexTranscripts
from nightschool.cli.output import json_text
from nightschool.core.errors import Busy
from nightschool.core.jobs import Delivered, Job, Role
from nightschool.core.ports import TranscriptSource, Workspace
from nightschool.core.sandboxes import Command
from nightschool.core.sessions import Offset, Roots, Session
from nightschool.core.tasks import Footprint
from nightschool.core.trials import Estimate
from nightschool.rules.checking import judge
from nightschool.rules.intervals import estimate
from nightschool.stages.harvest import HarvestRequest, harvest
from nightschool.testing.clock import FakeClock
from nightschool.testing.memory_store import MemoryStore
from transcripts import (
    claude,
    codex,
    codex_item,
    codex_meta,
    codex_said,
    session_of,
    write_rows,
)

TESTS = Path(__file__).parent
LIST = TESTS.parent / "docs" / "behaviours.md"
ENTRY = re.compile(r"^(\d+)\. (.+?)\n((?:   \* `[^`]+`\n)*)", re.MULTILINE)
NAMED = re.compile(r"`([^`]+)::([^`]+)`")
NOW = datetime(2026, 3, 30, 12, tzinfo=UTC)
SOURCES: dict[str, TranscriptSource] = {
    "claude-code": ClaudeCodeTranscripts(redact=str),
    "codex": CodexTranscripts(redact=str),
}


def entries() -> list[tuple[int, str, list[tuple[str, str]]]]:
    text = LIST.read_text(encoding="utf-8")
    return [(int(number), words, NAMED.findall(tests)) for number, words, tests in ENTRY.findall(text)]


def functions(path: Path) -> set[str]:
    return {node.name for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, ast.FunctionDef)}


def test_each_guarantee_names_the_tests_that_hold_it() -> None:
    """`docs/behaviours.md` counts without a gap, and each entry has at least one test, which is there."""
    found = entries()
    assert [number for number, _, _ in found] == list(range(1, len(found) + 1))
    assert len(found) == len(re.findall(r"^\d+\. ", LIST.read_text(encoding="utf-8"), re.MULTILINE))
    assert [words for _, words, tests in found if not tests] == []
    there: dict[str, set[str]] = {}
    gone = []
    for number, _, tests in found:
        for file, name in tests:
            path = TESTS / file
            if file not in there:
                there[file] = functions(path) if path.is_file() else set()
            if f"test_{name}" not in there[file]:
                gone.append(f"{number}: {file}::{name}")
    assert gone == []


# Reading


@pytest.mark.parametrize("zone", ["UTC", "Asia/Shanghai", "America/Los_Angeles", "Pacific/Kiritimati"])
def test_no_time_zone_loses_a_session_or_reads_one_twice(tmp_path: Path, zone: str) -> None:
    """Wherever the machine stands: a window of hours finds what is in it and nothing older, a session that
    is made after a harvest is found by the next one, and nothing is read again."""
    environment = {
        **{name: text for name, text in os.environ.items() if not name.startswith("NIGHTSCHOOL_")},
        "HOME": str(tmp_path),
        "NIGHTSCHOOL_HOME": str(tmp_path / "ns"),
        "TZ": zone,
    }
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        environment.pop(name, None)
    folder = tmp_path / ".claude/projects/-p"
    now = datetime.now(UTC)  # noqa: TID251 - the program under test takes the real clock

    def write(name: str, hours_ago: float) -> None:
        at = now - timedelta(hours=hours_ago)
        row = claude("user", 1, f"prompt of {name}", sessionId=name, timestamp=at.isoformat())
        path = write_rows(folder / f"{name}.jsonl", [row])
        os.utime(path, (at.timestamp(), at.timestamp()))

    def read(*more: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-m", "nightschool", "harvest", "--json", *more],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        return sorted(name.split(":")[1] for name in json.loads(done.stdout)["new"])

    for number in range(4):
        write(f"within-{number}", 1 + number)
    write("before", 9)
    assert read("--since", "6h") == [f"within-{number}" for number in range(4)]
    write("later", 0.001)
    assert read("--since", "6h") == ["later"]
    assert read() == ["before"]
    assert read() == []


class Listener(Agent):
    """An agent that says again what it was asked."""

    def program(self) -> Program:
        return Program(host=Path("/bin/sh"), readable=("/usr/bin", "/opt/agent/bin"), inside="/bin/sh")

    def version_in(self, text: str) -> str | None:
        return text

    def upstream(self) -> str:
        return "http://127.0.0.1:9"

    def way(self) -> Way:
        return Way(upstream=self.upstream(), headers={}, paths=("/v1/",))

    def command(self, workspace: Workspace, job: Job, prompt: str) -> Command:
        return Command(argv=("cat",), stdin=prompt.encode())

    def said(self, stdout: bytes) -> Said:
        return Said(reply=stdout.decode())


@pytest.mark.parametrize("role", list(Role))
def test_no_prompt_of_ours_is_ever_harvested(tmp_path: Path, role: Role) -> None:
    """Whatever the role, the prompt that reaches an agent is known again by each source as our own,
    wherever the agent kept it, and gives neither turns nor sessions."""
    tools = Tools(sandbox=BubblewrapSandbox(work=tmp_path / "work"), surface=ClaudeCodeSurface(), redact=str)
    agent = Listener(tools=tools, environment={}, key_variable="", name="x", title="It")
    outcome = agent_jobs.carry_out(agent, tools, job_of("No, always use pnpm", role=role), Event())
    assert isinstance(outcome, Delivered)
    prompt = outcome.reply
    assert "always use pnpm" in prompt
    write_rows(tmp_path / ".claude/projects/-p/a.jsonl", [claude("user", 1, prompt, sessionId="a")])
    write_rows(tmp_path / ".codex/sessions/2026/rollout-b.jsonl", [codex_meta(id="b"), codex_item(1, prompt)])
    store = MemoryStore()
    request = HarvestRequest(roots=Roots(home=str(tmp_path)), everything=True)
    report = harvest(request, sources=SOURCES, store=store, clock=FakeClock(NOW))
    assert (report.sessions, store.find(Session)) == ((), ())
    assert dict(report.counts)["own-replay"] == 2


def test_machines_do_not_use_up_the_cap(tmp_path: Path) -> None:
    """A cap counts sessions that are kept: newer runs of sub-agents and of ours push no person's aside."""
    folder = tmp_path / ".claude/projects/-p"
    for number in range(6):
        side = write_rows(
            folder / f"side-{number}.jsonl",
            [claude("user", 1, f"go {number}", sessionId=f"side-{number}", isSidechain=True)],
        )
        os.utime(side, (NOW.timestamp(), NOW.timestamp()))
    for number in range(2):
        own = write_rows(folder / f"mine-{number}.jsonl", [claude("user", 1, "hi", sessionId=f"m{number}")])
        os.utime(own, (NOW.timestamp() - 3600, NOW.timestamp() - 3600))
    request = HarvestRequest(roots=Roots(home=str(tmp_path)), max_sessions=2)
    report = harvest(request, sources=SOURCES, store=MemoryStore(), clock=FakeClock(NOW))
    assert sorted(session.session_id for session in report.sessions) == ["m0", "m1"]


def test_what_an_agent_thinks_is_in_no_session(tmp_path: Path) -> None:
    """Reasoning, open or encrypted, is neither a turn nor kept with one, so no rule is ever made of it."""
    thought = [{"type": "thinking", "thinking": "SECRET THOUGHT", "signature": "SECRET SIGNATURE"}]
    said = [{"type": "text", "text": "done"}]
    rows = [claude("user", 1, "hi"), claude("assistant", 2, thought), claude("assistant", 3, said)]
    session = session_of(SOURCES["claude-code"], write_rows(tmp_path / "a.jsonl", rows))
    assert "SECRET" not in repr(session)
    assert [turn.text for turn in session.turns] == ["hi", "done"]
    hidden = codex(
        "response_item", 2, type="reasoning", summary=[{"type": "summary_text", "text": "SECRET THOUGHT"}]
    )
    lines = [codex_meta(), codex_item(1, "hi"), hidden, codex_said(3, "done")]
    session = session_of(SOURCES["codex"], write_rows(tmp_path / "rollout-b.jsonl", lines))
    assert "SECRET" not in repr(session)
    assert [turn.text for turn in session.turns] == ["hi", "done"]


# Judging


@pytest.mark.parametrize(
    "term", ["(a+)+$", ".*", "$(touch planted)", "`touch planted`", "../../etc/passwd", "[a-z]"]
)
def test_a_term_of_a_check_is_only_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, term: str) -> None:
    """A term that reads like a pattern, a command or a path is found where it stands and nowhere else, at
    once, and is neither matched as a pattern, nor run, nor opened."""
    monkeypatch.chdir(tmp_path)
    check = (Footprint(wanted=term),)
    assert judge(check, did(added=f"x = {term} ;")).score == 1.0
    assert judge(check, did(added="a" * 50_000 + "!")).score == 0.0
    assert list(tmp_path.iterdir()) == []


def test_a_score_lies_between_nothing_and_all() -> None:
    """A judgement is a share, whatever was judged; an interval of figures that are none is refused."""
    for outcome in (did(), did(added=""), did(reply='{"score": 85}'), did(reply='{"score": NaN}')):
        score = judge((Footprint(wanted="pnpm"), Footprint(unwanted="npm")), outcome).score
        assert score is not None
        assert 0.0 <= score <= 1.0
    for figures in ([43.0], [float("nan")], [float("inf")], [-0.1]):
        with pytest.raises(ValueError, match="score"):
            estimate(figures)


# Keeping and telling


def test_what_is_told_as_json_is_standard() -> None:
    """A number that JSON has not is an error of ours before it is a document that nobody can read."""
    for odd in (float("nan"), float("inf"), -float("inf")):
        with pytest.raises(ValueError, match="JSON"):
            json_text({"estimate": Estimate(mean=odd, low=0.0, high=1.0, n=1)})


def values() -> Iterator[type]:
    for module in pkgutil.iter_modules(core.__path__, f"{core.__name__}."):
        for found in vars(importlib.import_module(module.name)).values():
            if (
                isinstance(found, type)
                and dataclasses.is_dataclass(found)
                and found.__module__ == module.name
            ):
                yield found


def test_no_value_shares_what_another_could_change() -> None:
    """Values of core are frozen and hold nothing that can be changed: no list, dict or set, neither as a
    default nor as a type."""
    found = list(values())
    assert len(found) > 30
    for kind in found:
        parameters = kind.__dataclass_params__  # type: ignore[attr-defined]  # kept by dataclasses, told by no stub
        assert parameters.frozen, kind
        for field in dataclasses.fields(kind):
            assert not re.match(r"(list|dict|set)\b", str(field.type)), (kind, field.name)


def test_cycles_of_two_projects_share_one_home(tmp_path: Path) -> None:
    """Of two runs at once in different projects the second is told to wait and changes nothing; run after
    the first, each has its own report, and no cursor of the other is lost."""
    place = Place.made(tmp_path)
    other = place.person / "other"
    rows = [claude("user", 1, "use ruff", sessionId="elsewhere", cwd=str(other), timestamp=NOW.isoformat())]
    write_rows(place.person / ".claude/projects/-other/elsewhere.jsonl", rows)
    began, go_on = Event(), Event()
    told: list[str] = []

    def first() -> None:
        def wait(_: Job) -> None:
            began.set()
            go_on.wait(60)

        with cycle_in(place, runner=QuickRunner(before=wait), jobs=6) as (parts, cycle), cycle.held():
            report = cycle.practise(cycle.prepare(parts.harvest_request(everything=True)))
            told.append(report.cycle)

    running = threading.Thread(target=first)
    running.start()
    try:
        assert began.wait(60)
        with cycle_in(place, runner=QuickRunner(), jobs=6) as (parts, cycle):
            cycle.project = cycle.preparation.project = str(other)
            cursors = parts.store.find(Offset)
            with pytest.raises(Busy), cycle.held():
                pytest.fail("two cycles ran at once in one home")
            assert parts.store.find(Offset) == cursors
    finally:
        go_on.set()
        running.join()
    with cycle_in(place, runner=QuickRunner(), jobs=6) as (parts, cycle), cycle.held():
        cycle.project = cycle.preparation.project = str(other)
        report = cycle.practise(cycle.prepare(parts.harvest_request()))
        assert (report.project, report.cycle != told[0]) == (str(other), True)
        assert parts.store.find(Offset) == cursors
        assert report.sessions_read == 1  # read along by the run before, and news to this project's first one


# What the program speaks to

ADDRESS = re.compile(r"\b(?:https?|wss?|ftp)://([A-Za-z0-9.-]+)")
SPOKEN_TO = {"api.anthropic.com", "api.openai.com"}
"""Where agents send their requests unless the settings name another place."""
TOLD = {"127.0.0.1", "code.claude.com", "developers.openai.com", "git-lfs", "host", "www.w3.org"}
"""This machine itself, and pages and names that are only told."""


def test_no_address_is_built_in_but_those_of_the_agents() -> None:
    """The package names no host but the two whose agents it runs; nothing is sent elsewhere unless the
    person names it, and nothing of it listens where another machine could reach it."""
    package = Path(core.__file__).parents[1]
    hosts, listening = set(), []
    for file in package.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        if "testing" not in file.parts:
            hosts |= set(ADDRESS.findall(text))
        listening += [f"{file.name}: {word}" for word in ("0.0.0.0", "INADDR_ANY", '("::"') if word in text]  # noqa: S104 - what must not be there
    assert hosts - TOLD == SPOKEN_TO
    assert listening == []
