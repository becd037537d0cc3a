"""The one place that prints.

Results go to stdout: with `--json` exactly one document, else pieces (`render`). Everything on the way,
progress and notes, goes to stderr. Escape codes reach terminals only, and none where NO_COLOR is set.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TextIO

from nightschool.cli.exits import ExitCode
from nightschool.cli.printable import ascii_json, json_safe, printable
from nightschool.cli.render import Line, Piece
from nightschool.core.errors import NotAllowed

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

TENTHS = 10
BAR = 16
"""Characters."""
EVERY = 25
"""Of a count whose end is unknown, so many make a line."""


class Steps(Protocol):
    """How far something is."""

    def at(self, done: int, total: int | None = None, text: str = "", beside: str = "") -> None:
        """`done` of `total` (None: unknown); `text` says what goes on, `beside` what changes all the time and
        is told by a bar alone."""
        ...


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a command prints to."""

    json: bool = False
    stream: bool = False
    """The document is one line, like those that were told before it."""

    def result(
        self, document: object, pieces: Iterable[Piece | str] = (), code: ExitCode = ExitCode.DONE
    ) -> ExitCode:
        """The result of a command, its last act: the document or the pieces. Gives the code back."""
        if self.json:
            self.line(document) if self.stream else self._document(json_text(document))
        else:
            self.show(*pieces)
        return code

    def line(self, document: object) -> None:
        """One of many documents, on a line of its own, at once."""
        self._document(json_text(document, indent=None))

    def _document(self, text: str) -> None:
        stream = _stdout()
        wide = (stream.encoding or "utf-8").lower().replace("_", "-").startswith("utf")
        self._write(stream, (text if wide else ascii_json(text)) + "\n")

    def show(self, *pieces: Piece | str) -> None:
        """A part of a result that is told as it comes. With `--json` nothing: the document has it."""
        if not self.json:
            _print(_stdout(), pieces)

    def file(self, text: str) -> ExitCode:
        """A whole file as the result, made fit for a terminal already."""
        self._write(_stdout(), text)
        return ExitCode.DONE

    def note(self, *pieces: Piece | str) -> None:
        """What is good to know on the way."""
        _print(_stderr(), pieces)

    def confirm(self, question: str, *, otherwise: str) -> None:
        """Asks, and raises `NotAllowed` where the answer is no or nobody is there to ask.

        `otherwise` names the flag that answers beforehand.
        """
        if self.json or not (sys.stdin and sys.stdin.isatty() and _stderr().isatty()):
            raise NotAllowed([("confirmation", f"{question} Nobody is here to ask; {otherwise}")])
        _stderr().write(printable(question) + " [y/N] ")
        _stderr().flush()
        if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
            raise NotAllowed([("declined", "stopped, as you said")])

    @contextmanager
    def progress(self, what: str) -> Iterator[Steps]:
        """A bar on a terminal; elsewhere a line at each tenth (of an unknown end: at each `EVERY`th), or for
        each new text. Ask and print results outside of it: the bar has the terminal for itself."""
        if not styled(_stderr()):
            yield PlainSteps(_stderr(), what)
            return
        from rich.console import Console  # noqa: PLC0415 - only a terminal pays for rich
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn  # noqa: PLC0415

        # The words come last, and `Bar` shortens them in the middle: on a narrow terminal the count stays.
        words = TextColumn("{task.description}", markup=False)
        columns = (MofNCompleteColumn(), BarColumn(bar_width=BAR), words)
        console = Console(file=_stderr(), markup=False, emoji=False, highlight=False)
        with Progress(*columns, console=console, transient=True) as bars:
            yield Bar(bars, bars.add_task(printable(what), total=None), what)

    @staticmethod
    def _write(stream: TextIO, text: str) -> None:
        stream.write(text)
        stream.flush()


class PlainSteps:
    """Progress as lines."""

    def __init__(self, stream: TextIO, what: str) -> None:
        self._stream = stream
        self._what = what
        self._told: tuple[int, str] | None = None

    def at(self, done: int, total: int | None = None, text: str = "", beside: str = "") -> None:
        del beside
        now = (done * TENTHS // total if total else done // EVERY, text)
        if now == self._told:
            return
        self._told = now
        count = f" {done}/{total}" if total else f" {done}" if done else ""
        self._stream.write(printable(f"{self._what}{count}{': ' + text if text else ''}") + "\n")
        self._stream.flush()


class Bar:
    """Progress as a bar."""

    def __init__(self, bars: Progress, task: TaskID, what: str) -> None:
        self._bars = bars
        self._task = task
        self._what = what

    def at(self, done: int, total: int | None = None, text: str = "", beside: str = "") -> None:
        from rich.text import Text  # noqa: PLC0415 - only a terminal pays for rich

        told = ", ".join(words for words in (beside, text) if words)
        # What goes on says more than the name of the whole, which a narrow terminal has no room for.
        told = told if text else f"{self._what}: {told}" if told else self._what
        of = len(f"{total or '?'}")
        count = max(len(f"{done}"), of) + 1 + of
        room = max(self._bars.console.width - count - BAR - 2, 1)
        words = Text(_in_room(printable(told), room))
        words.truncate(room, overflow="ellipsis")
        self._bars.update(self._task, completed=done, total=total, description=words.plain)


def _in_room(text: str, room: int) -> str:
    """Cut from the middle: what it is about stands at the beginning, and how far it came at the end."""
    if len(text) <= room:
        return text
    begin = room // 3
    return f"{text[:begin]}…{text[len(text) - (room - begin - 1) :]}"


def styled(stream: TextIO) -> bool:
    """Whether escape codes may be written: a terminal that knows them, and nobody said no."""
    return (
        stream.isatty()
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM", "dumb") not in {"dumb", "unknown", ""}
    )


def json_text(document: object, *, indent: int | None = 2) -> str:
    """One JSON document. Unknown is null; times are ISO 8601, spans are seconds."""
    return json_safe(json.dumps(plain(document), ensure_ascii=False, allow_nan=False, indent=indent))


def plain(value: object) -> Any:  # noqa: PLR0911 - a flat table of types
    """A value as JSON has it."""
    match value:
        case Enum():
            return plain(value.value)
        case None | bool() | int() | float() | str():
            return value
        case datetime():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case Decimal():
            return float(value)
        case Path():
            return str(value)
        case Mapping():
            return {str(key): plain(item) for key, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {part.name: plain(getattr(value, part.name)) for part in dataclasses.fields(value)}
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def _print(stream: TextIO, pieces: Iterable[Piece | str]) -> None:
    whole = [Line(piece) if isinstance(piece, str) else piece for piece in pieces]
    if not stream.isatty():
        stream.writelines(piece.plain() + "\n" for piece in whole)
    else:
        from rich.console import Console  # noqa: PLC0415 - only a terminal pays for rich

        # A terminal without colours has a width all the same: a table is to fit it.
        colours: Literal["auto"] | None = "auto" if styled(stream) else None
        console = Console(file=stream, color_system=colours, markup=False, emoji=False, highlight=False)
        for piece in whole:
            console.print(piece.styled())
    stream.flush()


def _stdout() -> TextIO:
    return _open(sys.stdout)


def _stderr() -> TextIO:
    return _open(sys.stderr)


def _open(stream: TextIO | None) -> TextIO:
    """Python has None for a stream that was closed before it began (`>&-`)."""
    if stream is None:
        raise BrokenPipeError
    return stream
