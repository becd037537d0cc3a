"""The same port without isolation: for content that is ours. Must be asked for by name.

What runs here can read all that the person can and reach any network. It gets a workspace and a HOME of
its own, a cleared environment and a process group of its own; paths inside are the paths outside, and what is
sealed of HOME can be written all the same.
"""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event

from nightschool.adapters import forwarder
from nightschool.adapters.layers import Layers
from nightschool.adapters.processes import run_to_end
from nightschool.adapters.workspaces import Folder, Workspaces
from nightschool.core.errors import SandboxUnavailable
from nightschool.core.jobs import FileChange
from nightschool.core.sandboxes import Command, Execution, SandboxPlan

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
MARK = "NIGHTSCHOOL_PROCESS"
"""In the environment of all that a job starts: how those are found that left its process group."""
BACKLOG = 128


class UnsafeProcessSandbox:
    """Opens workspaces without any isolation."""

    name = "unsafe-process"
    isolated = False

    def __init__(self, *, work: Path) -> None:
        self._workspaces = Workspaces(work)
        self._layers = Layers(self._workspaces.mirror)

    @contextmanager
    def open(self, plan: SandboxPlan) -> Iterator[UnsafeWorkspace]:
        for host, inside in plan.readable:
            if Path(host).resolve() != Path(inside).resolve():
                raise SandboxUnavailable(
                    f"{host} cannot be shown as {inside} without a sandbox: use `bubblewrap` for this agent"
                )
        layer = self._layers.of(plan, self)
        with self._workspaces.open(plan, layer) as folder, _relay(plan.gateway) as port:
            yield UnsafeWorkspace(folder=folder, plan=plan, port=port)

    def probe(self) -> Sequence[tuple[str, bool, str]]:
        return (("process without isolation", True, "use the sandbox `bubblewrap` for what is not your own"),)


class UnsafeWorkspace:
    """An open workspace whose processes are the person's own."""

    def __init__(self, *, folder: Folder, plan: SandboxPlan, port: int | None) -> None:
        self.root = folder.root
        self.home = folder.home
        self.shared = folder.shared
        self.inside_root = str(folder.root)
        self.inside_home = str(folder.home)
        self.gateway_url = None if port is None else f"http://127.0.0.1:{port}"
        self._folder = folder
        self._plan = plan
        self._scratch = folder.base / "tmp"
        self._scratch.mkdir(mode=0o700)

    def bring(self, names: Iterable[str]) -> None:
        """All lies below root anyway."""

    def seal(self, own: Sequence[Path] = ()) -> None:
        """What runs here is the person's own process: nothing keeps it from writing what it owns."""
        self._folder.own(own)
        self._folder.seal()

    def changes(self) -> tuple[FileChange, ...]:
        return self._folder.changes()

    def execute(self, command: Command, cancelled: Event) -> Execution:
        self._folder.lay_home()
        mark = secrets.token_hex(8)
        environment = {
            "PATH": PATH,
            "HOME": self.inside_home,
            "LANG": "C.UTF-8",
            "TMPDIR": str(self._scratch),
            **dict(command.environment),
            MARK: mark,
        }
        process = subprocess.Popen(
            [
                sys.executable, "-I", "-S", "-B", forwarder.__file__,
                "--limit", f"FSIZE={self._plan.file_bytes}", "--limit", "CORE=0", "--", *command.argv,
            ],
            cwd=self.root / self._folder.start(self._plan.folder),
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )  # fmt: skip
        return run_to_end(
            process,
            stdin=command.stdin,
            timeout=command.timeout,
            cancelled=cancelled,
            overfull=self._folder.overfull,
            kill=lambda: _kill(process, mark),
        )


def _kill(process: subprocess.Popen[bytes], mark: str) -> None:
    """The group, then whatever carries the mark elsewhere (where /proc shows it: on Linux)."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    wanted = f"{MARK}={mark}".encode()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            environment = (entry / "environ").read_bytes()
        except OSError:
            # Someone else's, or gone by now.
            continue
        if wanted in environment.split(b"\0"):
            with suppress(ProcessLookupError):
                os.kill(int(entry.name), signal.SIGKILL)


@contextmanager
def _relay(gateway: Path | None) -> Iterator[int | None]:
    """A port on loopback that leads to the gateway's socket, for as long as the workspace is open."""
    if gateway is None:
        yield None
        return
    listener = socket.create_server(("127.0.0.1", 0), backlog=BACKLOG)
    threading.Thread(target=_accept, args=(listener, gateway), name="gateway relay", daemon=True).start()
    try:
        yield int(listener.getsockname()[1])
    finally:
        # Closing alone would leave the thread in `accept`.
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def _accept(listener: socket.socket, gateway: Path) -> None:
    while True:
        try:
            inner, _ = listener.accept()
        except OSError:
            return
        threading.Thread(
            target=forwarder.join, args=(inner, str(gateway)), name="gateway relay", daemon=True
        ).start()
