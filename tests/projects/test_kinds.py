"""Each kind of project goes the whole way: sessions, tasks, workspaces, trials, the file to edit."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

import project_builders as builders
from cycle_builders import tree
from nightschool import settings
from nightschool.adapters import git_command
from nightschool.adapters.claude_code.surface import ClaudeCodeSurface
from nightschool.adapters.codex.surface import CodexSurface
from nightschool.adapters.git_projects import GitProjects
from nightschool.adapters.live_files import FileSystemLiveFiles
from nightschool.adapters.workspaces import Workspaces
from nightschool.core.harness import File, Harness
from nightschool.core.jobs import Delivered, Provision
from nightschool.core.sandboxes import SandboxPlan
from nightschool.core.tasks import FilesSource, GitSource
from nightschool.core.trials import Arm, TrialRequest
from nightschool.rules.standing import root_for
from nightschool.stages.cycle import Cycle
from nightschool.stages.prepare import Prepared
from nightschool.testing.script import Rule, Say, Script, Shell, When
from nightschool.testing.scripted_runner import ScriptedRunner
from nightschool.wiring import Parts, opened
from project_builders import KINDS, Kind

LATE = datetime(2026, 6, 1, tzinfo=UTC)
APPRENTICE = Script(
    rules=(
        Rule(when=When(contains=("use pnpm",)), then=(Shell(command="echo pnpm > done"), Say(text="Done."))),
        Rule(then=(Shell(command="echo npm > done"), Say(text="Done."))),
    )
)


@contextmanager
def cycle_of(folder: Path, home: Path, project: str | None) -> Iterator[tuple[Parts, Cycle]]:
    environment = {"NIGHTSCHOOL_HOME": str(folder / "school"), "PATH": os.environ["PATH"], "USER": "sam"}
    flags = {"runner": "scripted", "limits.max_jobs": "none"}
    chosen = settings.load(project=None, environment=environment, flags=flags)
    with opened(chosen, environment=environment, person_home=home) as parts:
        cycle = parts.cycle(project=project, progress=lambda *_: None)
        cycle.door.runner = ScriptedRunner(
            script=APPRENTICE, sandbox=parts.sandbox(), surface=parts.surface("claude-code")
        )
        cycle.replay.pause = lambda _: None
        yield parts, cycle


def prepared(parts: Parts, cycle: Cycle) -> Prepared:
    return cycle.prepare(parts.harvest_request(everything=True))


@pytest.mark.parametrize("build", KINDS, ids=lambda build: build.__name__)
def test_each_kind_goes_the_whole_way(build: Callable[[Path], Kind], tmp_path: Path) -> None:
    """Sessions in it give tasks, a trial in its workspace is scored by its rule, the edit would go to its
    memory file; and nothing in it changes, nor does anything of the person's git run."""
    home, base = tmp_path / "sam", tmp_path / "sam" / "code"
    base.mkdir(parents=True)
    kind = build(base)
    if kind.name != "no-git":
        builders.traps(kind.directory)
    builders.sessions(home, kind, shows=[("app.py", "one\n")] if kind.name == "no-git" else ())
    before = tree(kind.kept)
    with cycle_of(tmp_path, home, str(kind.root)) as (parts, cycle):
        mined = prepared(parts, cycle).mined
        assert mined.tasks, mined.skipped
        (candidate,) = mined.candidates
        task = mined.tasks[0]
        where = root_for(candidate, scope="auto", project=str(kind.root))
        target = cycle.aiming.surface.memory_target(project=where)
        rule = File(path="project/CLAUDE.md", content=b"use pnpm, not npm\n")
        trials = [
            TrialRequest(task=task, harness=harness, arm=arm, purpose="train", repeat=0)
            for arm, harness in ((Arm.BASE, Harness()), (Arm.DRAFT, Harness().having(rule)))
        ]
        scores = [trial.score for trial in cycle.replay.trials(trials)]
        outcomes = [cycle.door.known(cycle.replay.job(request)) for request in trials]
    assert scores == [0.0, 1.0], outcomes
    assert all(isinstance(outcome, Delivered) for outcome in outcomes)
    assert isinstance(task.workspace, FilesSource if kind.name == "no-git" else GitSource)
    assert parts.place(target) == kind.root / "CLAUDE.md"
    assert tree(kind.kept) == before
    assert not (kind.directory.parent / "trapped").exists()


