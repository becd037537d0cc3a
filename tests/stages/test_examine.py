"""The exam of a draft, from the ledger entry to the verdict, with a practice that follows a script."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exam_builders import AT, GUARDS, TARGETS, Chance, exam, helpful, sit, useless, what_was_said
from gate_builders import CHECK, ScriptedPractice, task
from nightschool.core.errors import NotFound, UserError
from nightschool.core.proposals import Certify, VerdictKind
from nightschool.core.tasks import Split
from nightschool.core.trials import (
    AlphaEntry,
    Arm,
    Draw,
    LostPair,
    Pair,
    Partition,
    Trial,
    TrialRequest,
)
from nightschool.core.values import Record, digest_bytes
from nightschool.rules.gate import Policy
from nightschool.stages.examine import Exam
from nightschool.testing.memory_store import MemoryStore

# accept and reject -----------------------------------------------------------------------------


def test_a_helpful_draft_is_accepted() -> None:
    """A helpful edit passes: wealth above 1/alpha_1, clusters won, six guards unharmed, and the number in
    the report comes from fresh trials, not from the pairs that decided."""
    store, practice = MemoryStore(), ScriptedPractice(helpful)
    verdict = sit(exam(), practice, store)
    assert (verdict.kind, verdict.code) == (VerdictKind.ACCEPT, "enough-wealth")
    assert (verdict.k, verdict.mode, verdict.margin) == (1, "certify", None)
    assert verdict.wealth == verdict.path[-1]
    assert verdict.wealth is not None
    assert verdict.alpha is not None
    assert verdict.wealth >= 1 / verdict.alpha
    assert len(verdict.path) == verdict.pairs + 1
    assert verdict.clusters_won >= 5
    assert [guard.pairs for guard in verdict.guards if guard.task.startswith("t-")] == [5] * 6
    assert verdict.base is not None
    assert verdict.proposal is not None
    assert verdict.proposal.mean > verdict.base.mean
    by_role = Counter(pair.role for pair in store.find(Pair))
    assert by_role["report"] == verdict.base.n == 12
    draws = [(request.arm, request.draw) for request in practice.asked if request.draw is not None]
    assert len(set(draws)) == len(draws)


def test_a_harmful_draft_is_rejected() -> None:
    """A harmful edit is rejected, and no guard was tried for it."""
    practice = ScriptedPractice(lambda _, arm: 0.1 if arm is Arm.DRAFT else 0.9)
    verdict = sit(exam(), practice)
    assert (verdict.kind, verdict.code) == (VerdictKind.REJECT, "low-wealth")
    assert {request.purpose for request in practice.asked} == {"target"}
    assert verdict.base is None


def test_a_harmed_guard_blocks() -> None:
    """B30: the mean on the targets rises and one other task gets worse: rejected, and the report has a row
    for each guard."""
    victim = GUARDS[3].id
    practice = ScriptedPractice(
        lambda held, arm: 0.0 if held.id == victim and arm is Arm.DRAFT else helpful(held, arm)
    )
    verdict = sit(exam(protected=(victim,)), practice)
    assert (verdict.kind, verdict.code) == (VerdictKind.REJECT, "guard-harmed")
    assert victim in verdict.why
    assert any(guard.task == victim and guard.total < 0 for guard in verdict.guards)
    assert verdict.base is None


def test_an_edit_that_breaks_other_checks_is_blocked() -> None:
    """B34: the verdict follows the check that the edit was made for, and where the edit breaks what else
    those same tasks check, that blocks it; where both arms fail it alike, it does not."""
    broken = ScriptedPractice(helpful, breaks=lambda held, arm: held in TARGETS and arm is Arm.DRAFT)
    verdict = sit(exam(), broken)
    assert (verdict.kind, verdict.code) == (VerdictKind.REJECT, "guard-harmed")
    assert "other checks of the targets" in verdict.why
    alike = ScriptedPractice(helpful, breaks=lambda held, _arm: held in TARGETS)
    assert sit(exam(), alike).kind is VerdictKind.ACCEPT


def test_a_deletion_is_accepted_as_not_worse() -> None:
    """A draft that deletes cannot show a gain: it is accepted where both arms pass alike, with the margin
    in the verdict."""
    practice = ScriptedPractice(lambda _held, _arm: 1.0)
    verdict = sit(exam(certify=Certify.NOT_WORSE), practice)
    assert (verdict.kind, verdict.margin) == (VerdictKind.ACCEPT, 0.15)
    assert verdict.why.startswith("not worse by more than 0.15")


def test_base_that_passes_everything_is_invalid() -> None:
    """Where the base passes all targets there is nothing to gain, and the verdict says so."""
    verdict = sit(exam(), ScriptedPractice(lambda _held, _arm: 1.0))
    assert (verdict.kind, verdict.code, verdict.pairs) == (VerdictKind.INVALID, "base-passes-all", 12)


def test_a_useless_draft_is_seldom_accepted() -> None:
    """Identical arms are accepted no more often than alpha: 60 exams, at most the 6 that alpha names."""
    kinds = Counter(sit(exam(), ScriptedPractice(useless), seed=seed).kind for seed in range(60))
    assert kinds[VerdictKind.ACCEPT] <= 6
    assert kinds[VerdictKind.REJECT] + kinds[VerdictKind.UNDECIDED] >= 54


# before anything is spent ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sat", "jobs", "kind", "code"),
    [
        (exam((*TARGETS[:2], *GUARDS)), 1000, VerdictKind.UNDERPOWERED, "few-targets"),
        (exam(GUARDS), 1000, VerdictKind.UNDERPOWERED, "few-targets"),
        (exam(), 13, VerdictKind.UNDERPOWERED, "few-pairs"),
        (exam(train=(TARGETS[0],)), 1000, VerdictKind.INVALID, "overlap"),
        (exam(train=(task("x", cluster="c1", split=Split.TRAIN),)), 1000, VerdictKind.INVALID, "overlap"),
    ],
)
def test_nothing_is_spent_where_it_cannot_help(sat: Exam, jobs: int, kind: VerdictKind, code: str) -> None:
    """B31: too few sessions, too small a budget, or an overlap of train and hold-out are said before a
    trial is made and before any alpha is spent."""
    store, practice = MemoryStore(), ScriptedPractice(helpful, jobs=jobs)
    verdict = sit(sat, practice, store)
    assert (verdict.kind, verdict.code) == (kind, code)
    assert practice.asked == []
    assert store.find(AlphaEntry) == ()
    assert (verdict.k, verdict.alpha, verdict.wealth, verdict.path) == (None, None, None, ())


def test_a_task_of_its_own_is_a_suggestion() -> None:
    """B31: with one mined task there is nothing held out: underpowered, which is staged as a suggestion
    and never called a gain."""
    alone = task("alone", split=Split.TRAIN)
    verdict = sit(exam((), train=(alone,)), ScriptedPractice(helpful))
    assert (verdict.kind, verdict.base, verdict.proposal) == (VerdictKind.UNDERPOWERED, None, None)


def test_modes_that_never_accept() -> None:
    """`off` tries nothing; `suggest` tries a few pairs, spends no alpha, and is a suggestion where the mean
    rises and a reject where it does not."""
    practice = ScriptedPractice(helpful)
    off = sit(exam(), practice, policy=Policy(mode="off"))
    assert (off.kind, off.code, practice.asked) == (VerdictKind.UNDECIDED, "gate-off", [])
    store = MemoryStore()
    risen = sit(exam(), practice, store, policy=Policy(mode="suggest"))
    assert (risen.kind, risen.code, risen.pairs) == (VerdictKind.UNDECIDED, "suggest-mode", 6)
    compared = store.find(Pair)
    assert risen.decided == sum(pair.d != 0 for pair in compared) > 0
    assert risen.clusters_won == len({pair.cluster for pair in compared if pair.d > 0})
    assert (risen.wealth, risen.path) == (None, ())
    assert store.find(AlphaEntry) == ()
    flat = sit(exam(), ScriptedPractice(lambda _held, _arm: 1.0), policy=Policy(mode="suggest"))
    assert (flat.kind, flat.code) == (VerdictKind.REJECT, "no-rise")


# budget, resume, ledger ------------------------------------------------------------------------


def test_budget_that_ends_leaves_it_undecided() -> None:
    """The wealth is kept and goes on in the next cycle with fresh draws, under the same k."""
    store = MemoryStore()
    first = sit(exam(), ScriptedPractice(helpful, jobs=14), store)
    assert (first.kind, first.code, first.k) == (VerdictKind.UNDECIDED, "budget-ended", 1)
    pairs = store.find(Pair)
    second = sit(exam(), ScriptedPractice(helpful), store, cycle="next")
    assert (second.kind, second.k) == (VerdictKind.ACCEPT, 1)
    assert second.path[: len(first.path)] == first.path
    assert len(store.find(AlphaEntry)) == 1
    assert store.find(Pair)[: len(pairs)] == pairs


def test_budget_that_ends_at_the_guards_is_no_accept() -> None:
    """Wealth alone accepts nothing: guards that were not tried leave it undecided until they were."""
    store, whole = MemoryStore(), sit(exam(), ScriptedPractice(helpful))
    made: dict[str, Trial] = {}
    jobs, verdict, cycles = 2 * whole.pairs + 10, None, 0
    while verdict is None or verdict.kind is VerdictKind.UNDECIDED:
        verdict = sit(exam(), ScriptedPractice(helpful, jobs=jobs, made=made), store, cycle=f"cycle {cycles}")
        cycles += 1
    assert cycles > 1
    assert verdict.kind is VerdictKind.ACCEPT
    assert verdict.path == whole.path
    assert verdict.guards == whole.guards


@settings(max_examples=25, deadline=None)
@given(dies_after=st.integers(1, 160), batch=st.integers(1, 7), seed=st.integers(0, 5))
def test_an_exam_that_died_says_the_same(dies_after: int, batch: int, seed: int) -> None:
    """An exam whose process died anywhere comes to the verdict of one that did not: same draws, same
    pairs, no finished job run again."""
    whole, store = MemoryStore(), MemoryStore()
    uninterrupted = sit(exam(), ScriptedPractice(helpful), whole, batch=batch, seed=seed)
    first = ScriptedPractice(helpful, dies_after=dies_after)
    with suppress(KeyboardInterrupt):
        sit(exam(), first, store, batch=batch, seed=seed)
    resumed = sit(exam(), ScriptedPractice(helpful, made=first.made), store, batch=batch, seed=seed)
    assert what_was_said(resumed) == what_was_said(uninterrupted)
    for kind in (Pair, Draw, AlphaEntry, Partition):
        assert contents(store, kind) == contents(whole, kind)


def contents(store: MemoryStore, kind: type[Record]) -> set[str]:
    return {record.id for record in store.find(kind)}


@pytest.mark.parametrize("chance", [helpful, useless])
def test_how_many_at_once_decides_nothing(chance: Chance) -> None:
    """One pair at a time or seven at once: the same word at the same pair."""
    one, seven = (sit(exam(), ScriptedPractice(chance), batch=batch) for batch in (1, 7))
    assert (one.kind, one.code, one.path) == (seven.kind, seven.code, seven.path)


def test_each_draft_takes_the_next_k() -> None:
    """The second draft of a hold-out version spends a quarter of the first one's share, and draw numbers
    are never used again."""
    store = MemoryStore()
    first = sit(exam(), ScriptedPractice(useless), store)
    second = sit(exam(rule="use pnpm, please"), ScriptedPractice(useless), store)
    assert (first.k, second.k) == (1, 2)
    assert first.alpha is not None
    assert second.alpha == pytest.approx(first.alpha / 4)
    draws = [draw.draw for draw in store.find(Draw)]
    assert len(set(draws)) == len(draws)


class RacingStore(MemoryStore):
    """Another process takes the number between the look at the ledger and the commit."""

    def __init__(self, rival: AlphaEntry) -> None:
        super().__init__()
        self.rival: AlphaEntry | None = rival

    def commit(self, *records: Record) -> None:
        rival, self.rival = self.rival, None
        if rival is not None:
            super().commit(rival)
        super().commit(*records)


def test_two_processes_never_share_a_k() -> None:
    """Who comes second to the same number takes the next one."""
    rival = AlphaEntry(
        holdout=exam().holdout.id,
        k=1,
        wealth=digest_bytes(b"rival"),
        draft="d-rival",
        alpha=0.1,
        margin=0.15,
        at=AT,
    )
    store = RacingStore(rival)
    verdict = sit(exam(), ScriptedPractice(helpful), store)
    assert verdict.k == 2
    assert [entry.k for entry in store.find(AlphaEntry)] == [1, 2]


def test_a_changed_check_is_a_new_wealth() -> None:
    """When the runner changes, the wealth starts at 1 as a new k."""
    store, sat = MemoryStore(), exam()
    sit(sat, ScriptedPractice(useless), store)
    other = replace(sat, key=replace(sat.key, runner_version="2"))
    assert sit(other, ScriptedPractice(useless), store).k == 2


# losses ----------------------------------------------------------------------------------------


def test_a_lost_trial_costs_its_pair_only() -> None:
    """B24, B29: a lost try drops its pair, is counted for its arm, and the exam goes on."""
    store = MemoryStore()
    practice = ScriptedPractice(helpful, lose=lambda r: r.draw == 2 and r.arm is Arm.BASE)
    verdict = sit(exam(), practice, store)
    assert verdict.kind is VerdictKind.ACCEPT
    assert (verdict.losses_base, verdict.losses_draft) == (1, 0)
    assert [lost.draw for lost in store.find(LostPair)] == [2]
    assert 2 not in {pair.draw for pair in store.find(Pair)}


def test_losses_of_one_arm_make_it_invalid() -> None:
    """B24: a draft whose trials get lost where the base's do not is not accepted."""

    def lose(request: TrialRequest) -> bool:
        return request.arm is Arm.DRAFT and request.draw is not None and request.draw % 6 == 0

    verdict = sit(exam(), ScriptedPractice(helpful, lose=lose))
    assert (verdict.kind, verdict.code) == (VerdictKind.INVALID, "losses-differ")
    assert verdict.losses_draft >= 6


