"""A person's word that a file is to be left alone. Relieves `proposals`, which no pin is part of."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from nightschool.core.values import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin(Record):
    """A person's word that a file is to be left as it is, or (`holds` False) no longer. The newest counts."""

    number: str
    """Ordered: `p-0001`."""
    path: str
    """The real path."""
    holds: bool
    actor: str
    reason: str = ""
    at: datetime

    @property
    def id(self) -> str:
        return self.number

    @property
    def owner(self) -> str:
        return self.path