def test_a_session_of_a_folder_is_practised_in_that_folder(tmp_path: Path) -> None:
    """In a monorepo the agent starts where the person's session did, so it reads that package's memory."""
    home = tmp_path / "sam"
    kind = builders.monorepo(home)
    builders.sessions(home, kind)
    with cycle_of(tmp_path, home, str(kind.root)) as (parts, cycle):
        task = prepared(parts, cycle).mined.tasks[0]
        request = TrialRequest(task=task, harness=Harness(), arm=Arm.BASE, purpose="train")
        cycle.replay.trials([request])
        outcome = cycle.door.known(cycle.replay.job(request))
    assert task.folder == "packages/web"
    assert isinstance(outcome, Delivered)
    assert [change.path for change in outcome.files] == ["packages/web/done"]


def test_a_folder_that_the_commit_has_not_means_the_top(tmp_path: Path) -> None:
    """A folder that git ignores, or a link that leads out, is none to start in."""
    folder = builders.repository(tmp_path / "app")
    (folder / "out").symlink_to("/etc")
    (folder / "real").mkdir()
    (folder / "real" / "a").write_text("a\n")
    commit = builders.commit(folder)
    source = GitSource(repository=str(folder), commit=commit)
    with Workspaces(tmp_path / "work").open(SandboxPlan(workspace=source)) as opened_folder:
        starts = [opened_folder.start(name) for name in ("", "real", "gone", "out", "out/ssl", "real/../..")]
    assert starts == ["", "real", "", "", "", ""]


def test_worktrees_of_a_bare_repository_are_one_project(tmp_path: Path) -> None:
    """Sessions in any of them count together; the project's files are those of its first branch. Where
    that is not checked out it is the first that is there, and without any the folder itself."""
    kind = builders.bare_with_worktrees(tmp_path)
    trees = [tmp_path / "app-main", tmp_path / "app-topic"]
    assert {GitProjects().root(str(tree)) for tree in trees} == {str(kind.root)}
    builders.git(tmp_path / "app.git", "worktree", "remove", "app-main")
    assert GitProjects().root(str(trees[1])) == str(trees[1])
    builders.git(tmp_path / "app.git", "worktree", "remove", "app-topic")
    assert GitProjects().root(str(tmp_path / "app.git")) == str(tmp_path / "app.git")


def test_a_bare_repository_in_a_folder_of_worktrees(tmp_path: Path) -> None:
    """`app/.git` may be bare, and `app/main` a worktree: the files of the project lie in the worktree."""
    source = builders.repository(tmp_path / "source")
    builders.git(tmp_path, "clone", "-q", "--bare", str(source), str(tmp_path / "app/.git"))
    builders.git(tmp_path / "app/.git", "worktree", "add", "-q", str(tmp_path / "app/main"), "main")
    for folder in (tmp_path / "app", tmp_path / "app/main"):
        assert GitProjects().root(str(folder)) == str(tmp_path / "app/main")


def test_a_partial_clone_fetches_nothing(tmp_path: Path) -> None:
    """A commit whose files were never checked out is no workspace, and asking for it asks no remote."""
    source = builders.repository(tmp_path / "source")
    builders.git(source, "config", "uploadpack.allowFilter", "true")
    old = builders.git(source, "rev-parse", "HEAD")
    builders.write(source, {"app.py": "two\n"})
    new = builders.commit(source)
    folder = tmp_path / "partial"
    builders.git(tmp_path, "clone", "-q", "--filter=blob:none", source.as_uri(), str(folder))
    before = tree(folder)
    projects = GitProjects()
    assert projects.holds(str(folder), new)
    assert not projects.holds(str(folder), old)
    assert projects.text_at(str(folder), old, "app.py") is None
    assert tree(folder) == before
    builders.git(folder, "checkout", "-q", "--detach", old)
    assert GitProjects().holds(str(folder), old)
    source.rename(tmp_path / "gone")
    plan = SandboxPlan(workspace=GitSource(repository=str(folder), commit=old))
    with Workspaces(tmp_path / "work").open(plan) as opened_folder:
        assert (opened_folder.root / "app.py").read_text() == "one\n"


