"""Explicit instructions in a human turn, with the terms that a machine can look for where they are clear.

Relieves signals and corrections, which both need them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from nightschool.core.values import Value
from nightschool.rules.clauses import (
    at_front,
    bans_thing,
    is_duty,
    is_lasting_order,
    is_prohibition,
    is_style,
)
from nightschool.rules.commands import with_marks
from nightschool.rules.footprints import holds_term
from nightschool.rules.gist import gist
from nightschool.rules.instructions import (
    BY_THEMSELVES,
    HALF_UNWANTED,
    HALF_WANTED,
    PAIRS,
    STANDING,
    UNWANTED,
    WANTED,
    Template,
    clear_term,
)
from nightschool.rules.leads import bare, urges
from nightschool.rules.prose import (
    is_acknowledgement,
    is_injected,
    is_paste,
    is_remark,
    ordered_tokens,
    own_words,
    sentences,
    word_count,
)
from nightschool.rules.words import DEFAULT, POLITENESS, Words

SENTENCE = 60
"""Words of a sentence that can hold one instruction."""
TEMPLATES = (*PAIRS, *WANTED, *UNWANTED)
WITH_SPACES = tuple(template for template in TEMPLATES if not template.spaceless)
REMEMBERED = 8192
"""Remarks whose instructions are remembered: each is short, and a run asks several times."""
FEWEST = 3
"""Words of a statement that says something by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explicit(Value):
    """One instruction. `wanted` and `unwanted` are its machine form, case folded; None where no single
    clear term stands there."""

    quote: str
    """The sentence, in the human's words."""
    position: int
    """Which sentence of the message it is."""
    wanted: str | None = None
    unwanted: str | None = None
    standing: bool = False
    """It says by itself that it holds for later work too ("always", "from now on")."""
    forbids: bool = False
    loose: bool = False
    """Said in a form that reports and specifications have too: it counts where the agent did, or spoke of,
    what is not wanted."""

    @property
    def key(self) -> str:
        """What makes two instructions the same, whatever the wording or language or order of words."""
        match (self.wanted, self.unwanted):
            case (None, None):
                return f"{'not' if self.forbids else 'do'}: {' '.join(said(self.quote))}"
            case (wanted, None):
                return f"use {wanted}"
            case (None, unwanted):
                return f"not {unwanted}"
            case (wanted, unwanted):
                return f"use {wanted} not {unwanted}"

    @property
    def has_form(self) -> bool:
        return self.wanted is not None or self.unwanted is not None


def explicit(text: str, words: Words = DEFAULT, did: Sequence[str] | None = None) -> tuple[Explicit, ...]:
    """The instructions in a human turn, in order; no machine form twice. `did` is what the agent said and did
    before it in the session, which the loose ones are held against; None: they count in any case.

    None in injected rows, pasted logs, quoted or fenced text, acknowledgements, questions and messages that
    are too long to be a remark. A bare "don't ..." counts only where it opens the message or
    follows on a "no": else it limits the next piece of work. Which words are a "no" is all that `words` tell
    here: the machine forms are the same with any.
    """
    if is_injected(text) or is_paste(text) or is_acknowledgement(text):
        return ()
    own = own_words(text)
    found = _explicit(own, words) if is_remark(own) else ()
    return tuple(item for item in found if not item.loose or did is None or _told_against(item, did))


def _told_against(item: Explicit, did: Sequence[str]) -> bool:
    return item.unwanted is not None and any(holds_term(text, item.unwanted) for text in did)


@lru_cache(maxsize=REMEMBERED)
def _explicit(own: str, words: Words) -> tuple[Explicit, ...]:
    """Asked of one remark several times in a run: for corrections, for signals, for tasks."""
    found: dict[str, Explicit] = {}
    for item in _joined(_each(sentences(own), words)):
        found.setdefault(item.key, item)
    return tuple(found.values())


_FILLING = frozenset({"don", "t", "do", "it", "that", "this", "the", "a", "an", "is", "s", "to"})


def said(quote: str) -> tuple[str, ...]:
    """The words of a statement that carry it, in order."""
    return tuple(word for word in ordered_tokens(quote) if word not in POLITENESS and word not in _FILLING)


def says_enough(quote: str) -> bool:
    """Whether a statement without a machine form says something when it stands alone in a list."""
    return len(said(quote)) >= FEWEST or bans_thing(quote)


def _each(parts: tuple[str, ...], words: Words) -> Iterator[Explicit]:
    reproached = bool(parts) and words.opener.search(parts[0]) is not None
    for position, part in enumerate(parts):
        if word_count(part) > SENTENCE:
            continue
        asked = part.endswith(("?", "\uff1f"))
        item = next(_asked(part, position), None) if asked else _instruction(part)
        if item is None:
            leads = reproached or _leads(parts, position)
            alone = None if asked else _statement(part, position, leads=leads)
            item = _half(part, alone) or alone
        if item is not None:
            yield replace(item, position=position)


