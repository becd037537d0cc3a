"""Undo and recover: what they give back, what they refuse, what a killed process leaves."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import publish_builders
from nightschool.adapters.live_files import FileSystemLiveFiles
from nightschool.adapters.sqlite_store import SqliteStore
from nightschool.core.errors import Busy, NotAllowed, NotFound, UserError
from nightschool.core.harness import LiveFile
from nightschool.core.ports import Store
from nightschool.core.proposals import (
    Draft,
    Release,
    Review,
    Status,
    Step,
)
from nightschool.stages.publish import adopt, reject
from nightschool.stages.releases import StaleLiveFile, dossier, drafts, recover
from nightschool.stages.undo import undo
from nightschool.testing.clock import FakeClock
from nightschool.testing.memory_store import MemoryStore
from publish_builders import (
    AFTER,
    BEFORE,
    MODE,
    adopted,
    codes,
    mode,
    propose,
    undone,
    vet_of,
    written,
)


def test_undo_gives_bytes_and_mode_back(store: MemoryStore, path: Path) -> None:
    """The same bytes and mode as before, recorded as a release that points back; once, however often."""
    draft = propose(store)
    release = adopted(store, draft, path)
    back = undone(store, None)
    assert (path.read_bytes(), mode(path)) == (BEFORE, MODE)
    assert (back.undoes, back.step, back.number) == (release.number, Step.DONE, "r-0002")
    assert dossier(store, draft.id).status is Status.ROLLED_BACK
    before = written(store)
    assert undone(store, release.number) == undone(store, draft.id) == back
    assert written(store) == before
    with pytest.raises(UserError, match="nothing is published"):
        undone(store, None)
    with pytest.raises(UserError, match="is itself an undo, of r-0001"):
        undone(store, back.number)


def test_a_mode_that_was_changed_since_is_not_given_back(store: MemoryStore, path: Path) -> None:
    """The bytes are what was written, the mode is not: nothing is widened unasked; with its mode it goes."""
    release = adopted(store, propose(store), path)
    path.chmod(0o600)
    with pytest.raises(NotAllowed, match="chmod 6") as refused:
        undone(store, None)
    assert codes(refused) == {"mode-changed"}
    assert (path.read_bytes(), mode(path)) == (AFTER, 0o600)
    path.chmod(release.after_mode or 0)
    undone(store, None)
    assert (path.read_bytes(), mode(path)) == (BEFORE, MODE)


def test_undo_removes_a_file_that_we_made(store: MemoryStore, tmp_path: Path) -> None:
    """B46: where there was no file before, there is none after, and both are on record."""
    path = tmp_path / "new" / "AGENTS.md"
    adopted(store, propose(store, before=None), path)
    assert (path.read_bytes(), mode(path)) == (AFTER, 0o644)
    undone(store, None)
    assert not path.parent.exists(), "the folder that was made for it goes too"
    assert tmp_path.exists()
    assert [release.step for release in store.find(Release)] == [Step.INTENDED, Step.DONE] * 2


def test_a_folder_that_is_in_use_by_now_stays(store: MemoryStore, tmp_path: Path) -> None:
    """B47: of the folders that were made for a file, what holds something of the person's is kept."""
    path = tmp_path / ".claude" / "skills" / "cut-release" / "SKILL.md"
    release = adopted(store, propose(store, before=None), path)
    assert [Path(folder).name for folder in release.folders] == [".claude", "skills", "cut-release"]
    (tmp_path / ".claude" / "settings.json").write_text("{}")
    undone(store, None)
    assert [entry.name for entry in (tmp_path / ".claude").iterdir()] == ["settings.json"]
    again = adopted(store, store.find(Draft)[0], path)
    (path.parent / "notes.md").write_text("mine")
    undone(store, again.number)
    assert [entry.name for entry in path.parent.iterdir()] == ["notes.md"]


def test_undo_never_takes_a_hand_edit_away(store: MemoryStore, path: Path) -> None:
    """B46: edited after adoption: refused with three versions, the hand's work is kept."""
    live = b"edited after adopting"
    adopted(store, propose(store), path)
    path.write_bytes(live)
    before = written(store)
    with pytest.raises(StaleLiveFile) as stale:
        undone(store, None)
    assert (stale.value.base, stale.value.live, stale.value.proposed) == (AFTER, live, BEFORE)
    assert FileSystemLiveFiles().read(path).content == live
    assert written(store) == before


def test_undo_goes_newest_first(store: MemoryStore, path: Path) -> None:
    """A release that another was built upon is undone after that one; the refusal names it."""
    first = propose(store)
    second = propose(store, before=AFTER, after=AFTER + b"* more\r\n")
    one = adopted(store, first, path)
    two = adopted(store, second, path)
    with pytest.raises(NotAllowed, match=f"{two.number}.*{second.id}") as refused:
        undone(store, one.number)
    assert codes(refused) == {"built-upon"}
    assert undone(store, None).undoes == two.number
    assert undone(store, None).undoes == one.number
    assert path.read_bytes() == BEFORE


