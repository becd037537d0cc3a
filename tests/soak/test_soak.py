"""A twentieth of each soak, by the same code."""

from __future__ import annotations

from random import Random

import pytest

from soak.cases import Part, run
from soak.mutations import ODD, OF_JSON
from soak.parts import PARTS


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name.replace(" ", "-"))
def test_a_share_of_the_soak_holds(part: Part) -> None:
    """What `make soak` measures in many cases holds in few."""
    result = run(part, seed=20, cases=part.few, width=1)
    assert result.failures == []
    assert result.seen.total() > 0


def test_a_case_hangs_on_its_seed_alone() -> None:
    """What befell the rows of one case changes those of no other: cases can be run alone and in any order."""
    rows = [b'{"a": {}}'] * 40
    before = [act(Random(1), rows) for act in OF_JSON]
    odd = repr(ODD)
    for seed in range(500):
        for act in OF_JSON:
            act(Random(seed), rows)
    assert [act(Random(1), rows) for act in OF_JSON] == before
    assert repr(ODD) == odd
