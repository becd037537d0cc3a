"""Secrets out of texts, in linear time: what stands between a transcript and everything else.

One pattern finds all places that could be a secret; each of its branches ends after a bounded
number of bytes, or dies where it could begin anew, so no text makes the scan more than linear.
`secret_scan` judges what stands at such a place.
"""

from __future__ import annotations

import hmac
from functools import lru_cache
from typing import Any

from nightschool.rules.secret_memory import SecretMemory
from nightschool.rules.secret_places import Places
from nightschool.rules.secret_prose import without_spoken
from nightschool.rules.secret_scan import CREDENTIAL, Scan
from nightschool.rules.secret_values import is_secret_name, secret_when_quoted

_ROUNDS = 4
"""A stand-in can uncover a secret beside it; more than two rounds have not been seen."""


NO_PLACES = Places()


class Redactor:
    """`redactor(text)` is the text with a stand-in `[secret:<kind>:<6 hex>]` for each secret.

    Promises: the same secret has the same stand-in wherever the key is the same, in other
    processes too; stand-ins are never touched again; a clean text comes back as it was; time is
    linear in the length of the text. Safe to share between threads.

    It remembers the last two hundred secrets that it met (in memory only, never written) and
    replaces later bare repetitions of one, or of half of a long one, by the same stand-in. So an
    answer may depend on what was read before, in one direction alone: more is replaced, never less.
    """

    def __init__(self, key: bytes, places: Places = NO_PLACES) -> None:
        if len(key) < 16:
            raise ValueError("the redaction key must have at least 16 bytes")
        self._key = key
        self._places = places
        self._memory = SecretMemory()
        self._codes = lru_cache(maxsize=4096)(self._code)

    def __call__(self, text: str) -> str:
        content = text.encode("utf-8", "surrogatepass")
        now = content
        for _ in range(_ROUNDS):
            before, now = now, self._memory.replace(self._scanned(now))
            if now is before or now == before:
                break
        if self._places.hides_in(text):
            now = self._places.hidden(now, self._stand_in)
        return text if now is content else now.decode("utf-8", "surrogatepass")

    def _scanned(self, text: bytes) -> bytes:
        return without_spoken(Scan(text, self._stand_in).run(), self._stand_in, self._made)

    def nested(self, value: Any) -> Any:
        """Parsed JSON with all strings redacted, keys too; what stands under a secret-like key is secret.

        Without recursion: JSON may be nested deeper than Python's stack.
        """
        top: list[Any] = [None]
        todo: list[tuple[Any, Any, Any, bytes]] = [(top, 0, value, b"")]
        while todo:
            holder, place, item, name = todo.pop()
            match item:
                case str():
                    holder[place] = self._under(name, item)
                case dict():
                    names = _names(item)
                    fresh = {self(key) if isinstance(key, str) else key: None for key in item}
                    holder[place] = fresh
                    keys = [self(key) if isinstance(key, str) else key for key in item]
                    todo += [
                        (fresh, key, inner, names.get(old, name))
                        for key, (old, inner) in zip(keys, item.items(), strict=True)
                    ]
                case list() | tuple():
                    row: list[Any] = [None] * len(item)
                    holder[place] = row
                    todo += [(row, index, inner, name) for index, inner in enumerate(item)]
                case _:
                    holder[place] = item
        return top[0]

    def _under(self, name: bytes, text: str) -> str:
        """A string that stands under this name (b"" where the name says nothing)."""
        redacted = self(text)
        content = text.encode("utf-8", "surrogatepass")
        if not name or redacted != text or not secret_when_quoted(name, content):
            return redacted
        return self._stand_in(CREDENTIAL, content).decode("ascii")

    def _stand_in(self, kind: str, secret: bytes) -> bytes:
        known = self._memory.stand_in(secret)
        if known is not None:
            return known
        made = self._made(kind, secret)
        self._memory.remember(kind, secret, made)
        return made

    def _made(self, kind: str, secret: bytes) -> bytes:
        return f"[secret:{kind}:{self._codes(secret)}]".encode("ascii")

    def _code(self, secret: bytes) -> str:
        return hmac.digest(self._key, secret, "sha256").hex()[:6]


def _names(item: dict[Any, Any]) -> dict[Any, bytes]:
    """The secret-like name that each value of an object stands under.

    `{"name": "DB_PASSWORD", "value": "..."}` names its value in a neighbour.
    """
    names: dict[Any, bytes] = {}
    for key in item:
        encoded = str(key).encode("utf-8", "surrogatepass")[:128]
        if is_secret_name(encoded):
            names[key] = encoded
    label = item.get("name", item.get("key"))
    if isinstance(label, str) and "value" in item:
        encoded = label.encode("utf-8", "surrogatepass")[:128]
        if is_secret_name(encoded):
            names["value"] = encoded
    return names
