"""A draft made anew: on a file that was changed since, or of a part of its edits."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import publish_builders
from nightschool.adapters.sqlite_store import SqliteStore
from nightschool.core.errors import Busy, NotAllowed, UserError
from nightschool.core.proposals import Draft, Edit, Release, SafetyReport, Status, VerdictKind
from nightschool.rules.memory_block import apply, parse
from nightschool.stages.publish import reject
from nightschool.stages.releases import LOCK, StaleLiveFile, dossier, drafts
from nightschool.testing.clock import FakeClock
from nightschool.testing.memory_store import MemoryStore
from publish_builders import (
    BEFORE,
    MINE,
    MOMENT,
    adopted,
    codes,
    proposed,
    remade,
    rules,
    undone,
    verdict_of,
)

PNPM, TESTS, SORT = "use pnpm, not npm", "write tests first", "sort imports"


def held(path: Path) -> tuple[str, ...]:
    return parse(path.read_bytes()).rules


def test_several_drafts_on_one_file(store: MemoryStore, path: Path) -> None:
    """After one is adopted the other is stale; made anew it holds both, and needs a reason of its own."""
    one, other = (proposed(store, BEFORE, *rules(text)) for text in (PNPM, TESTS))
    adopted(store, one, path)
    with pytest.raises(StaleLiveFile) as stale:
        adopted(store, other, path)
    assert stale.value.reasons == ()
    made = remade(store, other, path)
    assert (made.id == other.id, made.made_from, made.edits) == (False, other.id, other.edits)
    assert dossier(store, made.id).status is Status.SUGGESTED
    with pytest.raises(NotAllowed) as refused:
        adopted(store, made, path)
    assert codes(refused) == {"waiver-missing"}
    assert other.id in str(refused.value)
    assert held(path) == (PNPM,)
    adopted(store, made, path, reason="I say both")
    assert held(path) == (PNPM, TESTS)


def test_text_outside_of_the_block_is_no_conflict(store: MemoryStore, path: Path) -> None:
    """What a person wrote by hand stays as it is, byte for byte, before the block and behind it."""
    first = proposed(store, BEFORE, *rules(PNPM))
    adopted(store, first, path)
    second = proposed(store, path.read_bytes(), *rules(TESTS))
    by_hand = MINE + path.read_bytes().removeprefix(b"\xef\xbb\xbf") + MINE
    path.write_bytes(by_hand)
    adopted(store, remade(store, second, path), path, reason="yes")
    block = parse(path.read_bytes())
    assert block.rules == (PNPM, TESTS)
    assert (block.before.startswith(MINE), block.after) == (True, MINE)


def test_the_old_one_keeps_its_certificate(store: MemoryStore, path: Path) -> None:
    """Evidence binds to the digest: once the file is again what it was, the old draft needs no reason."""
    one, other = (proposed(store, BEFORE, *rules(text)) for text in (PNPM, TESTS))
    adopted(store, one, path)
    remade(store, other, path)
    undone(store, one.id)
    adopted(store, other, path)
    assert held(path) == (TESTS,)


def test_an_exam_certifies_what_was_made_anew(store: MemoryStore, path: Path) -> None:
    """With a verdict on its own digest it is adopted like any other, and by a rejection never."""
    old = proposed(store, BEFORE, *rules(PNPM))
    path.write_bytes(BEFORE + MINE)
    made = remade(store, old, path)
    store.commit(verdict_of(made, VerdictKind.REJECT))
    with pytest.raises(NotAllowed) as refused:
        adopted(store, made, path, reason="all the same")
    assert codes(refused) >= {"verdict-reject"}
    store.commit(replace(verdict_of(made), cycle="cycle-2"))
    adopted(store, made, path)
    assert held(path) == (PNPM,)


def test_a_lost_place_is_a_conflict_with_three_versions(store: MemoryStore, path: Path) -> None:
    """An edit whose rule is gone or already there: base, live and proposed are shown, nothing is made."""
    start = apply(BEFORE, rules(PNPM, SORT)).content
    path.write_bytes(start)
    replacing = Edit(op="replace", anchor=SORT, rule="sort imports by length", moment=MOMENT)
    late = proposed(store, start, *rules(TESTS), replacing)
    gone = Edit(op="delete", anchor=SORT, moment=MOMENT)
    adopted(store, proposed(store, start, gone, *rules(TESTS)), path)
    with pytest.raises(StaleLiveFile) as stale:
        remade(store, late, path)
    assert [code for code, _ in stale.value.reasons] == ["edit-already-there", "edit-no-match"]
    assert (stale.value.base, stale.value.live) == (start, path.read_bytes())
    assert stale.value.proposed == store.blob(late.after)
    with pytest.raises(StaleLiveFile) as again:
        adopted(store, late, path)
    assert again.value.reasons == stale.value.reasons
    assert len(store.find(Draft)) == 2


def test_a_damaged_block_is_named(store: MemoryStore, path: Path) -> None:
    """A block that a hand damaged is no place for an edit; the reason tells which line, and the way out."""
    draft = proposed(store, BEFORE, *rules(PNPM))
    path.write_bytes(BEFORE + b"<!-- nightschool:end -->\n")
    with pytest.raises(StaleLiveFile) as stale:
        remade(store, draft, path)
    ((code, text),) = stale.value.reasons
    assert code == "block-damaged"
    assert "line 4" in text


def test_what_fits_is_not_made_anew(store: MemoryStore, path: Path) -> None:
    """A draft that fits the file is given as it is, and a second time the one that was made before."""
    draft = proposed(store, BEFORE, *rules(PNPM))
    assert remade(store, draft, path) == draft
    path.write_bytes(BEFORE + MINE)
    made = remade(store, draft, path)
    assert remade(store, draft, path) == made
    assert len(store.find(Draft)) == 2
    assert len(store.find(SafetyReport, owner=made.digest)) == 1


def test_a_part_of_a_draft(store: MemoryStore, path: Path) -> None:
    """The edits that were named, alone: a draft of its own, without the evidence of the whole."""
    whole = proposed(store, BEFORE, *rules(PNPM, TESTS, SORT))
    part = remade(store, whole, path, edits=[3, 1])
    assert [edit.rule for edit in part.edits] == [PNPM, SORT]
    with pytest.raises(NotAllowed) as refused:
        adopted(store, part, path)
    assert codes(refused) == {"waiver-missing"}
    adopted(store, part, path, reason="the second is too much")
    assert held(path) == (PNPM, SORT)
    assert remade(store, proposed(store, path.read_bytes(), *rules(TESTS)), path, edits=[1]).made_from is None


def test_all_edits_of_a_draft_are_the_draft(store: MemoryStore, path: Path) -> None:
    """Whoever names each of them gets the draft itself, with its evidence."""
    whole = proposed(store, BEFORE, *rules(PNPM, TESTS))
    assert remade(store, whole, path, edits=[2, 1]) == whole


def test_an_edit_that_needs_another_is_refused_alone(store: MemoryStore, path: Path) -> None:
    """A part that cannot stand by itself is refused by the number of its edit; numbers are checked."""
    changing = Edit(op="replace", anchor=PNPM, rule="use pnpm everywhere", moment=MOMENT)
    whole = proposed(store, BEFORE, *rules(PNPM), changing)
    with pytest.raises(NotAllowed, match="edit 1: no rule reads exactly") as refused:
        remade(store, whole, path, edits=[2])
    assert codes(refused) == {"edit-no-match"}
    for number in (0, 3):
        with pytest.raises(UserError, match=f"there is no edit {number}: {whole.id} has 2"):
            remade(store, whole, path, edits=[number])


def test_a_part_of_a_stale_draft(store: MemoryStore, path: Path) -> None:
    """Where one edit lost its place the others can be taken on the file as it is."""
    whole = proposed(store, BEFORE, *rules(PNPM, TESTS))
    adopted(store, proposed(store, BEFORE, *rules(PNPM)), path)
    with pytest.raises(StaleLiveFile):
        remade(store, whole, path)
    adopted(store, remade(store, whole, path, edits=[2]), path, reason="the first is there")
    assert held(path) == (PNPM, TESTS)


def test_two_names_of_one_file_are_one_file(store: MemoryStore, path: Path, tmp_path: Path) -> None:
    """Drafts for a file and for a link to it are made stale by each other, and made anew through the link."""
    link = tmp_path / "AGENTS.md"
    link.symlink_to("project/CLAUDE.md")
    one, other = (proposed(store, BEFORE, *rules(text)) for text in (PNPM, TESTS))
    first = adopted(store, one, path)
    with pytest.raises(StaleLiveFile):
        adopted(store, other, link)
    adopted(store, remade(store, other, link), link, reason="both")
    assert (held(path), link.is_symlink()) == ((PNPM, TESTS), True)
    undone(store, first.number, keep_later=True)
    assert held(path) == (TESTS,)


def test_nothing_is_made_from_what_was_turned_down(store: MemoryStore, path: Path) -> None:
    """A rejected, failed or published draft is no source; what was taken back is."""
    draft = proposed(store, BEFORE, *rules(PNPM))
    adopted(store, draft, path)
    path.write_bytes(path.read_bytes() + MINE)
    with pytest.raises(NotAllowed) as refused:
        remade(store, draft, path)
    assert codes(refused) == {"wrong-state", "edit-already-there"}
    undone(store, draft.id, keep_later=True)
    assert remade(store, draft, path).made_from == draft.id
    other = proposed(store, BEFORE, *rules(TESTS))
    reject(other.id, store=store, clock=FakeClock(), actor="ada", reason="no")
    with pytest.raises(NotAllowed) as refused:
        remade(store, other, path)
    assert codes(refused) == {"wrong-state"}


def test_what_is_made_anew_is_looked_at_anew(store: MemoryStore, path: Path) -> None:
    """The safety check is made on the new bytes; with a finding no draft is kept."""
    key = "sk_live_4eC39HqLyjWDarjtT1zdp7dc"
    draft = proposed(store, BEFORE, *rules(f"pay with {key}"))
    path.write_bytes(BEFORE + MINE)
    with pytest.raises(NotAllowed) as refused:
        remade(store, draft, path)
    assert codes(refused) == {"unsafe-secret"}
    assert key not in str(refused.value)
    assert store.find(Draft) == (draft,)


def test_it_waits_for_the_lock(store: MemoryStore, path: Path) -> None:
    """While another publishes nothing is made."""
    draft = proposed(store, BEFORE, *rules(PNPM))
    path.write_bytes(BEFORE + MINE)
    with store.hold(LOCK), pytest.raises(Busy):
        remade(store, draft, path)
    assert store.find(Draft) == (draft,)


def test_kill_9_leaves_a_whole_draft_or_none(tmp_path: Path) -> None:
    """Killed at any step: the file is untouched, no draft lacks its report, the next one makes it."""
    script = [sys.executable, publish_builders.__file__, "rebase", str(tmp_path)]
    told = subprocess.run(script, check=True, capture_output=True, text=True).stdout.splitlines()
    ends = [int(line.split()[1]) for line in told]
    assert len(ends) > 8
    assert ends == [-signal.SIGKILL] * (len(ends) - 1) + [0]
    counts = set()
    for step in range(1, len(ends) + 1):
        path = tmp_path / str(step) / "project" / "CLAUDE.md"
        assert path.read_bytes() == BEFORE + MINE
        store = SqliteStore.open(tmp_path / str(step) / "home")
        cases = drafts(store)
        counts.add(len(cases))
        assert all(case.safety for case in cases)
        made = remade(store, cases[0].draft, path)
        assert len(drafts(store)) == 2
        adopted(store, made, path, reason="yes")
        assert held(path) == (PNPM,)
        assert len(store.find(Release)) == 2
        store.close()
    assert counts == {1, 2}
