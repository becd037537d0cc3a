"""Projects as people have them: real git repositories of every kind, with sessions that ran in them.

Each builder makes one kind below a folder and says where its sessions ran. The commits are older than
the sessions; what a person's git would run by itself (hooks, filters, monitors) leaves a mark where it does.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from transcripts import claude, claude_call, claude_result, write_rows

BORN = "2026-02-01T10:00:00Z"
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    "GIT_AUTHOR_DATE": BORN,
    "GIT_COMMITTER_DATE": BORN,
}
REQUESTS = (
    "Parse the uploaded invoices and index their totals by month",
    "Render a cache page for the schema of every queue we own",
    "Route tokens from the login form into the session table",
    "Translate all labels of the settings dialog into Danish",
    "Draw a histogram of response times below the status banner",
    "Import the address book from a vcard file without duplicates",
)
LFS_POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 9\n"


def git(folder: Path, *arguments: str) -> str:
    """What git says in a folder, without any of the settings of whoever runs the tests."""
    done = subprocess.run(
        ["/usr/bin/env", "git", *arguments],
        cwd=folder,
        env=ENVIRONMENT,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One project: where its sessions ran, and the root that they belong to."""

    name: str
    directory: Path
    root: Path
    branch: str = "main"
    repository: Path | None = None
    """What must be bit-identical afterwards; None: the root."""

    @property
    def kept(self) -> Path:
        return self.repository or self.root


def repository(folder: Path, *options: str) -> Path:
    """A small project of one commit, whose hooks and monitor leave marks."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main", *options)
    write(folder, {"app.py": "one\n", "CLAUDE.md": "# app\n", ".gitignore": "ignored\n.env\n"})
    commit(folder)
    return folder


def write(folder: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def commit(folder: Path, message: str = "work") -> str:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", message)
    return git(folder, "rev-parse", "HEAD")


def traps(folder: Path) -> None:
    """Hooks, filters and monitors of the person's own git, each of which leaves a mark where it runs."""
    mark = folder.parent / "trapped"
    git_folder = Path(git(folder, "rev-parse", "--path-format=absolute", "--git-common-dir"))
    for hook in ("post-checkout", "post-index-change", "reference-transaction", "pre-auto-gc"):
        (git_folder / "hooks").mkdir(exist_ok=True)
        (git_folder / "hooks" / hook).write_text(f"#!/bin/sh\ntouch '{mark}'\n")
        (git_folder / "hooks" / hook).chmod(0o755)
    for key in ("core.fsmonitor", "uploadpack.packObjectsHook", "core.sshCommand", "filter.lfs.smudge"):
        git(folder, "config", key, f"touch '{mark}'; cat")


def plain(base: Path) -> Kind:
    folder = repository(base / "plain")
    return Kind(name="plain", directory=folder, root=folder)


def monorepo(base: Path) -> Kind:
    folder = repository(base / "monorepo")
    texts = {"web/app.ts": "1\n", "web/CLAUDE.md": "# web\n", "api/a.py": "1\n"}
    write(folder, {f"packages/{name}": text for name, text in texts.items()})
    commit(folder)
    return Kind(name="monorepo", directory=folder / "packages/web", root=folder)


def worktree(base: Path) -> Kind:
    folder = repository(base / "main-tree")
    git(folder, "worktree", "add", "-q", "-b", "topic", str(base / "elsewhere"))
    write(base / "elsewhere", {"topic.py": "topic\n"})
    commit(base / "elsewhere")
    return Kind(name="worktree", directory=base / "elsewhere", root=folder, branch="topic")


def bare_with_worktrees(base: Path) -> Kind:
    """No main working tree: a bare repository, and a folder for each branch."""
    source = repository(base / "source")
    bare = base / "app.git"
    git(base, "clone", "-q", "--bare", str(source), str(bare))
    git(bare, "worktree", "add", "-q", str(base / "app-main"), "main")
    git(bare, "worktree", "add", "-q", "-b", "topic", str(base / "app-topic"))
    return Kind(
        name="bare-with-worktrees",
        directory=base / "app-topic",
        root=base / "app-main",
        branch="topic",
        repository=bare,
    )


