"""One pass over one text: finds what could be a secret, judges it, cuts it out.

The pattern of `secret_shapes` finds places; here each place is judged with what stands around
it. Every look is bounded, or goes over bytes that are then passed, so a pass is linear.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import re2

from nightschool.rules.secret_shapes import (
    ATTACHED_OF,
    IS,
    OPTION_OF,
    SHAPES,
    SPOKEN_NAME,
    Shape,
    finder_pattern,
    is_account_number,
    is_card_number,
    is_secret_name,
    mixed,
    refers,
    secret_when_bare,
    secret_when_quoted,
    stands_for_nothing,
)

CREDENTIAL = "credential"
"""Kind of all that is secret by its context (a name, a URL, a header), so that one value has one stand-in."""

_LATIN = re2.Options()
_LATIN.encoding = re2.Options.Encoding.LATIN1  # bytes as they are: all that the patterns name is ASCII
_LATIN.max_mem = 64 << 20

FINDER = re2.compile(finder_pattern(), _LATIN)
_JWT = re2.compile(rb"[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+){2,4}|[A-Za-z0-9_-]*\.eyJ[A-Za-z0-9_-]{10,}", _LATIN)
_DOMAIN = re2.compile(rb"@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,24}", _LATIN)

# Runs of one class of bytes cannot backtrack; for these the standard library costs a tenth of a call to RE2.
_RUNS = {body: re.compile(f"[{body}]*".encode()) for body in {shape.body for shape in SHAPES}}
_WORD_RUN = re.compile(rb"[A-Za-z0-9_-]*")
_BARE = re.compile(rb"""[^\s"'`,;<>\\(){}\[\]|&]{1,256}""")
_BARE_LINE = re.compile(rb"""[^\s"'`\\]{1,256}""")
_SPOKEN_HEAD = re2.compile(
    rf"""{SPOKEN_NAME}["'`\\]{{0,8}}[ \t]{{0,2}}(?:{IS}[ \t]|[:=])[ \t:]{{0,2}}""".encode("ascii"), _LATIN
)
_IS_BEFORE = re2.compile(rf"[ \t]{{1,2}}{IS}[ \t:]{{1,2}}[^\s]{{6}}$".encode("ascii"), _LATIN)
_PASSED = frozenset({b"PASS", b"Pass"})
"""`--- PASS: TestTotals2`: so test runners tell."""
_PART_OF_CODE = re.compile(rb"[./@()]")
_COMMAND_ENDS = re.compile(rb"[\n;|&]")
_HEADER = re.compile(rb"[A-Za-z0-9._~+/=-]*")
# Pairs behind semicolons: what follows a space is text again, which may name another secret.
_COOKIE = re.compile(rb"""[^\s"'\\`\[;]*(?:;[ \t]{0,2}[^\s"'\\`\[;]*)*""")
_MORE_PASSWORD = re2.compile(rb"""[^\s/@:?#,"'<>\\`]*@""", _LATIN)
# Line ends and quotes, escaped as often as JSON lies in JSON; numbers of a listing.
_BETWEEN = rb"(?:\s|\\+[nrt\"']|[\"'+,>|]|\d{1,6}(?:\t|\xe2\x86\x92))*"
_KEY_BODY = re2.compile(
    rb"(?: BLOCK)?-----(?:" + _BETWEEN + rb"(?:[A-Za-z-]{4,24}: [^\n\\]{1,80}|[A-Za-z0-9+/=]{16,}))+"
    rb"(?:" + _BETWEEN + rb"[A-Za-z0-9+/=]{0,15}" + _BETWEEN + rb"-----END [A-Z0-9 ]{0,40}-----)?",
    _LATIN,
)
_ESCAPED = re.compile(rb"\\u[0-9a-fA-F]{4}")
_CUT_ESCAPE = re.compile(rb"[nrt]|u?[0-9a-fA-F]{4}")
"""What is left of an escape (`\\n`, `\\u00e9`) where a text was cut behind its backslash. Fewer digits may be
of a word: `desk-` is no key."""
_KEY_END = re2.compile(rb"(?: BLOCK)?-----", _LATIN)
_KEY_LINES = re2.compile(
    rb"[A-Za-z0-9+/=]{16,}(?:" + _BETWEEN + rb"[A-Za-z0-9+/=]+)*" + _BETWEEN + rb"\z", _LATIN
)

_WRAPPED = re.compile(rb"(?:\\?\r?\n|(?:\\r)?\\n)[ \t]{0,40}([A-Za-z0-9_+/-]{16,})(?![A-Za-z0-9_+/=:.(\[-])")
"""The rest of a token that a terminal, or a `\\`, broke in two lines."""

