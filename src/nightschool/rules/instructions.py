"""How people say "use X, not Y" and "never do Z", in the languages that we know, as templates.

Relieves corrections of the grammar. A template is a pattern in which a space is any white space, brackets
group, `'` is either apostrophe, `{sep}` what stands between two halves of a sentence, `{art}` a space and
perhaps an article, `{do}` a place where an imperative may begin; `{w}` and `{u}` are the wanted and the
unwanted term: one clear word (`pnpm`, `os.path`, `--no-verify`) or something in quotes. No template comes
from outside, and texts are bounded before they are matched.
"""
# ruff: noqa: RUF001 - words of other languages are written in their own letters

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from nightschool.rules.words import ACKNOWLEDGEMENTS

QUOTED = (
    r"`[^`\n]{1,60}`|\"[^\"\n]{1,40}\"|“[^”\n]{1,40}”|「[^」\n]{1,40}」|«[^»\n]{1,40}»|(?<!\w)'[^'\n]{1,40}'"
)
_FLAG = r"--?[A-Za-z][\w-]*"
_WORD = r"[@~$./]{0,3}\w(?:[\w@$./:#+~*-]*[\w+#*/])?(?:\(\))?"
_ASCII = r"[@~$./]{0,3}[A-Za-z0-9_](?:[A-Za-z0-9_@$./:#+~*-]*[A-Za-z0-9_+#*/])?(?:\(\))?"
ARTICLES = (
    "the an? our my das de[nrm] die einen? le la les une? el los las una il lo gli os? as? uma?".replace(
        " ", "|"
    )
)
FOLLOWERS = """
    for in here please to when and or from as at on next again with because since everywhere anywhere
    directly anymore any ever by if then so but there unless is it that this always instead now we you i
    only too hier bitte für im bei wenn und oder weil mehr wie zum benutzen verwenden nutzen nehmen sondern
    ici pour dans quand et ou car stp plus aquí para en cuando y o porque más por aqui no na em quando e mais
    qui per nel più здесь для в когда и или тут больше пожалуйста
"""
"""Words that may follow a term; any other would make it half of a name ("use old client")."""
_BEHIND = "before after first once"
"""Words that may follow what is wanted too: "always run make check before ..."."""
_END = rf"(?!\w)(?=\s*(?:$|[,.;:!?)\]}}—–，。；、]|-\s|(?:{'|'.join(FOLLOWERS.split())})(?!\w)))"
_END_WANTED = _END.replace("(?:for|", f"(?:{'|'.join(_BEHIND.split())}|for|")
_SLOTS = {
    "{art}": rf"\s+(?:(?:{ARTICLES})\s+|l['’])?",
    "{sep}": r"\s*[,;:.—–-]*\s+",
    "{也}": r"\s*[，,、。；;]?\s*",
    "{do}": r"(?:^|[,:;(—–-]\s*|(?<!\w)(?:please|always|just|only|should|must|we|let['’]?s|and|but|no|nope|"
    r"instead|so|then|now|ok|okay|you\s+to|better|do)\s+)",
    "{nein}": r"(?:(?:no|nope|nah|nee|nö|wrong|stop|ok|okay|hey|wait|please|and|but|also|again|nein"
    r"|bitte|non|não|нет"
    r"|пожалуйста|por\s+favor|per\s+favore|s.il\s+te\s+plaît)[,.!:]*\s+)*",
    "{neg}": r"(?:(?:and|but|und|aber|et|mais|y|pero|e|ma|mas|и|а|но)\s+)?(?:not|never|nicht"
    r"|kein(?:e[nmrs]?)?"
    r"|nie(?:mals)?|pas|jamais|no|nunca|não|non|mai|не|instead\s+of|rather\s+than|in\s+place\s+of|statt"
    r"|anstatt|anstelle\s+von|plutôt\s+que|au\s+lieu\s+d(?:e\s|['’])|à\s+la\s+place\s+de|en\s+(?:vez|lugar)"
    r"\s+de|em\s+vez\s+de|ao\s+invés\s+de|invece\s+di|al\s+posto\s+di|вместо)",
    "{but}": r"(?:\s*[,;:.!—–-]+\s+|\s+(?=(?:and|but|und|et|y|e|и|а|instead|rather|in\s+place|statt"
    r"|anstatt|anstelle"
    r"|plutôt|au\s+lieu|en\s+vez|en\s+lugar|em\s+vez|ao\s+invés|invece|al\s+posto|вместо)(?!\w)))",
    "{none}": r"(?:no|not|without|kein(?:e[nmrs]?)?|nicht|ohne|pas(?:\s+de)?|sans|sin|nada\s+de|sem"
    r"|senza|niente|не"
    r"|без)",
    "{weuse}": r"(?:(?:but|sondern|mais|sino|ma|mas|а)\s+)?(?:(?:we|wir|on|nous|мы)\s+)?(?:always\s+|nur\s+)?"
    r"(?:use|nimm|nutzen?|benutzen?|verwenden?|nehmen|utilis(?:e[zr]?|ons)|prends|usa|usamos|usiamo"
    r"|используй(?:те)?"
    r"|используем)(?:\s+(?:wir|doch|immer|lieber|here|hier|ici|bitte|always))*",
    "{by}": r"(?:\s+(?:verwenden|benutzen|nutzen|nehmen|speichern|schreiben|instead|here|hier|ici))*",
    "{tail}": r"(?:\s+(?:for|in|on|when|here|everywhere|any\s?more|instead|verwenden|benutzen|nutzen"
    r"|nehmen|speichern"
    r"|bei|für|hier|überall|pour|dans|ici|partout|para|em|aquí|aqui|per|qui|для|в"
    r"|здесь)(?!\w)[^.!?]{0,40})?[.!\s]*",
    "{bar}": r"(?!(?:use|using|nimm|nutze?|verwende|benutze|utilise[zr]?|prends|usa|usar|используй|do"
    r"|does|is|was|nein|nope|non|não|нет|later|soon|before|after|first|last|slow|fast|big|small|more"
    r"|less|much|many"
    r"|too|enough|that|this|wrong|so|später|vorher|schnell|langsam|groß|klein|zu|perfect|y|yes|yeah|yep"
    r"|ja|oui|sí|si|sim|да|well|but|and|also|just|still|almost|maybe|probably"
    r"|better|definitely|certainly|clearly|obviously|really|actually|good|great|nice|perfect|bad|right"
    r"|correct|true"
    r"|sure|fine|ok|okay|works?|working|worked|fixed|done|ready|found|needed|possible|yet|here|there"
    r"|now|today"
    r"|gut|schlecht|besser|richtig|falsch|heute|morgen|bien|mal|mieux|bueno|mejor|bom|melhor|bene"
    r"|meglio)(?!\w))",
    "{bitte}": r"(?:,?\s+(?:please|pls|here|from\s+now\s+on|bitte|hier|stp|svp|ici|por\s+favor|aquí|aqui"
    r"|per\s+favore|qui|пожалуйста|здесь))*[.!\s]*",
    "{here}": r"(?:\s+(?:here|any\s?more|again|ever|hier|ici|aquí|qui))?",
    "{nutze}": "(?:nimm|nutze?|benutze?|verwende)",
    "{usa}": "(?:us[ae]|usá|usar|utili[czs][ae]|usate)(?:\\s+siempre|\\s+sempre)?",
    "{nonusa}": "(?:no|nunca|não|non)\\s+(?:us(?:es|ar|e|are)|utilices)",
    "{invece}": r"(?:(?:en\s+(?:vez|lugar)|em\s+vez|ao\s+invés|no\s+lugar)\s+d[eoa]|invece\s+di(?:\s+usare)?"
    r"|al\s+posto\s+di|anziché)",
}

