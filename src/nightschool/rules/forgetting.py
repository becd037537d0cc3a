"""What goes when a session or a project is forgotten, what is kept of the rest, and what has to stay.

Pure: from all records that may speak of it to those that go and those that are replaced. What the promise
of the gate rests on (ledger of alpha, draws, pairs) holds ids and digests alone and is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from nightschool.core.cycles import BETWEEN, CycleReport, Learned
from nightschool.core.forgetting import STAND_IN, is_inside, stand_in
from nightschool.core.jobs import Finished, Role
from nightschool.core.pins import Pin
from nightschool.core.proposals import (
    Draft,
    Edit,
    Status,
    Step,
    status_of,
)
from nightschool.core.sessions import Session
from nightschool.core.tasks import (
    Candidate,
    Correction,
    Moment,
    Task,
    TaskMark,
    roots_in,
)
from nightschool.core.values import Digest, Record, Value, digest_of
from nightschool.rules.bare import GONE, strings, use_alone
from nightschool.rules.speaking_of import Chosen, Known, listing, phrases
from nightschool.rules.voice import clearest, plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(Value):
    """What forgetting would do."""

    removed: tuple[Record, ...]
    kept: tuple[Record, ...]
    """What replaces others: the same without the words, or with what other sessions say."""
    cycles: tuple[str, ...]
    """Whose report files go."""
    standing: tuple[Draft, ...]
    """Proposals that came from it and are in a live file: only `undo` takes them out."""
    copies: tuple[str, ...]
    """Sessions that hold rows of it too (forks, resumed ones), and are not forgotten by this."""
    pins: tuple[Pin, ...] = ()
    """Of the project's files: settings of the person's own, which hold until they say otherwise."""

    @property
    def counts(self) -> dict[str, int]:
        """How many of each kind go or lose their words."""
        names: dict[type[Record], str] = {
            Session: "sessions",
            Correction: "corrections",
            Candidate: "candidates",
            Task: "tasks",
            Draft: "proposals",
            Finished: "answers of agents",
            CycleReport: "reports",
        }
        counted = dict.fromkeys(names.values(), 0)
        for record in self.removed:
            if type(record) in names and type(record) is not Finished:
                counted[names[type(record)]] += 1
        for kept in self.kept:
            if isinstance(kept, Finished):
                counted["answers of agents"] += 1
        counted["reports"] = len(self.cycles)
        changed = sum(isinstance(kept, Correction | Candidate) for kept in self.kept)
        return {**counted, "corrections and candidates that others hold too": changed}


def plan(known: Known, chosen: Chosen, roots: Mapping[str, str]) -> Plan:
    """`roots`: the root of each session's project."""
    return _Forgetting(known, chosen, roots).plan()


