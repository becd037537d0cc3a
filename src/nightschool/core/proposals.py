"""Drafts and the evidence that speaks of them. Status is derived from evidence, never stored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal

from nightschool.core.errors import NotAllowed
from nightschool.core.harness import Target
from nightschool.core.tasks import Candidate, Moment
from nightschool.core.trials import SIDE_CHECKS, Estimate, GuardReport
from nightschool.core.values import Digest, Record, Value, digest_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit(Value):
    """One change of a file's rules: a rule added, replaced or deleted, and what justifies it."""

    op: Literal["add", "replace", "delete"]
    rule: str = ""
    """The new rule's text (add, replace); one rule, possibly of several lines."""
    anchor: str = ""
    """The whole text of the existing rule (replace, delete)."""
    moment: Moment
    """A moment of a train session."""
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedEdit(Record):
    """An edit that was not taken, and why: for the report.

    Of these an editor sees those that are unsafe, and edits of drafts that were turned down
    (`rules/standing`); such an edit is not taken again unchanged.
    """

    edit: Edit
    code: str
    """no-match, repeats-rejected, outside-target, check-text, judge-words, already-there, no-moment,
    over-budget, unsafe, bad-reply"""
    text: str
    candidate: str
    cycle: str

    @property
    def id(self) -> str:
        return digest_of(self.edit, self.code, self.candidate, self.cycle)[:16]

    @property
    def owner(self) -> str:
        return self.candidate


class Certify(StrEnum):
    """What the draft has to show: a gain, or (where it deletes or shortens) no loss beyond a margin."""

    GAIN = "gain"
    NOT_WORSE = "not-worse"


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft(Record):
    """A concrete edit of a harness that answers one candidate. Its bytes are blobs."""

    candidate: str
    target: Target
    aim: str = ""
    """Why it is this target."""
    edits: tuple[Edit, ...]
    base: Digest
    """Digest of the harness that it was made from."""
    live: Digest | None
    """Digest of the live file's bytes that it was made from; None where there was no file."""
    live_mode: int | None
    before: Digest | None
    """Blob with the live file's bytes."""
    after: Digest
    """Blob with the bytes that the file would have."""
    certify: Certify = Certify.GAIN
    cycle: str
    created_at: datetime
    made_from: str | None = None
    """Id of the draft that a person had this one made from: on a later state of the file, or of a part of
    its edits. What is known of that one speaks of other bytes."""

    @property
    def id(self) -> str:
        return "d-" + self.digest[:10]

    @property
    def owner(self) -> str:
        return self.candidate

    @property
    def digest(self) -> Digest:
        """What evidence binds to: target, base and result. Not when or in which cycle it was made."""
        return digest_of(self.target, self.base, self.live, self.after, self.certify)


class VerdictKind(StrEnum):
    ACCEPT = "accept"
    REJECT = "reject"
    UNDECIDED = "undecided"
    UNDERPOWERED = "underpowered"
    INVALID = "invalid"


