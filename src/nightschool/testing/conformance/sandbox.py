"""What every `Sandbox` must do, as checks that need no test framework.

Isolation is no part of it: that is what a particular sandbox claims, and shows in tests of its own.
"""

from __future__ import annotations

import os
import socketserver
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from nightschool.core.errors import WorkspaceUnavailable
from nightschool.core.harness import File
from nightschool.core.ports import Sandbox, Workspace
from nightschool.core.sandboxes import Command, Execution, SandboxPlan
from nightschool.core.tasks import FilesSource, GitSource

FILES = (
    File(path="run.sh", content=b"#!/bin/sh\necho ran\n", mode=0o755),
    File(path="src/text.txt", content=b"one\ntwo\n"),
)
PLAN = SandboxPlan(workspace=FilesSource(files=FILES), name="work")
USUAL = {"PATH", "HOME", "LANG", "TMPDIR"}
OF_THE_SHELL = {"PWD", "OLDPWD", "SHLVL", "_"}
ATTEMPTS = (
    "echo more >> .agent/MEMORY.md",
    "rm -f .agent/MEMORY.md",
    "echo other > other && mv -f other .agent/MEMORY.md",
    "chmod 777 .agent/MEMORY.md && echo more > .agent/MEMORY.md",
    "echo more > .agent/skills/tidy/more.sh",
    "rm -rf .agent/skills/tidy",
    "mv .agent/skills .agent/old && mkdir -p .agent/skills/tidy",
    "mv .agent old && mkdir .agent && echo other > .agent/MEMORY.md",
    "rm -rf .agent && ln -s /etc .agent",
)
"""Ways to have another memory or skill in place of the person's."""
HEARTBEAT = "while :; do echo beat >> heart; sleep 0.02; done"


def check_sandbox(make_sandbox: Callable[[], Sandbox]) -> None:
    """Raise AssertionError where a sandbox breaks its contract."""
    sandbox = make_sandbox()
    _opens_what_the_plan_says(sandbox)
    _runs_commands(sandbox)
    _gives_no_other_environment(sandbox)
    _tells_what_changed(sandbox)
    _holds_a_commit(sandbox)
    _keeps_the_host_out_of_links(sandbox)
    _keeps_what_is_the_persons(sandbox)
    _stops_in_time(sandbox)
    _leaves_nothing_running(sandbox)
    _bounds_what_it_keeps(sandbox)
    _bounds_the_disk(sandbox)
    _leads_to_the_gateway(sandbox)
    _ensure(bool(sandbox.name), "a sandbox has a name")
    _ensure(all(works or mend for _, works, mend in sandbox.probe()), "a part that fails says how to mend it")


def _opens_what_the_plan_says(sandbox: Sandbox) -> None:
    more = File(path="src/more.txt", content=b"laid over")
    plan = SandboxPlan(workspace=FilesSource(files=FILES), files=(more,), name="work")
    with sandbox.open(plan) as one, sandbox.open(plan) as other:
        _ensure(one.root != other.root and one.home != other.home, "two workspaces are two folders")
        for file in (*FILES, more):
            path = one.root / file.path
            _ensure(path.read_bytes() == file.content, f"{file.path} has other bytes")
            _ensure(path.stat().st_mode & 0o777 == file.mode, f"{file.path} has another mode")
        _ensure(not list(one.home.iterdir()), "HOME is empty")
        _ensure(one.inside_root.endswith("/work"), "the workspace is called as the plan says")
        _ensure(not one.changes(), "nothing has changed yet")
        root, home = one.root, one.home
    _ensure(not root.exists() and not home.exists(), "workspace and HOME are removed on leaving")


def _runs_commands(sandbox: Sandbox) -> None:
    with sandbox.open(PLAN) as workspace:
        done = _sh(workspace, "pwd; ./run.sh; echo told >&2; cat; exit 7", stdin=b"given")
        _ensure(done.stdout.decode().split() == [workspace.inside_root, "ran", "given"], f"stdout: {done}")
        _ensure(done.stderr == b"told\n" and done.exit_code == 7, f"stderr and exit code: {done}")
        _ensure(not done.timed_out and not done.cancelled, "it came to its own end")
        _sh(workspace, 'echo kept > "$HOME/kept"; echo made > made')
        _ensure((workspace.home / "kept").read_text() == "kept\n", "HOME lies where `home` says")
        _ensure((workspace.root / "made").read_text() == "made\n", "the workspace lies where `root` says")
        (workspace.root / "from outside").write_text("seen")
        _ensure(_sh(workspace, "cat 'from outside'").stdout == b"seen", "what is placed is seen inside")
        missing = workspace.execute(Command(argv=("no-such-program",)), threading.Event())
        _ensure(missing.exit_code == 127 and b"no-such-program" in missing.stderr, f"missing: {missing}")
        long = b"x" * 300_000
        _ensure(_sh(workspace, "cat", stdin=long).stdout == long, "long input and output pass at once")


