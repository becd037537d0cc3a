"""The surfaces of Claude Code and Codex."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nightschool.adapters.claude_code.home import NOT_IN_A_FOLDER
from nightschool.adapters.claude_code.surface import ClaudeCodeSurface
from nightschool.adapters.codex.surface import LIMIT, CodexSurface
from nightschool.core.errors import UserError
from nightschool.core.harness import File, Harness, Problem, Severity
from nightschool.core.ports import Surface
from nightschool.core.proposals import Risk
from nightschool.rules.fitness import worse
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
    write(project, "docs/a.md", "other/b.md")
    (project / "docs/deep.md").write_text("back to @a.md and @deep.md")
    (project / "CLAUDE.md").write_text("See @docs/deep.md, @../outside.md, mail@example.org @gone @\0x")
    (project / ".claude/rules").mkdir(parents=True)
    (project / ".claude/rules/r.md").write_text("@../../other/b.md")
    loaded = {file.path for file in ClaudeCodeSurface().load(project, home).files}
    assert loaded == {
        "project/.claude/rules/r.md",
        "project/CLAUDE.md",
        "project/docs/a.md",
        "project/docs/deep.md",
        "project/other/b.md",
    }


def test_a_project_imports_from_home_what_was_approved(tmp_path: Path) -> None:
    """Claude Code asks before a project's memory brings files of HOME; without a yes none is placed."""
    home, project = tmp_path / "home", tmp_path / "home/project"
    write(home, "notes/mine.md", ".claude/own.md")
    write(tmp_path, "outside.md")
    outside = tmp_path / "outside.md"
    write(project, "a.md")
    (project / "CLAUDE.md").write_text(f"@~/notes/mine.md @{outside} @../notes/mine.md")
    (home / ".claude/CLAUDE.md").write_text("@own.md")
    always = {"project/CLAUDE.md", "user/.claude/CLAUDE.md", "user/.claude/own.md"}
    surface = ClaudeCodeSurface()
    assert {file.path for file in surface.load(project, home).files} == always
    assert surface.missing(project, home) == ()
    approved = {"projects": {str(project): {"hasClaudeMdExternalIncludesApproved": True}}}
    (home / ".claude.json").write_text(json.dumps(approved))
    assert {file.path for file in surface.load(project, home).files} == always | {"user/notes/mine.md"}
    assert [(absent.kind, absent.name) for absent in surface.missing(project, home)] == [
        ("import", str(outside)),
        ("import", "../notes/mine.md"),
    ]


@pytest.mark.parametrize(
    ("kind", "variable", "usual", "memory"),
    [
        (ClaudeCodeSurface, "CLAUDE_CONFIG_DIR", ".claude", "CLAUDE.md"),
        (CodexSurface, "CODEX_HOME", ".codex", "AGENTS.md"),
    ],
)
def test_a_moved_folder_is_read_and_placed_as_usual(
    kind: type[ClaudeCodeSurface | CodexSurface], variable: str, usual: str, memory: str, tmp_path: Path
) -> None:
    """Where the person moved the agent's folder, memory and skills are those in it, the target is the file
    there, and a replay, which has a HOME of its own, has them at the usual place."""
    home, moved, sandbox = tmp_path / "home", tmp_path / "moved", tmp_path / "sandbox"
    write(home, f"{usual}/{memory}", ".agents/skills/t/SKILL.md")
    write(moved, memory, "skills/s/SKILL.md")
    (sandbox / "root").mkdir(parents=True)
    surface = kind(environment={variable: str(moved)})
    target = surface.memory_target(project=None)
    assert surface.live_path(target, home) == moved / memory
    harness = surface.load(None, home)
    shared = {"user/.agents/skills/t/SKILL.md"} if kind is CodexSurface else set()
    assert {file.path for file in harness.files} == {
        f"user/{usual}/{memory}",
        f"user/{usual}/skills/s/SKILL.md",
        *shared,
    }
    surface.place(harness, sandbox / "root", sandbox)
    assert (sandbox / usual / memory).read_text() == f"text of {memory}"
    assert kind().live_path(target, home) == home / usual / memory
    assert kind(environment={variable: ""}).live_path(target, home) == home / usual / memory


