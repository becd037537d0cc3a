"""The words by which people judge what an agent did, by language, as lists that a person can extend.

Entries are small patterns: alternatives in brackets, a space for any white space, `'` for either
apostrophe. They match whole words, except in scripts that put no spaces between words. What a person adds
(`Words.with_phrases`) is taken literally, as long as it lies within one sentence.
"""
# ruff: noqa: RUF001 - words of other languages are written in their own letters

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

_SPACELESS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_MORE = "(still |just |all |completely |totally )?"
_FLAWED = "(place|file|folder|directory|branch|repo|project|spot|order)"
_MODAL = "(doesn't|does not|isn't|is not|aren't|don't|do not|didn't|did not|can't|cannot|won't)"

REPROACHES = {
    "en": (
        f"(that|this|it|which) (still )?{_MODAL} (work|help|compile|build|run|fix)",
        f"(that|this|it)('s| is| was| looks) {_MORE}(wrong|incorrect|broken|not (right|correct|what i))",
        f"(that|this|it|which)('s| is| was) {_MORE}not (working|fixed|it)",
        "(that|this|it|which) (isn't|wasn't) (right|correct|working|fixed|what i|it)",
        "not (what|how) i (asked|meant|wanted|said|told)",
        "(you're|you are) (wrong|mistaken|not listening)",
        "you (got|did|have|had) (it|that|this) wrong",
        f"(in )?the wrong {_FLAWED}",
        "the wrong (one|thing)",
        "(issue|problem|error|bug) (is |remains )?still",
        f"still {_MODAL} (work|compile|build|run|pass|fixed|working|right|correct|show|start|load)",
        "still (fails|fail|failing|broken|wrong|crashes|crashing|missing|the same|not working|not fixed)",
        "still (get|gets|getting|see|seeing|have|throws) (the|an|this|that) (\\w+ )?(error|issue|problem)",
        "i (said|told you|asked you|asked for|specifically)(?! (about|hello|hi|goodbye|yes|thanks))",
        "you (used|did|added|wrote|put|ran|made|took|deleted|changed|committed) (\\S+ ){1,4}again",
        "i (already|just) (said|told you|asked)",
        "as i (said|told you|asked)",
        "you (forgot|missed|ignored|broke|misunderstood|misread|overlooked|shouldn't have|should not have)",
        "you (didn't|did not|don't|haven't|have not) (do|follow|listen|read|understand|update|answer)",
        "you (didn't|did not|don't|haven't|have not) (run|fix|use|add|check|change|remove|test)",
        "you (weren't|were not) supposed to",
        "i (didn't|did not|never) (ask|want|tell|say|mean)",
        "i don't want you to",
        "why (did|would|do) you (\\w+ )?(delete|remove|ignore|break|change|keep)",
        "why are you (\\w+ )?(deleting|removing|ignoring|breaking|changing)",
        "we already (built|have|had|did|discussed|agreed|decided|talked)",
        "(try|do it|read it|look) (again )?(properly|carefully|correctly)",
        "you( have|'ve)? (\\w+ )?(fucked|screwed|messed|botched) .{0,30}up",
        "you (idiot|moron|dumb)",
        "i('ve| have)? (undid|undone|reverted|rolled back) (your|that|this|it|those|these)",
        "i (gave|showed|pasted) you",
        "which is (wrong|incorrect)",
        "stop doing",
        "just do (it|that|what i)",
        "do (exactly )?(what|as) i (said|asked|told)",
    ),
    "de": (
        "(das|es|dies) (ist|war) (immer noch |noch |so |leider )?(falsch|verkehrt|kaputt|nicht richtig)",
        "(das|es|dies) (stimmt|passt|geht|funktioniert|klappt|läuft|hilft) (so |immer noch |leider )?nicht",
        "(geht|funktioniert|klappt|läuft|kompiliert|stimmt) immer noch nicht",
        "immer noch (falsch|kaputt|nicht|der gleiche fehler|derselbe fehler)",
        "(das )?(habe|hab) ich (so )?nicht (gesagt|gemeint|gewollt|verlangt|gebeten)",
        "(habe|hab) ich (doch |dir |bereits |schon )+gesagt",
        "ich (habe|hab) (doch |dir |bereits |schon )*gesagt",
        "du (hast|solltest) .{0,30}(vergessen|übersehen|ignoriert|kaputt gemacht|nicht sollen)",
        "(so|das) war das nicht gemeint",
        "du (hast|nutzt|verwendest|benutzt|nimmst|schreibst) (ja |doch )?(schon )?wieder",
    ),
    "fr": (
        "(c'est|ce n'est|c'était) (toujours |encore )?(faux|incorrect|cassé|pas (bon|ça|correct))",
        "(ça|cela) ne (marche|fonctionne|compile|va) (toujours )?pas",
        "(ça|cela) (marche|fonctionne|compile) (toujours )?pas",
        "ce n'est pas ce que j'ai (demandé|dit)",
        "c'est pas ce que j'ai (demandé|dit)",
        "j'ai (déjà )?dit",
        "tu (as|n'as pas) (oublié|ignoré|cassé|compris|raté)",
        "toujours (cassé|la même erreur|pas corrigé)",
    ),
    "es": (
        "(eso|esto|así)? ?(no es|no está) (correcto|bien|lo que)",
        "(eso|esto) (está|es) (mal|incorrecto|roto)",
        "(sigue|todavía|aún) (sin funcionar|fallando|mal|roto|no funciona|falla)",
        "(eso|esto) no (funciona|sirve|compila)",
        "no es lo que (pedí|te pedí|dije|quería)",
        "(te|ya te|ya) (dije|he dicho)",
        "(olvidaste|te olvidaste|ignoraste|rompiste)",
    ),
    "pt": (
        "(isso|isto) (está|é) (errado|incorreto|quebrado)",
        "(isso|isto) não (funciona|está certo|está correto|compila|é o que)",
        "não (é|foi) (isso|o que) (que )?(eu )?(pedi|disse|queria)",
        "(continua|ainda) (errado|falhando|quebrado|não funciona|sem funcionar)",
        "(eu )?já (disse|falei)",
        "você (esqueceu|ignorou|quebrou)",
    ),
    "it": (
        "(è|era) (ancora )?(sbagliato|errato|rotto)",
        "(questo|quello|così)? ?non (funziona|va bene|è corretto|è giusto|compila)",
        "non è (quello|ciò) che (ho|ti ho|volevo)",
        "(te|ti|l')? ?(l'ho|ho) già detto",
        "(hai|ti sei) (dimenticato|ignorato|rotto|sbagliato)",
        "ancora (sbagliato|rotto|lo stesso errore)",
    ),
    "ru": (
        "(это|всё|все) (всё |все )?(ещё |еще )?(неправильно|неверно|не то|не так|сломано)",
        "(всё|все) (ещё|еще|равно) (не работает|сломано|падает|та же ошибка)",
        "(это )?не работает",
        "я (же |тебе |уже )*(сказал|сказала|говорил|говорила|просил|просила)",
        "ты (забыл|проигнорировал|сломал|пропустил|не понял)",
    ),
    "zh": (
        "(这|那|這)?(样|樣|个|個)?(是)?(错|錯)(了|的|误)",
        "(不对|不對|不是这样|不是這樣|不是这个|搞错了|弄错了|搞錯了)",
        "(还是|還是|仍然|依然)(不行|不对|不對|报错|報錯|有问题|有問題|没有|沒有|不能)",
        "(我)(说过|說過|不是说|已经说|让你|讓你|没让你|沒讓你)",
        "你(忘了|忘记|漏了|没有按|沒有按|理解错)",
    ),
    "ja": (
        "(違|ちが)(う|います|いました)",
        "(間違って|間違い|まちがって)",
        "(まだ|やっぱり)(動かない|動きません|直って(い)?(ない|ません)|エラー)",
        "(そうじゃ|そうでは)(なく|ない|ありません)",
        "(と|って)言った(はず|のに|でしょ)",
        "頼んで(い)?(ない|ません)",
    ),
    "ko": ("(틀렸|잘못됐|잘못했|아니라고|여전히 안)", "(그게|이게) 아니"),
}
"""Anywhere in the first sentences of a message."""

