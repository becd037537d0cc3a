"""How people say what is to hold for later, or must not be done, with no term that a machine could find.

Relieves instructions of what has no terms. Lists by language, in which a space is any white space, brackets
group, `'` is either apostrophe. Each entry begins where a clause begins, and looks no further than a bounded
way into it: an adverb at the front ("never push"), a duty of the one who is spoken to ("you should always",
"du sollst nie"), an imperative beside its adverb ("führe immer", "lance toujours"), or a prohibition
("n'ajoute pas", "no toques", "keine ... bitte").
"""
# ruff: noqa: RUF001 - words of other languages are written in their own letters

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

_LEAD = (
    r"(?:(?:ok|okay|hey|wait|please|pls|and|but|also|again|so|thanks|remember|note|hello|hi|bitte"
    r"|und|aber|also"
    r"|danke|et|mais|stp|svp|s'il (?:te|vous) pla[iî]t|merci|por favor|pero|gracias|ma|mas|per favore"
    r"|grazie|obrigad[oa]|и|но|пожалуйста|(?:no|nope|wrong|stop|nein|halt|non|não|нет)(?=[,.!:])|[请請])"
    r"(?:[,.!:\s，、]+|(?<=[请請]))){0,6}"
)
_PAST = r"\w+(?<!need)(?<!embed)(?<!feed)(?<!seed)(?<!speed)(?<!proceed)(?<!exceed)ed\b"
_THIRD = r"\w{2,}[^\Wsui]s\b"
_STALE_EN = (
    f"(?:{_PAST}|{_THIRD}|mind|knew|heard|seen|saw|had|been|thought|got|said|did|went|came|ran|is|has|was|are"
    r"|were|the same|an?|better|worse|good|too|again|ever|say never|in my life|fun|nice|useful"
    r"|broken|wrong)\b"
)
_PASSIVE_EN = (
    r"(?:be|been|see|get|have|know|happen|reach|expect|mind|hear|notice|end up|run into|lose|need)\b"
)
_DUTY_EN = "(?:should|must|have to|need to|ought to|are to|shall|are supposed to|are required to)"
_STALE_DE = (
    "(?:noch|wieder|mehr|im leben|und|gehört|gesehen|so|zu|das|der|die|derselbe|dasselbe|dieselbe|ein)"
)
_FIRST_DE = (  # an imperative, by its shape and by what it is not
    r"(?!(?:ich|du|er|sie|es|wir|ihr|das|dies\w*|die|der|den|ist|sind|war|warum|wieso|wie|was|wo"
    r"|wann|wer|so|oder"
    r"|wenn|dann|noch|fast|auch|nur|schon|hier|da|habe?|sehe|verstehe|weiß|denke|glaube|finde|bin|will|kann"
    r"|muss|soll|mag|möchte|brauche|kenne|lieber|besser|jetzt|leider|warte|keine?|nicht|alle|eine?)\b)"
    r"(?:\w+[^\Wt]|halt|acht|start|test|tritt)\b"
)
_FILL_DE = r"(?: (?:du|bitte|hier|dort|mir|doch|also|da|in zukunft|ab jetzt|künftig|in diesem projekt))*"
_INF_DE = r"\w{2,}(?:en|ern|eln)[.!]*$"
_NOUNS = {  # what comforts, thanks or reports, and forbids nothing
    "de": "ahnung|problem\\w*|sorge\\w*|eile|angst|frage\\w*|lust|zeit|idee\\w*|panik|stress|fehler"
    "|änderung\\w*",
    "fr": "soucis?|problèmes?|quoi|panique|chance|stress|erreurs?|bugs?|changements?|résultats?|doute|mal",
}
_STALE_FR = (
    "(?:pas|aussi|l[ea]s? mêmes?|une?|des|du|rien|cassée?s?|faux|en panne|de la vie|vue?|est|autant)\\b"
)
_FIRST_FR = (
    r"(?!(?:ça|cela|je|tu|il|elle|on|nous|vous|ils|est|sont|sera|reste|marche|fonctionne|plante|échoue|bloque"
    r"|manque|existe|affiche|presque|comme|pour|depuis|mais|les?|la|des|une?|pas|jamais|toujours|encore)\b)"
    r"\w+(?:e|ez|s|ds|er|ir|re|is|ons)\b"
)
_STATE_FR = (
    r"(?:est|ont|sont|a|as|ai|avait|était|existe|arrive|importe|y|en|hésite\w*|oublie\w*|aie|ayez"
    r"|marche|fonctionne"
    r"|compile|va|vas|t'\w+|te|vous|me|se|sais|sait|vois|comprends|peut|peux|veux|suis|quittez|passe|change"
    r"|sert|semble|crois|pense|trouve|faut|doit)\b"
)
_PLURALS_EN = (
    "(?:ideas|changes|files|issues|matches|types|tables|names|lines|images|pages|updates|branches|services"
    "|messages|modules|packages|duplicates|differences|references|surprises|notes|rules|cases|classes)"
)
_STATE_ES = (
    r"(?:tienes|puedes|quieres|eres|sabes|entiendes|preocupes|olvides|necesitas|vas|has|es|más|antes"
    rf"|gracias|problemas|tests|errores|cambios|dudes|pasa|cosas|\w+(?:ciones|dades|ies)"
    rf"|{_PLURALS_EN}|ves|haces|estás|ayer|mujer"
    r"|poder|saber|lugar|entender|por|ver|ser|estar|haber|hay)\b"
)
_FIRST_ES = (
    r"(?!(?:casi|como|desde|para|es|está|son|no|pasa|falla|funciona|sale|da|hay|lo|el|la|se|yo|que"
    r"|eso|esto|ha"
    r"|he|sigue|aparece|tarda|devuelve|muestra|isso|isto|é|quase|desde|falha|fica|è|come|da|quasi|resta"
    r"|succede|fallisce|era|per|ho|hai|aparece|continua|dá)\b)\w{2,}[aeiorz]"
)
_STALE_ES = (
    r"(?:es|está|son|falla|sale|da|hay|pasa|me|lo mismo|el mismo|la misma|que|se|ha|he|había|funciona|mejor"
    r"|jamás|supe|igual|más|ho|è|quis\w*|quería|queria|pensé|creí|soube|tive|vi|lo stesso|la stessa"
    r"|uguale|peggio|più|o mesmo|a mesma|é|fica|falha|dá|vi|ouvi)"
    r"\b"
)
_STATE_PT = (
    r"(?:existe|pode|deve|entende|aparece|acontece|consegue|serve|quebre|esquece|hesite|quer\w*|vale|parece"
    r"|funcione|responde|sobe|consegue|sabe|é|teve|houve|esteve|depende|se|me|te|mesmo|hoje|sempre|que|de)\b"
)
_DUTY_RU = "(?:должен|должна|должны|обязан\\w*)"

