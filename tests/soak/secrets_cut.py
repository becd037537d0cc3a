"""Secrets in random texts, in JSON and its metadata, and in texts that were cut anywhere."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from random import Random
from typing import Any

from nightschool.rules.redaction import Redactor
from nightschool.rules.secret_memory import _pieces_of
from nightschool.rules.secret_services import SHAPES
from soak.cases import Case, Part, Seen
from soak.planted import Planted, planted, prose, token

KEY = b"a key of the soak, 32 bytes long."
BETWEEN = (
    " ",
    "\n",
    "\t",
    ", ",
    " (",
    ") ",
    "\n\n",
    "` ",
    " `",
    '" ',
    ' "',
    "é ",
    " 🙂",
    "> ",
    "\r\n",
    "\\n",
)


def _text(random: Random, found: list[Planted]) -> str:
    """Prose with all of them in it."""
    parts = [prose(random)]
    for one in found:
        before, after = random.choice(BETWEEN), random.choice((" ", "\n", ", ", ") ", '" ', "\r\n"))
        parts += [before, one.text, after, prose(random)]
    return "".join(parts)


def in_prose(case: Case) -> Seen:
    """None comes through, a second time changes nothing, another redactor of the same key agrees."""
    found = [planted(case.random) for _ in range(case.random.randrange(1, 5))]
    text = _text(case.random, found)
    redactor = Redactor(KEY)
    once = redactor(text)
    for one in found:
        assert one.core not in once, (one, text, once)
    assert redactor(once) == once, (text, once, redactor(once))
    assert Redactor(KEY)(once) == once, (text, once, Redactor(KEY)(once))
    return Counter(one.kind for one in found)


def in_json(case: Case) -> Seen:
    """In values, in keys, below names, and as text in a text."""
    random = case.random
    found: list[str] = []
    value = _value(random, found, 0)
    while not found:
        value = _value(random, found, 0)
    redactor = Redactor(KEY)
    once = redactor.nested(value)
    shown = json.dumps(once)
    for core in found:
        assert core not in shown, (core, value, once)
    assert redactor.nested(once) == once, (value, once)
    assert Redactor(KEY).nested(once) == once, (value, once)
    as_text = Redactor(KEY)(json.dumps(value))
    for core in found:
        assert core not in as_text, (core, value, as_text)
    return Counter({"secrets": len(found)})


def _value(random: Random, found: list[str], depth: int) -> Any:
    match random.randrange(8 if depth < 4 else 5):
        case 0:
            return random.choice((None, True, 7, 1.5, ""))
        case 1:
            return prose(random)
        case 2 | 3:
            one = planted(random)
            found.append(one.core)
            return _text(random, [one])
        case 4:
            inner: list[str] = []
            text = json.dumps(_value(random, inner, max(depth, 3) + 1))
            found += inner
            return text
        case 5:
            return [_value(random, found, depth + 1) for _ in range(random.randrange(4))]
    return {_name(random, found): _value(random, found, depth + 1) for _ in range(random.randrange(5))}


def _name(random: Random, found: list[str]) -> str:
    if random.random() < 0.1:
        found.append(token(random))
        return found[-1]
    return random.choice(("cwd", "version", "gitBranch", "output", "message", "env", "id", "model"))


def cut(case: Case) -> Seen:
    """Cut anywhere: no chunk gives a whole secret away, nor, of one that was met before, a telling part."""
    random = case.random
    shape = random.choice([shape for shape in SHAPES if not shape.prefix.endswith("=")])
    secret = token(random, shape)
    text = _text(random, [Planted(kind="", text=secret, core=secret)])
    at = text.index(secret)
    fresh, knowing = Redactor(KEY), Redactor(KEY)
    knowing(text)
    borders = sorted({0, len(text), *(random.randrange(len(text)) for _ in range(random.randrange(1, 5)))})
    # Quarters that no ordinary word is like; nearly every half of a long key holds one.
    pieces = [piece for piece, _ in _pieces_of("", secret.encode())]
    seen: Seen = Counter()
    for start, end in pairwise(borders):
        chunk = text[start:end]
        inside = secret[max(0, start - at) : max(0, end - at)]
        if inside == secret:
            assert secret not in fresh(chunk), (chunk, fresh(chunk))
            seen["whole in a chunk"] += 1
        if any(piece.decode() in inside for piece in pieces):
            assert inside not in knowing(chunk), (secret, chunk, knowing(chunk))
            seen["telling part in a chunk"] += 1
    seen["chunks"] += len(borders) - 1
    return seen


PARTS = (
    Part(
        name="secrets in prose",
        group="redaction",
        holds="none comes through; redacting twice is redacting once, with another redactor of the key too",
        cases=10_000,
        check=in_prose,
    ),
    Part(
        name="secrets in JSON",
        group="redaction",
        holds="the same in values, keys, below names and in JSON within JSON, parsed and as text",
        cases=5000,
        check=in_json,
    ),
    Part(
        name="secrets cut in pieces",
        group="redaction",
        holds="no piece holds a whole secret; of one that was met before not a telling part",
        cases=10_000,
        check=cut,
    ),
)