def test_when_all_is_lost_it_stops() -> None:
    """B24: where every trial is lost the exam ends soon, undecided, with the reason."""
    practice = ScriptedPractice(helpful, lose=lambda _: True)
    verdict = sit(exam(), practice)
    assert (verdict.kind, verdict.code) == (VerdictKind.UNDECIDED, "many-losses")
    assert len(practice.asked) <= 20


def test_a_timeout_counts() -> None:
    """B25: tries that hit a limit have a score of 0 and are pairs like all others, never losses."""
    practice = ScriptedPractice(lambda _, arm: 0.0 if arm is Arm.DRAFT else 0.9)
    verdict = sit(exam(), practice)
    assert verdict.kind is VerdictKind.REJECT
    assert (verdict.losses_base, verdict.losses_draft) == (0, 0)


# what stays hidden, what must fit ---------------------------------------------------------------


def test_the_verdict_holds_no_checks() -> None:
    """B35: nothing in a verdict's words tells an editor what a hold-out check looks for, or its prompts."""
    for chance in (helpful, useless):
        verdict = sit(exam(), ScriptedPractice(chance))
        assert str(CHECK.unwanted) not in verdict.why
        assert not any(held.prompt in verdict.why for held in exam().tasks)


def test_guards_are_what_the_base_passes() -> None:
    """A task that the base fails cannot guard anything, and a protected one no more: it is told after five
    tries, before any pair, and is no guard that was unharmed. One that is passed at times guards."""
    bad, dear = {GUARDS[n].id for n in range(5)}, GUARDS[5].id
    practice = ScriptedPractice(lambda held, arm: 0.0 if held.id in bad else helpful(held, arm))
    verdict = sit(exam(protected=(GUARDS[0].id, dear)), practice)
    guards = {guard.task: guard for guard in verdict.guards if guard.task.startswith("t-")}
    assert set(guards) == {held.id for held in GUARDS[5:]} | {GUARDS[0].id}
    assert (guards[GUARDS[0].id].pairs, guards[GUARDS[0].id].probed) == (0, 5)
    assert (guards[dear].pairs, guards[dear].base_passed) == (5, 5)
    tried = Counter(request.purpose for request in practice.asked if request.task.id == GUARDS[0].id)
    assert tried == {"probe": 5}
    assert "3 guards unharmed" in verdict.why
    assert f"{GUARDS[0].id} could not show harm" in verdict.why


