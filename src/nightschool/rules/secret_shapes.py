"""Where in a text a secret could stand: one pattern for all places, and what is known of names and commands.

A table, no logic of scanning. Each branch needs only a bounded look ahead, so that all of them together are
one scan in linear time (see `redaction`).
"""

from __future__ import annotations

import re2

from nightschool.rules.secret_services import MARKED, SHAPES

SCHEMES = (
    "bearer",
    "basic",
    "token",
    "bot",
    "apikey",
    "api-token",
    "key",
    "ssws",
    "geniekey",
    "splunk",
    "digest",
    "negotiate",
)
"""What names the way to authorise, before the secret itself."""

NAME = (
    r"(?i:passw(?:or[dt]|d)|kennwort|wachtwoord|senha|contrasena|pass(?:phrase)?|pwd|secret|token"
    r"|cred(?:ential)?|authorization"
    r"|(?:api|access|account|private|auth|encryption|signing|master|license|service|storage|app|application"
    r"|client|consumer|session|admin|ingest|subscription|webhook|deploy|shared|hmac|jwt|preshared|symmetric)"
    r"[_-]?key)"
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
    b"a": re2.compile(rb"(?:\b|\\(?:[nrt]|u[0-9a-fA-F]{4}))redis-cli\b"),
    b"b": re2.compile(rb"(?:\b|\\(?:[nrt]|u[0-9a-fA-F]{4}))curl\b"),
    b"p": re2.compile(rb"(?:\b|\\(?:[nrt]|u[0-9a-fA-F]{4}))(?:sshpass|mongo\w*|login)\b"),
    b"w": re2.compile(rb"(?:\b|\\(?:[nrt]|u[0-9a-fA-F]{4}))ldap\w+\b"),
}
"""Commands that take a password, or a cookie, by an option of one letter."""
ATTACHED_OF = re2.compile(rb"(?:\b|\\(?:[nrt]|u[0-9a-fA-F]{4}))(?:mysql\w*|mariadb\S*|mycli|sshpass)\b")
"""Those that take it behind `-p` without a blank."""


def finder_pattern() -> bytes:
    """One pattern for all that could be a secret. Each branch ends after a bounded number of bytes."""
    heads: dict[tuple[str, int], list[str]] = {}
    for shape in SHAPES:
        heads.setdefault((shape.body, shape.least), []).append(re2.escape(shape.prefix))
    tokens = [
        f"(?:{'|'.join(prefixes)})[{body}]{{{least}}}" for (body, least), prefixes in sorted(heads.items())
    ]
    quote = r"""["'\\`]{0,16}"""  # escaped as often as JSON lies in JSON
    scheme = f"{quote}(?i:{'|'.join(SCHEMES)})"
    tab = r"(?:\t|\\{1,8}t)"
    blank = r"(?:[ \t\r\n]|\\{1,8}[nrt]){1,4}"
    parts = [
        r"\[secret:[a-z]{1,24}:[0-9a-f]{6}\]",
        r"-----(?:BEGIN|END) [A-Z0-9 ]{0,32}PRIVATE KEY",
        *tokens,
        *(around.after for around in MARKED),
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
        rf"--cookie[ \t=]{{1,2}}{quote}[A-Za-z0-9_.%-]{{1,64}}=[^\s;\"'\\]{{4}}",
        rf"{tab}(?:TRUE|FALSE){tab}[0-9]{{1,12}}{tab}[A-Za-z0-9_.%-]{{1,64}}{tab}[^\s\\]{{4}}",
        r"""[ \t]-[abpw][ \t]{0,4}["']?[^\s"']{3}""",
        r"[A-Z]{2}[0-9]{2} ?[A-Z0-9]{4} ?[A-Z0-9]{4} ?[A-Z0-9]{3}",
        r"""[ \t](?:-u|--user)[ \t=]?["']?[A-Za-z0-9_.@-]{1,64}:[^\s"'$:/\\]{4}""",
        r"@[A-Za-z0-9][A-Za-z0-9-]*\.[A-Za-z0-9]",
        r":AA[A-Za-z0-9_-]{33}",
        r"@(?:tcp|unix)\(",
        r"(?i:oracle:(?:thin|oci8?)):[A-Za-z0-9_$#.-]{1,32}/[^\s/@\"'<>\\`]{3}",
        rf"(?i:login){blank}[^\s\\]{{1,64}}{blank}(?i:password){blank}[^\s\\]{{3}}",
        r":(?:5432|5433|6432):[^:\s/]{1,64}:[^:\s/]{1,64}:[^:\s/]{4}",
        r"\$(?:1|2[abxy]|5|6|y|apr1|argon2id?|argon2i)\$[./A-Za-z0-9$=,]{20}",
        rf"Private-Lines: [0-9]{{1,3}}{blank}[A-Za-z0-9+/=]{{20}}",
        r"LS0tLS1CRUdJTi[A-Za-z0-9+/=]{40}",
        # No UUID and no path of short names begins so: there are too many of them to look at each.
        rf"[=:]>?[ \t]{{0,2}}{quote}[A-Za-z0-9+_]{{12}}[A-Za-z0-9+/_-]{{8}}",
        r"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}",
        r"[2-6][0-9]{3}(?:[ -]?[0-9]){9,15}",
    ]
    return "|".join(parts).encode("ascii")