VerdictCode = Literal[
    "enough-wealth",
    "low-wealth",
    "guard-harmed",
    "no-rise",
    "budget-ended",
    "pairs-ended",
    "kinds-missing",
    "many-losses",
    "suggest-mode",
    "gate-off",
    "few-targets",
    "few-pairs",
    "base-passes-all",
    "checks-blind",
    "overlap",
    "losses-differ",
    "never-triggered",
]
"""Why, in a word. Only a draft of a skill can be "never triggered": memory is always loaded."""
SAID_WITHOUT_A_TRY: frozenset[VerdictCode] = frozenset({"few-pairs", "few-targets", "gate-off"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict(Record):
    """What the gate says of a draft, with all that it says it from."""

    draft: Digest
    kind: VerdictKind
    code: VerdictCode
    why: str
    mode: str
    """certify | suggest | off"""
    wealth_key: Digest | None
    holdout: str | None
    k: int | None
    alpha: float | None
    """The share of alpha spent on this draft."""
    wealth: float | None
    path: tuple[float, ...] = ()
    """The wealth after each pair, from 1."""
    pairs: int = 0
    decided: int = 0
    """Pairs with d not 0."""
    clusters_won: int = 0
    target_clusters: int = 0
    base: Estimate | None = None
    """From fresh trials after the decision, never from the pairs that decided."""
    proposal: Estimate | None = None
    guards: tuple[GuardReport, ...] = ()
    losses_base: int = 0
    losses_draft: int = 0
    margin: float | None = None
    """Only where the draft is tested for not being worse."""
    cycle: str
    at: datetime

    @property
    def id(self) -> str:
        return f"{self.draft}.{self.cycle}"

    @property
    def owner(self) -> str:
        return self.draft

    @property
    def unguarded(self) -> bool:
        """Whether it was accepted without any other work that could have shown a harm."""
        other = (guard for guard in self.guards if guard.task != SIDE_CHECKS)
        return self.kind is VerdictKind.ACCEPT and not any(guard.could_show for guard in other)

    @property
    def rests_on_pairs(self) -> bool:
        """Whether something was tried for it. What was said without a try is no evidence on the draft."""
        return self.pairs > 0 and self.code not in SAID_WITHOUT_A_TRY


def speaking(verdicts: Sequence[Verdict]) -> Verdict | None:
    """The verdict that speaks of a draft: the newest that rests on pairs, else the newest. A run that could
    try nothing (a small budget, an endpoint that is away) leaves standing what pairs showed before."""
    tried = [verdict for verdict in verdicts if verdict.rests_on_pairs]
    return next(iter((tried or list(verdicts))[::-1]), None)


class Risk(StrEnum):
    LOW = "low"
    HIGH = "high"
    CRITICAL = "critical"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(Value):
    code: str
    """secret | hidden-text | fetch-and-execute | tool-output | surface | ..."""
    risk: Risk
    text: str
    """What and where, redacted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SafetyReport(Record):
    draft: Digest
    findings: tuple[Finding, ...]
    rules: str
    """Version of the rules that looked."""
    cycle: str

    @property
    def id(self) -> str:
        return f"{self.draft}.{self.cycle}"

    @property
    def owner(self) -> str:
        return self.draft

    @property
    def passed(self) -> bool:
        """What is found at low risk is told and keeps nothing back."""
        return all(finding.risk is Risk.LOW for finding in self.findings)


class Decision(StrEnum):
    APPROVE = "approve"
    REJECT = "reject"
    REOPEN = "reopen"
    """What was taken back, or turned down, is asked for again: it stands as the gate left it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Review(Record):
    """A human's word on one revision. A reason is needed to take a suggestion (a waiver)."""

    draft: Digest
    reviewer: str
    decision: Decision
    reason: str = ""
    at: datetime

    @property
    def id(self) -> str:
        return digest_of(self)[:16]

    @property
    def owner(self) -> str:
        return self.draft


class Step(StrEnum):
    """A release is written down before the live file is touched, and again after."""

    INTENDED = "intended"
    DONE = "done"
    ABANDONED = "abandoned"


@dataclass(frozen=True, slots=True, kw_only=True)
class Release(Record):
    """One change of one live file: a publication, or an undo that points back at one."""

    number: str
    """Ordered: `r-0001`."""
    step: Step
    draft: Digest
    draft_id: str
    target: Target
    path: str
    """The real path written (through a link)."""
    before: Digest | None
    """Blob; None: there was no file."""
    before_mode: int | None
    after: Digest | None
    """Blob; None: the file is removed (undo of a file that we made)."""
    after_mode: int | None
    folders: tuple[str, ...] = ()
    """Folders that were not there before it: made for the file, removed with it."""
    undoes: str | None = None
    """Number of the release that this one takes back."""
    actor: str
    reason: str = ""
    at: datetime

    @property
    def id(self) -> str:
        return f"{self.number}.{self.step}"

    @property
    def owner(self) -> str:
        return self.number


class Status(StrEnum):
    """Of a draft, derived. Words of DESIGN 7."""

    DRAFT = "draft"
    SAFETY_FAILED = "safety failed"
    EVALUATION_FAILED = "evaluation failed"
    NO_VERDICT = "no verdict"
    """Its exam was invalid: neither for nor against it. A person can turn it down, not take it."""
    IN_REVIEW = "in review"
    SUGGESTED = "suggestion"
    """In review too, but not certified: taken only with a reason."""
    APPROVED = "approved"
    REJECTED = "rejected"
    PUBLISHED = "published"
    ROLLED_BACK = "rolled back"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dossier(Value):
    """A draft and all that is known of it, in the order of writing."""

    draft: Draft
    status: Status
    candidate: Candidate | None
    safety: tuple[SafetyReport, ...]
    verdicts: tuple[Verdict, ...]
    reviews: tuple[Review, ...]
    releases: tuple[Release, ...]
    refused_edits: tuple[RefusedEdit, ...]

    @property
    def certified(self) -> bool:
        """Whether the gate accepted it; if not, only a person's reason carries it."""
        return self.verdict is not None and self.verdict.kind is VerdictKind.ACCEPT

    @property
    def verdict(self) -> Verdict | None:
        """The one that speaks of it."""
        return speaking(self.verdicts)


class Act(StrEnum):
    APPROVE = "approve"
    REJECT = "reject"
    PUBLISH = "publish"
    UNDO = "undo"
    REOPEN = "reopen"


TRANSITIONS: dict[tuple[Status, Act], Status] = {
    (Status.IN_REVIEW, Act.APPROVE): Status.APPROVED,
    (Status.SUGGESTED, Act.APPROVE): Status.APPROVED,
    (Status.IN_REVIEW, Act.REJECT): Status.REJECTED,
    (Status.SUGGESTED, Act.REJECT): Status.REJECTED,
    (Status.APPROVED, Act.REJECT): Status.REJECTED,
    (Status.NO_VERDICT, Act.REJECT): Status.REJECTED,
    (Status.APPROVED, Act.PUBLISH): Status.PUBLISHED,
    (Status.PUBLISHED, Act.UNDO): Status.ROLLED_BACK,
    (Status.ROLLED_BACK, Act.APPROVE): Status.APPROVED,
    (Status.ROLLED_BACK, Act.REOPEN): Status.SUGGESTED,
    (Status.REJECTED, Act.REOPEN): Status.SUGGESTED,
}


STANDS_AS: dict[Status, str] = {
    Status.DRAFT: "that was not looked at yet",
    Status.SAFETY_FAILED: "that did not pass the safety check",
    Status.EVALUATION_FAILED: "that failed its exam",
    Status.NO_VERDICT: "whose exam could say nothing about it",
    Status.IN_REVIEW: "that passed its exam and waits for your word",
    Status.SUGGESTED: "that is a suggestion",
    Status.APPROVED: "that is approved already",
    Status.REJECTED: "that you turned down (`nightschool reject ID --take-back` takes that word back)",
    Status.PUBLISHED: "that is adopted already",
    Status.ROLLED_BACK: "that you took back",
}
DONE_TO: dict[str, str] = {Act.APPROVE: "adopt", Act.PUBLISH: "adopt", Act.REJECT: "reject"}


def _refusal(status: Status, act: Act) -> str:
    return f"cannot {DONE_TO.get(act, act)} a proposal {STANDS_AS[status]}"


def advance(status: Status, act: Act) -> Status:
    """Follow the table, or say why not."""
    try:
        return TRANSITIONS[status, act]
    except KeyError:
        raise NotAllowed([("wrong-state", _refusal(status, act))]) from None


AFTER_EXAM: dict[VerdictKind, Status] = {
    VerdictKind.ACCEPT: Status.IN_REVIEW,
    VerdictKind.UNDECIDED: Status.SUGGESTED,
    VerdictKind.UNDERPOWERED: Status.SUGGESTED,
    VerdictKind.INVALID: Status.NO_VERDICT,
    VerdictKind.REJECT: Status.EVALUATION_FAILED,
}


def status_of(
    draft: Draft,
    *,
    safety: Iterable[SafetyReport],
    verdicts: Iterable[Verdict],
    reviews: Iterable[Review],
    releases: Iterable[Release],
) -> Status:
    """The status of a draft from the evidence on its digest. Evidence on another digest is not looked at.

    Each iterable is in the order of writing; the newest of a kind speaks, of verdicts as `speaking` says.
    """
    status = examined = _examined(draft, safety, verdicts)
    if status not in {Status.IN_REVIEW, Status.SUGGESTED, Status.NO_VERDICT}:
        return status
    acts = [(review.at, review.decision) for review in reviews if review.draft == draft.digest]
    done = [(r.at, r) for r in releases if r.draft == draft.digest and r.step is Step.DONE]
    for _, act in sorted([*acts, *done], key=lambda pair: (pair[0], isinstance(pair[1], Release))):
        match act:
            case Decision.APPROVE:
                status = Status.APPROVED
            case Decision.REJECT:
                status = Status.REJECTED
            case Decision.REOPEN:
                status = examined
            case Release():
                status = Status.PUBLISHED if act.undoes is None else Status.ROLLED_BACK
    return status


def _examined(draft: Draft, safety: Iterable[SafetyReport], verdicts: Iterable[Verdict]) -> Status:
    reports = [report for report in safety if report.draft == draft.digest]
    if not reports:
        return Status.DRAFT
    if not reports[-1].passed:
        return Status.SAFETY_FAILED
    spoken = speaking([verdict for verdict in verdicts if verdict.draft == draft.digest])
    if spoken is None:
        return Status.DRAFT if draft.made_from is None else Status.SUGGESTED
    return AFTER_EXAM[spoken.kind]
