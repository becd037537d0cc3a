"""One run of the whole loop. It composes the stages and has no logic of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from nightschool.core.cycles import BETWEEN, CycleReport, Learned
from nightschool.core.errors import (
    AuthenticationFailed,
    BudgetExhausted,
    Busy,
    RunnerUnusable,
    SandboxUnavailable,
    SetUpFailed,
    UserError,
)
from nightschool.core.harness import Absent, Harness, Target
from nightschool.core.jobs import JobOptions
from nightschool.core.ports import Clock, LiveFiles, Redact, Store, Vet
from nightschool.core.proposals import Draft, RefusedEdit, Verdict, VerdictKind, speaking
from nightschool.core.tasks import (
    Candidate,
    HoldoutVersion,
    Split,
    Task,
    only_root,
    roots_in,
    task_digest,
)
from nightschool.core.trials import Pair, WealthKey
from nightschool.core.values import Digest
from nightschool.rules.checking import JUDGE_VERSION
from nightschool.rules.gate import Policy
from nightschool.rules.limits import slept
from nightschool.rules.marks import Sitting
from nightschool.rules.report import promise, unread
from nightschool.rules.standing import came_to, open_draft, turned_down
from nightschool.stages.aiming import Aim, Aiming
from nightschool.stages.calibrate import Calibration
from nightschool.stages.consolidate import Consolidate, Material, Proposed, proposed_harness
from nightschool.stages.door import Door
from nightschool.stages.examine import Exam, examine, without_holdout
from nightschool.stages.harvest import HarvestRequest
from nightschool.stages.ledger import spent
from nightschool.stages.mine import Mined, holdout_of
from nightschool.stages.noting import edit_jobs, losses, practised, quiet, said_twice, stale, stopped, tries
from nightschool.stages.numbers import give, holding_number
from nightschool.stages.outlook import Foresight, Outlook, Remembered
from nightschool.stages.prepare import Preparation, Prepared
from nightschool.stages.publish import adopt_unattended
from nightschool.stages.refused_login import cursors_kept
from nightschool.stages.releases import recover
from nightschool.stages.replay import Replay
from nightschool.stages.set_ups import SetUps, Stop
from nightschool.stages.settling import Stand, same_edit, stand
from nightschool.stages.shares import Terms
from nightschool.stages.sittings import sitting_of
from nightschool.stages.staging import stage
from nightschool.stages.turns import take_turns


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
    own: dict[str, Terms] = field(default_factory=dict)
    """By project, in a run over several: where its own file is stricter."""
    project: str | None
    sandbox: str
    notes: list[str] = field(default_factory=list)
    forget_due: Callable[[], Sequence[str]] = tuple
    unfinished: dict[str, Verdict] = field(default_factory=dict)
    """By candidate: exams that used up their share and go on when all had their turn. One draft has one
    verdict a cycle, so it is stored only then."""
    answered: set[Digest] = field(default_factory=set)
    """Wealths whose pairs of earlier cycles were counted."""

    @contextmanager
    def held(self) -> Iterator[None]:
        """The lock of the cycle, and the cursors as they were should the login turn out to be refused. What
        is due to be forgotten goes before: a cursor of it is not to come back."""
        with holding_number(self.store, pool=self.project) as number:
            self.number = self.door.cycle = self.replay.cycle = number
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
        learned: dict[str, Learned] = {}
        chosen = self.aiming.chosen(prepared.mined.candidates)
        try:
            found = self.outlooks(prepared)
            if any(one.done is None for one in found):
                self.set_up(prepared.mined.tasks)
                found = self.outlooks(prepared) if self.set_ups.stops else found
            take_turns(
                found,
                replay=self.replay,
                turn=lambda candidate: self._turn(candidate, prepared.mined),
                unfinished=self.unfinished,
                learned=learned,
                words=prepared.words,
            )
        except (AuthenticationFailed, RunnerUnusable, SandboxUnavailable) as error:
            self.store.commit(*self.unfinished.values())
            broken = self.report(prepared, _in_order(chosen, learned))
            self._keep(replace(broken, failed=self.redact(str(error))))
            raise
        return self._keep(self.report(prepared, _in_order(chosen, learned)))

    def _keep(self, report: CycleReport) -> CycleReport:
        give(self.store, self.number)
        self.store.commit(report)
        return report

    def set_up(self, tasks: Sequence[Task]) -> None:
        """Try the set-ups before a job is started. Of a project whose own fails nothing is practised."""
        give(self.store, self.number)
        self.set_ups.try_out(tasks, tell=self.replay.tell)

    def outlooks(self, prepared: Prepared) -> Sequence[Outlook]:
        """What would become of each candidate, foreseen without a job."""
        return self._foresight(prepared.mined).of(self.aiming.chosen(prepared.mined.candidates))

    def _turn(self, candidate: Candidate, mined: Mined) -> Learned:
        self.replay.owner = candidate.project
        try:
            return self._learn(candidate, mined)
        except BudgetExhausted as error:
            return Learned.of(candidate, "budget-ended", self.redact(str(error)))
        except UserError as error:
            return Learned.of(candidate, "needs-you", self.redact(str(error)))
        except SetUpFailed as error:
            self.set_ups.found(error)
            return Learned.of(candidate, "set-up-failed", error.why)

    def _foresight(self, mined: Mined) -> Foresight:
        remembered = Remembered(replay=self.replay)
        lacks = self._lacks(mined)
        held_out = partial(self._held_out, mined=mined)
        mined = replace(mined, tasks=self.set_ups.kept(mined.tasks))
        return Foresight(
            store=self.store,
            clock=self.clock,
            live=self.live,
            aiming=self.aiming,
            mined=mined,
            policy=self.policy,
            policies={project: terms.policy for project, terms in self.own.items()},
            held_out=held_out,
            lacks=lacks,
            propose=partial(self._propose, mined=mined, practice=remembered),
            key=self._key,
        )

    def report(self, prepared: Prepared, learned: Sequence[Learned]) -> CycleReport:
        """What the cycle read, tried and came to. Not stored: a run that has nothing to do tells it alone."""
        harvested, mined, ended = prepared.harvested, prepared.mined, self.clock.now()
        return CycleReport(
            cycle=self.number,
            started_at=prepared.started_at,
            ended_at=ended,
            project=BETWEEN.join(sorted(roots_in(self.project) or ())),
            runner=self.door.name,
            runner_version=self.door.version(),
            model=self.options.model,
            sandbox=self.sandbox,
            mode=self.policy.mode,
            sessions_read=len(prepared.own),
            sessions_own=prepared.known_own,
            sessions_elsewhere=prepared.elsewhere,
            sessions_known=prepared.sessions_known,
            human_turns=sum(len(session.human_turns) for session in prepared.own),
            left_out=harvested.counts,
            postponed=harvested.postponed + mined.postponed,
            corrections=len(mined.corrections),
            candidates=len(mined.candidates),
            tasks_train=sum(task.split is Split.TRAIN for task in mined.tasks),
            tasks_holdout=sum(task.split is Split.HOLDOUT for task in mined.tasks),
            skipped=tuple(sorted(Counter(code for _, code, _ in mined.skipped).items())),
            learned=tuple(
                replace(item, statement=prepared.words.get(item.candidate, item.statement))
                for item in learned
            ),
            spend=self.door.spend,
            budget=self.door.budget,
            worked=self.door.worked,
            ended_by=stopped(self.door, learned, self.store),
            trials=self.replay.made,
            tries=tries(self.store, self.number),
            edit_jobs=edit_jobs(self.store, self.number),
            lost_by_arm=tuple(sorted(self.replay.lost.items())),
            notes=(
                *self.notes,
                *unread(harvested.postponed, harvested.looked_back_to),
                *slept(ended - prepared.started_at, self.clock.awake() - prepared.awake),
                *(stop.told for stop in self.set_ups.stops.values()),
                *losses(self.store, self.number, self.set_ups.stops.values()),
                *practised(mined, learned),
                *map(self.redact, stale(learned, store=self.store, live=self.live, place=self._place)),
                *map(self.redact, said_twice(learned, store=self.store, live=self.live, place=self._place)),
                *quiet(learned, store=self.store, policy=self.policy),
                *self.aiming.notes(mined.candidates),
                *filter(None, (self._promise(),)),
            ),
            missing=self._missing(mined),
        )

    def _promise(self) -> str | None:
        verdicts = self.store.find(Verdict)
        accepts = [verdict.at for verdict in verdicts if verdict.kind is VerdictKind.ACCEPT]
        return promise(spent(self.store), accepts, self.clock.now())

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
            return Learned.of(candidate, "switched-off", aim.why)
        return replace(self._learn_at(candidate, mined, aim, target), target=target, aim=aim.why)

    def _learn_at(self, candidate: Candidate, mined: Mined, aim: Aim, target: Target) -> Learned:
        base = aim.base
        found = stand(candidate, aim, target, aiming=self.aiming, store=self.store, live=self.live)
        if found.done is not None:
            return Learned.of(candidate, *found.done)
        stop = self._lacks(mined)(candidate)
        if stop is not None:
            return Learned.of(candidate, stop.code, stop.why)
        mined = replace(mined, tasks=self.set_ups.kept(mined.tasks))
        draft = open_draft(found.cases, target, base, found.live)
        refused: tuple[RefusedEdit, ...] = ()
        if draft is None:
            proposed = self._propose(candidate, aim, target, found, mined=mined, practice=self.replay)
            refused = proposed.refused
            if proposed.draft is None:
                return replace(Learned.of(candidate, proposed.code, proposed.why), refused=refused)
            draft = proposed.draft
            if (known := same_edit(draft, candidate, self.store)) is not None:
                return replace(Learned.of(candidate, *known), refused=refused)
        staged = stage(draft, store=self.store, vet=self.vet, cycle=self.number)
        if not staged.safety.passed:
            why = "; ".join(f"{finding.code}: {finding.text}" for finding in staged.safety.findings)
            return replace(Learned.of(candidate, "unsafe", why), refused=refused + staged.refused)
        before = speaking(self.store.find(Verdict, draft.digest))
        verdict = self._examine(draft, candidate, mined, base)
        self.unfinished.pop(candidate.id, None)
        bare = verdict.kind is VerdictKind.ACCEPT and verdict.base is None
        code, why, release = verdict.kind.value, verdict.why, None
        if self.replay.rest is not None and (bare or verdict.code == "budget-ended"):
            self.unfinished[candidate.id] = verdict
        else:
            self.store.commit(verdict)
            code, why, release = self._unattended(draft, verdict, before)
        return replace(
            Learned.of(candidate, code, why),
            release=release,
            draft=draft.id,
            edits=draft.edits,
            refused=refused,
            findings=staged.safety.findings,
            base=verdict.base,
            proposal=verdict.proposal,
            pairs=verdict.pairs,
        )

    def _unattended(
        self, draft: Draft, verdict: Verdict, before: Verdict | None
    ) -> tuple[str, str, str | None]:
        """Code and reason of what the draft came to, and its release where it was adopted unasked."""
        if self.adopts_for is None or verdict.kind is not VerdictKind.ACCEPT:
            return *came_to(verdict, before), None
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
        aim: Aim,
        target: Target,
        found: Stand,
        *,
        mined: Mined,
        practice: Replay | Remembered,
    ) -> Proposed:
        terms = self.own.get(candidate.project)
        improver = Consolidate(
            ask=practice.ask,
            known=self.door.known,
            practice=practice,
            store=self.store,
            clock=self.clock,
            runner=self.door.name,
            runner_version=self.door.version(),
            options=self.options,
            edit_budget=self.edit_budget if terms is None else terms.edit_budget,
            cycle=self.number,
        )
        material = Material.of(
            candidate,
            [t for t in mined.tasks if t.split is Split.TRAIN and candidate.id in t.concerns],
            aim=aim,
            target=target,
            live=found.live,
            rejected=turned_down(
                candidate, target, found.cases, self.store.find(RefusedEdit, owner=candidate.id), self.number
            ),
        )
        return improver.propose(material)

    def _examine(self, draft: Draft, candidate: Candidate, mined: Mined, base: Harness) -> Verdict:
        held_out = self._held_out(candidate, draft.id, mined=mined)
        if held_out is None:
            return without_holdout(draft, self.policy_of(candidate), cycle=self.number, now=self.clock.now())
        holdout, sat = held_out
        key = self._key(draft.digest, base, holdout, sat.tasks)
        self._count_pairs(key)
        exam = Exam(
            draft=draft,
            candidate=candidate,
            base=base,
            proposed=proposed_harness(draft, base, self.store),
            holdout=holdout,
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
            policy=self.policy_of(candidate),
            cycle=self.number,
        )

    def policy_of(self, candidate: Candidate) -> Policy:
        terms = self.own.get(candidate.project)
        return self.policy if terms is None else terms.policy

    def _held_out(
        self, candidate: Candidate, draft: str | None, *, mined: Mined
    ) -> tuple[HoldoutVersion, Sitting] | None:
        """What it is examined on: the hold-out of its own project, whatever else the run is about."""
        holdout = holdout_of(candidate, mined, store=self.store, pool=self.project)
        if holdout is None:
            return None
        kept = self.set_ups.kept
        return holdout, sitting_of(
            holdout, self.store, candidate=candidate, draft=draft, chosen=mined.chosen, kept=kept
        )

    def _lacks(self, mined: Mined) -> Callable[[Candidate], Stop | None]:
        """Why a candidate cannot be practised: the set-up of all its projects failed."""
        return lambda candidate: self.set_ups.keeps_from(t for t in mined.tasks if candidate.id in t.concerns)

    def calibration(self, holdout: HoldoutVersion) -> Calibration:
        """The base of this project against itself, on a hold-out version. Begin it within `held`."""
        root = only_root(self.project)
        base = self.aiming.base(None if root is None else Path(root))
        tasks = sitting_of(holdout, self.store).tasks
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
        if key.digest in self.answered:
            return
        self.answered.add(key.digest)
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


def _in_order(chosen: Sequence[Candidate], learned: Mapping[str, Learned]) -> list[Learned]:
    """As the person is shown them, whosever turn came first."""
    return [learned[one.id] for one in chosen if one.id in learned]