UNCLEAR: Final = frozenset(
    """
    it this that them these those the a an my your our one any some more less only what which other another
    same real new old all both each every such something anything nothing everything sth be being is are
    es das den die der dem ein eine einen etwas alles nichts sowas so dies diese dieses
    lo la le les el los las un una une des cela ça ceci ce cet cette celui eso esto ese esa esta todo
    isso isto o os as um uma tudo il gli quello questo tutto ciò
    это то его их её ее всё все такой такое
    not no nicht pas non não не never instead please always here there how why when
    again thanks thank thx bitte danke merci gracias grazie спасибо problem problems idea rush hurry luck
    worries souci soucis problème problèmes problema problemas проблем проблема ahnung sorge
    eile stress prisa duda
    clue doubt later now yet soon today tomorrow nochmal wieder heute jetzt später morgen bug
    feature goodbye mehr more
    """.split()  # noqa: SIM905 - a table of words
)
"""Single words that name nothing by themselves."""

_PAIRS = (
    "{do}(use|prefer|go with|stick (to|with)|switch to){art}{w}{here}{sep}"
    "(and )?(not|instead of|rather than|over|in place of|never){art}{u}",
    r"{do}(use|prefer){art}{w}{here} \(not{art}{u}\)",
    "{do}(use|prefer){art}{w}{here}{sep}(and |we )*(don't|do not|never) use{art}{u}",
    "(don't|do not|never|stop|avoid) us(e|ing){art}{u}{here}{sep}(but |please |and |we )*use{art}{w}",
    "instead of{art}{u}{sep}(please )?(use|prefer){art}{w}",
    "(it's|it is|we're on|we are on|this is){art}{w}( here| project)?{sep}not{art}{u}",
    r"^{nein}{bar}{w},? not{art}{bar}{u}{bitte}$",
    r"^{nein}{bar}{w} (instead of|rather than|in place of){art}{bar}{u}{bitte}$",
    r"^{nein}not{art}{u}(,|,? but|[,;:.]? (please )?use){art}{w}[.!]*$",
    # German
    "{nutze}( bitte| hier| immer| doch| stets| lieber)*{art}{w}{sep}(statt|anstatt|anstelle von){art}{u}",
    "{nutze}( bitte| hier| immer| doch| lieber)*{art}{w}{sep}(und )?(nicht|kein(en?)?|nie(mals)?){art}{u}",
    "(statt|anstatt|anstelle von){art}{u}{sep}(bitte |immer )*{nutze}{art}{w}",
    "{w} (statt|anstatt|anstelle von){art}{u} (verwenden|benutzen|nutzen|nehmen)",
    "(nie(mals)?|nicht|keine?n?){art}{u} (verwenden|benutzen|nutzen|nehmen){sep}(sondern|immer){art}{w}",
    "{nutze}( bitte)? (nicht|kein(en?)?){art}{u}{sep}(sondern|{nutze}){art}{w}",
    "^{nein}nicht{art}{u}{sep}sondern{art}{w}",
    r"^{nein}{bar}{w}( statt| anstatt| anstelle von|,( und)? nicht){art}{bar}{u}{bitte}$",
    # French
    "(utilise[zr]?|prends|préfère)( toujours| plutôt)*{art}{w}{sep}(et )?(pas|non|jamais|plutôt que){art}{u}",
    "(utilise[zr]?|prends|préfère)( toujours)?{art}{w}{sep}(au lieu|à la place) (de |d'){u}",
    "n'utilise[zr]? (pas|jamais|plus){art}{u}{sep}(mais )?(utilise[zr]?|prends){art}{w}",
    "au lieu (de |d'){u}{sep}utilise[zr]?{art}{w}",
    r"^{nein}{bar}{w}( plutôt que| au lieu de| à la place de|,( et)? pas){art}{bar}{u}{bitte}$",
    # Spanish, Portuguese, Italian
    "{usa}{art}{w}{sep}([ye] )?(no|não|non|nunca|mai){art}{u}",
    "{usa}{art}{w}{sep}{invece}{art}{u}",
    "{nonusa}( mai)?{art}{u}{sep}(sino |ma |mas |mejor |sim )*{usa}{art}{w}",
    "{nonusa}{art}{u}{sep}(sino|ma|mas sim){art}{w}",
    "{invece}{art}{u}{sep}{usa}{art}{w}",
    r"^{nein}{bar}{w}( {invece}|,( [ye])? (no|não|non)){art}{bar}{u}{bitte}$",
    # Russian
    r"^{nein}{bar}{w}(, а не| вместо) {bar}{u}{bitte}$",
    "(используй(те)?|бери)( всегда| лучше)? {w}{sep}(а не|вместо|не|и не) {u}",
    "не используй(те)? {u}{sep}(а )?(используй(те)?|лучше|бери) {w}",
    "вместо {u}{sep}(всегда )?(используй(те)?|бери) {w}",
)
_ORDERS = (
    "(should have|should've) (used|run|called|taken){art}{w}{but}{neg}{art}{u}{tail}$",
    "^{nein}{weuse}{art}{w}{here}{but}{neg}{art}{u}{tail}$",
    "(du|ihr|wir) (sollst|solltest|musst|sollt|sollen|müssen)( bitte| doch"
    "| immer)* {w}{by}{but}{neg}{art}{u}{tail}$",
    "(hör auf|hört auf|schluss) mit{art}{u}{sep}(wir haben|{weuse}){art}{w}{tail}$",
    "^lass( das)? {u}{sep}(wir haben|{weuse}){art}{w}{tail}$",
    "^(why|again|warum|schon wieder|encore|otra vez|de novo|опять) {u}( again)?{sep}{weuse}{art}{w}{tail}$",
    "^{none}{art}{bar}{u}{here}\\s*[,;:.!–—-]+\\s*(please )?{weuse}{art}{w}{tail}$",
)
"""Say something only where both terms are clear: the words around them may be any."""
_CONTRASTS = (
    # Whatever the verb: what is wanted stands first or behind "as" or "with", what is not wanted last
    "^{bar}{w}{by}( (for|für|pour|para|per|для) [\\w -]{2,30})?{but}{neg}{art}{bar}{u}{tail}$",
    "^(always|only|immer|nur|stets|toujours|siempre|sempre|всегда) {w}{by}{but}{neg}{art}{bar}{u}{tail}$",
    "^(run|write|call|import|install|take|put|try|starte?|ruf|schreib) {w}{but}{neg}{art}{u}{tail}$",
    "(i|we|ich|wir) (want|wanted|need|need|asked for|prefer|meant|will|wollte|möchte"
    "|brauche){art}{w}{but}{neg}{art}"
    "{bar}{u}{tail}$",
    "(goes|go|belongs?|gehört|gehören|kommt|kommen) (in|into|to|under|nach)( das| die"
    "| den)? {w}{but}{neg}( in| into"
    "| to| under| nach)?{art}{u}{tail}$",
    "^{u} (is|are) (not allowed|forbidden|banned|deprecated|verboten){sep}{weuse}{art}{w}{tail}$",
    "(as|with|via|als|mit|en|avec|con|com) {bar}{w}{by}{but}{neg}(( as| with| via| als| mit| en| avec"
    "| con| com)?"
    "{art}){bar}{u}{tail}$",
    "(should|must|has to|have to) be {bar}{w}{but}{neg}{art}{bar}{u}{tail}$",
    "^{none} {bar}{u}{here}\\s*[,;:.–—-]+\\s*(but |sondern |mais |sino |ma |mas |а )?{bar}{w}[.!]*$",
)
"""Reports and specifications have the same form ("it fails with Chrome, not Firefox"), so these count
only where the agent did, or spoke of, what is not wanted, or where the sentence urges."""
_SPACELESS_PAIRS = (
    r"(使用|改用|用)\s*{w}{也}(而不是|而不要用?|而非|不要再?(使用|用)?|不是|别用|別用|不用|代替|取代)\s*{u}",
    r"(不要|别|別|不许)再?(使用|用)\s*{u}{也}(而是|应该|應該|请|請|要)?(使用|改用|用)\s*{w}",
    r"^(请|請)?{w}{也}(而不是|而非|不是|不要用?|别用?)\s*{u}[。！!.]*$",
    r"{u}\s*(じゃなくて|ではなくて?|でなく|の代わりに|より){也}{w}\s*(を|で|にして)",
    r"{w}\s*を?(使って|使用して)(ください|下さい)?{也}{u}\s*(は|を)?使(わないで|用しないで)",
    r"{u}\s*(は|を)?使(わないで|用しないで|わず)(ください|下さい)?{也}{w}\s*を?(使って|使用して|使う)",
    r"{u}\s*(말고|대신에?)\s*{w}(을|를)?\s*(써|사용|쓰)",
)
_WANTED_STANDING = (
    "^(this|our|the) (project|repo|repository|team|codebase|company) (only |always )?uses{art}{w}[.!]*$",
    "^(dieses|das|unser) (projekt|repo|team) (nutzt|verwendet|benutzt)( nur| immer)?{art}{w}[.!]*$",
    "{do}always (use|prefer){art}{w}",
    "^{nein}always (use|prefer){art}{w}",
    "(use|prefer){art}{w} (from now on|next time|in (the )?future|always|everywhere)",
    "(from now on|next time|in (the )?future),? (please )?(always )?use{art}{w}",
    "(immer|stets|künftig|ab jetzt)( nur)?{art}{w} (verwenden|benutzen|nutzen|nehmen)",
    "{nutze}( bitte)? (immer|stets|künftig|ab jetzt){art}{w}",
    "(utilise[zr]? toujours|toujours utiliser){art}{w}",
    "(us[ae] (siempre|sempre)|(siempre|sempre) us(ar|a|e|are)){art}{w}",
    "(всегда используй(те)?|используй(те)? всегда) {w}",
)
_WANTED_ONCE = (
    "^(no|nope|wrong|not that|stop)[,.!:]* (please )?use{art}{w}",
    "^(please )?use{art}{w} instead",
)
_SPACELESS_WANTED = (
    r"(总是|總是|始终|始終|一直|务必|務必|一律|以后都?|今后|每次都?)(要|请)?(使用|用)\s*{w}",
    r"(常に|必ず|いつも|今後は|これからは)、?\s*{w}\s*を?(使|で)",
)
_UNWANTED_STANDING = (
    "(never|no longer)( ever| again)? use{art}{u}",
    "{nutze}( bitte| hier)* (niemals|nie wieder|nie){art}{u}",
    "n'utilise[zr]? jamais{art}{u}",
    "(nunca|jamás) us(es|ar|e){art}{u}",
    "non usare mai{art}{u}",
    "никогда не используй(те)? {u}",
)
_UNWANTED_ONCE = (
    "(don't|do not|stop|avoid|quit)( ever)? us(e|ing){art}{u}",
    "{nutze}( bitte| hier)* (kein(en?)?|nicht){art}{u}",
    "(kein(en?)?|nie(mals)?) {u} (mehr )?(verwenden|benutzen|nutzen|nehmen)",
    "n'utilise[zr]? (pas|plus){art}{u}",
    "arrête[zr]? d'utiliser{art}{u}",
    "(no uses|não us(e|ar|es)|non usare){art}{u}",
    "(deja de usar|pare de usar|smetti(la)? di usare){art}{u}",
    "не используй(те)? {u}",
    "перестань использовать {u}",
    "^(no|nope|nein|non|não|нет)[,.!:]+ {none}{art}{bar}{u}[.!]*$",
)
_WANTED_CODE = (
    "{do}always run{art}{w}",
    "you (forgot to|didn't|did not|never|should have) (run|use|call){art}{w}",
    "^run{art}{w}( (before|after) [^.!?,]{2,40})?,? (always|every time|each time)[.!]*$",
    "immer{art}{w} (laufen lassen|ausführen)",
)
_UNWANTED_CODE = (
    ("you (used|ran|took|installed|imported){art}{u} again", False),
    ("never (import|call|run|add|write|put|leave|pass|commit){art}{u}", True),
    ("(don't|do not) (import|call|run|add|write|put|leave|pass){art}{u}", False),
    ("stop (importing|calling|running|adding|writing|putting|leaving|passing){art}{u}", False),
    ("^{nein}(no|never|kein(e[nmrs]?)?|nie(mals)?|jamais|plus de|nunca|nada de|никаких) {u}[.!]*$", False),
)
_SPACELESS_UNWANTED = (
    (r"(永远不要|永遠不要|千万不要|千万别|绝对不要|禁止)再?(使用|用)\s*{u}", True),
    (r"(不要|别|別|不许)再?(使用|用)\s*{u}", False),
    (r"{u}\s*(は|を)?\s*(絶対に|二度と|決して)\s*使(わない|用しない)", True),
    (r"{u}\s*(は|を)?\s*(もう)?使(わないで|用しないで|うな)", False),
)


