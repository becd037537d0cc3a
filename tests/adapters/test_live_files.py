"""Live files are replaced whole, only over what was expected, through links, with mode and bytes kept."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from nightschool.adapters.live_files import FileSystemLiveFiles
from nightschool.core.errors import Conflict, UserError

LIVE = FileSystemLiveFiles()
TEXT = b"\xef\xbb\xbf# Rules\r\n\r\n* one\r\n\xff\xfe no UTF-8"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_reads_bytes_and_mode(tmp_path: Path) -> None:
    """A file is its bytes and its mode, whatever its encoding; no file is None, not empty."""
    path = tmp_path / "CLAUDE.md"
    absent = LIVE.read(path)
    assert (absent.content, absent.mode, absent.path) == (None, None, path)
    path.write_bytes(TEXT)
    path.chmod(0o640)
    found = LIVE.read(path)
    assert (found.content, found.mode, found.path) == (TEXT, 0o640, path)


@pytest.mark.parametrize("bits", [0o600, 0o644, 0o664, 0o755])
def test_a_swap_keeps_the_mode(tmp_path: Path, bits: int) -> None:
    """With no mode named, the file keeps its own, whatever the umask."""
    path = tmp_path / "CLAUDE.md"
    path.write_bytes(TEXT)
    path.chmod(bits)
    old = os.umask(0o077)
    try:
        written = LIVE.swap(path, expected=TEXT, content=TEXT + b"\r\n", mode=None)
    finally:
        os.umask(old)
    assert path.read_bytes() == TEXT + b"\r\n"
    assert mode(path) == bits == written.mode
    assert names(tmp_path) == {"CLAUDE.md"}


def test_a_swap_sets_a_mode_that_is_named(tmp_path: Path) -> None:
    """The mode changes with the bytes, also where the bytes stay the same."""
    path = tmp_path / "CLAUDE.md"
    path.write_bytes(TEXT)
    path.chmod(0o644)
    LIVE.swap(path, expected=TEXT, content=TEXT, mode=0o600)
    assert (path.read_bytes(), mode(path)) == (TEXT, 0o600)


def test_a_new_file_and_its_folder_are_made(tmp_path: Path) -> None:
    """Where there was no file, and not even its folder, both are made; the file is 0644."""
    path = tmp_path / ".codex" / "deep" / "AGENTS.md"
    LIVE.swap(path, expected=None, content=TEXT, mode=None)
    assert (path.read_bytes(), mode(path)) == (TEXT, 0o644)


def test_none_removes_the_file(tmp_path: Path) -> None:
    """Content None takes the file away; where there is none already, that is fine."""
    path = tmp_path / "CLAUDE.md"
    path.write_bytes(TEXT)
    assert LIVE.swap(path, expected=TEXT, content=None, mode=None).content is None
    assert names(tmp_path) == set()
    LIVE.swap(path, expected=None, content=None, mode=None)


@pytest.mark.parametrize(
    ("present", "expected"), [(TEXT, b"other"), (TEXT, None), (None, TEXT), (b"", None), (None, b"")]
)
@pytest.mark.parametrize("content", [b"new", None])
def test_a_changed_file_is_never_written(
    tmp_path: Path, present: bytes | None, expected: bytes | None, content: bytes | None
) -> None:
    """Changed, made or deleted since (B45): Conflict, and the file is as it was, an empty one too."""
    path = tmp_path / "CLAUDE.md"
    if present is not None:
        path.write_bytes(present)
    with pytest.raises(Conflict, match=r"CLAUDE\.md is not as it was read"):
        LIVE.swap(path, expected=expected, content=content, mode=None)
    assert LIVE.read(path).content == present
    assert names(tmp_path) == ({"CLAUDE.md"} if present is not None else set())


def test_a_save_while_we_write_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A person's save between our first look and the rename is found by the second look."""
    path = tmp_path / "CLAUDE.md"
    path.write_bytes(TEXT)
    sync = os.fsync

    def saved_meanwhile(descriptor: int) -> None:
        path.write_bytes(b"by hand")
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", saved_meanwhile)
    with pytest.raises(Conflict):
        LIVE.swap(path, expected=TEXT, content=b"new", mode=None)
    assert path.read_bytes() == b"by hand"
    assert names(tmp_path) == {"CLAUDE.md"}


