"""What the runners of real agents decide without running one: programs, credentials, reports."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from threading import Event

import pytest

from nightschool.adapters import agent_jobs
from nightschool.adapters.agent_jobs import Said, Tools
from nightschool.adapters.claude_code import runner as claude_code
from nightschool.adapters.claude_code.runner import ClaudeCodeRunner
from nightschool.adapters.claude_code.surface import ClaudeCodeSurface
from nightschool.adapters.codex import runner as codex
from nightschool.adapters.codex.runner import CodexRunner
from nightschool.adapters.gateway import Gateway
from nightschool.adapters.unsafe_process import UnsafeProcessSandbox
from nightschool.core.errors import AuthenticationFailed, RunnerUnusable, SandboxUnavailable
from nightschool.core.harness import Harness
from nightschool.core.jobs import Job, Reason, Role
from nightschool.core.sandboxes import Execution
from nightschool.core.sessions import CallStatus

ELF = b"\x7fELF and more"
KINDS: list[Callable[..., ClaudeCodeRunner | CodexRunner]] = [ClaudeCodeRunner, CodexRunner]


def make(
    kind: Callable[..., ClaudeCodeRunner | CodexRunner], folder: Path, environment: Mapping[str, str]
) -> ClaudeCodeRunner | CodexRunner:
    tools = Tools(sandbox=UnsafeProcessSandbox(work=folder), surface=ClaudeCodeSurface(), redact=str)
    return kind(tools=tools, environment=environment)


def install(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_agent_says_how_to_install_it(
    kind: Callable[..., ClaudeCodeRunner | CodexRunner], tmp_path: Path
) -> None:
    """Without the program the runner is unusable, and the text holds the line to type."""
    with pytest.raises(RunnerUnusable, match="npm install -g"):
        make(kind, tmp_path, {"PATH": str(tmp_path)}).version()


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_key_says_what_to_set(
    kind: Callable[..., ClaudeCodeRunner | CodexRunner], tmp_path: Path
) -> None:
    """Without a key nothing is started, and no login of the person's is looked for."""
    with pytest.raises(AuthenticationFailed, match=r"_API_KEY.*never copied"):
        make(kind, tmp_path, {}).way()


def test_the_key_and_the_subscription(tmp_path: Path) -> None:
    """A key wins over the headless token of a subscription; each goes into its own header."""
    keyed = make(ClaudeCodeRunner, tmp_path, {"ANTHROPIC_API_KEY": "k", "CLAUDE_CODE_OAUTH_TOKEN": "t"})
    assert keyed.way().headers == {"x-api-key": "k"}
    assert keyed.way().upstream == "https://api.anthropic.com"
    token = make(
        ClaudeCodeRunner, tmp_path, {"CLAUDE_CODE_OAUTH_TOKEN": "t", "ANTHROPIC_BASE_URL": "http://x"}
    )
    assert token.way().headers == {"Authorization": "Bearer t"}
    assert token.way().upstream == "http://x"
    other = make(CodexRunner, tmp_path, {"OPENAI_API_KEY": "k"}).way()
    assert (other.upstream, other.headers) == ("https://api.openai.com/v1", {"Authorization": "Bearer k"})


def test_the_native_program_is_found_behind_the_wrapper(tmp_path: Path) -> None:
    """npm's wrappers are scripts; the native program lies in a package beside them."""
    modules, architecture = tmp_path / "node_modules", agent_jobs.architecture()
    wrapper = install(modules / "@openai/codex/bin/codex.js", b"#!/usr/bin/env node")
    (modules / ".bin").mkdir()
    (modules / ".bin/codex").symlink_to(wrapper)
    runner = make(CodexRunner, tmp_path, {"PATH": str(modules / ".bin")})
    with pytest.raises(RunnerUnusable, match="no native program"):
        runner.program()
    vendor = modules / f"@openai/codex-linux-{architecture}/vendor/triple"
    native = install(vendor / "bin/codex", ELF)
    (vendor / "codex-package.json").write_text("{}")
    found = runner.program()
    assert (found.host, found.readable) == (native, (str(vendor), "/opt/agent/codex"))
    assert found.inside == "/opt/agent/codex/bin/codex"

    stub = install(modules / "@anthropic-ai/claude-code/bin/claude.exe", b"#!/bin/sh\n")
    (modules / ".bin/claude").symlink_to(stub)
    claude = make(ClaudeCodeRunner, tmp_path, {"PATH": str(modules / ".bin")})
    with pytest.raises(RunnerUnusable, match=r"install\.cjs"):
        claude.program()
    real = install(modules / f"@anthropic-ai/claude-code-linux-{architecture}/claude", ELF)
    assert claude.program().host == real


def test_a_program_that_tells_no_version_is_unusable(tmp_path: Path) -> None:
    """A version is part of each key, so it is never guessed."""
    program = install(tmp_path / "bin/codex", b"#!/bin/sh\necho something else\n")
    shown = agent_jobs.Program(host=program, readable=("", ""), inside="")
    version_in = make(CodexRunner, tmp_path, {}).version_in
    with pytest.raises(RunnerUnusable, match="something else"):
        agent_jobs.told_version(shown, version_in)
    install(program, b"#!/bin/sh\necho codex-cli 9.9.9\n")
    assert agent_jobs.told_version(shown, version_in) == "9.9.9"


def test_real_agents_are_never_run_without_isolation(tmp_path: Path) -> None:
    """An agent that asks nobody is refused where nothing holds it."""
    job = Job(role=Role.ATTEMPT, prompt="x", agent="codex", agent_version="1", harness=Harness())
    with pytest.raises(SandboxUnavailable, match="bubblewrap"):
        make(CodexRunner, tmp_path, {}).run(job, Event())


