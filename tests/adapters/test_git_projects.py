"""What is known of a session's folder, without a trace in it."""

from __future__ import annotations

import os
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from nightschool.adapters.git_projects import GitProjects
from nightschool.core.errors import UserError

START = datetime(2025, 3, 1, 10, 0, tzinfo=UTC)


def git(folder: Path, *arguments: str, at: datetime = START) -> str:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": "/nonexistent",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        "GIT_AUTHOR_DATE": at.isoformat(),
        "GIT_COMMITTER_DATE": at.isoformat(),
    }
    done = subprocess.run(
        ["/usr/bin/env", "git", *arguments],
        cwd=folder,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "project"
    (folder / "src").mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    for hour in range(3):
        (folder / "src" / "a.txt").write_bytes(b"%d\r\n" % hour)
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", str(hour), at=START + timedelta(hours=hour))
    return folder


def test_a_folder_below_has_the_root_of_its_repository(project: Path) -> None:
    """A session that ran in a sub-folder belongs to the project."""
    projects = GitProjects()
    assert projects.root(str(project / "src")) == str(project)
    assert projects.root(str(project)) == str(project)


def test_worktrees_of_one_repository_have_one_root(project: Path, tmp_path: Path) -> None:
    """Sessions in several worktrees are sessions of one project."""
    git(project, "worktree", "add", "-q", str(tmp_path / "tree"), "-b", "topic")
    assert GitProjects().root(str(tmp_path / "tree")) == str(project)


def test_a_worktree_that_is_gone_keeps_its_root_while_git_lists_it(project: Path, tmp_path: Path) -> None:
    """Sessions of a worktree that was removed by hand, beside the repository or within it, are those of the
    project, whichever is asked for first; once git has let it go, its folder is all that is known."""
    trees = [tmp_path.resolve() / "tree", project / ".claude/worktrees/x"]
    for tree in trees:
        git(project, "worktree", "add", "-q", "--detach", str(tree))
        shutil.rmtree(tree)
    for tree in trees:
        assert GitProjects().root(str(tree)) == str(project)
        assert GitProjects().root(str(tree / "src")) == str(project)
    assert GitProjects().root(str(tmp_path / "tree2")) == str(tmp_path / "tree2")
    assert GitProjects().root(str(project / "gone")) == str(project / "gone")
    git(project, "worktree", "prune")
    for tree in trees:
        assert GitProjects().root(str(tree)) == str(tree)


def test_a_folder_that_is_gone_or_has_no_repository_is_its_own_root(tmp_path: Path) -> None:
    """A project is named by its folder where git knows nothing of it, also after it was deleted."""
    (tmp_path / "plain").mkdir()
    projects = GitProjects()
    for folder in (tmp_path / "plain", tmp_path / "gone"):
        assert projects.root(str(folder)) == str(folder)
    assert projects.root("not/absolute") == "not/absolute"


def test_the_commit_is_the_newest_that_is_not_younger(project: Path) -> None:
    """A session's tree is that of its start, not of today."""
    projects = GitProjects()
    hashes = git(project, "rev-list", "--reverse", "main").split()
    for hours, wanted in ((-1, None), (0, hashes[0]), (0.5, hashes[0]), (1, hashes[1]), (99, hashes[2])):
        at = START + timedelta(hours=hours)
        assert projects.commit_at(str(project), branch="main", at=at) == wanted


def test_a_branch_that_is_gone_or_unknown_means_head(project: Path) -> None:
    """A merged and deleted branch still gives a tree; a name that looks like an option is only a name."""
    projects = GitProjects()
    head = git(project, "rev-parse", "HEAD")
    git(project, "branch", "old", "HEAD~2")
    old = git(project, "rev-parse", "old")
    late = START + timedelta(days=1)
    assert projects.commit_at(str(project), branch="old", at=late) == old
    for branch in (None, "gone", "--all", "--output=planted", ""):
        assert projects.commit_at(str(project), branch=branch, at=late) == head
    assert not (project / "planted").exists()


def test_text_is_exact_and_absence_is_none(project: Path, tmp_path: Path) -> None:
    """Bytes come as committed; what is not there is None, and a path out of the tree is refused."""
    projects = GitProjects()
    head = git(project, "rev-parse", "HEAD")
    assert projects.text_at(str(project), head, "src/a.txt") == b"2\r\n"
    assert projects.text_at(str(project), head, "missing") is None
    assert projects.text_at(str(project), head, "src") is None
    assert projects.text_at(str(project), "0" * 40, "src/a.txt") is None
    assert projects.text_at(str(tmp_path), head, "src/a.txt") is None
    with pytest.raises(ValueError, match="not a path"):
        projects.text_at(str(project), head, "../x")
    with pytest.raises(ValueError, match="object id"):
        projects.text_at(str(project), "--help", "x")


def test_a_commit_that_is_gone_is_told(project: Path, tmp_path: Path) -> None:
    """Only a commit that the repository still has can become a workspace; other objects are none."""
    projects = GitProjects()
    head = git(project, "rev-parse", "HEAD")
    assert projects.holds(str(project), head)
    assert not projects.holds(str(project), "0" * 40)
    assert not projects.holds(str(project), git(project, "rev-parse", "HEAD^{tree}"))
    assert not projects.holds(str(tmp_path), head)
    with pytest.raises(ValueError, match="object id"):
        projects.holds(str(project), "--help")


def test_no_repository_and_no_commit_give_none(tmp_path: Path) -> None:
    """A folder without git, or without a commit, has no commit at any time."""
    projects = GitProjects()
    late = START + timedelta(days=1)
    assert projects.commit_at(str(tmp_path), branch=None, at=late) is None
    git(tmp_path, "init", "-q")
    assert projects.commit_at(str(tmp_path), branch="main", at=late) is None
    with pytest.raises(ValueError, match="zone"):
        projects.commit_at(str(tmp_path), branch=None, at=late.replace(tzinfo=None))


@pytest.mark.parametrize(
    "name", ["main\0", "-x", "a..b", "main^{/(a+)+$}", "@{-1}", "main:src", "x" * 5000, ""]
)
def test_what_is_no_name_of_a_branch_means_head(project: Path, name: str) -> None:
    """What a transcript calls its branch is never read as a revision, a pattern or an option."""
    head = git(project, "rev-parse", "HEAD")
    assert GitProjects().commit_at(str(project), branch=name, at=START + timedelta(days=1)) == head


@pytest.mark.parametrize(
    "name", ["..", "", "https://example.org/x", "-p", "/nul\0", "/" + "x" * 300, "/" + "x/" * 3000]
)
def test_what_is_no_folder_is_its_own_root(name: str, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session may name anything as its folder. A relative one is not looked up from the current folder."""
    monkeypatch.chdir(project / "src")
    projects = GitProjects()
    assert projects.root(name) == name
    assert projects.commit_at(name, branch=None, at=START) is None
    assert projects.text_at(name, "a" * 40, "src/a.txt") is None


def test_times_that_git_would_misread(project: Path) -> None:
    """Git takes small and negative numbers for other times than those since 1970: before all commits is
    before all commits."""
    projects = GitProjects()
    for at in (
        datetime(1, 1, 2, tzinfo=UTC),
        datetime(1969, 1, 1, tzinfo=UTC),
        datetime(1970, 1, 3, tzinfo=UTC),
    ):
        assert projects.commit_at(str(project), branch=None, at=at) is None


def test_nothing_is_written(project: Path) -> None:
    """A stale index is not refreshed and no lock or log appears."""
    (project / "src" / "a.txt").touch()
    before = {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in project.rglob("*")}
    projects = GitProjects()
    projects.root(str(project / "src"))
    commit = projects.commit_at(str(project), branch="main", at=START)
    assert commit is not None
    projects.text_at(str(project), commit, "src/a.txt")
    assert {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in project.rglob("*")} == before


def test_without_git_only_what_needs_it_fails(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without git folders are their own roots, and asking for a commit is an error that says what to do."""
    monkeypatch.setenv("PATH", str(tmp_path))
    projects = GitProjects()
    (tmp_path / "plain").mkdir()
    assert projects.root(str(project / "src")) == str(project / "src")
    assert projects.commit_at(str(tmp_path / "plain"), branch=None, at=START) is None
    with pytest.raises(UserError, match="install git"):
        projects.commit_at(str(project), branch=None, at=START)
    with pytest.raises(UserError, match="install git"):
        projects.text_at(str(project), "0" * 40, "a")
