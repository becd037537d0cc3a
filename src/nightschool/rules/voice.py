"""Which of the ways a person said a thing stands for all of them, and its plain words.

Relieves corrections: the rest of it groups what was said, this chooses among the words.
"""
# ruff: noqa: RUF001 - words of other languages are written in their own letters

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from nightschool.core.tasks import Moment
from nightschool.rules.prose import ordered_tokens

_LEAD = re.compile(
    r"^(?:(?:no|nope|stop|again|please|pls|hey|hello|hi|ok|okay|wait|and|but|nein|bitte|non|não|нет|пожалуйста"
    r"|stp|svp|por\s+favor|per\s+favore)(?:[,.!:]+\s*|\s+(?=\S)))+",
    re.IGNORECASE,
)
_KEPT_LEAD = re.compile(r"(?:no|stop|non|não|wait|and|but)\s", re.IGNORECASE)
"""Belongs to what follows where no mark parts it: "no em dashes", "stop writing comments"."""
_TAIL = re.compile(
    r"(?:[,\s]*(?<!\w)(?:please|pls|bitte|s['’]il (?:te|vous) pla[iî]t|stp|svp|por favor|per favore"
    r"|пожалуйста)(?=\W*$))?[\s!]*$",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"(?<!\w)(?:us(?:e|ing|[aá]r?|es|ate)|prefer|run|wr(?:ite|iting)|keep|add(?:ing)?|put|make|call|import|go|stick"
    r"|switch|commit|push|don['’]?t|never|always|nimm|nutze?n?|benutze?n?|verwende\w*|schreib\w*|utilise[zr]?"
    r"|prends|préfère|utili[czs][ae]\w*|используй\w*|бери)(?!\w)|[使用써쓰]|사용",
    re.IGNORECASE,
)
_TONGUES: Final[Mapping[str, frozenset[str]]] = {
    name: frozenset(words.split())
    for name, words in {
        "en": "no use using not instead of the never always don please rather than prefer with and stop",
        "de": "nimm nutze benutze verwende nicht statt anstatt kein keine nie immer bitte und sondern mit",
        "fr": "utilise utilisez utiliser pas au lieu jamais toujours et le les une plutôt préfère sans des",
        "es": "usa no en vez lugar de nunca siempre el los las con y por favor sino",
        "pt": "use usa não em vez de nunca sempre o os com mas ao invés",
        "it": "usa non invece di mai sempre il gli con ma al posto",
        "ru": "используй используйте не а вместо никогда всегда бери и",
    }.items()
}
_SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("ko", re.compile("[\uac00-\ud7af]")),
    ("zh", re.compile("[\u3400-\u9fff]")),
)


def plain(quote: str) -> str:
    """The words without address and emphasis: "No, use rg, not grep please!" is "use rg, not grep"."""
    found = quote.strip()
    lead = _LEAD.match(found)
    if lead is not None:
        kept = _last_word(lead.group())
        found = f"{kept}{found[lead.end() :]}"
    found = _TAIL.sub("", found, count=1)
    return found or quote


def tongue(quote: str) -> str:
    """The language whose words it has most of; "" where none is known."""
    text = plain(quote)
    for name, script in _SCRIPTS:
        if script.search(text):
            return name
    said = set(ordered_tokens(text))
    best = max(_TONGUES, key=lambda name: len(said & _TONGUES[name]))
    return best if said & _TONGUES[best] else ""


def clearest(moments: Iterable[Moment], heard: Sequence[Moment] = ()) -> Moment:
    """The moment whose words stand for all that were `heard` (else for these): in the language that most
    sessions have (of two, the one spoken last), a whole sentence before a fragment, the words that most
    sessions have, the shortest, the latest."""
    some = list(moments)
    every = heard or some
    known = {one.quote: (tongue(one.quote), _form(one.quote)) for one in (*some, *every)}
    tongues: dict[str, set[str]] = defaultdict(set)
    forms: dict[str, set[str]] = defaultdict(set)
    last: dict[str, float] = defaultdict(float)
    for one in every:
        spoken, form = known[one.quote]
        tongues[spoken].add(one.session)
        forms[form].add(one.session)
        last[spoken] = max(last[spoken], when(one))

    def rank(one: Moment) -> tuple[object, ...]:
        spoken, form = known[one.quote]
        return (
            -len(tongues[spoken]),
            -last[spoken],
            spoken,
            _VERB.search(form) is None,
            -len(forms[form]),
            len(one.quote),
            -when(one),
            one.session,
            one.turn,
        )

    return min(some, key=rank)


def when(moment: Moment) -> float:
    return 0.0 if moment.at is None else moment.at.timestamp()


def _form(quote: str) -> str:
    return plain(quote).casefold().rstrip(".")


def _last_word(lead: str) -> str:
    """What of the words in front belongs to the sentence."""
    found = re.search(r"\S+\s*$", lead)
    return found.group() if found is not None and _KEPT_LEAD.fullmatch(found.group()) else ""
