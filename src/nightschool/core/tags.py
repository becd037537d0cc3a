"""A text without the blocks that a program put into it. Relieves whoever looks for a person's own words."""

from __future__ import annotations

import re

_CLOSING = re.compile(r"</([\w-]+)>")


def outside_tags(text: str, opening: re.Pattern[str]) -> str:
    """The text without `<some-tag>...</some-tag>`, where the first group of `opening` is the name. A tag that
    is never closed stays, as text that quotes it.

    Linear, since anybody can put anything there: nothing is looked for that is not known to come.
    """
    last = {match.group(1): match.start() for match in _CLOSING.finditer(text)}
    kept: list[str] = []
    at = 0
    for match in opening.finditer(text) if last else ():
        name = match.group(1)
        if match.start() < at or last.get(name, -1) < match.end():
            continue
        close = text.index(f"</{name}>", match.end())
        kept.append(text[at : match.start()])
        at = close + len(name) + 3
    return "".join((*kept, text[at:]))
