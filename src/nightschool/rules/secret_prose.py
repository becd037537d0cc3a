"""Secrets that people name in a sentence: "das Passwort für das Testkonto ist X", "login jonas, pw X".

Relieves `secret_scan`, which knows names right before their values. A name opens a look of a bounded length
ahead: the first value there that stands behind "is", a colon, a slash or the like, and that no word, path,
version or address looks like, is the secret. Linear: each name is looked behind once.
"""

from __future__ import annotations

from collections.abc import Callable

import re2

from nightschool.rules.secret_text import LATIN
from nightschool.rules.secret_values import mixed, refers

_BEGIN = rb"(?:^|[^A-Za-z0-9_\[\\-]|\\[nrt])"
_UE = rb"(?:\xc3\xbc|u|ue|\\u00fc)"
_HINTED = (
    rb"passw|passphrase|kennwort|pw|zugangsdaten|credentials|passe|contrase|senha|wachtwoord|\xd0\xbf\xd0\xb0\xd1\x80"
    rb"|token|key|schl|sudo|login|pin|akia|asia|secret:"
)
"""None of these stands in most texts: one look finds that out."""
_PASSWORDS = (
    rb"(?i:passwor[dt]|passwd|passphrase|kennwort|pw|zugangsdaten|credentials|mot de passe|sudo"
    rb"|contrase(?:\xc3\xb1|n)a|senha|wachtwoord|\xd0\xbf\xd0\xb0\xd1\x80\xd0\xbe\xd0\xbb\xd1\x8c)"
)
_TOKENS = rb"(?i:token|api[ -]?key|secret key|api-schl" + _UE + rb"ssel|schl" + _UE + rb"ssel|login)"
_HINT = re2.compile(rb"(?i)" + _HINTED, LATIN)
_SHORT = (b"pw", b"pwd", b"kennwort", b"passwort")
_WORD_AND_NUMBER = re2.compile(rb"[A-Za-z]{4,}\d{2,}", LATIN)
_NAME = re2.compile(_BEGIN + rb"(?:(" + _PASSWORDS + rb")|(" + _TOKENS + rb"))([^A-Za-z0-9_]|$)", LATIN)
_VALUE = rb"([^\s\"'`\\,;<>()\[\]{}]{6,80})"
_BEHIND = re2.compile(
    rb"(?:(?i:[ ](?:is|was|ist|war|lautet|lautete|hei(?:\xc3\x9f|ss|\\u00df)t|est|es|\xc3\xa8|\xc3\xa9))"
    rb"(?i:[ ](?:now|still|jetzt|nun|noch|immer noch|neu))?[ ]|[:=][ ]?|[ ]/[ ]"
    rb"|,[ ](?i:pw|passwor[dt]|kennwort)[ ])"
    rb"[\"'`]?" + _VALUE,
    LATIN,
)
_BESIDE = re2.compile(rb"[ ]" + _VALUE, LATIN)
_AHEAD = 64
"""Bytes behind a name in which its value begins."""
_STOP = re2.compile(rb"[\n?!]|[.;](?:\s|$)|\\[nr]|\[secret:|://|[\"'`][ ]?[,:}\])]|[(){}]", LATIN)
_NO_SECRET = re2.compile(
    rb"(?i)(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|v?\d+(?:[.:]\d+)+[a-z0-9-]*|[a-z][a-z0-9+.-]*://.*"
    rb"|(?:[~.]{0,2}/)?[a-z0-9_.-]+(?:/[a-z0-9_.-]+)+/?|[\w.-]+\.[a-z]{1,5}\d?|[a-z]+-\d+(?:\.\d+)*"
    rb"|\d+[a-z]{1,8}|[a-z]{1,3}-?\d{1,4}|[^@]+@[a-z0-9.-]+\.[a-z]+|(?-i:[A-Z]{2,}[0-9-]+)"
    rb"|[a-z0-9.]+(?:-[a-z0-9.]+)*-[a-z]{3,}|[a-z]+_[a-z]+\d*|\d[\d.,:%-]*"
    rb"|(?:base|sha|md|utf|oauth|saml|bcrypt|argon|python|node|port|row|line|user)-?\d+)",
    LATIN,
)
"""A version, an address, a path, a file, a count, a name with a number."""
_DIGITS = b"0123456789"
_SIGNS = b"!#$%&*+?^~@"
_LONG = 16
"""Letters from which what a token is called need not be odd."""
_AT_ONCE = 4
"""Names that are looked behind in as many bytes as one look takes: more is no sentence."""
_PIN = re2.compile(
    _BEGIN + rb"(?i:pin(?:-?code)?)(?:[:=][ ]?|[ ](?i:is|ist|lautet)[ ])(\d{4,8}(?:-\d{2,8})?)(?:\D|$)"
    rb"|" + _BEGIN + rb"(?:PIN|Pin)[ ](\d{4,8})(?:[ ](?i:for|f\xc3\xbcr)[ ]|[.,;!\"\\\n]|$)",
    LATIN,
)
_HEX_KEY = re2.compile(
    _BEGIN + rb"(?i:use|nimm|verwende|api)[ -](?i:(?:the|this|my|den|diesen)[ ])?(?i:key)[ ]([0-9a-f]{32,64})"
    rb"(?:[^0-9A-Za-z]|$)",
    LATIN,
)
_PAIR = re2.compile(
    rb"(?:(?:AKIA|ASIA)[0-9A-Z]{16}|\[secret:[a-z]{1,24}:[0-9a-f]{6}\])[ ]?[/|,:][ ]?"
    rb"([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)",
    LATIN,
)
_BETWEEN = (b" ", b":", b"=", b"/", b"|", b",")
"""What stands between a name and its value: an id, of which each row has some, holds none."""


