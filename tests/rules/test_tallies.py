"""What tries count for, task by task."""

from __future__ import annotations

from dataclasses import replace

from nightschool.core.tasks import Candidate, FilesSource, Footprint, Moment, Split, Task
from nightschool.core.trials import Arm, Draw, Trial
from nightschool.core.values import digest_of
from nightschool.rules.tallies import tallies, until

CHECK = Footprint(wanted="pnpm", unwanted="npm")
OTHER = Footprint(wanted="vitest")
CANDIDATE = Candidate(
    correction="c-1",
    statement="use pnpm",
    evidence=(Moment(session="s", turn=0, quote="use pnpm"),),
    sessions=("s",),
    check=CHECK,
    project="/p",
)
WEALTH = digest_of("wealth")


def task(prompt: str, split: Split = Split.HOLDOUT, *, concerns: bool = True) -> Task:
    return Task(
        prompt=prompt,
        workspace=FilesSource(),
        checks=(CHECK, OTHER) if concerns else (OTHER,),
        session=prompt,
        turn=0,
        source="codex",
        project="/p",
        cluster=f"s-{prompt}",
        split=split,
        concerns=(CANDIDATE.id,) if concerns else (),
    )


TRAIN, TARGET, GUARD = task("train", Split.TRAIN), task("target"), task("guard", concerns=False)
TASKS = {one.id: one for one in (TRAIN, TARGET, GUARD)}


def draw(number: int, role: str, of: Task, cycle: str = "n-1") -> Draw:
    return Draw(wealth=WEALTH, draw=number, role=role, task=of.id, base_first=True, cycle=cycle)


def trial(
    of: Task,
    arm: Arm,
    score: float | None,
    purpose: str,
    number: int | None = None,
    *,
    failed: tuple[int, ...] = (),
    judge: str = "1",
) -> Trial:
    return Trial(
        task=of.id,
        arm=arm,
        harness=digest_of(arm),
        job=digest_of(of.id, arm, purpose, number),
        draw=number,
        score=score,
        judge=judge,
        failed_checks=failed,
        purpose=purpose,
        cycle="n-1",
    )


def counts(*trials: Trial, draws: tuple[Draw, ...]) -> list[tuple[str, bool, int, int, int, int]]:
    return [
        (one.task.prompt, one.guard, one.base_passed, one.base_tries, one.draft_passed, one.draft_tries)
        for one in tallies(CANDIDATE, TASKS, trials, draws, base=digest_of(Arm.BASE))
    ]


def test_training_then_targets_then_guards() -> None:
    """Each task has its line, with passes and tries of both arms."""
    draws = (draw(1, "guard", GUARD), draw(2, "target", TARGET), draw(3, "report", TARGET))
    assert counts(
        trial(GUARD, Arm.BASE, 1.0, "guard", 1),
        trial(GUARD, Arm.DRAFT, 0.0, "guard", 1, failed=(0,)),
        trial(TARGET, Arm.BASE, 0.0, "target", 2, failed=(0,)),
        trial(TARGET, Arm.DRAFT, 1.0, "target", 2),
        trial(TARGET, Arm.BASE, 0.0, "report", 3, failed=(0,)),
        trial(TARGET, Arm.DRAFT, 1.0, "report", 3),
        trial(TRAIN, Arm.BASE, 0.0, "train", failed=(0,)),
        draws=draws,
    ) == [("train", False, 0, 1, 0, 0), ("target", False, 0, 2, 2, 2), ("guard", True, 1, 1, 0, 1)]


def test_a_target_counts_by_the_check_of_its_edit() -> None:
    """Where only another check of the task failed, the gate counted the try as passed, and so does this."""
    draws = (draw(1, "target", TARGET),)
    found = counts(
        trial(TARGET, Arm.BASE, 0.0, "target", 1, failed=(0, 1)),
        trial(TARGET, Arm.DRAFT, 0.0, "target", 1, failed=(1,)),
        draws=draws,
    )
    assert found == [("target", False, 0, 1, 1, 1)]


def test_tries_of_other_exams_are_not_counted() -> None:
    """Other draws, probes of guards, tries that lost their other one, and training for other candidates."""
    other = Task(**{name: getattr(TRAIN, name) for name in TRAIN.__slots__} | {"concerns": ()})
    trials = [
        trial(TARGET, Arm.DRAFT, 1.0, "target", 9),
        trial(GUARD, Arm.BASE, 1.0, "probe"),
        trial(TARGET, Arm.DRAFT, 1.0, "target", 1),
        trial(other, Arm.BASE, 1.0, "train"),
    ]
    assert not tallies(
        CANDIDATE, {**TASKS, other.id: other}, trials, (draw(1, "target", TARGET),), base=digest_of(Arm.BASE)
    )


def test_a_try_that_was_judged_anew_counts_once() -> None:
    """Two judges of one job are one try, as it was judged last."""
    judged = ((0.0, "1"), (1.0, "2"))
    trials = [trial(TARGET, Arm.BASE, score, "target", 1, judge=judge) for score, judge in judged]
    trials.append(trial(TARGET, Arm.DRAFT, 0.0, "target", 1))
    assert counts(*trials, draws=(draw(1, "target", TARGET),)) == [("target", False, 1, 1, 0, 1)]


def test_training_on_another_harness_was_for_another_edit() -> None:
    """A file that was changed since gives another harness, and what was tried with it says nothing here."""
    on_another = replace(trial(TRAIN, Arm.BASE, 0.0, "train"), harness=digest_of("another"))
    assert counts(on_another, draws=()) == []


def test_a_cycle_knows_nothing_of_later_ones() -> None:
    """What was drawn and tried up to a cycle is its own and that of earlier ones."""
    draws = [draw(number, "target", TARGET, f"n-{number}") for number in (1, 9, 10)]
    assert [one.draw for one in until(draws, "n-9")] == [1, 9]
    assert [one.draw for one in until(draws, "n-10")] == [1, 9, 10]
    tries = [replace(trial(TRAIN, Arm.BASE, 0.0, "train"), cycle=cycle) for cycle in ("n-1", "n-2")]
    assert [one.cycle for one in until(tries, "n-1")] == ["n-1"]
