"""Values for tests of the gate: tasks, pairs, trials, and a practice that follows a script."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from random import Random

from nightschool.core.errors import BudgetExhausted
from nightschool.core.proposals import Certify
from nightschool.core.tasks import Candidate, FilesSource, Footprint, Moment, Split, Task, Touched
from nightschool.core.trials import Arm, Draw, Pair, Trial, TrialRequest
from nightschool.core.values import Digest, digest_of
from nightschool.rules.betting import alpha_share
from nightschool.rules.gate import Policy, Tally, Terms

POLICY = Policy()
CHECK = Footprint(wanted="pnpm", unwanted="npm")
OTHER = Touched(paths=("a.txt",))
WEALTH = digest_of("wealth")
CANDIDATE = Candidate(
    correction="c-1",
    statement="use pnpm, not npm",
    evidence=(Moment(session="train-1", turn=2, quote="use pnpm, not npm"),),
    sessions=("train-1", "s1"),
    check=CHECK,
    project="/p",
)


def terms(
    *, clusters: int = 6, certify: Certify = Certify.GAIN, policy: Policy = POLICY, k: int = 1
) -> Terms:
    return Terms(policy=policy, certify=certify, share=alpha_share(policy.alpha, k), clusters=clusters)


def task(
    name: str, *, cluster: str | None = None, split: Split = Split.HOLDOUT, concerned: bool = True
) -> Task:
    return Task(
        prompt=f"do {name}",
        workspace=FilesSource(),
        checks=(CHECK, OTHER),
        session=f"session {name}",
        turn=0,
        source="codex",
        project="/p",
        cluster=cluster or f"cluster {name}",
        split=split,
        concerns=(CANDIDATE.id,) if concerned else (),
        at=datetime(2025, 1, 1, tzinfo=UTC),
    )


def pair(draw: int, base: float, draft: float, cluster: str = "") -> Pair:
    return Pair(
        wealth=WEALTH,
        draw=draw,
        role="target",
        task="t-1",
        cluster=cluster or f"cluster {draw % 6}",
        base_score=base,
        draft_score=draft,
        cycle="cy",
    )


def trial(arm: Arm, score: float | None, failed: tuple[int, ...] = ()) -> Trial:
    return Trial(
        task="t-1",
        arm=arm,
        harness=digest_of(arm),
        job=digest_of(arm, score),
        score=score,
        judge="1",
        failed_checks=failed,
        purpose="target",
        cycle="cy",
    )


def draw(role: str = "target") -> Draw:
    return Draw(wealth=WEALTH, draw=1, role=role, task="t-1", base_first=True, cycle="cy")


def tally_of(scores: list[tuple[float, float]], given: Terms) -> Tally:
    tally = Tally.start(given)
    for place, (base, draft) in enumerate(scores):
        tally = tally.after(f"cluster {place % given.clusters}", base, draft)
    return tally


class ScriptedPractice:
    """`Practice` by a rule: chance(task, arm) of passing, the same for the same trial in any order of calls.

    Trials that were made before cost nothing. `lose` says which trials are lost,
    `breaks` on which the task's other check fails, `dies_after` how many
    jobs are done before the process "dies".
    """

    def __init__(
        self,
        chance: Callable[[Task, Arm], float],
        *,
        jobs: int = 10_000,
        lose: Callable[[TrialRequest], bool] = lambda _: False,
        breaks: Callable[[Task, Arm], bool] = lambda _task, _arm: False,
        dies_after: int | None = None,
        made: dict[str, Trial] | None = None,
        skills: tuple[str, ...] | None = None,
    ) -> None:
        self.chance = chance
        self.jobs = jobs
        self.lose = lose
        self.breaks = breaks
        self.dies_after = dies_after
        self.skills = skills
        self.made: dict[str, Trial] = {} if made is None else made
        self.asked: list[TrialRequest] = []
        self.told: list[str] = []

    def left(self) -> int:
        return self.jobs

    def share(self) -> int:
        return self.jobs

    def tell(self, words: str) -> None:
        self.told.append(words)

    def trials(self, requests: Sequence[TrialRequest]) -> Sequence[Trial]:
        keys = [digest_of(r.task.id, r.arm, r.harness.digest, r.repeat, r.draw) for r in requests]
        new = [key for key in keys if key not in self.made]
        if len(new) > self.jobs:
            raise BudgetExhausted("no more jobs")
        found = []
        for key, request in zip(keys, requests, strict=True):
            if key not in self.made:
                if self.dies_after is not None and len(self.made) >= self.dies_after:
                    raise KeyboardInterrupt
                self.jobs -= 1
                self.made[key] = self._trial(key, request)
            self.asked.append(request)
            found.append(self.made[key])
        return found

    def _trial(self, key: Digest, request: TrialRequest) -> Trial:
        passes = Random(key).random() < self.chance(request.task, request.arm)
        failed = (() if passes else (0,)) + ((1,) if self.breaks(request.task, request.arm) else ())
        return Trial(
            task=request.task.id,
            arm=request.arm,
            harness=request.harness.digest,
            job=key,
            repeat=request.repeat,
            draw=request.draw,
            score=None if self.lose(request) else float(not failed),
            judge="1",
            failed_checks=failed,
            purpose=request.purpose,
            skills=self.skills,
            cycle="cy",
        )
