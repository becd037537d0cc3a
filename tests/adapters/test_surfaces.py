"""The surfaces of Claude Code and Codex."""

from __future__ import annotations

from pathlib import Path

import pytest

from nightschool.adapters.claude_code.surface import ClaudeCodeSurface
from nightschool.adapters.codex.surface import LIMIT, CodexSurface
from nightschool.core.errors import UserError
from nightschool.core.harness import File, Harness
from nightschool.core.ports import Surface
from nightschool.testing.conformance.surface import check_surface

SURFACES: list[Surface] = [ClaudeCodeSurface(), CodexSurface()]


def write(base: Path, *names: str) -> None:
    for name in names:
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).write_text(f"text of {name}")


@pytest.mark.parametrize("surface", SURFACES, ids=lambda surface: surface.name)
def test_conformance(surface: Surface, tmp_path: Path) -> None:
    """Each surface keeps the contract of the port."""
    check_surface(surface, tmp_path)


def test_claude_code_loads_what_shapes_it(tmp_path: Path) -> None:
    """Memory, rules, skills, sub-agents, hooks of the project; of the person only what holds no key."""
    home, project = tmp_path, tmp_path / "project"
    wanted = ("CLAUDE.md", ".claude/rules/a/b.md", ".claude/skills/s/SKILL.md", ".claude/settings.json")
    write(project, *wanted, "AGENTS.md", ".claude/settings.local.json", ".claude/worktrees/x/CLAUDE.md")
    write(home, ".claude/CLAUDE.md", ".claude/agents/r.md", ".claude/settings.json")
    loaded = {file.path for file in ClaudeCodeSurface().load(project, home).files}
    assert loaded == {f"project/{name}" for name in wanted} | {
        "user/.claude/CLAUDE.md",
        "user/.claude/agents/r.md",
    }


def test_codex_loads_what_shapes_it(tmp_path: Path) -> None:
    """AGENTS.md and skills, without the skills that Codex unpacks for itself."""
    home, project = tmp_path, tmp_path / "project"
    wanted = ("AGENTS.md", ".codex/skills/s/SKILL.md", ".agents/skills/t/SKILL.md")
    write(project, *wanted, "CLAUDE.md", ".codex/config.toml")
    write(home, ".codex/AGENTS.md", ".codex/skills/.system/imagegen/SKILL.md", ".codex/sessions/x.jsonl")
    loaded = {file.path for file in CodexSurface().load(project, home).files}
    assert loaded == {f"project/{name}" for name in wanted} | {"user/.codex/AGENTS.md"}


def test_imports_are_followed_and_stay_inside(tmp_path: Path) -> None:
    """`@file` brings the file and what it imports; what lies elsewhere is not read."""
    home, project = tmp_path / "home", tmp_path / "project"
    write(tmp_path, "outside.md")
    write(home, "notes/mine.md")
    write(project, "docs/a.md")
    (project / "docs/deep.md").write_text("back to @a.md and @deep.md")
    (project / "CLAUDE.md").write_text(
        "See @docs/deep.md, @~/notes/mine.md, @../outside.md, mail@example.org @gone"
    )
    loaded = {file.path for file in ClaudeCodeSurface().load(project, home).files}
    assert loaded == {"project/CLAUDE.md", "project/docs/deep.md", "project/docs/a.md", "user/notes/mine.md"}


def test_loops_of_links_end(tmp_path: Path) -> None:
    """A folder that links to itself is read once, a dangling link not at all."""
    write(tmp_path, ".claude/skills/s/SKILL.md")
    (tmp_path / ".claude/skills/s/again").symlink_to("..")
    (tmp_path / ".claude/skills/gone").symlink_to("nowhere")
    loaded = [file.path for file in ClaudeCodeSurface().load(tmp_path, tmp_path / "home").files]
    assert loaded == ["project/.claude/skills/s/SKILL.md"]


def test_a_name_that_cannot_be_placed_is_named(tmp_path: Path) -> None:
    """A file that no tree can hold is an error that names it, not a file less."""
    write(tmp_path, ".claude/skills/s/odd\\name")
    with pytest.raises(UserError, match="odd"):
        ClaudeCodeSurface().load(tmp_path, tmp_path / "home")


def test_codex_names_what_would_be_cut_or_shadowed() -> None:
    """AGENTS.md over 32 KiB, and AGENTS.md beside an override."""
    big = File(path="project/AGENTS.md", content=b"x" * (LIMIT + 1))
    assert [p.path for p in CodexSurface().problems(Harness(files=(big,)))] == ["project/AGENTS.md"]
    small = (
        File(path="project/AGENTS.md", content=b"a"),
        File(path="project/AGENTS.override.md", content=b"b"),
    )
    (problem,) = CodexSurface().problems(Harness.of(small))
    assert "AGENTS.override.md" in problem.text


def test_skills_without_a_head_are_named() -> None:
    """A skill that says neither name nor description would never be listed."""
    bad = File(path="project/.claude/skills/s/SKILL.md", content=b"---\nname: s\n---\nBody")
    good = File(path="project/.claude/skills/s/SKILL.md", content=b"---\nname: s\ndescription: d\n---\nBody")
    (problem,) = ClaudeCodeSurface().problems(Harness(files=(bad,)))
    assert "description" in problem.text
    assert list(ClaudeCodeSurface().problems(Harness(files=(good,)))) == []
