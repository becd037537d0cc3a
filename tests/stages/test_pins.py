"""A pinned file is left as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from nightschool.adapters.live_files import FileSystemLiveFiles
from nightschool.core.errors import Busy, NotAllowed
from nightschool.core.pins import Pin
from nightschool.core.ports import Store
from nightschool.core.proposals import Release
from nightschool.stages.pins import pin, pinned, pins, unpin
from nightschool.stages.releases import LOCK
from nightschool.testing.clock import FakeClock
from nightschool.testing.memory_store import MemoryStore
from publish_builders import AFTER, BEFORE, MINE, adopted, codes, propose, proposed, remade, rules, undone


def pin_it(store: Store, path: Path, reason: str = "the team's") -> Pin:
    return pin(
        path,
        store=store,
        live=FileSystemLiveFiles(),
        clock=FakeClock(),
        redact=lambda text: text.replace("hunter2", "[cut]"),
        actor="ada",
        reason=reason,
    )


def unpin_it(store: Store, path: Path) -> Pin | None:
    return unpin(path, store=store, live=FileSystemLiveFiles(), clock=FakeClock(), actor="ada")


def test_nothing_is_adopted_into_a_pinned_file(store: MemoryStore, path: Path) -> None:
    """Adopt and rebase are refused with the reason of the pin and the way out; unpinned, they go on."""
    draft = propose(store)
    pin_it(store, path)
    with pytest.raises(
        NotAllowed, match=r"pinned \(the team's\); `nightschool unpin .*CLAUDE.md`"
    ) as refused:
        adopted(store, draft, path)
    assert codes(refused) == {"pinned"}
    assert (path.read_bytes(), store.find(Release)) == (BEFORE, ())
    part = proposed(store, BEFORE, *rules("use pnpm, not npm", "write tests first"))
    with pytest.raises(NotAllowed) as refused:
        remade(store, part, path, edits=[1])
    assert codes(refused) == {"pinned"}
    unpin_it(store, path)
    adopted(store, draft, path)
    assert path.read_bytes() == AFTER


def test_all_reasons_are_named_with_the_pin(store: MemoryStore, path: Path) -> None:
    """A pin hides no other reason."""
    draft = propose(store)
    pin_it(store, path)
    path.write_bytes(BEFORE + MINE)
    with pytest.raises(NotAllowed) as refused:
        adopted(store, draft, path, actor="")
    assert codes(refused) == {"pinned", "no-actor", "live-changed"}


def test_what_was_adopted_before_can_be_undone(store: MemoryStore, path: Path) -> None:
    """A pin keeps nobody from giving the old bytes back."""
    release = adopted(store, propose(store), path)
    pin_it(store, path)
    undone(store, release.number)
    assert path.read_bytes() == BEFORE


def test_a_file_is_pinned_by_its_real_path(store: MemoryStore, path: Path, tmp_path: Path) -> None:
    """A link pins the file that it leads to; a file that is not there yet can be pinned too."""
    link = tmp_path / "AGENTS.md"
    link.symlink_to(path)
    assert pin_it(store, link).path == str(path)
    assert pinned(store, path) is not None
    absent = tmp_path / "none.md"
    pin_it(store, absent)
    assert [one.path for one in pins(store)] == sorted([str(path), str(absent)])


def test_the_newest_word_counts_and_all_are_kept(store: MemoryStore, path: Path) -> None:
    """Pins are appended, never changed: pinned, unpinned, pinned again; the same word twice is one."""
    first = pin_it(store, path)
    assert pin_it(store, path) == first
    assert unpin_it(store, path) is not None
    assert unpin_it(store, path) is None
    assert pins(store) == ()
    again = pin_it(store, path, "my key is hunter2 ")
    assert (again.reason, pinned(store, path)) == ("my key is [cut]", again)
    assert [(said.number, said.holds) for said in store.find(Pin)] == [
        ("p-0001", True),
        ("p-0002", False),
        ("p-0003", True),
    ]


def test_it_waits_for_the_lock(store: MemoryStore, path: Path) -> None:
    """While another publishes no pin is set: it would not be seen."""
    with store.hold(LOCK):
        for act in (pin_it, unpin_it):
            with pytest.raises(Busy):
                act(store, path)
    assert store.find(Pin) == ()
