"""A workspace whose files are shared: all jobs read the same folders, and each has what it changed apart.

Relieves workspaces, which hold whole copies, of the kernel's terms: a whiteout (a device 0:0) is a name that
was removed, an opaque folder hides what lies below it elsewhere.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from nightschool.adapters import snapshots
from nightschool.adapters.snapshots import Snapshot

OPAQUE = "user.overlay.opaque"
"""As the kernel marks it for mounts that an ordinary user made."""
TRIAL_SECONDS = 20
MOST_LINKS = 40
"""Of one path, as the kernel follows them."""
ATTEMPT = "test ! -e /o/hidden && rm -r /o/folder && mkdir /o/folder && echo > /o/made"


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlay:
    """What a sandbox mounts: read from `lowers`, the uppermost first, written to `upper`."""

    upper: Path
    scratch: Path
    """For the kernel alone, on the same file system."""
    lowers: tuple[Path, ...]

    def options(self, inside: str) -> list[str]:
        """Of bubblewrap, which names the lowest first."""
        sources = [part for lower in reversed(self.lowers) for part in ("--overlay-src", str(lower))]
        return [*sources, "--overlay", str(self.upper), str(self.scratch), inside]

    def below(self, name: str) -> Path | None:
        """What the shared folders have at a name, whether or not the job has hidden it."""
        for lower in self.lowers:
            for part in _upto(name):
                status = _status(lower / part)
                if status is None:
                    break
                if part == name:
                    return lower / name
                if not stat.S_ISDIR(status.st_mode):
                    return None
        return None

    def is_folder(self, name: str) -> bool:
        """Whether a name leads to a folder through folders alone."""
        for part in _upto(name):
            own = _status(self.upper / part)
            below = self.below(part) if own is None else None
            status = own if below is None else _status(below)
            if status is None or not stat.S_ISDIR(status.st_mode):
                return False
        return True

    def files_below(self, name: str) -> Iterator[str]:
        """The files and links that the shared folders have at a name and below it."""
        below = self.below(name)
        if below is not None and not _is_real_folder(below):
            yield name
            return
        for lower in self.lowers if below is not None else ():
            if not all(_is_real_folder(lower / part) for part in _upto(name)):
                continue
            for path in _files(lower / name):
                inner = path.relative_to(lower).as_posix()
                if self.below(inner) == path:
                    yield inner

    def hidden(self, present: Snapshot) -> frozenset[str]:
        """The files and links of the shared folders that do not show, but for those in whose place the job
        has a file of that name (`present`)."""
        found: set[str] = set()
        todo = [self.upper]
        while todo:
            for entry in snapshots.listed(todo.pop()):
                name = Path(entry.path).relative_to(self.upper).as_posix()
                below = None if _is_git(name) else self.below(name)
                if below is None:  # there is nothing to hide, here and further down
                    continue
                if entry.is_dir(follow_symlinks=False) and _is_real_folder(below) and not self._opaque(name):
                    todo.append(Path(entry.path))
                else:
                    found.update(self.files_below(name))
        return frozenset(found.difference(present.entries))

    def _opaque(self, name: str) -> bool:
        with suppress(OSError):
            return os.getxattr(self.upper / name, OPAQUE, follow_symlinks=False) == b"y"
        return False

    def states(
        self, old: tuple[Snapshot, frozenset[str]], new: tuple[Snapshot, frozenset[str]]
    ) -> tuple[Snapshot, Snapshot]:
        """All that may differ between two states, each told as the job's own files and what is hidden."""
        own = {*old[0].entries, *new[0].entries}
        first, second = {**old[0].entries}, {**new[0].entries}
        for name in own | (old[1] ^ new[1]):
            below = self.below(name)
            entry = None if below is None else snapshots.entry_of(below, read=name in own)
            for entries, hidden in ((first, old[1]), (second, new[1])):
                if entry is not None and name not in hidden:
                    entries.setdefault(name, entry)
        return Snapshot(entries=first, taken=old[0].taken), Snapshot(entries=second, taken=new[0].taken)

    def bring(self, name: str, *, links: int = MOST_LINKS) -> Iterator[str]:
        """Have what the shared folders hold at a name lie in `upper` too, with the folders and links that
        lead to it, so that it can be read, replaced and removed there. Gives the names of files and links."""
        name = os.path.normpath(name)
        if name in {".", ".."} or name.startswith(("/", "../")) or _is_git(name):
            return
        for part in _upto(name):
            own, below = self.upper / part, self.below(part)
            if _status(own) is None and below is not None and _copy(below, own):
                yield part
            if own.is_symlink():
                target = os.readlink(own)  # noqa: PTH115 - exact, not normalised
                leads = Path(part).parent / target / Path(name).relative_to(part)
                yield from self.bring(str(leads), links=links - 1) if links else ()
                return
            if not own.is_dir():
                return
        for inner in list(self.files_below(name)):
            yield from self.bring(inner, links=links)

    def settle(self, names: Collection[str]) -> None:
        """Of names that once lay in `upper` and were removed there since: hide what would show again."""
        for name in names:
            above = (_status(self.upper / part) for part in _upto(name))
            if self.below(name) is None or any(s is not None and not stat.S_ISDIR(s.st_mode) for s in above):
                continue
            if _status(self.upper / name) is None:
                (self.upper / name).parent.mkdir(parents=True, exist_ok=True)
                whiteout(self.upper / name)


