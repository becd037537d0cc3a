"""Adds up what statements say."""

from collections.abc import Iterable


def total(amounts: Iterable[int]) -> int:
    return sum(amounts)
