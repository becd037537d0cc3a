"""How pairs are drawn and scored."""

from __future__ import annotations

from dataclasses import replace

from gate_builders import CANDIDATE, CHECK, draw, task, trial
from nightschool.core.tasks import Footprint
from nightschool.core.trials import Arm, LostPair, Pair
from nightschool.rules.pairing import (
    Losses,
    draw_target,
    partition,
    report_plan,
    score_for,
    score_of_others,
    settle,
    stream,
)

# drawing and scoring ---------------------------------------------------------------------------


def test_partition_sees_no_outcome() -> None:
    """Targets are what the candidate concerns, guards the rest in an order that the seed alone decides;
    what a person protects stands first, also where it is a target."""
    tasks = [task(str(n), concerned=n < 4) for n in range(12)]
    protected = [tasks[1].id, tasks[9].id]
    targets, guards = partition(tasks, CANDIDATE, protected, "seed")
    assert set(targets) == {task.id for task in tasks[:4]}
    assert set(guards[:2]) == set(protected)
    assert set(guards[2:]) == {task.id for task in tasks[4:]} - set(protected)
    assert partition(tasks[::-1], CANDIDATE, protected, "seed") == (targets, guards)
    assert partition(tasks, CANDIDATE, protected, "other seed")[1] != guards


def test_what_a_newer_word_takes_back_is_no_guard() -> None:
    """Who says "use zerolog, not slog" after "use slog" takes that back: a task that wants slog would call
    the new word a harm. One that a person protects guards all the same."""
    newer = replace(CANDIDATE, check=Footprint(wanted="zerolog", unwanted="slog"))
    old = [replace(task(f"old {n}", concerned=False), checks=(Footprint(wanted="slog"),)) for n in range(2)]
    banned = replace(task("banned", concerned=False), checks=(Footprint(unwanted="zerolog"),))
    other = task("other", concerned=False)
    assert partition([*old, banned, other], newer, [], "seed") == ((), (other.id,))
    assert partition([*old, other], newer, [old[0].id], "seed")[1] == (old[0].id, other.id)


def test_each_cluster_is_drawn_alike() -> None:
    """A session that gave nine tasks is drawn as often as one that gave one."""
    targets = [task(f"big {n}", cluster="big") for n in range(9)] + [task("small", cluster="small")]
    draws = [draw_target(targets, "seed", number) for number in range(2000)]
    small = sum(found.cluster == "small" for found, _ in draws)
    assert 900 < small < 1100
    assert 900 < sum(base_first for _, base_first in draws) < 1100
    assert draw_target(targets[::-1], "seed", 5) == draws[5]


def test_report_takes_equally_many_from_each_cluster() -> None:
    """The number in a report rests on as many tries from each target cluster, up to a cap."""
    targets = [task(f"{n}", cluster=f"{n % 4}") for n in range(12)]
    plan = report_plan(targets, "seed", per_cluster=2, most=12)
    clusters = [next(t.cluster for t in targets if t.id == name) for name in plan]
    assert sorted(clusters) == sorted(["0", "1", "2", "3"] * 2)
    assert len(report_plan(targets, "seed", per_cluster=9, most=12)) == 12


def test_a_capped_report_favours_no_cluster() -> None:
    """Where the cap is below the number of clusters, which ones are left out is chance."""
    targets = [task(f"{n}", cluster=f"{n}") for n in range(6)]
    first = {report_plan(targets, f"seed {n}", per_cluster=1, most=1)[0] for n in range(40)}
    assert len(first) == 6


def test_a_loss_of_both_arms_is_of_neither() -> None:
    """A pair that lost both trials says nothing of a difference between the arms."""
    held = task("a")
    lost = [
        settle(draw(), trial(Arm.BASE, base), trial(Arm.DRAFT, draft), task=held, check=CHECK, cycle="cy")
        for base, draft in ((None, None), (None, 1.0), (1.0, None), (1.0, None))
    ]
    counted = Losses.of([], [one for one in lost if isinstance(one, LostPair)])
    assert counted == Losses(tried=4, base_only=1, draft_only=2, both=1)


def test_streams_are_their_own() -> None:
    """The same seed gives the same numbers, another seed gives others."""
    assert stream("a", 1).random() == stream("a", 1).random() != stream("a", 2).random()


def test_verdict_follows_the_candidates_check() -> None:
    """B34: where an unrelated check fails in both arms, the pair still tells the arms apart by the check
    that the edit was made for."""
    held = task("a")
    base, draft = trial(Arm.BASE, 0.0, (0, 1)), trial(Arm.DRAFT, 0.0, (1,))
    found = settle(draw(), base, draft, task=held, check=CHECK, cycle="cy")
    assert isinstance(found, Pair)
    assert found.d == 1
    assert (found.base_others, found.draft_others) == (0, 0)
    alike = settle(draw("guard"), base, draft, task=held, check=CHECK, cycle="cy")
    assert isinstance(alike, Pair)
    assert alike.d == 0


def test_a_failed_job_scores_nothing() -> None:
    """B25: a time-out is an outcome and scores 0, on the candidate's check too; only a loss has no score."""
    held = task("a")
    assert score_for(trial(Arm.BASE, 0.0), held, CHECK) == 0
    assert score_of_others(trial(Arm.BASE, 0.0), held, CHECK) == 0
    assert score_for(trial(Arm.BASE, None), held, CHECK) is None
    assert score_for(trial(Arm.BASE, 1.0), held, Footprint(wanted="else")) == 1
