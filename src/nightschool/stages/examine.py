"""Examines a draft on the hold-out: has pairs tried, lets the gate decide, and says the verdict.

What decides is in `rules`, how a pair comes about in `stages/pairs`; here is what has to be in which order.
The ledger entry with its terms and the parting into targets and guards (`stages/ledger`) are stored before
the first trial.
An exam that was cut off anywhere goes on with the same draws and comes to the same verdict. One process at
a time examines a wealth: the cycle's lock sees to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from nightschool.core.errors import BudgetExhausted, NotFound, UserError
from nightschool.core.harness import Harness
from nightschool.core.ports import Clock, Practice, Store
from nightschool.core.proposals import Draft, Verdict, VerdictCode, VerdictKind
from nightschool.core.tasks import Candidate, HoldoutVersion, Task, task_digest
from nightschool.core.trials import SIDE_CHECKS, Arm, Estimate, GuardReport, TrialRequest, WealthKey
from nightschool.core.values import Value, digest_bytes
from nightschool.rules import gate, pairing
from nightschool.rules.gate import Policy, Ruling, Tally, Terms
from nightschool.rules.guards import GuardStanding, fit_as_guard, never_passed, standings
from nightschool.rules.intervals import estimate
from nightschool.rules.telling import counted, figures
from nightschool.stages.ledger import Ledger
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

    def ledger(self, store: Store, clock: Clock, policy: Policy, seed: str) -> Ledger:
        """Its place in the ledger of its hold-out version."""
        return Ledger(
            store=store,
            clock=clock,
            policy=policy,
            draft=self.draft,
            candidate=self.candidate,
            holdout=self.holdout,
            key=self.key,
            tasks=self.tasks,
            protected=self.protected,
            seed=seed,
        )

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

    `batch` pairs are tried at once; how many decides nothing, since they are looked at in order. It
    keeps to this exam's share of the budget.
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
    standings: tuple[GuardStanding, ...] = ()
    unable: tuple[GuardReport, ...] = ()
    """Protected tasks that are never passed without the edit."""
    estimates: tuple[Estimate | None, Estimate | None] = (None, None)
    ledger: Ledger = field(init=False)
    pairs: Pairs = field(init=False)

    def __post_init__(self) -> None:
        exam = self.exam
        seed = f"{self.seed}:{exam.key.digest}"
        self.ledger = exam.ledger(self.store, self.clock, self.policy, seed)
        self.pairs = Pairs(
            wealth=exam.key.digest,
            store=self.store,
            practice=self.practice,
            tasks={task.id: task for task in exam.tasks},
            targets=self.ledger.targets,
            arms=((Arm.BASE, exam.base), (Arm.DRAFT, exam.proposed)),
            check=exam.candidate.check,
            skill=exam.draft.target.skill,
            cycle=self.cycle,
            seed=seed,
            batch=self.batch,
        )

    @property
    def terms(self) -> Terms:
        return self.ledger.terms

    def sit(self) -> Ruling:
        terms = self.terms
        tally, ruled, _ = gate.walk(self.pairs.of("target"), terms)
        shown = {edit.moment.session for edit in self.exam.draft.edits}
        shown |= {moment.session for moment in self.exam.candidate.evidence}
        overlap = gate.overlap(self.exam.tasks, self.exam.train, shown)
        ruling = gate.before(
            terms,
            tally,
            begun=self.ledger.begun,
            pairs_left=self.practice.left() // 2,
            overlap=overlap,
        )
        if ruling is not None:
            return ruling
        if self.policy.mode == "suggest":
            self.ledger.part()
            return self._suggest()
        self.ledger.enter()
        ruling = ruled or self._bet()
        if ruling.kind is VerdictKind.ACCEPT:
            ruling = self._guard(ruling)
        ruling = gate.loss_verdict(self.pairs.losses(*EXAMINED), self.policy) or ruling
        return self._report(ruling) if ruling.kind is VerdictKind.ACCEPT else ruling

    # The phases -----------------------------------------------------------------------------------

    def _bet(self) -> Ruling:
        terms = self.terms
        while True:
            tally, ruling, _ = gate.walk(self.pairs.of("target"), terms)
            if ruling is None:
                ruling = gate.many_losses(self.pairs.losses(*EXAMINED, cycle=self.cycle), self.policy)
            ruling = ruling or self._kinds_missing(tally)
            if ruling is not None:
                return ruling
            room = self.policy.most_pairs - self.pairs.tried("target").total()
            if room <= 0:
                return gate.pairs_ended(tally, terms)
            self._tell(tally, terms)
            if not self.pairs.go_on(
                "target", min(room, gate.pairs_needed(tally, terms)), left=self.practice.share()
            ):
                text = "the budget ended first; its evidence is kept and the next run goes on"
                return _undecided("budget-ended", f"{text}; {gate.so_far(tally, terms)}")

    def _tell(self, tally: Tally, terms: Terms) -> None:
        needed, kinds = 1 / terms.share, terms.clusters_to_win
        won = f"better in {min(tally.won, kinds)} of {kinds} kinds of task"
        if tally.wealth.value >= needed:
            told = f"the evidence is there, kinds of task are missing: {won}"
        else:
            told = f"evidence {figures(tally.wealth.value)} of {figures(needed)}, {won}"
        self.practice.tell(f"exam, pair {tally.pairs + 1}: {told}")

    def _kinds_missing(self, tally: Tally) -> Ruling | None:
        """With the tasks that tell nothing, by name, and the way out."""
        ruling = gate.kinds_missing(tally, self.terms)
        if ruling is None:
            return None
        kinds = gate.silent_kinds(tally, self.terms)
        names = sorted({pair.task for pair in self.pairs.of("target") if pair.cluster in kinds})
        way = "`nightschool tasks withhold ID --reason WHY` takes one out, for an exam on the others"
        return replace(ruling, why=f"{ruling.why}; that tell nothing: {', '.join(names)} ({way})")

    def _suggest(self) -> Ruling:
        """A few pairs outside any wealth: no alpha is spent, since nothing can be accepted."""
        while (room := self.policy.suggest_pairs - self.pairs.tried("suggest").total()) > 0:
            done = self.policy.suggest_pairs - room
            self.practice.tell(f"comparing with and without the edit, pair {done + 1}")
            if not self.pairs.go_on("suggest", room, left=self.practice.share()):
                break
        pairs = self.pairs.of("suggest")
        base, draft = sum(pair.base_score for pair in pairs), sum(pair.draft_score for pair in pairs)
        text = f"in {len(pairs)} pairs passed {base:g} times without the edit, {draft:g} times with it"
        if not pairs:
            return _undecided("budget-ended", "the budget or lost trials left no pair to compare")
        silent = gate.never_triggered(self.terms, len(pairs), sum(pair.loaded is False for pair in pairs))
        if silent is not None:
            return silent
        if draft > base:
            return _undecided("suggest-mode", f"a suggestion, not certified: {text}; guards were not tried")
        return Ruling(kind=VerdictKind.REJECT, code="no-rise", why=f"the mean did not rise: {text}")

    def _guard(self, accepted: Ruling) -> Ruling:
        unfinished = (
            "the evidence is enough, but the budget ended before it was tried whether other work of yours "
            "(its guards) suffers; the next run goes on"
        )
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
            if not self.pairs.go_on(role, count, own, left=self.practice.share()):
                return _undecided("budget-ended", unfinished)
        untried = [
            s.task for s in self.standings if s.task in self.pairs.tasks and s.pairs < self.policy.guard_pairs
        ]
        if untried:
            return _undecided("many-losses", f"guard {untried[0]} lost too many trials to speak")
        return Ruling(kind=accepted.kind, code=accepted.code, why=f"{accepted.why}; {self._unharmed()}")

    def _unharmed(self) -> str:
        """How many guards could have shown a harm, and did not."""
        guards = [guard for guard in self._guards() if guard.task != SIDE_CHECKS]
        able = sum(guard.could_show for guard in guards)
        rest = ", ".join(guard.task for guard in guards if not guard.could_show)
        could_not = f"{rest} could not show harm: seldom or never passed without the edit" if rest else ""
        if able:
            return f"{counted(able, 'guard')} unharmed" + (f"; {could_not}" if rest else "")
        none = "no other work was found that is done right without the edit"
        return f"whether other work of yours suffers is not known: {could_not or none}"

    def _guards(self) -> tuple[GuardReport, ...]:
        return (*(standing.report() for standing in self.standings), *self.unable)

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
        repeat, so asking again costs nothing. Who once served goes on: what it showed is never dropped. What
        is protected gets no pairs where none of its tries passes: it cannot suffer.
        """
        served = self.pairs.begun("guard")
        kept = []
        for task in dict.fromkeys(self.exam.protected):
            self._need_room_to_look()
            if task in served or not self._never_passes(task):
                kept.append(task)
        protected = set(self.exam.protected)
        self.unable = tuple(
            never_passed(task, self.policy.guard_tries) for task in sorted(protected - set(kept))
        )
        others = [task for task in self.ledger.pool if task not in protected]
        chosen = [task for task in others if task in served]
        for task in others[: self.policy.most_probed]:
            if len(chosen) >= self.policy.most_guards:
                break
            self._need_room_to_look()
            if task not in chosen and self._base_passes(task):
                chosen.append(task)
        return (*kept, *chosen)

    def _need_room_to_look(self) -> None:
        if self.practice.share() < min(self.policy.guard_tries, self.practice.left()):
            raise BudgetExhausted("no job is left to look for guards")

    def _never_passes(self, task: str) -> bool:
        """After the first try that shows anything it is a guard."""
        scores = self._probed(task, 0, 1)
        if scores == [0]:
            scores += self._probed(task, 1, self.policy.guard_tries)
        return not any(score is None or score > 0 for score in scores)

    def _base_passes(self, task: str) -> bool:
        scores: list[float | None] = []
        while (fit := fit_as_guard(scores, self.policy)) is None:
            first = len(scores)
            scores += self._probed(task, first, self.policy.guard_passes if first == 0 else first + 1)
        return fit

    def _probed(self, task: str, first: int, last: int) -> list[float | None]:
        """What these tries without the edit score."""
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
        return [trial.score for trial in self.practice.trials(requests)]

    # The report -----------------------------------------------------------------------------------

    def _report(self, ruling: Ruling) -> Ruling:
        """The number for the person, from fresh trials: the pairs that decided flatter the draft."""
        self.practice.tell("exam passed; fresh runs for the figures of the report")
        while (plan := self._report_left()) and self._fresh(plan):
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

    def _fresh(self, plan: list[str]) -> bool:
        return self.pairs.go_on("report", len(plan), plan, left=self.practice.share())

    def _report_left(self) -> list[str]:
        plan = pairing.report_plan(
            [self.pairs.tasks[task] for task in self.ledger.targets],
            self.pairs.seed,
            per_cluster=self.policy.report_per_cluster,
            most=self.policy.most_report_pairs,
        )
        return list((Counter(plan) - self.pairs.tried("report")).elements())

    def verdict(self, ruling: Ruling) -> Verdict:
        terms = self.terms
        tally, _, path = gate.walk(self.pairs.of("target"), terms)
        lost = self.pairs.lost()
        entered = self.ledger.entry is not None
        if not entered:
            tally, path = gate.compared(self.pairs.of("suggest"), terms), ()
        return Verdict(
            draft=self.exam.draft.digest,
            kind=ruling.kind,
            code=ruling.code,
            why=ruling.why,
            mode=self.policy.mode,
            wealth_key=self.exam.key.digest,
            holdout=self.exam.holdout.id,
            k=self.ledger.entry.level if self.ledger.entry is not None else None,
            alpha=terms.share if entered else None,
            wealth=tally.wealth.value if entered else None,
            path=path,
            pairs=tally.pairs,
            decided=tally.decided,
            clusters_won=tally.won,
            target_clusters=terms.clusters,
            base=self.estimates[0],
            proposal=self.estimates[1],
            guards=self._guards(),
            losses_base=sum(pair.base_lost for pair in lost),
            losses_draft=sum(pair.draft_lost for pair in lost),
            margin=terms.margin or None,
            cycle=self.cycle,
            at=self.clock.now(),
        )


def _undecided(code: VerdictCode, why: str) -> Ruling:
    return Ruling(kind=VerdictKind.UNDECIDED, code=code, why=why)


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
