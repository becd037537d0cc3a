"""Workspaces come from a private mirror; the person's repository is the same before and after."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nightschool.adapters import snapshots
from nightschool.adapters.workspaces import Workspaces, write_below
from nightschool.core.errors import WorkspaceUnavailable
from nightschool.core.harness import File
from nightschool.core.sandboxes import SandboxPlan
from nightschool.core.tasks import FilesSource, GitSource

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    "GIT_AUTHOR_DATE": "2025-03-01T10:00:00Z",
    "GIT_COMMITTER_DATE": "2025-03-01T10:00:00Z",
}


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["/usr/bin/env", "git", *arguments],
        cwd=folder,
        env=ENVIRONMENT,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


@pytest.fixture
def person(tmp_path: Path) -> Path:
    """A repository whose HEAD moved on, with dirty files, a stash, and hooks and filters that tell."""
    folder = tmp_path / "person"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "app.py").write_text("one\n")
    (folder / "run").write_text("#!/bin/sh\n")
    (folder / "run").chmod(0o755)
    (folder / "big.bin").write_text("version https://git-lfs.github.com/spec/v1\n")
    (folder / ".gitattributes").write_text("*.bin filter=trap\nhidden.txt export-ignore\n")
    (folder / "hidden.txt").write_text("needed\n")
    (folder / ".gitignore").write_text("ignored\n")
    (folder / "out").symlink_to("/etc")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "first")
    (folder / "app.py").write_text("one\ntwo\n")
    git(folder, "commit", "-qam", "second")
    (folder / "app.py").write_text("stashed\n")
    git(folder, "stash")
    (folder / "app.py").write_text("dirty\n")
    (folder / "run").write_text("staged\n")
    git(folder, "add", "run")
    (folder / "untracked").write_text("mine\n")
    git(folder, "config", "filter.trap.smudge", f"touch {tmp_path}/trapped; cat")
    git(folder, "config", "core.fsmonitor", f"touch {tmp_path}/trapped")
    git(folder, "config", "uploadpack.packObjectsHook", f"touch {tmp_path}/trapped")
    git(folder, "config", "gc.auto", "1")
    for hook in ("post-checkout", "post-commit", "post-merge", "reference-transaction", "post-index-change"):
        (folder / ".git" / "hooks" / hook).write_text(f"#!/bin/sh\ntouch {tmp_path}/trapped\n")
        (folder / ".git" / "hooks" / hook).chmod(0o755)
    return folder


def everything(folder: Path) -> dict[str, tuple[int, int, str]]:
    """Mode, time of change and content of all that lies below, `.git` included."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = os.readlink(path).encode() if path.is_symlink() else b""  # noqa: PTH115 - the text as it is
        if path.is_file() and not path.is_symlink():
            content = path.read_bytes()
        found[str(path.relative_to(folder))] = (
            status.st_mode,
            status.st_mtime_ns,
            hashlib.sha256(content).hexdigest(),
        )
    return found


def first_commit(person: Path) -> str:
    return git(person, "rev-list", "--max-parents=0", "main")


def plan_of(person: Path, commit: str) -> SandboxPlan:
    return SandboxPlan(workspace=GitSource(repository=str(person), commit=commit))


def test_the_persons_repository_is_bit_identical_afterwards(person: Path, tmp_path: Path) -> None:
    """HEAD moved, files are dirty: the copy is of the named commit, nothing of theirs changes (B23)."""
    commit = first_commit(person)
    before = everything(person)
    with Workspaces(tmp_path / "work").open(plan_of(person, commit)) as folder:
        assert (folder.root / "app.py").read_text() == "one\n"
        assert (folder.root / "run").read_text() == "#!/bin/sh\n"
        assert not (folder.root / "untracked").exists()
        folder.changes()
    assert everything(person) == before
    assert not (tmp_path / "trapped").exists(), "a hook, filter or monitor of the person's ran"


def test_the_checkout_is_whole_and_exact(person: Path, tmp_path: Path) -> None:
    """Modes, links, LFS pointers and files that an export would leave out are as the commit has them."""
    with Workspaces(tmp_path / "work").open(plan_of(person, first_commit(person))) as folder:
        names = {path.name for path in folder.root.iterdir()}
        assert names == {
            "app.py",
            "run",
            "big.bin",
            ".gitattributes",
            "hidden.txt",
            ".gitignore",
            "out",
            ".git",
        }
        assert (folder.root / "run").stat().st_mode & 0o111
        assert (folder.root / "big.bin").read_text().startswith("version https://git-lfs")
        assert (folder.root / "out").is_symlink()
        assert folder.changes() == ()


def test_the_workspace_is_a_repository_of_its_own_with_one_commit(person: Path, tmp_path: Path) -> None:
    """An agent sees a clean repository with the task's commit alone: no later work, no remote, no hook."""
    commit = first_commit(person)
    with Workspaces(tmp_path / "work").open(plan_of(person, commit)) as folder:
        assert git(folder.root, "status", "--porcelain") == ""
        assert git(folder.root, "log", "--all", "--format=%H") == commit
        assert git(folder.root, "remote") == ""
        assert not (folder.root / ".git" / "hooks").exists()
        assert str(person) not in (folder.root / ".git" / "config").read_text()
        (folder.root / "app.py").write_text("three\n")
        git(folder.root, "commit", "-qam", "work goes on")


