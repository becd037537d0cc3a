"""Proposals for skills at the live file: conflicts, anew on what is there now, and out of what came later."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nightschool.adapters.live_files import FileSystemLiveFiles
from nightschool.core.proposals import Draft, Edit
from nightschool.rules.skill_body import apply
from nightschool.stages.releases import StaleLiveFile
from nightschool.stages.undo import undo
from nightschool.testing.memory_store import MemoryStore
from publish_builders import (
    CANDIDATE,
    LATER,
    MOMENT,
    adopted,
    draft_of,
    remade,
    safety_of,
    undone,
    verdict_of,
)
from skill_builders import BODY, HEAD

OLD = "All data lies in `data/`."
EDITS = (
    Edit(op="add", rule="Close files.", moment=MOMENT),
    Edit(op="replace", rule="All data lies in `var/`.", anchor=OLD, moment=MOMENT),
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "notes" / "SKILL.md"
    path.parent.mkdir()
    path.write_bytes(HEAD + BODY)
    return path


def drafted(store: MemoryStore, before: bytes, *edits: Edit, name: str = "notes") -> Draft:
    made = draft_of(store, before, apply(before, edits).content)
    target = replace(made.target, place=f"project/.claude/skills/{name}/SKILL.md")
    draft = replace(made, target=target, edits=edits)
    store.commit(CANDIDATE, draft, safety_of(draft), verdict_of(draft))
    return draft


def test_a_skill_that_was_changed_since_is_not_overwritten(file: Path) -> None:
    """B45: the three versions are told and nothing is written; anew, the same edits stand on
    what is there now, and the head of today."""
    store = MemoryStore()
    draft = drafted(store, HEAD + BODY, *EDITS)
    now = HEAD.replace(b"Paths: all", b"Paths: of all data") + b"# New\r\n\r\n" + BODY
    file.write_bytes(now)
    with pytest.raises(StaleLiveFile) as stale:
        adopted(store, draft, file)
    assert (stale.value.base, stale.value.live, file.read_bytes()) == (HEAD + BODY, now, now)
    assert stale.value.reasons == ()
    anew = remade(store, draft, file)
    assert store.blob(anew.after) == apply(now, EDITS).content
    assert anew.target == draft.target
    file.write_bytes(now.replace(OLD.encode(), b"It moved."))
    with pytest.raises(StaleLiveFile) as lost:
        remade(store, draft, file)
    assert [code for code, _ in lost.value.reasons] == ["edit-no-match"]


def test_one_of_two_skills_is_adopted_and_the_other_stays(file: Path, tmp_path: Path) -> None:
    """B44: each draft starts from its own file; adopting one never writes the other's text."""
    store = MemoryStore()
    other = tmp_path / "other.md"
    other.write_bytes(b"---\nname: other\n---\n# Other\n")
    drafted(store, other.read_bytes(), EDITS[0], name="other")
    adopted(store, drafted(store, HEAD + BODY, *EDITS), file)
    assert file.read_bytes() == apply(HEAD + BODY, EDITS).content
    assert other.read_bytes() == b"---\nname: other\n---\n# Other\n"


def test_edits_of_a_skill_are_taken_out_of_what_came_later(file: Path) -> None:
    """With --keep-later a person's line comes back where it stood, and what was added since stays."""
    store = MemoryStore()
    release = adopted(store, drafted(store, HEAD + BODY, *EDITS), file)
    later = apply(file.read_bytes(), [Edit(op="add", rule="Name the units.", moment=MOMENT)]).content
    file.write_bytes(later)
    with pytest.raises(StaleLiveFile):
        undone(store, None)
    undo(release.number, store=store, live=FileSystemLiveFiles(), clock=LATER, actor="ada", keep_later=True)
    expected = apply(HEAD + BODY, [Edit(op="add", rule="Name the units.", moment=MOMENT)]).content
    assert file.read_bytes() == expected
