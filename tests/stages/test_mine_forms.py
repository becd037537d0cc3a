"""Mining what is told apart by units, by commands of several words, and by quoted text."""

from __future__ import annotations

import pytest

from conversations import agent, bash, human, session, write
from mine_builders import APP, REQUESTS, Repositories
from nightschool.core.sessions import Session, ToolCall
from nightschool.core.tasks import Footprint
from nightschool.stages.mine import mine
from nightschool.testing.memory_store import MemoryStore


def told(number: int, words: str, before: ToolCall, after: ToolCall) -> Session:
    turns = (human(REQUESTS[number]), agent("Done.", before), human(words), agent("Mended.", after))
    return session(f"f{number}", *turns, day=number)


@pytest.mark.parametrize(
    ("words", "check", "before", "after"),
    [
        (
            "Use rem, not px",
            Footprint(wanted="rem", unwanted="px"),
            write(f"{APP}/a.css", "p { margin: 12px }\n"),
            write(f"{APP}/a.css", "p { margin: 1.3rem }\n"),
        ),
        (
            "use uv run pytest instead of pytest",
            Footprint(wanted="uv run pytest", unwanted="pytest"),
            bash("pytest -q"),
            bash("uv run pytest -q"),
        ),
        (
            "use git log --oneline, not git log --format=%s",
            Footprint(wanted="git log --oneline", unwanted="git log --format=%s"),
            bash("git log -5 --format=%s"),
            bash("git log -5 --oneline"),
        ),
        (
            'use "Added", not "New"',
            Footprint(wanted="added", unwanted="new"),
            write(f"{APP}/NEWS.md", "New: a histogram\n"),
            write(f"{APP}/NEWS.md", "Added: a histogram\n"),
        ),
    ],
)
def test_both_halves_make_tasks(words: str, check: Footprint, before: ToolCall, after: ToolCall) -> None:
    """The work before the correction fails the check and the work after it passes, so each session is a
    task, and both halves of what was said are checked."""
    sessions = [told(number, words, before, after) for number in range(5)]
    mined = mine(sessions, store=MemoryStore(), projects=Repositories())
    assert [task.checks for task in mined.tasks] == [(check,)] * 5
    assert mined.skipped == ()


def test_work_that_names_only_the_wrong_way_shows_nothing() -> None:
    """`pytest` within `python -m pytest` is no sign that the correction was followed."""
    told_so = [
        told(n, "use pytest, not python -m pytest", bash("python -m pytest"), bash("python -m pytest -q"))
        for n in range(5)
    ]
    mined = mine(told_so, store=MemoryStore(), projects=Repositories())
    assert {code for _, code, _ in mined.skipped} == {"reference-fails"}
