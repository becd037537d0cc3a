"""Adopt and undo, killed at any moment: the live file is the old one or the new one, and the way leads on."""

from __future__ import annotations

import shutil
import time
from collections import Counter
from functools import cache
from pathlib import Path
from random import Random

from nightschool.adapters.live_files import FileSystemLiveFiles
from nightschool.adapters.sqlite_store import SqliteStore
from nightschool.core.proposals import Status
from nightschool.stages.releases import drafts, recover
from publish_builders import adopted, mode, propose, undone
from soak.cases import Case, Part, Seen
from soak.forks import run_for, run_whole

MOST = 1 << 18
"""Bytes of a file: large enough that writing it takes its time."""
WORDS = (
    "amounts",
    "are",
    "in",
    "cents",
    "keep",
    "functions",
    "short",
    "größer",
    "使用",
    "tests",
    "first",
    "and",
    "dates",
)
"""Of what a look at a draft before it is published finds no fault with."""
MODES = (0o600, 0o640, 0o644, 0o755, 0o664)


def _content(random: Random) -> bytes:
    """Text of a memory file, of very different lengths."""
    length = random.choice((0, 100, 5000, MOST))
    lines = (" ".join(random.choices(WORDS, k=12)) for _ in range(length // 60))
    return "".join(f"- {line}\n" for line in lines).encode()


@cache
def _empty_home(shared: Path) -> Path:
    """A store without records; made in another process, since no connection may go through a fork."""
    home = shared / f"empty-{time.monotonic_ns()}"
    run_whole(lambda: SqliteStore.open(home).close())
    return home


def _prepare(home: Path, path: Path, before: bytes | None, after: bytes, act: str) -> None:
    store = SqliteStore.open(home)
    draft = propose(store, before, after)
    if act == "undo":
        adopted(store, draft, path)
    store.close()


def _act(home: Path, path: Path, act: str) -> None:
    store = SqliteStore.open(home)
    (case,) = drafts(store)
    if act == "adopt":
        adopted(store, case.draft, path)
    else:
        undone(store, None)
    store.close()


@cache
def _span(shared: Path) -> float:
    """How long an undisturbed act takes here."""
    folder = shared / f"span-{time.monotonic_ns()}"
    home, path = folder / "home", folder / "project" / "CLAUDE.md"
    path.parent.mkdir(parents=True)
    shutil.copytree(_empty_home(shared), home)
    run_whole(lambda: _prepare(home, path, None, b"- keep it short\n" * (MOST // 16), "adopt"))
    return run_whole(lambda: _act(home, path, "adopt"))


def killed(case: Case) -> Seen:
    """Killed once in adopt or undo; then recovered, adopted if it was not, and undone."""
    random = case.random
    act = random.choice(("adopt", "undo"))
    before = None if random.random() < 0.2 else _content(random)
    after, bits = _content(random), random.choice(MODES)
    home, path = case.folder / "home", case.folder / "project" / "CLAUDE.md"
    path.parent.mkdir()
    if before is not None:
        path.write_bytes(before)
        path.chmod(bits)
    shutil.copytree(_empty_home(case.shared), home)
    run_whole(lambda: _prepare(home, path, before, after, act))
    ended = run_for(1.2 * _span(case.shared) * random.random(), lambda: _act(home, path, act))
    found = path.read_bytes() if path.exists() else None
    assert found in {before, after}, f"{act} left {found if found is None else len(found)} bytes"
    assert found is None or before is None or mode(path) == bits
    run_whole(lambda: _after(home, path, act, found, (before, after)))
    assert (path.read_bytes() if path.exists() else None) == before
    assert before is None or mode(path) == bits
    assert [entry.name for entry in path.parent.iterdir()] == (["CLAUDE.md"] if before is not None else [])
    new = found == (after if act == "adopt" else before)
    return Counter({f"{act}s {'ended' if ended else 'killed, file new' if new else 'killed, file old'}": 1})


def _after(
    home: Path, path: Path, act: str, found: bytes | None, contents: tuple[bytes | None, bytes]
) -> None:
    """The next commands: they recover, and see in the store what lies in the file."""
    before, after = contents
    store = SqliteStore.open(home)
    recover(store, FileSystemLiveFiles())
    (case,) = drafts(store)
    if before != after:
        assert (case.status is Status.PUBLISHED) == (found == after), case.status
    if act == "adopt":
        adopted(store, case.draft, path)
        assert path.read_bytes() == after
    undone(store, case.draft.id)
    assert all(sum(r.number == one.number for r in case.releases) <= 2 for one in case.releases)
    store.close()


PARTS = (
    Part(
        name="adopt and undo killed",
        group="kills",
        holds=(
            "the live file is whole, old or new; the store agrees after recovery; undo gives bytes and mode "
            "back; nothing lies beside the file"
        ),
        cases=1000,
        check=killed,
    ),
)
