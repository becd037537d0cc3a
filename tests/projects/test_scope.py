"""Whose sessions, whose files: one project, several, all; the project's file or the person's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import project_builders as builders
from nightschool import settings
from nightschool.cli import app
from nightschool.core.errors import UserError
from nightschool.core.tasks import only_root, pool_of, roots_in


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person with sessions in three projects: two of them heard the same correction."""
    person = tmp_path / "sam"
    for name in ("one", "two"):
        folder = builders.repository(person / name)
        builders.sessions(person, builders.Kind(name=name, directory=folder, root=folder))
    monorepo = builders.monorepo(person)
    builders.write(monorepo.root, {"packages/web/.nightschool.toml": "[limits]\nmax_jobs = 3\n"})
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.setenv("NIGHTSCHOOL_HOME", str(tmp_path / "school"))
    monkeypatch.setenv("NIGHTSCHOOL_CONFIG", str(tmp_path / "config.toml"))
    config = 'runner = "scripted"\n[harvest]\nlookback_limit_days = 36500\n[limits]\nmax_jobs = 9\n'
    (tmp_path / "config.toml").write_text(config, encoding="utf-8")
    monkeypatch.chdir(person / "one")
    return person


def planned(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert app.run(["run", "--dry-run", "--json", *arguments]) == 0
    return json.loads(capsys.readouterr().out)


def files(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert app.run(["run", "--dry-run", *arguments]) == 0
    return " ".join(capsys.readouterr().out.split())


def test_a_pool_names_its_projects() -> None:
    """Of one project a pool is its root; of several they stand in it in any order, each once."""
    assert pool_of(["/a"]) == "/a"
    assert pool_of(["/b", "/a", "/b"]) == pool_of(["/a", "/b"])
    assert roots_in(pool_of(["/b", "/a"])) == frozenset({"/a", "/b"})
    assert roots_in("/odd\nname") == frozenset({"/odd\nname"})
    assert roots_in("") is None
    assert (only_root("/a"), only_root(pool_of(["/a", "/b"])), only_root("")) == ("/a", None, None)


def test_one_project_several_or_all(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tasks come from the projects that were named, by any folder in them, and from no other."""
    one = planned(capsys)
    two = planned(capsys, "--project", str(home / "two"))
    both = planned(capsys, "--project", "../two", "--project", str(home / "one"))
    every = planned(capsys, "--all-projects")
    assert len(one["tasks"]) == len(two["tasks"]) == 5
    assert sorted(both["tasks"]) == sorted([*one["tasks"], *two["tasks"]]) == sorted(every["tasks"])
    none = planned(capsys, "--project", str(home / "monorepo/packages/web"))
    assert none["tasks"] == []


def test_what_several_projects_heard_goes_to_the_persons_own_file(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Seen in several projects it is the person's habit, not one team's; `--scope project` says otherwise."""
    assert f"{home}/.claude/CLAUDE.md" in files(capsys)
    told = files(capsys, "--project", str(home / "two"), "--project", str(home / "one"))
    assert f"{home}/.claude/CLAUDE.md" in told
    assert "in these 2 projects" in told
    assert f"{home}/one/CLAUDE.md" in files(capsys, "--scope", "project")


def test_what_one_project_heard_goes_to_its_file_or_to_the_person(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A correction of one project goes to that project's file, unless it belongs to the person."""
    for path in (home / ".claude/projects").glob("*two*/*"):
        path.unlink()
    assert f"{home}/one/CLAUDE.md" in files(capsys)
    told = files(capsys, "--scope", "user")
    assert f"{home}/.claude/CLAUDE.md" in told
    assert f"{home}/one/CLAUDE.md" not in told


def test_a_run_over_several_projects_is_one_cycle(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One budget, one exam over the tasks of both, and a report that names both."""
    arguments = ["run", "--yes", "--json", "--project", str(home / "one"), "--project", str(home / "two")]
    assert app.run(arguments) == 3
    report = json.loads(capsys.readouterr().out)
    assert report["project"] == f"{home}/one, {home}/two"
    assert report["tasks_train"] + report["tasks_holdout"] == 10
    assert report["spend"]["jobs"] <= 9
    assert app.run(arguments) == 3


def test_projects_by_name_and_all_of_them_exclude_each_other(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two answers to one question are wrong use."""
    assert app.run(["run", "--all-projects", "--project", "."]) == 2
    assert "take one of them" in capsys.readouterr().err
    assert app.run(["run", "--project", "one", "--project", "nowhere"]) == 2


def test_a_run_in_the_home_folder_asks(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """HOME is a project only if the person says so, also where it is one of several."""
    monkeypatch.chdir(home)
    assert app.run(["run", "--dry-run"]) == 4
    assert app.run(["run", "--dry-run", "--project", "one", "--project", "."]) == 4
    assert "home folder" in capsys.readouterr().err


def test_a_folder_of_a_monorepo_has_settings_of_its_own(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From the root down to the folder, the nearest last; and none of them may widen what they may not."""
    root = home / "monorepo"
    builders.write(root, {".nightschool.toml": "[limits]\nmax_jobs = 7\nwidth = 1\n"})
    builders.write(root, {"packages/api/.nightschool.toml": "[limits]\nmax_jobs = 8\n"})
    environment = {"NIGHTSCHOOL_CONFIG": str(home.parent / "config.toml")}

    def at(folder: Path) -> settings.Settings:
        return settings.load(project=root, folder=folder, environment=environment)

    assert at(root).limits.max_jobs == 7
    assert (at(root / "packages/web/src").limits.max_jobs, at(root / "packages/web").limits.width) == (3, 1)
    assert at(home / "elsewhere").limits.max_jobs == 7
    with pytest.raises(UserError, match=r"packages/api.*may lower it"):
        at(root / "packages/api")
    monkeypatch.chdir(root / "packages/api")
    assert app.run(["run", "--dry-run"]) == 2
    assert "packages/api/.nightschool.toml" in capsys.readouterr().err


def test_a_folder_below_the_one_that_has_the_sessions_says_so(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without git each folder is a project of its own: where that has no session, the one above it that has
    some is named, with the command. A repository that has none is told nothing of the kind."""
    plain = home / "no git"
    builders.write(plain, {"src/deep/app.py": "one\n"})
    builders.sessions(home, builders.Kind(name="no git", directory=plain, root=plain))
    monkeypatch.chdir(plain / "src/deep")
    assert "5 sessions began above it" in files(capsys)
    assert app.run(["run", "--yes"]) == 0
    capsys.readouterr()
    for command in (["tasks"], ["gate", "calibrate"], ["run", "--yes"]):
        assert app.run(command) == 0
        told = capsys.readouterr().out
        assert f"no session began in {plain}/src/deep" in told, command
        assert f"nightschool run --project '{plain}'" in told, command
    empty = builders.repository(plain / "repository")
    told = files(capsys, "--project", str(empty))
    assert "began above it" not in told
    assert f"no session began in {empty}; " in told
    assert "began above it" not in files(capsys, "--project", str(plain))


@pytest.mark.parametrize("inside", [False, True], ids=["beside", "inside"])
def test_in_a_worktree_the_file_of_the_main_checkout_is_named(
    inside: bool,  # noqa: FBT001 - a parameter of the table
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A project is a repository with all its worktrees, so there is one file to edit: which one, and why
    not the one at hand, is said. In the main checkout nothing is."""
    root = home / "one"
    tree = root / "ignored/tree" if inside else home / "one-topic"
    builders.git(root, "worktree", "add", "-q", "-b", "topic", str(tree))
    for folder, told in ((tree, True), (root, False)):
        monkeypatch.chdir(folder)
        assert app.run(["run", "--dry-run", "--scope", "project"]) == 0
        written = capsys.readouterr()
        assert f"project: {root}" in written.err
        assert (f"{tree} is a worktree of it" in written.err) == told
        assert (f"for the file in {root}," in written.err) == told
        assert f"{root}/CLAUDE.md" in written.out
        assert f"{tree}/CLAUDE.md" not in written.out
