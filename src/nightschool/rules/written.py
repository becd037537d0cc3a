"""Whether a memory file says already, in the person's own words, what a correction asks for.

Relieves foreseeing of it. A cheap look at words: it decides nothing but whose turn comes last, and is told.
"""

from __future__ import annotations

from nightschool.core.tasks import Footprint, Touched
from nightschool.rules.memory_block import BEGIN, END
from nightschool.rules.wording import holds

SHOWN = 80


def says_already(content: bytes | None, check: Footprint | Touched) -> str | None:
    """The first line outside of our block that names both what is wanted and what is not."""
    if content is None or isinstance(check, Touched) or check.wanted is None or check.unwanted is None:
        return None
    ours = False
    for line in content.decode("utf-8", "replace").splitlines():
        if BEGIN in line:
            ours = True
        elif END in line:
            ours = False
        elif not ours and holds(line, check.wanted) and holds(line, check.unwanted):
            return line.strip()[:SHOWN]
    return None
