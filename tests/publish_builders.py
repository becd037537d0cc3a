"""A proposal with its evidence in a store, for tests of publishing; also run in processes that are killed."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nightschool.adapters.claude_code.surface import ClaudeCodeSurface
from nightschool.adapters.live_files import FileSystemLiveFiles
from nightschool.adapters.sqlite_store import SqliteStore
from nightschool.core.errors import NotAllowed
from nightschool.core.harness import Harness, LiveFile, Scope, Target
from nightschool.core.ports import LiveFiles, Store, Vet
from nightschool.core.proposals import (
    Draft,
    Edit,
    Finding,
    Release,
    Review,
    Risk,
    SafetyReport,
    Verdict,
    VerdictKind,
)
from nightschool.core.tasks import Candidate, Footprint, Moment
from nightschool.core.values import Record, digest_of
from nightschool.rules.memory_block import apply
from nightschool.rules.redaction import Redactor
from nightschool.stages.publish import adopt
from nightschool.stages.rebase import remake
from nightschool.stages.undo import undo
from nightschool.stages.vetting import Vetting
from nightschool.testing.clock import FakeClock

BEFORE = b"\xef\xbb\xbf# House rules\r\n\r\n* keep it short\r\n"
AFTER = BEFORE + b"\r\n* use pnpm, not npm\r\n"
MODE = 0o640
MINE = b"* written by hand\r\n"
MOMENT = Moment(session="s1", turn=2, quote="use pnpm, not npm")
CANDIDATE = Candidate(
    correction="c-1",
    statement="use pnpm, not npm",
    evidence=(MOMENT,),
    sessions=("s1", "s2"),
    check=Footprint(wanted="pnpm", unwanted="npm"),
    project="/p",
)
FINDING = Finding(code="secret", risk=Risk.HIGH, text="a token in line 3")


def draft_of(store: Store, before: bytes | None = BEFORE, after: bytes = AFTER) -> Draft:
    """A draft whose contents are in the store; itself not yet."""
    kept = None if before is None else store.put_blob(before)
    return Draft(
        candidate=CANDIDATE.id,
        target=Target(agent="claude-code", scope=Scope.PROJECT, project="/p", place="project/CLAUDE.md"),
        edits=(Edit(op="add", rule="use pnpm, not npm", moment=MOMENT),),
        base=digest_of("base"),
        live=kept,
        live_mode=None if before is None else MODE,
        before=kept,
        after=store.put_blob(after),
        cycle="cycle-1",
        created_at=FakeClock().now(),
    )


def safety_of(draft: Draft, *findings: Finding) -> SafetyReport:
    return SafetyReport(draft=draft.digest, findings=findings, rules="1", cycle="cycle-1")


def verdict_of(draft: Draft, kind: VerdictKind = VerdictKind.ACCEPT) -> Verdict:
    return Verdict(
        draft=draft.digest,
        kind=kind,
        code="enough-wealth",
        why="because of that",
        mode="certify",
        wealth_key=None,
        holdout=None,
        k=None,
        alpha=None,
        wealth=None,
        cycle="cycle-1",
        at=FakeClock().now(),
    )


def propose(
    store: Store,
    before: bytes | None = BEFORE,
    after: bytes = AFTER,
    kind: VerdictKind = VerdictKind.ACCEPT,
) -> Draft:
    """A draft that passed its safety check and has a verdict."""
    draft = draft_of(store, before, after)
    store.commit(CANDIDATE, draft, safety_of(draft), verdict_of(draft, kind))
    return draft


class Killer:
    """Kills its own process, as kill -9 would, at the n-th step."""

    def __init__(self, at: int) -> None:
        self._left = at

    def step(self) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, act: Callable[..., Any]) -> Callable[..., Any]:
        def stepped(*args: Any, **named: Any) -> Any:
            self.step()
            result = act(*args, **named)
            self.step()
            return result

        return stepped


class Watched:
    """A port whose every call is a step."""

    def __init__(self, port: object, killer: Killer) -> None:
        self._port = port
        self._killer = killer

    def __getattr__(self, name: str) -> Any:
        return self._killer.around(getattr(self._port, name))


class WatchedLiveFiles:
    def __init__(self, killer: Killer) -> None:
        self._watched = Watched(FileSystemLiveFiles(), killer)

    def read(self, path: Path) -> LiveFile:
        found: LiveFile = self._watched.read(path)
        return found

    def swap(
        self, path: Path, *, expected: bytes | None, content: bytes | None, mode: int | None
    ) -> LiveFile:
        written: LiveFile = self._watched.swap(path, expected=expected, content=content, mode=mode)
        return written

    def clear(self, folders: Sequence[Path]) -> None:
        self._watched.clear(folders)


def vet_of(store: Store, home: Path = Path("/nonexistent")) -> Vet:
    return Vetting(
        store=store,
        redact=Redactor(b"a key of the tests"),
        second_opinion=None,
        surface=lambda _: ClaudeCodeSurface(),
        person_home=home,
    )


def adopted(
    store: Store,
    draft: Draft,
    path: Path,
    live: LiveFiles | None = None,
    *,
    actor: str = "ada",
    reason: str = "",
    vet: Vet | None = None,
) -> Release:
    return adopt(
        draft.id,
        store=store,
        live=live or FileSystemLiveFiles(),
        place=lambda _: path,
        vet=vet or vet_of(store),
        clock=FakeClock(),
        actor=actor,
        reason=reason,
    )


def undone(
    store: Store,
    which: str | None,
    live: LiveFiles | None = None,
    *,
    keep_later: bool = False,
    project: str | None = None,
) -> Release:
    return undo(
        which,
        store=store,
        live=live or FileSystemLiveFiles(),
        clock=LATER,
        actor="ada",
        reason="no",
        keep_later=keep_later,
        project=project,
    )


def remade(
    store: Store, draft: Draft, path: Path, edits: Sequence[int] = (), *, live: LiveFiles | None = None
) -> Draft:
    """The draft anew on the file as it is, or a part of it."""
    return remake(
        draft.id,
        store=store,
        live=live or FileSystemLiveFiles(),
        place=lambda _: path,
        harness=lambda _: Harness(),
        vet=vet_of(store),
        clock=FakeClock(),
        edits=edits,
    )


def rules(*texts: str) -> tuple[Edit, ...]:
    return tuple(Edit(op="add", rule=text, moment=MOMENT) for text in texts)


def proposed(
    store: Store,
    before: bytes | None,
    *edits: Edit,
    kind: VerdictKind = VerdictKind.ACCEPT,
) -> Draft:
    """A draft of edits of the block, as an improver makes it, that passed and has a verdict."""
    made = replace(draft_of(store, before, apply(before, edits).content), edits=edits)
    store.commit(CANDIDATE, made, safety_of(made), verdict_of(made, kind))
    return made


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def written(store: Store) -> tuple[Record, ...]:
    return (*store.find(Review), *store.find(Release))


def codes(refused: pytest.ExceptionInfo[NotAllowed]) -> set[str]:
    return {code for code, _ in refused.value.reasons}


LATER = FakeClock(start=FakeClock().now().replace(hour=12))


def _be_killed(act: str, folder: Path, step: int) -> None:
    path = folder / "project" / "CLAUDE.md"
    path.parent.mkdir(parents=True)
    path.write_bytes(BEFORE)
    path.chmod(MODE)
    shutil.copytree(folder.parent / "prepared", folder / "home")
    store = SqliteStore.open(folder / "home")
    (draft,) = store.find(Draft)
    if act in {"undo", "keep"}:
        adopted(store, draft, path)
    if act in {"keep", "rebase"}:
        path.write_bytes(path.read_bytes() + MINE)
    killer = Killer(step)
    live = WatchedLiveFiles(killer)
    # The store and the file system between the calls of the ports too.
    watched: Any = Watched(store, killer)
    os.fsync = killer.around(os.fsync)
    Path.replace = killer.around(Path.replace)  # type: ignore[method-assign]  # kills in between
    if act == "undo":
        undone(watched, None, live)
    elif act == "keep":
        undone(watched, None, live, keep_later=True)
    elif act == "rebase":
        remade(watched, draft, path, live=live)
    else:
        adopted(watched, draft, path, live)


def _main(act: str, folder: Path) -> None:
    """Run the act again and again in a process of its own that is killed one step later each time."""
    # Never open in this process: a connection must not go through a fork.
    prepare = [sys.executable, __file__, f"prepare-{act}", str(folder / "prepared")]
    subprocess.run(prepare, check=True)
    step = 0
    while True:
        step += 1
        child = os.fork()
        if child == 0:
            _be_killed(act, folder / str(step), step)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{step} {os.waitstatus_to_exitcode(status)}\n")
        if not os.WIFSIGNALED(status):
            return


def _prepare(act: str, home: Path) -> None:
    store = SqliteStore.open(home)
    if act in {"keep", "rebase"}:
        proposed(store, BEFORE, *rules("use pnpm, not npm"))
    else:
        propose(store)
    store.close()


if __name__ == "__main__":
    if sys.argv[1].startswith("prepare-"):
        _prepare(sys.argv[1].removeprefix("prepare-"), Path(sys.argv[2]))
    else:
        _main(sys.argv[1], Path(sys.argv[2]))