@dataclass(frozen=True, slots=True)
class Template:
    """One way to say it."""

    pattern: re.Pattern[str]
    standing: bool = False
    """It says by itself that it holds for later work too."""
    whole: bool = False
    """It says nothing where one of its two terms is not clear."""
    loose: bool = False
    """A report may have this form too."""
    code_only: bool = False
    """The term counts only where it looks like code: the verb takes any noun ("don't add comments")."""
    spaceless: bool = False
    """Of a script without spaces: it matches in no text of ASCII alone, and need not be looked for there."""


def _templates(
    entries: Iterable[str],
    *,
    spaceless: bool = False,
    standing: bool = False,
    whole: bool = False,
    loose: bool = False,
    code_only: bool = False,
) -> tuple[Template, ...]:
    return tuple(
        Template(
            _compiled(entry, spaceless=spaceless),
            standing=standing,
            whole=whole,
            loose=loose,
            code_only=code_only,
            spaceless=spaceless,
        )
        for entry in entries
    )


def _compiled(entry: str, *, spaceless: bool) -> re.Pattern[str]:
    text = re.sub(r"(?<!\\)\((?!\?)", "(?:", entry).replace(" ", r"\s+").replace("'", "['’]?")
    for slot, meaning in _SLOTS.items():
        text = text.replace(slot, meaning)
    last = max("wu", key=lambda name: text.find(f"{{{name}}}"))
    for name in "wu":
        ends = {"w": _END_WANTED, "u": _END}
        end = ends[name] if name == last and not spaceless else ""
        # Atomic: a term is never cut to make the rest fit ("os" of `os.system`).
        plain = f"(?>{_FLAG}|{_ASCII if spaceless else _WORD}){end}"
        text = text.replace(f"{{{name}}}", f"(?P<{name}>{QUOTED}|{plain})")
    free = spaceless or entry.startswith(("^", "{do}"))
    return re.compile(text if free else rf"(?<!\w)(?:{text})", re.IGNORECASE)


