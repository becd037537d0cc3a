"""The runners of Claude Code and Codex, with the real programs in the sandbox and a scripted model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Event

import pytest

from agents.stages import KEY, MODULES, MakeStage
from nightschool.adapters.claude_code.runner import ClaudeCodeRunner
from nightschool.adapters.codex.surface import CodexSurface
from nightschool.core.errors import AuthenticationFailed, RunnerUnusable
from nightschool.core.harness import File, Harness
from nightschool.core.jobs import MARKER, Delivered, Failed, JobOptions, Reason
from nightschool.core.ports import Runner
from nightschool.testing.conformance.runner import check_runner, job
from nightschool.testing.script import Fault, Rule, Say, Script, Shell, Write

pytestmark = pytest.mark.agents
both = pytest.mark.parametrize("name", ["claude-code", "codex"])

TALK = Script(default=Say(text="Hello."))


@both
def test_conformance(name: str, make_stage: MakeStage) -> None:
    """Each runner keeps the contract of the port."""

    @contextmanager
    def make(script: Script) -> Iterator[Runner]:
        with make_stage(name, script) as stage:
            yield stage.runner

    with make_stage(name, TALK) as stage:
        memory, own = stage.memory, stage.own_memory
    check_runner(make, memory=memory, own=own)


@both
def test_what_is_placed_reaches_the_model(name: str, make_stage: MakeStage) -> None:
    """Memory of the project and of the person, and the description of a skill, stand in the request."""
    skills = ".claude/skills" if name == "claude-code" else ".codex/skills"
    head = b"---\nname: tidy\ndescription: marker-of-skill\n---\nBody\n"
    with make_stage(name, TALK) as stage:
        harness = Harness.of(
            [
                File(path=stage.memory, content=b"marker-of-project\n"),
                File(path=stage.own_memory, content=b"marker-of-person\n"),
                File(path=f"project/{skills}/tidy/SKILL.md", content=head),
            ]
        )
        asked = replace(job(stage.runner, "Say hello."), harness=harness)
        outcome = stage.runner.run(asked, Event())
        assert isinstance(outcome, Delivered), outcome
        seen = stage.model.requests[0].text
        assert f"[{MARKER} {asked.key[:8]}]" in seen
        for marker in ("marker-of-project", "marker-of-person", "marker-of-skill"):
            assert marker in seen, marker
        assert outcome.files == ()
        assert outcome.usage.tokens is not None
        assert outcome.usage.tokens > 0


def test_imports_that_were_approved_reach_the_model(make_stage: MakeStage) -> None:
    """A project's memory brings files of HOME, and the person's own memory those beside it."""
    with make_stage("claude-code", TALK) as stage:
        harness = Harness.of(
            [
                File(path=stage.memory, content=b"@docs/a.md @~/notes/mine.md\n"),
                File(path="project/docs/a.md", content=b"marker-of-docs\n"),
                File(path="user/notes/mine.md", content=b"marker-of-notes\n"),
                File(path=stage.own_memory, content=b"@more.md\n"),
                File(path="user/.claude/more.md", content=b"marker-of-more\n"),
                File(path="user/.claude/rules/r.md", content=b"marker-of-rule\n"),
            ]
        )
        outcome = stage.runner.run(replace(job(stage.runner, "Say hello."), harness=harness), Event())
        assert isinstance(outcome, Delivered), outcome
        seen = stage.model.requests[0].text
        missing = [name for name in ("docs", "notes", "more", "rule") if f"marker-of-{name}" not in seen]
        assert missing == []
        assert outcome.files == ()


@pytest.mark.parametrize("text", ["marker-of-override\n", "", " \n"])
def test_codex_reads_an_override_in_place_of_the_memory(text: str, make_stage: MakeStage) -> None:
    """The surface says what the program does: an override of a project goes before even when it is empty,
    the person's only with text in it."""
    with make_stage("codex", TALK) as stage:
        harness = Harness.of(
            File(path=f"{folder}/{name}", content=content)
            for folder in ("project", "user/.codex")
            for name, content in (
                ("AGENTS.md", f"memory-of-{folder}\n".encode()),
                ("AGENTS.override.md", text.encode()),
            )
        )
        outcome = stage.runner.run(replace(job(stage.runner, "Say hello."), harness=harness), Event())
        assert isinstance(outcome, Delivered), outcome
        seen = stage.model.requests[0].text
        surface = CodexSurface()
        for folder in ("project", "user/.codex"):
            shadowed = surface.read_instead(f"{folder}/AGENTS.md", harness) is not None
            assert (f"memory-of-{folder}" in seen) is not shadowed, folder
        assert ("marker-of-override" in seen) is bool(text.strip())