OPENERS = {
    "en": (
        "no[,.!:]",
        "no (not|don't|do not|use|stop|that|this|it|wait|please|the|you|we)",
        "nope",
        "(that's|this is|thats) (wrong|not)",
        "wrong",
        "incorrect",
        "not (that|this|there|like that|like this|yet what|what|quite what)",
        "not (as|in|to|on|with|via|by|from) .{1,60}(but|instead|rather)",
        "(please )?(revert|undo|restore|roll ?back) (your|that|this|it|these|those|the last|what you|all)",
        "(wait|hey|hold on|whoa)[,.! ]+(no|stop|don't|do not|that's|that is|you)",
        "stop[,.!]",
        "stop$",
        "you've (put|added|attached|used|changed|deleted|removed|broken|missed|forgotten)",
        "(ugh|wtf|argh|jesus|seriously|come on|for (god|heaven|fuck)'s sake)",
    ),
    "de": (
        "nein[,.! ]",
        "nicht (so|das|dort|da|hier)",
        "falsch",
        "stopp?[,.! ]",
        "mach das (wieder )?rückgängig",
    ),
    "fr": (
        "non[,.!:]",
        "non (ce|c'est|je|tu|il|pas|plutôt|utilise)",
        "pas (ça|comme ça|là)",
        "faux",
        "arrête",
        "annule (ça|tes|cette|le dernier)",
    ),
    "es": ("no[,.!:]", "así no", "eso no", "mal[,.!]", "deshaz (eso|lo|tus)", "revierte (eso|lo|tus)"),
    "pt": ("não[,.!:]", "assim não", "isso não", "errado", "desfaça (isso|as|o)", "reverta (isso|as|o)"),
    "it": ("no[,.!:]", "non così", "non quello", "sbagliato", "annulla (le tue|quello|questo)"),
    "ru": (
        "нет[,.!:]",
        "нет (это|не|так|я|ты)",
        "не (так|то|туда|это)",
        "неправильно",
        "неверно",
        "стоп",
        "откати",
        "верни (как|всё|все)",
    ),
    "zh": (
        "不[,，。!！]",
        "不对",
        "不對",
        "不是[,，。]",
        "错了",
        "錯了",
        "别(?!担心|着急|急|管|客气|介意|怕|人|的)",
        "停",
        "撤销(你|这|刚)",
        "回滚(你|这|刚)",
    ),
    "ja": ("いや[、,。]", "いいえ", "違", "だめ", "ダメ", "そうじゃな", "やめて", "元に戻して"),
    "ko": ("아니[,. ]", "아니요", "틀렸", "그만"),
}
"""At the beginning of the first sentence."""