def test_without_a_name_it_stays_within_the_project(store: MemoryStore, path: Path) -> None:
    """The newest of the project that a person stands in, or of their own files; else where one stands."""
    release = adopted(store, propose(store), path)
    with pytest.raises(UserError, match=rf"for /q;.*{release.number}, in {path}"):
        undone(store, None, project="/q")
    assert path.read_bytes() == AFTER
    assert undone(store, None, project="/p").undoes == release.number
    with pytest.raises(UserError, match="nothing is published"):
        undone(store, None, project="/q")


def test_what_was_undone_can_be_adopted_again(store: MemoryStore, path: Path) -> None:
    """After an undo the same draft may be published anew, with a new review and a new number."""
    draft = propose(store)
    numbers = [adopted_at(store, draft, path, hour).number for hour in (3, 13)]
    assert numbers == ["r-0001", "r-0003"]
    assert path.read_bytes() == BEFORE
    assert len(store.find(Review)) == 2


def adopted_at(store: Store, draft: Draft, path: Path, hour: int) -> Release:
    clock = FakeClock(start=FakeClock().now().replace(hour=hour))
    live = FileSystemLiveFiles()
    release = adopt(
        draft.id, store=store, live=live, place=lambda _: path, vet=vet_of(store), clock=clock, actor="ada"
    )
    undo(release.number, store=store, live=live, clock=clock, actor="ada")
    return release


def test_a_clock_that_was_set_back_changes_no_status(store: MemoryStore, path: Path) -> None:
    """Adopted, taken back an hour "earlier", adopted again earlier still: the last act in writing counts."""
    draft = propose(store)
    live = FileSystemLiveFiles()
    for hour, status in ((13, Status.PUBLISHED), (12, Status.ROLLED_BACK), (11, Status.PUBLISHED)):
        clock = FakeClock(start=FakeClock().now().replace(hour=hour))
        if status is Status.PUBLISHED:
            adopt(
                draft.id,
                store=store,
                live=live,
                place=lambda _: path,
                vet=vet_of(store),
                clock=clock,
                actor="ada",
            )
        else:
            undo(None, store=store, live=live, clock=clock, actor="ada")
        assert dossier(store, draft.id).status is status, hour
    times = [release.at for release in store.find(Release) if release.step is Step.DONE]
    assert times == sorted(set(times))


def test_undo_of_what_was_never_published_is_refused(store: MemoryStore) -> None:
    """An unknown name is not found; a proposal in review is in the wrong state."""
    draft = propose(store)
    with pytest.raises(NotFound):
        undone(store, "r-0009")
    with pytest.raises(NotAllowed) as refused:
        undone(store, draft.id)
    assert codes(refused) == {"wrong-state"}


class SavedMeanwhile(FileSystemLiveFiles):
    """A person saves at the very moment of the swap."""

    def swap(
        self, path: Path, *, expected: bytes | None, content: bytes | None, mode: int | None
    ) -> LiveFile:
        path.write_bytes(b"saved meanwhile")
        return super().swap(path, expected=expected, content=content, mode=mode)


class FailsAfterwards(FileSystemLiveFiles):
    """The file is replaced, and then something goes wrong."""

    def swap(
        self, path: Path, *, expected: bytes | None, content: bytes | None, mode: int | None
    ) -> LiveFile:
        super().swap(path, expected=expected, content=content, mode=mode)
        raise UserError("the folder could not be synced")


class Unwritable(FileSystemLiveFiles):
    def swap(
        self, path: Path, *, expected: bytes | None, content: bytes | None, mode: int | None
    ) -> LiveFile:
        raise UserError("the disk is full")


def test_a_save_at_the_last_moment_is_kept(store: MemoryStore, path: Path) -> None:
    """A change between look and swap gives the conflict, and the release is recorded as abandoned."""
    draft = propose(store)
    with pytest.raises(StaleLiveFile) as stale:
        adopted(store, draft, path, SavedMeanwhile())
    assert stale.value.live == path.read_bytes() == b"saved meanwhile"
    assert [r.step for r in store.find(Release)] == [Step.INTENDED, Step.ABANDONED]
    path.write_bytes(BEFORE)
    assert adopted(store, draft, path).number == "r-0002"
    assert len(store.find(Review)) == 1
    with pytest.raises(NotAllowed, match="never took place"):
        undone(store, "r-0001")


def test_a_failed_write_is_recorded_as_it_was(store: MemoryStore, path: Path) -> None:
    """Not written is abandoned and the error is passed on; written after all is done."""
    draft = propose(store)
    with pytest.raises(UserError, match="disk is full"):
        adopted(store, draft, path, Unwritable())
    assert store.find(Release)[-1].step is Step.ABANDONED
    assert adopted(store, draft, path, FailsAfterwards()).step is Step.DONE
    assert path.read_bytes() == AFTER


