"""One pass over one text: finds what could be a secret, judges it, cuts it out.

The pattern of `secret_shapes` finds places; here each place is judged with what stands around
it. Every look is bounded, or goes over bytes that are then passed, so a pass is linear.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import ClassVar

import re2

from nightschool.rules.secret_shapes import (
    ATTACHED_OF,
    IS,
    OPTION_OF,
    SCHEMES,
    SPOKEN_NAME,
    finder_pattern,
)
from nightschool.rules.secret_text import BY_MARK, LATIN, NAME_BYTES, QUOTES
from nightschool.rules.secret_tokens import Tokens
from nightschool.rules.secret_values import (
    is_secret_name,
    mixed,
    refers,
    secret_when_bare,
    secret_when_quoted,
    secret_when_random,
    stands_for_nothing,
)

CREDENTIAL = "credential"
"""Kind of all that is secret by its context (a name, a URL, a header), so that one value has one stand-in."""

FINDER = re2.compile(finder_pattern(), LATIN)
_LONGEST_JUDGED = 256
_BARE = re.compile(rb"""[^\s"'`,;<>\\(){}\[\]|&]{1,256}""")
_BARE_REST = re.compile(rb"""[^\s"'`,;<>\\(){}\[\]|&]*""")
_BARE_LINE = re.compile(rb"""[^\s"'`\\]{1,256}""")
_BARE_LINE_REST = re.compile(rb"""[^\s"'`\\]*""")
_RANDOM = re.compile(rb"[A-Za-z0-9._~+/=-]{1,256}")
_SPOKEN_HEAD = re2.compile(
    rf"""{SPOKEN_NAME}["'`\\]{{0,8}}[ \t]{{0,2}}(?:{IS}[ \t]|[:=])[ \t:]{{0,2}}""".encode("ascii"), LATIN
)
_IS_BEFORE = re2.compile(rf"[ \t]{{1,2}}{IS}[ \t:]{{1,2}}[^\s]{{6}}$".encode("ascii"), LATIN)
_PASSED = frozenset({b"PASS", b"Pass"})
"""`--- PASS: TestTotals2`: so test runners tell."""
_SCHEMES = frozenset(scheme.encode("ascii") for scheme in SCHEMES)
_PART_OF_CODE = re.compile(rb"[./@()]")
_COMMAND_ENDS = re.compile(rb"[\n;|&]")
_HEADER = re.compile(rb"[A-Za-z0-9._~+/=-]*")
# Pairs behind semicolons: what follows a space is text again, which may name another secret.
_COOKIE = re.compile(rb"""[^\s"'\\`\[;]*(?:;[ \t]{0,2}[^\s"'\\`\[;]*)*""")
_MORE_PASSWORD = re2.compile(rb"""[^\s/@:?#,"'<>\\`]*@""", LATIN)
_WORD = re.compile(rb"""[^\s"'\\]*""")
_DSN = re.compile(rb"""[^\s:/@"'`(\[\]]{1,64}:([^\s:/@"'`\[\]]{3,64})\Z""")
_FIELD = re.compile(rb"""[^:\s"'`\\]*""")
_BEFORE_AT = re.compile(rb"""[^\s/@"'<>\\`]*""")
_PASS_HASH = re.compile(rb"[./A-Za-z0-9$=,]*")
_GOES_ON = frozenset({b"(", b"@", b":", b"[", b"{", b"$", b"%", b"<", b"*"})
_QUOTE = frozenset({b'"', b"'", b"`"})
_QUOTE_END = frozenset({b'"', b"'", b"`", b"\\"})


