"""Examines a draft on the hold-out: has pairs tried, lets the gate decide, and says the verdict.

What decides is in `rules`, how a pair comes about in `stages/pairs`; here is what has to be in which order.
The ledger entry with its terms and the parting into targets and guards are stored before the first trial.
An exam that was cut off anywhere goes on with the same draws and comes to the same verdict. One process at
a time examines a wealth: the cycle's lock sees to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from nightschool.core.errors import BudgetExhausted, Conflict, NotFound, UserError
from nightschool.core.harness import Harness
from nightschool.core.ports import Clock, Practice, Store
from nightschool.core.proposals import Draft, Verdict, VerdictCode, VerdictKind
from nightschool.core.tasks import Candidate, HoldoutVersion, Task, task_digest
from nightschool.core.trials import AlphaEntry, Arm, Estimate, Partition, TrialRequest, WealthKey
from nightschool.core.values import Value, digest_bytes
from nightschool.rules import gate, pairing
from nightschool.rules.betting import alpha_share
from nightschool.rules.gate import Policy, Ruling, Tally, Terms
from nightschool.rules.guards import SIDE_CHECKS, GuardStanding, fit_as_guard, standings
from nightschool.rules.intervals import estimate
from nightschool.rules.telling import counted
from nightschool.stages.pairs import Pairs

EXAMINED = ("target", "guard", "side")
"""Roles whose losses are compared between the arms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exam(Value):
    """A draft and what it is examined on."""

    draft: Draft
    candidate: Candidate
    base: Harness
    proposed: Harness
    holdout: HoldoutVersion
    key: WealthKey
    tasks: tuple[Task, ...]
    """What it is examined on: the tasks of the hold-out version but for `out`, and what is protected."""
    out: tuple[str, ...] = ()
    """Tasks of the version that a person took out, or did not choose."""
    train: tuple[Task, ...]
    """What the editor could see, to know an overlap."""
    protected: tuple[str, ...] = ()
    """Ids of held-out tasks that a person protects."""

    def __post_init__(self) -> None:
        if self.key.draft != self.draft.digest or self.key.holdout != self.holdout.id:
            raise ValueError("the wealth key names another draft or another hold-out version")
        if not self.key.base == self.base.digest == self.draft.base:
            raise ValueError("draft, wealth key and harness name different bases")
        edited = self.proposed.get(self.draft.target.place)
        if edited is None or digest_bytes(edited.content) != self.draft.after:
            raise ValueError("the proposed harness does not hold what the draft would write")
        there = {task.id for task in self.tasks}
        missing = sorted(set(self.holdout.tasks) - there - set(self.out))
        if missing:
            raise NotFound(
                f"tasks of the hold-out {self.holdout.id} are gone ({', '.join(missing)}): "
                "begin a new version of the hold-out"
            )
        if self.key.checks != task_digest(self.tasks):
            raise ValueError("the wealth key names other tasks or checks")
        unknown = sorted(set(self.protected) - there)
        if unknown:
            raise UserError(
                f"protected task {unknown[0]} is not in the hold-out {self.holdout.id}: "
                "take it from the list of protected tasks"
            )


def examine(
    exam: Exam,
    *,
    store: Store,
    practice: Practice,
    clock: Clock,
    policy: Policy,
    cycle: str,
    seed: int = 0,
    batch: int = 4,
) -> Verdict:
    """Examine a draft as far as the budget goes. The caller stores the verdict with its other evidence.

    `batch` pairs are tried at once; how many decides nothing, since they are looked at in order.
    """
    if batch < 1:
        raise ValueError("at least one pair at once")
    sitting = _Sitting(exam, store, practice, clock, policy, cycle, seed, batch)
    return sitting.verdict(sitting.sit())