@pytest.mark.parametrize(
    ("live", "step", "why"),
    [
        (AFTER, Step.DONE, ""),
        (BEFORE, Step.ABANDONED, "before the file was written"),
        (b"other", Step.ABANDONED, "neither"),
        (None, Step.ABANDONED, "neither"),
    ],
)
def test_recover_tells_from_the_file(
    store: MemoryStore, path: Path, live: bytes | None, step: Step, why: str
) -> None:
    """An intent without an end is done if the file holds its bytes, else abandoned; the file stays."""
    draft = propose(store)
    adopted(store, draft, path)
    broken = MemoryStore()
    broken.commit(store.find(Release)[0])
    path.unlink()
    if live is not None:
        path.write_bytes(live)
    (closed,) = recover(broken, FileSystemLiveFiles())
    assert closed.step is step
    assert why in closed.reason
    assert recover(broken, FileSystemLiveFiles()) == ()
    assert FileSystemLiveFiles().read(path).content == live


def test_the_next_command_recovers_first(path: Path) -> None:
    """B56: adopt and undo after a crash see what it did: nothing is published twice, undo works."""
    whole = MemoryStore()
    intended = adopted(whole, propose(whole), path)
    for end in (adopted, lambda store, draft, _: undone(store, draft.id)):
        crashed = MemoryStore()
        draft = propose(crashed)
        crashed.commit(*whole.find(Review), whole.find(Release)[0])
        crashed.take("releases")
        path.write_bytes(AFTER)
        ended = end(crashed, draft, path)
        assert crashed.find(Release)[1] == intended
        assert intended.number in {ended.number, ended.undoes}


def test_a_broken_release_of_a_lost_place_stops_no_other(store: MemoryStore, tmp_path: Path) -> None:
    """Where the file of an unfinished release cannot be looked at, it stays open and others go on."""
    gone = tmp_path / "gone" / "CLAUDE.md"
    whole = MemoryStore()
    adopted(whole, propose(whole, before=None), gone)
    intended = whole.find(Release)[0]
    gone.unlink()
    gone.mkdir()
    store.commit(intended)
    store.take("releases")
    path = tmp_path / "CLAUDE.md"
    path.write_bytes(BEFORE)
    assert adopted(store, propose(store), path).number == "r-0002"
    assert [r.step for r in store.find(Release) if r.number == intended.number] == [Step.INTENDED]
    gone.rmdir()
    (closed,) = recover(store, FileSystemLiveFiles())
    assert (closed.number, closed.step) == (intended.number, Step.ABANDONED)


def test_only_one_publishes_at_a_time(store: MemoryStore, path: Path) -> None:
    """While another holds the lock, adopt, reject, undo and recover are Busy and write nothing."""
    draft = propose(store)
    with store.hold("publish"):
        with pytest.raises(Busy):
            adopted(store, draft, path)
        with pytest.raises(Busy):
            reject(draft.id, store=store, clock=FakeClock(), actor="ada", reason="")
        with pytest.raises(Busy):
            undone(store, None)
        with pytest.raises(Busy):
            recover(store, FileSystemLiveFiles())
    assert written(store) == ()


@pytest.mark.parametrize("act", ["adopt", "undo"])
def test_kill_9_at_each_step(tmp_path: Path, act: str) -> None:
    """B56: killed at any step, the file is whole, no lock is left, the next command ends what was begun."""
    script = [sys.executable, publish_builders.__file__, act, str(tmp_path)]
    told = subprocess.run(script, check=True, capture_output=True, text=True).stdout.splitlines()
    ends = [int(line.split()[1]) for line in told]
    assert len(ends) > 15
    assert ends == [-signal.SIGKILL] * (len(ends) - 1) + [0]
    seen = {_after_kill(tmp_path / str(step), act) for step in range(1, len(ends) + 1)}
    # Killed early and killed late, both were there.
    assert seen == {BEFORE, AFTER}


def _after_kill(folder: Path, act: str) -> bytes:
    path = folder / "project" / "CLAUDE.md"
    found = path.read_bytes()
    assert found in {BEFORE, AFTER}
    assert mode(path) == MODE
    store = SqliteStore.open(folder / "home")
    recover(store, FileSystemLiveFiles())
    releases = store.find(Release)
    assert all(sum(r.number == one.number for r in releases) == 2 for one in releases)
    (case,) = drafts(store)
    assert (case.status is Status.PUBLISHED) == (found == AFTER)
    if act == "adopt":
        adopted(store, case.draft, path)
        assert path.read_bytes() == AFTER
    undone(store, case.draft.id)
    assert (path.read_bytes(), mode(path)) == (BEFORE, MODE)
    assert [entry.name for entry in path.parent.iterdir()] == ["CLAUDE.md"]
    store.close()
    return found


@given(
    before=st.none() | st.text(max_size=200).map(str.encode),
    after=st.binary(max_size=200),
    bits=st.sampled_from([0o600, 0o644, 0o755, 0o640]),
)
def test_undo_restores_any_bytes(before: bytes | None, after: bytes, bits: int) -> None:
    """Adopt then undo is the identity on bytes and mode, whatever the text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "CLAUDE.md"
        if before is not None:
            path.write_bytes(before)
            path.chmod(bits)
        store = MemoryStore()
        adopted(store, propose(store, before, after), path, vet=lambda _: ())
        assert path.read_bytes() == after
        undone(store, None)
        if before is None:
            assert not path.exists()
        else:
            assert (path.read_bytes(), mode(path)) == (before, bits)
