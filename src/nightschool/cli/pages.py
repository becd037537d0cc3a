"""A report as sections of pieces, and as Markdown.

The pieces are those of the terminal, so that a page says what `nightschool show` says. Relieves `html` of
what a page is made of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from nightschool.cli.render import Diff, Line, Piece, Table, cell_text
from nightschool.rules.report import inline

Clean = Callable[[str], str]
"""What every text of a page passes before it is escaped: secrets out, and what hides or turns text."""


EMPTY = ("", Line())
"""Space on a terminal; a page has its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    title: str
    pieces: Sequence[Piece | str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    title: str
    lead: str
    sections: Sequence[Section]


def cell(value: object, clean: Clean) -> str:
    """A cell of a table on a page. Numbers and what is unknown hold no text of others."""
    return cell_text(value if value is None or isinstance(value, (int, float)) else clean(str(value)))


def markdown(page: Page, clean: Clean) -> str:
    """The page as Markdown in which no text of others can open a heading, a link or a tag."""
    lines = [f"# {inline(clean(page.title))}", "", inline(clean(page.lead)), ""]
    for section in page.sections:
        lines += [f"## {inline(clean(section.title))}", ""]
        for piece in section.pieces:
            lines += _markdown(piece, clean) if piece not in EMPTY else ()
    return "\n".join(lines).rstrip() + "\n"


def _markdown(piece: Piece | str, clean: Clean) -> Iterator[str]:
    match piece:
        case Table():
            if piece.title:
                yield from (f"### {inline(clean(piece.title))}", "")
            yield f"| {' | '.join(piece.columns)} |"
            yield "|---" * len(piece.columns) + "|"
            for row in piece.rows:
                yield f"| {' | '.join(inline(cell(value, clean)) for value in row)} |"
        case Diff():
            text = clean(piece.text)
            fence = "`" * (3 + max((len(run) for run in _runs(text)), default=0))
            yield from (f"{fence}diff", text.rstrip("\n"), fence)
        case Line(tone="bold"):
            yield f"### {inline(clean(piece.text))}"
        case _:
            text = piece if isinstance(piece, str) else piece.plain()
            yield inline(clean(text))
    yield ""


def _runs(text: str) -> list[str]:
    """The runs of back ticks in a text: a fence has to be longer."""
    return "".join(mark if mark == "`" else " " for mark in text).split()
