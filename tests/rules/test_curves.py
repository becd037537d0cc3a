"""The picture of a wealth."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from nightschool.rules.curves import HEIGHT, WIDTH, curve

SPACE = "{http://www.w3.org/2000/svg}"


def drawn(*path: float, needed: float | None = 16.4) -> ET.Element:
    return ET.fromstring(curve(path, needed=needed, alone=True).text)  # noqa: S314 - our own text


def places(picture: ET.Element) -> list[tuple[float, float]]:
    (line,) = picture.findall(f"{SPACE}polyline")
    return [(float(x), float(y)) for x, y in (point.split(",") for point in line.attrib["points"].split())]


def test_a_path_goes_up_where_the_wealth_grows() -> None:
    """Each pair is a step to the right; more wealth stands higher, in powers: a factor is a height."""
    picture = places(drawn(1, 2, 4, 2))
    heights = [y for _, y in picture]
    assert [x for x, _ in picture] == sorted({x for x, _ in picture})
    assert heights[0] - heights[1] == pytest.approx(heights[1] - heights[2], abs=0.2)
    assert heights[3] == heights[1]


@pytest.mark.parametrize("path", [(1.0,), (1.0, 1e-300), (1.0, 0.0), (1.0, 1e12), (1.0, *[0.5] * 400)])
@pytest.mark.parametrize("needed", [None, 16.4, 1e9])
def test_everything_lies_inside(path: tuple[float, ...], needed: float | None) -> None:
    """However long or extreme a path is, it is drawn within the picture."""
    for x, y in places(drawn(*path, needed=needed)):
        assert 0 <= x <= WIDTH
        assert 0 <= y <= HEIGHT


def test_the_lines_say_what_they_are() -> None:
    """The line to pass is there where it is known, the one to fail always."""
    told = "".join(drawn(1, 2).itertext())
    assert "16.4" in told
    assert "passes above this line" in told
    assert "fails below this line" in told
    assert "passes" not in "".join(drawn(1, 2, needed=None).itertext())


def test_alone_it_brings_its_style() -> None:
    """As a file it has both colour schemes and loads nothing; inside a page the page has the style."""
    alone = curve([1, 2], needed=16.4, alone=True).text
    assert "prefers-color-scheme:dark" in alone
    assert re.findall(r"\w+://[^\"' )]+", alone) == ["http://www.w3.org/2000/svg"]
    assert "url(" not in alone
    assert "<style" not in curve([1, 2], needed=16.4).text
