"""Scored work and the evidence that a gate bets on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from nightschool.core.harness import Harness
from nightschool.core.tasks import Task
from nightschool.core.values import Digest, Record, Value, digest_of


class Arm(StrEnum):
    BASE = "base"
    DRAFT = "draft"
    FIRST = "base-1"
    SECOND = "base-2"
    """The two runs of a calibration. Both are the base; no job of theirs can be one of an exam."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRequest(Value):
    """A trial to be made."""

    task: Task
    harness: Harness
    arm: Arm
    purpose: str
    repeat: int = 0
    draw: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial(Record):
    """task x arm x repeat (or draw): one job with its score."""

    task: str
    arm: Arm
    harness: Digest
    job: Digest
    repeat: int = 0
    draw: int | None = None
    score: float | None
    """1.0 or 0.0 under metric `hard`; None: lost, never judged."""
    judge: str
    """Version of the judge that scored it: another one judges the same outcome anew."""
    failed_checks: tuple[int, ...] = ()
    """Indexes into the task's checks; an editor never sees them."""
    note: str = ""
    """Why it scored as it did, in plain words, for the report."""
    purpose: str
    """probe (is the task fit to serve), train, or the role of the pair that it is made for."""
    skills: tuple[str, ...] | None = None
    """Those that the agent loaded; None: nobody looked."""
    cycle: str

    @property
    def id(self) -> str:
        return f"{self.job}.{self.purpose}.{self.judge}"

    @property
    def owner(self) -> str:
        return self.cycle


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair(Record):
    """Both arms tried anew on one task under one fresh draw number.

    Each pair enters a wealth once: its id is (wealth, draw), and the store refuses a second one.
    """

    wealth: Digest
    """Key of the wealth that it belongs to (`WealthKey.digest`)."""
    draw: int
    role: str
    """target | guard | side | report | suggest | calibrate; only `target` enters the wealth of a
    draft. `side`: drawn on a target, for the checks that are not the candidate's."""
    task: str
    cluster: str
    base_score: float
    draft_score: float
    base_others: float | None = None
    """Of a target: 1.0 where all checks passed that are not the candidate's; None where there are none."""
    draft_others: float | None = None
    loaded: bool | None = None
    """Whether the draft's trial loaded the skill that the draft edits; None: it edits none, or unknown."""
    cycle: str

    @property
    def id(self) -> str:
        return f"{self.wealth}.{self.draw}"

    @property
    def owner(self) -> str:
        return self.wealth

    @property
    def d(self) -> float:
        """Draft minus base, in [-1, 1]."""
        return self.draft_score - self.base_score


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw(Record):
    """A pair that is about to be tried, written before its trials.

    A cycle that died goes on with exactly the draws it had begun: its finished trials are neither
    lost nor silently exchanged for others.
    """

    wealth: Digest
    draw: int
    role: str
    task: str
    base_first: bool
    """The random order of the arms."""
    cycle: str

    @property
    def id(self) -> str:
        return f"{self.wealth}.{self.draw}"

    @property
    def owner(self) -> str:
        return self.wealth


@dataclass(frozen=True, slots=True, kw_only=True)
class LostPair(Record):
    """A draw that gave no pair, because a trial stayed lost in all its tries on this draw. It is closed."""

    wealth: Digest
    draw: int
    role: str
    task: str
    base_lost: bool
    draft_lost: bool
    cycle: str

    @property
    def id(self) -> str:
        return f"{self.wealth}.{self.draw}"

    @property
    def owner(self) -> str:
        return self.wealth


@dataclass(frozen=True, slots=True, kw_only=True)
class WealthKey(Value):
    """What a wealth belongs to. When one of these changes it starts at 1 as a new k."""

    draft: Digest
    base: Digest
    runner: str
    runner_version: str
    model: str
    conditions: Digest
    """How a trial is made besides: effort, time limit, network, and how a harness is placed."""
    judge: str
    checks: Digest
    holdout: str
    """Id of the `HoldoutVersion`."""

    @property
    def digest(self) -> Digest:
        return digest_of(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlphaEntry(Record):
    """The ledger of one hold-out version: its k-th draft, and on which terms it is tested.

    Written before the first trial. The terms are kept because settings may change: a level or a margin
    that could still be moved once pairs were seen would make the promise of the gate worthless.
    """

    holdout: str
    k: int
    wealth: Digest
    draft: str
    alpha: float
    """Of the hold-out version, as it was set then; the k-th share of it is spent."""
    margin: float
    """As it was set then; used only where the draft has to show that it is not worse."""
    at: datetime
    instead_of: int | None = None
    """The k of an entry that saw no outcome, whose share this one takes over; None: its own."""

    @property
    def level(self) -> int:
        """The k that says which share of alpha it spends."""
        return self.k if self.instead_of is None else self.instead_of

    @property
    def id(self) -> str:
        return f"{self.holdout}.{self.k}"

    @property
    def owner(self) -> str:
        return self.holdout


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition(Record):
    """Targets and guards of one wealth, drawn before its first trial by a rule that sees no outcome."""

    wealth: Digest
    targets: tuple[str, ...]
    guards: tuple[str, ...]

    @property
    def id(self) -> str:
        return self.wealth


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate(Value):
    """A mean score with its 95 % interval, from `n` fresh trials."""

    mean: float
    low: float
    high: float
    n: int


SIDE_CHECKS = "other checks of the targets"
"""Stands where a guard's task stands: what the targets check besides the candidate's own check."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardReport(Value):
    """What one guard showed: pairs, harm (the wealth against it), summed d."""

    task: str
    pairs: int
    harm: float
    total: float
    unseen_loss: float
    """The loss of mean score that could have gone unseen at these pairs."""
    base_passed: int | None = None
    """In how many of its pairs it was passed without the edit; None: not on record."""
    probed: int = 0
    """So many tries without the edit, none passed, before any pair: it got none, since it cannot suffer."""

    @property
    def could_show(self) -> bool:
        """Whether a harm could have shown: what is seldom passed without the edit has nothing to lose."""
        return self.pairs > 0 and (self.base_passed is None or 2 * self.base_passed >= self.pairs)
