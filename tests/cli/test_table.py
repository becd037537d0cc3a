"""Tables at the widths that terminals have."""

from __future__ import annotations

import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from nightschool.cli.columns import LONG, Arranged, Wish, arranged
from nightschool.cli.output import Output
from nightschool.cli.render import Line, Piece, Table

WIDTHS = (60, 80, 100)
TASK = "t-0a1b2c3d4e5f"
PROMPT = "Fetch the readings of the last week and write their mean into report.csv, one line a station"


def on_a_terminal(piece: Piece, width: int) -> list[str]:
    """The lines that a terminal of that width shows."""
    screen = io.StringIO()
    console = Console(file=screen, width=width, color_system=None, markup=False, emoji=False, highlight=False)
    console.print(piece.styled())
    return screen.getvalue().splitlines()


@pytest.mark.parametrize("width", WIDTHS)
def test_ids_and_sentences_survive(width: int) -> None:
    """At each width an id stands whole in one line, and each word of a long cell is there."""
    table = Table(
        columns=("task", "split", "passes if", "concerns", "prompt"),
        rows=[(TASK, "holdout", "uses 'pathlib' and not 'os.path'", "pathlib, not os.path!", PROMPT)],
    )
    lines = on_a_terminal(table, width)
    assert all(len(line) <= width for line in lines)
    assert sum(line.startswith(f"{TASK}  holdout") for line in lines) == 1
    told = " ".join(lines)
    assert all(word in told for word in (*PROMPT.split(), "'os.path'", "os.path!"))


def test_long_cells_move_below_their_row() -> None:
    """Where long columns would get too little each stands below its row with its name."""
    table = Table(columns=("id", "one", "two", "three"), rows=[("d-1", PROMPT, PROMPT, None)])
    assert on_a_terminal(table, 50) == [
        "ID   THREE",
        "d-1  -",
        "    one: Fetch the readings of the last week and",
        "    write their mean into report.csv, one line a",
        "    station",
        "    two: Fetch the readings of the last week and",
        "    write their mean into report.csv, one line a",
        "    station",
    ]


def test_minor_columns_go_first_and_are_named() -> None:
    """The last minor column goes first, no more than needed, and what is not shown is said."""
    table = Table(
        columns=("times", "said", "agents", "where"),
        rows=[(3, PROMPT, "claude-code, codex", "weather-station")],
        minor=("agents", "where"),
    )
    assert on_a_terminal(table, 100)[0].split() == ["TIMES", "SAID", "AGENTS", "WHERE"]
    narrower = on_a_terminal(table, 60)
    assert narrower[0].split() == ["TIMES", "SAID", "AGENTS"]
    assert narrower[-1] == "(too narrow for: where; --json has all)"
    assert on_a_terminal(table, 48)[-1] == "(too narrow for: agents, where; --json has all)"


@given(
    st.lists(
        st.tuples(*[st.text(alphabet="ab 例", max_size=60)] * 4),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from(WIDTHS),
)
def test_nothing_is_cut(rows: list[tuple[str, ...]], width: int) -> None:
    """No line is wider than the terminal, and no letter of any cell is lost."""
    table = Table(columns=("k", "l", "m", "n"), rows=rows)
    lines = on_a_terminal(table, width)
    assert all(cell_len(line) <= width for line in lines)
    told = "".join(lines[1:])
    for letter in "ab例":
        assert told.count(letter) == sum(cell.count(letter) for row in rows for cell in row)


def test_the_short_of_the_long_leave_room() -> None:
    """A long column gets no more than it needs; what it leaves is for the longer ones."""
    wishes = [Wish(natural=10), Wish(natural=30), Wish(natural=200)]
    assert arranged(wishes, 100, []) == Arranged(beside=((0, 10), (1, 30), (2, 56)))
    assert arranged(wishes, 10 + 2 * LONG + 3, []).below == (1, 2)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_path_is_not_broken(width: int) -> None:
    """A word that is longer than its column goes below the row, where it has the whole width."""
    path = "/home/sam/projects/weather-station/CLAUDE.md"
    lines = on_a_terminal(Table(columns=("id", "file", "said"), rows=[("d-1", path, PROMPT)]), width)
    assert sum(path in line for line in lines) == 1


def test_a_folded_line_keeps_its_indentation() -> None:
    """What belongs under a heading stays under it."""
    assert all(line.startswith("  ") for line in on_a_terminal(Line("  " + PROMPT), 40))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_without_colours_has_a_width_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """With NO_COLOR a table fits the terminal as well, without an escape code."""
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "60")
    Output().show(Table(columns=("id", "said"), rows=[("d-1", PROMPT)]))
    assert max(map(len, screen.getvalue().splitlines())) <= 60
    assert "\x1b" not in screen.getvalue()


def test_a_long_cell_fills_no_other_row_with_blanks() -> None:
    """In a pipe a cell of hundreds of characters moves what stands behind it in its own row alone."""
    long = "use pnpm, not npm: not decided yet; " * 12
    table = Table(
        columns=("cycle", "came to", "used"), rows=[("n-1", long, "9 jobs"), ("n-2", "passed", "1 job")]
    )
    first, second = table.plain().splitlines()[1:]
    assert first == f"n-1    {long.strip()}  9 jobs"
    assert second == "n-2    passed   1 job"
