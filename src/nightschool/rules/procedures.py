"""Procedures in a person's words: an occasion, and three steps or more in their order.

Relieves corrections, which keep one sentence, of what has a meaning only as a whole.
"""

from __future__ import annotations

import re

from nightschool.core.tasks import Procedure
from nightschool.rules.instructions import FORBIDS, clear_term
from nightschool.rules.prose import is_injected, is_paste, is_remark, own_words, word_count

FEWEST = 3
"""Steps of a procedure."""
OCCASION = 25
"""Words that name an occasion at most."""

_NUMBERED = re.compile(r"^\s*(\d{1,2})[.)]\s+(\S.*)$")
_NAMES_ONE = re.compile(
    r"^\W*(?:(?:no|nope|please|and|again|always|hey|ok|okay|nein|bitte)\b[\s,:.!-]*)*"
    r"(?:to|when|whenever|before|after|every\s+time|each\s+time|if|wenn|bevor|nachdem|immer\s+wenn|um)\b"
    r"|\bsteps?\b|\bin\s+this\s+order\b|\bschritten?\b|\breihenfolge\b",
    re.IGNORECASE,
)
_STEP = r"(?:^|[\s,;:.(])(?:and\s+|und\s+)?(?:{})\b[\s,:]*"
_FIRST = re.compile(_STEP.format("first(?:ly)?|zuerst|als\\s+erstes"), re.IGNORECASE)
_NEXT = re.compile(
    _STEP.format("then|next|after\\s+that|second(?:ly)?|third(?:ly)?|dann|danach"), re.IGNORECASE
)
_LAST = re.compile(
    _STEP.format(
        "finally|lastly|at\\s+last|only\\s+then|zuletzt|schließlich|zum\\s+schluss|erst\\s+dann|dann\\s+erst"
    ),
    re.IGNORECASE,
)
_END = re.compile(r"[.!?](?:\s|$)|\n|$")
_QUOTED = re.compile(r"`[^`\n]{1,60}`")
_AROUND = " \t\n,;:.-–"  # noqa: RUF001 - a dash of prose
_FILLER = re.compile(
    r"^(?:(?:no|nope|please|and|again|always|hey|ok|okay|nein|bitte)\b[\s,:.!-]*)+", re.IGNORECASE
)


def procedure(text: str) -> Procedure | None:
    """The procedure that a human turn tells, or None. Two plain shapes are known: a line that names an
    occasion ("When you cut a release:") with three numbered lines or more below it, and sentences that go
    "..., first ..., then ..., then ..." or "..., finally ...". A list with a prohibition in it is one of
    rules, not of steps.
    """
    if is_injected(text) or is_paste(text):
        return None
    own = own_words(text)
    if not is_remark(own):
        return None
    found = _numbered(own) or _told(own)
    if found is None or any(FORBIDS.search(step) for step in found.steps):
        return None
    return found if 1 < word_count(found.occasion) <= OCCASION else None


def tells_an_order(text: str) -> bool:
    """Whether it tells what is done first and what then, be it a whole procedure or not."""
    first = _FIRST.search(text)
    return first is not None and any(step.search(text, first.end()) for step in (_NEXT, _LAST))


def named_in(found: Procedure) -> str | None:
    """The term by which a machine can tell that it was gone through: what stands in code marks in the last
    step that has such marks. Who did the last step has come to the end."""
    for step in reversed(found.steps):
        terms = [clear_term(match.group()) for match in _QUOTED.finditer(step)]
        clear = [term for term in terms if term is not None]
        if clear:
            return clear[-1]
    return None


def _numbered(own: str) -> Procedure | None:
    steps: list[str] = []
    occasion = ""
    for line in own.splitlines():
        match = _NUMBERED.match(line)
        if match is not None and int(match.group(1)) == len(steps) + 1:
            steps.append(match.group(2).strip())
        elif len(steps) >= FEWEST:
            break
        elif steps and line.strip() and line.startswith((" ", "\t")):
            steps[-1] += " " + line.strip()
        elif line.strip():
            occasion, steps = line, []
    if len(steps) < FEWEST or _NAMES_ONE.search(occasion) is None:
        return None
    return Procedure(occasion=_bare(occasion), steps=tuple(steps))


def _told(own: str) -> Procedure | None:
    first = _FIRST.search(own)
    if first is None:
        return None
    last = _LAST.search(own, first.end())
    end = _END.search(own, first.end() if last is None else last.end())
    stop = end.start() if end else None
    steps = _NEXT.split(own[first.end() : stop if last is None else last.start()])
    if last is not None:
        steps.append(own[last.end() : stop])
    bare = tuple(step.strip(_AROUND) for step in steps)
    occasion = re.split(r"[.!?]\s|\n", own[: first.start()])[-1]
    if len(bare) < FEWEST or not all(bare) or _NAMES_ONE.search(occasion) is None:
        return None
    return Procedure(occasion=_bare(occasion), steps=bare)


def _bare(occasion: str) -> str:
    return _FILLER.sub("", occasion.strip(_AROUND)).strip(_AROUND)