def test_a_link_is_written_through(tmp_path: Path) -> None:
    """The file that a link leads to is replaced, in its own folder; the link stays a link."""
    (tmp_path / "dotfiles").mkdir()
    target = tmp_path / "dotfiles" / "agents.md"
    target.write_bytes(TEXT)
    (tmp_path / "between").symlink_to("dotfiles/agents.md")
    link = tmp_path / "CLAUDE.md"
    link.symlink_to("between")
    assert LIVE.read(link).path == target
    written = LIVE.swap(link, expected=TEXT, content=b"new", mode=None)
    assert written.path == target
    assert link.readlink() == Path("between")
    assert target.read_bytes() == b"new"
    assert not target.is_symlink()


def test_a_dangling_link_gets_its_file(tmp_path: Path) -> None:
    """A link to nothing is no file yet: writing makes the file that it points to."""
    link = tmp_path / "CLAUDE.md"
    link.symlink_to("later/agents.md")
    assert LIVE.read(link).content is None
    LIVE.swap(link, expected=None, content=b"new", mode=None)
    assert link.is_symlink()
    assert (tmp_path / "later" / "agents.md").read_bytes() == b"new"


def make_strange(kind: str, path: Path) -> None:
    match kind:
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "loop":
            path.symlink_to(path.name)
        case "folder behind a link":
            path.symlink_to(".")
        case "below a file":
            path.parent.rmdir()
            path.parent.write_bytes(b"")


@pytest.mark.parametrize("kind", ["folder", "pipe", "loop", "folder behind a link", "below a file"])
def test_what_is_no_file_is_an_error(tmp_path: Path, kind: str) -> None:
    """A folder, a pipe, a loop of links: said by name, neither waited for nor read as empty."""
    path = tmp_path / "project" / "CLAUDE.md"
    path.parent.mkdir()
    make_strange(kind, path)
    with pytest.raises(UserError, match="project"):
        LIVE.read(path)
    with pytest.raises(UserError, match="project"):
        LIVE.swap(path, expected=None, content=b"new", mode=None)


def test_hard_links_are_not_parted(tmp_path: Path) -> None:
    """A file with a second name would lose it by a rename: refused, with the way out."""
    path = tmp_path / "CLAUDE.md"
    path.write_bytes(TEXT)
    os.link(path, tmp_path / "AGENTS.md")
    with pytest.raises(UserError, match=r"2 names.*symbolic links"):
        LIVE.swap(path, expected=TEXT, content=b"new", mode=None)
    assert (tmp_path / "AGENTS.md").read_bytes() == path.read_bytes() == TEXT


def test_what_a_killed_swap_left_is_swept(tmp_path: Path) -> None:
    """The part of a swap that was killed goes with the next swap; files of like names stay."""
    path = tmp_path / "CLAUDE.md"
    path.write_bytes(TEXT)
    (tmp_path / ".CLAUDE.md.nightschool-0123456789ab").write_bytes(b"half")
    kept = {".CLAUDE.md.nightschool-notes", ".CLAUDExmd.nightschool-0123456789ab"}
    for name in kept:
        (tmp_path / name).write_bytes(b"mine")
    LIVE.swap(path, expected=TEXT, content=b"new", mode=None)
    assert names(tmp_path) == {"CLAUDE.md", *kept}


@pytest.mark.skipif(os.getuid() == 0, reason="root may read and write everything")
def test_missing_rights_are_said(tmp_path: Path) -> None:
    """A file that cannot be read is an error, never an empty one; a folder that cannot be written too."""
    path = tmp_path / "CLAUDE.md"
    path.write_bytes(TEXT)
    path.chmod(0)
    with pytest.raises(UserError, match="cannot read"):
        LIVE.read(path)
    path.chmod(0o644)
    tmp_path.chmod(0o555)
    with pytest.raises(UserError, match="cannot write"):
        LIVE.swap(path, expected=TEXT, content=b"new", mode=None)
    tmp_path.chmod(0o755)
    assert path.read_bytes() == TEXT


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
def test_the_owner_stays(tmp_path: Path) -> None:
    """Run by root, the person's file stays the person's."""
    path = tmp_path / "CLAUDE.md"
    path.write_bytes(TEXT)
    os.chown(path, 1234, 4321)
    LIVE.swap(path, expected=TEXT, content=b"new", mode=None)
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 4321)