class Scan(Tokens):
    """`run()` gives the text with stand-ins; the same object where nothing was found."""

    def run(self) -> bytes:
        at: int | None = 0
        while at is not None:
            at = self._sweep(at)
        return b"".join([*self._out, self._text[self._done :]]) if self._done else self._text

    def _sweep(self, at: int) -> int | None:
        """Judge places from `at` on until one asks to go on elsewhere than at its end."""
        for match in FINDER.finditer(self._text, at):
            start, end = match.span()
            follow = self._judge(start, end)
            if follow != end:
                return follow
        return None

    def _judge(self, start: int, end: int) -> int:
        """Replace what is secret at this place; the position to go on from, behind `start`."""
        for around in BY_MARK.get(self._text[start], ()):
            if self._text.startswith(around.mark.encode("ascii"), start):
                return self._around(start, around)
        return self._judges.get(self._text[start], Scan._lettered)(self, start, end)

    def _passed(self, start: int, end: int) -> int:
        """A stand-in."""
        del start
        return end

    def _at_sign(self, start: int, end: int) -> int:
        return self._data_source(start) if self._text[end - 1] == 0x28 else self._email(start, end)

    def _blank(self, start: int, end: int) -> int:
        """Before an option of one letter, or between the fields of a jar of cookies."""
        if self._text[start] == 0x5C or self._text[start + 1 : start + 2] in {b"T", b"F"}:
            return self._placed("cookie", _WORD, end - 4)
        return self._short_option(start, end)

    def _dotted(self, start: int, end: int) -> int:
        return self._discord(start, end)

    def _hashed(self, start: int, end: int) -> int:
        del end
        return self._replace("passhash", start, self._run_end(_PASS_HASH, start))

    def _numbered(self, start: int, end: int) -> int:
        return self._card(start, end) if self._shape_at(start) is None else self._lettered(start, end)

    def _dashed(self, start: int, end: int) -> int:
        if self._text.startswith((b"-----BEGIN", b"-----END"), start):
            return self._key(start, end)
        if self._text.startswith(b"--cookie", start):
            return self._cookie(start, end)
        return self._option(start, end)

    def _behind_sign(self, start: int, end: int) -> int:
        if self._text.startswith(b"://", start):
            return self._url(start, end)
        if self._text[start : start + 3] == b":AA" and end == start + 36:
            return self._telegram(start)
        if self._text[start + 1 : start + 6] in {b"5432:", b"5433:", b"6432:"} and end > start + 6:
            return self._placed(CREDENTIAL, _FIELD, end - 4)
        return self._assigned(start, end)

    def _lettered(self, start: int, end: int) -> int:
        shape = self._shape_at(start)
        if shape is not None:
            return self._token(start, shape)
        if self._text.startswith(b"eyJ", start):
            return self._jwt(start)
        if self._text.startswith((b"LS0tLS1CRUdJTi", b"Private-Lines"), start):
            return self._encoded_key(start, end)
        if self._text[start + 2 : start + 4].isdigit():
            return self._account(start)
        return self._worded(start, end)

    def _placed(self, kind: str, run: re.Pattern[bytes], begin: int) -> int:
        """What is secret by its place alone, unless it stands for a secret or is one of its own shape."""
        end = self._run_end(run, begin)
        value = self._text[begin:end]
        if end == begin or self._shaped(begin) or b"[secret" in value or stands_for_nothing(value):
            return begin
        return self._replace(kind, begin, end)

    def _data_source(self, start: int) -> int:
        """`name:password@tcp(host)`, as programs in Go have it."""
        found = _DSN.search(self._text[max(self._done, start - 132) : start])
        if found is None or stands_for_nothing(found.group(1)):
            return start + 4
        return self._replace(CREDENTIAL, start - len(found.group(1)), start)

    def _assigned(self, start: int, end: int) -> int:
        """`name = value` with a name that says little: a secret where the value looks random."""
        begin = end - 20
        if self._shaped(begin) or not mixed(self._text[begin:end]):
            return begin
        value = _RANDOM.match(self._text, begin)
        at = (
            start
            - len(self._text[max(self._done, start - 20) : start])
            + len(self._text[max(self._done, start - 20) : start].rstrip(QUOTES + b" \t]"))
        )
        name = self._text[self._run_before(at, NAME_BYTES, 64) : at]
        if value is None or not name or self._text[value.end() : value.end() + 1] in _GOES_ON:
            return begin
        quoted = (
            self._text[begin - 1 : begin] in _QUOTE
            and self._text[value.end() : value.end() + 1] in _QUOTE_END
        )
        query = self._text[start : start + 1] == b"=" and self._text[at - len(name) - 1 : at - len(name)] in {
            b"?",
            b"&",
        }
        env = name.isupper() and begin == start + 1
        told = value.group().rstrip(b".")
        if not (quoted or env or query) or not secret_when_random(name, told, env=env or query):
            return begin
        return self._replace(CREDENTIAL, begin, begin + len(told))

    def _url(self, start: int, end: int) -> int:
        """`://user:password@` or `://token@`: the password or token goes, the rest of the URL stays."""
        begin = start + 3
        user, colon, password = self._text[begin : end - 1].partition(b":")
        if self._shaped(begin):
            return begin
        if len(user) >= 20 and mixed(user) and not stands_for_nothing(user):
            self._replace(CREDENTIAL, begin, begin + len(user))
        if not colon or self._done > begin + len(user):
            return max(self._done, begin)
        begin += len(user) + 1
        more = _MORE_PASSWORD.match(self._text, end)
        while more is not None:  # an @ that nobody encoded
            end = more.end()
            more = _MORE_PASSWORD.match(self._text, end)
        password = self._text[begin : end - 1]
        if len(password) < 3 or stands_for_nothing(password) or self._shape_at(begin) is not None:
            return begin
        return self._replace(CREDENTIAL, begin, end - 1)

    def _short_option(self, start: int, end: int) -> int:
        if self._text[start + 1 : start + 3] in {b"-a", b"-b", b"-p", b"-w"}:
            return self._letter_option(start)
        return self._user_option(start, end)

    def _letter_option(self, start: int) -> int:
        """`sshpass -p value`, `mysql -pvalue`, `redis-cli -a value`."""
        letter, begin = self._text[start + 2 : start + 3], start + 3
        value = _BARE_LINE.match(self._text, self._past_blanks(begin))
        if value is None or value.group()[:1] in b"-[$<{" or stands_for_nothing(value.group()):
            return start + 3
        command = _COMMAND_ENDS.split(self._text[max(self._done, start - 256) : start])[-1]
        apart = value.start() > begin and self._text[begin] in b" \t"
        known = OPTION_OF[letter] if apart else ATTACHED_OF
        if (not apart and letter != b"p") or known.search(command) is None or self._shaped(value.start()):
            return start + 3
        if letter == b"b":
            named = b"=" in value.group()  # without a `=` it is the name of a file
            return self._placed("cookie", _COOKIE, value.start()) if named else value.end()
        return self._replace(CREDENTIAL, value.start(), value.end())

    def _past_blanks(self, at: int) -> int:
        while at < len(self._text) and self._text[at] in b" \t\"'":
            at += 1
        return at

    def _user_option(self, start: int, end: int) -> int:
        """`-u name:password`."""
        begin = end - 4
        value = _BARE.match(self._text, begin)
        name = self._text[start:begin].split(b":")[0].strip(b" \t=\"'").rsplit(b" ", 1)[-1]
        if value is None or value.group().isdigit() or value.group() == name.strip(b"\"'"):
            return begin
        if stands_for_nothing(value.group()) or self._shape_at(begin) is not None:
            return begin
        return self._replace(CREDENTIAL, begin, value.end())

    def _option(self, start: int, end: int) -> int:
        """`--password value`."""
        begin = end - 1
        name = self._text[start:begin].strip()
        while begin < len(self._text) and self._text[begin] in QUOTES:
            begin += 1
        value = _BARE.match(self._text, begin)
        if value is None or self._shaped(begin) or not is_secret_name(name):
            return max(end - 1, start + 2)
        if len(value.group()) < 6 or not mixed(value.group()) or refers(value.group()):
            return begin
        return self._replace(CREDENTIAL, begin, value.end())

    def _worded(self, start: int, end: int) -> int:  # noqa: PLR0911 - one a spelling
        """A place that begins with a word: a header, `name = value`, `password is value`."""
        found = self._text[start:end]
        lower = found[:13].lower()
        if lower.startswith((b"oracle:", b"login")):  # `oracle:thin:sam/value@host`; a line of `.netrc`
            return self._placed(CREDENTIAL, _BEFORE_AT if lower[:1] == b"o" else _BARE_LINE_REST, end - 3)
        if lower.startswith(b"cookie"):
            return self._cookie(start, end)
        if lower.startswith(b"bearer"):
            return self._bearer(end - 16, strict=True)
        name = (
            self._text[self._run_before(start, NAME_BYTES, 64) : start]
            + found[: len(found) - len(found.lstrip(NAME_BYTES))]
        )
        if lower == b"authorization" and found[-7:-6] in (b" ", b"\t") and found[-4:].strip() == found[-4:]:
            words = found[13:-6].strip(b" \t:=\"'`\\").lower()
            if words in _SCHEMES:
                return self._bearer(end - 6, strict=False)
        called = _SPOKEN_HEAD.match(self._text, start, end)
        if called is not None:
            return self._spoken(called.end(), b"password")
        before = found[:-4].rstrip(b" \t")
        if before.endswith((b"=", b":", b">")):
            return self._named(start, end - 4, name, before)
        if _IS_BEFORE.search(found) is not None:
            return self._spoken(end - 6, name)
        return self._beside(end - 8, name)

    def _beside(self, begin: int, name: bytes) -> int:
        """`token Rot3xyz...`: nothing says that it is one, so it must look like nothing else."""
        value = _BARE.match(self._text, begin)
        if value is None or self._shaped(begin) or not is_secret_name(name.replace(b" ", b"_")):
            return begin
        word = value.group().rstrip(b".!?:")
        called = self._text[value.end() : value.end() + 1] in {b"(", b"[", b"{"}
        telling = mixed(word) and word.lower() != word != word.upper() and not _PART_OF_CODE.search(word)
        if called or len(word) < 8 or not telling or refers(word):
            return begin
        return self._replace(CREDENTIAL, begin, begin + len(word))

    def _bearer(self, begin: int, *, strict: bool) -> int:
        if self._shaped(begin):
            return begin
        word = self._text[begin : self._run_end(_HEADER, begin)].rstrip(b".")
        telling = (
            mixed(word) if strict else mixed(word) or word.endswith(b"=") or word[1:].lower() != word[1:]
        )
        if not telling or stands_for_nothing(word):
            return begin
        return self._replace(CREDENTIAL, begin, begin + len(word))

    def _cookie(self, start: int, end: int) -> int:
        found = self._text[start:end].removeprefix(b"--")
        rest = found[6:].lstrip(QUOTES + b" \t:=")
        begin = end - len(rest)
        return self._replace("cookie", begin, self._run_end(_COOKIE, begin))

    def _spoken(self, begin: int, name: bytes) -> int:
        start = begin
        while begin < len(self._text) and self._text[begin] in QUOTES:
            begin += 1
        value = _BARE.match(self._text, begin)
        if value is None or self._shaped(begin) or not is_secret_name(name):
            return start
        word = value.group().rstrip(b".!?:")
        if len(word) < 6 or not mixed(word) or refers(word):
            return start
        return self._replace(CREDENTIAL, begin, begin + len(word))

    def _named(self, start: int, begin: int, name: bytes, before: bytes) -> int:  # noqa: PLR0911 - one a spelling
        """`name = value` in any of its spellings; `before` is all up to the value."""
        if not is_secret_name(name) or (before.endswith(b":") and name.strip(b"-_") in _PASSED):
            return begin
        if before.endswith(b">") and not before.endswith(b"=>"):  # <password>value</password>
            opened = self._run_before(start, NAME_BYTES, 64)
            if self._text[max(0, opened - 1) : opened] not in {b"<", b":"}:
                return begin
        opening = begin
        while opening < len(self._text) and opening < begin + 16 and self._text[opening] in QUOTES:
            opening += 1
        if self._shaped(opening):
            return opening
        if opening > begin:
            end = self._closing(opening, self._text[begin:opening])
            return (
                self._taken(opening, end, begin)
                if secret_when_quoted(name, self._text[opening:end])
                else begin
            )
        env = name.isupper() and self._text[begin - 1 : begin] == b"="
        value = (_BARE_LINE if env else _BARE).match(self._text, begin)
        if value is None:
            return begin
        called = self._text[value.end() : value.end() + 1] in {b"(", b"[", b"{"}
        if called or not secret_when_bare(name, value.group(), env=env):
            return begin
        rest = _BARE_LINE_REST if env else _BARE_REST
        return self._taken(begin, self._run_end(rest, value.end()), begin)

    def _taken(self, begin: int, end: int, otherwise: int) -> int:
        return self._replace(CREDENTIAL, begin, end) if end > begin else otherwise

    def _closing(self, opening: int, quote: bytes) -> int:
        """Where the quoted value ends: at the same quote, else (a cut text) where a bare one would."""
        end = self._text.find(quote, opening, opening + 1024)
        while end > 0 and len(quote) == 1 and self._text[end - 1] == 0x5C and self._text[end - 2] != 0x5C:
            end = self._text.find(quote, end + 1, opening + 1024)
        if end >= 0:
            return end
        bare = _BARE.match(self._text, opening)
        return opening if bare is None else int(bare.end())

    _judges: ClassVar[dict[int, Callable[[Scan, int, int], int]]] = {
        ord("["): _passed,
        ord("-"): _dashed,
        ord(":"): _behind_sign,
        ord("="): _behind_sign,
        ord("@"): _at_sign,
        ord("."): _dotted,
        ord("$"): _hashed,
        ord(" "): _blank,
        ord("\t"): _blank,
        ord("\\"): _blank,
        **dict.fromkeys(b"0123456789", _numbered),
    }
    """By the first byte of a place; all others begin with a letter."""