def _gives_no_other_environment(sandbox: Sandbox) -> None:
    os.environ["CONFORMANCE_OUTSIDE"] = "not for inside"
    try:
        with sandbox.open(PLAN) as workspace:
            command = Command(argv=("/usr/bin/env", "-0"), environment=(("ASKED", "a b\nc"),))
            text = workspace.execute(command, threading.Event()).stdout.decode()
    finally:
        del os.environ["CONFORMANCE_OUTSIDE"]
    given = dict(item.split("=", 1) for item in text.split("\0") if item)
    _ensure(given.get("ASKED") == "a b\nc", "the environment that the command names")
    _ensure(given.keys() >= USUAL, f"the usual variables: {sorted(given)}")
    strange = {
        name
        for name in given.keys() - USUAL - OF_THE_SHELL - {"ASKED"}
        if not name.startswith("NIGHTSCHOOL_")
    }
    _ensure(
        not strange and "not for inside" not in text, f"variables that nobody asked for: {sorted(strange)}"
    )


def _tells_what_changed(sandbox: Sandbox) -> None:
    with sandbox.open(PLAN) as workspace:
        (workspace.root / "AGENTS.md").write_text("placed\n")
        workspace.seal()
        _ensure(not workspace.changes(), "what was sealed is no change")
        _sh(workspace, "echo three >> src/text.txt; rm run.sh; printf 'a\\0b' > bin; chmod 600 AGENTS.md")
        changes = {change.path: change for change in workspace.changes()}
        _ensure(set(changes) == {"src/text.txt", "run.sh", "bin", "AGENTS.md"}, f"changed: {sorted(changes)}")
        _ensure(changes["src/text.txt"].added == "three", "the lines that are new")
        _ensure(changes["src/text.txt"].content == b"one\ntwo\nthree\n", "the whole new content")
        _ensure(changes["run.sh"].content is None, "a deleted file has no content")
        _ensure(
            changes["bin"].content == b"a\0b" and changes["bin"].added == "", "no lines in binary content"
        )
        _ensure(changes["AGENTS.md"].mode == 0o600 and changes["AGENTS.md"].added == "", "a changed mode")
        _ensure(list(changes) == sorted(changes), "in the order of paths")


def _holds_a_commit(sandbox: Sandbox) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = _repository(Path(folder) / "app")
        with sandbox.open(SandboxPlan(workspace=source, name="work")) as workspace:
            _is_whole(workspace)
            workspace.bring(["away.txt", "sub", "no such file"])
            _ensure((workspace.root / "away.txt").read_text() == "away\n", "what is brought lies below root")
            _ensure((workspace.root / "sub/in.txt").read_text() == "in\n", "of a folder all")
            _ensure(not workspace.changes(), "and is no change")
            (workspace.root / "away.txt").unlink()
            (workspace.root / "sub/in.txt").write_text("placed\n")
            workspace.seal()
            _ensure(not workspace.changes(), "what was sealed is no change")
            seen = _sh(workspace, "cat sub/in.txt; ls away.txt").stdout
            _ensure(seen == b"placed\n", f"what was removed or replaced outside is so inside: {seen!r}")
            _sh(workspace, "echo more >> kept.txt; rm -r sub; git add -A; git commit -qm work")
            changes = [(change.path, change.content, change.added) for change in workspace.changes()]
            expected = [("kept.txt", b"kept\nmore\n", "more"), ("sub/in.txt", None, "")]
            _ensure(changes == expected, f"told as of a whole copy: {changes}")
            commits = _sh(workspace, "git log --format=%s").stdout
            _ensure(commits == b"work\nall\n", f"the workspace is a repository to work in: {commits!r}")
            with sandbox.open(SandboxPlan(workspace=source, name="work")) as other:
                _is_whole(other)


