"""Folders whose paths are the same in each run.

The scripted apprentice's lots and the gate's draws hang on what a task is, and its project's path is a part
of that. With a new path for each run, a test that looks at how an exam ends would meet other lots each time.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import signal
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

BASE = Path(f"/tmp/nightschool-tests-{os.getuid()}")
FAILED = pytest.StashKey[bool]()


@contextmanager
def fixed_folder(name: str) -> Iterator[Path]:
    """An empty folder of that name; another run that wants it waits until this one has ended."""
    BASE.mkdir(mode=0o700, exist_ok=True)
    folder = BASE / hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        emptied(folder)
        folder.mkdir(mode=0o700)
        yield folder


def emptied(folder: Path) -> None:
    """Take the folder away, read-only folders in it too."""

    def again(function: Callable[..., Any], path: str, _: object) -> None:
        for locked in (Path(path).parent, Path(path)):
            if locked.is_dir() and not locked.is_symlink():
                locked.chmod(0o700)
        function(path)

    if folder.exists():
        shutil.rmtree(folder, onerror=again)


def pytest_configure() -> None:
    """A shell that starts the tests in the background has them, and all that they start, ignore Ctrl-C: what
    waits for it would wait for ever."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Remember what failed: its folder stays."""
    report = yield
    if report.failed:
        item.stash[FAILED] = True
    return report


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest) -> Iterator[Path]:
    """In the place of pytest's own: a folder named by the test alone. It stays where the test failed."""
    with fixed_folder(request.node.nodeid) as folder:
        yield folder
        if not request.node.stash.get(FAILED, False):
            emptied(folder)


@pytest.fixture(scope="session")
def make_folder(worker_id: str) -> Iterator[Callable[[str], Path]]:
    """For fixtures of a module: an empty folder of that name. Each process of a run has its own."""
    given: set[str] = set()
    with ExitStack() as stack:

        def make(name: str) -> Path:
            assert name not in given, f"two fixtures ask for a folder {name!r}"
            given.add(name)
            return stack.enter_context(fixed_folder(f"{worker_id}:{name}"))

        yield make
