"""A new skill from a procedure, in the person's own words: its name, its head, its steps.

No model writes here: the words are those that the person said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from nightschool.core.skills import LONGEST_DESCRIPTION, LONGEST_NAME
from nightschool.core.tasks import Procedure
from nightschool.core.values import Value, digest_of

ORIGIN = "nightschool"
"""Stands under `metadata` in the head: the folder is one that we made."""
WORDS = 5
"""Words of an occasion that a name is made of."""
_FILLING = frozenset(
    """
    to when whenever before after every each time if you we i the a an do are is it your our this that in
    order please always steps step of for and
    """.split()  # noqa: SIM905 - a table of words
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSkill(Value):
    """A skill folder that is not there yet: one file."""

    name: str
    content: bytes


def new_skill(found: Procedure) -> NewSkill:
    """The folder's name and its SKILL.md."""
    name = name_of(found.occasion)
    description = _cut(f"{found.occasion}: {'; '.join(found.steps)}")
    title = found.occasion[:1].upper() + found.occasion[1:]
    lines = [
        "---",
        f"name: {name}",
        f"description: {json.dumps(description, ensure_ascii=False)}",
        "metadata:",
        f"  origin: {ORIGIN}",
        "---",
        "",
        f"# {title}",
        "",
        *(f"{number}. {step}" for number, step in enumerate(found.steps, start=1)),
        "",
    ]
    return NewSkill(name=name, content="\n".join(lines).encode("utf-8", "replace"))


def name_of(occasion: str) -> str:
    """A name by the rules of Agent Skills; where the words hold no letter of ours, one by their digest."""
    words = [word for word in re.findall(r"[a-z0-9]+", occasion.casefold()) if word not in _FILLING]
    name = _within(words[:WORDS])
    return name or f"procedure-{digest_of(occasion)[:8]}"


def _within(words: Iterable[str]) -> str:
    name = ""
    for word in words:
        longer = f"{name}-{word}" if name else word[:LONGEST_NAME]
        if len(longer) > LONGEST_NAME:
            break
        name = longer
    return name


def _cut(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= LONGEST_DESCRIPTION else plain[: LONGEST_DESCRIPTION - 2].rstrip() + " …"
