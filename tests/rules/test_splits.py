"""Splits: decided once, disjoint by cluster, blind to outcomes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations import agent, human, session
from nightschool.core.sessions import Session
from nightschool.core.tasks import Assignment, Split
from nightschool.rules.splits import Cluster, Splits, asks_alike, assign, clusters, first_prompt

WORDS = ("parse", "index", "render", "cache", "route", "schema", "upload", "invoice", "queue", "token")


def asked(name: str, prompt: str) -> Session:
    return session(name, human(prompt), agent())


def long_prompt(number: int) -> str:
    """Prompts that share no word with one another."""
    return " ".join(f"{word}{number}" for word in WORDS)


@st.composite
def pools(draw: st.DrawFn) -> tuple[list[Session], dict[str, frozenset[str]]]:
    """Sessions, some with the same prompt, and what each was told."""
    numbers = draw(st.lists(st.integers(0, 6), min_size=1, max_size=12))
    sessions = [asked(str(index), long_prompt(number)) for index, number in enumerate(numbers)]
    told = {s.id: draw(st.frozensets(st.sampled_from(["a", "b"]), max_size=2)) for s in sessions}
    return sessions, told


def split(
    sessions: Sequence[Session], told: dict[str, frozenset[str]], known: Sequence[Assignment] = ()
) -> Splits:
    found = clusters(sessions)
    topics = {c.id: frozenset(t for s in c.sessions for t in told.get(s, frozenset())) for c in found}
    return assign(found, topics, known)


def sides(splits: Splits) -> dict[str, tuple[str, Split]]:
    return {s: (a.cluster, a.split) for a in splits.assignments for s in a.sessions}


@given(pools(), st.integers(0, 12))
def test_adding_sessions_never_moves_one(
    pool: tuple[list[Session], dict[str, frozenset[str]]], cut: int
) -> None:
    """What was assigned keeps its cluster and its side, whatever comes later."""
    sessions, told = pool
    before = split(sessions[:cut], told)
    after = split(sessions, told, before.assignments)
    assert sides(before).items() <= sides(after).items()
    assert after.assignments[: len(before.assignments)] == before.assignments


@given(pools(), st.integers(0, 12))
def test_train_and_holdout_are_disjoint_by_cluster(
    pool: tuple[list[Session], dict[str, frozenset[str]]], cut: int
) -> None:
    """No cluster, and no two sessions with the same prompt, lie on both sides."""
    sessions, told = pool
    before = split(sessions[:cut], told)
    after = split(sessions, told, before.assignments)
    by_cluster: dict[str, set[Split]] = {}
    by_prompt: dict[str, set[Split]] = {}
    placed = sides(after)
    for one in sessions:
        if one.id in placed:
            cluster, side = placed[one.id]
            by_cluster.setdefault(cluster, set()).add(side)
            by_prompt.setdefault(first_prompt(one), set()).add(side)
    assert all(len(found) == 1 for found in (*by_cluster.values(), *by_prompt.values()))


@given(pools(), st.randoms(use_true_random=False))
def test_the_order_of_sessions_does_not_matter(
    pool: tuple[list[Session], dict[str, frozenset[str]]], shuffler: random.Random
) -> None:
    """Any order of the same sessions gives the same assignments."""
    sessions, told = pool
    order = list(sessions)
    shuffler.shuffle(order)
    assert split(order, told) == split(sessions, told)


@given(pools())
def test_each_session_is_assigned_once(pool: tuple[list[Session], dict[str, frozenset[str]]]) -> None:
    """Every session has one side, unless it is reported as straddling."""
    sessions, told = pool
    found = split(sessions, told)
    placed = [s for a in found.assignments for s in a.sessions]
    assert sorted([*placed, *found.straddling]) == sorted(s.id for s in sessions)


def test_two_train_clusters_are_enough_for_a_correction() -> None:
    """Two clusters of a correction are for training, the rest goes to the hold-out."""
    sessions = [asked(str(n), long_prompt(n)) for n in range(7)]
    found = split(sessions, {s.id: frozenset({"use pnpm not npm"}) for s in sessions})
    assert [a.split for a in found.assignments].count(Split.TRAIN) == 2
    assert [a.split for a in found.assignments].count(Split.HOLDOUT) == 5


def test_later_sessions_of_a_taught_correction_go_to_the_holdout() -> None:
    """The train clusters of earlier runs are counted."""
    sessions = [asked(str(n), long_prompt(n)) for n in range(4)]
    told = {s.id: frozenset({"a"}) for s in sessions}
    before = split(sessions[:2], told)
    after = split(sessions, told, before.assignments)
    assert [a.split for a in after.new] == [Split.HOLDOUT, Split.HOLDOUT]


def test_a_lone_session_is_for_training() -> None:
    """B31: one session leaves nothing held out: it trains, and no hold-out task is ever made of it."""
    one = asked("0", long_prompt(0))
    found = split([one], {one.id: frozenset({"a"})})
    assert [a.split for a in found.assignments] == [Split.TRAIN]


def test_most_sessions_without_a_correction_are_guards() -> None:
    """Of sessions in which nothing was corrected about one in five is for training."""
    sessions = [asked(str(n), long_prompt(n)) for n in range(200)]
    trained = [a.split for a in split(sessions, {}).assignments].count(Split.TRAIN)
    assert 20 <= trained <= 60


def test_near_identical_prompts_are_one_cluster() -> None:
    """A wording that differs in a word of many, or in punctuation, asks for the same work."""
    one = "please add a new column with the price per unit to the table of all open orders of today, by date"
    pair = clusters([asked("a", one), asked("b", one.upper() + "!"), asked("c", "write the release notes")])
    assert [c.sessions for c in pair] == [("claude-code:a", "claude-code:b"), ("claude-code:c",)]


def test_a_word_of_many_makes_no_other_work() -> None:
    """One word of twenty is no difference, four of twenty are one; headless runs, sub-agents' files and our
    own replays are in no cluster."""
    many = [f"word{n}" for n in range(20)]
    one, four = [*many[1:], "other"], [*many[4:], "some", "quite", "other", "words"]
    found = clusters([asked("a", " ".join(many)), asked("b", " ".join(one)), asked("c", " ".join(four))])
    assert [c.sessions for c in found] == [("claude-code:a", "claude-code:b"), ("claude-code:c",)]
    for mark in ("headless", "sidechain", "ours"):
        changes: dict[str, Any] = {mark: True}
        assert clusters([replace(asked("d", "do it"), **changes)]) == ()


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("Run the tests, please", "run the  tests, PLEASE", True),
        ("???", "???", True),
        ("???", "!!!", False),
        (long_prompt(1), long_prompt(1) + "!", True),
        (long_prompt(1), long_prompt(2), False),
    ],
)
def test_the_same_request_is_known_again(one: str, other: str, alike: bool) -> None:  # noqa: FBT001 - a parameter of the table
    """Case, spaces and punctuation make no other request, also where a text holds no word."""
    assert asks_alike(one, other) is alike


def test_scripts_without_spaces_are_compared_too() -> None:
    """Near-identity sees non-Latin text, which a comparison of Latin words alone would not."""
    found = clusters(
        [
            asked("a", "给订单表添加一个新的价格列"),
            asked("b", "给订单表添加一个新的价格列。"),
            asked("c", "写发布说明"),
        ]
    )
    assert len(found) == 2


def test_a_join_of_both_sides_is_left_out() -> None:
    """A session that is like a train session and like a hold-out session serves neither."""
    bridge = Cluster(id="x", sessions=("a", "b", "c"))
    known = [
        Assignment(cluster="one", split=Split.TRAIN, sessions=("a",)),
        Assignment(cluster="two", split=Split.HOLDOUT, sessions=("b",)),
    ]
    found = assign([bridge], {}, known)
    assert found.new == ()
    assert found.straddling == ("c",)


def test_joining_sessions_inherit_without_rewriting() -> None:
    """A session that joins gets a record of its own with the cluster and split of the known one."""
    known = [Assignment(cluster="one", split=Split.HOLDOUT, sessions=("a",))]
    (new,) = assign([Cluster(id="x", sessions=("a", "b"))], {"x": frozenset({"t"})}, known).new
    assert (new.cluster, new.split, new.sessions) == ("one", Split.HOLDOUT, ("b",))
    assert new.id != known[0].id
