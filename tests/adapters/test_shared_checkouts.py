"""One checkout of a commit for all its jobs: what each changed is told as if it had a copy of its own."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

import project_builders as builders
from cycle_builders import tree
from nightschool.adapters import bubblewrap, bubblewrap_binary, leftovers, snapshots
from nightschool.adapters.bubblewrap import BubblewrapSandbox
from nightschool.adapters.claude_code.surface import ClaudeCodeSurface
from nightschool.adapters.file_locks import holding
from nightschool.adapters.unsafe_process import UnsafeProcessSandbox
from nightschool.core.errors import UserError, WorkspaceUnavailable
from nightschool.core.harness import File, Harness
from nightschool.core.jobs import FileChange, Provision
from nightschool.core.ports import Workspace
from nightschool.core.sandboxes import Command, Execution, SandboxPlan
from nightschool.core.tasks import FilesSource, GitSource

NEVER = threading.Event()
FILES = {
    "app.py": "one\ntwo\n",
    "run.sh": "#!/bin/sh\n",
    "docs/a.md": "a\n",
    "docs/deep/b.md": "b\n",
    "docs/deep/c.md": "c\n",
    "AGENTS.md": "of long ago\n",
    ".agents/skills/old/SKILL.md": "---\nname: old\ndescription: d\n---\n",
    "inner/CLAUDE.md": "nested\n",
    "large.txt": "x" * 300 + "\n",
}
LINKS = {"CLAUDE.md": "AGENTS.md", ".claude/skills": "../.agents/skills", "out": "/etc", "to-docs": "docs"}
SCRIPTS = {
    "nothing": "cat app.py; ls -R; git status --porcelain; git diff; git log --oneline",
    "modified": "echo three >> app.py; printf 'a\\0b' > docs/a.md; echo y >> large.txt",
    "the same again": "cat app.py > x; cat x > app.py; rm x; touch docs/a.md; mv run.sh r; mv r run.sh",
    "modes": "chmod 755 app.py; chmod 600 docs/a.md; chmod 0 docs/deep/b.md docs/deep",
    "removed": "rm app.py; rm -r docs/deep; rm to-docs",
    "removed and made again": "rm -r docs; mkdir -p docs/deep; echo b > docs/deep/b.md; echo n > docs/n.md",
    "all removed": "rm -rf ./* .agents .claude .git",
    "file to folder": "rm app.py; mkdir -p app.py/sub; echo in > app.py/sub/in.txt",
    "folder to file": "rm -r docs; echo flat > docs",
    "links": "rm app.py; ln -s /etc/passwd app.py; rm out; echo file > out; ln -s nowhere dangling; "
    "rm to-docs; mkdir to-docs; echo t > to-docs/t; rm -r docs/deep; ln -s ../inner docs/deep",
    "moved": "mv docs/a.md moved.md; mv docs/deep folder; mv app.py run.sh",
    "through a link": "echo more >> to-docs/a.md; echo more >> CLAUDE.md; rm .claude/skills/old/SKILL.md",
    "special": "mkfifo pipe; rm app.py; mkfifo app.py",
    "a repository below": "mkdir sub; cd sub; git init -q; echo s > s.txt",
    "git": "export GIT_AUTHOR_DATE=2026-01-01T00:00:00Z GIT_COMMITTER_DATE=2026-01-01T00:00:00Z; "
    "git rm -qr docs; echo n > n; git add -A; git commit -qm work; git checkout -q HEAD~1 -- docs/a.md; "
    "git stash -q; git log --oneline --all",
    "odd names": "printf x > 'sp ace'; printf x > $(printf 'b\\377d'); printf x > '-dash'; "
    "mkdir ' '; echo > ' /f'",
    "moved away and back": "mkdir t; mv docs/deep/b.md t/b.md; rm -r docs; mkdir -p docs/deep; "
    "mv t/b.md docs/deep/b.md",
}
SETUP = "mkdir -p made/sub; echo m > made/sub/m.js; echo set > app.py; rm docs/a.md; echo lock > docs/lock"
OVER_A_SETUP = {
    "nothing": "cat app.py docs/a.md made/sub/m.js docs/lock",
    "modified": "echo more >> app.py; echo more >> made/sub/m.js; echo more >> docs/lock; echo n > made/n",
    "removed": "rm -r made docs; rm app.py",
    "folder to file": "rm -r made; echo flat > made; rm -r docs; mkdir docs; echo n > docs/n",
}


def sh(workspace: Workspace, script: str) -> Execution:
    return workspace.execute(Command(argv=("bash", "-c", script)), NEVER)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with links, nested memory and skills, and a later commit that no job may see."""
    folder = builders.repository(tmp_path / "app")
    builders.write(folder, FILES)
    (folder / "run.sh").chmod(0o755)
    for name, target in LINKS.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(target)
    builders.commit(folder)
    return folder