def test_nested_memory_is_that_which_is_live(tmp_path: Path) -> None:
    """Memory in the folders of a project is read when the agent works there; caches, links and, for the
    home folder as a project, the rest of HOME are not searched."""
    write(tmp_path, "CLAUDE.md", "sub/CLAUDE.md", "sub/deep/CLAUDE.local.md", "sub/.claude/rules/r.md")
    write(tmp_path, "node_modules/x/CLAUDE.md", ".hidden/CLAUDE.md", "sub/AGENTS.md", "sub/other.md")
    (tmp_path / "linked").symlink_to("sub")
    loaded = {file.path for file in ClaudeCodeSurface().load(tmp_path, Path("/nowhere")).files}
    names = ("CLAUDE.md", "sub/CLAUDE.md", "sub/deep/CLAUDE.local.md", "sub/.claude/rules/r.md")
    assert loaded == {f"project/{name}" for name in names}
    of_home = {file.path for file in ClaudeCodeSurface().load(tmp_path, tmp_path).files}
    assert of_home == {"project/CLAUDE.md"}
    codex = {file.path for file in CodexSurface().load(tmp_path, Path("/nowhere")).files}
    assert codex == {"project/sub/AGENTS.md"}


def test_what_claude_code_has_and_no_practice(tmp_path: Path) -> None:
    """Servers, hooks, plugins and styles are named, with their file; no value of theirs is kept."""
    home, project = tmp_path / "home", tmp_path / "home/work/project"
    project.mkdir(parents=True)
    (home / ".claude").mkdir()
    secret = {"command": "npx", "env": {"TOKEN": "sk-secret"}}
    (home / ".claude.json").write_text(
        json.dumps(
            {
                "oauthAccount": {"x": "sk-secret"},
                "mcpServers": {"mail": secret},
                "projects": {
                    str(project): {"mcpServers": {"local": secret}},
                    "/other": {"mcpServers": {"no": {}}},
                },
            }
        )
    )
    hooks = {"PreToolUse": [{"hooks": [{"command": "curl -H sk-secret"}]}], "Stop": []}
    style = {"hooks": hooks, "enabledPlugins": {"a@b": True, "off@b": False}, "outputStyle": "sk-secret"}
    (home / ".claude/settings.json").write_text(json.dumps(style))
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": {"wiki": secret}}))
    (project / ".claude").mkdir()
    (project / ".claude/settings.json").write_text(
        json.dumps({"hooks": hooks, "enabledPlugins": {"c@d": True}})
    )
    (project / ".claude/settings.local.json").write_text(json.dumps({"hooks": {"SessionStart": [1]}}))
    write(home, "work/CLAUDE.md")
    (home / ".claude/agents").symlink_to("/usr/share")
    kept = NOT_IN_A_FOLDER.sub("-", str(project))
    write(home, f".claude/projects/{kept}/memory/MEMORY.md")
    found = ClaudeCodeSurface().missing(project, home)
    assert [(a.kind, a.name, Path(a.place).relative_to(home).as_posix()) for a in found] == [
        ("file behind a link", "agents", ".claude/agents"),
        ("MCP server", "mail", ".claude.json"),
        ("plugin", "a@b", ".claude/settings.json"),
        ("hook", "PreToolUse", ".claude/settings.json"),
        ("output style", "outputStyle", ".claude/settings.json"),
        ("MCP server", "local", ".claude.json"),
        ("MCP server", "wiki", "work/project/.mcp.json"),
        ("plugin", "c@d", "work/project/.claude/settings.json"),
        ("hook", "SessionStart", "work/project/.claude/settings.local.json"),
        ("memory that the agent keeps itself", "MEMORY.md", f".claude/projects/{kept}/memory/MEMORY.md"),
        ("memory above the project", "CLAUDE.md", "work/CLAUDE.md"),
    ]
    assert "sk-secret" not in repr(found)
    moved = ClaudeCodeSurface(environment={"CLAUDE_CONFIG_DIR": str(home / "moved")})
    write(home, "moved/x")
    (home / "moved/.claude.json").write_text(
        json.dumps({"mcpServers": {"there": {}, "its": {"type": "http"}}})
    )
    assert [absent.name for absent in moved.missing(None, home)] == ["its"]


def test_a_configuration_without_an_end_is_unknown(tmp_path: Path) -> None:
    """A clone may bring a link to a device: it is not read to its end."""
    home, project = tmp_path / "home", tmp_path / "project"
    project.mkdir()
    (project / ".mcp.json").symlink_to("/dev/zero")
    (absent,) = ClaudeCodeSurface().missing(project, home)
    assert (absent.kind, absent.place) == ("unknown", str(project / ".mcp.json"))


def test_what_codex_has_and_no_practice(tmp_path: Path) -> None:
    """The same for config.toml and hooks.json, of the person and of the project."""
    home, project = tmp_path / "home", tmp_path / "project"
    write(home, ".codex/x")
    write(project, ".codex/x")
    (home / ".codex/config.toml").write_text(
        'developer_instructions = "sk-secret"\n'
        '[mcp_servers.mail]\ncommand = "npx"\n[mcp_servers.mail.env]\nTOKEN = "sk-secret"\n'
        '[mcp_servers.off]\nenabled = false\n[plugins."a@b"]\nenabled = true\n'
    )
    (project / ".codex/config.toml").write_text('[mcp_servers.wiki]\nurl = "https://sk-secret"\n')
    (project / ".codex/hooks.json").write_text(json.dumps({"hooks": {"Stop": [{"command": "sk-secret"}]}}))
    found = CodexSurface().missing(project, home)
    assert [(absent.kind, absent.name) for absent in found] == [
        ("MCP server", "mail"),
        ("plugin", "a@b"),
        ("instructions", "developer_instructions"),
        ("MCP server", "wiki"),
        ("hook", "Stop"),
    ]
    assert "sk-secret" not in repr(found)