def _statement(part: str, position: int, *, leads: bool) -> Explicit | None:
    """What says something without naming a term."""
    if (word_count(part) < FEWEST and not bans_thing(part)) or not _states(part, leads=leads):
        return None
    # Elsewhere than in front "always" may speak of the product: no first request is told by it.
    standing = at_front(part) and STANDING.search(part) is not None
    return Explicit(quote=part, position=position, standing=standing, forbids=gist(part).forbids)


def _leads(parts: tuple[str, ...], position: int) -> bool:
    """Whether nothing but thanks and the like stands before it."""
    return all(is_acknowledgement(part) for part in parts[:position])


_POLITE = re.compile(
    r"^(?:and\s+|please\s+)*(?:can|could|would|will)\s+(?:you|we)\s+(?:please\s+)?", re.IGNORECASE
)


def _asked(part: str, position: int) -> Iterator[Explicit]:
    """ "Can you use X instead of Y?" tells; any other question asks."""
    polite = _POLITE.match(part)
    item = None if polite is None else _instruction(part[polite.end() :].rstrip("?\uff1f "))
    if item is not None and item.wanted is not None and item.unwanted is not None:
        yield replace(item, quote=part, position=position)


def _states(part: str, *, leads: bool) -> bool:
    return (
        at_front(part)
        or is_duty(part)
        or (leads and (is_lasting_order(part) or is_prohibition(part) or is_style(part)))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Half(Explicit):
    """Counts only beside the sentence that names the other half. `alone` is what it says without."""

    alone: Explicit | None = None


def _half(part: str, alone: Explicit | None) -> Explicit | None:
    text = with_marks(bare(part))
    for pattern, wants in ((HALF_WANTED, True), (HALF_UNWANTED, False)):
        match = pattern.match(text)
        named = {} if match is None else {name: text for name, text in match.groupdict().items() if text}
        term = clear_term(next((text for name, text in named.items() if name != "verb"), None))
        if term is not None and term not in BY_THEMSELVES:
            loose = wants and "verb" not in named and not urges(part)
            half = _Half(quote=part, position=0, forbids=not wants, alone=alone, loose=loose)
            return replace(half, wanted=term) if wants else replace(half, unwanted=term)
    return None


def _instruction(part: str) -> Explicit | None:
    standing = STANDING.search(part) is not None
    texts = tuple(dict.fromkeys((with_marks(bare(part)), with_marks(part))))
    templates = WITH_SPACES if part.isascii() else TEMPLATES
    for template, text in ((t, text) for t in templates for text in texts):
        match = template.pattern.search(text)
        item = None if match is None else _item(template, match, part)
        if item is not None:
            return replace(item, standing=standing or template.standing)
    return None


def _item(template: Template, match: re.Match[str], part: str) -> Explicit | None:
    named = match.groupdict()
    paired = {"w", "u"} <= named.keys()
    wanted = clear_term(named.get("w"), code_only=template.code_only, paired=paired)
    unwanted = clear_term(named.get("u"), code_only=template.code_only, paired=paired)
    if wanted == unwanted or (
        template.whole and None in {wanted, unwanted}
    ):  # nothing is clear, or case alone tells them apart
        return None
    loose = template.loose and not urges(part)
    return Explicit(
        quote=part, position=0, wanted=wanted, unwanted=unwanted, forbids=wanted is None, loose=loose
    )


def _joined(items: Iterable[Explicit]) -> Iterator[Explicit]:
    """Two halves in sentences side by side are one instruction: "Don't use npm. Use pnpm."."""
    waiting: Explicit | None = None
    for item in items:
        pair = None if waiting is None else _pair(waiting, item)
        if pair is not None:
            yield pair
            waiting = None
            continue
        yield from _alone(waiting)
        waiting = item
    yield from _alone(waiting)


def _alone(item: Explicit | None) -> Iterator[Explicit]:
    told = item.alone if isinstance(item, _Half) else item
    if told is not None:
        yield told


def _pair(first: Explicit, second: Explicit) -> Explicit | None:
    if second.position != first.position + 1:
        return None
    one, other = (first, second) if first.wanted is not None else (second, first)
    complete = (
        one.wanted is not None
        and one.unwanted is None
        and other.wanted is None
        and other.unwanted is not None
    )
    if not complete or one.wanted == other.unwanted:
        return None
    return Explicit(
        quote=f"{first.quote} {second.quote}",
        position=first.position,
        wanted=one.wanted,
        unwanted=other.unwanted,
        standing=first.standing or second.standing,
        loose=first.loose or second.loose,
    )
