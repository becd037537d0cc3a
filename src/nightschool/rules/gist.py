"""What of a statement counts where two are compared: whether it forbids, and the stems of its words.

Relieves corrections of how people vary a sentence. Left aside are politeness, words of grammar and the one
marker ("always", "never", "don't", "immer", "ne ... pas", "不要") that says which way it goes; any other
negation stays, and so does the side of a contrast ("X, not Y"), so that opposites never look alike.
"""
# ruff: noqa: RUF001 - words of other languages are written in their own letters

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from typing import Final

from nightschool.rules.leads import bare
from nightschool.rules.prose import ordered_tokens
from nightschool.rules.words import POLITENESS

ALWAYS: Final = frozenset(
    """
    always immer stets künftig toujours systématiquement siempre sempre всегда
    """.split()  # noqa: SIM905 - a table of words
)
NOT: Final = frozenset(
    """
    dont not no cannot nicht kein keine keinen keiner keinem keines pas non não не нельзя запрещено niente
    """.split()  # noqa: SIM905 - a table of words
)
MAKING: Final = frozenset(
    """
    write writing add adding put putting use using make making leave leaving insert inserting include
    including keep keeping create creating produce producing schreib schreibe schreiben füge mach mache
    machen nutze verwende benutze halte écris écrire ajoute ajouter mets mettre utilise fais escribas
    escribir agregues añadas pongas uses usar hagas
    """.split()  # noqa: SIM905 - a table of words
)
"""Verbs that only bring about what they name: without them "no X" and "don't write X" are the same."""
_NOUN_MARKERS: Final = frozenset({"no", "kein", "keine", "keinen", "keiner", "keinem", "keines", "niente"})
_EVERYWHERE: Final = frozenset({"everywhere", "anywhere", "überall", "irgendwo", "partout"})
NEVER: Final = frozenset(
    """
    never nie niemals jamais nunca jamás mai никогда
    """.split()  # noqa: SIM905 - a table of words
)
GRAMMAR: Final = frozenset(
    """
    the a an of to in into on at it is are be do does ever any more again this that these those my our
    your you we i i'd should must have need ought shall supposed allowed required sure make remember want
    der die das den dem des ein eine einen einem einer im ins zu du ihr sie sollst solltest musst darfst mehr
    wieder hier es doch
    le la les l un une des du d' d n' n ne de à au aux tu vous
    dois devez devrais faut il ici plus aucun aucune
    el los las lo unos unas al del en tu debes deberías tienes que hay
    o os as um uma ao aos da dos das na nos nas em você deve tem
    il gli uno di nel nella nei nelle al alla devi bisogna più ti mi
    в во на к ко с со ты вы должен должна должны нужно надо больше это
    """.split()  # noqa: SIM905 - a table of words
)
_CARRY_NOTHING: Final = (GRAMMAR, POLITENESS, MAKING, ALWAYS, NOT, NEVER, _EVERYWHERE)
_SIGNS = (
    (
        re.compile(
            "永远不要|永遠不要|千万不要|千万别|绝对不要|绝不要?|不要再?|请勿|不许|不許|不准|不得|禁止|勿|别再|別再|"
            "(?<![特区级类分识个告性判差辨])[别別](?![人的处墅名])"
        ),
        " never ",
    ),
    (
        re.compile(
            "ないでください|ないで下さい|ないで|ないこと|ないように(?:してください|して)?|絶対に|決して|二度と"
        ),
        " never ",
    ),
    (re.compile("总是|總是|始终|始終|永远|一律|务必|務必|必须|每次|常に|必ず|いつも|毎回|항상"), " always "),
    (re.compile("以后|今后|今後は?|これからは|어서"), " "),
    (re.compile("请|請|你|应该|應該|ください|下さい"), " "),
)
"""What stands inside words where a script has no spaces, as the marker that it is."""
_CONTRAST = re.compile(
    r"(?:,\s*|\s)(?:not|instead of|rather than|nicht|statt|pas|au lieu de|en vez de|invece di|а не|вместо)\s",
    re.IGNORECASE,
)
_BANNED = re.compile(
    r"^\W*(?:\w+\W+){0,3}?(?:no|keine?[nmrs]?)\s[^,]{2,60}(?P<rest>,\s*(?:but |please |sondern |bitte )*"
    r"(?:use|prefer|nimm|nutze|verwende|lieber|bitte|sondern|write|schreib)\s)"
)
"""A ban that goes on to say what is wanted instead: the ban is what makes it the same as others."""
_USES = re.compile(r"^\W*(?:\w+\W+){0,3}(?:use|prefer|nutze|verwende|utilise|usa|используй)\s", re.IGNORECASE)
_PHRASES = (
    (re.compile(r"^\W*(?:no|nein|non|não|нет|ok|okay)[,.!:]\s*"), ""),
    (re.compile(r"\b(?:do not|don't)\b"), "dont"),
    (re.compile(r"\b(?:must|should|can|does|is|are|wo)n't\b"), "not"),
    (
        re.compile(
            r"\b(?:stop|avoid|quit)\s+(?=\w+ing\b)|\b(?:deja|pare)\s+de\s|\barrêtez?\s+d(?:e\s|')"
            r"|\bsmettil?a?\s+di\s|\bперестань(?:те)?\s"
        ),
        "dont ",
    ),
    (re.compile(r"\b(that|which)\s+(?:only|just|merely|simply)\b"), r"\1"),
    (re.compile(r"\bникогда\s+не\b"), "никогда"),
    (
        re.compile(
            r"\bfrom now on\b|\bin (?:the )?future\b|\bnext time\b|\bin zukunft\b|\bab (?:jetzt"
            r"|sofort)\b|\bà partir de maintenant\b|\ba partir de a(?:hora|gora)\b|\bd'ora in poi\b"
        ),
        "",
    ),
    (re.compile(r"\b([^\W\d_])'(?=\w)"), r"\1 "),
)
"""Phrases that are one marker, or none, in the order in which they are looked for."""
_PORTUGUESE, _NO = re.compile(r"[ãõçâêô]|ári[oa]s?\b|\b(?:aos?|nas?|você)\b"), re.compile(r"\bno\b")
"""Where "no" is "in the"."""
_CLITIC = re.compile(r"(?<=[aeiá]r)(?:me|te|l[aeo]s?|nos|se|l[io]|mi)$")
_LATIN = re.compile(r"(?:ing|est|ed|es|ar|er|ir|en|s|e|o|a)$")
_ENDINGS_RU = re.compile(r"(?:ть|й|ь|ами|ями|ах|ях|ов|ев)?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gist:
    """Two statements can be the same only where both `forbid` or neither does."""

    forbids: bool
    words: frozenset[str]
    thing: str = field(default="", compare=False)
    """The stem that names what is forbidden to be made: of "no comments", "don't write comments that ..."."""

    def covers(self, other: Gist) -> bool:
        """Whether this forbids all of a thing of which the other forbids some."""
        return bool(self.thing) and self.thing == other.thing and self.words < other.words


def gist(quote: str) -> Gist:
    """The gist of a statement, in any of the languages that we know. Linear in its length."""
    text = unicodedata.normalize("NFKC", bare(quote)).casefold().replace("’", "'")
    for sign, marker in _SIGNS:
        text = sign.sub(marker, text)
    banned = _BANNED.match(text)
    text = text if banned is None else text[: banned.start("rest")]
    contrast = _CONTRAST.search(text) if _USES.match(text) else None
    if contrast is not None:
        kept, other = _read(text[: contrast.start()]), _read(text[contrast.end() :])
        return Gist(forbids=kept.forbids, words=kept.words | {f"not {word}" for word in other.words})
    return _read(text)


def _read(text: str) -> Gist:
    way: bool | None = None  # whether it forbids, once a marker said so
    words: list[str] = []
    at_marker, noun = -1, False
    tokens = _tokens(text)
    fewest = 1 if any(token in NOT or token in NEVER for token in tokens) else 2
    carried = sum(not any(token in table for table in _CARRY_NOTHING) for token in tokens)
    making = MAKING if carried >= fewest else frozenset[str]()
    for token in tokens:
        if token in making:
            noun = noun or (bool(way) and at_marker == len(words))
        elif token in ALWAYS:
            if way is None:
                way, at_marker = False, len(words)
        elif token in NOT or token in NEVER:
            if way is None or (way is False and at_marker == len(words)):
                way, at_marker = True, len(words)
                noun = token in _NOUN_MARKERS
            elif not (way and token in NEVER):  # "no hagas nunca" forbids once
                words.append("not")
        elif token not in GRAMMAR and token not in POLITENESS and not (way and token in _EVERYWHERE):
            words.append(_stem(token))
    thing = words[at_marker] if way and noun and at_marker < len(words) else ""
    return Gist(forbids=bool(way), words=_known(words), thing=thing)


def _known(words: list[str]) -> frozenset[str]:
    """The words, each "not" bound to the word behind it."""
    bound = (
        f"not {word}" if at and words[at - 1] == "not" else word
        for at, word in enumerate(words)
        if word != "not" or at == len(words) - 1
    )
    return frozenset(bound)


def _tokens(text: str) -> list[str]:
    for pattern, plain in _PHRASES:
        text = pattern.sub(plain, text)
    if _PORTUGUESE.search(text):
        text = _NO.sub(" ", text)
    return list(ordered_tokens(text))


def _stem(word: str) -> str:
    """Without the ending that person, number and mood change. Light: it may join "test" and "testing", it
    cuts no word below three letters but a verb's own "e"."""
    if not word.isalpha() or len(word) <= 2:
        return word
    if word[0] >= "\u0400":
        return _cyrillic(word)
    bare = _CLITIC.sub("", word)
    cut = _LATIN.sub("", bare)
    cut = bare if len(cut) < (2 if bare.endswith(("e", "ing", "es")) else 3) else cut
    cut = cut[:-1] if len(cut) > 4 and cut.endswith(("o", "a")) and bare.endswith("s") else cut
    return cut[:-1] if len(cut) > 3 and cut[-1] == cut[-2] and cut[-1] in "bdgmnprt" else cut


def _cyrillic(word: str) -> str:
    if word > "\u04ff":
        return word
    cut = _ENDINGS_RU.sub("", word.removesuffix("те"), count=1).rstrip("аеиоуыюяэё")
    return cut if len(cut) >= 3 else word
