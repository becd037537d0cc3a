"""Host folders of workspaces: from a private mirror of a repository at a commit, or from given files.

The person's repository is read by `git upload-pack` alone: no lock, no index refresh, no gc, no hook and
no worktree of ours ever reaches it. A commit's files are fetched without history into a mirror of our own.
"""

from __future__ import annotations

import fcntl
import functools
import os
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath

from nightschool.adapters import attachments, checkouts, layers, leftovers, overlays, snapshots
from nightschool.adapters.disk_use import DiskUse
from nightschool.adapters.git_command import GitFailed, git
from nightschool.adapters.layers import Layer, Over
from nightschool.adapters.overlays import Overlay
from nightschool.core.errors import WorkspaceUnavailable
from nightschool.core.harness import File
from nightschool.core.jobs import FileChange, Provision
from nightschool.core.sandboxes import SandboxPlan
from nightschool.core.tasks import FilesSource, GitSource
from nightschool.core.values import digest_of

OBJECT_ID_LENGTHS = {40, 64}
"""Of SHA-1 and SHA-256 repositories."""
SETTINGS = (
    # Who commits inside. It is no one's real address.
    ("user.name", "Nightschool"),
    ("user.email", "job@nightschool.invalid"),
    # Inside, files have another owner and perhaps another device: without this git reads all of them anew to
    # see that none changed.
    ("core.checkStat", "minimal"),
    ("core.trustctime", "false"),
)
"""Of the repository that a workspace is."""


