"""The picture in the README is one of a real run."""

from __future__ import annotations

import re
from pathlib import Path

from rich.text import Text
from scripts.picture_demo import PICTURE, drawn, run_in_terminal, text_in

README = Path(__file__).parents[1] / "README.md"
CHANCE = re.compile(r"d-[0-9a-f]{10}|[\d.]+|[▁▂▃▄▅▆▇█]+")
"""Ids come from temporary paths, and what the gate saw from the apprentice's luck."""


def test_the_picture_is_shown_and_stands_alone() -> None:
    """The README shows it; it is light, and names no address but that of SVG itself."""
    assert "](docs/demo.svg)" in README.read_text(encoding="utf-8")
    picture = PICTURE.read_text(encoding="utf-8")
    assert len(picture) < 200_000
    assert re.findall(r"\w+://[^\"' )]+", picture) == ["http://www.w3.org/2000/svg"]
    assert "url(" not in picture.replace("url(#demo-", "")
    assert "@font-face" not in picture


def test_the_picture_has_the_lines_of_a_real_run() -> None:
    """What the demo prints in a terminal today is what the picture shows, but for what chance decides."""
    sent, code = run_in_terminal()
    shown = without_chance(text_in(PICTURE.read_text(encoding="utf-8")))
    real = without_chance(Text.from_ansi(sent).plain.splitlines())
    assert without_chance(text_in(drawn(sent))) == real
    first, last = ("# Read", "# The gate") if code == 0 else ("# Read", "# Practise")
    assert between(shown, first, last) == between(real, first, last)
    assert shown[-2:] == real[-2:] or code


def without_chance(lines: list[str]) -> list[str]:
    return [CHANCE.sub("#", line.rstrip()) for line in lines if line.strip()]


def between(lines: list[str], first: str, last: str) -> list[str]:
    places = [next(at for at, line in enumerate(lines) if line.startswith(start)) for start in (first, last)]
    return lines[slice(*places)]
