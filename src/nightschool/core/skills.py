"""What a skill is: a folder with a SKILL.md, whose head says its name and when to open it.

Relieves surfaces and rules, which both have to know where a head ends and what it may hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nightschool.core.values import Value

FILE = "SKILL.md"
NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
LONGEST_NAME = 64
LONGEST_DESCRIPTION = 1024
"""Characters, by the rules of Agent Skills."""
FENCE = b"---"
BOM = b"\xef\xbb\xbf"
"""A mark of the byte order."""
_FIELD = re.compile(r"([A-Za-z_][\w.-]*):(?:[ \t]+(.*))?$")
_BLOCK = re.compile(r"[|>][+-]?\d?[+-]?\s*(?:#.*)?$")
_ESCAPED = re.compile(r"\\([\"\\/nt])")
_MEANT = {"n": "\n", "t": "\t"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill(Value):
    """A skill that an agent has at hand."""

    name: str
    """As the agent calls it."""
    place: str
    """The path of its SKILL.md inside a harness."""

    @property
    def folder(self) -> str:
        return self.place.removesuffix(f"/{FILE}")


def head_and_body(content: bytes) -> tuple[bytes, bytes] | None:
    """The head with its two lines `---` (and a mark of the byte order before it), and all behind it. An
    empty head where there is none; None where one is opened and never closed."""
    start = len(BOM) if content.startswith(BOM) else 0
    first, _, _ = content[start:].partition(b"\n")
    if first.rstrip() != FENCE:
        return b"", content
    at = start + len(first) + 1
    while at < len(content):
        line, end, _ = content[at:].partition(b"\n")
        at += len(line) + len(end)
        if line.rstrip() == FENCE:
            return content[:at], content[at:]
    return None


def fields(head: bytes) -> dict[str, str]:
    """The texts under the keys of a head, as far as one can tell without a parser of YAML."""
    found: dict[str, str] = {}
    key = ""
    for line in _lines(head):
        match = _FIELD.match(line)
        if match is not None:
            key = match.group(1)
            value = (match.group(2) or "").strip()
            found[key] = "" if _BLOCK.match(value) else value
        elif key and line[:1] in {" ", "\t"}:
            found[key] = f"{found[key]} {line.strip()}".strip()
    return {key: _plain(value) for key, value in found.items()}


def head_faults(head: bytes) -> Iterator[tuple[int, str]]:
    """Lines of a head that no parser of YAML reads as they are meant, each with its number and why."""
    for number, line in enumerate(_lines(head), start=2):
        match = _FIELD.match(line)
        value = "" if match is None else (match.group(2) or "").strip()
        if match is None or not value or value[0] in "\"'|>[{&*!#":
            continue
        if re.search(r":(?:\s|$)", value):
            yield number, f"`{match.group(1)}` holds `: ` outside of quotes (mapping values not allowed here)"
        elif value[0] in "@`%":
            yield number, f"`{match.group(1)}` begins with `{value[0]}` outside of quotes"


def _lines(head: bytes) -> list[str]:
    return head.decode("utf-8", "replace").lstrip("\ufeff").splitlines()[1:-1]


def _plain(value: str) -> str:
    """A value without its quotes."""
    if len(value) >= 2 and value[0] == value[-1] == '"':
        return _ESCAPED.sub(lambda match: _MEANT.get(match.group(1), match.group(1)), value[1:-1])
    if len(value) >= 2 and value[0] == value[-1] == "'":
        return value[1:-1].replace("''", "'")
    return value.partition(" #")[0].rstrip()
