"""Skills as the agents have them: where they lie, what is wrong with one, how one is loaded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nightschool.adapters.claude_code.runner import read as read_claude
from nightschool.adapters.claude_code.surface import LISTING, ClaudeCodeSurface
from nightschool.adapters.claude_code.transcripts import ClaudeCodeTranscripts
from nightschool.adapters.codex.runner import read as read_codex
from nightschool.adapters.codex.surface import CodexSurface
from nightschool.adapters.codex.transcripts import CodexTranscripts
from nightschool.core.harness import File, Harness, Scope, Severity
from nightschool.core.sessions import Session, skills_loaded
from nightschool.core.skills import Skill
from transcripts import (
    CLAUDE_ID,
    CODEX_ID,
    claude,
    claude_call,
    claude_result,
    codex,
    codex_call,
    codex_meta,
    codex_output,
    codex_prompt,
    session_of,
    write_rows,
)

GOOD = b"---\nname: notes\ndescription: Write notes.\n---\n# Notes\n"


def skill(place: str, content: bytes = GOOD) -> File:
    return File(path=f"{place}/SKILL.md", content=content)


@pytest.mark.parametrize(
    ("surface", "places"),
    [
        (
            ClaudeCodeSurface(),
            ["project/.claude/skills/a", "project/web/.claude/skills/b", "user/.claude/skills/c"],
        ),
        (
            CodexSurface(),
            [
                "project/.agents/skills/a",
                "project/.codex/skills/b",
                "user/.agents/skills/c",
                "user/.codex/skills/d",
            ],
        ),
    ],
)
def test_skills_lie_where_the_agent_reads_them(
    surface: ClaudeCodeSurface | CodexSurface, places: list[str]
) -> None:
    """A skill is a folder with a SKILL.md in a folder of skills; others' folders and loose files are none."""
    elsewhere = ["project/docs/notes", "project/.claude/agents/x", "user/.other/skills/y"]
    files = [skill(place) for place in (*places, *elsewhere)]
    more = File(path=f"{places[0]}/scripts/SKILL.md", content=b"a file of the skill\n")
    found = surface.skills(Harness.of([*files, more]))
    assert [one.folder for one in found] == places
    assert [one.name for one in found] == [place.rpartition("/")[2] for place in places]


def test_targets_of_skills_know_their_scope(tmp_path: Path) -> None:
    """A project's skill belongs to the project, the person's own to none; a new one lies beside them."""
    surface = ClaudeCodeSurface(environment={"CLAUDE_CONFIG_DIR": str(tmp_path / "moved")})
    own = surface.skill_target(Skill(name="c", place="user/.claude/skills/c/SKILL.md"), project="/p")
    assert (own.scope, own.project, own.skill) == (Scope.USER, "", "c")
    assert surface.live_path(own, tmp_path) == tmp_path / "moved/skills/c/SKILL.md"
    made = surface.new_skill("cut-release", project="/p")
    assert (made.scope, made.place) == (Scope.PROJECT, "project/.claude/skills/cut-release/SKILL.md")
    assert surface.new_skill("x", project=None).place == "user/.claude/skills/x/SKILL.md"
    assert CodexSurface().new_skill("x", project="/p").place == "project/.agents/skills/x/SKILL.md"
    assert surface.memory_target(project="/p").skill is None


def test_a_link_that_leads_out_is_no_skill(tmp_path: Path) -> None:
    """What a link brings from outside project and HOME is not listed, what lies inside is."""
    project, home, out = tmp_path / "p", tmp_path / "h", tmp_path / "out/evil"
    for folder in (project / "shared/tidy", home, out, project / ".claude/skills"):
        folder.mkdir(parents=True)
    (out / "SKILL.md").write_bytes(GOOD)
    (project / "shared/tidy/SKILL.md").write_bytes(GOOD)
    (project / ".claude/skills/evil").symlink_to(out)
    (project / ".claude/skills/tidy").symlink_to(project / "shared/tidy")
    surface = ClaudeCodeSurface()
    assert [one.name for one in surface.skills(surface.load(project, home))] == ["tidy"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"# Only text\n", "no `name:`"),
        (b"---\nname: Notes_1\ndescription: d\n---\n", "its name 'Notes_1' is none"),
        (b"---\nname: " + b"a" * 65 + b"\ndescription: d\n---\n", "at most 64"),
        (b"---\nname: a\ndescription: " + b"d" * 1025 + b"\n---\n", "1025 characters, 1024 are allowed"),
        (b"---\nname: a\ndescription: Flags: --all\n---\n", "line 3: `description` holds `: `"),
        (b"---\nname: a\ndescription: d\n", "no line `---` closes"),
        (b"\xef\xbb\xbf" + GOOD, "byte order mark"),
    ],
)
def test_what_is_wrong_with_a_skill_is_told(content: bytes, said: str) -> None:
    """B37 and the rules of Agent Skills: name, description, a head that cannot be read."""
    for surface, place in ((ClaudeCodeSurface(), ".claude"), (CodexSurface(), ".codex")):
        texts = [p.text for p in surface.problems(Harness.of([skill(f"project/{place}/skills/a", content)]))]
        assert any(said in text for text in texts), texts
        assert not surface.problems(Harness.of([skill(f"project/{place}/skills/notes")]))