def submodules(base: Path) -> Kind:
    library = repository(base / "library")
    folder = repository(base / "super")
    git(folder, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "vendor/lib")
    commit(folder)
    return Kind(name="submodules", directory=folder, root=folder)


def inside_a_submodule(base: Path) -> Kind:
    outer = submodules(base)
    folder = outer.root / "vendor/lib"
    return Kind(name="inside-a-submodule", directory=folder, root=folder, repository=outer.root)


def lfs(base: Path) -> Kind:
    """Large files as pointers, with the filter that would fetch them."""
    folder = repository(base / "lfs")
    write(folder, {".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n", "big.bin": LFS_POINTER})
    commit(folder)
    git(folder, "config", "filter.lfs.required", "true")
    return Kind(name="lfs", directory=folder, root=folder)


def partial(base: Path) -> Kind:
    """A clone without the blobs of what is not checked out."""
    source = repository(base / "source")
    git(source, "config", "uploadpack.allowFilter", "true")
    git(base, "clone", "-q", "--filter=blob:none", source.as_uri(), str(base / "partial"))
    return Kind(name="partial", directory=base / "partial", root=base / "partial")


def shallow(base: Path) -> Kind:
    source = repository(base / "source")
    write(source, {"later.py": "later\n"})
    commit(source)
    git(base, "clone", "-q", "--depth=1", source.as_uri(), str(base / "shallow"))
    return Kind(name="shallow", directory=base / "shallow", root=base / "shallow")


def sha256(base: Path) -> Kind:
    folder = repository(base / "sha256", "--object-format=sha256")
    return Kind(name="sha256", directory=folder, root=folder)


def bare(base: Path) -> Kind:
    """A session in a bare repository itself: git knows it, and there are no files to work on."""
    source = repository(base / "source")
    git(base, "clone", "-q", "--bare", str(source), str(base / "bare.git"))
    return Kind(name="bare", directory=base / "bare.git", root=base / "bare.git")


def detached(base: Path) -> Kind:
    folder = repository(base / "detached")
    write(folder, {"later.py": "later\n"})
    commit(folder)
    git(folder, "checkout", "-q", "--detach", "HEAD~1")
    return Kind(name="detached", directory=folder, root=folder, branch="HEAD")


def odd_branch(base: Path) -> Kind:
    folder = repository(base / "odd project's name")
    git(folder, "checkout", "-q", "-b", "feature/ü-#1+(x)&$HOME;'\"")
    write(folder, {"odd.py": "odd\n"})
    commit(folder)
    git(folder, "checkout", "-q", "main")
    return Kind(name="odd-branch", directory=folder, root=folder, branch="feature/ü-#1+(x)&$HOME;'\"")


def nested(base: Path) -> Kind:
    """A repository of its own inside of another, which knows nothing of it."""
    outer = repository(base / "outer")
    inner = repository(outer / "ignored" / "inner")
    return Kind(name="nested", directory=inner, root=inner, repository=outer)


def around_a_nested(base: Path) -> Kind:
    """The same, seen from outside: the inner one is a link to a commit that no one can fetch."""
    outer = repository(base / "outer")
    repository(outer / "inner")
    git(outer, "-c", "advice.addEmbeddedRepo=false", "add", "-A")
    git(outer, "commit", "-q", "-m", "embedded")
    return Kind(name="around-a-nested", directory=outer, root=outer)


def odd_files(base: Path) -> Kind:
    """Names that collide where case does not count, links that lead out, names that are no UTF-8."""
    folder = repository(base / "odd-files")
    write(folder, {"README": "upper\n", "readme": "lower\n", "a\nb": "two lines\n", "-rf": "option\n"})
    (folder / "passwords").symlink_to("/etc/passwd")
    (folder / "up").symlink_to("../../..")
    (folder / "loop").symlink_to("loop")
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff.txt")).write_text("no UTF-8\n")
    commit(folder)
    return Kind(name="odd-files", directory=folder, root=folder)


