"""The noise floor: which tasks are tried, and what pairs of a harness with itself say."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate_builders import WEALTH, pair, task
from nightschool.core.tasks import Task
from nightschool.core.trials import LostPair, Pair
from nightschool.rules.betting import wealth_of
from nightschool.rules.noise import NoiseFloor, noise_floor, plan, told

TASKS = tuple(task(f"task {n}", cluster=f"c{n % 3}") for n in range(7))
SCORES = st.lists(st.tuples(st.sampled_from((0.0, 1.0)), st.sampled_from((0.0, 1.0))), max_size=40)


def on(which: Task, draw: int, first: float, second: float) -> Pair:
    return replace(pair(draw, first, second, which.cluster), role="calibrate", task=which.id)


def floor_of(scores: list[tuple[float, float]], tasks: tuple[Task, ...] = TASKS) -> NoiseFloor:
    pairs = [on(tasks[n % len(tasks)], n, *both) for n, both in enumerate(scores)]
    return noise_floor(pairs, [], tasks, alpha=0.1)


@given(first=st.integers(0, 40), one=st.integers(0, 20), other=st.integers(0, 20), seed=st.text(max_size=3))
def test_a_plan_goes_on_where_it_was(first: int, one: int, other: int, seed: str) -> None:
    """Which task a pair is on depends on its number alone, so that a plan can be broken off anywhere; and
    not on the order in which the tasks are given."""
    whole = plan(TASKS, seed, first, one + other)
    assert whole == plan(TASKS, seed, first, one) + plan(TASKS[::-1], seed, first + one, other)


@given(count=st.integers(0, 60), seed=st.text(max_size=3))
def test_a_plan_favours_nobody(count: int, seed: str) -> None:
    """Each cluster has its turn equally often, and in a cluster each task: the weights of the gate."""
    planned = Counter(plan(TASKS, seed, 0, count))
    tries: dict[str, list[int]] = {}
    for one in TASKS:
        tries.setdefault(one.cluster, []).append(planned[one.id])
    sums = [sum(counts) for counts in tries.values()]
    assert sum(sums) == count
    assert max(sums) - min(sums) <= 1
    assert all(max(counts) - min(counts) <= 1 for counts in tries.values())


@given(scores=SCORES, order=st.randoms(use_true_random=False))
def test_the_floor_counts_every_pair_once(scores: list[tuple[float, float]], order: Random) -> None:
    """Shares, means and tasks are those of the pairs, in whatever order they were read."""
    pairs = [on(TASKS[n % 7], n, *both) for n, both in enumerate(scores)]
    shuffled = list(pairs)
    order.shuffle(shuffled)
    floor = noise_floor(shuffled, [], TASKS[::-1], alpha=0.1)
    assert floor == floor_of(scores)
    assert floor.pairs == sum(one.pairs for one in floor.tasks) == len(scores)
    assert floor.differ == sum(one.differ for one in floor.tasks) == sum(a != b for a, b in scores)
    assert floor.wealth == pytest.approx(wealth_of(b - a for a, b in scores))
    assert floor.highest >= max(1.0, floor.wealth)
    if not scores:
        assert (floor.share, floor.mean_d, floor.base, floor.level) == (None, None, None, None)
        return
    assert floor.share is not None
    assert floor.mean_d is not None
    assert floor.base is not None
    assert floor.share.mean == pytest.approx(floor.differ / floor.pairs)
    assert floor.mean_d.mean == pytest.approx(sum(b - a for a, b in scores) / len(scores))
    assert floor.base.mean == pytest.approx(sum(a + b for a, b in scores) / 2 / len(scores))
    assert floor.base.n == 2 * floor.pairs
    assert sum(one.passed for one in floor.tasks) == sum(a + b for a, b in scores)


def test_false_alarms_are_as_rare_as_promised() -> None:
    """Of 300 calibrations of equals at the most noise that there can be, each looked at after each of 60
    pairs, at most the promised share raises an alarm; some do."""
    random, alarms = Random(5), 0
    for _ in range(300):
        floor = floor_of([(0.0, 1.0) if random.random() < 0.5 else (1.0, 0.0) for _ in range(60)])
        alarms += floor.false_alarm
    allowed = floor_of([]).expected * 300
    assert 0 < alarms <= allowed + 3 * allowed**0.5


def test_tasks_that_always_or_never_pass_are_known() -> None:
    """Passed in every try, in none, in some, and not tried yet."""
    always, never, sometimes, untried = TASKS[:4]
    pairs = [on(always, 1, 1, 1), on(never, 2, 0, 0), on(sometimes, 3, 1, 0), on(sometimes, 4, 1, 1)]
    floor = noise_floor(pairs, [], TASKS[:4], alpha=0.1)
    kinds = {one.task: (one.passes, one.rate) for one in floor.tasks}
    assert kinds == {
        always.id: ("always", 1.0),
        never.id: ("never", 0.0),
        sometimes.id: ("sometimes", 0.75),
        untried.id: (None, None),
    }
    words = "\n".join(told(floor))
    assert "1 of 4 tasks passed in every try: no edit can show a gain" in words
    assert "1 of 4 tasks passed in no try" in words
    assert "1 of 4 tasks were not tried yet" in words


def test_the_words_say_how_noisy_it_is() -> None:
    """Three pairs of twenty that differ are told as that; none at all is told with what could be."""
    noisy = told(floor_of([(0.0, 1.0)] * 2 + [(1.0, 0.0)] + [(1.0, 1.0)] * 17))
    assert noisy[0].startswith(
        "two runs of the same harness differ in 3 of 20 pairs; an edit has to win clea"
    )
    assert "won 2 of those and lost 1: level" in noisy[1]
    assert noisy[2].startswith("no false alarm")
    assert "once in 16 calibrations" in noisy[2]
    quiet = told(floor_of([(1.0, 1.0), (0.0, 0.0)] * 10))
    assert "never differ in 20 pairs" in quiet[0]
    assert "up to 14 % of the pairs could still differ" in quiet[0]
    assert quiet[1].startswith("neither run won")
    assert told(floor_of([])) == ("no pair of runs came about, so nothing is known of the noise",)


def test_a_second_run_that_always_wins_is_an_alarm() -> None:
    """Seven clean wins of one run over its equal reach the wealth of a first draft, and are not level."""
    floor = floor_of([(0.0, 1.0)] * 7)
    assert floor.false_alarm
    assert floor.level is False
    words = told(floor)
    assert "not level" in words[1]
    assert words[2].startswith("FALSE ALARM")
    assert not floor_of([(0.0, 1.0)] * 6).false_alarm


def test_an_alarm_stays_one() -> None:
    """The wealth that once was enough would have been accepted, whatever came after."""
    floor = floor_of([(0.0, 1.0)] * 7 + [(1.0, 0.0)] * 7)
    assert floor.wealth < floor.needed <= floor.highest
    assert floor.false_alarm


def test_lost_pairs_are_counted_by_run() -> None:
    """A lost run makes no pair, and is counted for the run that was lost."""
    lost = [
        LostPair(wealth=WEALTH, draw=n, role="calibrate", task="t-1", base_lost=a, draft_lost=b, cycle="cy")
        for n, (a, b) in enumerate([(True, False), (False, True), (False, True), (True, True)], start=50)
    ]
    floor = noise_floor([on(TASKS[0], 1, 1, 1)], lost, TASKS, alpha=0.1)
    assert (floor.losses.tried, floor.losses.base_only, floor.losses.draft_only, floor.losses.both) == (
        5,
        1,
        2,
        1,
    )
    assert floor.pairs == 1


def test_scores_in_between_are_refused() -> None:
    """The intervals are of trials that pass or do not; another score is an error and not a wrong figure."""
    with pytest.raises(ValueError, match="pass or do not"):
        floor_of([(0.5, 1.0)])
