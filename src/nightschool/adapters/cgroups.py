"""Limits on memory and number of processes for all of a job together, where this process may set them.

Version 2 where a parent group is delegated to us, else version 1 where its controllers are writable
(root), else none: then the limits of a single process are all there is, and the probe says so.
"""

from __future__ import annotations

import itertools
import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PREFIX = "nightschool"
MOUNT = Path("/sys/fs/cgroup")
_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Control groups of one job: a process joins by writing its id into each of `joins`."""

    folders: tuple[Path, ...] = ()
    memory: bool = False
    """Whether the memory of the whole job is limited."""

    @property
    def joins(self) -> tuple[Path, ...]:
        return tuple(folder / "cgroup.procs" for folder in self.folders)

    def remove(self) -> None:
        for folder in self.folders:
            _remove(folder)


def limit_group(memory_bytes: int, processes: int, *, mount: Path = MOUNT) -> Group:
    """A new group with these limits, or one without folders where none can be had."""
    folders = []
    memory = False
    for parent, settings in _parents(mount, memory_bytes, processes):
        _sweep(parent)
        folder = parent / f"{PREFIX}.{os.getpid()}.{next(_numbers)}"
        try:
            folder.mkdir()
            for name, number, needed in settings:
                if needed or (folder / name).exists():
                    (folder / name).write_text(str(number), encoding="ascii")
        except OSError:
            # Not delegated after all: go on without this controller, as on a host that has none.
            _remove(folder)
            continue
        folders.append(folder)
        memory = memory or settings[0][0].startswith("memory.")
    return Group(folders=tuple(folders), memory=memory)


_Settings = tuple[tuple[str, int, bool], ...]


def _parents(mount: Path, memory: int, processes: int) -> list[tuple[Path, _Settings]]:
    """Where new groups may be made, with the files to write there: (name, number, must succeed)."""
    own = _own_groups()
    unified = _unified_parent(mount, own.get("", "/"))
    if unified is not None:
        return [
            (
                unified,
                (("memory.max", memory, True), ("memory.swap.max", 0, False), ("pids.max", processes, True)),
            )
        ]
    wanted: dict[str, _Settings] = {
        "memory": (("memory.limit_in_bytes", memory, True), ("memory.memsw.limit_in_bytes", memory, False)),
        "pids": (("pids.max", processes, True),),
    }
    found = []
    for controller, settings in wanted.items():
        parent = mount / controller / own.get(controller, "/").lstrip("/")
        if os.access(parent / "cgroup.procs", os.W_OK) and os.access(parent, os.W_OK):
            found.append((parent, settings))
    return found


def _own_groups() -> dict[str, str]:
    """Path of this process's group for each controller; "" stands for version 2."""
    try:
        text = Path("/proc/self/cgroup").read_text(encoding="utf-8")
    except OSError:
        return {}
    groups = {}
    for line in text.splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            groups[controller] = path
    return groups


def _unified_parent(mount: Path, path: str) -> Path | None:
    """The nearest group above us that hands memory and pids on and lets us move processes below it."""
    folder = mount / path.lstrip("/")
    for parent in (folder, *folder.parents):
        if not parent.is_relative_to(mount):
            return None
        try:
            handed_on = (parent / "cgroup.subtree_control").read_text(encoding="ascii").split()
        except OSError:
            continue
        writable = os.access(parent / "cgroup.procs", os.W_OK) and os.access(parent, os.W_OK)
        if writable and {"memory", "pids"} <= set(handed_on):
            return parent
    return None


def _sweep(parent: Path) -> None:
    """Remove the groups that a process which was killed has left, and end what still runs in them: a sandbox
    that had only begun to start waits for its parent for ever."""
    for folder in parent.glob(f"{PREFIX}.*.*"):
        pid = folder.name.split(".")[1]
        if pid.isdigit() and not Path(f"/proc/{pid}").exists():
            _end(folder)
            _remove(folder)


def _end(folder: Path) -> None:
    with suppress(OSError):
        for number in (folder / "cgroup.procs").read_text(encoding="ascii").split():
            # 0 stands for a process that cannot be seen from here, and in a signal for ourselves.
            if number != "0":
                os.kill(int(number), signal.SIGKILL)


def _remove(folder: Path) -> None:
    """A group can be removed once its last process is gone, which the kernel notes a moment later."""
    for _ in range(20):
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(0.01)
        else:
            return