class Workspaces:
    """Builds and removes the folders of jobs below one folder of ours."""

    def __init__(self, work: Path) -> None:
        self._work = work
        self._mirrors = work / "mirrors"
        self._jobs = work / "jobs"
        self._swept = False

    @contextmanager
    def open(
        self, plan: SandboxPlan, layer: Layer | None = None, *, mounts: bool = False
    ) -> Iterator[Folder]:
        """The workspace and an empty HOME, removed on leaving. Raises `WorkspaceUnavailable`.

        `mounts`: whoever opens it mounts a commit's files and what a layer holds; else they are copied.
        """
        if plan.name in {"", ".", ".."} or "/" in plan.name or "\0" in plan.name:
            raise WorkspaceUnavailable(f"the name of a workspace is one part of a path, not {plan.name!r}")
        base, mine = self._fresh()
        with ExitStack() as left:
            left.callback(os.close, mine)
            left.callback(leftovers.remove_tree, base)
            root = base / "workspace" / plan.name
            root.mkdir(parents=True)
            folder = Folder(base=base, root=root, home=base / "home")
            folder.home.mkdir(mode=0o700)
            match plan.workspace:
                case GitSource() as source:
                    mirror = self.mirror(source)
                    if mounts:
                        make = functools.partial(self._lay_out, mirror, source, plan.provision, shared=True)
                        tree = left.enter_context(
                            checkouts.shared(mirror, source, plan.provision, make, plan.cancelled)
                        )
                        folder.share(tree)
                    else:
                        self._lay_out(mirror, source, plan.provision, root)
                    folder.begin(mirror, source.commit)
                    if layer is not None:
                        folder.lay(layer)
                case FilesSource(files=files):
                    for file in files:
                        write_below(root, file)
                    folder.seal()
            folder.bring(file.path for file in plan.files)
            for file in plan.files:
                write_below(root, file)
            folder.seal()
            folder.disk = DiskUse(base, may_grow=plan.disk_bytes)
            yield folder

    def _lay_out(
        self, mirror: Path, source: GitSource, provision: Provision, root: Path, *, shared: bool = False
    ) -> list[Path]:
        """The commit's files with what it names. Gives where that would lie which the person has not."""
        _check_out(mirror, source, root, shared=shared)
        absent = []
        try:
            if provision.submodules:
                absent += attachments.submodules(
                    source, root, lambda part, at: _check_out(self.mirror(part), part, at, shared=shared)
                )
            if provision.lfs:
                absent += attachments.large_files(Path(source.repository), root)
        except (GitFailed, OSError) as error:
            raise WorkspaceUnavailable(
                f"submodules or large files of {source.repository} cannot be laid: {error}"
            ) from error
        return absent

    def clear(self, repositories: Collection[str]) -> None:
        """Remove the mirrors of all repositories but these, and what killed jobs left. No job may run."""
        wanted = {_name_of(Path(repository)) for repository in repositories}
        for mirror in self._mirrors.glob("*"):
            if mirror.stem not in wanted:
                leftovers.remove_tree(mirror) if mirror.is_dir() else mirror.unlink(missing_ok=True)
        if self._jobs.is_dir():
            with _held(self._jobs.with_suffix(".lock")):
                self._sweep()

    def _fresh(self) -> tuple[Path, int]:
        """A new folder and the descriptor that says, by a lock on it, that its process lives.

        Before the first one, what killed processes left is removed. The lock on the whole keeps another
        process from taking a folder for abandoned before its own lock is held.
        """
        private_folder(self._jobs)
        with _held(self._jobs.with_suffix(".lock")):
            if not self._swept:
                self._sweep()
                with suppress(OSError):
                    leftovers.prune(self._mirrors, self._now())
                self._swept = True
            base = Path(tempfile.mkdtemp(prefix="job-", dir=self._jobs)).resolve()
            mine = _alive(base)
            fcntl.flock(mine, fcntl.LOCK_EX)
        return base, mine

    def _now(self) -> float:
        """By the clock of the file system, which says how old what lies on it is."""
        lock = self._jobs.with_suffix(".lock")
        os.utime(lock)
        return lock.stat().st_mtime

    def _sweep(self) -> None:
        """Remove the folders whose process is gone. What cannot be removed is no reason not to work."""
        for base in self._jobs.glob("job-*"):
            with suppress(OSError):
                theirs = _alive(base)
                try:
                    fcntl.flock(theirs, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    leftovers.remove_tree(base)
                finally:
                    os.close(theirs)

    def mirror(self, source: GitSource) -> Path:
        """Our bare repository that holds the commit, fetched from the person's where it is new."""
        commit = source.commit
        if len(commit) not in OBJECT_ID_LENGTHS or not set(commit) <= set("0123456789abcdef"):
            raise WorkspaceUnavailable(f"not a full object id of a commit: {commit!r}")
        repository = Path(source.repository)
        if not repository.is_absolute():
            raise WorkspaceUnavailable(f"not an absolute path of a repository: {source.repository!r}")
        private_folder(self._mirrors)
        mirror = self._mirrors / _name_of(repository)
        with _held(mirror.with_suffix(".lock")):
            try:
                if not (mirror / "HEAD").exists():
                    kind = "sha256" if len(commit) == max(OBJECT_ID_LENGTHS) else "sha1"
                    git(
                        ["init", "--bare", "--quiet", "--template=", f"--object-format={kind}", str(mirror)],
                        folder=self._mirrors,
                        private=True,
                    )
                if not _holds(mirror, commit):
                    _unlock(mirror)
                    fetch(repository, commit, into=mirror, ref=f"refs/nightschool/{commit}", private=True)
                leftovers.used(mirror, repository)
            except GitFailed as error:
                raise WorkspaceUnavailable(
                    f"commit {commit[:12]} cannot be had from {source.repository}: {error}"
                ) from error
        return mirror


def private_folder(folder: Path) -> None:
    """Make a folder in one of ours, both for the person alone: `parents` would give the outer one away."""
    for made in (folder.parent, folder):
        made.mkdir(mode=0o700, parents=True, exist_ok=True)


def _name_of(repository: Path) -> str:
    return digest_of(str(repository.resolve()))[:16]


class Folder:
    """One job's folder on the host."""

    def __init__(self, *, base: Path, root: Path, home: Path) -> None:
        self.base = base
        self.root = root
        self.home = home
        self.disk: DiskUse | None = None
        self._snapshot = snapshots.empty()
        self._texts: dict[str, bytes] = {}
        self._mirror: tuple[Path, str] | None = None
        self.mount: Overlay | None = None
        self.over: list[Over] = []
        self._brought: set[str] = set()
        self._hidden: frozenset[str] = frozenset()
        self._layer: Layer | None = None

    @property
    def shared(self) -> tuple[Path, ...]:
        return () if self.mount is None else self.mount.lowers

    def share(self, tree: Path) -> None:
        """Have the workspace hold what lies in `tree`, which is only read: root has what differs."""
        self.mount = overlays.made(self.root, self.base / "over" / "scratch", tree)

    def bring(self, names: Iterable[str]) -> None:
        """Have what is shared at these names lie below root too."""
        if self.mount is not None:
            brought = (found for name in names for found in self.mount.bring(name))
            self._brought.update(brought)

    def begin(self, mirror: Path, commit: str) -> None:
        """Take the checkout as it is; the old bytes of its files are those of the commit."""
        self._mirror = mirror, commit
        self._snapshot = self._take()

    def seal(self) -> None:
        """Take the present state as the one that `changes` compares with."""
        present = self._take()
        self._texts.update(snapshots.changed_bytes(self.root, self._snapshot, present))
        self._snapshot = present
        if self.mount is not None:
            self._hidden = self.mount.hidden(present)

    def own(self, paths: Sequence[Path]) -> tuple[PurePosixPath, ...]:
        """The paths relative to HOME, each really there: a mount made of a link would lead out of it."""
        home = self.home.resolve()
        for path in paths:
            if not path.exists() or path.resolve() != home / path.relative_to(self.home):
                raise WorkspaceUnavailable(f"{path} cannot be sealed: it is gone, or reached through a link")
        return tuple(PurePosixPath(path.relative_to(self.home)) for path in paths)

    def overfull(self, more: Callable[[int], int] = lambda _device: 0) -> bool:
        """Whether the job has added more than its plan allows, with what it takes up without a name."""
        return self.disk is not None and self.disk.exceeded(more)

    def lay(self, layer: Layer) -> None:
        """Lay what a set-up left under the job: of the workspace now, of HOME before the first command."""
        self._layer = layer
        if self.mount is None:
            layers.lay(layer, self.root)
        else:
            self.mount = replace(self.mount, lowers=(layer.workspace, *self.mount.lowers))

    def lay_home(self) -> None:
        """Once, when HOME holds what the harness says, which goes before what a set-up left there."""
        layer, self._layer = self._layer, None
        if layer is not None:
            over = None if self.mount is None else self.base / "over"
            self.over = layers.lay_home(layer, self.home, over)

    def start(self, folder: str) -> str:
        """The folder that commands start in, if it is one of the workspace: "" for its top."""
        if self.mount is not None:
            return folder if folder and self.mount.is_folder(folder) else ""
        path = self.root / folder
        return folder if folder and path.is_dir() and path.resolve() == self.root.resolve() / folder else ""

    def changes(self) -> tuple[FileChange, ...]:
        old, new = self._snapshot, self._take()
        if self.mount is not None:
            old, new = self.mount.states((old, self._hidden), (new, self.mount.hidden(new)))
        return snapshots.differences(self.root, old, new, self._before)

    def _take(self) -> snapshots.Snapshot:
        if self.mount is not None:
            self.mount.settle({*self._brought, *self._snapshot.entries})
        return snapshots.take(self.root, clock=self.base / "clock", known=self._snapshot)

    def _before(self, name: str) -> bytes | None:
        if name in self._texts:
            return self._texts[name]
        if self.mount is not None:
            below = self.mount.below(name)
            return None if below is None else snapshots.bytes_of(below)
        if self._mirror is None:
            return None
        mirror, commit = self._mirror
        try:
            return git(["cat-file", "blob", f"{commit}:{name}"], folder=mirror)
        except GitFailed:
            return None


def fetch(source: Path, commit: str, *, into: Path, ref: str, private: bool = False) -> None:
    """Fetch one commit without its history. The source is only read."""
    if not source.is_dir():
        raise GitFailed("that folder is gone")
    # No search for likenesses: a copy on the same disk is not worth the time.
    reader = (
        "git -c gc.auto=0 -c core.hooksPath=/dev/null -c 'safe.directory=*' "
        "-c pack.window=0 -c uploadpack.allowAnySHA1InWant=true upload-pack"
    )
    git(
        [
            "fetch", "--quiet", "--depth=1", "--no-tags", "--no-write-fetch-head", "--update-head-ok",
            "--no-recurse-submodules",
            "--no-auto-maintenance", f"--upload-pack={reader}", "--", str(source), f"{commit}:{ref}",
        ],
        folder=into,
        protocol="file",
        private=private,
    )  # fmt: skip


def _holds(mirror: Path, commit: str) -> bool:
    try:
        git(["rev-parse", "--quiet", "--verify", f"refs/nightschool/{commit}"], folder=mirror)
    except GitFailed:
        return False
    return True


def _check_out(mirror: Path, source: GitSource, root: Path, *, shared: bool) -> None:
    """The commit's files, and a repository of the workspace's own that holds this one commit. `shared`: no
    job writes to it.

    `read-tree` and not `archive`: what `export-ignore` hides from a release is part of the work.
    """
    kind = "sha256" if len(source.commit) == max(OBJECT_ID_LENGTHS) else "sha1"
    try:
        git(
            ["init", "--quiet", "--template=", "--initial-branch=main", f"--object-format={kind}", str(root)],
            folder=root,
        )
        if not (shared and checkouts.link_objects(mirror, source.commit, root)):
            fetch(mirror, source.commit, into=root, ref="refs/heads/main")
        git(["read-tree", "--reset", "-u", "refs/heads/main"], folder=root)
        for key, value in SETTINGS:
            git(["config", key, value], folder=root)
    except GitFailed as error:
        raise WorkspaceUnavailable(
            f"no workspace could be made of {source.repository} at {source.commit[:12]}: {error}"
        ) from error


def _alive(base: Path) -> int:
    return os.open(base / "alive", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def _unlock(mirror: Path) -> None:
    """Remove the locks of a git that was killed. We alone write here, and hold our own lock on it."""
    for lock in (*mirror.glob("*.lock"), *mirror.glob("refs/**/*.lock")):
        lock.unlink(missing_ok=True)


@contextmanager
def _held(lock: Path) -> Iterator[None]:
    """One process at a time fills a mirror. The lock dies with its process."""
    with os.fdopen(os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600), "wb") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def write_below(root: Path, file: File) -> None:
    """Write one file exactly in bytes and mode, and never through a link or into the workspace's `.git`."""
    parts = file.path.split("/")
    if parts[0] == snapshots.OWN_GIT:
        raise WorkspaceUnavailable(f"a workspace's files may not lie in .git: {file.path}")
    folder = root
    for part in parts[:-1]:
        folder /= part
        if folder.is_symlink():
            raise WorkspaceUnavailable(f"{file.path} would be written through the link {part}")
        folder.mkdir(exist_ok=True)
    target = folder / parts[-1]
    try:
        descriptor = os.open(
            target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
        )
    except OSError as error:
        raise WorkspaceUnavailable(f"{file.path} cannot be written: {error.strerror}") from error
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(file.content)
        os.fchmod(descriptor, file.mode & 0o777)
