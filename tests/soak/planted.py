"""Secrets that nobody ever had: one of each shape, and the ways in which they stand in texts."""

from __future__ import annotations

import base64
import json
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

from nightschool.rules.secret_services import MARKED, SHAPES, Around, Shape, letters

WORDS = [
    "the",
    "tests",
    "fail",
    "again",
    "use",
    "pnpm",
    "not",
    "npm",
    "because",
    "limiter",
    "token",
    "bucket",
    "is",
    "shared",
    "between",
    "requests",
    "look",
    "at",
    "src/limiter.ts",
    "and",
    "ledger/reports.py",
    "please",
    "Größe",
    "naïve",
    "漢字",
    "日本",
    "🙂",
    "def",
    "return",
    "None",
    "self.tokens",
    "8080",
    "v1.2.3",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """A text with a secret in it; `core` is what must be gone."""

    kind: str
    text: str
    core: str


def body(random: Random, allowed: str, least: int) -> str:
    """With digits and letters in it, as nearly every key has; no sign at its ends, as few have."""
    signs = letters(allowed)
    plain = "".join(sign for sign in signs if sign.isalnum())
    letter = "".join(sign for sign in plain if sign.isalpha())
    middle = "".join(random.choices(signs, k=least + random.randrange(20)))
    return f"{random.choice(letter)}{random.choice(string.digits)}{middle}{random.choice(plain)}"


def token(random: Random, shape: Shape | None = None) -> str:
    """A provider's token that stands for itself, wherever it is."""
    return (shape or random.choice(SHAPES)).example(random, random.randrange(20))


def _word(random: Random, least: int = 10) -> str:
    return body(random, "A-Za-z0-9", least)


def _scrambled(random: Random) -> str:
    """What no one takes for words: the kinds of signs change often."""
    return "".join(
        random.choice(signs) for signs in (string.ascii_lowercase, string.digits, string.ascii_uppercase) * 8
    ) + random.choice(string.ascii_lowercase)


def _shaped(shape: Shape | Around) -> Callable[[Random], Planted]:
    def planted(random: Random) -> Planted:
        found = shape.example(random, random.randrange(20))
        core = found.removeprefix(shape.prefix) if isinstance(shape, Shape) else found
        return Planted(kind="token", text=found, core=core)

    return planted


def _formed(kind: str, make: Callable[[Random], str], *forms: str) -> Callable[[Random], Planted]:
    """A secret in one of the forms in which it stands; `{c}` is the secret."""

    def planted(random: Random) -> Planted:
        core = make(random)
        return Planted(kind=kind, text=random.choice(forms).replace("{c}", core), core=core)

    return planted


def _assigned(random: Random) -> Planted:
    name = random.choice(("DB_PASSWORD", "API_KEY", "client_secret", "AWS_SECRET_ACCESS_KEY", "authToken"))
    core = _word(random)
    form = random.choice(
        ("{n}={c}", "export {n}={c}", "{n}: {c}", '{n} = "{c}"', "{n}='{c}'", '{{"{n}": "{c}"}}')
    )
    return Planted(kind="assignment", text=form.format(n=name, c=core), core=core)


def _jwt(random: Random) -> Planted:
    head = base64.urlsafe_b64encode(b'{"alg":"HS256"}').decode().rstrip("=")
    claims = base64.urlsafe_b64encode(json.dumps({"sub": _word(random)}).encode()).decode().rstrip("=")
    core = _word(random, 40)
    return Planted(kind="JWT", text=f"{head}.{claims}.{core}", core=core)


def _lines(random: Random) -> list[str]:
    return ["".join(random.choices(string.ascii_letters + string.digits + "+/", k=64)) for _ in range(4)]


def _key(random: Random) -> Planted:
    lines = _lines(random)
    kind = random.choice(("RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY"))
    whole = "\n".join((f"-----BEGIN {kind}-----", *lines, f"-----END {kind}-----"))
    return Planted(kind="private key", text=whole, core=random.choice(lines))


def _unended_key(random: Random) -> Planted:
    lines = _lines(random)
    text = "\n".join(("-----BEGIN EC PRIVATE KEY-----", *lines))
    return Planted(kind="private key without an end", text=text, core=random.choice(lines))


def _encoded_key(random: Random) -> Planted:
    text = base64.b64encode(_key(random).text.encode()).decode()
    return Planted(kind="private key in base64", text=f"file: {text}", core=text[60:120])


def _putty_key(random: Random) -> Planted:
    lines = _lines(random)
    text = "\n".join(("Private-Lines: 4", *lines, "Private-MAC: 0"))
    return Planted(kind="key of PuTTY", text=text, core=random.choice(lines))


def _card(random: Random) -> Planted:
    digits = [4, *(random.randrange(10) for _ in range(14))]
    doubled = (2 * digit - 9 * (digit > 4) if at % 2 == 0 else digit for at, digit in enumerate(digits))
    number = "".join(map(str, digits)) + str(-sum(doubled) % 10)
    core = " ".join(number[at : at + 4] for at in range(0, 16, 4)) if random.random() < 0.5 else number
    return Planted(kind="card", text=f"card {core}.", core=core)


def _account(random: Random) -> Planted:
    number = "".join(random.choices(string.digits, k=18))
    check = 98 - int(f"{number}131400") % 97
    return Planted(kind="account", text=f"to DE{check:02}{number}, please", core=number)


def _hex(random: Random, length: int = 64) -> str:
    return "".join(random.choices("0123456789abcdef", k=length))


_BASE64 = "A-Za-z0-9+/"
_NAMED: Mapping[str, Callable[[Random], Planted]] = {
    "assignment": _assigned,
    "random assignment": _formed(
        "random assignment", _scrambled, "const unlock = '{c}';", "UNLOCK={c}\n", '{"unlock": "{c}"}'
    ),
    "digest as a key": _formed("digest as a key", _hex, "DD_APP_KEY={c}\n", "export SOME_SERVICE_KEY={c}\n"),
    "spoken": _formed("spoken", _word, "the password is {c}", "Passwort lautet {c}", "mot de passe : {c}"),
    "header": _formed(
        "header",
        lambda random: _word(random, 20),
        "Authorization: Bearer {c}",
        "curl -H 'Authorization: Bearer {c}' x",
        "X-Api-Key: {c}",
        "Authorization: SSWS {c}",
    ),
    "cookie": _formed(
        "cookie",
        lambda random: _word(random, 20),
        "Cookie: sid={c}",
        "Set-Cookie: sid={c}; HttpOnly",
        "curl -b 'sid={c}' x",
        "a.example\tTRUE\t/\tTRUE\t0\tsid\t{c}\n",
    ),
    "URL": _formed("URL", _word, "https://bob:{c}@example.org/x", "https://h/p?access_token={c}&x=1"),
    "database": _formed(
        "database",
        _word,
        "postgres://app:{c}@db:5432/x",
        "Server=x;Uid=app;Pwd={c};",
        "app:{c}@tcp(127.0.0.1:3306)/shop",
        "jdbc:oracle:thin:app/{c}@//db:1521/x",
        "localhost:5432:shop:app:{c}\n",
    ),
    "option": _formed(
        "option",
        _word,
        "mysql -p{c} x",
        "sshpass -p {c} ssh x",
        "curl -u bob:{c} http://x",
        "login --password={c}",
    ),
    "netrc": _formed("netrc", _word, "machine x login bob password {c}\n"),
    "storage of Azure": _formed(
        "storage of Azure",
        lambda random: body(random, _BASE64, 40),
        "https://a.blob.core.windows.net/c?sv=1&sig={c}%3D",
        "AccountName=x;AccountKey={c}==;End",
    ),
    "storage of AWS": _formed(
        "storage of AWS", _hex, "https://b.s3.amazonaws.com/k?X-Amz-Expires=9&X-Amz-Signature={c}"
    ),
    "storage of Google": _formed(
        "storage of Google",
        lambda random: _hex(random, 512),
        "https://storage.googleapis.com/b/o?X-Goog-Signature={c}",
    ),
    "password hash": _formed("password hash", lambda random: _word(random, 50), "root:$6$saltsalt${c}:18"),
    "JWT": _jwt,
    "private key": _key,
    "private key without an end": _unended_key,
    "private key in base64": _encoded_key,
    "key of PuTTY": _putty_key,
    "card": _card,
    "account": _account,
    "address": _formed("address", lambda random: _word(random, 8), "mail {c}@corp.io, please"),
    "telegram": _formed("telegram", lambda random: body(random, "A-Za-z0-9", 30)[:33], "1234567890:AA{c}"),
    "discord": _formed(
        "discord", lambda random: body(random, "A-Za-z0-9", 30)[:27], "MTIzNDU2Nzg5MDEyMzQ1Njc4.GaBcDe.{c}"
    ),
}
KINDS: Mapping[str, Callable[[Random], Planted]] = {
    **{f"{shape.kind}: {shape.prefix}": _shaped(shape) for shape in SHAPES},
    **{f"{shape.kind}: {shape.mark}": _shaped(shape) for shape in MARKED},
    **_NAMED,
}
"""Every kind of secret that is known: each shape of the table, and each way in which one is named."""


def planted(random: Random) -> Planted:
    """As they occur: the keys of services are many, but no more than half of what is met."""
    return random.choice(list((_NAMED if random.random() < 0.6 else KINDS).values()))(random)


def prose(random: Random, most: int = 30) -> str:
    return " ".join(random.choices(WORDS, k=random.randrange(most)))
