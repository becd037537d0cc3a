"""Makes docs/demo.svg, the picture in the README: `nightschool demo`, really run in a terminal.

    python -m scripts.picture_demo

Nothing is written by hand: what the terminal was sent is drawn, colours and all, but for the last lines (how
long it took and what to type next, which differ from machine to machine). The picture names no font and no
address of the web, so that it is the same wherever it is shown.
"""

from __future__ import annotations

import html
import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import SVG_EXPORT_THEME
from rich.text import Text

PICTURE = Path(__file__).parents[1] / "docs" / "demo.svg"
COLUMNS = 100
TITLE = "nightschool demo"
_FROM_THE_WEB = re.compile(r"\s*@font-face \{.*?\}|<!--.*?-->", re.DOTALL)
_CELL = 12.2
"""Width of a sign in rich's pictures."""
_TEXT = re.compile(r'<text class="demo-r\d+" x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)</text>')
_INDENTED = re.compile(r' x="([\d.]+)" (y="[\d.]+") textLength="([\d.]+)" ([^>]*>)((?:&#160;)+)')


def run_in_terminal(columns: int = COLUMNS) -> tuple[str, int]:
    """What the demo sends to a terminal of so many columns, up to its last step, and how it ended."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(columns)}
    environment.pop("NO_COLOR", None)
    argv = [str(Path(sys.executable).with_name("nightschool")), "demo"]
    process = subprocess.Popen(argv, stdout=theirs, stderr=subprocess.DEVNULL, env=environment)
    os.close(theirs)
    sent = bytearray()
    while part := _part(ours):
        sent += part
    os.close(ours)
    text = sent.decode().replace("\r\n", "\n")
    before, last, rest = text.partition("\n7. ")
    return before + last + rest.partition("\n")[0], process.wait()


def _part(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # so Linux tells that nobody writes to it any more
        return b""


def drawn(sent: str) -> str:
    """The same as a picture."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(sent.rstrip("\n")), soft_wrap=True)
    picture = console.export_svg(title=TITLE, theme=SVG_EXPORT_THEME, unique_id="demo")
    fonts = "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace"
    picture = _FROM_THE_WEB.sub("", picture).replace("Fira Code, monospace", fonts)
    return _INDENTED.sub(_moved, picture)


def _moved(found: re.Match[str]) -> str:
    """A text without the spaces that it begins with, at its place: some viewers leave them out."""
    x, y, length, rest, spaces = found.groups()
    width = len(spaces) // len("&#160;") * _CELL
    return f' x="{float(x) + width:.1f}" {y} textLength="{float(length) - width:.1f}" {rest}'


def text_in(picture: str) -> list[str]:
    """The lines of text that stand in a picture, as a terminal shows them."""
    lines: dict[float, str] = {}
    for x, y, text in _TEXT.findall(picture):
        before = lines.get(float(y), "").ljust(round(float(x) / _CELL))
        lines[float(y)] = before + html.unescape(text).replace("\xa0", " ")
    return [lines[y].rstrip() for y in sorted(lines)]


def main() -> int:
    sent, code = run_in_terminal()
    if code:
        sys.stderr.write(f"the demo ended with {code}; run this again\n")
        return 1
    PICTURE.write_text(drawn(sent), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