PAIRS: Final = (
    *_templates(_PAIRS),
    *_templates(_ORDERS, whole=True),
    *_templates(_CONTRASTS, whole=True, loose=True),
    *_templates(_SPACELESS_PAIRS, spaceless=True),
)
"""Both terms."""
WANTED: Final = (
    *_templates(_WANTED_STANDING, standing=True),
    *_templates(_SPACELESS_WANTED, spaceless=True, standing=True),
    *_templates(_WANTED_ONCE),
    *_templates(_WANTED_CODE, standing=True, code_only=True),
)
UNWANTED: Final = (
    *_templates(_UNWANTED_STANDING, standing=True),
    *_templates(_UNWANTED_ONCE),
    *(t for text, lasts in _UNWANTED_CODE for t in _templates((text,), standing=lasts, code_only=True)),
    *(t for text, lasts in _SPACELESS_UNWANTED for t in _templates((text,), spaceless=True, standing=lasts)),
)


def _half(*entries: str) -> re.Pattern[str]:
    named = {f"{{{name}}}": rf"(?P<{name}>{QUOTED}|{_FLAG}|{_WORD})" for name in ("term", "term2", "term3")}
    slots = {**_SLOTS, **named}
    text = "|".join(f"(?:{entry})" for entry in entries)
    for slot, meaning in slots.items():
        text = text.replace(slot, meaning)
    return re.compile(text, re.IGNORECASE)


