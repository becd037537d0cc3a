"""What a set-up command left of a commit's workspace: made once, kept beside the mirror, laid under each job.

Relieves sandboxes, which run the command like any other, and workspaces, which know commits alone. What is
kept are files that are new or changed, of the workspace (its `.git` apart) and of HOME.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from threading import Event, Lock

from nightschool.adapters import leftovers, overlays
from nightschool.adapters.overlays import Overlay
from nightschool.adapters.snapshots import OWN_GIT
from nightschool.core.errors import NightschoolError, SetUpFailed, WorkspaceUnavailable
from nightschool.core.jobs import Provision
from nightschool.core.ports import Sandbox, Workspace
from nightschool.core.sandboxes import Command, Execution, SandboxPlan
from nightschool.core.tasks import GitSource
from nightschool.core.values import digest_of

VERSION = 2
"""Of what a layer holds and how it is laid."""
POLL_SECONDS = 0.2
COMPLAINT_BYTES = 64 << 10
"""Of the end of what a command said: far more than is shown, so that a secret is found before it is cut."""
Stamp = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """A finished layer: `workspace` and `home` below its folder."""

    folder: Path

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace"

    @property
    def home(self) -> Path:
        return self.folder / "home"


class Layers:
    """The layers of one sandbox. A set-up that failed is not tried again by the same process."""

    def __init__(self, mirror: Callable[[GitSource], Path]) -> None:
        self._mirror = mirror
        self._failed: dict[str, NightschoolError] = {}
        self._lock = Lock()

    def of(self, plan: SandboxPlan, sandbox: Sandbox) -> Layer | None:
        """The layer that a plan asks for; None where it asks for none, or the workspace is of no commit.
        Raises `SetUpFailed` with what the command said, and `WorkspaceUnavailable` where it was stopped."""
        source, provision = plan.workspace, plan.provision
        if provision.setup is None or not isinstance(source, GitSource):
            return None
        key = digest_of(VERSION, source.commit, provision, sandbox.name)[:16]
        folder = self._mirror(source) / leftovers.LAYERS / key
        folder.parent.mkdir(mode=0o700, exist_ok=True)
        with _held(folder.with_suffix(".lock"), plan.cancelled):
            if not (folder / leftovers.FINISHED).exists():
                self._refuse(key)
                try:
                    _make(folder, plan, source, sandbox)
                except (SetUpFailed, WorkspaceUnavailable) as error:
                    if not plan.cancelled.is_set():
                        self._remember(key, error)
                    raise
            os.utime(folder / leftovers.FINISHED)  # used today: see what is pruned by age
        return Layer(folder=folder)

    def _refuse(self, key: str) -> None:
        with self._lock:
            if key in self._failed:
                raise self._failed[key]

    def _remember(self, key: str, error: NightschoolError) -> None:
        with self._lock:
            self._failed[key] = error


def _make(folder: Path, plan: SandboxPlan, source: GitSource, sandbox: Sandbox) -> None:
    """Run the command in a sandbox of its own over a checkout, and keep what it made."""
    provision = plan.provision
    bare = SandboxPlan(
        workspace=plan.workspace,
        name=plan.name,
        folder=provision.folder,
        provision=replace(provision, setup=None),
        network=provision.network,
        cancelled=plan.cancelled,
    )
    with sandbox.open(bare) as workspace:
        before = _stamps(workspace.root)
        argv: tuple[str, ...] = ("/bin/sh", "-c", provision.setup or "")
        tops = (workspace.root, *workspace.shared)
        if not any(_is_folder(top, provision.folder) for top in tops):
            argv = ("true",)  # of what came to the repository later this commit needs nothing
        execution = workspace.execute(
            Command(argv=argv, timeout=timedelta(minutes=provision.minutes)), plan.cancelled
        )
        failed = _trouble(execution, provision)
        if failed is not None:
            raise _failure(source, provision, *failed, execution)
        try:
            _keep(workspace, before, folder)
        except OSError as error:
            came_to, way_out = (
                f"left what cannot be kept: {error}",
                "make room on the disk of NIGHTSCHOOL_HOME",
            )
            raise _failure(source, provision, came_to, way_out, execution) from error


def _is_folder(top: Path, name: str) -> bool:
    """Whether it is one of the commit, and no link that leads elsewhere."""
    return (top / name).is_dir() and (top / name).resolve() == top.resolve() / name


def _trouble(execution: Execution, provision: Provision) -> tuple[str, str] | None:
    """What became of the command, and the way out; None where it is done."""
    if execution.exit_code == 0:
        return None
    if execution.cancelled:
        raise WorkspaceUnavailable("stopped while the project was set up")
    if execution.overfull:
        return "wrote more to the disk than a job may", "have it install less"
    if execution.timed_out:
        return f"was not done after {provision.minutes} minutes", "raise setup.minutes in your own settings"
    mend = 'mend setup.command in its .nightschool.toml, or set your own ("none": without a set-up)'
    if not provision.network:
        mend = (
            "it had no network; if it needs one, set setup.network = true in your own settings "
            f"(or NIGHTSCHOOL_SETUP_NETWORK=true); else {mend}"
        )
    return f"ended with exit code {execution.exit_code}", mend


def _failure(
    source: GitSource, provision: Provision, came_to: str, way_out: str, execution: Execution
) -> SetUpFailed:
    said = (execution.stderr.strip() or execution.stdout)[-COMPLAINT_BYTES:]
    return SetUpFailed(
        place=f"{source.repository}/{provision.folder}".rstrip("/"),
        commit=source.commit,
        command=provision.setup or "",
        came_to=came_to,
        said=said.decode("utf-8", "replace"),
        way_out=way_out,
    )


def _stamps(root: Path) -> dict[str, Stamp]:
    """Each file and link of a workspace, as it is before anything runs."""
    found: dict[str, Stamp] = {}
    for entry, name in _below(root, lambda _: True):
        if not entry.is_dir(follow_symlinks=False):
            found[name] = _stamp(entry)
    return found


def _stamp(entry: os.DirEntry[str]) -> Stamp:
    status = entry.stat(follow_symlinks=False)
    return (status.st_ino, status.st_size, status.st_ctime_ns, status.st_mode)


def _below(root: Path, enters: Callable[[str], bool]) -> Iterator[tuple[os.DirEntry[str], str]]:
    """All below, by relative name, without the workspace's own `.git`; of folders that `enters` refuses
    the folder alone."""
    todo = [""]
    while todo:
        folder = todo.pop()
        with os.scandir(root / folder) as entries:
            for entry in entries:
                name = f"{folder}/{entry.name}".lstrip("/")
                if name == OWN_GIT:
                    continue
                yield entry, name
                if entry.is_dir(follow_symlinks=False) and enters(name):
                    todo.append(name)


def _keep(workspace: Workspace, before: Mapping[str, Stamp], folder: Path) -> None:
    """Move what is new or changed to the layer: whole folders where the commit has nothing in them."""
    leftovers.remove_tree(folder)
    folder.mkdir(mode=0o700)
    (folder / "workspace").mkdir(mode=0o700)
    own = {str(parent) for name in before for parent in Path(name).parents}

    def is_old(name: str) -> bool:
        return name in own or any((shared / name).is_dir() for shared in workspace.shared)

    moved = []
    for entry, name in _below(workspace.root, is_old):
        if entry.is_dir(follow_symlinks=False):
            if not is_old(name):
                moved.append(name)
        elif _is_plain(entry) and before.get(name) != _stamp(entry):
            moved.append(name)
    for name in moved:
        to = folder / "workspace" / name
        to.parent.mkdir(parents=True, exist_ok=True)
        (workspace.root / name).rename(to)
    workspace.home.rename(folder / "home")
    workspace.home.mkdir(mode=0o700)
    leftovers.finish(folder, [])


def _is_plain(entry: os.DirEntry[str]) -> bool:
    return entry.is_symlink() or entry.is_file(follow_symlinks=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Over:
    """A folder of HOME, by name, that a sandbox mounts."""

    name: str
    mount: Overlay


def lay(layer: Layer, root: Path) -> None:
    """Copy the workspace's part to where a whole checkout lies."""
    for entry, name in _below(layer.workspace, lambda _: True):
        to = root / name
        if entry.is_dir(follow_symlinks=False):
            if to.is_symlink() or not to.is_dir():
                _clear(to)
                to.mkdir()
        elif _is_plain(entry):
            _clear(to)
            copy(Path(entry.path), to)


