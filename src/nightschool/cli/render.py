"""Pieces of output that know two ways to be shown: styled on a terminal, plain lines elsewhere.

A command builds pieces and hands them to `Output`; it never asks what it prints to. rich is imported
only where something is styled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from nightschool.cli.columns import GAP, Wish, arranged
from nightschool.cli.printable import one_line, printable

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.text import Text

PADDED = 80
"""A longer cell moves those behind it, in its own row alone."""
BELOW = 4
"""How far in a long cell stands below its row."""


class Piece(Protocol):
    def plain(self) -> str:
        """Lines without any escape code, without a newline at the end."""
        ...

    def styled(self) -> RenderableType:
        """For a terminal. All text in it went through `printable`."""
        ...


Tone = Literal["", "bold", "dim", "green", "yellow", "red"]


@dataclass(frozen=True, slots=True)
class Line:
    """Text, possibly of several lines."""

    text: str = ""
    tone: Tone = ""

    def plain(self) -> str:
        return printable(self.text)

    def styled(self) -> RenderableType:
        return _Indented(self)


@dataclass(frozen=True, slots=True)
class _Indented:
    """Lines that keep their indentation where they fold."""

    line: Line

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        from rich.text import Text  # noqa: PLC0415 - only a terminal pays for rich

        for row in printable(self.line.text).split("\n"):
            text = row.lstrip(" ")
            before = row[: len(row) - len(text)]
            if before:
                for part in _folded(console, text, max(options.max_width - len(before), 1)):
                    yield Text(before + part, style=self.line.tone)
            else:
                yield Text(text, style=self.line.tone)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of cells, each cell on one line. A column whose cells are all numbers stands right.

    On a terminal it is arranged to fit (`columns`); elsewhere nothing is folded, for `grep` and `awk`, and
    no row is filled with blanks to the length of another one's long cell.
    """

    columns: tuple[str, ...]
    rows: Sequence[Sequence[object]]
    title: str = ""
    minor: tuple[str, ...] = ()
    """Columns that a narrow terminal does without, the last one first."""

    def plain(self) -> str:
        lines = [self.heads(), *self.cells()]
        widths = [
            max((len(line[at]) for line in lines if len(line[at]) <= PADDED), default=0)
            for at in range(len(self.columns))
        ]
        right = self.right()
        text = [
            (" " * GAP)
            .join(
                cell.rjust(width) if is_right else cell.ljust(width)
                for cell, width, is_right in zip(line, widths, right, strict=True)
            )
            .rstrip()
            for line in lines
        ]
        return "\n".join([printable(self.title), *text] if self.title else text)

    def styled(self) -> RenderableType:
        return _Fitted(self)

    def heads(self) -> list[str]:
        return [name.upper() for name in self.columns]

    def cells(self) -> list[list[str]]:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"a row of {len(row)} cells in a table of {len(self.columns)} columns")
        return [[cell_text(cell) for cell in row] for row in self.rows]

    def right(self) -> list[bool]:
        return [
            any(_is_number(row[at]) for row in self.rows)
            and all(row[at] is None or _is_number(row[at]) for row in self.rows)
            for at in range(len(self.columns))
        ]


@dataclass(frozen=True, slots=True)
class _Fitted:
    """A table that asks for the width of the terminal only when it is printed."""

    table: Table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        from rich.cells import cell_len  # noqa: PLC0415 - only a terminal pays for rich
        from rich.text import Text  # noqa: PLC0415

        table, room = self.table, options.max_width
        lines = [table.heads(), *table.cells()]
        wishes = [
            Wish(
                natural=max(cell_len(line[at]) for line in lines),
                word=max(cell_len(word) for line in lines for word in line[at].split() or [""]),
            )
            for at in range(len(table.columns))
        ]
        plan = arranged(wishes, room, [table.columns.index(name) for name in table.minor])
        if table.title:
            yield Text(printable(table.title), style="bold")
        right = table.right()
        for number, line in enumerate(lines):
            folded = [_folded(console, line[at], width) for at, width in plan.beside]
            for height in range(max(map(len, folded), default=0)):
                parts = [
                    _padded(part[height] if height < len(part) else "", width, at_right=right[at])
                    for part, (at, width) in zip(folded, plan.beside, strict=True)
                ]
                yield Text((" " * GAP).join(parts).rstrip(), style="" if number else "bold")
            for at in plan.below if number else ():
                text = f"{table.columns[at]}: {line[at]}"
                for part in _folded(console, text, max(room - BELOW, 1)):
                    yield Text(" " * BELOW + part)
        if plan.dropped:
            names = ", ".join(table.columns[at] for at in plan.dropped)
            yield Text(f"(too narrow for: {names}; --json has all)", style="dim")


def _folded(console: Console, text: str, width: int) -> list[str]:
    from rich.text import Text  # noqa: PLC0415 - only a terminal pays for rich

    return [part.plain.rstrip() for part in Text(text).wrap(console, width, overflow="fold")] or [""]


def _padded(text: str, width: int, *, at_right: bool) -> str:
    from rich.cells import cell_len  # noqa: PLC0415 - only a terminal pays for rich

    space = " " * max(0, width - cell_len(text))
    return space + text if at_right else text + space


@dataclass(frozen=True, slots=True)
class Diff:
    """A unified diff. A line end of Windows is a line end; a lone carriage return shows."""

    text: str

    def plain(self) -> str:
        return printable(self.text).rstrip("\n")

    def styled(self) -> RenderableType:
        from rich.text import Text  # noqa: PLC0415 - only a terminal pays for rich

        text = Text()
        for line in self.plain().split("\n"):
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
            from nightschool.rules.telling import figures  # noqa: PLC0415 - help needs no rules

            return figures(value) if value >= 0 else f"{value:.3g}"
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
