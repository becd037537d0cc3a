"""The set-up phase: once per commit, in a sandbox of its own, its layer shared and offline afterwards."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

import project_builders as builders
from cycle_builders import tree
from nightschool.adapters import bubblewrap
from nightschool.adapters.bubblewrap import BubblewrapSandbox
from nightschool.adapters.unsafe_process import UnsafeProcessSandbox
from nightschool.core.errors import SetUpFailed, WorkspaceUnavailable
from nightschool.core.jobs import Provision
from nightschool.core.ports import Sandbox, Workspace
from nightschool.core.sandboxes import Command, Execution, SandboxPlan
from nightschool.core.tasks import FilesSource, GitSource

INSTALL = """
set -e
mkdir -p node_modules/left-pad packages/web/node_modules "$HOME/.cache/tool" "$HOME/.agent"
echo pad > node_modules/left-pad/index.js
echo web > packages/web/node_modules/web.js
echo locked > app.lock
echo changed > app.py
echo cached > "$HOME/.cache/tool/file"
echo planted > "$HOME/.agent/MEMORY.md"
printf '#!/bin/sh\\necho ran\\n' > node_modules/run
chmod 755 node_modules/run
ln -s left-pad node_modules/link
mkfifo node_modules/pipe
"""
NEVER = threading.Event()
COPIES: dict[str, bool] = {"mounted": True, "copied": False}


@pytest.fixture(params=[*COPIES, "process"])
def sandbox(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    """Where folders of a set-up are mounted, where they are copied, and the process without isolation."""
    if request.param == "process":
        return UnsafeProcessSandbox(work=tmp_path / "work")
    if not COPIES[request.param]:
        monkeypatch.setattr(bubblewrap, "can_overlay", lambda *_: False)
    return BubblewrapSandbox(work=tmp_path / "work")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return builders.monorepo(tmp_path).root


def plan_of(project: Path, command: str, **more: object) -> SandboxPlan:
    commit = builders.git(project, "rev-parse", "HEAD")
    source = GitSource(repository=str(project), commit=commit)
    return SandboxPlan(workspace=source, provision=replace(Provision(setup=command), **more))  # type: ignore[arg-type]  # values by name


def sh(workspace: Workspace, script: str) -> Execution:
    return workspace.execute(Command(argv=("/bin/sh", "-c", script), timeout=timedelta(seconds=60)), NEVER)


def layers(tmp_path: Path) -> list[Path]:
    return [path for path in tmp_path.glob("work/mirrors/*/layers/*") if path.is_dir()]


def test_a_layer_is_made_once_and_laid_under_each_job(
    sandbox: Sandbox, project: Path, tmp_path: Path
) -> None:
    """What the command made or changed is there, exactly, in every job; it is no change of the job; and
    the command ran once though several jobs began at the same moment."""
    plan = plan_of(project, INSTALL + f"echo once >> {tmp_path}/ran || true\n")
    before = tree(project)

    def job(_: int) -> str:
        with sandbox.open(plan) as workspace:
            (workspace.home / ".agent").mkdir()
            (workspace.home / ".agent" / "MEMORY.md").write_text("the harness's\n")
            workspace.seal()
            assert workspace.changes() == ()
            script = (
                "cat node_modules/left-pad/index.js packages/web/node_modules/web.js app.lock app.py "
                '"$HOME/.cache/tool/file" "$HOME/.agent/MEMORY.md"; node_modules/run; ls node_modules/link'
            )
            done = sh(workspace, script)
            assert done.exit_code == 0, done
            assert workspace.changes() == ()
            return done.stdout.decode()

    with ThreadPoolExecutor(3) as pool:
        told = set(pool.map(job, range(3)))
    assert told == {"pad\nweb\nlocked\nchanged\ncached\nthe harness's\nran\nindex.js\n"}
    assert len(layers(tmp_path)) == 1
    if not sandbox.isolated:
        assert (tmp_path / "ran").read_text() == "once\n"
    assert tree(project) == before


def test_what_a_job_writes_there_is_its_own(sandbox: Sandbox, project: Path, tmp_path: Path) -> None:
    """A job that changes what the set-up made is told to have done so, and no other job sees it."""
    plan = plan_of(project, INSTALL)
    with sandbox.open(plan) as workspace:
        workspace.seal()
        (layer,) = layers(tmp_path)
        kept = tree(layer)
        done = sh(
            workspace,
            "echo more >> node_modules/left-pad/index.js; echo new > node_modules/new.js; rm app.lock;"
            'rm -rf packages/web/node_modules/web.js; echo dirt > "$HOME/.cache/tool/file"',
        )
        assert done.exit_code == 0, done
        changes = {change.path: change for change in workspace.changes()}
    assert changes["node_modules/left-pad/index.js"].content == b"pad\nmore\n"
    assert changes["node_modules/left-pad/index.js"].added == "more"
    assert changes["node_modules/new.js"].added == "new"
    assert changes["app.lock"].content is None
    assert tree(layer) == kept
    with sandbox.open(plan) as workspace:
        script = (
            'cat node_modules/left-pad/index.js "$HOME/.cache/tool/file"; ls node_modules/new.js app.lock'
        )
        assert sh(workspace, script).stdout == b"pad\ncached\napp.lock\n"


@pytest.mark.parametrize(
    ("command", "word"),
    [
        ("echo no such package >&2; exit 3", r"code 3 .*: no such package\. .*setup\.network = true"),
        ("exit 4", r"code 4 at commit [0-9a-f]{12}\. It said nothing\. The way out: it had no network"),
        ("exec sleep 99", r"`echo once.*`\) was not done after 5 minutes .*raise setup\.minutes"),
    ],
)
def test_a_set_up_that_fails_is_told_with_command_words_and_way_out(
    command: str, word: str, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that fails or does not end makes no layer; it is run once by a process, not by each job."""
    monkeypatch.setattr(
        "nightschool.adapters.layers.timedelta", lambda minutes: timedelta(seconds=minutes / 5)
    )
    sandbox = UnsafeProcessSandbox(work=tmp_path / "work")
    plan = plan_of(project, f"echo once >> {tmp_path}/ran; {command}", minutes=5)
    for _ in range(2):
        with pytest.raises(SetUpFailed, match=word), sandbox.open(plan):
            pass
    assert (tmp_path / "ran").read_text() == "once\n"
    assert layers(tmp_path) == []
    assert list((tmp_path / "work/jobs").iterdir()) == []


