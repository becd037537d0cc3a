"""Agents that fork, flood, fill the disk, ignore signals and leave hostile files, in the real sandbox."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path, PurePosixPath
from threading import Event, Timer

import pytest

from job_builders import MOMENT, door_of, job_of, task_of
from nightschool.adapters import disk_use, processes
from nightschool.adapters.agent_jobs import Agent, Program, Said, Tools, Way
from nightschool.adapters.bubblewrap import BubblewrapSandbox, BubblewrapWorkspace
from nightschool.adapters.claude_code.surface import ClaudeCodeSurface
from nightschool.adapters.disk_use import DiskUse
from nightschool.core.harness import File
from nightschool.core.jobs import Failed, Finished, Job, LostTry, Outcome, Reason
from nightschool.core.ports import Workspace
from nightschool.core.sandboxes import Command, Execution, SandboxPlan
from nightschool.core.tasks import FilesSource, Touched
from nightschool.rules.checking import judge
from nightschool.testing.memory_store import MemoryStore

MIB = 1 << 20
LARGE = File(path="large.bin", content=b"x" * (3 * MIB))


class ShellAgent(Agent):
    """An agent whose prompt is a shell script, and whose reply is what the script prints."""

    def program(self) -> Program:
        return Program(host=Path("/bin/bash"), readable=("/usr/bin", "/opt/agent/bin"), inside="/bin/bash")

    def version_in(self, text: str) -> str | None:
        return text

    def upstream(self) -> str:
        return "http://127.0.0.1:9"

    def way(self) -> Way:
        return Way(upstream=self.upstream(), headers={}, paths=("/v1/",))

    def command(self, workspace: Workspace, job: Job, prompt: str) -> Command:
        return Command(argv=("/bin/bash", "-c", prompt.split("\n", 1)[1]))

    def said(self, stdout: bytes) -> Said:
        return Said(reply=stdout.decode("utf-8", "replace") or None)


class SmallSandbox(BubblewrapSandbox):
    """The real one, with little room."""

    def open(self, plan: SandboxPlan):  # type: ignore[no-untyped-def]  # noqa: ANN201 - that of the real one
        return super().open(replace(plan, disk_bytes=2 * MIB))


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[BubblewrapWorkspace]:
    plan = SandboxPlan(workspace=FilesSource(files=(LARGE,)), disk_bytes=2 * MIB)
    with BubblewrapSandbox(work=tmp_path / "work").open(plan) as opened:
        yield opened


def run(workspace: Workspace, script: str) -> Execution:
    return workspace.execute(Command(argv=("bash", "-c", script), timeout=timedelta(seconds=60)), Event())


def outcome_of(sandbox: BubblewrapSandbox, script: str, *, seconds: float = 60) -> Outcome:
    tools = Tools(sandbox=sandbox, surface=ClaudeCodeSurface(), redact=str)
    agent = ShellAgent(tools=tools, environment={}, key_variable="", name="shell", title="The shell")
    job = job_of(script)
    job = replace(job, options=replace(job.options, timeout=timedelta(seconds=seconds)))
    return agent.run(job, Event())


@pytest.mark.parametrize(
    "script",
    [
        "for i in $(seq 100); do head -c 300000 /dev/zero > part-$i; done; sleep 1000",
        "mkdir -p ~/a/b; while :; do head -c 300000 /dev/zero >> ~/a/b/one; sleep 0.01; done",
        "exec 3> x; rm x; while :; do head -c 99999 /dev/zero >&3; sleep 0.01; done",
        "trap '' TERM INT; (setsid bash -c 'while :; do head -c 99999 /dev/zero >> x; done' &); sleep 1000",
    ],
    ids=["many files", "one file in HOME", "a file without a name", "a child in a session of its own"],
)
def test_an_agent_that_fills_the_disk_is_stopped_and_scores_zero(script: str, tmp_path: Path) -> None:
    """Workspace and HOME together are bounded: beyond it the job ends as its own failure, with the reason."""
    outcome = outcome_of(SmallSandbox(work=tmp_path / "work"), script)
    assert isinstance(outcome, Failed)
    assert (outcome.reason, outcome.lost) == (Reason.BAD_REPLY, False)
    assert outcome.message == "The shell was stopped: it wrote more to the disk than a job may"
    assert judge(task_of().checks, outcome).score == 0.0
    assert list((tmp_path / "work" / "jobs").iterdir()) == []


def test_countless_empty_files_fill_a_disk_too(workspace: BubblewrapWorkspace) -> None:
    """Each file, folder and link counts a few KiB at least."""
    done = run(workspace, "for i in $(seq 2000); do : > f-$i; done; sleep 1000")
    assert (done.overfull, done.timed_out, done.exit_code) == (True, False, None)


def test_what_a_workspace_begins_with_does_not_count(workspace: BubblewrapWorkspace) -> None:
    """A large repository leaves a job as much room as a small one; what it removes makes room again."""
    again = "for i in $(seq 20); do head -c 1000000 /dev/zero > x; sleep 0.05; rm x; done; echo done"
    done = run(workspace, again)
    assert (done.overfull, done.exit_code, done.stdout) == (False, 0, b"done\n")


def test_a_count_of_many_files_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A slice at a time, so that no folder is too large to hear a cancel; what is too much is found."""
    for number in range(500):
        (tmp_path / str(number)).touch()
    monkeypatch.setattr(disk_use, "SLICE", 0)
    monkeypatch.setattr(disk_use, "PAUSE", 0)
    monkeypatch.setattr(disk_use, "TIMES", 0)
    use = DiskUse(tmp_path, may_grow=200 * disk_use.LEAST_BYTES)
    for number in range(500, 701):
        (tmp_path / str(number)).touch()
    looks = 1
    while not use.exceeded(lambda _: 0):
        looks += 1
    assert looks > 5


