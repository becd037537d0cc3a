"""What stands around an instruction and is no part of it: "I told you:", "how often do I have to say it,",
"schon wieder", "please" in the middle, "package" behind a name.

Relieves the templates of instructions, which then know what is wanted and what is not, and nothing of how
impatient people are by now. Each pattern looks a bounded way into a sentence.
"""
# ruff: noqa: RUF001 - words of other languages are written in their own letters

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_LEADS: Final = (
    # English
    "(like |as )?i( have|'ve|'d)?( already| just| clearly| specifically)* (told|asked|said|mentioned)( to)?"
    "( you)?( this| that| it)?( before| already| again| twice| (so )?(many|several|a hundred) times)*"
    "( (that )?(we|you) (should )?use| to use)?",
    "how (often|many times)( do| must| should)? i( have| need)?( to)? (say|tell|repeat|ask)( you| for)?"
    "( it| this| that)?( to you)?",
    "i (keep|kept) (telling|saying|asking)( you)?( to use| that we use)?",
    "for the (last|second|third|fourth|fifth|tenth|hundredth|umpteenth|\\w{1,3}th) time",
    # German
    "(ich )?(habe|hab)( ich)?( es| das| dir| doch| schon| bereits| mal| oft| gerade| ja| so)* gesagt",
    "ich sagte( es| das| dir| doch| schon| bereits| mal| ja)*",
    "wie( schon| bereits| immer)* (gesagt|erwähnt|besprochen)",
    "wie oft noch",
    "wie oft( muss| soll| denn)* ich( dir| es| das| denn)*( noch)? (sagen|wiederholen|erklären)",
    "zum [\\w-]{1,15} mal",
    "(bitte )?(merk dir|denk dran|denk daran)( das)?",
    # French
    "(comme )?je (te |vous |l')*(t'ai |l'ai |ai )?(déjà )?(dit|demandé|disais)",
    "(comme )?j'(ai )?(déjà )?(dit|demandé)",
    "je (t'|vous |l')?ai (déjà )?(dit|demandé)",
    # Spanish, Portuguese, Italian
    "(como )?(ya )?(te )?(lo )?(dije|he dicho|había dicho|pedí)",
    "(como )?(eu )?(já )?(te |lhe )?(disse|falei|pedi)",
    "(come )?(te )?(l'ho|ho) (già )?(detto|chiesto)",
    # Russian
    "(как )?я (же |тебе |уже |ведь )*(говорил|сказал|просил)а?",
)
_MARKERS: Final = (
    "((once |yet )?again|once more|(same as|like) (before|last time|always)|(a )?(gentle |friendly )?reminder"
    "|(please )?remember)",
    "(nochmals?|noch mals?|schon wieder|wieder mal|wie immer|falsch)",
    "(encore une fois|à nouveau|rappel|pour rappel|otra vez|de nuevo|una vez más|recuerda|mais uma vez"
    "|de novo|lembre-se|di nuovo|ancora una volta|ricorda(ti)?|(ещё|еще) раз|опять|снова|напоминаю)",
)
"""Lead in only with a mark behind them: "once more tests fail" is a sentence of its own."""
_POLITE: Final = (
    r"please|pls|plz|bitte|stp|svp|s['’]il (?:te|vous) pla[iî]t|por favor|per favore|per piacere|пожалуйста"
)
_KIND: Final = (
    "package|module|library|lib|framework|paket|modul|bibliothek|paquet|bibliothèque|paquete|librería|pacote"
    "|biblioteca|pacchetto|libreria|пакет|модуль|библиотека|библиотеку"
)
_MARK: Final = r"\s*[,.:;!–—-]+\s*"
_ENDS: Final = rf"(?:{_MARK}|\s+(?=['\"`]?[^\s]))"


def _any_of(leads: Iterable[str]) -> str:
    written = (re.sub(r"(?<!\\)\((?!\?)", "(?:", lead) for lead in leads)
    return "|".join(lead.replace(" ", r"\s+").replace("'", "['’]") for lead in written)


_LEAD: Final = re.compile(
    r"^\W*(?:(?:no|nope|nah|nein|nee|nö|non|não|нет|and|but|und|aber|et|mais|y|pero|e|ma|mas|и|но|hey|ugh|ok|okay)"
    rf"[,.!:]*\s+)*(?:(?:{_any_of(_LEADS)})(?!\w){_ENDS}|(?:{_any_of(_MARKERS)})(?!\w){_MARK})+",
    re.IGNORECASE,
)
_INSIDE: Final = re.compile(
    rf",?\s(?:{_POLITE})(?=\s*(?:[,.!;:]|$))|\s(?:{_POLITE})(?=\s)|^(?:{_POLITE})[\s,:]+", re.IGNORECASE
)
_BEHIND: Final = re.compile(rf"([\w.@/+]+)(?:-|\s)(?:{_KIND})s?(?=\s?(?:$|[,.;:!?]))", re.IGNORECASE)
_NO_NAME: Final = frozenset(
    """
    use using a an the our my any some this that never not no and or of to ein eine einen das die der den kein
    keine nie nicht und oder le la les un une des el los las una il lo gli o os um uma
    """.split()  # noqa: SIM905 - a table of words
)
"""Before a kind these leave it its meaning: "use a library", "never packages"."""


def bare(sentence: str) -> str:
    """The sentence without what leads to it, without politeness, and names without their kind ("the testing
    package"). What is quoted by the caller is the sentence as it was said."""
    text = " ".join(sentence.split())  # one blank each: the patterns below look at each once
    lead = _LEAD.match(text)
    rest = text if lead is None or lead.end() == len(text) else text[lead.end() :]
    return _BEHIND.sub(_without_kind, _INSIDE.sub("", rest)).strip()


def _without_kind(found: re.Match[str]) -> str:
    return found.group() if found.group(1).casefold() in _NO_NAME else found.group(1)


def urges(sentence: str) -> bool:
    """Whether the sentence says that what it says was said before, or asks for it politely: then it tells
    what to do, and does not report."""
    text = " ".join(sentence.split())
    lead = _LEAD.match(text)
    return (lead is not None and lead.end() < len(text)) or _INSIDE.search(text) is not None