def test_another_commit_text_or_consent_is_another_layer(project: Path, tmp_path: Path) -> None:
    """The key of a layer: commit, command, network."""
    sandbox = UnsafeProcessSandbox(work=tmp_path / "work")
    for plan in (
        plan_of(project, "echo 1 > made"),
        plan_of(project, "echo 2 > made"),
        plan_of(project, "echo 2 > made", network=True),
    ):
        with sandbox.open(plan):
            pass
    builders.write(project, {"more.py": "1\n"})
    builders.commit(project)
    with sandbox.open(plan_of(project, "echo 1 > made")) as workspace:
        assert (workspace.root / "more.py").exists()
        assert (workspace.root / "made").read_text() == "1\n"
    assert len(layers(tmp_path)) == 4


def test_files_without_a_commit_are_not_set_up(tmp_path: Path) -> None:
    """The files that a session shows are no commit: nothing is run over them."""
    sandbox = UnsafeProcessSandbox(work=tmp_path / "work")
    plan = SandboxPlan(workspace=FilesSource(), provision=Provision(setup=f"touch {tmp_path}/ran"))
    with sandbox.open(plan):
        pass
    assert not (tmp_path / "ran").exists()


def test_links_of_a_set_up_lead_nowhere_on_the_host(project: Path, tmp_path: Path) -> None:
    """A command that puts links in the place of folders makes nothing be written outside of a workspace."""
    outside = tmp_path / "outside"
    outside.mkdir()
    command = (
        f"rm -rf packages && ln -s {outside} packages && rm -rf $HOME/.cache && ln -s {outside} $HOME/.cache"
    )
    sandbox = UnsafeProcessSandbox(work=tmp_path / "work")
    with sandbox.open(plan_of(project, command)) as workspace:
        assert (workspace.root / "packages").is_symlink()
        sh(workspace, "true")
    assert list(outside.iterdir()) == []


