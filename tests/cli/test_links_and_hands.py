"""What is said of a memory file that is a link, that may not be written, or that a hand changed."""

from __future__ import annotations

from contextlib import chdir

import pytest

from desks import Desk
from nightschool.rules.memory_block import without_rules
from publish_builders import BEFORE, MINE, rules

PNPM, TESTS = "use pnpm, not npm", "write tests first"


def linked(desk: Desk, to: str) -> str:
    """Makes the memory file a link; gives how it is called then."""
    real = desk.file.parent / to
    desk.file.rename(real)
    desk.file.symlink_to(real)
    shown = real.name if real.parent == desk.file.parent else real.resolve()
    return f"{desk.file} (a link to {shown})"


def test_a_link_is_called_one_way_everywhere(desk: Desk) -> None:
    """By the name that the agent reads, with what it leads to."""
    name = linked(desk, "AGENTS.md")
    draft = desk.propose(*rules(PNPM))
    for command in (
        ("show", draft.id),
        ("proposals",),
        ("adopt", draft.id),
        ("releases",),
        ("undo", draft.id),
    ):
        assert name in " ".join(desk.says(*command).split()), command
    assert name in desk.says("pin", str(desk.file))
    assert name in desk.says("unpin", str(desk.file))
    assert desk.file.is_symlink()


def test_a_link_out_of_the_project_is_asked_about(desk: Desk) -> None:
    """What others may read too is written only with a word of its own; show says so."""
    linked(desk, "../elsewhere.md")
    draft = desk.propose(*rules(PNPM))
    assert "is a link that leads out of the project" in desk.says("show", draft.id)
    refused = desk.says("adopt", draft.id, code=4)
    assert "elsewhere.md, outside of the project?" in refused
    assert "--yes" in refused
    assert not desk.held
    desk.says("adopt", draft.id, "--yes")
    assert desk.held == (PNPM,)


def test_a_read_only_file_is_left_as_it_is(desk: Desk) -> None:
    """Whoever may write it all the same: adopt and undo refuse, with what lets it be changed."""
    draft = desk.propose(*rules(PNPM))
    desk.file.chmod(0o444)
    assert "is read-only (mode 0444)" in desk.says("show", draft.id)
    error = desk.gives("adopt", draft.id, code=4)["error"]
    assert [reason["code"] for reason in error["reasons"]] == ["read-only"]
    assert f"`chmod u+w '{desk.file}'` lets it be changed" in error["text"]
    assert desk.file.read_bytes() == BEFORE
    desk.file.chmod(0o644)
    desk.says("adopt", draft.id)
    desk.file.chmod(0o444)
    assert "chmod 644" in desk.says("undo", draft.id, code=4)
    assert desk.held == (PNPM,)


def test_a_file_that_is_no_text_is_not_changed_unseen(desk: Desk) -> None:
    """No diff could show what is written: rebase and adopt refuse, with the way out."""
    draft = desk.propose(*rules(PNPM))
    desk.file.write_bytes(BEFORE + b"caf\xe9\n")
    told = desk.says("rebase", draft.id, code=4)
    assert "is not UTF-8" in told
    assert "save it as UTF-8 first" in told
    latin = desk.propose(*rules(TESTS))
    assert "is not UTF-8" in desk.says("adopt", latin.id, code=4)
    assert desk.file.read_bytes().endswith(b"caf\xe9\n")


@pytest.mark.parametrize(
    ("hand", "told", "code"),
    [
        (lambda content: content + MINE, "stands; the file was changed by hand since", "changed"),
        (
            lambda content: content.replace(b"pnpm, not", b"pnpm and never"),
            "changed or taken out",
            "reworded",
        ),
        (without_rules, "changed or taken out by hand since", "reworded"),
        (None, "the file is gone since", "gone"),
    ],
)
def test_releases_tell_what_a_hand_did(desk: Desk, hand: object, told: str, code: str) -> None:
    """Without a file named too; what can't be undone any more is not told to type."""
    desk.says("adopt", desk.propose(*rules(PNPM)).id)
    assert desk.gives("releases")["by_hand"] == {"r-0001": "as-written"}
    if callable(hand):
        desk.file.write_bytes(hand(desk.file.read_bytes()))
    else:
        desk.file.unlink()
    assert told in " ".join(desk.says("releases").split())
    assert desk.gives("releases")["by_hand"] == {"r-0001": code}
    assert ("undo r-0001 --keep-later" in desk.says("releases")) is (code == "changed")
    assert "undo r-0001\n" not in desk.says("releases")


def test_what_releases_tell_to_type_is_not_refused(desk: Desk) -> None:
    """After an earlier one was taken out the later is not as it was written: it takes --keep-later."""
    first, second = desk.propose(*rules(PNPM)), None
    desk.says("adopt", first.id)
    second = desk.propose(*rules(TESTS))
    desk.says("adopt", second.id)
    assert "next: nightschool undo r-0002\n" in desk.says("releases")
    desk.says("undo", "r-0001", "--keep-later")
    assert "next: nightschool undo r-0002 --keep-later" in desk.says("releases")
    desk.says("undo", "r-0002", "--keep-later")
    assert desk.held == ()


