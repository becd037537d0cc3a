"""What every `Runner` keeps: work is delivered with its evidence, failure is a value, a stop is quick."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import timedelta
from threading import Event

from nightschool.core.harness import File, Harness
from nightschool.core.jobs import Delivered, Failed, Job, JobOptions, Outcome, Reason, Role
from nightschool.core.ports import Runner
from nightschool.core.sessions import CallStatus
from nightschool.core.tasks import FilesSource
from nightschool.testing.script import Rule, Say, Script, Shell, When

MakeRunner = Callable[[Script], AbstractContextManager[Runner]]
"""A runner whose model or agent behaves as the script says, for as long as the block is open."""

WORD = "zebra-crossing"
SCRIPT = Script(
    rules=(
        Rule(
            when=When(prompt="make it", contains=(WORD,)),
            then=(
                Shell(command="printf 'with the rule\\n' > made.txt; cat old.txt; rm gone.txt"),
                Say(text="It is made by the rule."),
            ),
        ),
        Rule(
            when=When(prompt="make it"),
            then=(Shell(command="printf 'without\\n' > made.txt; exit 3"), Say(text="It is made.")),
        ),
        Rule(
            when=When(prompt="take long"),
            then=(Shell(command="printf begun > begun.txt; sleep 45"), Say(text="That took long.")),
        ),
    ),
)
QUICK = 2.0
"""Seconds in which a runner returns after it was told to stop."""


def check_runner(make_runner: MakeRunner, *, memory: str, own: str, isolated: bool = True) -> None:
    """Raise AssertionError where a runner breaks its contract. `memory` and `own` are places of memory files
    that the runner's agent reads: of a project, such as `project/CLAUDE.md`, and of the person. Where the
    sandbox is not `isolated` the person's can be changed."""
    inside = f"~/{own.removeprefix('user/')}"
    overwrites = Rule(
        when=When(prompt="change mine"),
        then=(Shell(command=f"cat {inside}; echo more >> {inside}"), Say(text="It was tried.")),
    )
    with make_runner(replace(SCRIPT, rules=(overwrites, *SCRIPT.rules))) as runner:
        _ensure(bool(runner.name) and bool(runner.version()), "a runner has a name and a version")
        _ensure(runner.version() == runner.version(), "the version is the same each time")
        runner.check()
        _delivers(runner, memory)
        _leaves_the_persons_own(runner, own, isolated=isolated)
        _keeps_to_the_time(runner)
        _stops(runner)


def job(runner: Runner, prompt: str, *, seconds: float = 60) -> Job:
    """An attempt in a workspace of two files."""
    files = (File(path="gone.txt", content=b"x\n"), File(path="old.txt", content=b"old words\n"))
    return Job(
        role=Role.ATTEMPT,
        prompt=prompt,
        agent=runner.name,
        agent_version=runner.version(),
        harness=Harness(),
        workspace=FilesSource(files=files),
        options=JobOptions(timeout=timedelta(seconds=seconds)),
    )


def _delivers(runner: Runner, memory: str) -> None:
    plain = job(runner, "Please make it.")
    without = _delivered(runner.run(plain, Event()))
    _ensure(without.reply == "It is made.", f"the reply is the agent's last word, not {without.reply!r}")
    _ensure([change.path for change in without.files] == ["made.txt"], "what was made is told, nothing else")
    _ensure(without.files[0].content == b"without\n", "a changed file is told with its bytes")
    (call,) = without.trajectory
    _ensure(call.command is not None and "made.txt" in call.command, "the command line is in the trajectory")
    _ensure(call.status is CallStatus.ERROR, "a command that failed is told as failed")

    rule = File(path=memory, content=f"# Rules\n- {WORD}\n".encode())
    taught = _delivered(runner.run(replace(plain, harness=Harness(files=(rule,))), Event()))
    _ensure(taught.reply == "It is made by the rule.", "the memory file reaches the agent")
    told = {change.path: change.content for change in taught.files}
    _ensure(told == {"made.txt": b"with the rule\n", "gone.txt": None}, f"changes are exact, not {told}")
    (call,) = taught.trajectory
    _ensure("old words" in (call.result or ""), "the result of a command is in the trajectory")
    _ensure(call.status is CallStatus.OK, "a command that worked is told so")
    _ensure(taught.usage.wall is not None, "how long it took is known")


def _leaves_the_persons_own(runner: Runner, own: str, *, isolated: bool) -> None:
    mine = File(path=own, content=b"- how I want it\n")
    asked = replace(job(runner, "Please change mine."), harness=Harness(files=(mine,)))
    tried = _delivered(runner.run(asked, Event()))
    (call,) = tried.trajectory
    _ensure("how I want it" in (call.result or ""), "the person's own memory is there to be read")
    _ensure(not tried.files, "the person's own memory is no part of the work")
    if isolated:
        _ensure(call.status is CallStatus.ERROR, "the person's own memory cannot be written")


def _keeps_to_the_time(runner: Runner) -> None:
    failed = _failed(runner.run(job(runner, "Please take long.", seconds=8), Event()))
    _ensure(failed.reason is Reason.TIMEOUT, f"over its time is a time-out, not {failed.reason}")
    _ensure(bool(failed.message), "a failure says why")
    _ensure([change.path for change in failed.files] == ["begun.txt"], "what was done before is kept")


def _stops(runner: Runner) -> None:
    cancelled = Event()
    timer = threading.Timer(3, cancelled.set)
    timer.start()
    began = time.monotonic()
    failed = _failed(runner.run(job(runner, "Please take long."), cancelled))
    _ensure(time.monotonic() - began < 3 + QUICK, "a runner returns within two seconds of being told to stop")
    _ensure(failed.reason is Reason.CANCELLED, f"what was stopped is cancelled, not {failed.reason}")
    stopped = _failed(runner.run(job(runner, "Please make it."), cancelled))
    _ensure(stopped.reason is Reason.CANCELLED, "what is cancelled before it starts is not run")


def _delivered(outcome: Outcome) -> Delivered:
    _ensure(isinstance(outcome, Delivered), f"the job should deliver, and gave {outcome}")
    assert isinstance(outcome, Delivered)
    return outcome


def _failed(outcome: Outcome) -> Failed:
    _ensure(isinstance(outcome, Failed), f"the job should fail, and gave {outcome}")
    assert isinstance(outcome, Failed)
    return outcome


def _ensure(holds: bool, rule: str) -> None:  # noqa: FBT001 - the fact, then the rule
    if not holds:
        raise AssertionError(rule)
