"""Judges a name and a value: is what stands under this name a secret? Relieves `secret_scan`, which only
finds the two."""

from __future__ import annotations

import base64
from functools import lru_cache
from itertools import pairwise

import re2

_WORDS = re2.compile(rb"[A-Z]+[a-z]*|[a-z]+|[0-9]+")
_SECRET_WORDS = frozenset(
    [
        "pass",
        "smtppass",
        "userpass",
        "rootpass",
        "adminpass",
        "wachtwoord",
        "password",
        "passwd",
        "passwort",
        "kennwort",
        "senha",
        "contrasena",
        "pwd",
        "passphrase",
        "secret",
        "secrets",
        "token",
        "apikey",
        "credential",
        "credentials",
        "authorization",
        "accesskey",
        "secretkey",
        "privatekey",
        "authkey",
        "pgpassword",
        "mysqlpwd",
        "authtoken",
        "accesstoken",
        "dbpassword",
        "dbpass",
        "creds",
    ]
)
_KEY_OF = frozenset(
    [
        "api",
        "access",
        "account",
        "private",
        "auth",
        "encryption",
        "signing",
        "master",
        "license",
        "service",
        "storage",
        "secret",
        "app",
        "application",
        "client",
        "consumer",
        "session",
        "admin",
        "ingest",
        "subscription",
        "webhook",
        "deploy",
        "shared",
        "hmac",
        "jwt",
        "preshared",
        "symmetric",
    ]
)
_TAIL = frozenset(
    [
        "base",
        "value",
        "val",
        "hash",
        "salt",
        "old",
        "new",
        "current",
        "prod",
        "production",
        "dev",
        "staging",
        "test",
        "live",
        "data",
    ]
)
"""Words that may follow the secret word: `SECRET_KEY_BASE`, `password_hash`, `client-key-data`."""


@lru_cache(maxsize=4096)
def is_secret_name(name: bytes) -> bool:
    """Whether a variable, key or option of this name holds a secret.

    `DB_PASSWORD`, `apiKey`, `client-secret` do; `max_tokens`, `token_count`, `secretName`, `tokenizer` don't.
    """
    words = [word.lower().decode("ascii") for word in _WORDS.findall(name)]
    while words and (words[-1].isdigit() or (len(words) > 1 and words[-1] in _TAIL and words[-1] != "key")):
        words.pop()
    if not words:
        return False
    if words[-1] in _SECRET_WORDS:
        return True
    return words[-1] == "key" and len(words) > 1 and (words[-2] in _KEY_OF or words[-2] in _SECRET_WORDS)


_STANDS_FOR = re2.compile(
    rb"(?i)(?:your[-_ .].*|#[0-9a-f]{3,8}"
    rb"|change[-_]?(?:me|it|this)"
    rb"|(?:x|X|\*|\.|-|_|0|\?|#|\xe2\x80\xa2|\xe2\x80\xa6)+"
    rb"|(?:db|user|old|new|my)?[-_]?(?:pass(?:word|wd|phrase|code)?|pwd|secret|token|key|auth)s?"
    rb"|(?:my)?[-_]?(?:api[-_]?key|credential)s?"
    rb"|(?:secret|api|access|private|auth)[-_](?:key|token|value)|(?:access|refresh|bearer)[-_]?tokens?"
    rb"|none|null|nil|true|false|undefined|str|string|text|int|integer|number|any|object"
    rb"|(?:u?int|float|bytes|string|varchar|char|bool(?:ean)?|sha|md|hs|rs|es|utf-?|base|[iuv])[0-9]{0,4}"
    rb"|optional|required|missing|invalid|unknown|empty|hidden|masked|disabled|enabled|basic|bearer|digest"
    rb"|default|value|test|todo|tbd|n/a|off|on|yes|no|env|file|inherit|write|read)"
)
_SEEMS_TO = re2.compile(
    rb"(?i)(?:(?:my|the|some|an?|this|insert|replace|enter|put|add|fake|dummy|sample)[-_ .].*"
    rb"|.*[-_.](?:here|placeholder|goes-here)|.*example.*|.*placeholder.*|.*redacted.*"
    rb"|change[-_]?(?:me|it|this).*)"
)
"""What may as well be a part of a password: with digits in it, it is taken for one."""


@lru_cache(maxsize=4096)
def stands_for_nothing(value: bytes) -> bool:
    """Whether a value is a placeholder, a reference, a type or a masked secret rather than a secret."""
    if value[:1] in b"$<{%[(@" or b"[secret:" in value or b"${" in value or b"{{" in value:
        return True
    if _STANDS_FOR.fullmatch(value) is not None:
        return True
    return _SEEMS_TO.fullmatch(value) is not None and not mixed(value)


_PASSWORDS = ("password", "passwd", "passphrase", "pwd", "dbpass")


def is_password_name(name: bytes) -> bool:
    """Whether a person may have chosen the value: short and without digits is a secret there too."""
    lower = name.lower().decode("latin-1")
    # `PASS=12` counts tests.
    return any(word in lower for word in _PASSWORDS) or (len(lower) > 4 and lower.endswith("pass"))


def mixed(value: bytes) -> bool:
    """Whether it holds a digit and a letter: what nearly every secret does and few words do."""
    return value.translate(None, _DIGITS) != value != value.translate(None, _LETTERS)


_DIGITS = b"0123456789"
_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

_REFERENCE = re2.compile(rb"[A-Za-z_$][A-Za-z0-9_]*(?:(?:\.|->|::)[A-Za-z_$][A-Za-z0-9_]*)+")


