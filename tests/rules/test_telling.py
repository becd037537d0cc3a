"""Counts, money and codes as a person reads them."""

from __future__ import annotations

import inspect
import re
from datetime import timedelta
from decimal import Decimal

import pytest

from nightschool.core.sessions import LeftOut
from nightschool.rules import pieces
from nightschool.rules.telling import (
    LEFT_OUT,
    NO_TASK,
    about_minutes,
    about_tokens,
    counted,
    dollars,
    figures,
    left_out,
    no_task,
    took,
)
from nightschool.stages import mine


@pytest.mark.parametrize(
    ("amount", "told"),
    [
        ("0", "$0.00"),
        ("0.0001", "less than $0.01"),
        ("0.01", "$0.01"),
        ("15.45429500000000049", "$15.45"),
        ("1234.5", "$1,234.50"),
        ("-0.38676000000000000", "-$0.39"),
    ],
)
def test_money_is_told_to_the_cent(amount: str, told: str) -> None:
    """Little is not nothing: less than a cent is said to be."""
    assert dollars(Decimal(amount)) == told


def test_one_is_no_plural() -> None:
    """A count agrees with its word."""
    assert [counted(number, "session") for number in (0, 1, 2)] == ["0 sessions", "1 session", "2 sessions"]
    assert counted(60_000, "token") == "60,000 tokens"
    assert counted(2, "try", "tries") == "2 tries"


def test_an_estimate_is_no_fraction() -> None:
    """An estimate says no more than it knows, and never that something takes nothing."""
    spans = [timedelta(seconds=20), timedelta(seconds=70), timedelta(minutes=40.4)]
    assert [about_minutes(one) for one in spans] == [
        "less than a minute",
        "about 1 minute",
        "about 40 minutes",
    ]
    assert [took(one) for one in spans] == ["20 seconds", "1.2 minutes", "40.4 minutes"]
    numbers = [61_300, 3_240_000]
    assert [about_tokens(one) for one in numbers] == ["about 61,000 tokens", "about 3.2 million tokens"]


def test_figures_have_no_powers_of_ten() -> None:
    """What grows beyond a thousand stays a number that is read at a glance."""
    told = [
        "less than 0.001",
        "0.0782",
        "1",
        "16.4",
        "217",
        "2,020",
        "1.1 million",
        "more than 1,000 million",
    ]
    values = [1e-9, 0.07821, 1, 16.449, 217.3, 2018.7, 1.14e6, 1e12]
    assert [figures(one) for one in values] == told


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
