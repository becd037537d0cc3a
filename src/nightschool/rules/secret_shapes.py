"""What secrets look like: token shapes of providers, and names whose values are secret.

A table, no logic of scanning. Each shape needs only a bounded look ahead, so that all of them
together are one scan in linear time (see `redaction`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import re2

WORD = "A-Za-z0-9_-"
ALNUM = "A-Za-z0-9"
UPPER = "A-Z0-9"
HEX = "0-9a-f"
BASE64 = "A-Za-z0-9+/="
DOTTED = "A-Za-z0-9_.-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A token that is known by how it begins: a fixed prefix, then at least `least` of `body`.

    `mixed`: the rest must hold a digit and a letter, for prefixes that ordinary words have too.
    """

    kind: str
    prefix: str
    least: int
    body: str = WORD
    mixed: bool = False


def _shapes(kind: str, least: int, body: str, *prefixes: str, mixed: bool = False) -> list[Shape]:
    return [Shape(kind=kind, prefix=p, least=least, body=body, mixed=mixed) for p in prefixes]


SHAPES: tuple[Shape, ...] = (
    *_shapes("anthropic", 16, WORD, "sk-ant-"),
    *_shapes("openai", 16, WORD, "sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-", mixed=True),
    *_shapes("openrouter", 16, WORD, "sk-or-v1-"),
    *_shapes("langfuse", 16, WORD, "sk-lf-", mixed=True),
    *_shapes("openai", 20, ALNUM, "sk-", mixed=True),
    *_shapes("github", 16, "A-Za-z0-9_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", mixed=True),
    *_shapes(
        "gitlab", 16, WORD, "glpat-", "gldt-", "glptt-", "glrt-", "glcbt-", "glsoat-", "glft-", "gloas-"
    ),
    *_shapes("aws", 16, UPPER, "AKIA", "ASIA", "ABIA", "ACCA"),
    *_shapes("google", 30, WORD, "AIza", mixed=True),
    *_shapes("google", 20, DOTTED, "ya29.", "GOCSPX-"),
    *_shapes(
        "slack", 10, WORD, "xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xoxc-", "xoxd-", "xapp-"
    ),
    *_shapes("slack", 20, "A-Za-z0-9_/", "hooks.slack.com/services/T", "hooks.slack.com/workflows/T"),
    *_shapes("stripe", 16, ALNUM, "sk_live_", "rk_live_", "sk_test_", "rk_test_", "sk_org_"),
    *_shapes("stripe", 20, BASE64, "whsec_"),
    *_shapes("npm", 30, ALNUM, "npm_", mixed=True),
    *_shapes("huggingface", 20, ALNUM, "hf_", "api_org_", mixed=True),
    *_shapes("pypi", 32, WORD, "pypi-", mixed=True),
    *_shapes("sendgrid", 32, DOTTED, "SG.", mixed=True),
    *_shapes("digitalocean", 32, HEX, "dop_v1_", "doo_v1_", "dor_v1_"),
    *_shapes("twilio", 32, HEX, "SK", "AC"),
    *_shapes("discord", 60, "A-Za-z0-9_/-", "discord.com/api/webhooks/", "discordapp.com/api/webhooks/"),
    *_shapes("azure", 20, BASE64 + "%", "sig=", "AccountKey=", "SharedAccessKey=", mixed=True),
    *_shapes("shopify", 32, ALNUM, "shpat_", "shpca_", "shppa_", "shpss_"),
    *_shapes("square", 22, WORD, "sq0atp-", "sq0csp-"),
    *_shapes("mailgun", 32, HEX, "key-"),
    *_shapes("mailgun", 30, ALNUM, "pubkey-", mixed=True),
    *_shapes("databricks", 32, HEX, "dapi"),
    *_shapes("planetscale", 30, DOTTED, "pscale_tkn_", "pscale_pw_", "pscale_oauth_"),
    *_shapes("linear", 32, ALNUM, "lin_api_", "lin_oauth_"),
    *_shapes("notion", 40, ALNUM, "secret_", "ntn_", mixed=True),
    *_shapes("figma", 30, WORD, "figd_", "figu_", mixed=True),
    *_shapes("netlify", 32, ALNUM, "nfp_", mixed=True),
    *_shapes("heroku", 30, WORD, "HRKU-"),
    *_shapes("doppler", 40, DOTTED, "dp.pt.", "dp.st.", "dp.ct.", "dp.sa."),
    *_shapes("postman", 40, WORD, "PMAK-"),
    *_shapes("newrelic", 24, UPPER, "NRAK-", "NRJS-"),
    *_shapes("grafana", 30, "A-Za-z0-9_+/=", "glsa_", "glc_", mixed=True),
    *_shapes("sentry", 40, "A-Za-z0-9_+/=", "sntrys_", "sntryu_"),
    *_shapes("supabase", 30, ALNUM, "sbp_", mixed=True),
    *_shapes("supabase", 20, WORD, "sb_secret_", mixed=True),
    *_shapes("replicate", 32, ALNUM, "r8_", mixed=True),
    *_shapes("groq", 40, ALNUM, "gsk_", mixed=True),
    *_shapes("xai", 60, ALNUM, "xai-", mixed=True),
    *_shapes("perplexity", 32, ALNUM, "pplx-", mixed=True),
    *_shapes("tavily", 24, WORD, "tvly-", mixed=True),
    *_shapes("langsmith", 32, "A-Za-z0-9_", "lsv2_pt_", "lsv2_sk_"),
    *_shapes("pinecone", 32, "A-Za-z0-9_", "pcsk_", mixed=True),
    *_shapes("atlassian", 40, "A-Za-z0-9_=-", "ATATT3", "ATCTT3"),
    *_shapes("bitbucket", 24, ALNUM, "ATBB", mixed=True),
    *_shapes("vault", 24, WORD, "hvs.", "hvb.", "hvr.", mixed=True),
    *_shapes("onepassword", 60, "A-Za-z0-9_+/=-", "ops_eyJ"),
    *_shapes("age", 40, UPPER, "AGE-SECRET-KEY-1"),
    *_shapes("docker", 20, WORD, "dckr_pat_", "dckr_oat_", mixed=True),
    *_shapes("rubygems", 40, HEX, "rubygems_"),
    *_shapes("tailscale", 16, WORD, "tskey-api-", "tskey-auth-", "tskey-client-", "tskey-scim-", mixed=True),
    *_shapes("fly", 40, BASE64 + ",_", "fm2_", "fm1r_", mixed=True),
    *_shapes("circleci", 30, "A-Za-z0-9_", "CCIPAT_", "CCIPRJ_", mixed=True),
    *_shapes("contentful", 40, WORD, "CFPAT-"),
    *_shapes("dynatrace", 40, "A-Z0-9.", "dt0c01."),
    *_shapes("pulumi", 40, HEX, "pul-"),
    *_shapes("prefect", 32, ALNUM, "pnu_", mixed=True),
    *_shapes("brevo", 40, WORD, "xkeysib-", "xsmtpsib-", mixed=True),
    *_shapes("readme", 60, ALNUM, "rdme_", mixed=True),
    *_shapes("typeform", 40, DOTTED, "tfp_", mixed=True),
    *_shapes("vercel", 20, ALNUM, "vcp_", "vci_", "vca_", "vercel_blob_rw_", mixed=True),
    *_shapes("cloudflare", 40, WORD, "cfut_", "cfat_", mixed=True),
    *_shapes("artifactory", 40, ALNUM, "AKCp", mixed=True),
    *_shapes("facebook", 60, ALNUM, "EAACEdEose0cBA", "EAAG", mixed=True),
)