HALF_WANTED: Final = _half(r"^(?P<verb>{weuse}\s+)?{term}[.!]*$")
"""The first half of "Use pnpm. Don't use npm.", the second of "no npm! pnpm": said only beside the other."""
_AGAIN = r"(?:again|here|schon\s+wieder|wieder|encore|hier|ici)"
HALF_UNWANTED: Final = _half(
    r"^(?:(?:why|again|warum|wieso|schon\s+wieder|pourquoi|encore)\s+){1,2}(?:{none}\s+)?{term}(?:\s+"
    + _AGAIN
    + r")*[?!.]*$",
    r"^{none}\s+{term2}(?:\s+" + _AGAIN + r")*[?!.]*$",
    r"^{term3}(?:\s+" + _AGAIN + r")+[?!.]*$",
)
"""The first half of "no npm! Use pnpm", of "npm again?? we use pnpm"."""
BY_THEMSELVES: Final = ACKNOWLEDGEMENTS | frozenset(
    """
    error errors fehler failure failures warning warnings issue issues problem problems conflict conflicts
    regression regressions test tests log logs output changes treffer result results question questions docs
    coverage status version merge restart push commit retry redo skip missing green grün klar friday monday
    explain erklär fertig finished ready done deploy
    """.split()  # noqa: SIM905 - a table of words
)
"""Half of a short message, these report or go on: "No errors. Commit!"."""