def without_spoken(
    text: bytes, stand_in: Callable[[str, bytes], bytes], once: Callable[[str, bytes], bytes]
) -> bytes:
    """The text with a stand-in for each secret that its sentences name. Touches nothing else. `once` gives
    the stand-in of what may be an ordinary word or number elsewhere, and is not to be remembered."""
    if not any(sign in text for sign in _BETWEEN) or _HINT.search(text) is None:
        return text
    spots = sorted({*_named(text), *_given(text)})
    out: list[bytes] = []
    done = 0
    for start, end in spots:
        if start >= done:
            secret = text[start:end]
            out += [text[done:start], (stand_in if _odd(secret) else once)("credential", secret)]
            done = end
    return b"".join((*out, text[done:])) if out else text


def _given(text: bytes) -> list[tuple[int, int]]:
    found = []
    for pattern in (_PIN, _HEX_KEY, _PAIR):
        for match in pattern.finditer(text):
            group = match.lastindex or 0
            if not refers(match.group(group)):
                found.append(match.span(group))
    return found


def _named(text: bytes) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    window, looks = -_AHEAD, 0
    for name in _NAME.finditer(text):
        at = name.start(3)
        if at - window >= _AHEAD:
            window, looks = at, 0
        looks += 1
        if looks > _AT_ONCE or name.group(3) == b"@":  # `user:password@host` is the scanner's
            continue
        ahead = text[at : at + _AHEAD + 80]
        if ahead.translate(None, _DIGITS) == ahead:  # each of these secrets has one
            continue
        stop = _STOP.search(ahead, 0, min(len(ahead), _AHEAD))
        limit = _AHEAD if stop is None else stop.start()
        password = name.group(1)
        spot = _beside(ahead, password) or _behind(ahead, limit, strict=password is None)
        if spot is not None:
            found.append((at + spot[0], at + spot[1]))
    return found


def _beside(ahead: bytes, password: bytes | None) -> tuple[int, int] | None:
    """`pw X`: nothing says that it is one, so it must look like nothing else; behind words of which a
    sentence says nothing else a number at its end is enough."""
    match = _BESIDE.match(ahead)
    value = None if match is None or password is None else _telling(match.group(1))
    if match is None or value is None or password is None:
        return None
    short = password.lower() in _SHORT and _WORD_AND_NUMBER.fullmatch(value) is not None
    return (match.start(1), match.start(1) + len(value)) if short or _odd(value) else None


def _behind(ahead: bytes, limit: int, *, strict: bool) -> tuple[int, int] | None:
    begin = 0
    while (match := _BEHIND.search(ahead, begin)) is not None and match.start() < limit:
        value = _telling(match.group(1))
        fits = value is not None and (not strict or len(value) >= _LONG or _odd(value))
        if fits and value is not None and ahead[match.end() : match.end() + 1] not in {b"(", b"[", b"{"}:
            return match.start(1), match.start(1) + len(value)
        begin = match.start(1)
    return None


def _telling(word: bytes) -> bytes | None:
    """The word without the marks of a sentence, where it looks like a secret."""
    value = word.rstrip(b".!?:*")
    if b"[secret:" in word or len(value) < 6 or not mixed(value) or refers(value):
        return None
    return None if _NO_SECRET.fullmatch(value) is not None else value


def _odd(value: bytes) -> bool:
    """Whether it mixes cases with signs, or with digits in one run: nothing else is written so."""
    cased = value.lower() != value != value.upper()
    return cased and (b"-" not in value or any(bytes([sign]) in value for sign in _SIGNS))
