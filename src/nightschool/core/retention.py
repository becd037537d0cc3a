"""How long transcripts stay. Relieves `sessions`, which says what stands in them."""

from __future__ import annotations

from dataclasses import dataclass

from nightschool.core.values import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention(Value):
    """How long an agent leaves its transcripts where they are."""

    days: int | None
    """Since the last use; None where the settings that say it cannot be read."""
    place: str
    """Which file says so, or that it is the agent's default."""
    setting: str
    """What a person sets to change it, with its file."""