def lay_home(layer: Layer, home: Path, over: Path | None) -> list[Over]:
    """Lay HOME's part, without what stands there by now: an agent's own files are the harness's. Folders are
    copied, unless there is a place for mounts (`over`): then each is an empty folder to mount on."""
    mounts: list[Over] = []
    for path in sorted(layer.home.iterdir()):
        to = home / path.name
        if to.is_symlink() or to.exists():
            continue
        if path.is_dir() and not path.is_symlink() and over is not None:
            to.mkdir()
            base = over / f"home-{len(mounts)}"
            mounts.append(Over(name=path.name, mount=overlays.made(base / "upper", base / "scratch", path)))
        elif path.is_symlink() or path.is_file() or path.is_dir():
            copy(path, to)
    return mounts


def copy(path: Path, to: Path) -> None:
    """A file, link or folder with its modes and times. Never by hard links: a job may write to its copy.
    Sockets and pipes are left out."""
    if path.is_dir() and not path.is_symlink():
        shutil.copytree(path, to, symlinks=True, ignore=_special, ignore_dangling_symlinks=True)
    else:
        shutil.copy2(path, to, follow_symlinks=False)


def _special(folder: str, names: Sequence[str]) -> set[str]:
    kinds = (stat.S_ISREG, stat.S_ISDIR, stat.S_ISLNK)
    modes = {name: Path(folder, name).lstat().st_mode for name in names}
    return {name for name, mode in modes.items() if not any(is_kind(mode) for is_kind in kinds)}


def _clear(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def _held(lock: Path, cancelled: Event) -> Iterator[None]:
    """One process at a time makes a layer; who waits can be stopped. The lock dies with its process."""
    with os.fdopen(os.open(lock, os.O_RDWR | os.O_CREAT, 0o600), "wb") as stream:
        while True:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if cancelled.wait(POLL_SECONDS):
                    raise WorkspaceUnavailable("stopped while the project was set up") from None
        yield
