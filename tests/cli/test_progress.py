"""What a cycle tells on its way, and when it is shown."""

from __future__ import annotations

import pytest

from nightschool.cli.output import Output
from nightschool.cli.progress import Told


def test_it_is_shown_only_within_its_block(capsys: pytest.CaptureFixture[str]) -> None:
    """Between two phases, while a question may stand there, nothing is written."""
    told = Told()
    told("too early", 1, 9)
    with told.shown(Output(), "run, jobs"):
        told("exam, pair 1: evidence 1 of 16.4", 3, 9)
    told("too late", 9, 9)
    assert capsys.readouterr().err == "run, jobs 3/9: exam, pair 1: evidence 1 of 16.4\n"


def test_who_knows_better_says_how_much_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    """A total of the caller's stands in the place of the budget's; where nobody has one, none is shown."""
    told = Told()
    with told.shown(Output(), "calibrate, jobs", total=4):
        told("pair 1 of 2", 1, 100)
    with told.shown(Output(), "run, jobs"):
        told("editing", 1, None)
    assert capsys.readouterr().err == "calibrate, jobs 1/4: pair 1 of 2\nrun, jobs 1: editing\n"
