"""Groups texts that share nearly all their words. Relieves splits and corrections of the same search."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping


def alike_groups(texts: Mapping[str, frozenset[str]], threshold: float) -> tuple[tuple[str, ...], ...]:
    """The names in groups, joined where the Jaccard overlap of two sets of words reaches the threshold.

    Every name is in one group, alone if nothing is like it. An empty set is like nothing. Groups and
    names are sorted, whatever the order of the mapping.
    """
    parent = {name: name for name in texts}

    def find(name: str) -> str:
        while parent[name] != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    for one, other in _pairs(texts, threshold):
        low, high = sorted((find(one), find(other)))
        parent[high] = low
    groups: dict[str, list[str]] = defaultdict(list)
    for name in sorted(texts):
        groups[find(name)].append(name)
    return tuple(sorted(tuple(group) for group in groups.values()))


def _pairs(texts: Mapping[str, frozenset[str]], threshold: float) -> Iterator[tuple[str, str]]:
    """Pairs that reach the threshold. Only texts that share one of their rarest words are compared:
    two sets that overlap so much cannot differ in all of the first (1 - threshold) of their words."""
    frequency: dict[str, int] = defaultdict(int)
    for words in texts.values():
        for word in words:
            frequency[word] += 1
    holders: dict[str, list[str]] = defaultdict(list)
    for name in sorted(texts):
        words = texts[name]
        rarest = sorted(words, key=lambda word: (frequency[word], word))
        prefix = len(words) - math.ceil(threshold * len(words) - 1e-9) + 1
        compared: set[str] = set()
        for word in rarest[:prefix]:
            for other in holders[word]:
                if other not in compared:
                    compared.add(other)
                    if overlap(words, texts[other]) >= threshold:
                        yield other, name
            holders[word].append(name)


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """The Jaccard overlap of two sets of words, in [0, 1]; an empty set is like nothing: 0."""
    small, large = sorted((len(one), len(other)))
    if small == 0:
        return 0.0
    common = len(one & other)
    return common / (small + large - common)
