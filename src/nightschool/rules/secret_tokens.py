"""Secrets that are known by their own shape: tokens, keys, addresses, numbers. Relieves `secret_scan`, which
judges by what names them."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable

import re2

from nightschool.rules.secret_numbers import is_account_number, is_card_number
from nightschool.rules.secret_services import MARKED, Around, Shape
from nightschool.rules.secret_text import ALNUM_BYTES, LATIN, NAME_BYTES, RUNS, Text
from nightschool.rules.secret_values import mixed

_JWT = re2.compile(rb"[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+){2,4}|[A-Za-z0-9_-]*\.eyJ[A-Za-z0-9_-]{10,}", LATIN)
_DOMAIN = re2.compile(rb"@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,24}", LATIN)

# Line ends and quotes, escaped as often as JSON lies in JSON; numbers of a listing.
_BETWEEN = rb"(?:\s|\\+[nrt\"']|[\"'+,>|]|\d{1,6}(?:\t|\xe2\x86\x92))*"
_KEY_BODY = re2.compile(
    rb"(?: BLOCK)?-----(?:" + _BETWEEN + rb"(?:[A-Za-z-]{4,24}: [^\n\\]{1,80}|[A-Za-z0-9+/=]{16,}))+"
    rb"(?:" + _BETWEEN + rb"[A-Za-z0-9+/=]{0,15}" + _BETWEEN + rb"-----END [A-Z0-9 ]{0,40}-----)?",
    LATIN,
)
_KEY_END = re2.compile(rb"(?: BLOCK)?-----", LATIN)
_KEY_LINES = re2.compile(
    rb"[A-Za-z0-9+/=]{16,}(?:" + _BETWEEN + rb"[A-Za-z0-9+/=]+)*" + _BETWEEN + rb"\z", LATIN
)

_WRAPPED = re.compile(rb"(?:\\?\r?\n|(?:\\r)?\\n)[ \t]{0,40}([A-Za-z0-9_+/-]{16,})(?![A-Za-z0-9_+/=:.(\[-])")
"""The rest of a token that a terminal, or a `\\`, broke in two lines."""

_LOCAL_BYTES = NAME_BYTES + b".%+"
_DIGIT_BYTES = b"0123456789"
_PUBLIC_SENDERS = frozenset({b"git", b"noreply", b"no-reply", b"hg", b"svn", b"donotreply"})
_FILE_ENDINGS = frozenset(b"png jpg jpeg gif svg webp js mjs ts tsx jsx css json md py html ico avif".split())

_HEADS = {around.mark: re.compile(around.before.encode("ascii")) for around in MARKED}
_AFTER = {around.body: re.compile(f"{around.body}*".encode()) for around in MARKED}
_BASE64 = re.compile(rb"[A-Za-z0-9+/=]*")
_LINE_END = rb"(?:\r?\n|(?:\\{1,8}r)?\\{1,8}n)"
_PUTTY = re2.compile(
    rb"Private-Lines: \d+((?:" + _LINE_END + rb"[A-Za-z0-9+/=]+)+)(?:" + _LINE_END + rb"|\z)", LATIN
)
_PAIRED = re.compile(rb"""["']?[,\t |;:]{1,3}["']?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])""")
"""The secret half of a key of AWS, beside the half that names it."""
_WORD_RUN = re.compile(rb"[A-Za-z0-9_-]*")


class Tokens(Text):
    """Each judge returns the position to go on from, which is behind the place that it was given."""

    def __init__(self, content: bytes, stand_in: Callable[[str, bytes], bytes]) -> None:
        super().__init__(content, stand_in)
        self._no_jwt_before = 0
        self._last_key_end = 0

    def _token(self, start: int, shape: Shape) -> int:
        begin = start + len(shape.prefix)
        if self._unmixed(start, shape) or self._within_word(start) or self._within_base64(start):
            return begin
        end = self._run_end(RUNS[shape.body], begin)
        while self._text[end - 1] == 0x2E:  # the full stop of a sentence
            end -= 1
        start = begin if shape.prefix.endswith("=") else start
        secret = self._text[start:end]
        while (more := _WRAPPED.match(self._text, end)) is not None and self._goes_on(more):
            secret += more.group(1)
            end = more.end()
        self._out += [self._text[self._done : start], self._stand_in(shape.kind, secret)]
        self._done = end
        if (
            shape.kind == "aws"
            and (pair := _PAIRED.match(self._text, end)) is not None
            and mixed(pair.group(1))
        ):
            return self._replace("credential", pair.start(1), pair.end(1))
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
            return (
                end
                if body is None
                else self._replace("privatekey", start, self._before_jwt(start, body.end()))
            )
        floor = max(self._done, self._last_key_end, start - 8192)
        self._last_key_end = end
        close = _KEY_END.match(self._text, end)
        lines = _KEY_LINES.search(self._text[floor:start]) if close is not None else None
        return end if lines is None else self._replace("privatekey", floor + lines.start(), close.end())

    def _before_jwt(self, start: int, end: int) -> int:
        """Where a key without an end ends, if a JWT follows it: its head looks like one line more."""
        head = self._text.rfind(b"eyJ", start, end) if self._text[end : end + 1] == b"." else -1
        return head if head > start and not self._text[head:end].translate(None, ALNUM_BYTES) else end

    def _email(self, start: int, end: int) -> int:
        domain = _DOMAIN.match(self._text, start)
        begin = self._run_before(start, _LOCAL_BYTES, 64)
        local = self._text[begin:start]
        if domain is None or not local.strip(b".-") or local.lower() in _PUBLIC_SENDERS:
            return end
        after = self._text[domain.end() : domain.end() + 1]
        if domain.group().rsplit(b".", 1)[1].lower() in _FILE_ENDINGS or (after and after in NAME_BYTES):
            return end
        return self._replace("email", begin, domain.end())

    def _telegram(self, start: int) -> int:
        begin = self._run_before(start, _DIGIT_BYTES, 12)
        if not 8 <= start - begin <= 10:
            return start + 3
        return self._replace("telegram", begin, self._run_end(_WORD_RUN, start + 1))

    def _discord(self, start: int, end: int) -> int:
        begin = self._run_before(start, NAME_BYTES, 32)
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

    def _around(self, start: int, around: Around) -> int:
        """A token by the mark in its middle."""
        begin, behind = start - around.length, start + len(around.mark)
        head = self._text[max(begin, self._done, 0) : start]
        if _HEADS[around.mark].fullmatch(head) is None or self._within_word(begin):
            return behind
        end = self._run_end(_AFTER[around.body], behind)
        while self._text[end - 1] == 0x2E:  # the full stop of a sentence
            end -= 1
        return self._replace(around.kind, begin, end)

    def _encoded_key(self, start: int, end: int) -> int:
        """Lines of a PuTTY key, or a key that was put into base64 whole."""
        if self._text[start] == 0x50:
            lines = _PUTTY.match(self._text, start)
            return end if lines is None else self._replace("privatekey", lines.start(1), lines.end(1))
        whole = self._run_end(_BASE64, start)
        try:
            head = base64.b64decode(self._text[start : start + min(72, (whole - start) // 4 * 4)])
        except ValueError:  # a `=` in its middle
            return whole
        return self._replace("privatekey", start, whole) if b"PRIVATE" in head else whole
