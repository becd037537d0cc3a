"""Mirrors and layers are copies: what nobody used for long, and of which nothing is left, is removed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import project_builders as builders
from nightschool.adapters import leftovers
from nightschool.adapters.file_locks import holding
from nightschool.adapters.unsafe_process import UnsafeProcessSandbox
from nightschool.core.jobs import Provision
from nightschool.core.sandboxes import SandboxPlan
from nightschool.core.tasks import FilesSource, GitSource

LONG_AGO = leftovers.KEPT_SECONDS + 60


def age(path: Path) -> None:
    status = path.stat()
    os.utime(path, (status.st_atime - LONG_AGO, status.st_mtime - LONG_AGO))


def mirrors(work: Path) -> list[Path]:
    return [path for path in (work / "mirrors").iterdir() if path.is_dir()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project that was set up once, for a job that is over."""
    folder = builders.repository(tmp_path / "app")
    source = GitSource(repository=str(folder), commit=builders.git(folder, "rev-parse", "HEAD"))
    plan = SandboxPlan(workspace=source, provision=Provision(setup="mkdir made"))
    with UnsafeProcessSandbox(work=tmp_path / "work").open(plan):
        pass
    return folder


def opened_again(work: Path) -> None:
    """A later run begins with a look at what is left of earlier ones."""
    with UnsafeProcessSandbox(work=work).open(SandboxPlan(workspace=FilesSource())):
        pass


def test_a_mirror_goes_when_its_repository_is_gone_for_long(folder: Path, tmp_path: Path) -> None:
    """Gone alone is no reason, nor is age alone: the mirror still serves what the person removed."""
    work = tmp_path / "work"
    (mirror,) = mirrors(work)
    age(mirror / leftovers.SOURCE)
    opened_again(work)
    assert mirrors(work) == [mirror]
    folder.rename(tmp_path / "gone")
    leftovers.used(mirror, folder)
    opened_again(work)
    assert mirrors(work) == [mirror]
    age(mirror / leftovers.SOURCE)
    with holding(work / "mirrors", mirror.name):
        opened_again(work)
    assert mirrors(work) == [mirror]
    opened_again(work)
    assert mirrors(work) == []


def test_a_layer_goes_after_long_without_use(folder: Path, tmp_path: Path) -> None:
    """A layer can be made anew; the mirror beside it stays."""
    work = tmp_path / "work"
    (mirror,) = mirrors(work)
    (finished,) = mirror.glob("layers/*/finished.json")
    opened_again(work)
    assert finished.exists()
    age(finished)
    opened_again(work)
    assert not finished.parent.exists()
    assert mirrors(work) == [mirror]
