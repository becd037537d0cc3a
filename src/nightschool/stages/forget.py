"""Forget: what was read is made unread, in one transaction, and then its last traces are taken off the disk.

A process that dies in the middle leaves either everything as it was, or a record of what is still to be
cleared away: `settle` goes on from there. Begin all of it with the lock of the cycle held.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import PurePath

from nightschool.core.cycles import CycleReport
from nightschool.core.errors import Busy, UserError
from nightschool.core.forgetting import (
    STAND_IN,
    Forgotten,
    OwnFiles,
    Skipped,
    Thing,
    Unfinished,
    folders_of,
    is_inside,
    trace_of,
)
from nightschool.core.jobs import Finished, LostTry, Reservation
from nightschool.core.pins import Pin
from nightschool.core.ports import Clock, Store
from nightschool.core.proposals import Draft, RefusedEdit, Release, Review, SafetyReport, Verdict
from nightschool.core.sessions import Offset, Session
from nightschool.core.tasks import (
    Assignment,
    Candidate,
    Correction,
    GitSource,
    HoldoutVersion,
    Task,
    TaskMark,
)
from nightschool.core.trials import Trial
from nightschool.core.values import Digest, digest_of
from nightschool.rules.forgetting import Plan, plan
from nightschool.rules.ignoring import Ignoring, Why
from nightschool.rules.speaking_of import Chosen, Known
from nightschool.rules.telling import counted
from nightschool.stages.veil import Hidden

LOCKS = ("harvest", "publish")
"""Besides that of the cycle: under these three nothing is stored that is not here yet."""
KEPT_FOR = "kept-for-days-"
TOLD_APART = ("sessions", "reports")
ALIKE = 100
"""Forgotten projects of one name that are known by it; any other by its folder alone."""


@dataclass(slots=True, kw_only=True)
class Forgetting:
    """Made by wiring."""

    store: Store
    files: OwnFiles
    clock: Clock
    root: Callable[[str], str]
    """Root of the project that holds a folder."""

    def of_project(self, root: str) -> Chosen:
        """All sessions of a project, of folders in it and of projects below it, whether or not they are
        still there."""
        inside = {
            session.id
            for session in self.store.find(Session)
            if session.project is not None
            and (is_inside(root, session.project) or is_inside(root, self.root(session.project)))
        }
        return Chosen(sessions=frozenset(inside), project=root)

    def may_be_due(self, ignoring: Ignoring) -> bool:
        """A cheap look: whether something may have to be forgotten now, by retention or by what was begun."""
        return ignoring.oldest is not None or self._begun() is not None or self._outlives()

    def due(self, ignoring: Ignoring, *, held: bool) -> tuple[str, ...]:
        """Forget what is due, and tell that, and what is hidden. `held`: the lock of the cycle is held."""
        told: tuple[str, ...] = ()
        if self.may_be_due(ignoring):
            try:
                with nullcontext() if held else self.store.hold("cycle"):
                    told = self.forget_due(ignoring)
            except Busy as busy:
                told = (f"what is due to be forgotten waits for the next time: {busy}",)
        found = self.hidden(ignoring)
        # A report can be written anew at any time, so to take its pages away destroys nothing.
        cycles, mark = ((), "") if found is None else (found.plan.cycles, digest_of(*sorted(found.sessions)))
        pages = self.files.hide(cycles=cycles, mark=mark)
        if found is not None:
            text = (
                f"hidden by an ignore list, and kept: {counted(len(found.sessions), 'session')} with what "
                "was made of them (nightschool forget --ignored forgets what your own list names)"
            )
            told = (*told, text)
        if pages:
            text = (
                f"with that {counted(pages, 'file')} of reports went from our `reports` folder: `nightschool "
                "report CYCLE` writes one anew, without what is hidden"
            )
            told = (*told, text)
        return told

    def hidden(self, ignoring: Ignoring, sessions: Sequence[Session] | None = None) -> Hidden | None:
        """What the ignore lists hide of what is stored. Reading all sessions is dear: where they are not at
        hand, a look at what was made of them says whether there is a list at all."""
        if not self.may_be_listed(ignoring, sessions):
            return None
        named = self.listed(ignoring)
        return Hidden(sessions=named, plan=self.planned(Chosen(sessions=named))) if named else None

    def forget_due(self, ignoring: Ignoring) -> tuple[str, ...]:
        """End what was begun, and forget what is older than the person keeps it, once that was agreed to; it
        is told for the report. What an ignore list names is hidden and stays: it goes by their word alone."""
        told = ["a forgetting that was broken off was brought to its end"] if self.settle() else []
        chosen = self.past_keeping(ignoring)
        if not self._may_go(chosen, ignoring.days):
            goes = self.planned(chosen).counts
            listed = ", ".join(f"{number} {kind}" for kind, number in goes.items() if number)
            told.append(
                f"retention_days = {ignoring.days} would forget {listed}; the first time it waits for your "
                "word: nightschool forget --old  (tells what goes, and asks)"
            )
            chosen = Chosen()
        old = chosen.sessions
        done = self.forget(chosen, for_good=False)
        reports = sum(isinstance(record, CycleReport) for record in done.removed)
        if old:
            told.append(f"forgotten: {counted(len(old), 'session')} older than {ignoring.days} days")
        if reports:
            told.append(f"forgotten: {counted(reports, 'report')} older than {ignoring.days} days")
        told += [*_with_them(done), *(standing(draft) for draft in done.standing)]
        return tuple(told)

    def past_keeping(self, ignoring: Ignoring) -> Chosen:
        """What is older than the person keeps it."""
        seen = {offset.session: offset.mtime for offset in self.store.find(Offset)}
        old = {
            session.id
            for session in self.store.find(Session)
            if (why := ignoring.session(session, changed=seen.get(session.session_id))) is not None
            and why.reason == "too-old"
        }
        return Chosen(sessions=frozenset(old), before=ignoring.oldest)

    def agree(self, days: int) -> None:
        """The person's word that what is older than so many days goes by itself from now on."""
        self.store.take(f"{KEPT_FOR}{days}")

    def _may_go(self, chosen: Chosen, days: int | None) -> bool:
        """Whether it was agreed to. Where nothing is that old yet the setting alone says so."""
        if days is None or self.store.taken(f"{KEPT_FOR}{days}"):
            return True
        goes, anyway = self.planned(chosen), self.planned(Chosen())
        if (goes.removed, goes.kept) != (anyway.removed, anyway.kept):
            return False
        self.agree(days)
        return True

    def listed(self, ignoring: Ignoring, *, by_person: bool = False) -> frozenset[str]:
        """The stored sessions that an ignore list names, and those that stand for tasks from a file; with
        `by_person` those alone that the person's own list names."""

        def named(why: Why | None) -> bool:
            return why is not None and why.reason == "ignored" and (why.by_person or not by_person)

        grown = {
            known.stored
            for known in self.store.find(Skipped)
            # Under another list it is looked at again by the next harvest, and stays hidden until then.
            if known.stored and (not by_person if known.rules is None else bool(ignoring.own))
        }
        sessions = {one.id for one in self.store.find(Session) if named(ignoring.session(one))}
        tasks = {one.session for one in self.store.find(Task) if one.imported and named(ignoring.task(one))}
        return frozenset(grown | sessions | tasks)

    def may_be_listed(self, ignoring: Ignoring, sessions: Sequence[Session] | None) -> bool:
        """A cheap look: whether there is a list at all that may name what something was made of."""
        if ignoring.own or any(known.stored for known in self.store.find(Skipped)):
            return True
        tasks = self.store.find(Task)
        places = {f"{task.project}/{task.folder}" if task.folder else task.project for task in tasks}
        places.update(root for heard in self.store.find(Correction) for root in heard.projects)
        places.update(session.project for session in sessions or () if session.project is not None)
        return any(ignoring.has_list(place) for place in places)

    def planned(self, chosen: Chosen) -> Plan:
        """What would go. Changes nothing."""
        store = self.store
        sessions = tuple(store.find(Session))
        known = Known(
            sessions=sessions,
            offsets=tuple(store.find(Offset)),
            corrections=tuple(store.find(Correction)),
            candidates=tuple(store.find(Candidate)),
            tasks=tuple(store.find(Task)),
            marks=tuple(store.find(TaskMark)),
            assignments=tuple(store.find(Assignment)),
            holdouts=tuple(store.find(HoldoutVersion)),
            reservations=tuple(store.find(Reservation)),
            finished=tuple(store.find(Finished)),
            lost=tuple(store.find(LostTry)),
            trials=tuple(store.find(Trial)),
            drafts=tuple(store.find(Draft)),
            refused=tuple(store.find(RefusedEdit)),
            safety=tuple(store.find(SafetyReport)),
            verdicts=tuple(store.find(Verdict)),
            reviews=tuple(store.find(Review)),
            releases=tuple(store.find(Release)),
            cycles=tuple(store.find(CycleReport)),
            pins=tuple(store.find(Pin)),
        )
        roots = {s.id: self.root(s.project) for s in sessions if s.project is not None}
        return plan(known, chosen, roots)

    def forget(self, chosen: Chosen, *, for_good: bool) -> Plan:
        """Forget it, and have it gone from the disk. `for_good`: it is not to be read again either."""
        with self._alone():
            # What was shown before the question may have grown since.
            done = self.planned(chosen)
            traces = self._traces(chosen, done) if for_good else ()
            nothing = not (done.removed or done.kept)
            if nothing:
                self.store.commit(*traces)
                return done
            begun = Unfinished(at=self.clock.now(), cycles=self._cycles(done))
            settled = [s for s in self.store.find(Skipped) if s.stored in chosen.sessions and s.stored]
            self.store.forget((*done.removed, *settled), (*done.kept, *traces, begun))
            self._clear(begun)
        return done

    def settle(self) -> bool:
        """Go on with what a killed process began; whether there was something."""
        begun = self._begun()
        if begun is None:
            return False
        with self._alone():
            self._clear(begun)
        return True

    def allow(self, thing: Thing, name: str) -> bool:
        """Take what the person named off the list of what is not read again; whether it was on it."""
        trace = trace_of(thing, name)
        known = [one for one in self.store.find(Forgotten) if trace in {one.trace, one.of}]
        self.store.forget(known, ())
        return bool(known)

    def allow_by_name(self, name: str) -> bool:
        """The same for a project of which the name of its folder alone is said; whether one was on it."""
        known = {one.trace: one.of for one in self.store.find(Forgotten) if one.thing is Thing.NAME}
        found = {known[trace] for trace in _names(name) if trace in known}
        if len(found) > 1:
            raise UserError(f"several projects {name!r} were forgotten: name the folder of one in full")
        gone = [one for one in self.store.find(Forgotten) if one.of in found]
        self.store.forget(gone, ())
        return bool(gone)

    def forgotten_above(self, place: str) -> str | None:
        """The folder above this one that was forgotten with all below it."""
        known = {one.trace for one in self.store.find(Forgotten) if one.thing is Thing.PROJECT}
        above = (folder for folder in folders_of(place)[1:] if trace_of(Thing.PROJECT, folder) in known)
        return next(above, None)

    def _name(self, root: str) -> Digest:
        """A trace of the name of a project's folder, another one for each project of that name."""
        known = {one.trace: one.of for one in self.store.find(Forgotten) if one.thing is Thing.NAME}
        own = trace_of(Thing.PROJECT, root)
        free = (trace for trace in _names(PurePath(root).name) if known.get(trace, own) == own)
        return next(free, trace_of(Thing.NAME, root))

    def _begun(self) -> Unfinished | None:
        return self.store.get(Unfinished, "forgetting")

    def _outlives(self) -> bool:
        """Whether a proposal outlives what it came from, as long as it stands in a live file."""
        edits = (edit for draft in self.store.find(Draft) for edit in draft.edits)
        return any(edit.moment.session.startswith(STAND_IN) for edit in edits)

    def _cycles(self, done: Plan) -> tuple[str, ...]:
        earlier = self._begun()
        return tuple(dict.fromkeys((*(earlier.cycles if earlier else ()), *done.cycles)))

    def _traces(self, chosen: Chosen, done: Plan) -> Iterable[Forgotten]:
        named = [(Thing.SESSION, session) for session in sorted(chosen.sessions)]
        if chosen.project is not None:
            named.insert(0, (Thing.PROJECT, chosen.project))
        of = trace_of(*named[0])
        named += [(Thing.FILE, record.id) for record in done.removed if isinstance(record, Offset)]
        traces = [(thing, trace_of(thing, name)) for thing, name in named]
        if chosen.project is not None:
            traces.append((Thing.NAME, self._name(chosen.project)))
        at = self.clock.now()
        return tuple(Forgotten(thing=thing, trace=trace, of=of, at=at) for thing, trace in traces)

    def _clear(self, begun: Unfinished) -> None:
        mined = (task.workspace for task in self.store.find(Task))
        repositories = {source.repository for source in mined if isinstance(source, GitSource)}
        self.files.clear(cycles=begun.cycles, repositories=repositories)
        self.store.purge(self._wanted())
        self.store.remove(Unfinished, begun.id)

    def _wanted(self) -> set[Digest]:
        """The blobs that proposals and releases are made of. There are no others."""
        named = {digest for draft in self.store.find(Draft) for digest in (draft.before, draft.after)}
        named |= {digest for one in self.store.find(Release) for digest in (one.before, one.after)}
        return {digest for digest in named if digest is not None}

    @contextmanager
    def _alone(self) -> Iterator[None]:
        first, second = LOCKS
        with self.store.hold(first), self.store.hold(second):
            yield


def _with_them(done: Plan) -> list[str]:
    """What else went or lost its words, by kind."""
    rest = {kind: number for kind, number in done.counts.items() if number and kind not in TOLD_APART}
    listed = ", ".join(f"{number} {kind}" for kind, number in rest.items())
    return [f"with that went: {listed}"] if rest else []


def _names(name: str) -> Iterator[Digest]:
    return (trace_of(Thing.NAME, f"{number}/{name}") for number in range(ALIKE))


def standing(draft: Draft) -> str:
    """That a rule outlives what it came from, and how to take it out."""
    # Of the person's own file others may speak still: then their word on it is kept with its text.
    too = ", and the next run forgets its text too" if draft.target.project else ""
    return (
        f"proposal {draft.id} came from it and stays in {draft.target.place.partition('/')[2]}: "
        f"`nightschool undo {draft.id}` takes it out{too}"
    )
