"""What every stored value has in common: frozen, strict when read back, and a digest."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, ClassVar, NewType

Digest = NewType("Digest", str)
"""Lower-case hex SHA-256. The name of a piece of content; equal content, equal name."""


class Value:
    """Base of everything that is stored: unknown keys are an error, bytes travel as base64."""

    __slots__ = ()
    __pydantic_config__: ClassVar[Mapping[str, str]] = {
        "extra": "forbid",
        "ser_json_bytes": "base64",
        "val_json_bytes": "base64",
    }


class Record(Value):
    """A value the store keeps under an id.

    `id` is unique within its kind. `owner` is what it is looked up by besides its id
    (a draft's evidence is owned by the draft, a pair by its wealth); "" where nothing owns it.
    `GROWS` marks the few kinds whose stored copy may be replaced by a newer one; all others
    are append-only, and writing another content under a known id is a `Conflict`.
    """

    __slots__ = ()
    GROWS: ClassVar[bool] = False

    @property
    def id(self) -> str:
        raise TypeError(f"{type(self).__name__} must say what its id is")

    @property
    def owner(self) -> str:
        return ""


def digest_bytes(content: bytes) -> Digest:
    """The digest of raw bytes, e.g. of a file or a blob."""
    return Digest(hashlib.sha256(content).hexdigest())


def digest_of(*parts: object) -> Digest:
    """The digest of values, the same in every process and version of Python.

    Parts may be anything that a `Value` may hold; dictionaries are ordered by key.
    """
    return digest_bytes(canonical(parts))


def canonical(value: object) -> bytes:
    """Canonical JSON of a value: sorted keys, no spaces, UTF-8."""
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode(
        "utf-8", "surrogatepass"
    )


def _plain(value: object) -> Any:  # noqa: C901, PLR0911 - a flat table of types
    match value:
        case None | bool() | int() | float():
            return value
        case Enum():
            return value.value
        case str():
            return value
        case bytes():
            return {"base64": base64.b64encode(value).decode("ascii")}
        case datetime():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case Decimal():
            return str(value)
        case Mapping():
            return {str(key): _plain(item) for key, item in value.items()}
        case tuple() | list():
            return [_plain(item) for item in value]
        case set() | frozenset():
            return sorted((_plain(item) for item in value), key=repr)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"kind of value": type(value).__name__, **fields}
    raise TypeError(f"no canonical form for {type(value).__name__}")
