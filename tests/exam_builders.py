"""Exams for tests of the gate: a draft, a hold-out, and one sitting."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from gate_builders import CANDIDATE, ScriptedPractice, task
from nightschool.core.harness import File, Harness, Scope, Target
from nightschool.core.proposals import Certify, Draft, Edit, Verdict
from nightschool.core.tasks import HoldoutVersion, Task, task_digest
from nightschool.core.trials import Arm, WealthKey
from nightschool.core.values import digest_bytes
from nightschool.rules.gate import Policy
from nightschool.stages.examine import Exam, examine
from nightschool.testing.clock import FakeClock
from nightschool.testing.memory_store import MemoryStore

TARGETS = tuple(task(f"target {n}", cluster=f"c{n % 6}") for n in range(12))
GUARDS = tuple(task(f"guard {n}", concerned=False) for n in range(8))
AT = datetime(2025, 3, 1, tzinfo=UTC)

Chance = Callable[[Task, Arm], float]


def exam(
    tasks: tuple[Task, ...] = (*TARGETS, *GUARDS),
    *,
    rule: str = "use pnpm",
    certify: Certify = Certify.GAIN,
    train: tuple[Task, ...] = (),
    protected: tuple[str, ...] = (),
    version: int = 1,
    place: str = "project/CLAUDE.md",
) -> Exam:
    base = Harness()
    proposed = Harness.of([File(path=place, content=rule.encode())])
    draft = Draft(
        candidate=CANDIDATE.id,
        target=Target(agent="codex", scope=Scope.PROJECT, project="/p", place=place),
        edits=(Edit(op="add", rule=rule, moment=CANDIDATE.evidence[0]),),
        base=base.digest,
        live=None,
        live_mode=None,
        before=None,
        after=digest_bytes(rule.encode()),
        certify=certify,
        cycle="cy",
        created_at=AT,
    )
    holdout = HoldoutVersion(pool="/p", number=version, tasks=tuple(held.id for held in tasks))
    key = WealthKey(
        draft=draft.digest,
        base=base.digest,
        runner="scripted",
        runner_version="1",
        model="none",
        conditions=digest_bytes(b"options"),
        judge="1",
        checks=task_digest(tasks),
        holdout=holdout.id,
    )
    return Exam(
        draft=draft,
        candidate=CANDIDATE,
        base=base,
        proposed=proposed,
        holdout=holdout,
        key=key,
        tasks=tasks,
        train=train,
        protected=protected,
    )


def sit(
    sat: Exam,
    practice: ScriptedPractice,
    store: MemoryStore | None = None,
    *,
    policy: Policy | None = None,
    cycle: str = "cy",
    batch: int = 4,
    seed: int = 0,
) -> Verdict:
    return examine(
        sat,
        store=store if store is not None else MemoryStore(),
        practice=practice,
        clock=FakeClock(AT),
        policy=policy or Policy(),
        cycle=cycle,
        seed=seed,
        batch=batch,
    )


def helpful(held: Task, arm: Arm) -> float:
    if held in TARGETS:
        return 0.9 if arm is Arm.DRAFT else 0.1
    return 1.0


def useless(held: Task, arm: Arm) -> float:
    return 0.5 if held in TARGETS else 1.0


def what_was_said(verdict: Verdict) -> tuple[object, ...]:
    return verdict.kind, verdict.code, verdict.path, verdict.guards, verdict.base, verdict.proposal
