"""Undo in any order: old bytes, or a refusal; asked for, one release's edits out of what came later."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import publish_builders
from nightschool.adapters.live_files import FileSystemLiveFiles
from nightschool.adapters.sqlite_store import SqliteStore
from nightschool.core.errors import NotAllowed
from nightschool.core.proposals import Edit, Release, Status, Step
from nightschool.core.values import digest_bytes
from nightschool.rules.memory_block import apply, parse
from nightschool.rules.reversal import reversed_edits
from nightschool.stages.releases import StaleLiveFile, dossier, drafts, kept_later, recover
from nightschool.testing.memory_store import MemoryStore
from publish_builders import BEFORE, MINE, MODE, MOMENT, adopted, codes, mode, proposed, rules, undone

PNPM, TESTS, SORT = "use pnpm, not npm", "write tests first", "sort imports"


def held(path: Path) -> tuple[str, ...]:
    return parse(path.read_bytes()).rules


def chain(store: MemoryStore, path: Path, *edits: Edit) -> list[Release]:
    """One release for each edit, each upon the last."""
    return [adopted(store, proposed(store, path.read_bytes(), edit), path) for edit in edits]


def test_an_earlier_one_is_taken_out_and_the_later_stay(store: MemoryStore, path: Path) -> None:
    """Plain undo refuses and names both ways; with the later ones kept, its edits alone are gone."""
    first, second, third = chain(store, path, *rules(PNPM, TESTS, SORT))
    with pytest.raises(NotAllowed, match=f"{third.number}.*{second.number}.*--keep-later") as refused:
        undone(store, first.number)
    assert codes(refused) == {"built-upon"}
    back = undone(store, first.number, keep_later=True)
    assert held(path) == (TESTS, SORT)
    assert path.read_bytes().startswith(BEFORE)
    assert mode(path) == MODE
    assert (back.undoes, back.before, back.after) == (
        first.number,
        third.after,
        digest_bytes(path.read_bytes()),
    )
    assert kept_later(back, store.find(Release))
    assert dossier(store, first.draft_id).status is Status.ROLLED_BACK
    assert dossier(store, third.draft_id).status is Status.PUBLISHED


def test_all_can_be_taken_out_in_any_order(path: Path) -> None:
    """Whatever the order, in the end the file holds its old bytes again."""
    start = path.read_bytes()
    for order in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
        store = MemoryStore()
        releases = chain(store, path, *rules(PNPM, TESTS, SORT))
        for place in order:
            undone(store, releases[place].number, keep_later=True)
        assert (path.read_bytes(), mode(path)) == (start, MODE)


def test_a_file_that_we_made_is_removed_with_its_last_rule(store: MemoryStore, tmp_path: Path) -> None:
    """Where there was no file before the first, there is none after the last was taken out."""
    path = tmp_path / "AGENTS.md"
    first = adopted(store, proposed(store, None, *rules(PNPM)), path)
    (second,) = chain(store, path, *rules(TESTS))
    undone(store, first.number, keep_later=True)
    assert held(path) == (TESTS,)
    undone(store, second.number, keep_later=True)
    assert not path.exists()


def test_what_is_kept_cannot_be_given_its_old_bytes(store: MemoryStore, path: Path) -> None:
    """The old bytes of the later one would bring back what was taken out: refused, and said why."""
    first, second = chain(store, path, *rules(PNPM, TESTS))
    back = undone(store, first.number, keep_later=True)
    with pytest.raises(NotAllowed, match=f"{back.number}, an undo that kept this") as refused:
        undone(store, second.number)
    assert codes(refused) == {"built-upon"}
    undone(store, second.number, keep_later=True)
    assert path.read_bytes() == BEFORE


def test_words_written_by_hand_stay(store: MemoryStore, path: Path) -> None:
    """A file that was edited by hand keeps the hand's words; plain undo still refuses."""
    (release,) = chain(store, path, *rules(PNPM))
    path.write_bytes(path.read_bytes() + MINE)
    with pytest.raises(StaleLiveFile):
        undone(store, release.number)
    undone(store, release.number, keep_later=True)
    assert held(path) == ()
    assert path.read_bytes().endswith(MINE)
    assert path.read_bytes().startswith(BEFORE)


def test_where_plain_undo_can_it_is_plain(store: MemoryStore, path: Path) -> None:
    """With nothing later to keep, the very bytes and the mode come back."""
    (release,) = chain(store, path, *rules(PNPM))
    back = undone(store, release.number, keep_later=True)
    assert (path.read_bytes(), mode(path)) == (BEFORE, MODE)
    assert not kept_later(back, store.find(Release))


def test_replaced_and_deleted_rules_come_back_in_their_words(store: MemoryStore, path: Path) -> None:
    """A rule that an edit took away returns as it stood in the file, several lines of it too."""
    long = "sort imports\nand group them"
    path.write_bytes(apply(BEFORE, rules(long, TESTS)).content)
    replacing = Edit(op="replace", anchor="sort  imports and group them", rule=SORT, moment=MOMENT)
    deleting = Edit(op="delete", anchor=TESTS, moment=MOMENT)
    first = adopted(store, proposed(store, path.read_bytes(), replacing, deleting), path)
    chain(store, path, *rules(PNPM))
    undone(store, first.number, keep_later=True)
    assert held(path) == (long, PNPM, TESTS)


