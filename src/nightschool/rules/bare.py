"""Values and their words: all texts in one, and an outcome without them. Relieves `forgetting`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace

from nightschool.core.jobs import Failed, Outcome

GONE = "(forgotten)"


def use_alone(outcome: Outcome) -> Outcome:
    """An outcome with its use alone."""
    if isinstance(outcome, Failed):
        return replace(outcome, message=GONE, files=(), trajectory=())
    return replace(outcome, reply=GONE, files=(), trajectory=())


def strings(value: object) -> Iterator[str]:
    """All texts in a value, those of files too."""
    match value:
        case str():
            yield value
        case bytes():
            yield value.decode("utf-8", "replace")
        case tuple() | list():
            for item in value:
                yield from strings(item)
        case _ if is_dataclass(value):
            for part in fields(value):
                yield from strings(getattr(value, part.name))