def test_a_commit_that_no_branch_holds_any_more_is_found(person: Path, tmp_path: Path) -> None:
    """A session's commit may have been rebased away; as long as the object is there it can be practised."""
    git(person, "stash", "clear")
    git(person, "checkout", "-q", "--force", "--orphan", "other")
    lost = git(person, "rev-parse", "main")
    git(person, "commit", "-qm", "other")
    git(person, "branch", "-D", "main")
    with Workspaces(tmp_path / "work").open(plan_of(person, lost)) as folder:
        assert (folder.root / "app.py").read_text() == "one\ntwo\n"


def test_the_mirror_serves_when_the_commit_is_gone_from_the_person(person: Path, tmp_path: Path) -> None:
    """What was once mirrored can be practised again after the person removed it."""
    commit = first_commit(person)
    workspaces = Workspaces(tmp_path / "work")
    with workspaces.open(plan_of(person, commit)):
        pass
    person.rename(tmp_path / "elsewhere")
    with workspaces.open(plan_of(person, commit)) as folder:
        assert (folder.root / "app.py").read_text() == "one\n"


def test_many_jobs_fill_one_mirror_at_once(person: Path, tmp_path: Path) -> None:
    """The engine opens several workspaces of one repository at the same moment."""
    commits = [first_commit(person), git(person, "rev-parse", "main")] * 3

    def text(commit: str) -> str:
        with Workspaces(tmp_path / "work").open(plan_of(person, commit)) as folder:
            return (folder.root / "app.py").read_text()

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(text, commits)) == ["one\n", "one\ntwo\n"] * 3
    assert len([path for path in (tmp_path / "work" / "mirrors").iterdir() if path.is_dir()]) == 1


@pytest.mark.parametrize(
    ("commit", "word"),
    [("0" * 40, "cannot be had"), ("HEAD", "not a full object id"), ("--upload-pack=touch x", "not a full")],
)
def test_a_commit_that_cannot_be_had_costs_this_job_only(
    person: Path, tmp_path: Path, commit: str, word: str
) -> None:
    """An unknown or malformed commit is an error that names it, and leaves no folder behind."""
    with (
        pytest.raises(WorkspaceUnavailable, match=word),
        Workspaces(tmp_path / "work").open(plan_of(person, commit)),
    ):
        pass
    assert list((tmp_path / "work" / "jobs").iterdir()) == []


def test_a_repository_that_is_gone_is_named(tmp_path: Path) -> None:
    """A project folder that was deleted is an error that names it."""
    with (
        pytest.raises(WorkspaceUnavailable, match="gone: that folder is gone"),
        Workspaces(tmp_path / "work").open(plan_of(tmp_path / "gone", "0" * 40)),
    ):
        pass


def test_files_may_not_be_written_through_a_link_or_into_git(person: Path, tmp_path: Path) -> None:
    """A link in the commit leads out of the workspace: laying files over it is refused and writes nothing."""
    commit = first_commit(person)
    outside = tmp_path / "outside"
    outside.mkdir()
    source = GitSource(repository=str(person), commit=commit)
    for path in ("out/planted", "out", ".git/config", ".git/hooks/post-checkout"):
        plan = SandboxPlan(workspace=source, files=(File(path=path, content=b"x"),))
        with pytest.raises(WorkspaceUnavailable, match=r"out|git"), Workspaces(tmp_path / "work").open(plan):
            pass
    (outside / "link").symlink_to(outside / "target")
    with pytest.raises(WorkspaceUnavailable):
        write_below(outside, File(path="link", content=b"x"))
    assert not (outside / "target").exists()
    assert not Path("/etc/planted").exists()


def test_given_files_keep_bytes_and_modes(tmp_path: Path) -> None:
    """Files that a session shows become a plain folder, exact to the byte."""
    files = (
        File(path="a/b.txt", content=b"\xef\xbb\xbfx\r\n"),
        File(path="run", content=b"#!/bin/sh\n", mode=0o755),
    )
    with Workspaces(tmp_path / "work").open(SandboxPlan(workspace=FilesSource(files=files))) as folder:
        assert (folder.root / "a/b.txt").read_bytes() == b"\xef\xbb\xbfx\r\n"
        assert (folder.root / "run").stat().st_mode & 0o777 == 0o755
        assert sorted(path.name for path in folder.root.iterdir()) == ["a", "run"]


