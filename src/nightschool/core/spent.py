"""What replies of a model took, as a transcript tells it. Relieves `sessions`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeVar

from nightschool.core.values import Value

MOST = 1 << 53
"""No count of tokens and no sum of money reaches it: what does is unknown."""
_MICRO = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent(Value):
    """What replies of a model took, each counted once. None: the rows do not tell."""

    input: int | None = None
    """Tokens, those from a cache included."""
    output: int | None = None
    cost: Decimal | None = None
    """US dollars, where the agent names them."""

    def __add__(self, other: Spent) -> Spent:
        """Of a sum with something unknown in it no more is known than what is known of it."""
        return Spent(
            input=known_sum(self.input, other.input),
            output=known_sum(self.output, other.output),
            cost=known_sum(self.cost, other.cost),
        )


Number = TypeVar("Number", int, Decimal)


def known_sum(one: Number | None, other: Number | None) -> Number | None:
    return None if one is None or other is None else within(one + other)


def within(number: Number) -> Number | None:
    """The number, where it can be one. What is stored of it must fit where it is kept."""
    return number if 0 <= number < MOST else None


def count_of(value: object) -> int | None:
    """A number of tokens."""
    return within(value) if isinstance(value, int) and not isinstance(value, bool) else None


def money_of(value: object) -> Decimal | None:
    """US dollars. Their millionths, in which they are summed up, must be a number too."""
    known = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < MOST // _MICRO
    return Decimal(str(value)) if known else None


def all_spent(each: Iterable[Spent | None]) -> Spent | None:
    """None where nothing is known of any."""
    found = [one for one in each if one is not None]
    return sum(found[1:], found[0]) if found else None
