"""What a run tells at its end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nightschool.cli.run import told
from nightschool.core.cycles import Learned
from nightschool.core.harness import Scope, Target
from report_builders import PNPM, REPORT


def place(target: Target) -> Path:
    return Path(target.project, target.place.removeprefix("project/"))


def ends(*learned: tuple[str, str | None]) -> str:
    """The last line of a run that came to these codes, with these drafts."""
    items = tuple(replace(PNPM, code=code, draft=draft) for code, draft in learned)
    last = told(replace(REPORT, learned=items), place)[-1]
    assert isinstance(last, str)
    return last


@pytest.mark.parametrize(
    ("learned", "shown"),
    [
        ([("already-published", "d-old"), ("underpowered", "d-new")], "d-new"),
        ([("underpowered", "d-new"), ("accept", "d-sure")], "d-sure"),
        ([("adopted", "d-old"), ("undecided", "d-new")], "d-new"),
        ([("reject", "d-failed"), ("undecided", "d-new")], "d-new"),
        ([("reject", "d-failed")], "d-failed"),
    ],
)
def test_next_is_what_waits_for_the_person(learned: list[tuple[str, str]], shown: str) -> None:
    """What passed, then what is suggested, then what was tried; never what was adopted already."""
    assert ends(*learned) == f"next: nightschool show {shown} --diff"


def test_there_is_always_a_next_step() -> None:
    """Where nothing waits it is the next run: to go on, or once there is more to learn from."""
    assert ends(("no-train-task", None)) == "next: nightschool run  (after some more work with your agents)"
    assert ends(("already-published", "d-old")).startswith("next: nightschool run  (after")
    assert ends(("next-run", None)) == "next: nightschool run  (it goes on from here)"
    short = replace(REPORT, learned=(PNPM,), ended_by="the limit of 40 jobs is reached")
    assert told(short, place)[-1] == "next: nightschool run  (it goes on from here)"
    assert ends(("needs-you", None)) == "next: what is said above, then nightschool run"


def test_a_file_is_told_once_with_what_goes_there() -> None:
    """One line a file and reason, not one a correction; where there are several, with the words it is for."""
    target = Target(agent="codex", scope=Scope.PROJECT, project="/p", place="project/AGENTS.md")

    def lines(*items: Learned) -> list[str]:
        said = [
            piece if isinstance(piece, str) else piece.plain()
            for piece in told(replace(REPORT, learned=items), place)
        ]
        return [line for line in said if "AGENTS.md" in line]

    here = replace(PNPM, target=target, aim="you said it in this project alone")
    assert lines(here, replace(here, statement="use ruff")) == [
        "all: for /p/AGENTS.md, since you said it in this project alone"
    ]
    there = replace(here, statement="use ruff", target=replace(target, project="/q"))
    assert lines(here, there) == [
        '"use pnpm": for /p/AGENTS.md, since you said it in this project alone',
        '"use ruff": for /q/AGENTS.md, since you said it in this project alone',
    ]
