"""A twentieth of each soak, by the same code."""

from __future__ import annotations

import pytest

from soak.cases import Part, run
from soak.parts import PARTS


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name.replace(" ", "-"))
def test_a_share_of_the_soak_holds(part: Part) -> None:
    """What `make soak` measures in many cases holds in few."""
    result = run(part, seed=20, cases=part.few, width=1)
    assert result.failures == []
    assert result.seen.total() > 0