FRONT: Final[Mapping[str, tuple[str, ...]]] = {
    "en": (
        rf"(always|never)( ever)? (?!{_STALE_EN})\w",
        "(from now on|next time|going forward)\\b",
        "in (the )?future[,\\s]",
        "(don't|do not) ever \\w",
        "under no circumstances\\b",
    ),
    "de": (
        rf"(immer|stets|niemals|nie wieder|nie) (?!{_STALE_DE}\b)\w",
        "(künftig|zukünftig|in zukunft|ab (jetzt|sofort)|von jetzt an|auf keinen fall) ",
    ),
    "fr": (
        rf"(toujours|jamais) (?!{_STALE_FR})\w",
        "(désormais|dorénavant|à l'avenir|à partir de maintenant)\\b",
        "ne .{1,30} jamais\\b",
        rf"n'(?!{_STATE_FR})\w+ jamais\b",
    ),
    "es": (
        rf"(siempre|nunca|jamás|sempre) (?!{_STALE_ES})\w",
        "(de ahora en adelante|a partir de ahora|en el futuro|en adelante)\\b",
        "(a partir de agora|de agora em diante|daqui para a frente|no futuro)\\b",
        "(d'ora in poi|da ora in poi|in futuro|da adesso in poi)\\b",
        "non .{1,20} mai\\b",
        r"mai \w+(are|ere|ire)\b",
    ),
    "ru": (
        r"(всегда|никогда) (?!((не )?\w+(л|ла|ли)|так|падает|ломается|одно)\b)\w",
        "(впредь|отныне|с этого момента|на будущее|в будущем)\\b",
        "больше (никогда )?не \\w+([аяую]й|и|ь)(те)?\\b",
    ),
    "zh": (
        "(永远|永遠|总是|總是|始终|今后|一律|千万|务必|務必|必须始终|绝对不要|绝不要)(?!报错|失败|出错|崩溃|一样|这样)",
        "以后(?!再说|吧|会)",
        "每次(?=.{0,20}(要|请|先|必须|应该|别))(?!.{0,20}(报错|失败|出错|崩溃))",
    ),
    "ja": (
        "(?!.*(ありがと|お世話))(.{0,40}(に|は|を|、))?(常に|必ず|いつも|今後は|これからは|二度と|絶対に|毎回|決して)"
        ".*(て|で|こと|な|る|ように|ください|下さい)[。!！]?$",
    ),
    "ko": ("(항상|절대)", ".{1,20} (항상|절대) .{1,40}(세요|마|라|요|줘)[.!]?$"),
}
"""The adverb stands in front, wherever in a message the sentence stands."""