NAME = (
    r"(?i:passw(?:or[dt]|d)|kennwort|wachtwoord|senha|contrasena|pass(?:phrase)?|pwd|secret|token|credential"
    r"|authorization"
    r"|(?:api|access|account|private|auth|encryption|signing|master|license|service|storage)[_-]?key)"
)
"""How a secret-like name is found; `is_secret_name` then judges the whole name."""

SPOKEN_NAME = (
    r"(?i:mot[ _-]de[ _-]passe|contrase(?:\xc3[\xb1\x91]|n\xcc\x83)a|l(?:\xc3[\xb6\x96]|o)senord"
    r"|has\xc5[\x82\x81]o|(?:api|access|secret|private|signing|license)[ ]key"
    r"|\xd0[\xbf\x9f]\xd0\xb0\xd1\x80\xd0\xbe\xd0\xbb\xd1\x8c|\xe5\xaf\x86\xe7\xa0\x81)"
)
"""What a person calls a secret, in words that no variable is named by: all of it is secret."""
IS = r"(?i:is|was|ist|war|lautet|lautete|est|es|\xc3\xa8|\xc3\xa9)"

OPTION_OF = {
    b"a": re2.compile(rb"\bredis-cli\b"),
    b"p": re2.compile(rb"\b(?:sshpass|mongo\w*|login)\b"),
    b"w": re2.compile(rb"\bldap\w+\b"),
}
"""Commands that take a password by an option of one letter."""
ATTACHED_OF = re2.compile(rb"\b(?:mysql\w*|mariadb\S*|mycli|sshpass)\b")
"""Those that take it behind `-p` without a blank."""

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
    ]
)
"""Words that may follow the secret word: `SECRET_KEY_BASE`, `password_hash`, `TOKEN_PROD`."""


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