AFTER_STOP = {
    "en": ("not .{1,60}(but|instead)", ".{0,60}instead", "actually", "rather"),
    "de": ("nicht .{1,60}sondern", ".{0,60}stattdessen"),
    "fr": ("pas .{1,60}mais", ".{0,60}plutôt"),
    "es": ("no .{1,60}sino", ".{0,60}en su lugar"),
    "pt": ("não .{1,60}mas sim",),
    "it": ("non .{1,60}(ma|bensì)", ".{0,60}invece"),
    "ru": ("не .{1,60}а ", ".{0,60}вместо этого"),
    "zh": ("(不是|不要).{1,30}(而是|要)",),
    "ja": (".{1,30}(じゃなくて|ではなく)",),
}
"""At the beginning of a message that follows right upon an interruption or a refusal."""

APPROVALS = {
    "en": (
        "(perfect|great|nice|excellent|awesome|wonderful|brilliant|beautiful|amazing|lovely|lgtm)",
        "(looks|works) (good|great|perfect|fine|well|perfectly|now)",
        "(that|this|it) (works|worked|fixed it|is (right|correct|perfect|great)|looks (good|great|right))",
        "(that's|this is|it's) (right|correct|perfect|great|it|exactly)",
        "(well done|(good|nice) (job|work)|exactly|love it|correct|fixed|thanks|thank you|thx)",
    ),
    "de": (
        "(perfekt|super|toll|prima|klasse|genau|danke|vielen dank|sehr gut|gut gemacht|richtig|stimmt)",
        "(das )?(sieht gut aus|funktioniert jetzt|passt so|passt)",
    ),
    "fr": (
        "(parfait|super|génial|merci|exactement|bien joué|très bien|excellent)",
        "(ça|cela) (marche|fonctionne)",
    ),
    "es": (
        "(perfecto|genial|gracias|muchas gracias|excelente|exacto|muy bien|buen trabajo)",
        "(ya )?funciona",
    ),
    "pt": ("(perfeito|ótimo|obrigad[oa]|excelente|exato|muito bem|bom trabalho)", "(agora )?funciona"),
    "it": ("(perfetto|ottimo|grazie|eccellente|esatto|molto bene|ben fatto)", "(ora )?funziona"),
    "ru": (
        "(отлично|спасибо|супер|класс|идеально|верно|правильно|молодец)",
        "(теперь )?(всё |все )?работает",
    ),
    "zh": ("(很好|太好了|完美|谢谢|謝謝|不错|不錯|可以了|正是|对了|好的,谢谢)",),
    "ja": ("(完璧|ありがとう|素晴らしい|いいね|よくできました|その通り|バッチリ|いい感じ)",),
    "ko": ("(완벽|감사|고마워|좋아요|잘했)",),
}
"""At the beginning of the first sentence, where nothing takes it back."""