def _is_whole(workspace: Workspace) -> None:
    """The commit alone, in `root` and `shared` outside and as one inside."""
    for name in ("kept.txt", "away.txt", "sub/in.txt"):
        there = [folder for folder in (workspace.root, *workspace.shared) if (folder / name).exists()]
        _ensure(bool(there), f"{name} lies neither below root nor below what is shared")
    seen = _sh(workspace, "cat kept.txt away.txt sub/in.txt; git status --short; git log --all --format=%s")
    _ensure(seen.stdout == b"kept\naway\nin\nall\n", f"a clean repository of one commit: {seen}")


def _repository(folder: Path) -> GitSource:
    (folder / "sub").mkdir(parents=True)
    for name, text in (("kept.txt", "kept\n"), ("away.txt", "away\n"), ("sub/in.txt", "in\n")):
        (folder / name).write_text(text)
    commit = ("-c", "user.name=a", "-c", "user.email=a@b.invalid", "commit", "-q", "-m", "all")
    told = b""
    for command in (("init", "-q"), ("add", "-A"), commit, ("rev-parse", "HEAD")):
        told = subprocess.run(["git", *command], cwd=folder, check=True, capture_output=True).stdout  # noqa: S607 - whichever git there is
    return GitSource(repository=str(folder), commit=told.decode().strip())


def _keeps_the_host_out_of_links(sandbox: Sandbox) -> None:
    with tempfile.TemporaryDirectory() as outside, sandbox.open(PLAN) as workspace:
        (Path(outside) / "private").write_text("not for the outcome")
        _sh(workspace, f"ln -s {outside} folder; ln -s {outside}/private file; mkfifo pipe")
        changes = {change.path: change for change in workspace.changes()}
        _ensure(
            set(changes) == {"folder", "file"}, f"links are listed, not what they lead to: {sorted(changes)}"
        )
        _ensure(changes["file"].content == f"{outside}/private".encode(), "a link's content is its target")
        _ensure(changes["file"].added == "", "a link adds no text")


def _keeps_what_is_the_persons(sandbox: Sandbox) -> None:
    with sandbox.open(PLAN) as workspace:
        memory, skill = workspace.home / ".agent/MEMORY.md", workspace.home / ".agent/skills/tidy"
        skill.mkdir(parents=True)
        memory.write_text("mine\n")
        (skill / "run.sh").write_text("tidy\n")
        workspace.seal((memory, skill))
        seen = _sh(workspace, 'cd "$HOME/.agent" && cat MEMORY.md skills/tidy/run.sh && echo log > log')
        _ensure(seen.stdout == b"mine\ntidy\n" and seen.exit_code == 0, f"sealed is read as it is: {seen}")
        _ensure((memory.parent / "log").read_text() == "log\n", "what lies beside it can be written")
        for attempt in ATTEMPTS if sandbox.isolated else ():
            _sh(workspace, f'cd "$HOME" && {attempt}')
            again = _sh(workspace, 'cd "$HOME/.agent" && cat MEMORY.md && cat skills/tidy/*')
            _ensure(again.stdout == b"mine\ntidy\n", f"`{attempt}` changed what was sealed: {again}")
            _ensure(memory.read_text() == "mine\n", f"`{attempt}` wrote through to the host")
        workspace.seal()
        _sh(workspace, 'echo more >> "$HOME/.agent/MEMORY.md"')
        _ensure(memory.read_text() == "mine\nmore\n", "what is not sealed is writable")
    with tempfile.TemporaryDirectory() as outside, sandbox.open(PLAN) as workspace:
        (workspace.home / "link").symlink_to(outside)
        (Path(outside) / "private").write_text("theirs")
        for path in (workspace.home / "link", workspace.home / "link/private", workspace.home / "gone"):
            try:
                workspace.seal((path,))
            except WorkspaceUnavailable:
                continue
            raise AssertionError(f"{path.name} was sealed, and what it is lies elsewhere")


