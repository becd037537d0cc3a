"""Finds statements that cannot be right."""


def balanced(amounts: list[int], closing: int) -> bool:
    return sum(amounts) == closing