def lines(*rows: object) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def test_claude_code_tells_calls_and_their_results() -> None:
    """Calls are joined with their results; a report without an end has no reply; a cut line costs itself."""
    use = {"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": "ls"}}
    edit = {"type": "tool_use", "id": "b", "name": "Edit", "input": {"file_path": "/w/x"}}
    told = {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "x"}]}
    rows = lines(
        {"type": "assistant", "message": {"content": [use, edit]}},
        {"type": "user", "message": {"content": [told, {**told, "tool_use_id": "b", "is_error": True}]}},
    )
    said = claude_code.read(b"{cut\n" + rows)
    assert said.reply is None
    first, second = said.calls
    assert (first.command, first.result, first.status) == ("ls", "x", CallStatus.OK)
    assert (second.files, second.status) == (("/w/x",), CallStatus.ERROR)
    end = {"type": "result", "subtype": "success", "is_error": False, "result": "Done", "total_cost_usd": 0.5}
    said = claude_code.read(rows + lines(end))
    assert (said.reply, said.cost, said.error) == ("Done", Decimal("0.5"), None)
    assert claude_code.read(lines({**end, "stop_reason": "refusal"})).refused
    for odd in (-1, "0.5", float("inf"), 1e13):
        assert claude_code.read(lines({**end, "total_cost_usd": odd})).cost is None, "no sum of money"
    turns = {"type": "result", "subtype": "error_max_turns", "is_error": False}
    assert claude_code.read(lines(turns)).error == "error_max_turns"


def test_codex_tells_commands_as_they_were_given() -> None:
    """The shell's wrapper is taken off; a command that never ended is unknown; a failed turn has no reply."""
    item = {"id": "1", "type": "command_execution", "command": "/bin/bash -lc 'echo \"a b\"'"}
    started = {"type": "item.started", "item": item}
    done = {"type": "item.completed", "item": {**item, "aggregated_output": "a b\n", "exit_code": 0}}
    words = {"type": "item.completed", "item": {"id": "2", "type": "agent_message", "text": "Hello."}}
    (call,) = codex.read(lines(started)).calls
    assert (call.command, call.status, call.result) == ('echo "a b"', CallStatus.UNKNOWN, None)
    said = codex.read(lines(started, done, words, {"type": "turn.completed"}))
    assert (said.reply, said.calls[0].result, said.calls[0].exit_code) == ("Hello.", "a b\n", 0)
    failed = codex.read(lines(words, {"type": "turn.failed", "error": {"message": "no"}}))
    assert (failed.reply, failed.error) == (None, "no")
    assert codex.unwrapped("it's broken") == "it's broken"


def test_long_results_are_cut_after_redaction() -> None:
    """A secret that straddles the cut was replaced before, and the cut is marked."""
    half = agent_jobs.LONGEST_RESULT // 2
    text = "x" * (half - 3) + "SECRET" + "y" * agent_jobs.LONGEST_RESULT
    call = codex.read(
        lines(
            {
                "type": "item.completed",
                "item": {"id": "1", "type": "command_execution", "aggregated_output": text, "exit_code": 0},
            }
        )
    ).calls[0]
    bounded = agent_jobs._bounded(call, lambda said: said.replace("SECRET", "[s]"))
    assert bounded.result is not None
    assert "SEC" not in bounded.result
    assert "[cut: " in bounded.result
    assert replace(call, result="short") == agent_jobs._bounded(replace(call, result="short"), str)


def test_a_model_that_never_answers_is_no_failure_of_the_agent(tmp_path: Path) -> None:
    """Over its time without one answer is lost outside the job; over its time with answers is its own."""
    agent = make(CodexRunner, tmp_path, {})
    over = Execution(exit_code=None, stdout=b"", stderr=b"", wall=timedelta(seconds=9), timed_out=True)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        gateway = Gateway(upstream=f"http://127.0.0.1:{silent.getsockname()[1]}")
        with gateway as path, socket.socket(socket.AF_UNIX) as inside:
            inside.connect(str(path))
            inside.sendall(b"GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n")
            arrived, _ = silent.accept()
            with arrived:
                failure = agent_jobs._failure(agent, over, Said(), gateway)
                assert failure is not None
                assert failure[0] is Reason.INFRASTRUCTURE
                assert "gave no answer at all" in failure[1]
                arrived.recv(1 << 16)
                arrived.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")
                assert inside.recv(1 << 16)
                failure = agent_jobs._failure(agent, over, Said(), gateway)
                assert failure is not None
                assert failure[0] is Reason.TIMEOUT


def test_a_model_that_cannot_be_reached_is_named_by_its_own_address(tmp_path: Path) -> None:
    """What a job says of an endpoint is of the person's, not of the way to it inside the sandbox."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    gateway = Gateway(upstream=f"http://{address}/v1")
    with gateway as path, socket.socket(socket.AF_UNIX) as inside:
        inside.connect(str(path))
        inside.sendall(b"GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n")
        while inside.recv(1 << 16):
            pass
    said = Said(error="API Error: 502. Check your inference gateway (127.0.0.1:8719).")
    ended = Execution(exit_code=1, stdout=b"", stderr=b"", wall=timedelta(seconds=1))
    failure = agent_jobs._failure(make(CodexRunner, tmp_path, {}), ended, said, gateway)
    assert failure is not None
    told = agent_jobs._as_known_outside(failure[1], "http://127.0.0.1:8719", gateway.upstream)
    assert told == (
        f"http://{address}/v1 cannot be reached: API Error: 502. Check your inference gateway ({address})."
    )