DUTIES: Final[Mapping[str, tuple[str, ...]]] = {
    "en": (
        rf"(i (think|said|told you|repeat|mean) (that )?)?(you|we) (really |just )?{_DUTY_EN}"
        rf" (really |please )?(always|never)( ever)? (?!{_PASSIVE_EN})\w",
        rf"(you|we) (always|never) {_DUTY_EN} (?!{_PASSIVE_EN})\w",
        rf"(you|we) {_DUTY_EN} (?!{_PASSIVE_EN})\w.{{1,80}} always[.!]*$",
        "i (want|need|expect|'d like|would like) you to (always|never) \\w",
        "i always (want|need|expect) you to \\w",
        "(make sure|be sure|remember|try)( that)?( you| we)?( to)?( please)?,? (always|never) \\w",
        "(it's|it is) important (to|that (you|we)) (always|never) \\w",
    ),
    "de": (
        "(du|ihr|sie|wir) (soll\\w*|muss\\w*|müss\\w*|darf\\w*|dürf\\w*) .{0,40}(immer|stets|nie|niemals)"
        rf"(?! (wieder|noch)\b) .{{0,60}}{_INF_DE}",
        "(immer|stets|nie|niemals) (soll\\w*|muss\\w*|darf\\w*) (du|ihr) ",
        "(denk|achte?) (bitte )?(immer )?(dran|daran|darauf),? (immer|stets|nie)",
    ),
    "fr": (
        "(tu|vous|on) (ne )?(dois|devez|doit|devrais|devriez) (toujours|jamais|systématiquement) \\w",
        "il (ne )?(faut|faudrait) (toujours|jamais|systématiquement) \\w",
        "(pense|pensez|veille|veillez) (bien )?(toujours )?à (toujours|ne jamais) \\w",
    ),
    "es": (
        "(no )?(debes|debe|deberías|tienes que|hay que|se debe|você deve|deve|devi|dovresti|bisogna"
        "|tem que|tens de|deves|dovete)( .{0,30})?\\s*(siempre|nunca|jamás|sempre)\\b .",
        "(siempre|nunca|jamás|sempre|tu)( (siempre|nunca|sempre))? (debes|deberías|tienes que"
        "|hay que|você deve"
        "|deve|devi|tem que) \\w",
        "você (sempre|nunca) (deve|tem que) \\w",
        "non (devi|bisogna|dovresti) mai \\w",
    ),
    "ru": (
        f"(ты|вы) (всегда|никогда не) {_DUTY_RU} \\w",
        f"(ты|вы) {_DUTY_RU} (всегда|никогда не) \\w",
        "(нужно|надо|следует) всегда \\w",
    ),
    "zh": (
        "(你)?(应该|应当|必须|一定要|需要|要|得)(总是|總是|始终|永远|每次)",
        ".{1,12}(永远|绝对|千万|一定|绝)(不要|别|不能|不得|不许)",
        ".{1,12}前(都)?(必须|务必|一定要|都要|总是|始终)",
    ),
}
"""The one who is spoken to should, must, may not: in any clause that stands by itself."""

IMPERATIVES: Final[Mapping[str, tuple[str, ...]]] = {
    "de": (
        rf"{_FIRST_DE}{_FILL_DE}( (die|den|das|deine?) [\w-]+)? (immer|stets|nie|niemals)(?! (noch"
        rf"|wieder|mehr geht)\b)\b.",
        rf"(?!.{{0,80}}\b(?:kann|können|will|ich|es|man|wird|werden|würde\w*|hat|habe|ist|sind)\b)"
        rf"(die|den|das|vor|nach|beim|bei|im) .{{1,60}} (immer|stets|nie|niemals) (.{{1,60}} )?{_INF_DE}",
    ),
    "fr": (
        rf"{_FIRST_FR} (aussi |bien |donc )?(toujours|systématiquement|jamais) (?!(pas|aussi"
        rf"|l[ea]s? mêmes?|rien|est)\b)\w",
    ),
    "es": (
        rf"{_FIRST_ES}(lo|la|los|las)? (siempre|sempre) (?!{_STALE_ES})\w",
        r"no \w+(as|es|e|a|an|en|ar|er|ir) (nunca|jamás)\b",
    ),
    "ru": (r"(?!(случай|край)\b)\w+([аяую]й(те)?|[иь]те|пиши) (всегда|каждый раз) \w",),
}
"""An imperative beside its adverb, in a sentence that leads its message."""

