"""Counts, money and codes as a person reads them."""

from __future__ import annotations

import inspect
import re
from decimal import Decimal

import pytest

from nightschool.core.sessions import LeftOut
from nightschool.rules import pieces
from nightschool.rules.telling import LEFT_OUT, NO_TASK, counted, dollars, left_out, no_task
from nightschool.stages import mine


@pytest.mark.parametrize(
    ("amount", "told"),
    [
        ("0", "$0.00"),
        ("0.0001", "less than $0.01"),
        ("0.01", "$0.01"),
        ("15.45429500000000049", "$15.45"),
        ("1234.5", "$1234.50"),
    ],
)
def test_money_is_told_to_the_cent(amount: str, told: str) -> None:
    """Little is not nothing: less than a cent is said to be."""
    assert dollars(Decimal(amount)) == told


def test_one_is_no_plural() -> None:
    """A count agrees with its word."""
    assert [counted(number, "session") for number in (0, 1, 2)] == ["0 sessions", "1 session", "2 sessions"]
    assert counted(2, "try", "tries") == "2 tries"


def test_each_code_has_words() -> None:
    """No code of a reason reaches a person as it is; an unknown one is better than none."""
    source = inspect.getsource(pieces) + inspect.getsource(mine)
    codes = set(re.findall(r'code="([a-z-]+)"', source))
    codes |= set(re.findall(r'session\.id, "([a-z-]+)"', source))
    assert codes
    assert codes <= set(NO_TASK)
    documented = inspect.getsource(LeftOut).partition("A code: ")[2].partition(".")[0]
    assert set(re.findall(r"[a-z-]+", documented)) <= set(LEFT_OUT)
    assert left_out(3, "bad-record") == "left out: 3 x a damaged or too long line inside a session"
    assert no_task(1, "stopped") == "no task from 1 session: interrupted, or a call was turned down"
    assert no_task(2, "new-one") == "no task from 2 sessions: new-one"
