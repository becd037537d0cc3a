"""What judges the agent in a session. Relieves `sessions`, which says what was said and done."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from nightschool.core.values import Value


class SignalKind(StrEnum):
    CORRECTION = "correction"
    REFUSAL = "refusal"
    INTERRUPTION = "interruption"
    APPROVAL = "approval"
    REVERT = "revert"
    """The person took back what came behind this turn."""
    REPEAT = "repeat"
    """The same request again, after the agent had acted on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal(Value):
    """Something a human said or did that judges the agent."""

    kind: SignalKind
    turn: int
    """Index into `Session.turns`: of the human's turn for words, of the agent's for acts."""
    quote: str = ""
    """The human's words that carry it; "" for acts."""
    call_id: str | None = None