def refers(value: bytes) -> bool:
    return stands_for_nothing(value) or _REFERENCE.fullmatch(value) is not None


_PATH = re2.compile(rb"[~.]{0,2}/[A-Za-z0-9_./-]*\.[A-Za-z0-9]{2,5}|[~.]{0,2}(?:/[a-z0-9_.-]+){2,8}")


def _is_folder(name: bytes, value: bytes) -> bool:
    """`PWD=/home/sam` is where a shell stands, `client_key: ./tls/client2.key` where a key lies."""
    if not value.startswith((b"/", b"~", b".")):
        return False
    return name[-3:].lower() == b"pwd" or (name[-3:].lower() == b"key" and _PATH.fullmatch(value) is not None)


@lru_cache(maxsize=4096)
def secret_when_quoted(name: bytes, value: bytes) -> bool:
    """Whether a quoted value under a secret-like name is the secret itself."""
    if len(value) < 4 or stands_for_nothing(value) or _is_folder(name, value):
        return False
    if b" " in value or b"\n" in value:
        return b"phrase" in name.lower() or (len(value) <= 64 and mixed(value) and name.isupper())
    if is_password_name(name):
        return len(value) >= 6 or mixed(value)
    return len(value) >= 8 and (mixed(value) or len(value) >= 24)


@lru_cache(maxsize=4096)
def secret_when_bare(name: bytes, value: bytes, *, env: bool) -> bool:
    """Whether an unquoted value under a secret-like name is the secret itself, not code or prose."""
    if len(value) < 4 or refers(value) or b"(" in value or _is_folder(name, value):
        return False
    if env:
        return not value.isdigit() or is_password_name(name)
    return mixed(value) and len(value) >= (6 if is_password_name(name) else 8)


_ORDINARY = """
    id ids uuid guid hash sha md integrity checksum digest etag commit rev revision version ver tag build
    fingerprint thumbprint nonce url uri path file filename dir folder name image src href public pub pubkey
    signature sig anchor class selector cursor page snapshot content data text message body icon font color
    host domain email user username ref branch model type format charset alphabet chars alpha letters digits
    base regexp pattern
"""
_NEVER = frozenset(_ORDINARY.split())
"""What a name ends with that holds what looks random and is no secret."""
_DOUBTFUL = """
    key auth cred creds jwt sas psk pat otp totp seed mnemonic bearer cookie sid session dsn
"""
_WEAK = frozenset(_DOUBTFUL.split())
"""Names that a secret often has, and much else too: what stands there must look random."""
_KEYS_TO_NOTHING = """
    cache primary foreign sort partition public index unique lookup hash map object row group order
"""
_SOME_KEY = frozenset(_KEYS_TO_NOTHING.split())
_PUBLIC_KEYS = (b"MFkwEwYHKoZIzj0", b"MHYwEAYHKoZIzj0", b"MIIBIjANBgkqhkiG9w0", b"MCowBQYDK2Vw")
"""How public keys begin, where only their lines stand."""
_LEAST_RANDOM, _MOST_RANDOM = 20, 256
_UUID = re2.compile(rb"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}")
_HEX = re2.compile(rb"[0-9a-f]{32,}|[0-9A-F]{32,}")
_KINDS = bytes(
    0x30 if 48 <= byte <= 57 else 0x41 if 65 <= byte <= 90 else 0x61 if 97 <= byte <= 122 else 0x2D
    for byte in range(256)
)
"""Digit, capital, small letter, sign."""
_WORD_IN_IT = re2.compile(rb"a{8}|A{8}|0{10}")


@lru_cache(maxsize=4096)
def secret_when_random(name: bytes, value: bytes, *, env: bool) -> bool:
    """Whether what stands under a name that says little is a secret by looking random.

    Digests, ids, words and paths do not: a digest has one case, words are long, a path has its signs.
    """
    words = [word.lower().decode("ascii") for word in _WORDS.findall(name)]
    while len(words) > 1 and (words[-1].isdigit() or words[-1] in _TAIL - _NEVER):
        words.pop()
    if not words or words[-1] in _NEVER or not _LEAST_RANDOM <= len(value) <= _MOST_RANDOM:
        return False
    weak = words[-1] in _WEAK and not _SOME_KEY.intersection(words)
    spelt = _spelt(value)
    if value.startswith(_PUBLIC_KEYS):
        return False
    if _UUID.fullmatch(value) is not None or stands_for_nothing(value) or spelt:
        return weak and b":" in spelt  # `"auth": "<base64 of name:password>"`
    if weak and env and _HEX.fullmatch(value) is not None:
        return True
    kinds = value.translate(_KINDS)
    if _WORD_IN_IT.search(kinds) is not None or kinds.rstrip(b"-").count(b"-") * 6 > len(kinds):
        return False
    beside = [pair for pair in pairwise(kinds) if 0x2D not in pair]
    numbered = sum((one == 0x30) != (other == 0x30) for one, other in beside)
    cased = sum({one, other} == {0x41, 0x61} for one, other in beside)
    return numbered >= (3 if weak else 4) and (cased >= 3 or (weak and numbered >= 5))


def _spelt(value: bytes) -> bytes:
    """The plain text that it is base64 of, which hides nothing; b"" where it is none."""
    try:
        plain = base64.b64decode(value, validate=True)
    except ValueError:
        return b""
    return plain if plain.isascii() and plain.decode("ascii").isprintable() else b""
