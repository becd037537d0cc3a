"""What can stop an accept: losses that fall on one arm, and guards that suffer."""

from __future__ import annotations

import pytest

from gate_builders import CHECK, POLICY, draw, task, trial
from nightschool.core.proposals import VerdictKind
from nightschool.core.trials import Arm, Pair
from nightschool.rules.gate import loss_verdict
from nightschool.rules.guards import fit_as_guard, guard_step, standings
from nightschool.rules.pairing import Losses, settle

# losses ----------------------------------------------------------------------------------------


def test_one_loss_of_ten_goes_on() -> None:
    """B24: nine scored, one lost: recorded, and nothing is refused."""
    assert loss_verdict(Losses(tried=10, draft_only=1), POLICY) is None


def test_losses_of_one_arm_are_invalid() -> None:
    """B24: six losses of the draft alone are seen by a two-sided 5 % test, five are not."""
    assert loss_verdict(Losses(tried=40, draft_only=5), POLICY) is None
    ruling = loss_verdict(Losses(tried=40, draft_only=6), POLICY)
    assert ruling is not None
    assert (ruling.kind, ruling.code) == (VerdictKind.INVALID, "losses-differ")
    assert loss_verdict(Losses(tried=60, both=6), POLICY) is None


def test_many_losses_decide_nothing() -> None:
    """B24: above the set share of losses the gate refuses to decide."""
    ruling = loss_verdict(Losses(tried=12, both=4), POLICY)
    assert ruling is not None
    assert (ruling.kind, ruling.code) == (VerdictKind.UNDECIDED, "many-losses")
    assert loss_verdict(Losses(tried=16, both=4), POLICY) is None
    assert loss_verdict(Losses(tried=4, both=3), POLICY) is None, "three losses are no share of anything"


# guards ----------------------------------------------------------------------------------------


def test_a_harmed_guard_blocks() -> None:
    """B30: a guard that the draft makes worse beyond noise blocks, whatever the mean does: with six
    guards at a harm of 60, after seven losses."""
    for losses, harmed in ((6, False), (7, True)):
        found = guard_step("g", [-1.0] * losses, tried=losses, guards=6, policy=POLICY)
        assert found.harmed is harmed
    assert guard_step("g", [-1.0] * 4, tried=4, guards=1, policy=POLICY).harmed


def test_a_guard_gets_five_pairs_up_to_twelve() -> None:
    """Five pairs each, then one at a time while the harm stays above 2, and never more than twelve."""
    clean = guard_step("g", [0.0] * 5, tried=5, guards=6, policy=POLICY)
    assert (clean.wanted, clean.harm) == (0, 1)
    assert guard_step("g", [0.0] * 3, tried=3, guards=6, policy=POLICY).wanted == 2
    assert guard_step("g", [-1.0, -1.0, 0, 0, 0], tried=5, guards=6, policy=POLICY).wanted == 1
    assert guard_step("g", [0.0] * 2, tried=11, guards=6, policy=POLICY).wanted == 1, "lost tries count"
    doubtful = [-1.0, -1.0, *[0.0] * 10]
    assert guard_step("g", doubtful, tried=12, guards=6, policy=POLICY).wanted == 0


def test_a_guard_names_what_it_cannot_see() -> None:
    """Five clean pairs still leave a loss of 45 points unseen, and the report says it."""
    found = guard_step("g", [0.0] * 5, tried=5, guards=6, policy=POLICY).report()
    assert found.unseen_loss == pytest.approx(0.4507, abs=1e-4)
    more = guard_step("g", [0.0] * 12, tried=12, guards=6, policy=POLICY).report()
    assert more.unseen_loss < found.unseen_loss


def test_other_checks_of_the_targets_are_a_guard() -> None:
    """B34: an edit that pleases its own check and breaks the others on the same tasks is blocked."""
    held = task("a")
    base, draft = trial(Arm.BASE, 0.0, (0,)), trial(Arm.DRAFT, 0.0, (1,))
    found = settle(draw(), base, draft, task=held, check=CHECK, cycle="cy")
    assert isinstance(found, Pair)
    assert found.d == 1
    (side,) = standings((), (), tried={}, targets=[found] * 4, policy=POLICY)
    assert side.harmed
    assert side.wanted == 0


@pytest.mark.parametrize(
    ("tries", "fit"),
    [
        ([1, 1, 1, 1], True),
        ([1, 1, 1, 0], None),
        ([1, 1, 1, 0, 1], True),
        ([1, 0, 0], False),
        ([1, 1, 1, None, None], False),
        ([], None),
    ],
)
def test_guards_pass_four_of_five(tries: list[float | None], fit: bool | None) -> None:  # noqa: FBT001 - a parameter of the table
    """A guard is a task that the base passes in four of five tries; a lost try is no pass."""
    assert fit_as_guard(tries, POLICY) is fit