def finder_pattern() -> bytes:
    """One pattern for all that could be a secret. Each branch ends after a bounded number of bytes."""
    heads: dict[tuple[str, int], list[str]] = {}
    for shape in SHAPES:
        heads.setdefault((shape.body, shape.least), []).append(re2.escape(shape.prefix))
    tokens = [
        f"(?:{'|'.join(prefixes)})[{body}]{{{least}}}" for (body, least), prefixes in sorted(heads.items())
    ]
    quote = r"""["'\\`]{0,8}"""  # escaped as often as JSON lies in JSON
    scheme = quote + "(?i:bearer|basic|token|bot|apikey|digest)"
    parts = [
        r"\[secret:[a-z]{1,24}:[0-9a-f]{6}\]",
        r"-----(?:BEGIN|END) [A-Z0-9 ]{0,32}PRIVATE KEY",
        *tokens,
        r"eyJ[A-Za-z0-9_-]{10}",
        r"""://[^\s/@:"'<>\\`]*:[^\s/@"'<>\\`]*@""",
        r"://[A-Za-z0-9_-]{20,}@",
        rf"(?i:authorization){quote}[ \t]{{0,2}}[:=][ \t]{{0,2}}{scheme}[ \t]{{1,4}}[A-Za-z0-9._~+/=-]{{6}}",
        r"(?i:bearer)[ \t]{1,4}[A-Za-z0-9._~+/=-]{16}",
        rf"(?i:cookie){quote}[ \t]?[:=][ \t]{{0,2}}{quote}[A-Za-z0-9_.%-]{{1,64}}=[^\s;\"'\\]{{4}}",
        rf"{NAME}[A-Za-z0-9_-]{{0,16}}{quote}\]?[ \t]{{0,3}}(?:=>|:?=|[:>])[ \t]{{0,3}}[^\s=>]\S{{3}}",
        rf"--[a-z-]{{0,24}}{NAME}[a-z-]{{0,12}}[ \t]{{1,4}}[^\s-]",
        rf"{SPOKEN_NAME}{quote}[ \t]{{0,2}}(?:{IS}[ \t]|[:=])[ \t:]{{0,2}}{quote}[^\s]{{6}}",
        rf"{NAME}[ \t]{{1,2}}{IS}[ \t:]{{1,2}}[^\s]{{6}}",
        r"(?i:token|passw(?:or[dt]|d)|api[ _-]?key|secret)[ \t]{1,2}[A-Za-z0-9][^\s=:]{7}",
        r"""[ \t]-[apw][ \t]{0,4}["']?[^\s"']{3}""",
        r"[A-Z]{2}[0-9]{2} ?[A-Z0-9]{4} ?[A-Z0-9]{4} ?[A-Z0-9]{3}",
        r"""[ \t](?:-u|--user)[ \t=]?["']?[A-Za-z0-9_.@-]{1,64}:[^\s"'$:/\\]{4}""",
        r"@[A-Za-z0-9][A-Za-z0-9-]*\.[A-Za-z0-9]",
        r":AA[A-Za-z0-9_-]{33}",
        r"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}",
        r"[2-6][0-9]{3}(?:[ -]?[0-9]){9,15}",
    ]
    return "|".join(parts).encode("ascii")


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


