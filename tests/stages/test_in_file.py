"""What of an adoption stands is told from the file; what a hand took out or reworded is the person's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nightschool.adapters.live_files import FileSystemLiveFiles
from nightschool.core.errors import UserError
from nightschool.core.proposals import Edit, Release, Status, VerdictKind
from nightschool.rules.memory_block import BEGIN, END, INTRO, apply, parse, without_ours
from nightschool.stages.in_file import InFile, in_file, of_case
from nightschool.stages.releases import StaleLiveFile, dossier
from nightschool.testing.memory_store import MemoryStore
from publish_builders import (
    BEFORE,
    CANDIDATE,
    MOMENT,
    adopted,
    draft_of,
    proposed,
    remade,
    rules,
    safety_of,
    undone,
    verdict_of,
)

PNPM = "use pnpm, not npm"
UV = "use uv, not pip"


def chain(store: MemoryStore, path: Path, *edits: Edit) -> list[Release]:
    return [adopted(store, proposed(store, path.read_bytes(), edit), path) for edit in edits]


def now(store: MemoryStore, release: Release) -> InFile:
    return in_file(release, store, FileSystemLiveFiles())


@pytest.mark.parametrize("by_hand", ["checkout", "reworded", "rule", "file"])
@pytest.mark.parametrize("keep_later", [False, True])
def test_what_a_hand_took_out_is_undone_calmly(
    store: MemoryStore, path: Path, by_hand: str, *, keep_later: bool
) -> None:
    """Taken out by git or by hand, or reworded: it does not stand, the undo of it is written down, and no
    byte of the file is touched. Adopting it again is possible then, on the file as it was."""
    (release,) = chain(store, path, *rules(PNPM))
    assert now(store, release) is InFile.AS_WRITTEN
    written = path.read_bytes()
    match by_hand:
        case "checkout":
            path.write_bytes(BEFORE)
        case "reworded":
            path.write_bytes(written.replace(b"not npm", b"never npm"))
        case "rule":
            path.write_bytes(written.replace(b"- use pnpm, not npm\r\n", b""))
        case "file":
            path.unlink()
    left = path.read_bytes() if path.exists() else None
    assert not now(store, release).stands
    assert of_case(dossier(store, release.draft_id), store, FileSystemLiveFiles()) is now(store, release)
    undo = undone(store, release.number, keep_later=keep_later)
    assert (undo.undoes, undo.before, undo.before_mode) == (release.number, undo.after, undo.after_mode)
    assert (path.read_bytes() if path.exists() else None) == left
    assert dossier(store, release.draft_id).status is Status.ROLLED_BACK
    path.write_bytes(BEFORE)
    assert adopted(store, dossier(store, release.draft_id).draft, path).number == "r-0003"


def test_what_was_taken_out_can_be_adopted_again(store: MemoryStore, path: Path) -> None:
    """That it was taken out is written down first; on a file that is another by now, it can be made anew."""
    (release,) = chain(store, path, *rules(PNPM))
    draft = dossier(store, release.draft_id).draft
    path.write_bytes(BEFORE + b"mine\r\n")
    with pytest.raises(StaleLiveFile):
        adopted(store, draft, path)
    assert dossier(store, draft.id).status is Status.ROLLED_BACK
    made = remade(store, draft, path)
    assert made.made_from == draft.id
    path.write_bytes(BEFORE)
    assert parse(FileSystemLiveFiles().read(Path(adopted(store, draft, path).path)).content).rules == (PNPM,)


def test_the_reworded_rule_stays_and_the_others_go(store: MemoryStore, path: Path) -> None:
    """The block says "edit freely": a rule that a hand changed is released from the undo of its edits."""
    edits = rules(PNPM, UV)
    release = adopted(store, proposed(store, path.read_bytes(), *edits), path)
    path.write_bytes(path.read_bytes().replace(b"not npm", b"never npm"))
    assert now(store, release) is InFile.PARTLY
    assert now(store, release).stands
    with pytest.raises(StaleLiveFile) as stale:
        undone(store, release.number)
    assert stale.value.reasons == ()
    undone(store, release.number, keep_later=True)
    assert parse(path.read_bytes()).rules == ("use pnpm, never npm",)


def test_a_later_adoption_hides_no_hand(store: MemoryStore, path: Path) -> None:
    """A rule that was out of the file when the next was adopted does not stand; one that the next replaced
    was taken out by no hand. What is undone without a byte is in nobody's way."""
    (first,) = chain(store, path, *rules(PNPM))
    path.write_bytes(BEFORE)
    (second,) = chain(store, path, *rules(UV))
    assert (now(store, first), now(store, second)) == (InFile.TAKEN_OUT, InFile.AS_WRITTEN)
    assert undone(store, first.number).before == second.after
    upon = Edit(op="replace", anchor=UV, rule="use uv", moment=MOMENT)
    (third,) = chain(store, path, upon)
    assert (now(store, second), now(store, third)) == (InFile.REPLACED, InFile.AS_WRITTEN)
    undone(store, third.number)
    undone(store, second.number)
    assert path.read_bytes() == BEFORE


def test_text_right_behind_the_block_gets_its_place_back(store: MemoryStore, path: Path) -> None:
    """The empty line that was put before the block goes with it."""
    (release,) = chain(store, path, *rules(PNPM))
    path.write_bytes(path.read_bytes() + b"* mine\r\n")
    undone(store, release.number, keep_later=True)
    assert path.read_bytes() == BEFORE + b"* mine\r\n"


def test_no_folder_is_made_for_a_project_that_is_away(store: MemoryStore, tmp_path: Path) -> None:
    """Its folder was moved: adopting, making anew and undoing say how to go on, and write nothing."""
    project = tmp_path / "old"
    file = project / "CLAUDE.md"
    project.mkdir()
    file.write_bytes(BEFORE)
    draft = draft_of(store, BEFORE, apply(BEFORE, rules(PNPM)).content)
    draft = replace(draft, target=replace(draft.target, project=str(project)))
    store.commit(CANDIDATE, draft, safety_of(draft), verdict_of(draft, VerdictKind.ACCEPT))
    release = adopted(store, draft, file)
    project.rename(tmp_path / "new")
    assert now(store, release) is InFile.AWAY
    for keep_later in (False, True):
        with pytest.raises(UserError, match="ln -s NEW"):
            undone(store, release.number, keep_later=keep_later)
    assert not project.exists()
    project.symlink_to(tmp_path / "new")
    undone(store, release.number)
    assert (tmp_path / "new/CLAUDE.md").read_bytes() == BEFORE
    project.unlink()
    with pytest.raises(UserError, match="ln -s NEW"):
        adopted(store, draft, file)
    with pytest.raises(UserError, match="ln -s NEW"):
        remade(store, draft, file)
    assert not project.exists()


def test_what_a_person_wrote_between_the_markers_outlives_them() -> None:
    """Without ours no marker is left, and each line of a person stays where it was."""
    lines = ["# Mine", "", BEGIN, INTRO, "- ours", "a note", "- theirs", END, "behind"]
    content = "\n".join(lines).encode()
    assert without_ours(content, {"ours"}) == b"# Mine\n\na note\n- theirs\nbehind"
    assert without_ours(content, {"ours", "theirs", "a note"}) == b"# Mine\n\na note\nbehind"
