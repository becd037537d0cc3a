"""Pieces of output that know two ways to be shown: styled on a terminal, plain lines elsewhere.

A command builds pieces and hands them to `Output`; it never asks what it prints to. rich is imported
only where something is styled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from nightschool.cli.printable import one_line, printable

if TYPE_CHECKING:
    from rich.console import RenderableType


class Piece(Protocol):
    def plain(self) -> str:
        """Lines without any escape code, without a newline at the end."""
        ...

    def styled(self) -> RenderableType:
        """For a terminal. All text in it went through `printable`."""
        ...


OTHERS = 50
"""Characters of a column at most, on a terminal, that is not the last."""
LAST = 20
"""And of the last one at least: there the text stands that one came for."""

Tone = Literal["", "bold", "dim", "green", "yellow", "red"]


@dataclass(frozen=True, slots=True)
class Line:
    """Text, possibly of several lines."""

    text: str = ""
    tone: Tone = ""

    def plain(self) -> str:
        return printable(self.text)

    def styled(self) -> RenderableType:
        from rich.text import Text  # noqa: PLC0415 - only a terminal pays for rich

        return Text(printable(self.text), style=self.tone)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of cells, each cell on one line. A column whose cells are all numbers stands right.

    On a terminal texts are folded to fit, the last column first of all has its place; elsewhere nothing
    is cut, for `grep` and `awk`.
    """

    columns: tuple[str, ...]
    rows: Sequence[Sequence[object]]
    title: str = ""

    def plain(self) -> str:
        lines = [[name.upper() for name in self.columns], *self._cells()]
        widths = [max(len(line[at]) for line in lines) for at in range(len(self.columns))]
        right = self._right()
        text = [
            "  ".join(
                cell.rjust(width) if is_right else cell.ljust(width)
                for cell, width, is_right in zip(line, widths, right, strict=True)
            ).rstrip()
            for line in lines
        ]
        return "\n".join([printable(self.title), *text] if self.title else text)

    def styled(self) -> RenderableType:
        from rich.box import SIMPLE_HEAD  # noqa: PLC0415 - only a terminal pays for rich
        from rich.table import Table as RichTable  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        table = RichTable(box=SIMPLE_HEAD, pad_edge=False, title_justify="left", title_style="bold")
        table.title = Text(printable(self.title)) if self.title else None
        for at, (name, is_right) in enumerate(zip(self.columns, self._right(), strict=True)):
            last = at == len(self.columns) - 1 and not is_right
            table.add_column(
                Text(name),
                justify="right" if is_right else "left",
                overflow="fold",
                no_wrap=is_right,
                ratio=1 if last else None,
                min_width=LAST if last else None,
                max_width=None if last else OTHERS,
            )
        for row in self._cells():
            table.add_row(*(Text(cell) for cell in row))
        return table

    def _cells(self) -> list[list[str]]:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"a row of {len(row)} cells in a table of {len(self.columns)} columns")
        return [[cell_text(cell) for cell in row] for row in self.rows]

    def _right(self) -> list[bool]:
        return [
            bool(self.rows) and all(row[at] is None or _is_number(row[at]) for row in self.rows)
            for at in range(len(self.columns))
        ]


@dataclass(frozen=True, slots=True)
class Diff:
    """A unified diff."""

    text: str

    def plain(self) -> str:
        return printable(self.text.rstrip("\n"))

    def styled(self) -> RenderableType:
        from rich.text import Text  # noqa: PLC0415 - only a terminal pays for rich

        text = Text()
        for line in printable(self.text.rstrip("\n")).split("\n"):
            text.append(line + "\n", style=_diff_tone(line))
        text.right_crop(1)
        return text


def cell_text(value: object) -> str:
    """One cell. Unknown is a dash, never a zero."""
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.3g}"
    return one_line(str(value))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _diff_tone(line: str) -> Tone:
    if line.startswith(("+++", "---")):
        return "bold"
    match line[:1]:
        case "+":
            return "green"
        case "-":
            return "red"
        case "@":
            return "dim"
    return ""
