"""What an exam is bound to: terms fixed before the first pair, draws that are never used again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from exam_builders import GUARDS, TARGETS, exam, helpful, sit, useless
from gate_builders import ScriptedPractice
from nightschool.core.harness import File, Harness
from nightschool.core.proposals import Certify, VerdictKind
from nightschool.core.tasks import Task
from nightschool.core.trials import (
    SIDE_CHECKS,
    AlphaEntry,
    Arm,
    Draw,
    LostPair,
    Pair,
    Partition,
    TrialRequest,
)
from nightschool.core.values import Digest, digest_of
from nightschool.rules.betting import alpha_share
from nightschool.rules.gate import Policy
from nightschool.stages.examine import without_holdout
from nightschool.testing.memory_store import MemoryStore

# terms -----------------------------------------------------------------------------------------


def test_alpha_cannot_be_moved_once_pairs_were_seen() -> None:
    """A draft keeps the level that it began with: raising alpha later lowers no bar, and the ledger says
    what was spent."""
    loose = Policy(alpha=0.9)
    for seed in range(100):
        store = MemoryStore()
        first = sit(exam(), ScriptedPractice(mild, jobs=24), store, seed=seed)
        if first.kind is VerdictKind.UNDECIDED and (first.wealth or 0) >= 3 and first.clusters_won >= 5:
            break
    else:
        pytest.fail("no exam stood between the two levels")
    fresh = sit(exam(), ScriptedPractice(mild), seed=seed, policy=loose)
    assert fresh.pairs <= first.pairs, "the looser level would have ended it already"
    second = sit(exam(), ScriptedPractice(mild, jobs=0), store, policy=loose, cycle="next", seed=seed)
    assert (second.kind, second.code) == (VerdictKind.UNDECIDED, "budget-ended")
    assert (second.alpha, second.k, second.path) == (alpha_share(0.1, 1), 1, first.path)
    assert [(entry.alpha, entry.k) for entry in store.find(AlphaEntry)] == [(0.1, 1)]


def mild(held: Task, arm: Arm) -> float:
    if held in TARGETS:
        return 0.8 if arm is Arm.DRAFT else 0.4
    return 1.0


def test_a_margin_cannot_be_moved_once_pairs_were_seen() -> None:
    """A draft that deletes keeps the margin that it began with."""
    store, sat = MemoryStore(), exam(certify=Certify.NOT_WORSE)

    def same(_held: Task, _arm: Arm) -> float:
        return 1.0

    first = sit(sat, ScriptedPractice(same, jobs=20), store)
    assert first.kind is VerdictKind.UNDECIDED
    second = sit(sat, ScriptedPractice(same), store, policy=Policy(margin=0.9), cycle="next")
    whole = sit(sat, ScriptedPractice(same))
    assert (second.margin, second.path) == (0.15, whole.path)


def test_a_new_draft_takes_the_new_alpha() -> None:
    """A changed setting holds for drafts that begin after it, and each verdict names what it spent."""
    store = MemoryStore()
    sit(exam(), ScriptedPractice(useless), store)
    later = sit(exam(rule="use pnpm, please"), ScriptedPractice(useless), store, policy=Policy(alpha=0.05))
    assert later.alpha == alpha_share(0.05, 2)


@pytest.mark.parametrize("name", ["runner", "runner_version", "model", "conditions", "judge"])
def test_a_wealth_is_not_kept_over_a_change(name: str) -> None:
    """When runner, version, model, judge or the conditions of a trial change, the wealth starts at 1 as a
    new k, on pairs of its own."""
    store, sat = MemoryStore(), exam()
    first = sit(sat, ScriptedPractice(helpful, jobs=14), store)
    changed = replace(sat.key, **{name: digest_of("another")})
    other = sit(replace(sat, key=changed), ScriptedPractice(helpful), store, cycle="next")
    assert (first.k, other.k) == (1, 2)
    by_wealth = [{pair.draw for pair in store.find(Pair, key.digest)} for key in (sat.key, changed)]
    assert by_wealth[0]
    assert not by_wealth[0] & by_wealth[1]
    assert other.path[0] == 1
    targets = [pair for pair in store.find(Pair, changed.digest) if pair.role == "target"]
    assert len(other.path) <= len(targets) + 1


def test_an_exam_is_of_one_revision() -> None:
    """Draft, harness, base and tasks that do not belong together are refused before anything is tried."""
    sat = exam()
    other = Harness.of([File(path="project/CLAUDE.md", content=b"another rule")])
    with pytest.raises(ValueError, match="does not hold what the draft would write"):
        replace(sat, proposed=other)
    with pytest.raises(ValueError, match="does not hold what the draft would write"):
        replace(sat, proposed=Harness())
    with pytest.raises(ValueError, match="different bases"):
        replace(sat, base=other)
    with pytest.raises(ValueError, match="other tasks or checks"):
        replace(sat, key=replace(sat.key, checks=Digest("0" * 64)))
    with pytest.raises(ValueError, match="another draft"):
        replace(sat, key=replace(sat.key, draft=Digest("0" * 64)))
    with pytest.raises(ValueError, match="another hold-out"):
        replace(sat, key=replace(sat.key, holdout="other.1"))


# draws -----------------------------------------------------------------------------------------


def test_a_draw_number_is_never_used_again() -> None:
    """Two hold-out versions that share tasks share no draw number: else a finished job of the first would
    answer for a fresh trial of the second, with the same task, arm and base."""
    store = MemoryStore()
    first, second = ScriptedPractice(helpful), ScriptedPractice(helpful)
    sit(exam(), first, store)
    sit(exam(version=2), second, store, cycle="next")
    asked = [
        {
            (one.task.id, one.arm, one.harness.digest, one.draw)
            for one in practice.asked
            if one.draw is not None
        }
        for practice in (first, second)
    ]
    assert asked[0]
    assert asked[1]
    assert not asked[0] & asked[1]
    numbers = [draw.draw for draw in store.find(Draw)]
    assert len(numbers) == len(set(numbers))


def test_both_orders_of_the_arms_occur() -> None:
    """The two trials of a pair stand side by side, now the base first, now the draft."""
    practice = ScriptedPractice(useless)
    sit(exam(), practice)
    first = [one.arm for one in practice.asked if one.purpose == "target"][::2]
    assert {Arm.BASE, Arm.DRAFT} == set(first)
    arms = [one.arm for one in practice.asked if one.purpose == "target"]
    draws = [one.draw for one in practice.asked if one.purpose == "target"]
    assert draws[::2] == draws[1::2]
    assert all(one is not other for one, other in zip(arms[::2], arms[1::2], strict=True))


def test_only_target_pairs_are_bet_on() -> None:
    """Pairs of guards and of the report, on record under the same wealth, move it by nothing."""
    store = MemoryStore()
    verdict = sit(exam(), ScriptedPractice(helpful), store)
    roles = {pair.role for pair in store.find(Pair)}
    assert roles == {"target", "guard", "report"}
    assert verdict.pairs == len(verdict.path) - 1
    assert sit(exam(), ScriptedPractice(helpful, jobs=0), store, cycle="later").path == verdict.path


# before anything is spent, and after -------------------------------------------------------------


def test_underpowered_is_not_said_of_what_was_begun() -> None:
    """Once alpha is spent a small budget only postpones: undecided, never "underpowered"."""
    store = MemoryStore()
    lost = sit(exam(), ScriptedPractice(helpful, lose=lambda _: True), store)
    assert (lost.code, lost.pairs, lost.k) == ("many-losses", 0, 1)
    again = sit(exam(), ScriptedPractice(helpful, jobs=0), store, cycle="next")
    assert again.kind is VerdictKind.UNDECIDED


def test_no_holdout_is_underpowered() -> None:
    """Without a held-out task nothing was spent and nothing is claimed: every number is unknown."""
    sat = exam()
    verdict = without_holdout(sat.draft, Policy(), cycle="cy", now=sat.draft.created_at)
    assert (verdict.kind, verdict.code) == (VerdictKind.UNDERPOWERED, "few-targets")
    assert (verdict.k, verdict.alpha, verdict.wealth, verdict.base, verdict.proposal) == (None,) * 5


# losses and guards -------------------------------------------------------------------------------


def test_losses_of_a_suggestion_are_counted() -> None:
    """In mode `suggest` too, a lost trial is reported for its arm and makes no pair."""
    store = MemoryStore()

    def lose(request: TrialRequest) -> bool:
        return request.arm is Arm.DRAFT and request.draw in {1, 2}

    verdict = sit(exam(), ScriptedPractice(helpful, lose=lose), store, policy=Policy(mode="suggest"))
    assert (verdict.pairs, verdict.losses_base, verdict.losses_draft) == (4, 0, 2)
    assert len(store.find(LostPair)) == 2


def test_a_guard_that_served_goes_on() -> None:
    """What a guard showed is never dropped, also where a guard before it in the order is fit only later."""
    store, known = MemoryStore(), MemoryStore()
    sit(exam(), ScriptedPractice(helpful), known)
    (parted,) = known.find(Partition)

    def lose(request: TrialRequest) -> bool:
        return request.purpose == "probe" and request.task.id in parted.guards[:2]

    whole = ScriptedPractice(helpful, lose=lose)
    sit(exam(), whole, MemoryStore())
    jobs = len(whole.made) - sum(one.purpose == "report" for one in whole.asked) - 2
    first = sit(exam(), ScriptedPractice(helpful, lose=lose, jobs=jobs), store)
    served = {pair.task for pair in store.find(Pair) if pair.role == "guard"}
    assert (first.kind, len(served)) == (VerdictKind.UNDECIDED, 6)
    second = sit(exam(), ScriptedPractice(helpful), store, cycle="next")
    assert second.kind is VerdictKind.ACCEPT
    assert served == {guard.task for guard in second.guards} - {SIDE_CHECKS}


def test_what_a_person_protects_always_guards() -> None:
    """A protected task guards whatever the base scores there, also one that is a target, and also where it
    was protected after the exam had begun."""
    store = MemoryStore()
    sit(exam(), ScriptedPractice(helpful, jobs=14), store)
    names = (TARGETS[0].id, GUARDS[2].id)
    verdict = sit(exam(protected=names), ScriptedPractice(helpful), store, cycle="next")
    assert set(names) <= {guard.task for guard in verdict.guards}


def test_harm_to_other_checks_is_looked_into() -> None:
    """Where seven pairs leave the other checks of the targets in doubt, pairs are drawn for them until they
    are harmed or in the clear, outside the wealth."""
    doubtful = False
    for seed in range(6):
        store = MemoryStore()
        broken = ScriptedPractice(helpful, breaks=lambda held, arm: held in TARGETS and arm is Arm.DRAFT)
        verdict = sit(exam(), broken, store, seed=seed)
        assert (verdict.kind, verdict.code) == (VerdictKind.REJECT, "guard-harmed")
        (side,) = [guard for guard in verdict.guards if guard.task == SIDE_CHECKS]
        drawn = [pair for pair in store.find(Pair) if pair.role == "side"]
        assert (side.pairs, side.total) == (8, -8)
        assert len(drawn) == max(0, 8 - verdict.pairs)
        assert len(verdict.path) == verdict.pairs + 1
        doubtful = doubtful or bool(drawn)
    assert doubtful, "in some exam seven pairs were enough for the wealth"


def test_a_draft_gets_so_many_pairs_and_no_more() -> None:
    """After the most pairs that a draft gets it stays undecided, and no later cycle draws another."""
    store = MemoryStore()

    def alike(_held: Task, _arm: Arm) -> float:
        return 0.5

    few = Policy(most_pairs=9, reject_after=99)
    for cycle in ("cy", "next"):
        verdict = sit(exam(), ScriptedPractice(alike), store, policy=few, cycle=cycle)
        assert (verdict.kind, verdict.code, verdict.pairs) == (VerdictKind.UNDECIDED, "pairs-ended", 9)
    assert len(store.find(Draw)) == 9


def test_a_guard_that_lost_its_trials_leaves_it_open() -> None:
    """A guard of which nearly all trials were lost has not spoken: no accept."""
    victim = GUARDS[1].id

    def lose(request: TrialRequest) -> bool:
        return request.purpose == "guard" and request.task.id == victim

    verdict = sit(exam(protected=(victim,)), ScriptedPractice(helpful, lose=lose))
    assert (verdict.kind, verdict.code) == (VerdictKind.UNDECIDED, "many-losses")


def test_losses_of_an_earlier_cycle_do_not_stop_the_next() -> None:
    """Whether it is no use to go on is asked of this cycle's losses alone."""
    store = MemoryStore()
    first = sit(exam(), ScriptedPractice(helpful, lose=lambda _: True), store)
    assert first.code == "many-losses"
    second = sit(exam(), ScriptedPractice(helpful), store, cycle="next")
    assert second.pairs >= 7