_ALNUM_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_NAME_BYTES = _ALNUM_BYTES + b"_-"
_LOCAL_BYTES = _NAME_BYTES + b".%+"
_DIGIT_BYTES = b"0123456789"
_QUOTES = b"\"'`\\"
_PUBLIC_SENDERS = frozenset({b"git", b"noreply", b"no-reply", b"hg", b"svn", b"donotreply"})
_FILE_ENDINGS = frozenset(b"png jpg jpeg gif svg webp js mjs ts tsx jsx css json md py html ico avif".split())

_BY_HEAD: dict[bytes, list[Shape]] = {}
for _shape in SHAPES:
    _BY_HEAD.setdefault(_shape.prefix[:2].encode(), []).append(_shape)


class Scan:
    """`run()` gives the text with stand-ins; the same object where nothing was found."""

    def __init__(self, content: bytes, stand_in: Callable[[str, bytes], bytes]) -> None:
        self._text = content
        self._stand_in = stand_in
        self._out: list[bytes] = []
        self._done = 0
        """All before it is in `_out`."""
        self._no_jwt_before = 0
        self._last_key_end = 0

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

    def _judge(self, start: int, end: int) -> int:  # noqa: PLR0911 - a flat table of first bytes
        """Replace what is secret at this place; the position to go on from, behind `start`."""
        match self._text[start]:
            case 0x5B:  # [ of a stand-in
                return end
            case 0x2D:  # -
                key = self._text.startswith((b"-----BEGIN", b"-----END"), start)
                return self._key(start, end) if key else self._option(start, end)
            case 0x3A:  # :
                return self._url(start, end) if self._text[start + 1] == 0x2F else self._telegram(start)
            case 0x40:  # @
                return self._email(start, end)
            case 0x2E:  # .
                return self._discord(start, end)
            case 0x20 | 0x09:
                return self._short_option(start, end)
            case byte if 0x30 <= byte <= 0x39:
                return self._card(start, end)
        return self._lettered(start, end)

    def _lettered(self, start: int, end: int) -> int:
        shape = self._shape_at(start)
        if shape is not None:
            return self._token(start, shape)
        if self._text.startswith(b"eyJ", start):
            return self._jwt(start)
        if self._text[start + 2 : start + 4].isdigit():
            return self._account(start)
        return self._worded(start, end)

    def _replace(self, kind: str, start: int, end: int) -> int:
        self._out += [self._text[self._done : start], self._stand_in(kind, self._text[start:end])]
        self._done = end
        return end

    def _run_before(self, at: int, allowed: bytes, most: int) -> int:
        """Where the run of these bytes that ends at `at` begins; an escape (`\\n`, `\\u00e9`) is not in."""
        piece = self._text[max(self._done, at - most) : at]
        start = at - (len(piece) - len(piece.rstrip(allowed)))
        if start < at and start and self._text[start - 1] == 0x5C and self._text[start] in b"nrt":
            start += 1
        elif _ESCAPED.match(self._text, start - 1, at) is not None:
            start += 5
        return start

    def _run_end(self, run: re.Pattern[bytes], at: int) -> int:
        found = run.match(self._text, at)
        return at if found is None else found.end()

    def _within_word(self, start: int) -> bool:
        begin = self._run_before(start, _ALNUM_BYTES, 6)
        return begin < start and (begin > 0 or _CUT_ESCAPE.fullmatch(self._text, 0, start) is None)

    def _shape_at(self, start: int) -> Shape | None:
        """The token shape that begins here with enough of a body, if one does."""
        for shape in _BY_HEAD.get(self._text[start : start + 2], ()):
            begin = start + len(shape.prefix)
            if self._text.startswith(shape.prefix.encode(), start):
                piece = _RUNS[shape.body].match(self._text, begin, begin + shape.least)
                if piece is not None and piece.end() - begin == shape.least:
                    return shape
        return None

    def _shaped(self, start: int) -> bool:
        """Whether a secret of its own shape begins here, which then has the word."""
        head = self._text[start : start + 10]
        if head.startswith((b"-----BEGIN", b"[secret:", b"eyJ")) or head[:7].lower() == b"bearer ":
            return True
        if b"://" in self._text[start : start + 16]:
            return True
        shape = self._shape_at(start)
        return shape is not None and not self._unmixed(start, shape)

    def _unmixed(self, start: int, shape: Shape) -> bool:
        begin = start + len(shape.prefix)
        return shape.mixed and not mixed(self._text[begin : begin + 4 * shape.least])

    def _token(self, start: int, shape: Shape) -> int:
        begin = start + len(shape.prefix)
        if self._unmixed(start, shape) or self._within_word(start):
            return begin
        end = self._run_end(_RUNS[shape.body], begin)
        while self._text[end - 1] == 0x2E:  # the full stop of a sentence
            end -= 1
        start = begin if shape.prefix.endswith("=") else start
        secret = self._text[start:end]
        while (more := _WRAPPED.match(self._text, end)) is not None and self._goes_on(more):
            secret += more.group(1)
            end = more.end()
        self._out += [self._text[self._done : start], self._stand_in(shape.kind, secret)]
        self._done = end
        return end

    def _goes_on(self, more: re.Match[bytes]) -> bool:
        """Whether a line is more like the rest of a token than like a word, a name, or another secret."""
        run = more.group(1)
        return mixed(run) and run.lower() != run != run.upper() and not self._shaped(more.start(1))

    def _jwt(self, start: int) -> int:
        if start < self._no_jwt_before or self._within_word(start):
            return start + 3
        found = _JWT.match(self._text, start)
        if found is None:
            self._no_jwt_before = self._run_end(_WORD_RUN, start)
            return start + 3
        return self._replace("jwt", start, found.end())

    def _key(self, start: int, end: int) -> int:
        if self._text.startswith(b"-----BEGIN", start):
            body = _KEY_BODY.match(self._text, end)
            return end if body is None else self._replace("privatekey", start, body.end())
        floor = max(self._done, self._last_key_end, start - 8192)
        self._last_key_end = end
        close = _KEY_END.match(self._text, end)
        lines = _KEY_LINES.search(self._text[floor:start]) if close is not None else None
        return end if lines is None else self._replace("privatekey", floor + lines.start(), close.end())

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

    def _email(self, start: int, end: int) -> int:
        domain = _DOMAIN.match(self._text, start)
        begin = self._run_before(start, _LOCAL_BYTES, 64)
        local = self._text[begin:start]
        if domain is None or not local.strip(b".-") or local.lower() in _PUBLIC_SENDERS:
            return end
        after = self._text[domain.end() : domain.end() + 1]
        if domain.group().rsplit(b".", 1)[1].lower() in _FILE_ENDINGS or (after and after in _NAME_BYTES):
            return end
        return self._replace("email", begin, domain.end())

    def _telegram(self, start: int) -> int:
        begin = self._run_before(start, _DIGIT_BYTES, 12)
        if not 8 <= start - begin <= 10:
            return start + 3
        return self._replace("telegram", begin, self._run_end(_WORD_RUN, start + 1))

    def _discord(self, start: int, end: int) -> int:
        begin = self._run_before(start, _NAME_BYTES, 32)
        if not 23 <= start - begin <= 28 or self._text[begin] not in b"MNO":
            return start + 1
        return self._replace("discord", begin, self._run_end(_WORD_RUN, end))

    def _card(self, start: int, end: int) -> int:
        length = is_card_number(self._text, start)
        if length and not self._text[max(0, start - 1) : start].strip(b" \t\r\n\"'`:=,;([{<>|#*").strip():
            return self._replace("card", start, start + length)
        first = len(self._text[start:end]) - len(self._text[start:end].lstrip(_DIGIT_BYTES))
        return start + first

    def _account(self, start: int) -> int:
        length = is_account_number(self._text, start)
        if not length or self._within_word(start):
            return start + 4
        return self._replace("iban", start, start + length)

    def _short_option(self, start: int, end: int) -> int:
        if self._text[start + 1 : start + 3] in {b"-a", b"-p", b"-w"}:
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
        while begin < len(self._text) and self._text[begin] in _QUOTES:
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
        if lower.startswith(b"cookie"):
            return self._cookie(start, end)
        if lower.startswith(b"bearer"):
            return self._bearer(end - 16, strict=True)
        name = (
            self._text[self._run_before(start, _NAME_BYTES, 64) : start]
            + found[: len(found) - len(found.lstrip(_NAME_BYTES))]
        )
        if lower == b"authorization" and found[-7:-6] in (b" ", b"\t") and found[-4:].strip() == found[-4:]:
            words = found[13:-6].strip(b" \t:=\"'`\\").lower()
            if words in {b"bearer", b"basic", b"token", b"bot", b"apikey", b"digest"}:
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
        found = self._text[start:end]
        rest = found[6:].lstrip(_QUOTES + b" \t:=")
        begin = end - len(rest)
        return self._replace("cookie", begin, self._run_end(_COOKIE, begin))

    def _spoken(self, begin: int, name: bytes) -> int:
        start = begin
        while begin < len(self._text) and self._text[begin] in _QUOTES:
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
            opened = self._run_before(start, _NAME_BYTES, 64)
            if self._text[max(0, opened - 1) : opened] not in {b"<", b":"}:
                return begin
        opening = begin
        while opening < len(self._text) and opening < begin + 8 and self._text[opening] in _QUOTES:
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
        return self._taken(begin, value.end(), begin)

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
