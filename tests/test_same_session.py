"""The same session in several files is one session, in whatever order the files are read."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import permutations
from pathlib import Path

import pytest

from contracts.test_sources import made
from conversations import agent, bash, human, session
from nightschool.core.sessions import Roots, Session
from nightschool.rules.sessions import without_copies
from nightschool.stages.harvest import HarvestRequest, harvest
from nightschool.testing.clock import FakeClock
from nightschool.testing.memory_store import MemoryStore
from samples import SAMPLES
from transcripts import CLAUDE_ID, claude, write_rows

NOW = datetime(2026, 3, 30, 12, tzinfo=UTC)
PROMPTS = ("add a test", "use pnpm, not npm", "commit")


def copies() -> list[Session]:
    """A session, what was saved of it earlier, and a copy that lacks its middle and knows less of a call."""
    unknown = bash("make", result="done")
    whole = session("s", human("go"), agent("Going.", unknown), human("on"), agent("Done."), human("thanks"))
    known = replace(whole.turns[1], calls=())
    ends = [turn.at for turn in whole.turns]
    return [
        replace(whole, path="/a", warnings=("a",)),
        replace(whole, path="/b", turns=whole.turns[:2], ended_at=ends[1], project="/moved"),
        replace(whole, path="/c", turns=(whole.turns[0], known, *whole.turns[3:4]), ended_at=ends[3]),
        replace(whole, path="/d", turns=whole.turns[:3], ended_at=ends[2], project=None, branch=None),
    ]


@pytest.mark.parametrize("order", list(permutations(range(4))), ids=str)
def test_copies_come_together_in_any_order(order: Sequence[int]) -> None:
    """The turns of all, each once and in their time; path and folder are those of the copy that ends last."""
    found = copies()
    joined = found[order[0]]
    for number in order[1:]:
        joined = joined.extended(found[number])
    assert joined == found[0]


def at_once(home: Path, files: Sequence[Path], names: Sequence[str]) -> list[Session]:
    """All that a harvest gives which reads these files in their order."""
    for age, file in enumerate(files):
        then = (NOW - timedelta(hours=age + 1)).timestamp()
        os.utime(file, (then, then))
    store, sources = MemoryStore(), {name: made(name) for name in names}
    request = HarvestRequest(roots=Roots(home=str(home)), everything=True)
    report = harvest(request, sources=sources, store=store, clock=FakeClock(NOW, timedelta(0)))
    assert report.left_out == ()
    return sorted(store.find(Session), key=lambda one: one.id)


def opencode(home: Path) -> list[Path]:
    """B11: a tree, and a database that was made of it and went on."""
    tree, database = (home / SAMPLES["opencode"][kind].place for kind in ("tree", "database"))
    for path, kind, prompts in ((tree, "tree", PROMPTS[:2]), (database, "database", PROMPTS)):
        path.parent.mkdir(parents=True, exist_ok=True)
        SAMPLES["opencode"][kind].write(path, prompts)
    return [tree, database]


def codex(home: Path) -> list[Path]:
    """B58: a rollout, and an older copy of it in the archive."""
    live = home / SAMPLES["codex"]["lines"].place
    kept = home / ".codex/archived_sessions" / live.name
    for path, prompts in ((live, PROMPTS), (kept, PROMPTS[:2])):
        path.parent.mkdir(parents=True)
        SAMPLES["codex"]["lines"].write(path, prompts)
    return [live, kept]


def gemini(home: Path) -> list[Path]:
    """B13: saves of one session as documents, and as lines of a later version."""
    found = []
    for number, kind in enumerate(("documents", "documents", "lines")):
        place = home / SAMPLES["gemini"][kind].place
        path = place.with_stem(f"session-{number}")
        path.parent.mkdir(parents=True, exist_ok=True)
        SAMPLES["gemini"][kind].write(path, PROMPTS[: number + 1])
        found.append(path)
    return found


@pytest.mark.parametrize("lay", [opencode, codex, gemini], ids=lambda lay: lay.__name__)
def test_a_session_in_several_stores_counts_once(lay: Callable[[Path], list[Path]], tmp_path: Path) -> None:
    """Whichever of its files is the newest: one session with each turn once, and the same one."""
    files = lay(tmp_path)
    gave = [at_once(tmp_path, order, [lay.__name__]) for order in permutations(files)]
    assert [len(found) for found in gave] == [1] * len(gave)
    assert all([turn.text for turn in one.human_turns] == list(PROMPTS) for (one,) in gave)
    assert all(found == gave[0] for found in gave)


@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
def test_forks_and_resumes_count_once_in_any_order(order: Sequence[int], tmp_path: Path) -> None:
    """Rows that a fork copied keep their ids: side by side each is counted with the session it began in."""
    rows = [claude("user", 1, "go"), claude("assistant", 2, "Done."), claude("user", 3, "on")]
    folder = tmp_path / ".claude/projects/-p"
    names = [f"{CLAUDE_ID[:-1]}{number}" for number in range(3)]
    files = [
        write_rows(folder / f"{names[0]}.jsonl", rows),
        write_rows(folder / f"{names[1]}.jsonl", [*rows, claude("user", 4, "this way")]),
        write_rows(folder / f"{names[2]}.jsonl", [*rows[:2], claude("user", 5, "that way")]),
    ]
    found = at_once(tmp_path, [files[number] for number in order], ["claude-code"])
    kept = without_copies([found[number] for number in order])
    said = sorted(turn.text for one in kept for turn in one.human_turns)
    assert said == ["go", "on", "that way", "this way"]
