"""The demo's material: a small project, sessions that real agents wrote in it, and an apprentice's script.

`scripts/record_demo` remakes the sessions. Vendors' texts in them are `[cut]`; the person is nobody.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from nightschool.testing.script import Script, read_script

HERE = Path(__file__).parent
RECORDED_HOME = "/home/sam"
"""HOME as the recorded rows name it; the project lay in `ledger` below it."""
BORN = "2026-11-02T08:00:00Z"
"""When the repository was committed: the same tree, time and author give the commit that the rows name."""


def repository(folder: Path) -> None:
    """The demo's project as a git repository of one commit."""
    shutil.copytree(HERE / "project", folder, ignore=shutil.ignore_patterns("__pycache__"))
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    who = {"NAME": "Sam", "EMAIL": "sam@example.org", "DATE": BORN}
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_AUTHOR_{key}": value for key, value in who.items()},
        **{f"GIT_COMMITTER_{key}": value for key, value in who.items()},
    }
    for command in (
        ["init", "--quiet", "--initial-branch=main"],
        ["add", "--all"],
        ["commit", "--quiet", "--message=Ledger"],
    ):
        subprocess.run(["git", *command], cwd=folder, env=environment, check=True)  # noqa: S607 - the person's git


def lay_out(home: Path) -> Path:
    """A HOME as the recorded person had it: the project's folder, which is returned, and the transcripts
    where both agents keep them, with this HOME in the place of the recorded one."""
    project = home / "ledger"
    repository(project)
    for path in sorted((HERE / "transcripts/claude-code").glob("*.jsonl")):
        slug = "".join(char if char.isalnum() else "-" for char in str(project))
        _copy(path, home / ".claude/projects" / slug / path.name, home)
    for path in sorted((HERE / "transcripts/codex").glob("*.jsonl")):
        year, month, day = path.name.removeprefix("rollout-")[:10].split("-")
        _copy(path, home / ".codex/sessions" / year / month / day / path.name, home)
    return project


def apprentice() -> Script:
    """How the demo's apprentice works: mostly by a rule that its memory holds, seldom without it."""
    return read_script(HERE / "apprentice.json")


def _copy(path: Path, to: Path, home: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    text = path.read_text(encoding="utf-8")
    to.write_text(text.replace(RECORDED_HOME, str(home)), encoding="utf-8")