def _stops_in_time(sandbox: Sandbox) -> None:
    with sandbox.open(PLAN) as workspace:
        late = _sh(workspace, f"echo first; {HEARTBEAT}", timeout=timedelta(seconds=0.5))
        _ensure(late.timed_out and not late.cancelled and late.exit_code is None, f"timed out: {late}")
        _ensure(late.stdout == b"first\n", "what it said before is kept")
        _is_still(workspace)
        cancelled = threading.Event()
        threading.Timer(0.3, cancelled.set).start()
        stopped = _sh(workspace, f"echo first; {HEARTBEAT}", cancelled=cancelled)
        _ensure(
            stopped.cancelled and not stopped.timed_out and stopped.exit_code is None, f"stopped: {stopped}"
        )
        _ensure(stopped.stdout == b"first\n", "what it said before is kept")
        _is_still(workspace)


def _leaves_nothing_running(sandbox: Sandbox) -> None:
    with sandbox.open(PLAN) as workspace:
        for way in (f"({HEARTBEAT}) &", f"setsid sh -c '{HEARTBEAT}' >/dev/null 2>&1 </dev/null &"):
            done = _sh(workspace, f"{way} sleep 0.2; echo end")
            _ensure(done.stdout == b"end\n" and done.exit_code == 0, f"it came to its own end: {done}")
            _is_still(workspace)


def _bounds_what_it_keeps(sandbox: Sandbox) -> None:
    with sandbox.open(PLAN) as workspace:
        done = _sh(workspace, "echo first; head -c 80000000 /dev/zero; echo; echo last")
        _ensure(len(done.stdout) < 70_000_000, "output is bounded")
        _ensure(
            done.stdout.startswith(b"first\n") and done.stdout.endswith(b"\nlast\n"), "both ends are kept"
        )


def _bounds_the_disk(sandbox: Sandbox) -> None:
    plan = SandboxPlan(workspace=FilesSource(files=FILES), name="work", disk_bytes=1 << 20)
    with sandbox.open(plan) as workspace:
        _ensure(_sh(workspace, "head -c 500000 /dev/zero > x").exit_code == 0, "what fits is no failure")
        fill = 'while :; do head -c 99999 /dev/zero >> "$HOME/x"; sleep 0.01; done'
        done = _sh(workspace, fill, timeout=timedelta(seconds=30))
        _ensure(done.overfull and done.exit_code is None, f"who fills the disk is stopped: {done}")


def _leads_to_the_gateway(sandbox: Sandbox) -> None:
    with sandbox.open(PLAN) as workspace:
        _ensure(workspace.gateway_url is None, "no gateway, no address")
    with _answering() as path:
        plan = SandboxPlan(workspace=FilesSource(files=FILES), name="work", gateway=path)
        with sandbox.open(plan) as workspace:
            url = workspace.gateway_url or ""
            _ensure(url.startswith("http://127.0.0.1:"), f"the address of the gateway: {url!r}")
            ask = f"exec 3<>/dev/tcp/127.0.0.1/{url.rsplit(':', 1)[1]}; echo asked >&3; cat <&3"
            for _ in range(2):
                done = workspace.execute(Command(argv=("bash", "-c", ask)), threading.Event())
                _ensure(done.stdout == b"heard asked\n", f"the gateway answers: {done}")


@contextmanager
def _answering() -> Iterator[Path]:
    """A unix socket that answers one line with another."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.wfile.write(b"heard " + self.rfile.readline())

    with tempfile.TemporaryDirectory(prefix="ns-") as folder:
        path = Path(folder) / "s"
        with socketserver.ThreadingUnixStreamServer(str(path), Handler) as server:
            thread = threading.Thread(target=server.serve_forever, args=(0.05,))
            thread.start()
            try:
                yield path
            finally:
                server.shutdown()
                thread.join()


def _sh(
    workspace: Workspace,
    script: str,
    *,
    stdin: bytes = b"",
    timeout: timedelta = timedelta(seconds=60),
    cancelled: threading.Event | None = None,
) -> Execution:
    command = Command(argv=("/bin/sh", "-c", script), stdin=stdin, timeout=timeout)
    return workspace.execute(command, cancelled or threading.Event())


def _is_still(workspace: Workspace) -> None:
    """Nothing writes into the workspace any more."""
    heart = workspace.root / "heart"
    _ensure(heart.exists(), "the process that should be stopped did run")
    before = heart.stat().st_size
    time.sleep(0.25)
    _ensure(heart.stat().st_size == before, "something of the command is still running")
    heart.unlink()


def _ensure(holds: bool, what: str) -> None:  # noqa: FBT001 - reads like an assertion
    if not holds:
        raise AssertionError(what)
