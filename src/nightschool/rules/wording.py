"""Texts as runs of words, so that a text can be known again in another's punctuation and case."""

from __future__ import annotations

import re
import unicodedata

_GAPS = re.compile(r"[\W_]+")  # one class of characters: linear
_WIDE = re.compile(r"([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])")
"""Scripts without spaces between words: each sign stands for half a word."""


def words(text: str) -> list[str]:
    return _GAPS.sub(" ", _WIDE.sub(r" \1 ", unicodedata.normalize("NFKC", text).casefold())).split()


def joined(text: str) -> str:
    """The words with one space around each, so that a run of words is a substring."""
    return f" {' '.join(words(text))} "


def runs(text: str, least: int) -> list[str]:
    """All runs of `least` words, each as a substring of `joined`."""
    found = words(text)
    result: list[str] = []
    behind, weight = 0, 0
    for start in range(len(found)):
        while behind < len(found) and weight < 2 * least:
            weight += _weight(found[behind])
            behind += 1
        if weight < 2 * least:
            break
        result.append(f" {' '.join(found[start:behind])} ")
        weight -= _weight(found[start])
    return result


def holds(text: str, term: str) -> bool:
    """Whether the term stands in the text as whole words, whatever the punctuation and case."""
    run = joined(term)
    return run.strip() != "" and run in joined(text)


def _weight(word: str) -> int:
    return 1 if _WIDE.fullmatch(word) else 2