def test_a_repository_of_another_user_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git refuses to work where another user owns the folder; only to read it, nothing of theirs is run."""
    folder = builders.repository(tmp_path / "theirs")
    commit = builders.git(folder, "rev-parse", "HEAD")
    builders.traps(folder)
    theirs = {**git_command.ENVIRONMENT, "GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}
    monkeypatch.setattr(git_command, "ENVIRONMENT", theirs)
    with monkeypatch.context() as usual:
        usual.setattr(git_command, "SETTINGS", ())
        with pytest.raises(git_command.GitFailed, match="dubious ownership"):
            git_command.git(["rev-parse", "HEAD"], folder=folder)
    assert GitProjects().root(str(folder)) == str(folder)
    assert GitProjects().commit_at(str(folder), branch="main", at=LATE) == commit
    plan = SandboxPlan(workspace=GitSource(repository=str(folder), commit=commit))
    with Workspaces(tmp_path / "work").open(plan) as opened_folder:
        assert (opened_folder.root / "app.py").read_text() == "one\n"
    assert not (tmp_path / "trapped").exists()


def test_secrets_that_git_ignores_are_in_no_workspace(tmp_path: Path) -> None:
    """What lies beside the commit (an ignored `.env`, untracked and changed files) is never copied."""
    kind = builders.dirty(tmp_path)
    commit = builders.git(kind.root, "rev-parse", "HEAD")
    plan = SandboxPlan(workspace=GitSource(repository=str(kind.root), commit=commit))
    with Workspaces(tmp_path / "work").open(plan) as opened_folder:
        assert sorted(path.name for path in opened_folder.root.iterdir()) == [
            ".git",
            ".gitignore",
            "CLAUDE.md",
            "app.py",
        ]
    found = [path for path in (tmp_path / "work").rglob("*") if path.is_file()]
    assert not [path for path in found if b"do-not-copy-me" in path.read_bytes()]


def test_a_dirty_tree_that_a_session_shows_gives_its_files(tmp_path: Path) -> None:
    """Where the session shows a file that is not the commit's, its tasks start from what it shows."""
    home = tmp_path / "sam"
    kind = builders.dirty(home)
    builders.sessions(home, kind, shows=[("app.py", "changed\n")])
    with cycle_of(tmp_path, home, str(kind.root)) as (parts, cycle):
        tasks = prepared(parts, cycle).mined.tasks
    assert tasks
    assert {task.workspace for task in tasks} == {
        FilesSource(files=(File(path="app.py", content=b"changed\n"),))
    }


def test_a_project_that_moved_or_is_gone_costs_its_tasks_only(tmp_path: Path) -> None:
    """Sessions of a folder that is no more give no task, with the reason."""
    home = tmp_path / "sam"
    kind = builders.plain(home)
    builders.sessions(home, kind)
    kind.root.rename(tmp_path / "moved")
    with cycle_of(tmp_path, home, None) as (parts, cycle):
        mined = prepared(parts, cycle).mined
    assert mined.tasks == ()
    assert {code for _, code, _ in mined.skipped} == {"no-workspace"}


def test_a_bare_repository_holds_nothing_to_work_on(tmp_path: Path) -> None:
    """A session in a bare repository is a session without files: it gives no task, and stays a project."""
    home = tmp_path / "sam"
    home.mkdir()
    kind = builders.bare(home)
    builders.sessions(home, kind)
    with cycle_of(tmp_path, home, str(kind.root)) as (parts, cycle):
        mined = prepared(parts, cycle).mined
    assert [candidate.project for candidate in mined.candidates] == [str(kind.root)]
    assert mined.tasks == ()


