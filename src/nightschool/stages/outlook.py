"""Foresees what a run would do with a candidate, without a job: what its practice and its exam would take.

Relieves the cycle, which takes turns by it, and the plan of a run. It asks the parts that will do the work,
and lets them go as far as finished jobs answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from nightschool.core.cycles import Learned
from nightschool.core.errors import AuthenticationFailed, RunnerUnusable, SandboxUnavailable, UserError
from nightschool.core.harness import Harness, Target
from nightschool.core.jobs import Job, Outcome
from nightschool.core.ports import Clock, LiveFiles, Store
from nightschool.core.proposals import Certify, Dossier, Draft, Status, VerdictKind
from nightschool.core.tasks import Candidate, HoldoutVersion, Split, Task
from nightschool.core.trials import LostPair, Pair, Trial, TrialRequest, WealthKey
from nightschool.core.values import Digest, Value
from nightschool.rules import gate
from nightschool.rules.betting import alpha_share
from nightschool.rules.gate import Policy, Ruling, Tally, Terms
from nightschool.rules.marks import Sitting
from nightschool.rules.prospects import Prospect
from nightschool.rules.standing import open_draft
from nightschool.rules.written import says_already
from nightschool.stages.aiming import Aim, Aiming
from nightschool.stages.consolidate import TRAIN_TASKS, Proposed
from nightschool.stages.ledger import Ledger, next_k
from nightschool.stages.mine import Mined
from nightschool.stages.replay import Replay
from nightschool.stages.set_ups import Stop
from nightschool.stages.settling import Stand, same_edit, stand

UNTRIED = Prospect(clusters=0)
EXAMINED = frozenset({VerdictKind.ACCEPT, VerdictKind.REJECT, VerdictKind.INVALID})


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook(Value):
    """What would become of one candidate."""

    candidate: Candidate
    target: Target | None = None
    aim: str = ""
    done: tuple[str, str, str | None] | None = None
    """(code, why, draft) where it comes to that without a job; None: there is work to do."""
    prospect: Prospect = UNTRIED
    draft: str | None = None
    said: str | None = None
    """The line of the file that says it already."""
    rejected: str | None = None
    """The newest proposal for this file that the person turned down: another edit would be asked for."""

    elsewhere: Draft | None = None
    """What the person took back from another file."""

    @property
    def learned(self) -> Learned | None:
        """What it comes to without a job; None: there is work to do."""
        if self.done is None:
            return None
        return replace(Learned.of(self.candidate, *self.done), target=self.target, aim=self.aim)


class _Unknown(Exception):
    """So many jobs would have to be started to go on. No error: the way out of foreseeing."""

    def __init__(self, jobs: int, *, trials: bool) -> None:
        self.jobs, self.trials = jobs, trials
        super().__init__(jobs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """`Practice` of finished jobs alone: it starts none and stores nothing."""

    replay: Replay

    def left(self) -> int:
        return 0

    def share(self) -> int:
        return 0

    def tell(self, words: str) -> None:
        """Nobody waits for it."""

    def trials(self, requests: Sequence[TrialRequest]) -> Sequence[Trial]:
        door = self.replay.door
        jobs = [door.safe(self.replay.job(request)) for request in requests]
        known = [door.known(job) for job in jobs]
        if missing := sum(outcome is None for outcome in known):
            raise _Unknown(missing, trials=True)
        return [
            self.replay.scored(request, job, outcome)
            for request, job, outcome in zip(requests, jobs, known, strict=True)
            if outcome is not None
        ]

    def ask(self, job: Job) -> Outcome:
        known = self.replay.door.known(job)
        if known is None:
            raise _Unknown(1, trials=False)
        return known


@dataclass(frozen=True, slots=True, kw_only=True)
class Foresight:
    """What foreseeing needs of a cycle."""

    store: Store
    clock: Clock
    live: LiveFiles
    aiming: Aiming
    mined: Mined
    policy: Policy
    policies: Mapping[str, Policy]
    """By project, where its own file is stricter."""
    held_out: Callable[[Candidate, str | None], tuple[HoldoutVersion, Sitting] | None]
    """What a draft for it (an id; None: one that is not made yet) is examined on; None where nothing is held
    out."""
    lacks: Callable[[Candidate], Stop | None]
    """Why it cannot be practised: its project's set-up failed."""
    propose: Callable[[Candidate, Aim, Target, Stand], Proposed]
    """By an improver that only remembers."""
    key: Callable[[Digest, Harness, HoldoutVersion, tuple[Task, ...]], WealthKey]

    def of(self, candidates: Sequence[Candidate]) -> Sequence[Outlook]:
        return [
            replace(self, policy=self.policies.get(one.project, self.policy)).outlook(one)
            for one in candidates
        ]

    def outlook(self, candidate: Candidate) -> Outlook:
        try:
            aim = self.aiming.aim(candidate)
            if aim.target is None:
                return Outlook(candidate=candidate, done=("switched-off", aim.why, None))
            found = self._of(candidate, aim, aim.target)
        except UserError as error:
            return Outlook(candidate=candidate, done=("needs-you", str(error), None))
        return replace(found, target=aim.target, aim=aim.why)

    def _of(self, candidate: Candidate, aim: Aim, target: Target) -> Outlook:
        found = stand(candidate, aim, target, aiming=self.aiming, store=self.store, live=self.live)
        if found.done is not None:
            return Outlook(candidate=candidate, done=found.done)
        if (stop := self.lacks(candidate)) is not None:
            return Outlook(candidate=candidate, done=(stop.code, stop.why, None))
        try:
            return self._known(self._worked_out(candidate, aim, target, found), candidate, target, found)
        except (AuthenticationFailed, RunnerUnusable, SandboxUnavailable):
            # Which version of the agent would work is not known, so nothing that was finished counts. The
            # run itself raises this where it needs the agent.
            prospect = self._of_none(candidate, target, TRAIN_TASKS + 1)
            own = Outlook(candidate=candidate, prospect=self._weighed(prospect, found))
            return self._known(own, candidate, target, found)

    def _known(self, own: Outlook, candidate: Candidate, target: Target, found: Stand) -> Outlook:
        """With what the person did already: wrote it down, or turned an edit down."""
        if own.done is not None:
            return own
        said = None if target.skill is not None else says_already(found.live.content, candidate.check)
        turned_down = [
            case.draft.id
            for case in found.cases
            if case.status is Status.REJECTED and case.draft.target == target and own.draft is None
        ]
        return replace(
            own,
            prospect=replace(own.prospect, said=said is not None),
            said=said,
            rejected=turned_down[-1] if turned_down else None,
            elsewhere=found.elsewhere,
        )

    def _worked_out(self, candidate: Candidate, aim: Aim, target: Target, found: Stand) -> Outlook:
        draft = open_draft(found.cases, target, aim.base, found.live)
        if draft is None:
            try:
                proposed = self.propose(candidate, aim, target, found)
            except _Unknown as unknown:
                practice = unknown.jobs + (unknown.trials and aim.new is None)
                prospect = self._of_none(candidate, target, practice)
                return Outlook(candidate=candidate, prospect=self._weighed(prospect, found))
            draft = proposed.draft
            if draft is None:
                return Outlook(candidate=candidate, done=(proposed.code, proposed.why, None))
            if (known := same_edit(draft, candidate, self.store)) is not None:
                return Outlook(candidate=candidate, done=known)
        code, prospect = self._of_draft(draft, candidate, aim.base)
        cases = [case for case in found.cases if case.draft.id == draft.id]
        done: tuple[str, str, str | None] | None = None
        if any(case.status is Status.SAFETY_FAILED for case in cases):
            done = "unsafe", "it did not pass the safety check before", draft.id
        elif prospect.barred is not None and cases:
            done = code, prospect.barred, draft.id  # a run says so again, at no cost
        return Outlook(
            candidate=candidate, done=done, prospect=self._weighed(prospect, found), draft=draft.id
        )

    def _weighed(self, prospect: Prospect, found: Stand) -> Prospect:
        return replace(prospect, earlier=_earlier(found.cases))

    def _of_none(self, candidate: Candidate, target: Target, practice: int) -> Prospect:
        """Before there is a draft: as for one that must show a gain."""
        held_out = self.held_out(candidate, None)
        tasks = () if held_out is None else held_out[1].tasks
        k = 1 if held_out is None else next_k(self.store, held_out[0].id)
        about = [task for task in tasks if candidate.id in task.concerns]
        terms = Terms(
            policy=self.policy,
            certify=Certify.GAIN,
            share=alpha_share(self.policy.alpha, k),
            clusters=len({task.cluster for task in about}),
            skill=target.skill,
        )
        start = Tally.start(terms)
        bars = gate.before(terms, start, pairs_left=self.policy.most_pairs, overlap=None)
        return Prospect(
            clusters=terms.clusters,
            practice=practice,
            pairs=self.policy.suggest_pairs if self._suggests else gate.pairs_needed(start, terms),
            most=self.policy.most_pairs,
            guards=len(tasks) - len(about),
            k=k,
            barred=None if bars is None else bars.why,
        )

    def _of_draft(self, draft: Draft, candidate: Candidate, base: Harness) -> tuple[str, Prospect]:
        """The code of what bars it, and its prospect."""
        held_out = self.held_out(candidate, draft.id)
        if held_out is None:
            return VerdictKind.UNDERPOWERED, self._of_none(candidate, draft.target, 0)
        holdout, sat = held_out
        key = self.key(draft.digest, base, holdout, sat.tasks)
        ledger = Ledger(
            store=self.store,
            clock=self.clock,
            policy=self.policy,
            draft=draft,
            candidate=candidate,
            holdout=holdout,
            key=key,
            tasks=sat.tasks,
            protected=sat.protected,
            seed="",
        )
        terms = ledger.terms
        pairs = self.store.find(Pair, ledger.wealth)
        tally, ruled, _ = gate.walk([pair for pair in pairs if pair.role == "target"], terms)
        won = ruled is not None and ruled.kind is VerdictKind.ACCEPT and not self._suggests
        lost = self.store.find(LostPair, ledger.wealth)
        tried = Counter([*(pair.role for pair in pairs), *(one.role for one in lost)])
        if self._suggests:
            need = most = self.policy.suggest_pairs - tried["suggest"]
        else:
            need, most = gate.pairs_needed(tally, terms), self.policy.most_pairs - tried["target"]
        bars = self._bars(ledger, draft, tally)
        if bars is None and most <= 0:
            bars = gate.pairs_ended(tally, terms)
        if bars is None and not self._suggests:
            bars = ruled or gate.kinds_missing(tally, terms)
        if won:
            bars = None
        prospect = Prospect(
            clusters=terms.clusters,
            pairs=max(0, need),
            most=max(0, most),
            guards=len(ledger.pool),
            begun=ledger.begun,
            won=won,
            k=next_k(self.store, holdout.id) if ledger.entry is None else ledger.entry.level,
            barred=None if bars is None else bars.why,
        )
        return VerdictKind.UNDECIDED if bars is None else bars.kind, prospect

    def _bars(self, ledger: Ledger, draft: Draft, tally: Tally) -> Ruling | None:
        """What the gate says before a draft's first pair."""
        train = [task for task in self.mined.tasks if task.split is Split.TRAIN]
        shown = {edit.moment.session for edit in draft.edits}
        shown |= {moment.session for moment in ledger.candidate.evidence}
        return gate.before(
            ledger.terms,
            tally,
            begun=ledger.begun,
            pairs_left=self.policy.most_pairs,
            overlap=gate.overlap(ledger.tasks, train, shown),
        )

    @property
    def _suggests(self) -> bool:
        return self.policy.mode == "suggest"


def _earlier(cases: Sequence[Dossier]) -> int:
    return sum(any(verdict.kind in EXAMINED for verdict in case.verdicts) for case in cases)
