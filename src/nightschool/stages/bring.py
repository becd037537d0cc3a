"""Brings the tasks of a file that a person edited: each with its cluster and its side of the split.

A task never changes: one that was edited is a new one, in the cluster and on the side of the one that it
was made of. What is asked as in a known session or task joins that cluster, and what would stand on both
sides is refused. All is stored or nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from nightschool.core.errors import UserError
from nightschool.core.harness import File
from nightschool.core.ports import Clock, Projects, Redact, Store
from nightschool.core.sessions import Session
from nightschool.core.tasks import (
    IMPORTED,
    Assignment,
    Candidate,
    FilesSource,
    Footprint,
    GitSource,
    Split,
    Task,
    TaskAct,
    TaskMark,
    WorkspaceSource,
)
from nightschool.core.values import Record, Value, digest_of
from nightschool.rules.alike import overlap
from nightschool.rules.ignoring import Ignoring
from nightschool.rules.marks import standings
from nightschool.rules.prose import tokens
from nightschool.rules.splits import ALIKE, first_prompt, side
from nightschool.rules.task_file import TaskFile, WrittenTask, Wrong, faults


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought(Value):
    """The tasks that a file stands for, in its order."""

    tasks: tuple[Task, ...]
    new: tuple[str, ...]
    """Ids of those that were not known before."""
    edited: tuple[tuple[str, str], ...]
    """(known, new): new tasks that were made of a known one, which stays as it is."""
    reviewed: tuple[str, ...]
    """Ids of those that were reviewed with this file."""


class _Unfit(Exception):
    """Why one task of the file cannot be taken: all that is known of it."""

    def __init__(self, *why: str) -> None:
        self.why = why
        super().__init__("; ".join(why))


@dataclass(frozen=True, slots=True)
class _Home:
    """Something that was asked, with the cluster and side that it belongs to."""

    words: frozenset[str]
    cluster: str
    split: Split
    origin: str
    """Id of the session that asked it; "" where a person wrote it in a file."""


@dataclass(slots=True, kw_only=True)
class Bringing:
    """One file, for one project. Call `bring` while the cycle's lock is held: mining assigns sides too."""

    store: Store
    projects: Projects
    clock: Clock
    redact: Redact
    ignoring: Ignoring
    actor: str
    project: str
    where: str
    """The file's name, for messages."""
    _homes: list[_Home] = field(default_factory=list)
    _taught: Counter[str] = field(default_factory=Counter)
    """Train clusters by candidate."""

    def bring(self, file: TaskFile, bad: Sequence[Wrong] = ()) -> Brought:
        """Raises `UserError` with all that is wrong, `bad` of it known from reading the file, of which
        what was wrong is not in `file`; then nothing is stored."""
        wrong = list(bad)
        # Where the project itself is missing, its line is told already.
        if file.project != self.project and not any(number == 0 for number, _ in bad):
            text = (
                f"project: the file is of {file.project}, and this is {self.project}; go there (or --project)"
            )
            raise UserError(faults(self.where, [text, *(why for _, why in bad)]))
        self._look()
        tasks: dict[str, Task] = {}
        new: dict[str, Record] = {}
        edited: list[tuple[str, str]] = []
        read: list[str] = []
        unfit = {number for number, _ in bad}
        for number, one in enumerate(file.task, start=1):
            try:
                known = self._known(one)
                if number in unfit:
                    wrong += [(number, f"task {number}: {why}") for why in self._against(one, known)]
                    continue
                task, assignment = self._task(one, known)
                self._not_ignored(task)
            except _Unfit as error:
                wrong += [(number, f"task {number}: {why}") for why in error.why]
                continue
            if task.id in tasks:
                why = f"task {number}: is the same as another one of the file; take one of them out"
                wrong.append((number, why))
            tasks[task.id] = task
            if assignment is not None:
                new |= {f"task {task.id}": task, f"assignment {assignment.id}": assignment}
                self._learn(task)
                edited += [] if known is None else [(known.id, task.id)]
            if file.reviewed and one.reviewed:
                read.append(task.id)
        if wrong:
            in_order = sorted(wrong, key=lambda one: one[0])
            raise UserError(faults(self.where, [why for _, why in in_order]))
        marks = self._reviews([tasks[name] for name in read])
        self.store.commit(*new.values(), *marks)
        return Brought(
            tasks=tuple(tasks.values()),
            new=tuple(record.id for record in new.values() if isinstance(record, Task)),
            edited=tuple(edited),
            reviewed=tuple(mark.task for mark in marks),
        )

    # What is known ---------------------------------------------------------------------------------

    def _look(self) -> None:
        homes = {name: a for a in self.store.find(Assignment) for name in a.sessions}
        for session in self.store.find(Session):
            home = homes.get(session.id)
            prompt = first_prompt(session)
            if home is not None and prompt:
                self._homes.append(_Home(tokens(prompt), home.cluster, home.split, session.id))
        taught: dict[str, set[str]] = {
            candidate.id: {
                homes[moment.session].cluster for moment in candidate.evidence if moment.session in homes
            }
            for candidate in self.store.find(Candidate)
        }
        for task in self.store.find(Task):
            self._homes.append(_Home(tokens(task.prompt), task.cluster, task.split, task.origin))
            for name in task.concerns if task.split is Split.TRAIN else ():
                taught.setdefault(name, set()).add(task.cluster)
        self._taught.update({name: len(clusters) for name, clusters in taught.items()})

    def _learn(self, task: Task) -> None:
        self._homes.append(_Home(tokens(task.prompt), task.cluster, task.split, task.origin))
        if task.split is Split.TRAIN:
            self._taught.update(task.concerns)

    def _known(self, one: WrittenTask) -> Task | None:
        if one.id is None:
            return None
        known = self.store.get(Task, one.id)
        if known is None or known.project != self.project:
            raise _Unfit(
                f"id: {self.project} has no task {one.id}; for a new one take the lines id and split away"
            )
        if one.split is not None and one.split != known.split:
            raise _Unfit(f'split: it is "{known.split}" and stays so; write that, or take the line away')
        return known

    # One task --------------------------------------------------------------------------------------

    def _task(self, one: WrittenTask, known: Task | None) -> tuple[Task, Assignment | None]:
        """The task, and its assignment where it is new."""
        prompt = self.redact(one.prompt)
        if wrong := self._against(one, known):
            raise _Unfit(*wrong)
        workspace = self._workspace(one)
        concerns = tuple(sorted(set(one.concerns)))
        same = (prompt, workspace, one.check, concerns, one.folder)
        if known is not None and same == (
            known.prompt,
            known.workspace,
            known.checks,
            known.concerns,
            known.folder,
        ):
            return known, None
        # Of what matters alone, so that the same file read twice gives the same tasks.
        session = f"{IMPORTED}:{digest_of(self.project, *same)[:16]}"
        before = next((task for task in self.store.find(Task, self.project) if task.session == session), None)
        if before is not None:
            return before, None
        alike = self._alike(prompt)
        cluster, split = self._side(alike, concerns, known, session)
        # Who edits a task may ask anew for what another session asked: the one that was edited comes first.
        origins = [known.origin] if known is not None else []
        origins += sorted(home.origin for home in alike)
        task = Task(
            prompt=prompt,
            workspace=workspace,
            checks=one.check,
            session=session,
            turn=0,
            source=IMPORTED,
            project=self.project,
            cluster=cluster,
            split=split,
            concerns=concerns,
            at=self.clock.now(),
            folder=one.folder,
            made_of=next(filter(None, origins), ""),
        )
        return task, Assignment(cluster=cluster, split=split, sessions=(session,))

    def _against(self, one: WrittenTask, known: Task | None) -> list[str]:
        return [*self._plain(one), *self._no_commit(one, known), *self._no_correction(one, known)]

    def _not_ignored(self, task: Task) -> None:
        why = self.ignoring.task(task)
        if why is not None:
            raise _Unfit(f"is left out {why.detail}; take it out of the file, or change that list")

    def _no_correction(self, one: WrittenTask, known: Task | None) -> list[str]:
        """What a known task concerned stays its word, also where that was forgotten since."""
        before = () if known is None else known.concerns
        return [
            f"concerns: there is no correction {name}; an exported file lists them at its top"
            for name in one.concerns
            if name not in before and self.store.get(Candidate, name) is None
        ]

    def _no_commit(self, one: WrittenTask, known: Task | None) -> list[str]:
        if one.commit is None or (known is not None and known.workspace == self._workspace(one)):
            return []
        if self.projects.holds(self.project, one.commit):
            return []
        return [f"commit: {self.project} has no commit {one.commit}; `git rev-parse HEAD` prints one"]

    def _plain(self, one: WrittenTask) -> list[str]:
        """What a check looks for, and paths, are used as they are: no stand-in may take a secret's place."""
        texts = [one.folder, *(file.path for file in one.file)]
        for check in one.check:
            texts += (
                [check.wanted or "", check.unwanted or ""] if isinstance(check, Footprint) else check.paths
            )
        if any(self.redact(text) != text for text in texts):
            return ["check: what it looks for, or a path, holds a secret; name it without"]
        return []

    def _workspace(self, one: WrittenTask) -> WorkspaceSource:
        if one.commit is None:
            files = (File(path=f.path, content=self.redact(f.text).encode("utf-8")) for f in one.file)
            return FilesSource(files=tuple(sorted(files, key=lambda file: file.path)))
        return GitSource(repository=self.project, commit=one.commit)

    def _side(
        self, homes: Sequence[_Home], concerns: Sequence[str], known: Task | None, session: str
    ) -> tuple[str, Split]:
        alike = {(home.cluster, home.split) for home in homes}
        if known is not None:
            alike.add((known.cluster, known.split))
        sides = {split for _, split in alike}
        if len(sides) > 1:
            raise _Unfit(
                "prompt: it is asked nearly so in a task or session for training, and in one of the exam; "
                "take it out of the file, or ask for other work"
            )
        if alike:
            return min(alike)
        cluster = f"s-{digest_of(session)[:12]}"
        return cluster, side(cluster, frozenset(concerns), self._taught)

    def _alike(self, prompt: str) -> list[_Home]:
        words = tokens(prompt)
        return [home for home in self._homes if words == home.words or overlap(words, home.words) >= ALIKE]

    def _reviews(self, tasks: Sequence[Task]) -> list[TaskMark]:
        """That these were read. A task that sessions gave needs no such word."""
        known = standings(self.store.find(TaskMark))
        at = self.clock.now()
        return [
            TaskMark(task=task.id, act=TaskAct.REVIEW, actor=self.actor, reason=f"in {self.where}", at=at)
            for task in tasks
            if task.imported and (task.id not in known or known[task.id].review is None)
        ]
