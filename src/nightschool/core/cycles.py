"""One run of the whole loop: its limits, and what it reports."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Self

from nightschool.core.harness import Absent, Target
from nightschool.core.proposals import Edit, Finding, RefusedEdit
from nightschool.core.tasks import Candidate
from nightschool.core.trials import Estimate
from nightschool.core.values import Record, Value

BETWEEN = ", "


TOKENS_BOOKED = 60_000
"""Booked for a job before anything is known of its like: an agent's short task with its system prompt."""
COST_BOOKED = Decimal("0.25")


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget(Value):
    """Hard limits of one cycle. None is no limit. Unknown use counts as over a limit that is set."""

    jobs: int | None = 100
    wall: timedelta | None = timedelta(minutes=60)
    tokens: int | None = None
    cost: Decimal | None = None
    """US dollars."""

    def within(self, other: Budget) -> bool:
        """Whether no more may be spent than under another: jobs, tokens and money."""
        pairs = ((self.jobs, other.jobs), (self.tokens, other.tokens), (self.cost, other.cost))
        return all(most is None or (own is not None and own <= most) for own, most in pairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spend(Value):
    """What a cycle used. `tokens` and `cost` are the sums of what is known; `unknown_*` count the jobs
    whose use nobody told, `unsettled` the reservations whose job never came to an end."""

    jobs: int = 0
    """Started, those that were lost or broken off too."""
    reused: int = 0
    """Answered from finished jobs of before, at no cost."""
    tokens: int = 0
    cost: Decimal = Decimal(0)
    unknown_tokens: int = 0
    unknown_cost: int = 0
    unsettled: int = 0
    lost: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned(Value):
    """What became of one candidate in a cycle."""

    candidate: str
    statement: str
    sessions: int
    code: str
    """accept, reject, undecided, underpowered, invalid, already-followed, already-published, same-edit,
    no-train-task, lost, no-edit, unsafe, budget-ended, next-run, waits-for-review, taken-back, needs-you,
    pinned, adopted, switched-off, set-up-failed"""
    why: str
    target: Target | None = None
    """The file that an edit goes to; None where none may be edited, or nobody came to ask."""
    aim: str = ""
    """Why it is this file."""
    draft: str | None = None
    release: str | None = None
    """Number of the release, where the person lets what is accepted be adopted without being asked."""
    edits: tuple[Edit, ...] = ()
    """Those of the proposal, each with its reason."""
    refused: tuple[RefusedEdit, ...] = ()
    findings: tuple[Finding, ...] = ()
    """What was found in it at low risk: told, and no bar."""
    base: Estimate | None = None
    proposal: Estimate | None = None
    pairs: int = 0

    @classmethod
    def of(cls, candidate: Candidate, code: str, why: str, draft: str | None = None) -> Self:
        return cls(
            candidate=candidate.id,
            statement=candidate.statement,
            sessions=len(candidate.sessions),
            code=code,
            why=why,
            draft=draft,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CycleReport(Record):
    """The report of a cycle. All texts are redacted."""

    cycle: str
    started_at: datetime
    ended_at: datetime
    project: str
    """Root of the project, "" for all; of several all, with `BETWEEN` between them."""
    runner: str
    runner_version: str
    model: str | None
    sandbox: str
    mode: str
    sessions_read: int
    """With something new, of the projects that it was about."""
    sessions_known: int
    """In all projects."""
    human_turns: int
    left_out: tuple[tuple[str, int], ...]
    """(reason, how many)."""
    postponed: int
    corrections: int
    candidates: int
    tasks_train: int
    tasks_holdout: int
    skipped: tuple[tuple[str, int], ...]
    """Why sessions gave no task: (reason, how many)."""
    learned: tuple[Learned, ...]
    spend: Spend
    budget: Budget
    trials: int
    tries: tuple[tuple[str, int], ...] = ()
    """What the trials were made for: (purpose, how many). Empty in reports of before it was told."""
    edit_jobs: int = 0
    """Jobs that wrote edits: they are no trials."""
    lost_by_arm: tuple[tuple[str, int], ...] = ()
    notes: tuple[str, ...] = field(default=())
    """What the person should know: a limit that was hit, what the replays lack, why nothing was learned."""
    missing: tuple[Absent, ...] = ()
    """What shapes the person's agent and was not there in the practice, of either arm."""
    worked: timedelta | None = None
    """From the first job on, while the machine was awake: what the limit of minutes counts."""
    ended_by: str | None = None
    """The limit that was used up, in words; None where none was."""
    sessions_own: int | None = None
    """Known of the projects that it was about; None in reports of before it was told."""
    sessions_elsewhere: int = 0
    """With something new, of other projects: read along, and kept for their own runs."""
    failed: str | None = None
    """Why the cycle broke off; None where it came to its end."""

    @property
    def roots(self) -> frozenset[str] | None:
        """The projects that it was about; None: all."""
        # A root is absolute: a comma inside the name of a folder parts nothing.
        return frozenset(re.split(rf"{BETWEEN}(?=/)|\n\+\n", self.project)) if self.project else None

    def concerns(self, roots: frozenset[str] | None) -> bool:
        """Whether it was about one of these projects; None: any."""
        return roots is None or self.roots is None or bool(roots & self.roots)

    @property
    def id(self) -> str:
        return self.cycle

    @property
    def owner(self) -> str:
        return self.project