def whiteout(path: Path) -> None:
    """An ordinary user may make this one device, which is none."""
    os.mknod(path, stat.S_IFCHR, os.makedev(0, 0))


def made(upper: Path, scratch: Path, *lowers: Path) -> Overlay:
    for folder in (upper, scratch):
        folder.mkdir(parents=True, exist_ok=True)
    return Overlay(upper=upper, scratch=scratch, lowers=lowers)


def can_overlay(binary: Path, options: Sequence[str], scratch: Path) -> bool:
    """Whether folders can be mounted so that all read the same and each writes apart: bubblewrap 0.11 and a
    kernel that lets a user do so, on a file system that can carry it. What is removed must be told as this
    module reads it, and what it hides be hidden."""
    with tempfile.TemporaryDirectory(dir=scratch, prefix=".overlay-") as name:
        folder = Path(name)
        mounted = made(folder / "upper", folder / "scratch", folder / "lower")
        (folder / "lower/folder").mkdir(parents=True)
        (folder / "lower/hidden").touch()
        try:
            whiteout(folder / "upper/hidden")
            done = subprocess.run(
                [str(binary), *options, *mounted.options("/o"), "/bin/sh", "-c", ATTEMPT],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=TRIAL_SECONDS,
                check=False,
            )
            opaque = os.getxattr(folder / "upper/folder", OPAQUE) if done.returncode == 0 else b""
        except (OSError, subprocess.TimeoutExpired):
            return False
        return opaque == b"y"


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _is_real_folder(path: Path) -> bool:
    status = _status(path)
    return status is not None and stat.S_ISDIR(status.st_mode)


def _upto(name: str) -> list[str]:
    """Each folder above a name, the outermost first, and the name."""
    parts = name.split("/")
    return ["/".join(parts[: length + 1]) for length in range(len(parts))]


def _files(folder: Path) -> Iterator[Path]:
    """Files and links below. What may not be listed shows to no job either."""
    for path, folders, names in os.walk(folder):
        yield from (Path(path, name) for name in names)
        yield from (Path(path, name) for name in folders if Path(path, name).is_symlink())


def _is_git(name: str) -> bool:
    return name.partition("/")[0] == snapshots.OWN_GIT


def _copy(path: Path, to: Path) -> bool:
    """With mode and time, and without the kernel's own marks on it. Whether it is a file or a link."""
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        to.symlink_to(os.readlink(path))  # noqa: PTH115 - exact, not normalised
        return True
    if stat.S_ISDIR(status.st_mode):
        to.mkdir()
    elif stat.S_ISREG(status.st_mode):
        shutil.copyfile(path, to, follow_symlinks=False)
    else:
        return False
    to.chmod(stat.S_IMODE(status.st_mode))
    os.utime(to, ns=(status.st_atime_ns, status.st_mtime_ns))
    return stat.S_ISREG(status.st_mode)