def _is_folder(name: bytes, value: bytes) -> bool:
    """`PWD=/home/sam` is where a shell stands."""
    return name[-3:].lower() == b"pwd" and value[:1] in b"/~."


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


_CARDS = tuple(
    re2.compile(pattern)
    for pattern in (
        rb"[2-6][0-9]{3}[ -][0-9]{4}[ -][0-9]{4}[ -][0-9]{4}",
        rb"3[47][0-9]{2}[ -][0-9]{6}[ -][0-9]{5}",
        rb"[2-6][0-9]{12,18}",
    )
)
_NETWORKS = re2.compile(
    rb"4[0-9]{12}(?:[0-9]{3}){0,2}|5[1-5][0-9]{14}|2(?:2[2-9]|[3-6][0-9]|7[01])[0-9]{13}|2720[0-9]{12}"
    rb"|3[47][0-9]{13}|6(?:011|5[0-9]{2}|4[4-9][0-9])[0-9]{12}|35[0-9]{14}|3(?:0[0-5]|[68][0-9])[0-9]{11}"
    rb"|62[0-9]{14,17}"
)


def is_card_number(text: bytes, start: int) -> int:
    """The length of the card number that begins here and ends at no further digit; 0 where none does."""
    for pattern in _CARDS:
        found = pattern.match(text, start)
        if found is None or text[found.end() : found.end() + 1].isalnum():
            continue
        digits = found.group().translate(None, b" -")
        if _NETWORKS.fullmatch(digits) is not None and _luhn(digits):
            return int(found.end() - start)
    return 0


_IBAN_LENGTHS: dict[bytes, int] = {
    country.encode(): length
    for length, countries in {
        15: "NO",
        16: "BE",
        18: "DK FO FI GL NL SD",
        19: "MK SI",
        20: "AT BA EE KZ LT LU MN XK",
        21: "CH HR LI LV",
        22: "BG BH CR DE GB GE IE ME RS VA",
        23: "AE GI IL IQ OM SO TL",
        24: "AD CZ DJ ES MD PK RO SA SE SK TN VG",
        25: "LY PT ST",
        26: "IS TR",
        27: "BI FR GR IT MC MR SM",
        28: "AL AZ BY CY DO GT HU LB NI PL SV",
        29: "BR EG PS QA UA",
        30: "JO KW MU",
        31: "MT SC",
        32: "LC",
        33: "RU",
    }.items()
    for country in countries.split()
}
_IBAN_RUN = re2.compile(rb"[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]){11,30}")


def is_account_number(text: bytes, start: int) -> int:
    """The length of the IBAN that begins here and ends at no further letter or digit; 0 where none does."""
    length = _IBAN_LENGTHS.get(text[start : start + 2], 0)
    found = _IBAN_RUN.match(text[start : start + 48])
    if not length or found is None:
        return 0
    run = found.group()
    ends = [at + 1 for at in range(len(run)) if run[at] != 0x20]
    if len(ends) < length or text[start + ends[length - 1] : start + ends[length - 1] + 1].isalnum():
        return 0
    at = ends[length - 1]
    piece = run[:at]
    plain = piece.replace(b" ", b"")
    digits = "".join(str(int(letter, 36)) for letter in (plain[4:] + plain[:4]).decode("ascii"))
    return at if int(digits) % 97 == 1 else 0


def _luhn(digits: bytes) -> bool:
    total = 0
    for index, byte in enumerate(reversed(digits)):
        value = byte - 48
        if index % 2:
            value = 2 * value - 9 * (value > 4)
        total += value
    return total % 10 == 0
