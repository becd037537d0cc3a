"""Markup that escapes by itself."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from nightschool.rules.markup import joined, tag


class Read(HTMLParser):
    """What a parser sees: tags with their attributes, and text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])))
def test_a_text_stays_text(hostile: str) -> None:
    """Whatever a text holds, a parser sees one element, its one attribute, and the very text."""
    read = Read()
    read.feed(tag("p", hostile, title=hostile).text)
    read.close()
    assert read.tags == [("p", {"title": hostile})]
    assert read.text == hostile


def test_only_what_tag_made_is_markup() -> None:
    """Elements nest, attributes are named as in Python, and void elements have no end."""
    inner = tag("b", "<i>")
    assert tag("p", inner, "&", class_="x", stroke_width=2).text == (
        '<p class="x" stroke-width="2"><b>&lt;i&gt;</b>&amp;</p>'
    )
    assert joined(["<", tag("br")]).text == "&lt;<br>"
