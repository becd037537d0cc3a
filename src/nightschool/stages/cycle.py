"""One run of the whole loop. It composes the stages and has no logic of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import shorten

from nightschool.core.cycles import CycleReport, Learned
from nightschool.core.errors import (
    AuthenticationFailed,
    BudgetExhausted,
    Busy,
    NotFound,
    RunnerUnusable,
    SandboxUnavailable,
    SetUpFailed,
    UserError,
)
from nightschool.core.harness import Absent, Harness, LiveFile, Target
from nightschool.core.jobs import JobOptions, LostTry
from nightschool.core.ports import (
    Clock,
    LiveFiles,
    Redact,
    Store,
    Vet,
)
from nightschool.core.proposals import Dossier, Draft, RefusedEdit, Verdict, VerdictKind
from nightschool.core.tasks import (
    Candidate,
    HoldoutVersion,
    Split,
    Task,
    TaskMark,
    only_root,
    roots_in,
    task_digest,
)
from nightschool.core.trials import AlphaEntry, Pair, WealthKey
from nightschool.core.values import Digest
from nightschool.rules.checking import JUDGE_VERSION
from nightschool.rules.gate import Policy
from nightschool.rules.limits import ended_by, slept
from nightschool.rules.marks import Sitting, sitting
from nightschool.rules.report import promise
from nightschool.rules.standing import open_draft, say_the_same, turned_down
from nightschool.rules.telling import counted
from nightschool.rules.worth import told_waiting
from nightschool.stages.aiming import Aim, Aiming
from nightschool.stages.calibrate import Calibration
from nightschool.stages.consolidate import Consolidate, Material, Proposed, proposed_harness
from nightschool.stages.door import Door
from nightschool.stages.examine import Exam, examine, without_holdout
from nightschool.stages.harvest import HarvestRequest, cursors_kept
from nightschool.stages.mine import Mined, pooled
from nightschool.stages.prepare import Preparation, Prepared
from nightschool.stages.publish import adopt_unattended
from nightschool.stages.releases import Fit, dossier, drafts, fit, recover
from nightschool.stages.replay import Replay
from nightschool.stages.set_ups import SetUps
from nightschool.stages.settling import stand
from nightschool.stages.staging import stage

LOSSES = 3
LOSS_WIDTH = 300
LACKS = "replays run without a network and without logins of other tools; what needs them fails in both arms"


@dataclass(slots=True, kw_only=True)
class Cycle:
    """Made by wiring for one run. Call `prepare`, then `practise`, both within `held`."""

    number: str
    store: Store
    clock: Clock
    live: LiveFiles
    preparation: Preparation
    redact: Redact
    vet: Vet
    adopts_for: str | None
    """The person who lets what is accepted be adopted without being asked; None: nobody."""
    aiming: Aiming
    door: Door
    replay: Replay
    set_ups: SetUps
    policy: Policy
    options: JobOptions
    edit_budget: int
    project: str | None
    sandbox: str
    notes: list[str] = field(default_factory=list)
    forget_due: Callable[[], Sequence[str]] = tuple

    @contextmanager
    def held(self) -> Iterator[None]:
        """The lock of the cycle, and the cursors as they were should the login turn out to be refused. What
        is due to be forgotten goes before: a cursor of it is not to come back."""
        with self.store.hold("cycle"):
            self.notes += self.forget_due()
            with cursors_kept(self.store):
                yield

    def prepare(self, request: HarvestRequest) -> Prepared:
        """Harvest and mine. No job is started."""
        return self.preparation.prepare(request)

    def practise(self, prepared: Prepared) -> CycleReport:
        """Learn from each candidate until the budget ends; the report is stored, also of one that broke off
        because no further job could succeed."""
        with suppress(Busy):  # then another closes what a killed one left
            recover(self.store, self.live)
        learned: list[Learned] = []
        candidates = self.aiming.chosen(prepared.mined.candidates)
        if candidates:
            self.set_up(prepared.mined.tasks)
        for place, candidate in enumerate(candidates, start=1):
            self.replay.about = f"correction {place} of {len(candidates)}: "
            self.replay.owner = candidate.project
            try:
                learned.append(self._learn(candidate, prepared.mined))
            except BudgetExhausted as error:
                learned.append(_learned(candidate, "budget-ended", self.redact(str(error))))
            except UserError as error:
                learned.append(_learned(candidate, "needs-you", self.redact(str(error))))
            except SetUpFailed as error:
                self.set_ups.found(error)
                learned.append(_learned(candidate, "set-up-failed", error.why))
            except (AuthenticationFailed, RunnerUnusable, SandboxUnavailable) as error:
                self.store.commit(replace(self.report(prepared, learned), failed=self.redact(str(error))))
                raise
        report = self.report(prepared, learned)
        self.store.commit(report)
        return report

    def set_up(self, tasks: Sequence[Task]) -> None:
        """Try the set-ups before a job is started. Of a project whose own fails nothing is practised."""
        self.set_ups.try_out(tasks, tell=self.replay.tell)

    def report(self, prepared: Prepared, learned: Sequence[Learned]) -> CycleReport:
        """What the cycle read, tried and came to."""
        harvested, mined, ended = prepared.harvested, prepared.mined, self.clock.now()
        # A candidate has words of train sessions alone; the person reads those that `corrections` shows.
        said = {item.id: item.statement for item in mined.corrections}
        words = {item.id: said.get(item.correction, item.statement) for item in mined.candidates}
        return CycleReport(
            cycle=self.number,
            started_at=prepared.started_at,
            ended_at=ended,
            project=", ".join(sorted(roots_in(self.project) or ())),
            runner=self.door.name,
            runner_version=self.door.version(),
            model=self.options.model,
            sandbox=self.sandbox,
            mode=self.policy.mode,
            sessions_read=len(harvested.sessions),
            sessions_known=prepared.sessions_known,
            human_turns=sum(len(session.human_turns) for session in harvested.sessions),
            left_out=harvested.counts,
            postponed=harvested.postponed + mined.postponed,
            corrections=len(mined.corrections),
            candidates=len(mined.candidates),
            tasks_train=sum(task.split is Split.TRAIN for task in mined.tasks),
            tasks_holdout=sum(task.split is Split.HOLDOUT for task in mined.tasks),
            skipped=tuple(sorted(Counter(code for _, code, _ in mined.skipped).items())),
            learned=tuple(
                replace(item, statement=words.get(item.candidate, item.statement)) for item in learned
            ),
            spend=self.door.spend,
            budget=self.door.budget,
            worked=self.door.worked,
            ended_by=ended_by(self.door.stopped_by(), learned),
            trials=self.replay.made,
            lost_by_arm=tuple(sorted(self.replay.lost.items())),
            notes=(
                *self.notes,
                *slept(ended - prepared.started_at, self.clock.awake() - prepared.awake),
                *(stop.told for stop in self.set_ups.stops.values()),
                *self._losses(),
                *_notes(mined, learned),
                *self._stale(learned),
                *self._said_twice(learned),
                *self.aiming.notes(mined.candidates),
                *filter(None, (promise(self.store.find(AlphaEntry), self.clock.now()),)),
            ),
            missing=self._missing(mined),
        )

    def _losses(self) -> tuple[str, ...]:
        """What tries were lost to, the most frequent first, in the words that the door redacted."""
        tries = self.store.find(LostTry, owner=self.number)
        told = {stop.why for stop in self.set_ups.stops.values()}
        lost = Counter(f"{one.reason}: {one.message}" for one in tries if one.message not in told)
        most = lost.most_common(LOSSES)
        return tuple(
            f"{counted(count, 'try was', 'tries were')} lost: {shorten(why, LOSS_WIDTH)}"
            for why, count in most
        )

    def _stale(self, learned: Sequence[Learned]) -> Iterator[str]:
        """What the person changed by hand while this ran."""
        for item in learned:
            if item.draft is not None:
                case = dossier(self.store, item.draft)
                found = fit(case, self.live, self._place)
                again = f"`nightschool rebase {item.draft}` makes it anew"
                if found is Fit.LOST:
                    again = "an edit has lost its place, and the next run proposes anew"
                if found is not Fit.FITS:
                    path = self._place(case.draft.target)
                    yield self.redact(
                        f"{path} was changed since {item.draft} was made, which is stale already: {again}"
                    )

    def _said_twice(self, learned: Sequence[Learned]) -> Iterator[str]:
        """What is proposed for a file while another one that is read along with it says it, or may."""
        known = drafts(self.store)
        for case in known:
            if any(item.draft == case.draft.id for item in learned):
                for other in say_the_same(case, known):
                    here, there = self._place(case.draft.target), self._place(other.draft.target)
                    yield self.redact(
                        f"{case.draft.id} says in {here} what {other.draft.id} ({other.status}) says in "
                        f"{there}: the agent reads both, so one of them will do"
                    )

    def _place(self, target: Target) -> Path:
        return self.aiming.surface.live_path(target, self.aiming.person_home)

    def _missing(self, mined: Mined) -> tuple[Absent, ...]:
        """What the practice of these candidates lacks of the person's own configuration, redacted."""
        found = (*self.aiming.missing(mined.candidates), *self.replay.lacking(mined.absent))
        return tuple(dict.fromkeys(replace(absent, name=self.redact(absent.name)) for absent in found))

    def _learn(self, candidate: Candidate, mined: Mined) -> Learned:
        aim = self.aiming.aim(candidate)
        target = aim.target
        if target is None:
            return _learned(candidate, "switched-off", aim.why)
        return replace(self._learn_at(candidate, mined, aim, target), target=target, aim=aim.why)

    def _learn_at(self, candidate: Candidate, mined: Mined, aim: Aim, target: Target) -> Learned:
        base = aim.base
        found = stand(candidate, aim, target, aiming=self.aiming, store=self.store, live=self.live)
        if found.done is not None:
            return _learned(candidate, *found.done)
        stop = self.set_ups.keeps_from(t for t in mined.tasks if candidate.id in t.concerns)
        if stop is not None:
            return _learned(candidate, stop.code, stop.why)
        mined = replace(mined, tasks=self.set_ups.kept(mined.tasks))
        live, cases = found.live, found.cases
        draft = open_draft(cases, target, base, live)
        refused: tuple[RefusedEdit, ...] = ()
        if draft is None:
            proposed = self._propose(candidate, mined, aim, target, live, cases)
            refused = proposed.refused
            if proposed.draft is None:
                return replace(_learned(candidate, proposed.code, proposed.why), refused=refused)
            draft = proposed.draft
        staged = stage(draft, store=self.store, vet=self.vet, cycle=self.number)
        if not staged.safety.passed:
            why = "; ".join(f"{finding.code}: {finding.text}" for finding in staged.safety.findings)
            return replace(_learned(candidate, "unsafe", why), refused=refused + staged.refused)
        verdict = self._examine(draft, candidate, mined, base)
        self.store.commit(verdict)
        code, why, release = self._unattended(draft, verdict)
        return replace(
            _learned(candidate, code, why),
            release=release,
            draft=draft.id,
            edits=draft.edits,
            refused=refused,
            findings=staged.safety.findings,
            base=verdict.base,
            proposal=verdict.proposal,
            pairs=verdict.pairs,
        )

    def _unattended(self, draft: Draft, verdict: Verdict) -> tuple[str, str, str | None]:
        """Code and reason of what the draft came to, and its release where it was adopted unasked."""
        if self.adopts_for is None or verdict.kind is not VerdictKind.ACCEPT:
            return verdict.kind, verdict.why, None
        release, told = adopt_unattended(
            draft.id,
            store=self.store,
            live=self.live,
            place=self._place,
            vet=self.vet,
            clock=self.clock,
            projects=self.preparation.projects,
            actor=self.adopts_for,
        )
        why = self.redact(f"{verdict.why}; {told}")
        return (verdict.kind, why, None) if release is None else ("adopted", why, release.number)

    def _propose(
        self,
        candidate: Candidate,
        mined: Mined,
        aim: Aim,
        target: Target,
        live: LiveFile,
        cases: Sequence[Dossier],
    ) -> Proposed:
        improver = Consolidate(
            ask=self.replay.ask,
            practice=self.replay,
            store=self.store,
            clock=self.clock,
            runner=self.door.name,
            runner_version=self.door.version(),
            options=self.options,
            edit_budget=self.edit_budget,
            cycle=self.number,
        )
        material = Material.of(
            candidate,
            [t for t in mined.tasks if t.split is Split.TRAIN and candidate.id in t.concerns],
            aim=aim,
            target=target,
            live=live,
            rejected=turned_down(
                candidate, target, cases, self.store.find(RefusedEdit, owner=candidate.id), self.number
            ),
        )
        return improver.propose(material)

    def _examine(self, draft: Draft, candidate: Candidate, mined: Mined, base: Harness) -> Verdict:
        if mined.holdout is None:
            return without_holdout(draft, self.policy, cycle=self.number, now=self.clock.now())
        sat = _sitting(mined.holdout, self.store, mined.chosen, kept=self.set_ups.kept)
        key = self._key(draft.digest, base, mined.holdout, sat.tasks)
        self._count_pairs(key)
        exam = Exam(
            draft=draft,
            candidate=candidate,
            base=base,
            proposed=proposed_harness(draft, base, self.store),
            holdout=mined.holdout,
            key=key,
            tasks=sat.tasks,
            out=sat.out,
            protected=sat.protected,
            train=tuple(task for task in mined.tasks if task.split is Split.TRAIN),
        )
        return examine(
            exam,
            store=self.store,
            practice=self.replay,
            clock=self.clock,
            policy=self.policy,
            cycle=self.number,
        )

    def calibration(self, holdout: HoldoutVersion) -> Calibration:
        """The base of this project against itself, on a hold-out version. Begin it within `held`."""
        root = only_root(self.project)
        base = self.aiming.base(None if root is None else Path(root))
        tasks = _sitting(holdout, self.store).tasks
        key = self._key(base.digest, base, holdout, tasks)
        self._count_pairs(key)
        return Calibration(
            base=base,
            holdout=holdout,
            tasks=tasks,
            key=key,
            store=self.store,
            practice=self.replay,
            policy=self.policy,
            cycle=self.number,
        )

    def _count_pairs(self, key: WealthKey) -> None:
        """Pairs of earlier cycles count as they stand: their jobs are never asked for again, and the door
        would not know that they answered."""
        earlier = [pair for pair in self.store.find(Pair, key.digest) if pair.cycle != self.number]
        self.door.answered(2 * len(earlier))

    def _key(
        self, draft: Digest, base: Harness, holdout: HoldoutVersion, tasks: tuple[Task, ...]
    ) -> WealthKey:
        return WealthKey(
            draft=draft,
            base=base.digest,
            runner=self.door.name,
            runner_version=self.door.version(),
            model=self.options.model or "the agent's own",
            conditions=self.replay.conditions,
            judge=JUDGE_VERSION,
            checks=task_digest(tasks),
            holdout=holdout.id,
        )


def _learned(candidate: Candidate, code: str, why: str, draft: str | None = None) -> Learned:
    return Learned(
        candidate=candidate.id,
        statement=candidate.statement,
        sessions=len(candidate.sessions),
        code=code,
        why=why,
        draft=draft,
    )


def _sitting(
    holdout: HoldoutVersion,
    store: Store,
    chosen: frozenset[str] | None = None,
    *,
    kept: Callable[[Sequence[Task]], tuple[Task, ...]] = tuple,
) -> Sitting:
    """`kept`: those that can be tried."""
    tasks = pooled(store, holdout.pool)
    missing = set(holdout.tasks) - {task.id for task in tasks}
    if missing:
        raise NotFound(f"hold-out {holdout.id} names {min(missing)}, a task that is not in the store")
    without = {task.id for task in tasks} - {task.id for task in kept(tasks)}
    return sitting(holdout, tasks, store.find(TaskMark), chosen=chosen, without=frozenset(without))


def _notes(mined: Mined, learned: Sequence[Learned]) -> tuple[str, ...]:
    if not mined.candidates:
        return tuple(told_waiting(mined.waiting))
    tried = any(item.draft is not None for item in learned)
    return (LACKS,) if tried else ()
