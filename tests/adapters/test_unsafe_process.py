"""What the process without isolation still promises."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from nightschool.adapters.unsafe_process import UnsafeProcessSandbox
from nightschool.core.errors import SandboxUnavailable
from nightschool.core.harness import File
from nightschool.core.sandboxes import Command, SandboxPlan
from nightschool.core.tasks import FilesSource


def test_paths_inside_are_the_paths_outside(tmp_path: Path) -> None:
    """Nothing is mounted, so a job sees its workspace where it lies."""
    plan = SandboxPlan(workspace=FilesSource(files=(File(path="a", content=b"x"),)))
    with UnsafeProcessSandbox(work=tmp_path).open(plan) as workspace:
        assert workspace.inside_root == str(workspace.root)
        done = workspace.execute(Command(argv=("/bin/sh", "-c", "pwd; echo $HOME")), threading.Event())
        assert done.stdout.decode().split() == [str(workspace.root), str(workspace.home)]


def test_what_would_need_a_mount_is_refused(tmp_path: Path) -> None:
    """A plan that shows a host path under another name is refused and not half done."""
    program = tmp_path / "agent"
    program.write_text("")
    plan = SandboxPlan(workspace=FilesSource(), readable=((str(program), "/opt/agent"),))
    sandbox = UnsafeProcessSandbox(work=tmp_path / "work")
    with pytest.raises(SandboxUnavailable, match="bubblewrap"), sandbox.open(plan):
        pass
    same = SandboxPlan(workspace=FilesSource(), readable=((str(program), str(program)),))
    with sandbox.open(same) as workspace:
        assert workspace.root.is_dir()


def test_the_probe_does_not_call_it_safe(tmp_path: Path) -> None:
    """Even where it works, what a person reads points to the real sandbox."""
    ((part, works, mend),) = UnsafeProcessSandbox(work=tmp_path).probe()
    assert works
    assert "without isolation" in part
    assert "bubblewrap" in mend