def test_what_no_workspace_holds_is_named(tmp_path: Path) -> None:
    """Submodules, the content of large files, `.env` files: by name, in the report of a cycle."""
    home = tmp_path / "sam"
    kind = builders.submodules(home)
    builders.write(kind.root, {"data/.gitattributes": "# none\n*.bin filter=lfs diff=lfs -text\n"})
    builders.commit(kind.root)
    builders.write(kind.root, {".env": "TOKEN=do-not-show-me\n", ".env.local": "A=1\n"})
    builders.sessions(home, kind)
    with cycle_of(tmp_path, home, str(kind.root)) as (parts, cycle):
        known = prepared(parts, cycle)
        report = cycle.report(known, [])
        cycle.replay.provisions[str(kind.root)] = Provision(submodules=True, lfs=True)
        given = cycle.report(known, [])
    named = [(absent.kind, absent.name) for absent in report.missing if str(kind.root) in absent.place]
    assert named == [
        ("submodule", "vendor/lib"),
        ("large files (LFS)", "*.bin"),
        ("file that git does not keep", ".env"),
        ("file that git does not keep", ".env.local"),
    ]
    assert "do-not-show-me" not in str(report)
    kinds = {absent.kind for absent in given.missing if str(kind.root) in absent.place}
    assert kinds == {"file that git does not keep"}


@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_policy_of_the_machine_is_named(agent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A managed policy file shapes the agent at the desk and in no replay: it is named, and not read."""
    policy = tmp_path / "policy.md"
    policy.write_text("always say please\n")
    name = agent.replace("-", "_")
    monkeypatch.setattr(f"nightschool.adapters.{name}.home.POLICY", (policy, tmp_path / "gone"))
    surface = {"claude-code": ClaudeCodeSurface, "codex": CodexSurface}[agent]()
    assert [(found.kind, found.name) for found in surface.missing(None, tmp_path / "sam")] == [
        ("managed policy", "policy.md")
    ]


def test_a_memory_file_that_is_a_link_stays_one(tmp_path: Path) -> None:
    """`CLAUDE.md` may be a link to `AGENTS.md`, or import it: the base has its text, the edit goes through
    the link and leaves it, and an import is left as it is."""
    folder = builders.repository(tmp_path / "app")
    builders.write(folder, {"AGENTS.md": "# shared\n", "sub/CLAUDE.md": "@../AGENTS.md\n"})
    builders.write(folder, {"CLAUDE.local.md": "mine\n", ".claude/rules/a.md": "rule\n"})
    (folder / "CLAUDE.md").unlink()
    (folder / "CLAUDE.md").symlink_to("AGENTS.md")
    commit = builders.commit(folder)
    surface, live = ClaudeCodeSurface(), FileSystemLiveFiles()
    base = surface.load(folder, tmp_path / "sam")
    texts = {file.path.removeprefix("project/"): file.content for file in base.files}
    assert texts == {
        "CLAUDE.md": b"# shared\n",
        "CLAUDE.local.md": b"mine\n",
        ".claude/rules/a.md": b"rule\n",
        "sub/CLAUDE.md": b"@../AGENTS.md\n",
        "AGENTS.md": b"# shared\n",
    }
    plan = SandboxPlan(workspace=GitSource(repository=str(folder), commit=commit))
    changed = base.having(File(path="project/CLAUDE.md", content=b"# other\n"))
    with Workspaces(tmp_path / "work").open(plan) as opened_folder:
        surface.place(changed, opened_folder.root, opened_folder.home)
        assert (opened_folder.root / "CLAUDE.md").read_text() == "# other\n"
        assert (opened_folder.root / "AGENTS.md").read_text() == "# shared\n"
    path = surface.live_path(surface.memory_target(project=str(folder)), tmp_path / "sam")
    live.swap(path, expected=b"# shared\n", content=b"# shared\nmore\n", mode=None)
    assert (folder / "CLAUDE.md").is_symlink()
    assert (folder / "AGENTS.md").read_text() == "# shared\nmore\n"
