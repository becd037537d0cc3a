"""What can befall a transcript: rows lost, doubled, run together; bytes flipped; JSON of other shapes."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import Any

from soak.planted import token

GARBAGE = (
    b"", b" ", b"null", b"[]", b"7", b'"text"', b"{", b"}", b"{}{}", b"\x00" * 9, b"\xff\xfe{}",
    b"\xc3(", b'{"type":"user"',
    b'{"type":"user","message":{"role":"user","content":"\xed\xa0\x80"}}', b"\\", b'{"a":1}}',
)  # fmt: skip
ODD: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    10**30,
    1.5e308,
    "",
    [],
    {},
    [[]],
    [None],
    {"": None},
    "\ud800",
    "\x00",
    " ",
)
Rows = list[bytes]


def _lost(random: Random, rows: Rows) -> Rows:
    return [row for row in rows if random.random() > 0.2]


def _doubled(random: Random, rows: Rows) -> Rows:
    return [copy for row in rows for copy in (row,) * (1 + (random.random() < 0.2))]


def _moved(random: Random, rows: Rows) -> Rows:
    return random.sample(rows, len(rows))


def _swapped(random: Random, rows: Rows) -> Rows:
    rows = list(rows)
    for _ in range(random.randrange(1, 6)):
        one, other = random.randrange(len(rows)), random.randrange(len(rows))
        rows[one], rows[other] = rows[other], rows[one]
    return rows


def _joined(random: Random, rows: Rows) -> Rows:
    return [row.removesuffix(b"\n") if random.random() < 0.2 else row for row in rows]


def _littered(random: Random, rows: Rows) -> Rows:
    return [
        part
        for row in rows
        for part in ((row, random.choice(GARBAGE) + b"\n")[: 1 + (random.random() < 0.2)])
    ]


def _ended(random: Random, rows: Rows) -> Rows:
    content = b"".join(rows)
    return [content[: random.randrange(len(content) + 1)]]


def _windows(random: Random, rows: Rows) -> Rows:
    return [row.replace(b"\n", b"\r\n") if random.random() < 0.5 else row for row in rows]


OF_ROWS: tuple[Callable[[Random, Rows], Rows], ...] = (
    _lost, _doubled, _moved, _swapped, _joined, _littered, _ended, _windows,
)  # fmt: skip
"""These make no row that was not there."""


def _flipped(random: Random, rows: Rows) -> Rows:
    content = bytearray(b"".join(rows))
    for _ in range(random.randrange(1, 30)):
        content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    return [bytes(content)]


def _spoilt(random: Random, rows: Rows) -> Rows:
    content = b"".join(rows)
    for _ in range(random.randrange(1, 9)):
        at = random.randrange(len(content))
        content = (
            content[:at] + random.choice((b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf8\x88")) + content[at:]
        )
    return [content]


def _torn(random: Random, rows: Rows) -> Rows:
    """Parts of lines are gone, so that halves of two rows run together."""
    content = b"".join(rows)
    for _ in range(random.randrange(1, 6)):
        at = random.randrange(len(content))
        content = content[:at] + content[at + random.randrange(400) :]
        if not content:
            break
    return [content]


def _reshaped(random: Random, rows: Rows) -> Rows:
    """Values of other types, lost and renamed keys, in every fifth row."""
    return [_dumped(_changed(random, json.loads(row))) if random.random() < 0.2 else row for row in rows]


def _deep(random: Random, rows: Rows) -> Rows:
    rows = list(rows)
    at = random.randrange(len(rows))
    depth = random.choice((10, 61, 300, 1100, 5000, 50_000))
    left, right = random.choice((("[", "]"), ('{"a":', "}")))
    row = json.loads(rows[at])
    _node(random, row)[0]["deep"] = "@@"
    nested = left * depth + '"x"' + right * depth
    rows[at] = _dumped(row).replace(b'"@@"', nested.encode())
    return rows


OF_BYTES: tuple[Callable[[Random, Rows], Rows], ...] = (_flipped, _spoilt, _torn)
OF_JSON: tuple[Callable[[Random, Rows], Rows], ...] = (_reshaped, _deep)
"""These need rows that are whole."""


def plant(random: Random, rows: Rows) -> tuple[Rows, list[str]]:
    """Secrets in values of some rows: in the place of a value, in front of it, behind it, or as a key."""
    made, found = [], []
    for row in rows:
        if random.random() > 0.1:
            made.append(row)
            continue
        value, secret = json.loads(row), token(random)
        holder, key = _node(random, value)
        old = holder.get(key)
        text = old if isinstance(old, str) else ""
        holder[key] = random.choice((secret, f"{secret} {text}", f"{text} {secret}", f'{text}\n"{secret}"'))
        if random.random() < 0.1:
            holder[secret] = 1
        made.append(_dumped(value))
        found.append(secret)
    return made, found


def _changed(random: Random, row: dict[str, Any]) -> dict[str, Any]:
    for _ in range(random.randrange(1, 4)):
        holder, key = _node(random, row)
        match random.randrange(4):
            case 0:
                holder.pop(key, None)
            case 1:
                holder[key + "x"] = holder.pop(key, None)
            case 2:
                other, name = _node(random, row)
                holder[key] = json.loads(json.dumps(other.get(name)))
            case _:
                holder[key] = deepcopy(random.choice(ODD))  # changed later, it is this row's alone
    return row


def _node(random: Random, row: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """A place in a row at any depth: the object that holds it, and its key."""
    places = list(_places(row))
    return random.choice(places) if places else (row, "type")


def _places(value: Any) -> list[tuple[dict[str, Any], str]]:
    found: list[tuple[dict[str, Any], str]] = []
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, dict):
            found += [(item, key) for key in item]
            todo += item.values()
        elif isinstance(item, list):
            todo += item
    return found


def _dumped(row: dict[str, Any]) -> bytes:
    return json.dumps(row, separators=(",", ":")).encode() + b"\n"
