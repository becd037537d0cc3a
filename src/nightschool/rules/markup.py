"""Markup that escapes by itself: HTML and SVG as values, built by one function.

Relieves the report and the curves of thinking of it at each text: a `str` is text and is always escaped,
only what `tag` made is markup.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

VOID = frozenset({"br", "meta", "wbr"})


@dataclass(frozen=True, slots=True)
class Markup:
    """Text that is markup already. Outside of this module only literals of our own are made into it."""

    text: str


Part = str | Markup


def tag(name: str, /, *parts: Part, **attributes: str | float) -> Markup:
    """An element. Attributes are named as in Python: `class_` is class, `stroke_width` is stroke-width."""
    told = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"' for key, value in attributes.items()
    )
    if name in VOID:
        return Markup(f"<{name}{told}>")
    return Markup(f"<{name}{told}>{joined(parts).text}</{name}>")


def joined(parts: Iterable[Part]) -> Markup:
    """Parts one behind the other."""
    return Markup("".join(part.text if isinstance(part, Markup) else escape(part) for part in parts))
