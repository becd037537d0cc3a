"""A person's words on single tasks: who serves, who guards, what may be said."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exam_builders import AT
from gate_builders import task
from nightschool.core.tasks import IMPORTED, HoldoutVersion, Split, Task, TaskAct, TaskMark
from nightschool.rules.marks import NOTHING_SAID, Standing, objections, serving, sitting, standings

TASKS = tuple(task(f"held out {n}", cluster=f"c{n}") for n in range(5))
VERSION = HoldoutVersion(pool="/p", number=1, tasks=tuple(one.id for one in TASKS))
ACTS = st.sampled_from(list(TaskAct))


def said(about: Task, act: TaskAct, *, minutes: int = 0, reason: str = "because") -> TaskMark:
    at = AT + timedelta(minutes=minutes)
    return TaskMark(task=about.id, act=act, actor="sam", reason=reason, at=at)


marks_of_all = st.lists(
    st.builds(said, st.sampled_from(TASKS), ACTS, minutes=st.integers(-5, 5)), max_size=12
)


@given(marks_of_all)
def test_what_was_taken_out_serves_nowhere_again(marks: list[TaskMark]) -> None:
    """A task that was once withheld or retired is in no run and in no exam, whatever is said later."""
    gone = {mark.task for mark in marks if mark.act in {TaskAct.WITHHOLD, TaskAct.RETIRE}}
    sat = sitting(VERSION, TASKS, marks)
    assert {one.id for one in serving(TASKS, marks)} == set(VERSION.tasks) - gone
    assert {one.id for one in sat.tasks} == set(VERSION.tasks) - gone
    assert set(sat.out) == gone
    assert not set(sat.protected) & gone


@given(marks_of_all)
def test_an_exam_accounts_for_each_task_of_its_version(marks: list[TaskMark]) -> None:
    """Each task of the version sits in the exam or is named as out, and none does both."""
    sat = sitting(VERSION, TASKS, marks)
    there = {one.id for one in sat.tasks}
    assert there | set(sat.out) == set(VERSION.tasks)
    assert not there & set(sat.out)
    assert set(sat.protected) <= there


def test_the_last_word_on_protection_stands_in_the_order_of_writing() -> None:
    """A clock that was set back does not turn a release into a protection."""
    on, off = said(TASKS[0], TaskAct.PROTECT), said(TASKS[0], TaskAct.RELEASE, minutes=-9)
    assert sitting(VERSION, TASKS, [on]).protected == (TASKS[0].id,)
    assert sitting(VERSION, TASKS, [on, off]).protected == ()
    assert standings([on, off])[TASKS[0].id] == NOTHING_SAID


def test_what_is_protected_sits_in_every_exam() -> None:
    """Also where it came after the version, and where a file names other tasks; a task of the other side
    of the split never does."""
    late, other = task("came later"), task("for training", split=Split.TRAIN)
    marks = [said(late, TaskAct.PROTECT), said(other, TaskAct.PROTECT)]
    pool = (*TASKS, late, other)
    sat = sitting(VERSION, pool, marks)
    assert sat.protected == (late.id,)
    assert set(sat.tasks) == {*TASKS, late}
    chosen = sitting(VERSION, pool, marks, chosen=frozenset({TASKS[1].id, other.id}))
    assert set(chosen.tasks) == {TASKS[1], late}
    assert set(chosen.out) == set(VERSION.tasks) - {TASKS[1].id}


def test_a_task_from_a_file_serves_once_it_was_read() -> None:
    """Unreviewed it is in no run; a run of the very file that names it may use it all the same."""
    brought = replace(task("brought in a file"), source=IMPORTED)
    version = HoldoutVersion(pool="/p", number=1, tasks=(brought.id,))
    review = said(brought, TaskAct.REVIEW)
    assert serving([brought], []) == ()
    assert serving([brought], [review]) == (brought,)
    assert sitting(version, [brought], []).tasks == ()
    assert sitting(version, [brought], [], chosen=frozenset({brought.id})).tasks == (brought,)
    gone = [review, said(brought, TaskAct.RETIRE)]
    assert sitting(version, [brought], gone, chosen=frozenset({brought.id})).tasks == ()


@pytest.mark.parametrize(
    ("act", "reason", "standing", "split", "codes"),
    [
        (TaskAct.WITHHOLD, " ", NOTHING_SAID, Split.HOLDOUT, ["reason-missing"]),
        (TaskAct.RETIRE, "", NOTHING_SAID, Split.TRAIN, ["reason-missing"]),
        (TaskAct.RETIRE, "moved", NOTHING_SAID, Split.TRAIN, []),
        (TaskAct.WITHHOLD, "moved", NOTHING_SAID, Split.TRAIN, ["not-held-out"]),
        (TaskAct.PROTECT, "", NOTHING_SAID, Split.TRAIN, ["not-held-out"]),
        (TaskAct.PROTECT, "", NOTHING_SAID, Split.HOLDOUT, []),
        (
            TaskAct.PROTECT,
            "",
            Standing(out=said(TASKS[0], TaskAct.RETIRE)),
            Split.HOLDOUT,
            ["taken-out"],
        ),
        (
            TaskAct.WITHHOLD,
            "",
            Standing(protection=said(TASKS[0], TaskAct.PROTECT)),
            Split.HOLDOUT,
            ["reason-missing", "protected"],
        ),
    ],
)
def test_all_that_speaks_against_a_word_is_told_at_once(
    act: TaskAct, reason: str, standing: Standing, split: Split, codes: list[str]
) -> None:
    """Taking out takes a reason and a held-out task; what is protected is released first."""
    about = task("some work", split=split)
    assert [code for code, _ in objections(about, act, standing, reason)] == codes