def test_who_waits_for_a_set_up_can_be_stopped(project: Path, tmp_path: Path) -> None:
    """Ctrl-C ends the set-up and those that wait for it, and a later job makes it anew."""
    sandbox = UnsafeProcessSandbox(work=tmp_path / "work")
    stop = threading.Event()
    plan = replace(plan_of(project, f"touch {tmp_path}/began; exec sleep 30"), cancelled=stop)

    def job(_: int) -> str:
        try:
            with sandbox.open(plan):
                return "opened"
        except WorkspaceUnavailable as error:
            return str(error)

    with ThreadPoolExecutor(2) as pool:
        told = pool.map(job, range(2))
        while not (tmp_path / "began").exists():
            stop.wait(0.02)
        stop.set()
        assert set(told) == {"stopped while the project was set up"}


@pytest.fixture
def greeting() -> Callable[[], int]:
    """A server on this machine's loopback; gives its port."""

    class Greets(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.sendall(b"hello")

    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Greets)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def port() -> int:
        return int(server.server_address[1])

    return port


def test_the_network_is_for_the_set_up_alone_and_by_consent(
    project: Path, tmp_path: Path, greeting: Callable[[], int]
) -> None:
    """Without `network` the command reaches nothing; with it it does, and the jobs above its layer do not."""
    sandbox = BubblewrapSandbox(work=tmp_path / "work")
    ask = (
        f"python3 -c 'import socket; print(socket.create_connection((\"127.0.0.1\", {greeting()})).recv(9))'"
    )
    offline = plan_of(project, f"{ask} > asked")
    with pytest.raises(SetUpFailed, match=r"code 1 .*it had no network"), sandbox.open(offline):
        pass
    with sandbox.open(plan_of(project, f"{ask} > asked", network=True)) as workspace:
        assert sh(workspace, "cat asked").stdout == b"b'hello'\n"
        assert sh(workspace, ask).exit_code != 0


def test_a_layer_is_whole_last_of_all(project: Path, tmp_path: Path) -> None:
    """A process that was killed while it kept a layer left none: the next job makes it anew."""
    sandbox = UnsafeProcessSandbox(work=tmp_path / "work")
    plan = plan_of(project, "mkdir made && echo 1 > made/a")
    with sandbox.open(plan):
        pass
    (layer,) = layers(tmp_path)
    (layer / "finished.json").unlink()
    (layer / "workspace/made/a").write_text("half")
    with sandbox.open(plan) as workspace:
        assert (workspace.root / "made/a").read_text() == "1\n"


def test_a_set_up_of_a_folder_is_run_in_it(project: Path, tmp_path: Path) -> None:
    """Its command starts in the folder of the file that says it; a commit that has no such folder, or a
    link in its place, needs nothing of it."""
    sandbox = UnsafeProcessSandbox(work=tmp_path / "work")
    plan = plan_of(project, "pwd > where && test -d ../../packages", folder="packages/web")
    with sandbox.open(plan) as workspace:
        assert (workspace.root / "packages/web/where").read_text().endswith("/packages/web\n")
    for number, folder in enumerate(("packages/gone", "packages/link")):
        (project / "packages/link").unlink(missing_ok=True)
        (project / "packages/link").symlink_to("web")
        builders.write(project, {"number": str(number)})
        builders.commit(project)
        with sandbox.open(plan_of(project, "pwd > where; exit 1", folder=folder)) as workspace:
            assert not list(workspace.root.rglob("where"))
