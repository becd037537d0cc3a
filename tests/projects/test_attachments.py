"""Submodules and large files, where a setting asks for them: from the person's folder, nothing fetched."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import project_builders as builders
from cycle_builders import tree
from nightschool.adapters.workspaces import Workspaces
from nightschool.core.jobs import Provision
from nightschool.core.sandboxes import SandboxPlan
from nightschool.core.tasks import GitSource

CONTENT = b"\x00large\n" * 100


def plan_of(folder: Path, provision: Provision) -> SandboxPlan:
    source = GitSource(repository=str(folder), commit=builders.git(folder, "rev-parse", "HEAD"))
    return SandboxPlan(workspace=source, provision=provision)


def test_submodules_are_laid_by_setting_alone(tmp_path: Path) -> None:
    """Off, a submodule is an empty folder; on, its files are there, and the workspace's git is clean."""
    folder = builders.submodules(tmp_path).root
    builders.traps(folder)
    (tmp_path / "library").rename(tmp_path / "gone")
    before = tree(folder)
    plan = plan_of(folder, Provision(submodules=True))
    workspaces = Workspaces(tmp_path / "work")
    with workspaces.open(plan) as opened:
        assert (opened.root / "vendor/lib/app.py").read_text() == "one\n"
        assert not (opened.root / "vendor/lib/.git").exists()
        assert builders.git(opened.root, "status", "--porcelain") == ""
        (opened.root / "vendor/lib/app.py").write_text("two\n")
        assert [change.path for change in opened.changes()] == ["vendor/lib/app.py"]
    with workspaces.open(replace(plan, provision=Provision())) as opened:
        assert list((opened.root / "vendor/lib").iterdir()) == []
    assert tree(folder) == before
    assert not (tmp_path / "trapped").exists()


def test_a_name_that_leads_out_is_no_submodule(tmp_path: Path) -> None:
    """`.gitmodules` is content of a clone: its names lead nowhere but into git's own folder of modules."""
    folder = builders.submodules(tmp_path).root
    text = (folder / ".gitmodules").read_text().replace('"vendor/lib"', '"../../../library/.git"')
    builders.write(folder, {".gitmodules": text})
    builders.commit(folder)
    with Workspaces(tmp_path / "work").open(plan_of(folder, Provision(submodules=True))) as opened:
        assert list((opened.root / "vendor/lib").iterdir()) == []


def test_large_files_have_their_content_by_setting_alone(tmp_path: Path) -> None:
    """What the person's folder has stands in the place of its pointer; what it lacks, or has wrong, does
    not, and no filter of theirs runs."""
    folder = builders.lfs(tmp_path).root
    oid = hashlib.sha256(CONTENT).hexdigest()
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {len(CONTENT)}\n"
    builders.write(folder, {"sub/there.bin": pointer, "wrong.bin": pointer.replace(oid, "1" * 64)})
    builders.git(folder, "config", "--unset", "filter.lfs.required")
    builders.commit(folder)
    for name, content in ((oid, CONTENT), ("1" * 64, b"other")):
        kept = folder / ".git/lfs/objects" / name[:2] / name[2:4] / name
        kept.parent.mkdir(parents=True)
        kept.write_bytes(content)
    builders.traps(folder)
    before = tree(folder)
    with Workspaces(tmp_path / "work").open(plan_of(folder, Provision(lfs=True))) as opened:
        assert (opened.root / "sub/there.bin").read_bytes() == CONTENT
        assert (opened.root / "big.bin").read_text() == builders.LFS_POINTER
        assert (opened.root / "wrong.bin").read_text().startswith("version https://git-lfs")
        assert builders.git(opened.root, "status", "--porcelain") == ""
        assert opened.changes() == ()
    with Workspaces(tmp_path / "work").open(plan_of(folder, Provision())) as opened:
        assert (opened.root / "sub/there.bin").read_text() == pointer
    assert tree(folder) == before
    assert not (tmp_path / "trapped").exists()