@dataclass(slots=True)
class _Sitting:
    exam: Exam
    store: Store
    practice: Practice
    clock: Clock
    policy: Policy
    cycle: str
    seed: int
    batch: int
    entry: AlphaEntry | None = None
    standings: tuple[GuardStanding, ...] = ()
    estimates: tuple[Estimate | None, Estimate | None] = (None, None)
    targets: tuple[str, ...] = field(init=False)
    pool: tuple[str, ...] = field(init=False)
    begun: bool = field(init=False)
    """Whether a trial may have been made already."""
    pairs: Pairs = field(init=False)

    def __post_init__(self) -> None:
        wealth = self.exam.key.digest
        seed = f"{self.seed}:{wealth}"
        known = self.store.get(Partition, wealth)
        self.begun = known is not None
        if known is None:
            exam = self.exam
            self.targets, self.pool = pairing.partition(
                exam.tasks, exam.candidate, exam.protected, seed, exam.draft.target.skill
            )
        else:
            self.targets, self.pool = known.targets, known.guards
        self.entry = self._own_entry(self._ledger())
        self.pairs = Pairs(
            wealth=wealth,
            store=self.store,
            practice=self.practice,
            tasks={task.id: task for task in self.exam.tasks},
            targets=self.targets,
            arms=((Arm.BASE, self.exam.base), (Arm.DRAFT, self.exam.proposed)),
            check=self.exam.candidate.check,
            skill=self.exam.draft.target.skill,
            cycle=self.cycle,
            seed=seed,
            batch=self.batch,
        )

    @property
    def terms(self) -> Terms:
        """Those that the draft began with, whatever the settings say now; before that, today's."""
        ledger, entry = self._ledger(), self.entry
        policy, k = self.policy, self._next_k(ledger)
        if entry is not None:
            policy, k = replace(policy, alpha=entry.alpha, margin=entry.margin), entry.k
        return Terms(
            policy=policy,
            certify=self.exam.draft.certify,
            skill=self.exam.draft.target.skill,
            share=alpha_share(policy.alpha, k),
            clusters=len({self.pairs.tasks[task].cluster for task in self.targets}),
        )

    def sit(self) -> Ruling:
        terms = self.terms
        tally, ruled, _ = gate.walk(self.pairs.of("target"), terms)
        shown = {edit.moment.session for edit in self.exam.draft.edits}
        shown |= {moment.session for moment in self.exam.candidate.evidence}
        overlap = gate.overlap(self.exam.tasks, self.exam.train, shown)
        ruling = gate.before(
            terms,
            tally,
            begun=self.begun,
            pairs_left=self.practice.left() // 2,
            overlap=overlap,
        )
        if ruling is not None:
            return ruling
        if self.policy.mode == "suggest":
            self.store.commit(self._partition())
            return self._suggest()
        self._enter()
        ruling = ruled or self._bet()
        if ruling.kind is VerdictKind.ACCEPT:
            ruling = self._guard(ruling)
        ruling = gate.loss_verdict(self.pairs.losses(*EXAMINED), self.policy) or ruling
        return self._report(ruling) if ruling.kind is VerdictKind.ACCEPT else ruling

    # The ledger -----------------------------------------------------------------------------------

    def _ledger(self) -> Sequence[AlphaEntry]:
        return self.store.find(AlphaEntry, self.exam.holdout.id)

    def _own_entry(self, ledger: Sequence[AlphaEntry]) -> AlphaEntry | None:
        return next((entry for entry in ledger if entry.wealth == self.exam.key.digest), None)

    @staticmethod
    def _next_k(ledger: Sequence[AlphaEntry]) -> int:
        return max((entry.k for entry in ledger), default=0) + 1

    def _partition(self) -> Partition:
        return Partition(wealth=self.exam.key.digest, targets=self.targets, guards=self.pool)

    def _enter(self) -> None:
        """Take the next k, in the same transaction that fixes the targets. A k is never given twice."""
        while self.entry is None:
            ledger = self._ledger()
            entry = self._own_entry(ledger) or AlphaEntry(
                holdout=self.exam.holdout.id,
                k=self._next_k(ledger),
                wealth=self.exam.key.digest,
                draft=self.exam.draft.id,
                alpha=self.policy.alpha,
                margin=self.policy.margin,
                at=self.clock.now(),
            )
            try:
                self.store.commit(entry, self._partition())
            except Conflict:
                if not self._taken(entry):
                    raise
                continue  # another process was quicker: the next k
            self.entry = entry

    def _taken(self, entry: AlphaEntry) -> bool:
        return any(known.k == entry.k and known != entry for known in self._ledger())

    # The phases -----------------------------------------------------------------------------------

    def _bet(self) -> Ruling:
        terms = self.terms
        while True:
            tally, ruling, _ = gate.walk(self.pairs.of("target"), terms)
            if ruling is None:
                ruling = gate.many_losses(self.pairs.losses(*EXAMINED, cycle=self.cycle), self.policy)
            if ruling is not None:
                return ruling
            room = self.policy.most_pairs - self.pairs.tried("target").total()
            if room <= 0:
                text = f"no decision after {self.policy.most_pairs} pairs, the most that a draft gets"
                return _undecided("pairs-ended", f"{text}; {_so_far(tally, terms)}")
            self._tell(tally, terms)
            if not self.pairs.go_on("target", min(room, gate.pairs_needed(tally, terms))):
                text = "the budget ended first; the draft keeps its wealth and goes on in the next cycle"
                return _undecided("budget-ended", f"{text}; {_so_far(tally, terms)}")

    def _tell(self, tally: Tally, terms: Terms) -> None:
        needed = 1 / terms.share
        self.practice.tell(f"exam, pair {tally.pairs + 1}: wealth {tally.wealth.value:.2g} of {needed:.3g}")

    def _suggest(self) -> Ruling:
        """A few pairs outside any wealth: no alpha is spent, since nothing can be accepted."""
        while (room := self.policy.suggest_pairs - self.pairs.tried("suggest").total()) > 0:
            done = self.policy.suggest_pairs - room
            self.practice.tell(f"comparing with and without the edit, pair {done + 1}")
            if not self.pairs.go_on("suggest", room):
                break
        pairs = self.pairs.of("suggest")
        base, draft = sum(pair.base_score for pair in pairs), sum(pair.draft_score for pair in pairs)
        text = f"in {len(pairs)} pairs base passed {base:g}, draft {draft:g}"
        if not pairs:
            return _undecided("budget-ended", "the budget or lost trials left no pair to compare")
        silent = gate.never_triggered(self.terms, len(pairs), sum(pair.loaded is False for pair in pairs))
        if silent is not None:
            return silent
        if draft > base:
            return _undecided("suggest-mode", f"a suggestion, not certified: {text}; guards were not tried")
        return Ruling(kind=VerdictKind.REJECT, code="no-rise", why=f"the mean did not rise: {text}")

    def _guard(self, accepted: Ruling) -> Ruling:
        unfinished = "the wealth is enough, but the budget ended before all guards were tried; goes on"
        self.practice.tell("exam: it helps; looking for other work that must not suffer")
        try:
            chosen = self._choose_guards()
        except BudgetExhausted:
            return _undecided("budget-ended", unfinished)
        while True:
            self.standings = self._standings(chosen)
            harmed = [standing for standing in self.standings if standing.harmed]
            if harmed:
                text = ", ".join(f"{s.task} ({s.total:+g} in {s.pairs} pairs)" for s in harmed)
                return Ruling(
                    kind=VerdictKind.REJECT,
                    code="guard-harmed",
                    why=f"the draft harms what it is not about: {text}",
                )
            wanted = [standing.task for standing in self.standings for _ in range(standing.wanted)]
            if not wanted:
                break
            own = [task for task in wanted if task != SIDE_CHECKS]
            role, count = ("guard", len(own)) if own else ("side", len(wanted))
            self.practice.tell(f"exam: it helps; trying whether other work suffers, {count} pairs to go")
            if not self.pairs.go_on(role, count, own):
                return _undecided("budget-ended", unfinished)
        untried = [
            s.task for s in self.standings if s.task in self.pairs.tasks and s.pairs < self.policy.guard_pairs
        ]
        if untried:
            return _undecided("many-losses", f"guard {untried[0]} lost too many trials to speak")
        told = f"{len(chosen)} guards unharmed" if chosen else "no guard was found that the base passes"
        return Ruling(kind=accepted.kind, code=accepted.code, why=f"{accepted.why}; {told}")

    def _standings(self, chosen: Sequence[str]) -> tuple[GuardStanding, ...]:
        targets = self.pairs.of("target")
        _, _, path = gate.walk(targets, self.terms)
        bet = targets[: len(path) - 1]
        tried = self.pairs.tried("guard")
        tried[SIDE_CHECKS] = len(bet) + self.pairs.tried("side").total()
        return standings(
            chosen,
            self.pairs.of("guard"),
            tried=tried,
            targets=[*bet, *self.pairs.of("side")],
            policy=self.policy,
        )

    def _choose_guards(self) -> tuple[str, ...]:
        """All protected ones, then from the pool in its random order those that the base passes.

        Looked at only now: a draft that is rejected costs no guard a try. The tries are known by their
        repeat, so asking again costs nothing. Who once served goes on: what it showed is never dropped.
        """
        kept = tuple(dict.fromkeys(self.exam.protected))
        others = [task for task in self.pool if task not in kept]
        served = self.pairs.begun("guard")
        chosen = [task for task in others if task in served]
        for task in others[: self.policy.most_probed]:
            if len(chosen) >= self.policy.most_guards:
                break
            if task not in chosen and self._base_passes(task):
                chosen.append(task)
        return (*kept, *chosen)

    def _base_passes(self, task: str) -> bool:
        scores: list[float | None] = []
        while (fit := fit_as_guard(scores, self.policy)) is None:
            first = len(scores)
            last = self.policy.guard_passes if first == 0 else first + 1
            requests = [
                TrialRequest(
                    task=self.pairs.tasks[task],
                    harness=self.exam.base,
                    arm=Arm.BASE,
                    purpose="probe",
                    repeat=repeat,
                )
                for repeat in range(first, last)
            ]
            scores += [trial.score for trial in self.practice.trials(requests)]
        return fit

    # The report -----------------------------------------------------------------------------------

    def _report(self, ruling: Ruling) -> Ruling:
        """The number for the person, from fresh trials: the pairs that decided flatter the draft."""
        self.practice.tell("exam passed; fresh runs for the figures of the report")
        while (plan := self._report_left()) and self.pairs.go_on("report", len(plan), plan):
            pass
        pairs = self.pairs.of("report")
        if len(pairs) < self.policy.least_report_pairs:
            text = "no fresh estimate of the scores: the budget or lost trials left too few trials for it"
            return Ruling(kind=ruling.kind, code=ruling.code, why=f"{ruling.why}; {text}")
        self.estimates = (
            estimate([pair.base_score for pair in pairs]),
            estimate([pair.draft_score for pair in pairs]),
        )
        return ruling

    def _report_left(self) -> list[str]:
        plan = pairing.report_plan(
            [self.pairs.tasks[task] for task in self.targets],
            self.pairs.seed,
            per_cluster=self.policy.report_per_cluster,
            most=self.policy.most_report_pairs,
        )
        return list((Counter(plan) - self.pairs.tried("report")).elements())

    def verdict(self, ruling: Ruling) -> Verdict:
        terms = self.terms
        tally, _, path = gate.walk(self.pairs.of("target"), terms)
        lost = self.pairs.lost()
        entered = self.entry is not None
        return Verdict(
            draft=self.exam.draft.digest,
            kind=ruling.kind,
            code=ruling.code,
            why=ruling.why,
            mode=self.policy.mode,
            wealth_key=self.exam.key.digest,
            holdout=self.exam.holdout.id,
            k=self.entry.k if self.entry is not None else None,
            alpha=terms.share if entered else None,
            wealth=tally.wealth.value if entered else None,
            path=path if entered else (),
            pairs=tally.pairs if entered else len(self.pairs.of("suggest")),
            decided=tally.decided,
            clusters_won=tally.won,
            target_clusters=terms.clusters,
            base=self.estimates[0],
            proposal=self.estimates[1],
            guards=tuple(standing.report() for standing in self.standings),
            losses_base=sum(pair.base_lost for pair in lost),
            losses_draft=sum(pair.draft_lost for pair in lost),
            margin=terms.margin or None,
            cycle=self.cycle,
            at=self.clock.now(),
        )


def _undecided(code: VerdictCode, why: str) -> Ruling:
    return Ruling(kind=VerdictKind.UNDECIDED, code=code, why=why)


def _so_far(tally: Tally, terms: Terms) -> str:
    needed, kinds = 1 / terms.share, terms.clusters_to_win
    lacks = ""
    if tally.wealth.value >= needed and tally.won < kinds:
        seen = f"better in {tally.won} of {counted(terms.clusters, 'kind')} of task only"
        lacks = f", but {seen}, {kinds} are needed"
    return f"wealth {tally.wealth.value:.3g} of {needed:.3g}{lacks}; {tally.told()}"


def without_holdout(draft: Draft, policy: Policy, *, cycle: str, now: datetime) -> Verdict:
    """The verdict where no task is held out: there is nothing to examine on."""
    return Verdict(
        draft=draft.digest,
        kind=VerdictKind.UNDERPOWERED,
        code="few-targets",
        why="there is no held-out task yet: every session that holds the correction was needed to learn from",
        mode=policy.mode,
        wealth_key=None,
        holdout=None,
        k=None,
        alpha=None,
        wealth=None,
        cycle=cycle,
        at=now,
    )