@pytest.fixture
def sandbox(tmp_path: Path) -> BubblewrapSandbox:
    return BubblewrapSandbox(work=tmp_path / "work")


def plan_of(project: Path, **more: object) -> SandboxPlan:
    source = GitSource(repository=str(project), commit=builders.git(project, "rev-parse", "HEAD"))
    return replace(SandboxPlan(workspace=source), **more)  # type: ignore[arg-type]  # values by name


def checkouts(work: Path) -> list[Path]:
    return sorted(path for path in work.glob("mirrors/*/checkouts/*") if path.is_dir())


HARNESS = Harness.of(
    [
        File(path="project/CLAUDE.md", content=b"- a rule\n"),
        File(path="project/.claude/skills/tidy/SKILL.md", content=b"---\nname: tidy\ndescription: d\n---\n"),
    ]
)


def outcomes(
    plan: SandboxPlan, sandbox: BubblewrapSandbox, script: str, harness: Harness | None
) -> tuple[Execution, tuple[FileChange, ...], str]:
    with sandbox.open(plan) as workspace:
        if harness is not None:
            surface = ClaudeCodeSurface(environment={})
            for folder in (workspace.root, *workspace.shared):
                workspace.bring(surface.touches(harness, folder))
            assert workspace.changes() == ()
            surface.place(harness, workspace.root, workspace.home)
        workspace.seal()
        assert workspace.changes() == ()
        seen = (
            "find . -path ./.git -prune -o -printf '%p %y %m %l\\n' | grep -v '^[.] ' | sort; cat *.md */*.md"
        )
        looked = sh(workspace, seen)
        done = sh(workspace, script)
        return done, workspace.changes(), looked.stdout.decode()


