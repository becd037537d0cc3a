"""Reads from a person's configuration which parts of their agent it names. Names only, never values."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nightschool.core.harness import Absent

LONGEST_NAME = 80
LARGEST = 32 << 20
NOTHING: Mapping[str, Any] = {}


def _parsed(suffix: str, content: bytes) -> Any:
    text = content.decode("utf-8-sig")
    return tomllib.loads(text) if suffix == ".toml" else json.loads(text)


class Configuration:
    """One file of settings, JSON or TOML. One that is not there names nothing; of one that cannot be read
    it is unknown what it names, and `absent` says so."""

    def __init__(self, path: Path) -> None:
        self._place = str(path)
        self._values: Mapping[str, Any] | None = NOTHING
        try:
            with path.open("rb") as file:
                # A project's file comes with a clone: it may be a link to what has no end.
                content = file.read(LARGEST + 1)
            parsed = _parsed(path.suffix, content) if len(content) <= LARGEST else None
        except FileNotFoundError:
            return
        except (OSError, ValueError, RecursionError):
            parsed = None
        self._values = parsed if isinstance(parsed, dict) else None

    def names(self, *keys: str) -> Iterator[str]:
        """The names in the table at these keys, without those that are switched off."""
        value = self._at(keys)
        for name, about in value.items() if isinstance(value, Mapping) else ():
            off = about in (False, None, [], {}) or (
                isinstance(about, Mapping)
                and (about.get("enabled") is False or about.get("disabled") is True)
            )
            if not off:
                yield str(name)

    def _at(self, keys: Sequence[str]) -> object:
        value: object = self._values
        for key in keys:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value

    def is_on(self, *keys: str) -> bool:
        """Whether something is said there, and it is not no."""
        return bool(self._at(keys))

    def count(self, *keys: str) -> int | None:
        """The whole number at these keys; None where there is none."""
        value = self._at(keys)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    @property
    def is_read(self) -> bool:
        """Whether it is known what the file says; one that is not there says nothing."""
        return self._values is not None

    def absent(self, kind: str, *keys: str) -> Iterator[Absent]:
        """What the table at these keys names, as a kind of thing that no practice has."""
        for name in self.names(*keys):
            yield self.one(kind, name)

    def one(self, kind: str, name: str) -> Absent:
        return Absent(kind=kind, name=" ".join(name.split())[:LONGEST_NAME], place=self._place)

    def unread(self) -> Iterator[Absent]:
        if self._values is None:
            yield self.one("unknown", "it cannot be read")


def managed(paths: Sequence[Path]) -> Iterator[Absent]:
    """Policy of the machine: it shapes the agent at the desk, and no replay may write where it lies."""
    for path in paths:
        if os.path.exists(path):  # noqa: PTH110 - unlike Path it says no where it may not look
            yield Absent(kind="managed policy", name=path.name, place=str(path))
