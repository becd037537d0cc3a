"""What stands around an instruction and is no part of it: "I told you:", "how often do I have to say it,",
"schon wieder", "please" in the middle, "package" behind a name.

Relieves the templates of instructions, which then know what is wanted and what is not, and nothing of how
impatient people are by now. Each pattern looks a bounded way into a sentence.
"""
# ruff: noqa: RUF001 - words of other languages are written in their own letters

from __future__ import annotations

import re
from typing import Final

_LEADS: Final = (
    # English
    "(like |as )?i( have|'ve|'d)?( already| just| clearly| specifically)* (told|asked|said|mentioned)( to)?"
    "( you)?( this| that| it)?( before| already| again| twice| (so )?(many|several|a hundred) times)*"
    "( (that )?(we|you) (should )?use| to use)?",
    "how (often|many times)( do| must| should)? i( have| need)?( to)? (say|tell|repeat|ask)( you| for)?"
    "( it| this| that)?( to you)?",
    "i (keep|kept) (telling|saying|asking)( you)?( to use| that we use)?",
    "(once |yet )?again",
    "once more",
    "for the (last|second|third|fourth|fifth|tenth|hundredth|umpteenth|\\w{1,3}th) time",
    "(same as|like) (before|last time|always)",
    "(a )?(gentle |friendly )?reminder",
    "(please )?remember",
    # German
    "(ich )?(habe|hab)( ich)?( es| das| dir| doch| schon| bereits| mal| oft| gerade| ja| so)* gesagt",
    "ich sagte( es| das| dir| doch| schon| bereits| mal| ja)*",
    "wie( schon| bereits| immer)* (gesagt|erwähnt|besprochen)",
    "(wie immer|wie oft noch|falsch)",
    "(nochmals?|noch mals?|schon wieder|wieder mal)",
    "wie oft( muss| soll| denn)* ich( dir| es| das| denn)*( noch)? (sagen|wiederholen|erklären)",
    "zum [\\w-]{1,15} mal",
    "(bitte )?(merk dir|denk dran|denk daran)( das)?",
    # French
    "(comme )?je (te |vous |l')*(t'ai |l'ai |ai )?(déjà )?(dit|demandé|disais)",
    "(comme )?j'(ai )?(déjà )?(dit|demandé)",
    "je (t'|vous |l')?ai (déjà )?(dit|demandé)",
    "(encore une fois|à nouveau|rappel|pour rappel)",
    # Spanish, Portuguese, Italian
    "(como )?(ya )?(te )?(lo )?(dije|he dicho|había dicho|pedí)",
    "(otra vez|de nuevo|una vez más|recuerda)",
    "(como )?(eu )?(já )?(te |lhe )?(disse|falei|pedi)",
    "(mais uma vez|de novo|lembre-se)",
    "(come )?(te )?(l'ho|ho) (già )?(detto|chiesto)",
    "(di nuovo|ancora una volta|ricorda(ti)?)",
    # Russian
    "(как )?я (же |тебе |уже |ведь )*(говорил|сказал|просил)а?",
    "((ещё|еще) раз|опять|снова|напоминаю)",
)
_POLITE: Final = (
    r"please|pls|plz|bitte|stp|svp|s['’]il (?:te|vous) pla[iî]t|por favor|per favore|per piacere|пожалуйста"
)
_KIND: Final = (
    "package|module|library|lib|framework|paket|modul|bibliothek|paquet|bibliothèque|paquete|librería|pacote"
    "|biblioteca|pacchetto|libreria|пакет|модуль|библиотека|библиотеку"
)
_ENDS: Final = r"(?:\s*[,.:;!–—-]+\s*|\s+(?=['\"`]?[^\s]))"
_LEAD: Final = re.compile(
    r"^\W*(?:(?:no|nope|nah|nein|nee|nö|non|não|нет|and|but|und|aber|et|mais|y|pero|e|ma|mas|и|но|hey|ugh|ok|okay)"
    r"[,.!:]*\s+)*(?:(?:"
    + "|".join(
        re.sub(r"(?<!\\)\((?!\?)", "(?:", lead).replace(" ", r"\s+").replace("'", "['’]") for lead in _LEADS
    )
    + rf")(?!\w){_ENDS})+",
    re.IGNORECASE,
)
_INSIDE: Final = re.compile(
    rf",?\s+(?:{_POLITE})(?=\s*(?:[,.!;:]|$))|\s+(?:{_POLITE})(?=\s)|^(?:{_POLITE})[\s,:]+", re.IGNORECASE
)
_BEHIND: Final = re.compile(rf"(?<=\w)(?:-|\s+)(?:{_KIND})s?(?=\s*(?:$|[,.;:!?]))", re.IGNORECASE)


def bare(sentence: str) -> str:
    """The sentence without what leads to it, without politeness, and names without their kind ("the testing
    package"). What is quoted by the caller is the sentence as it was said."""
    if not sentence:
        return sentence
    lead = _LEAD.match(sentence)
    rest = sentence if lead is None or lead.end() == len(sentence) else sentence[lead.end() :]
    return _BEHIND.sub("", _INSIDE.sub("", rest)).strip()


def leads_in(sentence: str) -> bool:
    """Whether the sentence says that what it says was said before."""
    lead = _LEAD.match(sentence)
    return lead is not None and lead.end() < len(sentence)