def test_added_lines_are_those_that_the_commit_did_not_hold(person: Path, tmp_path: Path) -> None:
    """Old text comes from the mirror, not from the workspace, where a job could have changed it."""
    with Workspaces(tmp_path / "work").open(plan_of(person, git(person, "rev-parse", "main"))) as folder:
        (folder.root / "app.py").write_text("two\nnew\none\n")
        (folder.root / ".git" / "config").write_text("[core]\n\tfsmonitor = touch trapped\n")
        (folder.root / "sub").mkdir()
        (folder.root / "sub" / "made.txt").write_text("made\n")
        changes = folder.changes()
    assert [(change.path, change.added) for change in changes] == [
        ("app.py", "new"),
        ("sub/made.txt", "made"),
    ]


def test_what_was_placed_before_the_job_is_compared_with_itself(tmp_path: Path) -> None:
    """After `seal` a harness file is the state to compare with, and only the job's lines count as added."""
    with Workspaces(tmp_path / "work").open(SandboxPlan(workspace=FilesSource())) as folder:
        (folder.root / "AGENTS.md").write_text("rule\n")
        folder.seal()
        (folder.root / "AGENTS.md").write_text("rule\nmore\n")
        assert [(change.path, change.added) for change in folder.changes()] == [("AGENTS.md", "more")]
        (folder.root / "AGENTS.md").unlink()
        assert [(change.path, change.content) for change in folder.changes()] == [("AGENTS.md", None)]


def test_a_change_in_the_same_tick_with_the_same_size_is_seen(tmp_path: Path) -> None:
    """A file rewritten at once, with its times set back, is not taken for the old one."""
    files = (File(path="a", content=b"old"),)
    with Workspaces(tmp_path / "work").open(SandboxPlan(workspace=FilesSource(files=files))) as folder:
        times = (folder.root / "a").stat()
        (folder.root / "a").write_bytes(b"new")
        os.utime(folder.root / "a", ns=(times.st_atime_ns, times.st_mtime_ns))
        assert [change.content for change in folder.changes()] == [b"new"]


def test_large_content_and_many_files_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is too large becomes a line with size and digest, and a rest of paths one line with its count."""
    monkeypatch.setattr(snapshots, "FILE_BYTES", 100)
    monkeypatch.setattr(snapshots, "CHANGES", 3)
    with Workspaces(tmp_path / "work").open(SandboxPlan(workspace=FilesSource())) as folder:
        (folder.root / "a-large").write_bytes(b"x" * 101)
        for number in range(5):
            (folder.root / f"file{number}").write_text("x\n")
        changes = folder.changes()
    assert b"101 bytes" in (changes[0].content or b"")
    assert [change.path for change in changes[1:]] == ["file0", "file1", snapshots.REST_PATH]
    assert b"3 more" in (changes[-1].content or b"")


def test_special_files_and_odd_names_do_not_stop_the_comparison(tmp_path: Path) -> None:
    """A pipe, a socket and a name that is no UTF-8 cost nothing but themselves."""
    with Workspaces(tmp_path / "work").open(SandboxPlan(workspace=FilesSource())) as folder:
        os.mkfifo(folder.root / "pipe")
        Path(os.fsdecode(os.fsencode(folder.root) + b"/\xff")).write_text("odd\n")
        done = threading.Event()
        changes = folder.changes()
        done.set()
    assert [(change.path, change.added) for change in changes] == [("\ufffd", "odd")]


LEAVES_ITS_FOLDER = """
import os, signal, sys
from pathlib import Path
from nightschool.adapters.workspaces import Workspaces
from nightschool.core.sandboxes import SandboxPlan
from nightschool.core.tasks import FilesSource
with Workspaces(Path(sys.argv[1])).open(SandboxPlan(workspace=FilesSource())) as folder:
    (folder.root / "deep").mkdir()
    (folder.root / "deep").chmod(0)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    """After a kill -9 the next run removes the job's folder; the folders of living processes stay."""
    plan = SandboxPlan(workspace=FilesSource())
    with Workspaces(tmp_path).open(plan) as living:
        done = subprocess.run([sys.executable, "-c", LEAVES_ITS_FOLDER, str(tmp_path)], check=False)
        assert done.returncode == -signal.SIGKILL
        assert len(list((tmp_path / "jobs").iterdir())) == 2
        with Workspaces(tmp_path).open(plan) as fresh:
            assert sorted((tmp_path / "jobs").iterdir()) == sorted([living.base, fresh.base])
    assert list((tmp_path / "jobs").iterdir()) == []


def test_a_git_that_was_killed_leaves_no_lock_on_the_mirror(person: Path, tmp_path: Path) -> None:
    """A lock that a killed git left in our mirror does not cost every later job its workspace."""
    first, second = git(person, "rev-parse", "HEAD~1"), git(person, "rev-parse", "HEAD")
    workspaces = Workspaces(tmp_path / "work")
    with workspaces.open(SandboxPlan(workspace=GitSource(repository=str(person), commit=first))):
        pass
    (mirror,) = [path for path in (tmp_path / "work/mirrors").iterdir() if path.is_dir()]
    (mirror / "shallow.lock").touch()
    (mirror / f"refs/nightschool/{second}.lock").touch()
    with workspaces.open(SandboxPlan(workspace=GitSource(repository=str(person), commit=second))) as folder:
        assert (folder.root / "app.py").is_file()