def test_a_certificate_without_a_guard_says_so() -> None:
    """Where no other work could have shown a harm it is accepted, as the design says, and told as narrow."""
    verdict = sit(exam(TARGETS), ScriptedPractice(helpful))
    assert verdict.kind is VerdictKind.ACCEPT
    assert verdict.unguarded
    assert "whether other work of yours suffers is not known" in verdict.why
    bad = ScriptedPractice(lambda held, arm: helpful(held, arm) if held in TARGETS else 0.0)
    assert sit(exam(protected=(GUARDS[0].id,)), bad).unguarded
    assert not sit(exam(), ScriptedPractice(helpful)).unguarded


def test_no_room_for_fresh_trials_is_said() -> None:
    """Where the budget ends before the report there is no number, and the reason says so."""
    whole = ScriptedPractice(helpful)
    sit(exam(), whole)
    report = sum(request.purpose == "report" for request in whole.asked)
    verdict = sit(exam(), ScriptedPractice(helpful, jobs=len(whole.asked) - report))
    assert (verdict.kind, verdict.base, verdict.proposal) == (VerdictKind.ACCEPT, None, None)
    assert "no fresh estimate" in verdict.why


def test_an_exam_must_fit_its_holdout() -> None:
    """Tasks that are gone, or a protected task that never was there, are named before anything is tried."""
    with pytest.raises(UserError, match="t-unknown is not in the hold-out"):
        exam(protected=("t-unknown",))
    with pytest.raises(NotFound, match="new version of the hold-out"):
        replace(exam(), tasks=exam().tasks[1:])