_REPORTED_EN = (
    "(?:errors?|failures?|warnings?|issues?|problems?|bugs?|changes?|worries|results?|matches|differences"
    "|conflicts?|tests?|logs?|hits?|luck|ideas?|clues?|questions?|objections?|reasons?|news|need|thanks?"
    "|surprises?|users?|one|longer|wonder|doubt|matter|idea|way|such|other|more|rush|hurry|files?)"
)
_NOUN_EN = (  # by what it is not
    rf"(?!(?:{_REPORTED_EN}|it|its|that|this|these|those|they|you|we|he|she|i|there|the|an?|is|was|has|does"
    r"|always|yes|us|less|what|why|who|which|just|still|but|so|and|not|please|wait|use|do|don|if)\b)[\w-]+"
)
PROHIBITIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "en": (
        r"(don't|do not) (?!(worry|forget|bother|know|think|see|understand|have|need|you|we|get me"
        r"|care|mind|hesitate|want|like|believe|be|ask why|sweat)\b)\w",
        r"(use|prefer) .{2,60}(,\s*| )(not|instead of|rather than) .{2,60}",
        r"stop \w+ing\b",
        rf"you (really )?(must not|mustn't|may not|should not|shouldn't|are not (allowed|supposed) to)"
        rf" (?!{_PASSIVE_EN})\w",
        r"no more \w+s (in|on|inside) ",
        rf"no ({_NOUN_EN} ){{0,3}}{_NOUN_EN}( in [\w-]+)?,\s*(but |please )?(use|prefer|only|always"
        rf"|write) .{{2,60}}",
        r"[\w`.-]+( [\w`.-]+){0,3} (please|pls),? (never|not) .{2,60}",
        r"(always )?(ask|check with|tell)( me| us)?( first)? before (you )?\w",
        r"we (always |only |still )?(use|prefer|want|write) .{2,60} instead\b",
    ),
    "de": (
        "(hör auf|lass das)\\b",
        rf"keine?[nmrs]? (?!({_NOUNS['de']})\b)([\w-]+ ){{0,3}}[\w-]+,\s*(sondern|bitte|nimm|nutze"
        rf"|verwende|lieber|nur"
        r"|schreib) .{2,60}",
        r"(erst|zuerst) .{2,60}, (und )?(dann|danach|erst dann) .{2,60}!+$",
        rf"{_FIRST_DE}{_FILL_DE}( in den code)? keine?[nmrs]? (?!({_NOUNS['de']})\b)\w",
        rf"{_FIRST_DE}( (?!nicht\b)[\w-]+){{1,5}} nicht( mehr| wieder)?( ohne \w+| (?!(geht|ist"
        rf"|will|kann)\b)\w+)?[.!]*$",
        rf"{_FIRST_DE} (bitte )?nicht (?!(weiter|wissen|schlimm|schlecht|gut|so|ganz|nur|mehr|richtig)\b)\w",
        rf"(?<=bitte\s)(keine?[nmrs]?|nicht) (?!({_NOUNS['de']})\b)(.{{1,60}} )?{_INF_DE}",
        rf"keine?[nmrs]? (?!({_NOUNS['de']})\b)\w+ .{{0,60}}bitte[.!]*$",
        rf"du (sollst|solltest|darfst) (.{{1,60}} )?(nicht|keine?[nmrs]?) (.{{1,60}} )?{_INF_DE}",
    ),
    "fr": (
        "arrête[zr]? d(e |')",
        rf"(ne |n')(?!{_STATE_FR})\w+( [\w-]+)? (pas|plus|aucune?|rien)\b(?! qu)",
        r"(ne|n')\s*pas \w+(er|ir|re)\b",
        "(tu|vous) ne (dois|devez|devrais) (pas|plus) \\w",
        rf"(plus|pas) (de |d')(?!({_NOUNS['fr']})\b).{{1,60}}(s'il (te|vous) pla[iî]t|stp|svp)[.!]*$",
    ),
    "es": (
        "(deja|pare|para) de \\w+(ar|er|ir)\\b|smetti(la)? di ",
        rf"no (?!{_STATE_ES})(l[aoe]s? |me )?\w{{2,}}(as|es|éis|ar|er|ir)(l[aoe]s?|me)?\b",
        r"no (haga|toque|use|agregue|modifique|añada|cambie|borre|escriba|ponga|suba|publique|edite"
        r"|cree)n?\b",
        "no (debes|deberías|tienes que) \\w+(ar|er|ir)",
        "nada de .{2,60}por favor[.!]*$",
        rf"não (?!{_STATE_PT})\w{{2,}}(e|em|es|ar|er|ir)\b",
        "não (faça|faz|mexa|escreva|remova|ponha|inclua|suba|toca|mexe)\\w?\\b",
        "(você )?não (deve|pode) \\w+(ar|er|ir)\\b",
        r"non (?!(vedere|sapere|potere|essere|avere|(?:ap|com|s)?pare|preoccup\w*|dimentic\w*"
        r"|esitare)\b)\w{2,}(are"
        r"|ere|ire|arlo|arla|urre|erlo)\b",
        "non devi (mai )?\\w+(are|ere|ire)\\b",
        "(niente|basta) .{2,60}per favore[.!]*$",
    ),
    "ru": (
        "перестань(те)? ",
        r"не (?!(волнуй|беспокой|переживай|забудь|забывай|очень|при|мои|эти|они|почти|весь|спеши|парь|знать"
        r"|понять|быть|есть|здесь|теперь|нужно|стесняй|бойся)\w*\b)(\w{2,}([аяую]й"
        r"|[жшчщнлрстдвмпбкзгеу]и)(те)?"
        r"|\w{3,}(ть|ти)|\w{2,}[жшчнлртдмвпбс]ь(те)?)\b",
        "(нельзя|запрещено|не надо|не нужно) \\w+(ть|ти)\\b",
        "без .{2,60}пожалуйста[.!]*$",
    ),
    "zh": (
        "不要(?!紧|緊|担心|擔心|着急|紧张|客气|怕)",
        "别(?!人|的|说|急|着急|担心|管|误会|客气|怕|介意|名)|別(?!人|的|說|急|擔心|客氣|怕|名)",
        "(请勿|勿|禁止|不准|不许|不許|不得|严禁)",
    ),
    "ja": (
        "(?!.*(心配|気に|遠慮|無理)(を)?し).*(ないで(ください|下さい)?|ないこと|ないように(して(ください)?)?)[。!！]?$",
        "(?!.*(心配|気に|無理)).*(しては(いけ|なら|駄目|だめ)|禁止(です)?[。!！]?$|[^てで][るすう]な[。!！]?$)",
    ),
    "ko": ("(?!.*걱정).{1,40}지\\s*(마|말)(세요|아|라|아줘|아\\s*주세요|고)?",),
}
"""Forbids something, perhaps only this once: a correction where it opens a message to an agent that acted."""