def test_a_disk_that_is_full_is_no_failure_of_the_agent(
    workspace: BubblewrapWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the machine's disk has nothing left the job is lost, and runs again when there is room."""
    usage = shutil.disk_usage(workspace.root)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=MIB))
    store = MemoryStore()

    class Full:
        name = "full"
        tells_cost = True
        sends_to = ""

        def version(self) -> str:
            return "1"

        def check(self) -> None:
            """It needs nothing."""

        def run(self, job: Job, cancelled: Event) -> Outcome:
            run(workspace, job.prompt)
            raise AssertionError("it ran on")

    outcome = door_of(Full(), store).run(job_of("sleep 1000"), Event())
    assert isinstance(outcome, Failed)
    assert (outcome.reason, outcome.lost) == (Reason.INFRASTRUCTURE, True)
    assert "MiB are left" in outcome.message
    assert (len(store.find(LostTry)), store.find(Finished)) == (1, ())
    with pytest.raises(OSError, match="MiB are left") as caught:
        run(workspace, "sleep 1000")
    assert caught.value.errno == errno.ENOSPC


def test_a_gigabyte_of_output_is_kept_in_part(workspace: BubblewrapWorkspace) -> None:
    """Head and tail are kept with a line between them; the rest goes through without being held."""
    done = run(workspace, "echo first; head -c 1000000000 /dev/zero | tr '\\0' y; echo; echo last")
    assert done.exit_code == 0
    assert done.stdout.startswith(b"first\ny")
    assert done.stdout.endswith(b"y\nlast\n")
    assert b"bytes of output left out]" in done.stdout
    assert len(done.stdout) < processes.KEPT_BYTES + 100


def test_a_flood_does_not_drown_a_cancel(workspace: BubblewrapWorkspace) -> None:
    """Who writes without end to both streams and ignores signals is stopped all the same."""
    cancelled = Event()
    flood = "trap '' TERM INT HUP PIPE; (yes >&2 &) ; (yes nothing &) ; while :; do yes; done"
    timer = Timer(0.3, cancelled.set)
    timer.start()
    done = workspace.execute(Command(argv=("bash", "-c", flood)), cancelled)
    timer.join()
    assert (done.cancelled, done.exit_code) == (True, None)


HOSTILE = r"""
mkdir -p 'a
b' .nightschool deep; echo x > 'a
b/..c'; echo x > $'bytes-\xff\xfe'; echo x > $'esc-\e[2J'; echo x > '-rf'
ln -s /etc/passwd link; ln -s ../../../../../.. up; ln -s . self; mkfifo pipe
echo x > .nightschool/not-listed; echo x > .gitattributes; mkdir .git; echo x > .git/config
perl -e 'chdir "deep"; for (1..1500) { mkdir "dddd"; chdir "dddd" or die } open F, ">", "end"; print F "x"'
perl -e 'chdir "deep"; for (1..60) { mkdir "e" x 250; chdir "e" x 250 or die }'; echo done
"""


def test_hostile_names_in_an_outcome_stay_below_the_workspace(tmp_path: Path) -> None:
    """Whatever an agent names its files: a path of an outcome is relative, never climbs, is text, and the
    workspace with paths longer than the system takes is compared and removed."""
    outcome = outcome_of(BubblewrapSandbox(work=tmp_path / "work"), HOSTILE)
    assert not isinstance(outcome, Failed), outcome
    assert outcome.reply == "done\n"
    paths = {change.path for change in outcome.files}
    assert {"a\nb/..c", "-rf", "link", "up", "self"} <= paths
    for change in outcome.files:
        path = PurePosixPath(change.path)
        assert not path.is_absolute()
        assert ".." not in path.parts
        change.path.encode()
        assert b"root:" not in (change.content or b"")
    assert list((tmp_path / "work" / "jobs").iterdir()) == []


def test_a_reply_that_names_paths_moves_nothing(tmp_path: Path) -> None:
    """What an agent says is text: paths in it are neither opened nor counted as its work."""
    outside = tmp_path / "outside"
    outcome = outcome_of(
        BubblewrapSandbox(work=tmp_path / "work"), f"echo 'wrote {outside} and ../../../../../../{outside}'"
    )
    assert not isinstance(outcome, Failed)
    assert outcome.files == ()
    assert not outside.exists()
    wanted = Touched(paths=(str(outside).lstrip("/"),))
    assert judge((wanted,), outcome).score == 0.0
    assert MOMENT.session not in outcome.reply
