"""Requests that mean nothing without the conversation before them. Relieves pieces of the words."""

# ruff: noqa: RUF001 - words of other languages are written in their own letters

from __future__ import annotations

import re
from typing import Final

from nightschool.rules.words import ACKNOWLEDGEMENTS, POLITENESS

LONGEST = 12
"""Words of a request that can refer back and say nothing else."""

_WORDS: Final = frozenset(
    """
    it that this them these those both all one ones same other others rest everything something anything
    either fix do make try check look run solve handle change revert undo redo implement apply add
    remove delete finish start repeat explain debug address correct improve clean resolve investigate
    use rename move keep write update put create show tell see get take give let go fixed done doing
    running trying working works work can could would will should you i we me us my your our its have
    has had need needs want is are be was a an the to of in at into up out for with from on off by as
    like there here too also still more now then first second third last next previous above below
    before after latest earlier error errors problem problems issue issues bug bugs failure failures
    warning warnings message messages suggestion suggestions idea ideas plan proposal option options
    step steps changes point points way thing things what how why so yes if not don t s ll please again
    back anyway instead properly das dies diese dieses es sie alles beide beides beheb behebe behebs
    korrigier korrigiere mach machs änder ändere lösch lösche bitte mal auch noch jetzt dann den die der
    fehler vorschlag schritt wie oben eben vorher um setz setze ihn ça cela le la les tout corrige
    corrigez répare fais faites applique l erreur problème proposition lo eso esto todo corrígelo
    arregla arréglalo hazlo aplica el problema propuesta por favor isso isto corrija conserte faça tudo
    o erro questo quello correggi correggilo fallo sistemalo tutto errore это его их исправь почини
    сделай всё все ошибку проблему так
    """.split()  # noqa: SIM905 - a table of words
)
"""Words of which none names a thing of the project."""
_SPACELESS: Final = re.compile(
    "^(?:好的?|嗯|那|请|請|就|你|帮我|幫我|把|给我|再|都|继续|这|那|它|这个|那个|这些|上面的?|错误|问题|修复|修一?下|改一?下|改|做|处理"
    "|解决|试试|一下|吧|了|掉|それ|これ|あれ|を|も|全部|直して|修正して|やって|お願いします|ください|그거|이거|고쳐|해줘|줘|[\\s，。！、,.!])+$"
)
_PARTS: Final = re.compile(r"[^\W_]+")
_LETTER: Final = re.compile(r"[a-h]|\d{1,2}")
"""Names one of what was offered: "option b", "step 2"."""


def refers_back(text: str) -> bool:
    """Whether a request names nothing by itself: "ok fix it", "do the same for the others", "option b"."""
    if "\n" in text.strip() or len(text) > LONGEST * 20:
        return False
    words = _PARTS.findall(text.casefold())
    if not words:
        return False
    if _SPACELESS.match(text.strip()):
        return True
    return len(words) <= LONGEST and all(
        word in _WORDS or word in ACKNOWLEDGEMENTS or word in POLITENESS or _LETTER.fullmatch(word)
        for word in words
    )