def test_a_block_that_nobody_touched_gets_its_old_bytes_back(store: MemoryStore, path: Path) -> None:
    """Edits outside of the block stay byte for byte, and in it each rule is back where and as it stood, with
    what a person had written between them; plain undo says that only text outside was changed."""
    start = apply(BEFORE, rules("sort imports\nand group them", TESTS, "keep it short")).content
    start = start.replace(b"- write", b"\r\na note of mine\r\n-  write")
    path.write_bytes(start)
    edits = (
        Edit(op="replace", anchor="sort imports and group them", rule=SORT, moment=MOMENT),
        Edit(op="delete", anchor=TESTS, moment=MOMENT),
    )
    (release,) = (adopted(store, proposed(store, start, *edits), path),)
    path.write_bytes(b"# New title\n" + path.read_bytes() + MINE)
    with pytest.raises(StaleLiveFile) as stale:
        undone(store, release.number)
    assert (stale.value.outside, stale.value.reasons) == (True, ())
    undone(store, release.number, keep_later=True)
    assert path.read_bytes() == b"# New title\n" + start + MINE
    assert mode(path) == MODE


def test_in_a_block_that_was_edited_the_edits_alone_go(store: MemoryStore, path: Path) -> None:
    """A hand in the block, at other lines than ours: what it wrote stays, and it is not called untouched."""
    (release,) = chain(store, path, *rules(PNPM))
    path.write_bytes(path.read_bytes().replace(b"<!-- nightschool:end", b"- mine\r\n<!-- nightschool:end"))
    with pytest.raises(StaleLiveFile) as stale:
        undone(store, release.number)
    assert (stale.value.outside, stale.value.reasons) == (False, ())
    undone(store, release.number, keep_later=True)
    assert held(path) == ("mine",)


def test_what_was_built_upon_is_refused_by_name(store: MemoryStore, path: Path) -> None:
    """A later release that changed the same rule is named as the one to undo first; others are not."""
    upon = Edit(op="replace", anchor=PNPM, rule="use pnpm everywhere", moment=MOMENT)
    first, _, third = chain(store, path, *rules(PNPM, TESTS), upon)
    was = path.read_bytes()
    with pytest.raises(NotAllowed) as refused:
        undone(store, first.number, keep_later=True)
    ((code, text),) = refused.value.reasons
    assert code == "built-upon"
    assert f"undo {third.number} ({third.draft_id}) first" in text
    assert path.read_bytes() == was
    undone(store, third.number)
    undone(store, first.number, keep_later=True)
    assert held(path) == (TESTS,)


texts = st.lists(
    st.text(alphabet="abcdef ghi", min_size=1, max_size=12)
    .map(lambda text: " ".join(text.split()))
    .filter(bool),
    min_size=1,
    max_size=5,
    unique=True,
)


@given(before=st.none() | st.sampled_from([b"", b"# Mine", b"# Mine\n", BEFORE]), old=texts, new=texts)
def test_reversed_edits_take_edits_back(before: bytes | None, old: list[str], new: list[str]) -> None:
    """Made and reversed, edits leave the rules that were there, whatever they were."""
    start = apply(before, rules(*old)).content
    deleting = Edit(op="delete", anchor=old[0], moment=MOMENT)
    applied = apply(start, [deleting, *rules(*new)])
    back = apply(applied.content, reversed_edits(applied.taken, parse(start).rules))
    assert back.refused == ()
    assert set(parse(back.content).rules) == set(parse(start).rules)


def test_kill_9_at_each_step(tmp_path: Path) -> None:
    """Killed at any step the file is whole, and the next command knows what became of it."""
    script = [sys.executable, publish_builders.__file__, "keep", str(tmp_path)]
    told = subprocess.run(script, check=True, capture_output=True, text=True).stdout.splitlines()
    ends = [int(line.split()[1]) for line in told]
    assert len(ends) > 12
    assert ends == [-signal.SIGKILL] * (len(ends) - 1) + [0]
    after = apply(BEFORE, rules(PNPM)).content + MINE
    seen = set()
    for step in range(1, len(ends) + 1):
        path = tmp_path / str(step) / "project" / "CLAUDE.md"
        seen.add(path.read_bytes() == after)
        store = SqliteStore.open(tmp_path / str(step) / "home")
        recover(store, FileSystemLiveFiles())
        (case,) = drafts(store)
        assert (case.status is Status.PUBLISHED) == (path.read_bytes() == after)
        undone(store, case.draft.id, keep_later=True)
        assert (held(path), path.read_bytes().endswith(MINE), mode(path)) == ((), True, MODE)
        done = [release for release in store.find(Release) if release.step is Step.DONE]
        assert len(done) == 2
        store.close()
    assert seen == {True, False}