@pytest.mark.parametrize("script", [*SCRIPTS, *(f"set up: {name}" for name in OVER_A_SETUP)])
def test_what_a_job_sees_and_changed_is_that_of_a_whole_copy(
    script: str, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether a harness was placed or not, whether a set-up ran or not: the same files with the same modes
    are there, and the same changes are told, as where each job has a copy."""
    monkeypatch.setattr(snapshots, "FILE_BYTES", 200)
    told: dict[bool, list[object]] = {True: [], False: []}
    name = script.removeprefix("set up: ")
    provision = Provision(setup=SETUP) if script != name else Provision()
    command = OVER_A_SETUP[name] if script != name else SCRIPTS[name]
    plan = plan_of(project, provision=provision, files=(File(path="docs/given.md", content=b"given\n"),))
    for shares, found in told.items():
        with monkeypatch.context() as patch:
            if not shares:
                patch.setattr(bubblewrap, "can_overlay", lambda *_: False)
            sandbox = BubblewrapSandbox(work=tmp_path / f"work-{shares}")
            for harness in (None, HARNESS):
                done, changes, seen = outcomes(plan, sandbox, command, harness)
                ended = (done.exit_code, sorted(done.stdout.splitlines()), done.stderr)
                found.append((ended, changes, seen))
        assert bool(checkouts(tmp_path / f"work-{shares}")) is shares
    assert told[True] == told[False]


def test_jobs_read_the_same_files_and_write_apart(
    project: Path, sandbox: BubblewrapSandbox, tmp_path: Path
) -> None:
    """Two jobs at once see nothing of each other, and what they share is as it was when both are gone."""
    plan = plan_of(project)
    with sandbox.open(plan) as one, sandbox.open(plan) as other:
        (checkout,) = checkouts(tmp_path / "work")
        assert one.shared == other.shared == (checkout / "tree",)
        before = tree(checkout)
        sh(one, "echo mine > app.py; rm -r docs; git add -A; git commit -qm mine; git gc -q --prune=now")
        assert sh(other, "cat app.py docs/a.md; git log --oneline | wc -l").stdout == b"one\ntwo\na\n1\n"
        assert other.changes() == ()
    assert tree(checkout) == before
    assert list((tmp_path / "work/jobs").iterdir()) == []


@pytest.mark.parametrize(
    ("folder", "begins"),
    [("docs/deep", "/docs/deep"), ("to-docs", ""), ("to-docs/deep", ""), ("app.py", ""), ("gone", "")],
)
def test_commands_begin_in_the_folder_of_the_plan(
    folder: str, begins: str, project: Path, sandbox: BubblewrapSandbox
) -> None:
    """If the commit has it, by folders alone; else at the top."""
    with sandbox.open(plan_of(project, folder=folder)) as workspace:
        assert sh(workspace, "pwd").stdout.decode() == f"{workspace.inside_root}{begins}\n"


def test_no_job_sees_another_commit_or_where_the_repository_lies(
    project: Path, sandbox: BubblewrapSandbox, tmp_path: Path
) -> None:
    """The mirror holds later commits; the repository inside holds the objects of the task's commit alone."""
    early = plan_of(project)
    with sandbox.open(early):
        (pack,) = tmp_path.glob("work/mirrors/*/checkouts/*/tree/.git/objects/pack/*.pack")
        assert pack.stat().st_nlink == 2, "while the mirror holds no other commit, its file serves both"
    builders.write(project, {"later.py": "the answer\n"})
    builders.commit(project)
    with sandbox.open(plan_of(project)):
        pass
    shutil.rmtree(pack.parents[4])
    later = builders.git(project, "rev-parse", "HEAD")
    blob = builders.git(project, "rev-parse", "HEAD:later.py")
    with sandbox.open(early) as workspace:
        told = sh(
            workspace, "git log --all --format=%H; git cat-file --batch-all-objects --batch-check; git remote"
        )
        assert told.stdout.decode().split()[0] == builders.git(project, "rev-parse", "HEAD~1")
        assert later not in told.stdout.decode()
        assert blob not in told.stdout.decode()
        assert sh(workspace, f"grep -r {project} .git").stdout == b""
        assert not (workspace.shared[0] / ".git/hooks").exists()


def test_the_checkout_is_made_once_by_whoever_comes_first(project: Path, tmp_path: Path) -> None:
    """Jobs of several processes that begin together lay the commit's files out once, and wait for it."""
    plan = plan_of(project)

    def job(_: int) -> bytes:
        with BubblewrapSandbox(work=tmp_path / "work").open(plan) as workspace:
            return sh(workspace, "cat app.py").stdout

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(job, range(4))) == {b"one\ntwo\n"}
    assert len(checkouts(tmp_path / "work")) == 1


def test_who_waits_for_a_checkout_can_be_stopped(
    project: Path, sandbox: BubblewrapSandbox, tmp_path: Path
) -> None:
    """Ctrl-C ends the waiting for another process that lays the files out."""
    with sandbox.open(plan_of(project)):
        pass
    (checkout,) = checkouts(tmp_path / "work")
    stop = threading.Event()
    stop.set()
    with holding(checkout.parent, checkout.name):
        plan = plan_of(project, cancelled=stop)
        with pytest.raises(WorkspaceUnavailable, match="stopped"), sandbox.open(plan):
            pass


DIES = """
import os, signal, sys
from pathlib import Path
from nightschool.adapters import {module}
from nightschool.adapters.bubblewrap import BubblewrapSandbox
from nightschool.core.sandboxes import SandboxPlan
from nightschool.core.tasks import GitSource
def die(*_, **__): os.kill(os.getpid(), signal.SIGKILL)
{module}.{name} = die
plan = SandboxPlan(workspace=GitSource(repository=sys.argv[2], commit=sys.argv[3]))
with BubblewrapSandbox(work=Path(sys.argv[1])).open(plan):
    die()
"""


