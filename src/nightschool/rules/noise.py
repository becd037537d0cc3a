"""The noise floor: what pairs of a harness with itself say of the exam that edits of it will sit.

`calibration` shows the gate on simulated pairs; here are the real ones of a person's own tasks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from nightschool.core.tasks import Task
from nightschool.core.trials import Estimate, LostPair, Pair
from nightschool.core.values import Value
from nightschool.rules.betting import Wealth, alpha_share
from nightschool.rules.intervals import estimate, mean_difference, share_above
from nightschool.rules.pairing import Losses, stream
from nightschool.rules.telling import figures

Passes = Literal["always", "never", "sometimes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskNoise(Value):
    """One task under the base: both runs of each of its pairs."""

    task: str
    cluster: str
    pairs: int
    differ: int
    passed: int
    """Of `2 * pairs` tries."""

    @property
    def rate(self) -> float | None:
        return self.passed / (2 * self.pairs) if self.pairs else None

    @property
    def passes(self) -> Passes | None:
        """None: not tried yet."""
        match self.rate:
            case None:
                return None
            case 0.0:
                return "never"
            case 1.0:
                return "always"
        return "sometimes"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseFloor(Value):
    """What the pairs came to. Estimates are None where no pair came about."""

    pairs: int
    differ: int
    """Pairs in which one run passed and the other did not."""
    better: int
    """Those of them in which the second run passed."""
    share: Estimate | None
    """Of pairs that differ."""
    mean_d: Estimate | None
    """Second minus first run. It should hold 0: the two are the same."""
    base: Estimate | None
    """How often the base passes, over both runs."""
    tasks: tuple[TaskNoise, ...]
    wealth: float
    """What the gate's bets on "the second is better" have become."""
    highest: float
    """The most that they ever were."""
    needed: float
    """What the first draft of a hold-out version needs."""
    losses: Losses

    @property
    def false_alarm(self) -> bool:
        """Whether a draft with these pairs would have had the wealth to be accepted."""
        return self.highest >= self.needed

    @property
    def expected(self) -> float:
        """The chance of a false alarm is at most this, by the theorem in `betting`."""
        return 1 / self.needed

    @property
    def level(self) -> bool | None:
        """Whether the two runs came out level, as the same harness should."""
        return None if self.mean_d is None else self.mean_d.low <= 0 <= self.mean_d.high


def plan(tasks: Sequence[Task], seed: str, first: int, count: int) -> list[str]:
    """The tasks of the pairs from the one with number `first` on, counted from 0.

    Clusters in turn, and the tasks of a cluster in turn: the weights are those of the gate, and each task
    is seen soon. Between equals the mean of d is 0 on each task, so that, unlike in an exam, the turns
    leave the promise about the wealth as it is.
    """
    random = stream(seed, "calibrate")
    members: dict[str, list[str]] = {}
    for task in sorted(tasks, key=lambda task: (task.cluster, task.id)):
        members.setdefault(task.cluster, []).append(task.id)
    turns = list(members.values())
    random.shuffle(turns)
    for turn in turns:
        random.shuffle(turn)
    chosen = []
    for number in range(first, first + count):
        round_, place = divmod(number, len(turns))
        chosen.append(turns[place][round_ % len(turns[place])])
    return chosen