class _Forgetting:
    def __init__(self, known: Known, chosen: Chosen, roots: Mapping[str, str]) -> None:
        self.known = known
        self.chosen = chosen
        self.roots = roots
        self.removed: list[Record] = []
        self.kept: list[Record] = []
        self.gone: set[str] = set()
        """Candidates that nothing speaks for any more."""
        self.touched: set[str] = set()
        self.tasks: set[str] = set()
        self.cycles: dict[str, None] = {}
        self.standing: list[Draft] = []
        self.pins: list[Pin] = []
        self.phrases: frozenset[str] = frozenset()

    def plan(self) -> Plan:
        self._sessions()
        self._corrections()
        self._candidates()
        self._tasks()
        self._drafts()
        self._refused()
        self.phrases = phrases(self.known, self.removed, self.chosen)
        self._marks()
        self._jobs()
        self._reports()
        self._pins()
        return Plan(
            removed=tuple(self.removed),
            kept=tuple(self.kept),
            cycles=tuple(self.cycles),
            standing=tuple(self.standing),
            copies=self._copies(),
            pins=tuple(self.pins),
        )

    def _of(self, session: str) -> bool:
        return session in self.chosen.sessions

    def _here(self, pool: str) -> bool:
        """Whether it is of the project, or of one below it, alone or with others."""
        return any(self._below(root) for root in roots_in(pool) or ())

    def _below(self, place: str) -> bool:
        return self.chosen.project is not None and is_inside(self.chosen.project, place)

    def _sessions(self) -> None:
        chosen = [session for session in self.known.sessions if self._of(session.id)]
        self.removed += chosen
        ids = {session.session_id for session in chosen}
        paths = {session.path for session in chosen}
        folders = {path.rpartition("/")[0] for path in paths} if self.chosen.project is not None else set()
        for offset in self.known.offsets:
            own = self._of(f"{offset.source}:{offset.session}") or offset.path in paths
            # The files of its sub-agents gave no session of their own; their paths name it.
            part = not offset.session and any(f"/{name}/" in offset.path for name in ids)
            beside = not offset.session and offset.path.rpartition("/")[0] in folders
            if own or part or beside:
                self.removed.append(offset)
        for assignment in self.known.assignments:
            named = tuple(stand_in(one) if self._of(one) else one for one in assignment.sessions)
            if named != assignment.sessions:
                self._replace(assignment, replace(assignment, sessions=named))

    def _corrections(self) -> None:
        for correction in self.known.corrections:
            moments = tuple(moment for moment in correction.moments if not self._of(moment.session))
            if moments == correction.moments:
                continue
            if not moments or correction.wanted is correction.unwanted is None:
                # Without a machine form its key is words of one of its sessions: mining finds it anew.
                self.removed.append(correction)
                continue
            sessions = {moment.session for moment in moments}
            projects = sorted({root for session in sessions if (root := self.roots.get(session))})
            sources = sorted({session.partition(":")[0] for session in sessions})
            self._replace(
                correction,
                replace(
                    correction,
                    statement=clearest(moments).quote,
                    moments=moments,
                    projects=tuple(projects),
                    sources=tuple(sources),
                ),
            )

    def _candidates(self) -> None:
        for candidate in self.known.candidates:
            evidence = tuple(moment for moment in candidate.evidence if not self._of(moment.session))
            sessions = tuple(session for session in candidate.sessions if not self._of(session))
            here = self._here(candidate.project)
            if (evidence, sessions) == (candidate.evidence, candidate.sessions) and not here:
                continue
            self.touched.add(candidate.id)
            if here or not evidence:
                self.gone.add(candidate.id)
                self.removed.append(candidate)
                continue
            statement = plain(clearest(evidence).quote)
            rest = replace(candidate, statement=statement, evidence=evidence, sessions=sessions)
            self._replace(candidate, rest)

    def _tasks(self) -> None:
        gone = [
            task
            for task in self.known.tasks
            if self._of(task.session) or self._of(task.origin) or self._here(task.project)
        ]
        self.removed += gone
        self.tasks = {task.id for task in gone}
        self.removed += [mark for mark in self.known.marks if mark.task in self.tasks]
        for version in self.known.holdouts:
            if self._here(version.pool):
                # Its name is the project's. The ledger knows its id, and goes on where one comes again.
                self.removed.append(version)
                continue
            left = tuple(task for task in version.tasks if task not in self.tasks)
            if left != version.tasks:
                self._replace(version, replace(version, tasks=left))

    def _drafts(self) -> None:
        for draft in self.known.drafts:
            before = [edit for edit in draft.edits if edit.moment.session.startswith(STAND_IN)]
            own = [edit for edit in draft.edits if self._of(edit.moment.session)]
            if not (own or before or draft.candidate in self.gone or self._here(draft.target.project)):
                continue
            if self._is_live(draft) or (self._has_word(draft) and self._is_spoken_for(draft)):
                bare = replace(draft, edits=tuple(self._bare(edit) for edit in draft.edits))
                self._replace(draft, bare)
                if not before and self._is_live(draft):
                    self.standing.append(bare)
                continue
            kinds = (self.known.safety, self.known.verdicts, self.known.reviews, self.known.releases)
            self.removed.append(draft)
            self.cycles[draft.cycle] = None
            self.removed += [record for kind in kinds for record in kind if record.draft == draft.digest]

    def _has_word(self, draft: Draft) -> bool:
        """Whether the person said something of it: adopted it, took it back or turned it down."""
        reviewed = any(one.draft == draft.digest for one in self.known.reviews)
        return reviewed or any(one.draft == draft.digest for one in self.known.releases)

    def _is_spoken_for(self, draft: Draft) -> bool:
        """Whether it is for the person's own file, and its correction was said in what stays too: then the
        person's word on it holds there."""
        known = any(one.id == draft.candidate for one in self.known.candidates)
        return not draft.target.project and known and draft.candidate not in self.gone

    def _is_live(self, draft: Draft) -> bool:
        known = self.known
        status = status_of(
            draft,
            safety=known.safety,
            verdicts=known.verdicts,
            reviews=known.reviews,
            releases=known.releases,
        )
        steps: dict[str, set[Step]] = {}
        for release in known.releases:
            if release.draft == draft.digest:
                steps.setdefault(release.number, set()).add(release.step)
        # One that was broken off may have been written: only a later adopt or undo tells.
        return status is Status.PUBLISHED or any(found == {Step.INTENDED} for found in steps.values())

    def _bare(self, edit: Edit) -> Edit:
        if not self._of(edit.moment.session):
            return edit
        moment = Moment(session=stand_in(edit.moment.session), turn=edit.moment.turn, quote="")
        return replace(edit, moment=moment, why="")

    def _refused(self) -> None:
        for refused in self.known.refused:
            if refused.candidate in self.gone or self._of(refused.edit.moment.session):
                self.removed.append(refused)

    def _speaks(self, value: object) -> bool:
        return bool(self.phrases) and any(
            phrase in text for text in strings(value) for phrase in self.phrases if len(phrase) <= len(text)
        )

    def _marks(self) -> None:
        """A reason may quote what is gone, also one that stands with a task of another session."""
        marks: dict[str, list[TaskMark]] = {}
        for mark in self.known.marks:
            if mark.task not in self.tasks:
                marks.setdefault(mark.task, []).append(mark)
        for own in marks.values():
            bare = [replace(mark, reason=GONE) if self._speaks(mark.reason) else mark for mark in own]
            if bare != own:
                # All of them are written anew, since the order of writing says which one stands.
                self.removed += own
                self.kept += bare

    def _jobs(self) -> None:
        about = {report.cycle: report for report in self.known.cycles}
        renamed: dict[Digest, Digest] = {}
        for job in self.known.finished:
            report = about.get(job.cycle)
            # Which candidate an edit job was about is not kept: each of a cycle that practised it counts.
            edited = bool(self.touched) and job.role is Role.EDIT and (report is None or self._tells(report))
            if job.outcome == use_alone(job.outcome):
                continue
            if job.task in self.tasks or edited or self._is_old(job.ended_at) or self._speaks(job.outcome):
                renamed[job.key] = digest_of("forgotten", job.key, job.cycle)
                self._replace(job, replace(job, key=renamed[job.key], outcome=use_alone(job.outcome)))
        for booked in self.known.reservations:
            if booked.key in renamed:
                self._replace(booked, replace(booked, key=renamed[booked.key]))
        for trial in self.known.trials:
            if trial.job in renamed or trial.task in self.tasks or self._speaks(trial.note):
                job_key = renamed.get(trial.job, trial.job)
                self._replace(trial, replace(trial, job=job_key, note=""))
        for lost in self.known.lost:
            if self._speaks(lost.message):
                self._replace(lost, replace(lost, message=GONE))

    def _tells(self, report: CycleReport) -> bool:
        return any(item.candidate in self.touched for item in report.learned)

    def _is_old(self, at: datetime) -> bool:
        return self.chosen.before is not None and at < self.chosen.before

    def _reports(self) -> None:
        gone = [task for task in self.known.tasks if task.id in self.tasks]
        told = listing(self.known.cycles, self.known.trials, gone)
        for report in self.known.cycles:
            roots = report.roots or frozenset()
            others = sorted(root for root in roots if not self._below(root))
            here = len(others) < len(roots)
            if (here and not others) or self._is_old(report.ended_at):
                self.removed.append(report)
                self.cycles[report.cycle] = None
                continue
            rest = self._without_words(report)
            if here:
                rest = replace(rest, project=BETWEEN.join(others))
            # A report's page lists what each proposal was tried on, and is made anew from what is left.
            if rest != report or report.cycle in told or self._tells(report):
                self.cycles[report.cycle] = None
                self._replace(report, rest)

    def _without_words(self, report: CycleReport) -> CycleReport:
        failed = GONE if report.failed and self._speaks(report.failed) else report.failed
        return replace(
            report,
            learned=tuple(self._learned(item) for item in report.learned),
            notes=tuple(note for note in report.notes if not self._speaks(note)),
            missing=tuple(absent for absent in report.missing if not self._speaks(absent)),
            failed=failed,
        )

    def _learned(self, item: Learned) -> Learned:
        moments = [edit.moment for edit in (*item.edits, *(refused.edit for refused in item.refused))]
        own = item.candidate in self.gone or any(self._of(moment.session) for moment in moments)
        here = item.target is not None and self._here(item.target.project)
        if not own and not here and not self._speaks(item):
            return item
        # What others said of the same correction still names it.
        left = {one.id: one.statement for one in self.kept if isinstance(one, Candidate)}
        statement = left.get(item.candidate, GONE)
        bare = replace(item, statement=statement, why=GONE, aim="", edits=(), refused=(), findings=())
        return replace(bare, target=None) if here else bare

    def _pins(self) -> None:
        """Of a project's files. One that holds stays: it was never read, the person said it."""
        of_files: dict[str, list[Pin]] = {}
        for pin in self.known.pins:
            if self._below(pin.path):
                of_files.setdefault(pin.path, []).append(pin)
        for said in of_files.values():
            held = [said[-1]] if said[-1].holds else []
            self.pins += held
            self.removed += said[: len(said) - len(held)]

    def _copies(self) -> tuple[str, ...]:
        said = {row for session in self.known.sessions if self._of(session.id) for row in _said(session)}
        return tuple(
            session.id
            for session in self.known.sessions
            if not self._of(session.id) and any(row in said for row in _said(session))
        )

    def _replace(self, old: Record, new: Record) -> None:
        if new == old:
            return
        if new.id != old.id:
            self.removed.append(old)
        self.kept.append(new)


def _said(session: Session) -> Iterator[tuple[str, str]]:
    """What a person said in it: a fork or a resumed copy has the same rows, with the same names."""
    return ((session.source, turn.row) for turn in session.human_turns)