@pytest.mark.parametrize("place", ["leftovers.finish", "workspaces.write_below", "leftovers.make_room"])
def test_a_process_that_is_killed_leaves_nothing_for_good(place: str, project: Path, tmp_path: Path) -> None:
    """Killed while it laid the files out, when it had them in place, or when it worked on them: the next run
    has no half of a checkout, and nothing of the job is left."""
    module, _, name = place.partition(".")
    plan, work = plan_of(project), tmp_path / "work"
    assert isinstance(plan.workspace, GitSource)
    script = DIES.format(module=module, name=name)
    command = [sys.executable, "-c", script, str(work), str(project), plan.workspace.commit]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert list((work / "jobs").iterdir())
    with UnsafeProcessSandbox(work=work).open(SandboxPlan(workspace=FilesSource())):
        assert [path.name for path in checkouts(work) if not (path / leftovers.FINISHED).exists()] == []
        assert len(list((work / "jobs").iterdir())) == 1
    with BubblewrapSandbox(work=work).open(plan) as workspace:
        assert sh(workspace, "cat app.py").stdout == b"one\ntwo\n"


def test_what_was_half_removed_is_no_checkout(
    project: Path, sandbox: BubblewrapSandbox, tmp_path: Path
) -> None:
    """A removal that was killed left a part under another name: it goes, and the checkout is made anew."""
    with sandbox.open(plan_of(project)):
        pass
    (checkout,) = checkouts(tmp_path / "work")
    going = checkout.rename(checkout.with_name(f"{leftovers.GOING}{checkout.name}"))
    (going / "tree/app.py").unlink()
    with BubblewrapSandbox(work=tmp_path / "work").open(plan_of(project)) as workspace:
        assert sh(workspace, "cat app.py").stdout == b"one\ntwo\n"
    assert not going.exists()


