"""Texts that anybody can put into a transcript, each the worst for what looks through it: one that takes the
square of their length would not come to an end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nightschool.adapters.aider.transcripts import AiderTranscripts
from nightschool.adapters.claude_code.rows import outside_injected
from nightschool.adapters.claude_code.transcripts import ClaudeCodeTranscripts
from nightschool.adapters.codex.rows import mentioned_skill
from nightschool.adapters.codex.transcripts import CodexTranscripts
from nightschool.adapters.cursor.transcripts import CursorTranscripts
from nightschool.adapters.pi.transcripts import PiTranscripts
from nightschool.adapters.reading import skills_opened
from nightschool.rules.prose import is_injected
from transcripts import (
    claude,
    claude_call,
    codex,
    codex_call,
    codex_meta,
    codex_output,
    codex_prompt,
    codex_user_row,
    cursor,
    pi,
    pi_head,
    read_file,
    write_rows,
)

LONG = 1_000_000


def filled(unit: str) -> str:
    return unit * (LONG // len(unit))


MANY_TAGS = "".join(f"<{''.join(chr(97 + (n // 26**k) % 26) for k in range(4))}>" for n in range(LONG // 6))
WORST = (
    *map(
        filled, ("<aaa>", "<aaa></aaa> ", "<user_query>", "skills/", "skills/a/", "a/", "cat ", "(Y)es/(N)o")
    ),
    *map(
        filled, ("*** Add File: ", "- a: ", '"exit_code":', "cmd:", 'cmd:"\\"', "?:", "\n", " ", "</skill>\n")
    ),
    f"<user_query>{filled(' ')}",
    f"<skill>{filled('<path>aaa')}",
    f"<skill><path>{filled('a')}",
    f"### Available skills\n- a: {filled('SKILL.md')}",
    f"<system-reminder>{filled('<ide_selection>')}",
    f'<skill name="a" location="b">\n{filled("</skill>")}',
    MANY_TAGS,
    MANY_TAGS.replace("<", "<a-"),
)
each = pytest.mark.parametrize("text", WORST, ids=lambda text: repr(text[:24]))


@each
def test_a_prompt_and_a_call(text: str, tmp_path: Path) -> None:
    """As a prompt, as what a client put in, as a command line and as what it printed."""
    listed = {"role": "developer", "content": [{"type": "input_text", "text": text}]}
    call = {"type": "toolCall", "id": "c", "name": "read", "arguments": {"path": text}}
    for source, rows in (
        (ClaudeCodeTranscripts(redact=str), [claude("user", 1, text), claude_call(2, "Bash", command=text)]),
        (
            CodexTranscripts(redact=str),
            [
                codex_meta(),
                codex_prompt(1, text),
                codex_user_row(2, text),
                codex_call(3, text),
                codex_output(4, 3, text),
                codex("response_item", 5, type="message", **listed),
                codex("response_item", 6, type="custom_tool_call", name="exec", call_id="e", input=text),
            ],
        ),
        (CursorTranscripts(redact=str), [cursor("user", text)]),
        (PiTranscripts(redact=str), [pi_head(), pi(0, "user", text), pi(1, "assistant", [call])]),
    ):
        result = read_file(source, write_rows(tmp_path / "x.jsonl", rows))
        assert result.session is not None
        assert result.left_out == ()


@each
@pytest.mark.parametrize("line", ["> {}", "> Run shell command{}", "#### {}", "#### (Y)es/(N)o{}"])
def test_a_line_of_aider(text: str, line: str, tmp_path: Path) -> None:
    """As a line of its own and as a prompt, whole or behind the beginning of a question."""
    path = tmp_path / ".aider.chat.history.md"
    flat = text.replace("\n", " ")
    path.write_text(f"\n# aider chat started at 2026-03-01 09:00:00\n\n{line.format(flat)}  \n")
    assert read_file(AiderTranscripts(redact=str), path).session is not None


@each
def test_what_is_a_persons_own(text: str) -> None:
    """Looked for again by the rules."""
    assert is_injected(text) in {True, False}


@pytest.mark.parametrize(
    ("take", "text", "found"),
    [
        (outside_injected, "<ide_selection>\n<system-reminder>x</system-reminder>go", "<ide_selection>\ngo"),
        (outside_injected, "<system-reminder>x</system-reminder>\n\ngo\n", "go"),
        (outside_injected, "\ngo\n", "\ngo\n"),
        (outside_injected, "</system-reminder>a<system-reminder>b", "</system-reminder>a<system-reminder>b"),
        (skills_opened, "sed -n 1,9p ~/.codex/skills/.system/notes/SKILL.md", ("notes",)),
        (skills_opened, "cat skills/a/SKILL.md skills/b/SKILL.md skills/a/SKILL.md", ("a", "b")),
        (skills_opened, "cat skills/SKILL.md a/SKILL.md skills/a/README.md", ()),
    ],
)
def test_what_is_found_in_a_text(take: Callable[[str], object], text: str, found: object) -> None:
    """The right values of what is looked for in them."""
    assert take(text) == found


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/home/me/.codex/skills/my notes/SKILL.md", "my notes"),
        ("C:\\skills\\notes\\SKILL.md", "notes"),
        ("/home/me/notes.md", None),
        ("SKILL.md", None),
        ("a<b/SKILL.md", None),
    ],
)
def test_the_skill_that_a_person_mentioned(path: str, name: str | None) -> None:
    """The folder of its file."""
    text = f"<skill>\n<name>x</name>\n<path>{path}</path>\nbody\n</skill>"
    payload = {"role": "user", "content": [{"type": "input_text", "text": text}]}
    assert mentioned_skill(payload) == name