TAKEN_BACK = {
    "en": ("not", "n't", "but", "however", "except", "never", "almost", "nearly", "would be", "only"),
    "de": ("nicht", "aber", "allerdings", "fast", "leider"),
    "fr": ("pas", "mais", "sauf", "presque"),
    "es": ("no", "pero", "excepto", "casi"),
    "pt": ("não", "mas", "exceto", "quase"),
    "it": ("non", "ma", "però", "tranne", "quasi"),
    "ru": ("не", "но", "почти", "кроме"),
    "zh": ("不", "但", "可是", "没", "沒"),
    "ja": ("ない", "でも", "けど", "しかし", "ません"),
    "ko": ("않", "하지만", "그런데"),
}
"""Words that make an approval none."""

ACKNOWLEDGEMENTS = frozenset(
    """
    y yes yep yeah yup sure ok okay k no nope n go continue proceed next done stop commit push retry again
    thanks thx ty perfect great nice good cool awesome lgtm please hello hi hey test resume exit quit
    ship it do so ahead and on that now then the changes all them fine right correct up looks thank you
    ja nein weiter danke gut mach genau super passt bitte
    oui non merci continuez parfait vas-y
    sí si vale gracias continúa sigue perfecto
    sim não nao obrigado obrigada prossiga
    va bene grazie avanti procedi
    да нет продолжай спасибо хорошо ок давай дальше
    好 好的 是 是的 对 不 继续 繼續 谢谢 謝謝 可以 行 嗯 提交
    はい いいえ 続けて ありがとう お願いします うん 了解
    네 예 아니요 계속 감사합니다
    """.split()  # noqa: SIM905 - a table of words reads better than 100 strings
)
"""A message of nothing but these is no piece of work and teaches nothing."""

