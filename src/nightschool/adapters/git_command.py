"""Runs git so that nothing of the person's settings takes part and nothing of theirs is written."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "gc.auto=0",
    # A pack is kept as it came: taken apart, each object would be compressed again, here and by the next.
    "fetch.unpackLimit=1",
    "maintenance.auto=false",
    "fetch.writeCommitGraph=false",
    "submodule.recurse=false",
    "advice.detachedHead=false",
    # A repository that another user owns (a container, a shared folder) is read as any other: nothing of
    # what its settings could start (hooks, monitors, filters, transports) is ever started here.
    "safe.directory=*",
)
ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_LFS_SKIP_SMUDGE": "1",
    # No lock is taken and no index refreshed by a command that only reads.
    "GIT_OPTIONAL_LOCKS": "0",
    # A partial clone must not fetch what it lacks into the person's own folder.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "HOME": "/nonexistent",
    "LC_ALL": "C",
}
NO_PROTOCOL = "none"
"""The name of no transport: git then refuses to fetch from anywhere."""
SECONDS = 600


class GitFailed(Exception):
    """Git ended with an error. The text is what it said."""


def git_program() -> str | None:
    return shutil.which("git")


def git(
    arguments: Sequence[str],
    *,
    folder: Path,
    protocol: str = NO_PROTOCOL,
    settings: Sequence[str] = (),
    private: bool = False,
) -> bytes:
    """What git printed. Raises `GitFailed`, also where git is absent. What it makes is for everybody whom
    the person lets read files (umask); `private`: for the person alone."""
    program = git_program()
    if program is None:
        raise GitFailed("git is not installed (no `git` in PATH)")
    options = [part for setting in (*SETTINGS, *settings) for part in ("-c", setting)]
    try:
        done = subprocess.run(
            [program, *options, *arguments],
            cwd=folder,
            env={**ENVIRONMENT, "PATH": os.environ.get("PATH", os.defpath), "GIT_ALLOW_PROTOCOL": protocol},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
            umask=0o077 if private else -1,
        )
    except subprocess.TimeoutExpired as error:
        raise GitFailed(f"git {arguments[0]} did not end within {SECONDS} s") from error
    except (OSError, ValueError) as error:  # ValueError: a NUL in an argument or in the folder
        raise GitFailed(f"git cannot be run in {folder}: {error}") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise GitFailed(said or f"git {arguments[0]} ended with code {done.returncode}")
    return done.stdout