@pytest.mark.parametrize(
    "text", ["[1]", "{", "null", '{"mcpServers": 3}', '{"mcpServers": ["x"]}', "[" * 100_000]
)
def test_a_broken_configuration_is_unknown_and_no_error(text: str, tmp_path: Path) -> None:
    """What cannot be read is said to be unknown; what has another shape names nothing."""
    (tmp_path / ".claude.json").write_text(text)
    kinds = {absent.kind for absent in ClaudeCodeSurface().missing(None, tmp_path)}
    assert kinds == (set() if text.startswith('{"') else {"unknown"})


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
    (tmp_path / ".claude/skills/s/odd\\name").rename(tmp_path / ".claude/skills/s/odd\udcff")
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


OVER_PROJECT = ("AGENTS.override.md", "AGENTS.md")


@pytest.mark.parametrize(
    ("files", "project", "own"),
    [
        ({}, "AGENTS.md", "AGENTS.md"),
        ({"project/AGENTS.md": b"a", "user/.codex/AGENTS.md": b"a"}, "AGENTS.md", "AGENTS.md"),
        ({"project/AGENTS.override.md": b"o"}, "AGENTS.override.md", "AGENTS.md"),
        ({"project/a/AGENTS.override.md": b"o"}, "AGENTS.md", "AGENTS.md"),
        ({"project/AGENTS.override.md": b"", "user/.codex/AGENTS.override.md": b"\n"}, *OVER_PROJECT),
        ({"user/.codex/AGENTS.override.md": b"o"}, "AGENTS.md", "AGENTS.override.md"),
    ],
)
def test_an_edit_of_codex_is_aimed_at_the_file_that_is_read(
    files: dict[str, bytes], project: str, own: str
) -> None:
    """An override goes before AGENTS.md: of a project even when it is empty, of the person's only with text
    in it. Seen with the real program, see tests/agents."""
    surface = CodexSurface()
    tree = Harness.of(File(path=path, content=content) for path, content in files.items())
    assert surface.memory_target(project="/p", beside=tree).place == f"project/{project}"
    assert surface.memory_target(project=None, beside=tree).place == f"user/.codex/{own}"


def test_codex_counts_the_memory_of_all_folders_together() -> None:
    """B51: Codex reads so many bytes from the root down. A root that grows is told where it silences the
    file of a folder below, in bytes and not in letters; folders beside each other take nothing away."""
    surface = CodexSurface()
    nested = File(path="project/a/b/AGENTS.md", content=b"n" * 300)
    beside = File(path="project/c/AGENTS.md", content=b"n" * 90)

    def found(letters: int, *more: File) -> list[Problem]:
        root = File(path="project/AGENTS.md", content=("\N{EURO SIGN}" * letters).encode())
        return list(surface.problems(Harness.of((root, nested, beside, *more))))

    most = (LIMIT - 300) // 3
    before = found(most)
    assert before == []
    after = found(most + 1)
    assert [problem.path for problem in after] == [nested.path]
    assert f"300 bytes behind {3 * most + 3} of the folders above it" in after[0].text
    (finding,) = worse(before, after)
    assert finding.risk is Risk.HIGH
    # What nobody reads counts nowhere; what is cut already is no fault of an edit that adds nothing to it.
    override = File(path="project/a/b/AGENTS.override.md", content=b"n" * 100)
    assert [problem.path for problem in found(most + 1, override)] == [nested.path]
    assert found(most + 1, override)[0].severity is Severity.WARNING
    assert worse(after, after) == ()
    (finding,) = worse(after, found(most + 2))
    assert nested.path in finding.text


def test_skills_without_a_head_are_named() -> None:
    """A skill that says neither name nor description would never be listed."""
    bad = File(path="project/.claude/skills/s/SKILL.md", content=b"---\nname: s\n---\nBody")
    good = File(path="project/.claude/skills/s/SKILL.md", content=b"---\nname: s\ndescription: d\n---\nBody")
    (problem,) = ClaudeCodeSurface().problems(Harness(files=(bad,)))
    assert "description" in problem.text
    assert list(ClaudeCodeSurface().problems(Harness(files=(good,)))) == []