POLITENESS = frozenset(
    """
    please pls kindly hey hi hello ok okay so well now also and but just again no nope wait actually thanks
    bitte nein also aber und doch mal stop s'il vous plaît plait svp non por favor no per favore
    пожалуйста нет и а но 请 請 どうか ください
    """.split()  # noqa: SIM905 - a list of words reads as words
)
"""Left aside where two statements are compared."""


@dataclass(frozen=True, kw_only=True)
class Words:
    """Compiled lists. `DEFAULT` holds all languages; text of any of them may stand in any session."""

    reproaches: tuple[str, ...] = tuple(entry for entries in REPROACHES.values() for entry in entries)
    openers: tuple[str, ...] = tuple(entry for entries in OPENERS.values() for entry in entries)
    after_stop: tuple[str, ...] = tuple(entry for entries in AFTER_STOP.values() for entry in entries)
    approvals: tuple[str, ...] = tuple(entry for entries in APPROVALS.values() for entry in entries)
    taken_back: tuple[str, ...] = tuple(entry for entries in TAKEN_BACK.values() for entry in entries)
    own_corrections: tuple[str, ...] = ()
    own_approvals: tuple[str, ...] = ()

    def with_phrases(self, *, corrections: Iterable[str] = (), approvals: Iterable[str] = ()) -> Words:
        """These lists and a person's own phrases, taken literally, found anywhere (corrections) or at
        the beginning (approvals) of a message."""
        return replace(
            self,
            own_corrections=(*self.own_corrections, *corrections),
            own_approvals=(*self.own_approvals, *approvals),
        )

    @cached_property
    def reproach(self) -> re.Pattern[str]:
        return _any_of(self.reproaches, self.own_corrections, start=False)

    @cached_property
    def opener(self) -> re.Pattern[str]:
        return _any_of(self.openers, self.own_corrections, start=True)

    @cached_property
    def stop(self) -> re.Pattern[str]:
        return _any_of(self.after_stop, start=True)

    @cached_property
    def approval(self) -> re.Pattern[str]:
        return _any_of(self.approvals, self.own_approvals, start=True)

    @cached_property
    def back(self) -> re.Pattern[str]:
        return _any_of(self.taken_back, start=False)


def _any_of(entries: Iterable[str], own: Iterable[str] = (), *, start: bool) -> re.Pattern[str]:
    """One pattern for all. Entries that begin like a word share one look at what stands before them, so
    that places inside words are passed over at once."""
    groups: dict[str, list[str]] = {}
    for phrase in sorted(own, key=len, reverse=True):  # whole, whatever a shorter one begins with
        before = r"^\W*" if start else r"(?<!\w)" if _ends_a_word(phrase[0]) else ""
        groups.setdefault(before, []).append(_literally(phrase))
    for entry in entries:
        pattern = entry.replace("\\ ", " ").replace(" ", r"\s+").replace("'", "['’]?")
        spaceless = _SPACELESS.search(entry) is not None
        before = r"^\W*" if start else "" if spaceless or entry.startswith("n'") else r"(?<!\w)"
        # An entry that ends in punctuation, or stands in a script without spaces, has no word to end.
        behind = "" if spaceless or entry[-1] in "]$ " else r"(?!\w)"
        groups.setdefault(before, []).append(f"(?:{pattern}){behind}")
    return re.compile(
        "|".join(f"{before}(?:{'|'.join(group)})" for before, group in groups.items()), re.IGNORECASE
    )


def _literally(phrase: str) -> str:
    pattern = r"\s+".join(map(re.escape, phrase.replace("\u2019", "'").split())).replace("'", "['\u2019]?")
    return pattern + (r"(?!\w)" if _ends_a_word(phrase[-1]) else "")


def _ends_a_word(letter: str) -> bool:
    """Whether a word that begins or ends with it could go on: a mark, or a letter of a script without
    spaces, stands beside other words."""
    return re.match(r"\w", letter) is not None and _SPACELESS.match(letter) is None


DEFAULT = Words()