def converted(base: Path) -> Kind:
    """Attributes that convert what is checked out: line ends, another encoding, an `ident`."""
    folder = repository(base / "converted")
    attributes = "*.bat text eol=crlf\n*.utf text working-tree-encoding=UTF-16\n*.id ident\n"
    write(folder, {".gitattributes": attributes, "run.bat": "echo\n", "a.id": "$Id$\n"})
    (folder / "a.utf").write_bytes("wide\n".encode("utf-16"))
    commit(folder)
    return Kind(name="converted", directory=folder, root=folder)


def dirty(base: Path) -> Kind:
    """Changes that no commit holds, in files that no session shows; and secrets that git ignores."""
    folder = repository(base / "dirty")
    write(folder, {"app.py": "changed\n", "untracked.py": "mine\n", ".env": "TOKEN=do-not-copy-me\n"})
    git(folder, "add", "untracked.py")
    return Kind(name="dirty", directory=folder, root=folder)


def sparse(base: Path) -> Kind:
    """A sparse checkout: the person sees a part of what the commit holds."""
    folder = monorepo(base).root
    git(folder, "sparse-checkout", "set", "packages/web")
    return Kind(name="sparse", directory=folder / "packages/web", root=folder)


def no_git(base: Path) -> Kind:
    folder = base / "no-git"
    write(folder, {"app.py": "one\n", "CLAUDE.md": "# app\n"})
    return Kind(name="no-git", directory=folder, root=folder)


KINDS: tuple[Callable[[Path], Kind], ...] = (
    plain,
    monorepo,
    worktree,
    bare_with_worktrees,
    submodules,
    inside_a_submodule,
    lfs,
    partial,
    shallow,
    sha256,
    detached,
    odd_branch,
    nested,
    around_a_nested,
    odd_files,
    converted,
    dirty,
    sparse,
    no_git,
)


def sessions(home: Path, kind: Kind, *, shows: Iterable[tuple[str, str]] = (), count: int = 5) -> None:
    """Transcripts of Claude Code in the kind's folder: each time npm is used, and pnpm asked for.

    `shows`: files that each session reads whole at its start.
    """
    slug = "".join(char if char.isalnum() else "-" for char in str(kind.directory))
    for number, request in enumerate(REQUESTS[:count]):
        name = f"{number}{digest(str(kind.directory))}"
        rows = [claude("user", 0, request)]
        for place, (path, text) in enumerate(shows):
            numbered = "".join(f"{n:6}\u2192{line}\n" for n, line in enumerate(text.splitlines(), start=1))
            rows += [
                claude_call(10 + place, "Read", file_path=str(kind.directory / path)),
                claude_result(50 + place, 10 + place, numbered.rstrip("\n")),
            ]
        rows += [
            claude_call(100, "Bash", command="npm install left-pad"),
            claude_result(101, 100, "added 1 package"),
            claude("user", 102, "use pnpm, not npm"),
            claude_call(103, "Bash", command="pnpm add left-pad"),
            claude_result(104, 103, "done"),
        ]
        told = [
            {
                **row,
                "cwd": str(kind.directory),
                "gitBranch": kind.branch,
                "sessionId": name,
                "uuid": f"{name}-{row['uuid']}",
                "timestamp": f"2026-03-{number + 1:02}{row['timestamp'][10:]}",
            }
            for row in rows
        ]
        write_rows(home / ".claude/projects" / slug / f"{name}.jsonl", told)


def digest(text: str) -> str:
    """The rest of a session's id, made of its folder's name."""
    known = text.encode().hex()[-12:].rjust(12, "0")
    return f"1111111-2222-4333-8444-{known}"


def agreeing(refusal: str) -> list[str]:
    """The flags that agree to the set-ups of a refused run."""
    found = re.search(r"add `(--agree-setup [^`]+)`", " ".join(refusal.split()))
    assert found is not None, refusal
    return found[1].split()