STANDING: Final = re.compile(
    r"(?<!\w)(?:always|never|from now on|next time|in (?:the )?future|every time|"
    r"immer|niemals|nie wieder|nie|künftig|ab jetzt|toujours|jamais|désormais|siempre|nunca|jamás|sempre|mai|"
    r"всегда|никогда|впредь|отныне)(?!\w)"
    r"|永远|永遠|总是|總是|始终|以后|今后|一律|每次|常に|必ず|いつも|今後|二度と|絶対に|항상|절대",
    re.IGNORECASE,
)
"""Says that it holds for later work too."""
FORBIDS: Final = re.compile(
    r"(?<!\w)(?:never|don['’]?t|do not|stop|avoid|no more|not|nie|niemals|nicht|keine?n?|jamais|pas|plus|"
    r"nunca|jamás|no|não|non|mai|никогда|не|нельзя)(?!\w)"
    r"|不要|别|別|不许|禁止|ないで|しない|わない|말고|절대|마세요",
    re.IGNORECASE,
)
"""Says somewhere what not to do."""


def clear_term(found: str | None, *, code_only: bool = False, paired: bool = False) -> str | None:
    """The term as it would stand in commands and files, or None where it names nothing clear. Beside its
    opposite (`paired`) `any` is the type of that name."""
    if found is None:
        return None
    quoted = found[0] in "`\"“「«'"
    term = (found[1:-1] if quoted else found).strip().removesuffix("()")
    plain = term.casefold()
    if (
        not plain
        or plain.isdigit()
        or len(plain) == 1
        or (plain in UNCLEAR and not quoted and not (paired and plain == "any"))
    ):
        return None
    if code_only and not (quoted or re.search(r"[._/()@$:# -]|[a-z][A-Z]|\d", term)):
        return None
    return plain
