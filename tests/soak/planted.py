"""Secrets that nobody ever had: one of each shape, and the ways in which they stand in texts."""

from __future__ import annotations

import base64
import json
import string
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from random import Random

from nightschool.rules.secret_shapes import SHAPES, Shape

CLASSES = {
    "A-Z": string.ascii_uppercase,
    "a-z": string.ascii_lowercase,
    "a-f": "abcdef",
    "0-9": string.digits,
}
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


@cache
def letters(body: str) -> str:
    """The characters that a shape's class allows."""
    rest, found = body, ""
    for written, allowed in CLASSES.items():
        if written in rest:
            rest, found = rest.replace(written, ""), found + allowed
    return found + rest


def body(random: Random, allowed: str, least: int) -> str:
    """With digits and letters in it, as nearly every key has; no sign at its ends, as few have."""
    signs = letters(allowed)
    plain = "".join(sign for sign in signs if sign.isalnum())
    letter = "".join(sign for sign in plain if sign.isalpha())
    middle = "".join(random.choices(signs, k=least + random.randrange(20)))
    return f"{random.choice(letter)}{random.choice(string.digits)}{middle}{random.choice(plain)}"


def token(random: Random, shape: Shape | None = None) -> str:
    """A provider's token that stands for itself, wherever it is."""
    shape = shape or random.choice(SHAPES)
    return shape.prefix + body(random, shape.body, shape.least)


def _word(random: Random, least: int = 10) -> str:
    return body(random, "A-Za-z0-9", least)


def _bare(random: Random) -> Planted:
    shape = random.choice(SHAPES)
    found = token(random, shape)
    return Planted(kind="token", text=found, core=found.removeprefix(shape.prefix))


def _assigned(random: Random) -> Planted:
    name = random.choice(("DB_PASSWORD", "API_KEY", "client_secret", "AWS_SECRET_ACCESS_KEY", "authToken"))
    core = _word(random)
    form = random.choice(
        ("{n}={c}", "export {n}={c}", "{n}: {c}", '{n} = "{c}"', "{n}='{c}'", '{{"{n}": "{c}"}}')
    )
    return Planted(kind="assignment", text=form.format(n=name, c=core), core=core)


def _header(random: Random) -> Planted:
    core = _word(random, 20)
    form = random.choice(
        ("Authorization: Bearer {c}", "curl -H 'Authorization: Bearer {c}' x", "Cookie: sid={c}")
    )
    return Planted(kind="header", text=form.format(c=core), core=core)


def _url(random: Random) -> Planted:
    core = _word(random)
    form = random.choice(
        ("https://bob:{c}@example.org/x", "postgres://app:{c}@db:5432/x", "https://h/p?access_token={c}&x=1")
    )
    return Planted(kind="URL", text=form.format(c=core), core=core)


def _jwt(random: Random) -> Planted:
    head = base64.urlsafe_b64encode(b'{"alg":"HS256"}').decode().rstrip("=")
    claims = base64.urlsafe_b64encode(json.dumps({"sub": _word(random)}).encode()).decode().rstrip("=")
    core = _word(random, 40)
    return Planted(kind="JWT", text=f"{head}.{claims}.{core}", core=core)


def _key(random: Random) -> Planted:
    lines = ["".join(random.choices(string.ascii_letters + string.digits + "+/", k=64)) for _ in range(4)]
    kind = random.choice(("RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY"))
    whole = "\n".join((f"-----BEGIN {kind}-----", *lines, f"-----END {kind}-----"))
    return Planted(kind="private key", text=whole, core=random.choice(lines))


KINDS: tuple[Callable[[Random], Planted], ...] = (_bare, _bare, _bare, _assigned, _header, _url, _jwt, _key)


def planted(random: Random) -> Planted:
    return random.choice(KINDS)(random)


def prose(random: Random, most: int = 30) -> str:
    return " ".join(random.choices(WORDS, k=random.randrange(most)))