def test_the_list_of_all_skills_has_a_budget() -> None:
    """B50: names and descriptions are counted over all skills; what pushes others out is told."""
    many = [
        skill(f"project/.claude/skills/s{n}", b"---\nname: s%d\ndescription: %s\n---\n" % (n, b"d" * 480))
        for n in range(25)
    ]
    (problem,) = ClaudeCodeSurface().problems(Harness.of(many))
    assert problem.severity is Severity.WARNING
    assert str(LISTING) in problem.text
    assert not ClaudeCodeSurface().problems(Harness.of(many[:10]))


def claude_session(tmp_path: Path, *rows: dict[str, object]) -> Session:
    return session_of(ClaudeCodeTranscripts(redact=str), write_rows(tmp_path / f"{CLAUDE_ID}.jsonl", rows))


def test_claude_code_loads_by_a_call(tmp_path: Path) -> None:
    """A call of the tool Skill that did not fail loads one."""
    session = claude_session(
        tmp_path,
        claude("user", 1, "write the notes"),
        claude_call(2, "Skill", skill="notes"),
        claude_result(3, 2, "Launching skill: notes"),
        claude_call(4, "Skill", skill="gone"),
        claude_result(5, 4, "Unknown skill: gone", error=True),
    )
    assert session.skills == ("notes",)


def test_claude_code_loads_by_a_command_of_the_person(tmp_path: Path) -> None:
    """`/notes` loads it: its text comes in a row of the client. The text that follows a call says no more."""
    text = "Base directory for this skill: /home/me/app/.claude/skills/notes\n\n# Notes"
    session = claude_session(
        tmp_path,
        claude("user", 1, "<command-message>notes</command-message>\n<command-name>/notes</command-name>"),
        claude("user", 2, [{"type": "text", "text": text}], isMeta=True),
        claude("user", 3, text),
        claude_call(4, "Skill", skill="plugin:other"),
        claude("user", 5, [{"type": "text", "text": text}], isMeta=True, sourceToolUseID="toolu_4"),
    )
    assert session.skills == ("notes", "plugin:other")


def test_codex_loads_by_reading_the_file(tmp_path: Path) -> None:
    """A command that shows the SKILL.md loads it, if it worked; so does the person's mention."""
    mention = "<skill>\n<name>tidy</name>\n<path>/home/me/.codex/skills/tidy/SKILL.md</path>\n# T\n</skill>"
    rows = [
        codex_meta(),
        codex_prompt(1, "write the notes"),
        codex(
            "response_item",
            2,
            type="message",
            role="user",
            content=[{"type": "input_text", "text": mention}],
        ),
        codex_call(3, "sed -n 1,80p .agents/skills/notes/SKILL.md"),
        codex_output(4, 3, "Exit code: 0\nWall time: 0\nOutput:\n# Notes"),
        codex_call(5, "cat /x/skills/gone/SKILL.md"),
        codex_output(6, 5, "Exit code: 1\nOutput:\nNo such file"),
    ]
    path = write_rows(tmp_path / f"rollout-2026-03-01T09-00-00-{CODEX_ID}.jsonl", rows)
    assert session_of(CodexTranscripts(redact=str), path).skills == ("tidy", "notes")


def test_a_replay_tells_what_it_loaded() -> None:
    """The trajectory of a job names the skills, whichever agent carried it out."""
    use = {"type": "tool_use", "id": "a", "name": "Skill", "input": {"skill": "notes"}}
    row = {"type": "assistant", "message": {"content": [use]}}
    assert skills_loaded(read_claude(json.dumps(row).encode()).calls) == ("notes",)
    command = "/bin/bash -lc 'cat .codex/skills/notes/SKILL.md'"
    item = {"id": "1", "type": "command_execution", "command": command, "exit_code": 0}
    done = {"type": "item.completed", "item": item}
    assert skills_loaded(read_codex(json.dumps(done).encode()).calls) == ("notes",)
    failed = {"type": "item.completed", "item": {**item, "exit_code": 1}}
    assert skills_loaded(read_codex(json.dumps(failed).encode()).calls) == ()