@pytest.mark.parametrize("name", ["CLAUDE.local.md", "CLAUDE.override.md"])
def test_nothing_lies_before_the_memory_of_claude_code(name: str, make_stage: MakeStage) -> None:
    """CLAUDE.md is read whatever else is beside it."""
    with make_stage("claude-code", TALK) as stage:
        memory = [File(path=stage.memory, content=b"marker-of-project\n")]
        other = [File(path=f"project/{name}", content=b"marker-of-other\n")]
        asked = replace(job(stage.runner, "Say hello."), harness=Harness.of([*memory, *other]))
        assert isinstance(stage.runner.run(asked, Event()), Delivered)
        assert "marker-of-project" in stage.model.requests[0].text


@both
def test_the_key_stays_outside(name: str, make_stage: MakeStage) -> None:
    """The agent inside knows no key, and the model is asked with the right one all the same."""
    script = Script(rules=(Rule(then=(Shell(command="env; cat ~/.codex/config.toml"), Say(text="Seen."))),))
    with make_stage(name, script) as stage:
        outcome = stage.runner.run(job(stage.runner, "Look around."), Event())
        assert isinstance(outcome, Delivered), outcome
        printed = "".join(call.result or "" for call in outcome.trajectory)
        assert "HOME=" in printed
        assert "the-right-key" not in printed
        assert "the-right-key" in str(stage.model.requests[0].headers)


def test_the_token_of_a_subscription_stays_outside_too(make_stage: MakeStage) -> None:
    """Claude Code inside behaves as with such a token, the gateway puts in the real one. Shown against the
    scripted model; the vendor's endpoint was not asked."""
    with make_stage("claude-code", TALK) as stage:
        runner = stage.runner
        assert isinstance(runner, ClaudeCodeRunner)
        kept = {name: value for name, value in runner.environment.items() if name != "ANTHROPIC_API_KEY"}
        runner.environment = {**kept, "CLAUDE_CODE_OAUTH_TOKEN": KEY}
        assert isinstance(runner.run(job(runner, "Say hello."), Event()), Delivered)
        headers = stage.model.requests[-1].headers
        assert headers["authorization"] == f"Bearer {KEY}"
        assert "oauth" in headers["anthropic-beta"]


@both
def test_a_wrong_key_is_loud(name: str, make_stage: MakeStage) -> None:
    """Credentials that are refused end everything, since no further job could succeed."""
    with (
        make_stage(name, TALK, key="wrong") as stage,
        pytest.raises(AuthenticationFailed, match="credentials"),
    ):
        stage.runner.run(job(stage.runner, "Say hello."), Event())


@both
@pytest.mark.parametrize("status", [429, 500])
def test_a_busy_model_is_a_loss(name: str, status: int, make_stage: MakeStage) -> None:
    """429 and 5xx fail outside the job: it is lost, and scores nothing."""
    with make_stage(name, Script(default=Fault(status=status, message="come back later"))) as stage:
        outcome = stage.runner.run(job(stage.runner, "Say hello.", seconds=90), Event())
        assert isinstance(outcome, Failed)
        assert outcome.reason is Reason.INFRASTRUCTURE
        assert str(status) in outcome.message


@both
def test_a_request_that_is_refused_for_good_scores(name: str, make_stage: MakeStage) -> None:
    """A 400 in the middle of the work is the job's own failure, and what was done before is kept."""
    script = Script(rules=(Rule(then=(Write(path="a.txt", content="a\n"), Fault(status=400))),))
    with make_stage(name, script) as stage:
        outcome = stage.runner.run(job(stage.runner, "Write."), Event())
        assert isinstance(outcome, Failed)
        assert outcome.reason is Reason.BAD_REPLY
        assert [change.path for change in outcome.files] == ["a.txt"]
        assert len(outcome.trajectory) == 1


@both
def test_an_unknown_model_ends_the_run(name: str, make_stage: MakeStage) -> None:
    """A model that the endpoint does not know would fail every job."""
    with make_stage(name, Script(default=Fault(status=404))) as stage:
        asked = replace(job(stage.runner, "Say hello."), options=JobOptions(model="no-such-model"))
        with pytest.raises(RunnerUnusable, match="no-such-model"):
            stage.runner.run(asked, Event())


@both
def test_versions_are_those_that_npm_installed(name: str, make_stage: MakeStage) -> None:
    """The version comes from the program itself, and is that of the package which it is started from."""
    package = MODULES / {"claude-code": "@anthropic-ai/claude-code", "codex": "@openai/codex"}[name]
    installed = json.loads((package / "package.json").read_bytes())["version"]
    with make_stage(name, TALK) as stage:
        assert stage.runner.version() == installed
