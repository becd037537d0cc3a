"""Names of home folders and of machines, where a person wants them hidden. Relieves `redaction` of where they
stand: they are no secrets, so they stay in a text that is nothing but a path, which a task begins in."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import re2

from nightschool.rules.secret_text import LATIN

HOME, HOST = "home", "host"
_SHORTEST_HOST = 3
_OF_NOBODY = frozenset(
    b"user users runner ubuntu debian node vscode root admin Shared Public Default me you name".split()
)
"""Names of images and of examples."""
_AT_HOME = re2.compile(
    rb"((?:/home/|/Users/|\\{1,8}Users\\{1,8})|(?:^|[^A-Za-z0-9])-(?:home|Users)-)([A-Za-z0-9][A-Za-z0-9._]{0,63})",
    LATIN,
)
_A_PATH = re.compile(r"(?:/|~/|[A-Za-z]:\\)\S*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """What is hidden: whoever's home folder it is, and machines of these names."""

    homes: bool = False
    hosts: tuple[str, ...] = ()

    def hides_in(self, text: str) -> bool:
        return (self.homes or bool(self.hosts)) and _A_PATH.fullmatch(text) is None

    def hidden(self, content: bytes, stand_in: Callable[[str, bytes], bytes]) -> bytes:
        """The content with a stand-in for each name; the same object where there is none."""
        pieces: list[bytes] = []
        done = 0
        for kind, start, end in sorted(self._found(content), key=lambda found: found[1]):
            if start < done:
                continue
            pieces += [content[done:start], stand_in(kind, content[start:end])]
            done = end
        return b"".join([*pieces, content[done:]]) if done else content

    def _found(self, content: bytes) -> Sequence[tuple[str, int, int]]:
        found = []
        if self.homes:
            found += [
                (HOME, *match.span(2))
                for match in _AT_HOME.finditer(content)
                if match.group(2).rstrip(b".") not in _OF_NOBODY
            ]
        names = [name for name in self.hosts if len(name) >= _SHORTEST_HOST and name != "localhost"]
        if names:
            words = "|".join(re2.escape(name) for name in sorted(names, key=len, reverse=True))
            pattern = re2.compile(rf"(?i)\b(?:{words})\b".encode(), LATIN)
            found += [(HOST, *match.span()) for match in pattern.finditer(content)]
        return found