BANS: Final[Mapping[str, tuple[str, ...]]] = {
    "en": (
        rf"no ({_NOUN_EN} ){{0,2}}{_NOUN_EN}(?<=s),?"
        "( (in|inside|on) [\\w -]{2,40})?( (please|pls|at all|anywhere|any ?more|ever|here))*[.!]*$",
        rf"no ({_NOUN_EN} ){{0,2}}{_NOUN_EN}(?<=s) (that|which|unless|without) \w",
        rf"no ({_NOUN_EN} ){{0,3}}{_NOUN_EN},? (please|pls)[.!]*$",
    ),
    "de": (
        rf"keine?[nmrs]? (?!({_NOUNS['de']})\b)([\w-]+ ){{0,3}}[\w-]+,? bitte[.!]*$",
        rf"keine (?!({_NOUNS['de']})\b)([\w-]+ )?[\w-]+ (in|im|bei|auf) [\w -]{{2,40}}[.!]*$",
    ),
}
"""Bans a thing by its noun alone: "no em dashes please"."""

_TEXTS = (
    r"(\w*(comment|message|doc|docstring|name|identifier|test|answer|changelog"
    r"|kommentar|nachricht|antwort)\w*)"
)
_TONGUE = "(english|german|french|spanish|englisch|deutsch|französisch|spanisch)"
_SMALL_EN = "(?:short|small|simple|brief|concise|terse|plain|tidy|flat|focused|readable)"
STYLES: Final[Mapping[str, tuple[str, ...]]] = {
    "en": (
        rf"keep (all |the |your |my |our )*([\w-]+ ){{0,2}}[\w-]+s {_SMALL_EN}\b",
        r"(write|use|make|keep|prefer) ((much|far|even) )?"
        rf"(shorter|simpler|smaller|fewer|plainer|{_SMALL_EN})"
        r" ([\w-]+ ){0,2}[\w-]+s( please| here| from now on)*[.!]*$",
        rf"([\w-]+ ){{0,2}}{_TEXTS}( only)? in {_TONGUE}[\s,]*(only|please)*[.!]*$",
    ),
    "de": (
        r"halte? (bitte )?(die |alle |deine )?\w+ (kurz|knapp|klein|einfach|schlicht)\b",
        r"(schreibe?|mache?|nimm|nutze|verwende) (bitte )?(kürzere|knappere|kleinere|einfachere|weniger)"
        r" (\w+ )?\w+( bitte)?[.!]*$",
        rf"([\w-]+ ){{0,2}}{_TEXTS}( bitte| nur| immer)* (auf|in) {_TONGUE}[\s,]*(bitte)?[.!]*$",
    ),
    "fr": (r"(écris|écrivez|fais|faites|garde[zr]?) (des |les )\w+ (plus )?(courte?s|simples|petite?s)\b",),
    "es": (r"(escribe|usa|haz|mantén) (los |las )?\w+ (más )?(cort[oa]s|simples|breves|pequeñ[oa]s)\b",),
}
"""How all things of a kind are to be: no single part of the work is named."""