def test_a_file_that_is_not_there_is_not_pinned_without_a_word(desk: Desk) -> None:
    """A slip of the keyboard would keep nothing off the file that was meant."""
    assert "there is no such file now" in desk.says("pin", str(desk.file.with_name("nix.md")))
    assert "there is no such file" not in desk.says("pin", str(desk.file))


def test_uninstall_leaves_what_a_person_wrote_in_the_block(desk: Desk) -> None:
    """A rule by hand and one in other words stay, and are named before and after; all of ours goes, what was
    undone and came back by git too."""
    desk.says("adopt", desk.propose(*rules(PNPM, TESTS)).id)
    back = desk.file.read_bytes()
    desk.says("undo", "r-0001")
    desk.file.write_bytes(back)
    desk.says("adopt", desk.propose(*rules("sort imports", "name branches")).id)
    end = b"<!-- nightschool:end"
    content = desk.file.read_bytes().replace(b"- sort imports", b"- sort imports, always")
    desk.file.write_bytes(content.replace(end, b"- Ada: my own rule\r\n" + end))
    theirs = ["sort imports, always", "Ada: my own rule"]
    (found,) = desk.gives("uninstall", "--dry-run")["rules"]
    assert (found["rules"], found["yours"]) == (3, theirs)
    assert "yours in its block, so it stays: Ada: my own rule" in desk.says("uninstall", "--dry-run")
    told = desk.says("uninstall", "--yes")
    assert "since you wrote or changed it: Ada: my own rule" in " ".join(told.split())
    assert desk.file.read_bytes() == BEFORE + b"\r\n- sort imports, always\r\n- Ada: my own rule\r\n"


def test_what_was_taken_out_by_hand_is_told_everywhere(desk: Desk) -> None:
    """By git or by hand: no screen says that it stands, none names a command that is refused, and it can be
    adopted again."""
    draft = desk.propose(*rules(PNPM))
    desk.says("adopt", draft.id)
    (row,) = desk.gives("status")["projects"]
    assert ([edit["id"] for edit in row["learned"]], row["taken_out"]) == ([draft.id], [])
    desk.file.write_bytes(BEFORE)
    (row,) = desk.gives("status")["projects"]
    assert (row["learned"], [edit["id"] for edit in row["taken_out"]]) == ([], [draft.id])
    told = " ".join(desk.says("status").split())
    assert "adopted, taken out or changed by hand since: " in told
    shown = " ".join(desk.says("show", draft.id).split())
    assert "published, taken out or changed by hand since" in shown
    assert f"next: nightschool adopt {draft.id}" in shown
    assert "next: nightschool undo" not in desk.says("releases")
    desk.says("adopt", draft.id)
    assert desk.held == (PNPM,)
    desk.file.write_bytes(BEFORE)
    undone = " ".join(desk.undoes().split())
    assert "nothing of it was left in" in undone
    assert f"yours, since it was changed or taken out by hand: {PNPM}" in undone
    assert desk.file.read_bytes() == BEFORE


def test_a_superseded_one_waits_for_nobody(desk: Desk) -> None:
    """Made anew twice, the last counts once; after a word on it none of the older ones comes back."""
    first = desk.propose(*rules(PNPM))
    last = first.id
    for word in (b"a\n", b"b\n"):
        desk.file.write_bytes(desk.file.read_bytes() + word)
        last = desk.gives("rebase", last)["id"]
    (row,) = desk.gives("status")["projects"]
    assert row["waiting"] == 1
    desk.says("adopt", last, "--reason", "mine")
    desk.says("undo", last)
    assert (desk.gives("status")["proposals"], desk.gives("status")["projects"][0]["waiting"]) == ([], 0)
    again = desk.propose(*rules(TESTS))
    desk.file.write_bytes(desk.file.read_bytes() + b"c\n")
    newer = desk.gives("rebase", again.id)["id"]
    desk.says("reject", newer, "--reason", "no")
    assert desk.gives("status")["proposals"] == []


def test_a_pinned_file_that_changed_is_told_both(desk: Desk) -> None:
    """Unpinning alone does not help: what follows is named too."""
    draft = desk.propose(*rules(PNPM))
    desk.file.write_bytes(BEFORE + MINE)
    desk.says("pin", str(desk.file))
    shown = " ".join(desk.says("show", draft.id).split())
    assert f"the file has changed since; once it is unpinned: nightschool rebase {draft.id}" in shown
    assert ", stale, pinned" in shown


def test_nothing_is_written_where_the_project_was(desk: Desk) -> None:
    """The folder was moved: what would have made it anew names the link instead, and with the link in its
    place all works from the new folder."""
    old = desk.file.parent
    first = desk.propose(*rules(PNPM))
    desk.says("adopt", first.id)
    second = desk.propose(*rules(TESTS))
    new = old.with_name("new place")
    old.rename(new)
    for arguments in (("adopt", second.id), ("rebase", second.id), ("undo", "r-0001")):
        assert "ln -s NEW" in desk.says(*arguments, code=2)
    assert "ln -s NEW" in desk.says("show", second.id)
    assert "its project's folder is gone since" in " ".join(desk.says("status").split())
    assert not old.exists()
    old.symlink_to(new)
    with chdir(new):
        desk.says("undo")
    assert (new / "CLAUDE.md").read_bytes() == BEFORE