def noise_floor(
    pairs: Iterable[Pair], lost: Sequence[LostPair], tasks: Iterable[Task], *, alpha: float
) -> NoiseFloor:
    """Judge the pairs of a calibration, in the order of their draws."""
    ordered = sorted(pairs, key=lambda pair: pair.draw)
    scores = [score for pair in ordered for score in (pair.base_score, pair.draft_score)]
    if not set(scores) <= {0.0, 1.0}:
        raise ValueError("the noise floor is of trials that pass or do not")
    better, worse = sum(pair.d > 0 for pair in ordered), sum(pair.d < 0 for pair in ordered)
    path = [Wealth()]
    for pair in ordered:
        path.append(path[-1].after(pair.d))
    return NoiseFloor(
        pairs=len(ordered),
        differ=better + worse,
        better=better,
        share=estimate([abs(pair.d) for pair in ordered]) if ordered else None,
        mean_d=_mean_d(better, worse, len(ordered)) if ordered else None,
        base=estimate(scores) if scores else None,
        tasks=tuple(_of_task(task, ordered) for task in sorted(tasks, key=lambda task: task.id)),
        wealth=path[-1].value,
        highest=max(wealth.value for wealth in path),
        needed=1 / alpha_share(alpha, 1),
        losses=Losses.of(ordered, lost),
    )


def _mean_d(better: int, worse: int, n: int) -> Estimate:
    low, high = mean_difference(better, worse, n)
    return Estimate(mean=(better - worse) / n, low=low, high=high, n=n)


def _of_task(task: Task, pairs: Sequence[Pair]) -> TaskNoise:
    own = [pair for pair in pairs if pair.task == task.id]
    return TaskNoise(
        task=task.id,
        cluster=task.cluster,
        pairs=len(own),
        differ=sum(pair.d != 0 for pair in own),
        passed=round(sum(pair.base_score + pair.draft_score for pair in own)),
    )


def told(floor: NoiseFloor) -> tuple[str, ...]:
    """What it means, for a person who knows no statistics."""
    if not floor.pairs:
        return ("no pair of runs came about, so nothing is known of the noise",)
    return (_noise(floor), _level(floor), _alarm(floor), *_tasks(floor))


def _noise(floor: NoiseFloor) -> str:
    if not floor.differ:
        most = share_above(0, floor.pairs)
        return (
            f"two runs of the same harness never differ in {floor.pairs} pairs: no noise was seen (up to "
            f"{_percent(most)} of the pairs could still differ; more pairs tell)"
        )
    assert floor.share is not None
    return (
        f"two runs of the same harness differ in {floor.differ} of {floor.pairs} pairs; an edit has to win "
        f"clearly more often than that (so few pairs fit anything from {_percent(floor.share.low)} to "
        f"{_percent(floor.share.high)})"
    )


def _level(floor: NoiseFloor) -> str:
    if not floor.differ:
        return "neither run won over the other: level, as it should be between equals"
    worse = floor.differ - floor.better
    came = f"the second run won {floor.better} of those and lost {worse}"
    if floor.level:
        return f"{came}: level, as it should be between equals"
    return (
        f"{came}: not level, though both are the same. Chance alone does this once in 20 calibrations; if it "
        "stays so with more pairs, something beside the harness differs between two runs"
    )


def _alarm(floor: NoiseFloor) -> str:
    once = f"at most once in {1 / floor.expected:.0f} calibrations"
    if floor.false_alarm:
        return (
            f"FALSE ALARM: the evidence came to {figures(floor.highest)}, and the gate asks for "
            f"{figures(floor.needed)}. Chance does this {once}; if it does it again, do not trust what the "
            "gate accepts here"
        )
    return (
        f"no false alarm: the evidence came to {figures(floor.highest)} at most, and the gate asks for "
        f"{figures(floor.needed)} (expected: an alarm {once})"
    )


def _tasks(floor: NoiseFloor) -> Iterable[str]:
    of = len(floor.tasks)
    by = {kind: sum(task.passes == kind for task in floor.tasks) for kind in ("always", "never", None)}
    if by["always"]:
        yield f"{by['always']} of {of} tasks passed in every try: no edit can show a gain there, only a loss"
    if by["never"]:
        yield (
            f"{by['never']} of {of} tasks passed in no try: only an edit that makes them pass can show "
            "there; if none ever does, see what the task asks for (`nightschool tasks`)"
        )
    if by[None]:
        yield f"{by[None]} of {of} tasks were not tried yet: ask for more pairs"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