def test_a_checkout_in_use_stays_however_old_and_large(
    project: Path, sandbox: BubblewrapSandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Age and size take away what nobody uses: the one used last the longest ago first."""
    work = tmp_path / "work"
    with sandbox.open(plan_of(project)):
        (first,) = checkouts(work)
        os.utime(first / leftovers.FINISHED, (0, 0))
        monkeypatch.setattr(leftovers, "KEPT_BYTES", 0)
        with UnsafeProcessSandbox(work=work).open(SandboxPlan(workspace=FilesSource())):
            assert checkouts(work) == [first]
        builders.write(project, {"more.py": "1\n"})
        builders.commit(project)
        with sandbox.open(plan_of(project)):
            (second,) = set(checkouts(work)) - {first}
            leftovers.make_room(first.parent)
            assert set(checkouts(work)) == {first, second}
        leftovers.make_room(first.parent)
        assert checkouts(work) == [first]
    with UnsafeProcessSandbox(work=work).open(SandboxPlan(workspace=FilesSource())):
        assert checkouts(work) == []


def test_a_large_file_that_came_later_is_there_for_later_jobs(tmp_path: Path) -> None:
    """A checkout is made anew when the person has by now what was not to be had; else it is shared on."""
    folder = builders.lfs(tmp_path).root
    pointer = builders.LFS_POINTER
    oid = next(line for line in pointer.splitlines() if line.startswith("oid")).removeprefix("oid sha256:")
    sandbox = BubblewrapSandbox(work=tmp_path / "work")
    plan = plan_of(folder, provision=Provision(lfs=True))
    for _ in range(2):
        with sandbox.open(plan) as workspace:
            assert sh(workspace, "cat big.bin").stdout.decode() == pointer
    assert len(checkouts(tmp_path / "work")) == 1
    kept = folder / ".git/lfs/objects" / oid[:2] / oid[2:4] / oid
    kept.parent.mkdir(parents=True)
    kept.write_bytes(b"not what the pointer names")
    for _ in range(2):
        with sandbox.open(plan) as workspace:
            assert sh(workspace, "cat big.bin").stdout.decode() == pointer
    assert len(checkouts(tmp_path / "work")) == 2


def test_only_what_a_job_writes_counts_for_its_disk(project: Path, sandbox: BubblewrapSandbox) -> None:
    """A repository that is larger than a job's allowance leaves it whole; what the job writes into it, or
    holds open there without a name, uses it up."""
    builders.write(project, {"big.bin": "x" * (4 << 20)})
    builders.commit(project)
    plan = plan_of(project, disk_bytes=2 << 20)
    holds = "exec 9>held; rm held; for i in $(seq 300); do head -c 100000 /dev/zero >&9; sleep 0.01; done"
    fills = "for i in $(seq 300); do head -c 100000 /dev/zero > more$i; sleep 0.01; done"
    with sandbox.open(plan) as workspace:
        done = sh(workspace, "cat big.bin | wc -c; echo small > small; rm big.bin; sleep 1")
        assert (done.exit_code, done.overfull) == (0, False)
        assert sh(workspace, holds).overfull
        assert sh(workspace, fills).overfull


def test_all_that_is_ours_is_for_the_person_alone(
    project: Path, sandbox: BubblewrapSandbox, tmp_path: Path
) -> None:
    """Files and folders of ours are 0600 and 0700; those of a commit and of a set-up keep their modes, in
    folders that nobody else enters."""
    plan = plan_of(project, provision=Provision(setup="echo made > made; mkdir -p ~/.cache; chmod 755 made"))
    old = os.umask(0)
    try:
        with sandbox.open(plan) as workspace:
            assert sh(workspace, "stat -c %a made app.py").stdout == b"755\n666\n"
    finally:
        os.umask(old)
    work = tmp_path / "work"
    of_a_commit = [*work.glob("mirrors/*/checkouts/*/tree")]
    of_a_set_up = [*work.glob("mirrors/*/layers/*/workspace"), *work.glob("mirrors/*/layers/*/home/*")]
    assert (len(of_a_commit), len(of_a_set_up)) == (1, 2)
    for path in [work, *work.rglob("*")]:
        if not any(path.is_relative_to(folder) for folder in (*of_a_commit, *of_a_set_up)):
            assert stat.S_IMODE(path.lstat().st_mode) & 0o077 == 0, path


def test_where_overlays_cannot_be_had_doctor_says_so(
    project: Path, sandbox: BubblewrapSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each practice has a whole copy then, and the person reads why it costs more and what mends it."""
    assert (bubblewrap.SHARED, True, "") in sandbox.probe()
    monkeypatch.setattr(bubblewrap, "can_overlay", lambda *_: False)
    ((works, mend),) = [(works, mend) for part, works, mend in sandbox.probe() if part == bubblewrap.SHARED]
    assert not works
    assert mend.startswith("optional, each practice takes a whole copy")
    with sandbox.open(plan_of(project)) as workspace:
        assert workspace.shared == ()
        assert (workspace.root / "app.py").exists()


def test_an_old_bubblewrap_before_one_that_can_is_passed_over(project: Path, tmp_path: Path) -> None:
    """The system's own works and knows no overlays; the wheel's does: then that one is taken."""
    wheel = bubblewrap_binary.wheel_binary()
    old = tmp_path / "bwrap"
    old.write_text(
        '#!/bin/sh\ncase "$*" in *overlay*) echo "bwrap: Unknown option" >&2; exit 1;; esac\n'
        f'exec {wheel} "$@"\n'
    )
    old.chmod(0o755)
    assert wheel is not None
    with BubblewrapSandbox(work=tmp_path / "one", binaries=[old]).open(plan_of(project)) as workspace:
        assert workspace.shared == ()
        assert sh(workspace, "cat app.py").stdout == b"one\ntwo\n"
    with BubblewrapSandbox(work=tmp_path / "two", binaries=[old, wheel]).open(plan_of(project)) as workspace:
        assert workspace.shared


def test_a_link_of_the_commit_leads_no_harness_out(project: Path, sandbox: BubblewrapSandbox) -> None:
    """As with a whole copy: placing through a folder that is a link to elsewhere is refused."""
    (project / ".claude/skills").unlink()
    (project / ".claude/skills").symlink_to("/etc")
    builders.commit(project)
    surface = ClaudeCodeSurface(environment={})
    with sandbox.open(plan_of(project)) as workspace:
        for folder in (workspace.root, *workspace.shared):
            workspace.bring(surface.touches(HARNESS, folder))
        with pytest.raises(UserError, match="leads out"):
            surface.place(HARNESS, workspace.root, workspace.home)
    plan = plan_of(project, files=(File(path="out/planted", content=b"x"),))
    with pytest.raises(WorkspaceUnavailable, match="link"), sandbox.open(plan):
        pass