_LATER = re.compile(
    r"(?<!\w)(?:yet|for now|right now|at the moment|noch nicht|noch keine?n?|vorerst|erstmal|pour l'instant"
    r"|pas encore|tout de suite|todavía|aún|por ahora|de momento|ainda|por enquanto|per ora|ancora"
    r"|adesso|пока"
    r"|сейчас)(?!\w)|先不要|先别|先別|暂时|まだ|今は|とりあえず",
    re.IGNORECASE,
)
"""Puts off what is asked for, and forbids nothing."""
_BREAK = re.compile(r"[,;:—–，；：]\s*|\s-\s")


def _pattern(tables: Iterable[Mapping[str, tuple[str, ...]]]) -> re.Pattern[str]:
    entries = (entry for table in tables for entries in table.values() for entry in entries)
    text = f"{_LEAD}(?:{'|'.join(f'(?:{entry})' for entry in entries)})"
    return re.compile(
        re.sub(r"(?<!\\)\((?!\?)", "(?:", text).replace(" ", r"\s+").replace("'", "'?"), re.IGNORECASE
    )


_FRONT = _pattern([FRONT])
_DUTIES = _pattern([DUTIES])
_IMPERATIVES = _pattern([IMPERATIVES])
_BANS = _pattern([BANS])
_PROHIBITIONS = _pattern([PROHIBITIONS])
_STYLES = _pattern([STYLES])


def at_front(sentence: str) -> bool:
    """Whether the sentence says first that it holds for later work."""
    return _FRONT.match(sentence) is not None


def is_duty(sentence: str) -> bool:
    """Whether a clause of it says what the one spoken to always or never should do."""
    return any(_DUTIES.match(clause) for clause in _BREAK.split(sentence)) or (
        _DUTIES.match(sentence) is not None
    )


def is_lasting_order(sentence: str) -> bool:
    """Whether it is an imperative with an adverb that makes it last."""
    return _IMPERATIVES.match(sentence) is not None


def is_prohibition(sentence: str) -> bool:
    """Whether it forbids something, and not only for a while."""
    forbids = _PROHIBITIONS.match(sentence) is not None or _BANS.match(sentence) is not None
    return forbids and _LATER.search(sentence) is None


def bans_thing(sentence: str) -> bool:
    """Whether a noun alone says what is not wanted: fewer words than elsewhere say it all."""
    return _BANS.match(sentence) is not None and _LATER.search(sentence) is None


def is_style(sentence: str) -> bool:
    """Whether it says how all things of a kind are to be."""
    return _STYLES.match(sentence) is not None and _LATER.search(sentence) is None
