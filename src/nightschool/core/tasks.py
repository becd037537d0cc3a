"""What is worth learning, and the replayable work it is practised on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal, NewType

from nightschool.core.harness import File
from nightschool.core.values import Digest, Record, Value, digest_of

TaskId = NewType("TaskId", str)

IMPORTED = "imported"
"""Stands as the source of a task that a person brought in a file, and begins the id of its session."""


class Split(StrEnum):
    TRAIN = "train"
    HOLDOUT = "holdout"


@dataclass(frozen=True, slots=True, kw_only=True)
class Footprint(Value):
    """Passes if what the agent left behind holds `wanted` (if any) and does not hold `unwanted` (if any).

    What is searched: command lines it ran and the text it added to files, by whole words
    (so `npm` is not found in `pnpm`), case folded; `rules/footprints.py` has the fine print.
    A check without `wanted` passes only where the agent changed something at all, so that doing
    nothing never passes.
    """

    kind: Literal["footprint"] = "footprint"
    wanted: str | None = None
    unwanted: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched(Value):
    """Passes if at least one of these files was changed or made: the work went to the right place.

    Mined from sessions that nobody corrected; it lets a task serve as a guard.
    """

    kind: Literal["touched"] = "touched"
    paths: tuple[str, ...]
    """Relative to the project's root."""


Check = Footprint | Touched
"""One way to judge an outcome. A new kind is a new class and a `match` arm in rules/checking.py."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitSource(Value):
    """Workspace from a private mirror of a repository at a commit."""

    kind: Literal["git"] = "git"
    repository: str
    """Root of the person's working tree (only ever read)."""
    commit: str
    """Full object id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesSource(Value):
    """Workspace from the files that the session itself shows."""

    kind: Literal["files"] = "files"
    files: tuple[File, ...] = ()


WorkspaceSource = GitSource | FilesSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure(Value):
    """What a person wants done on an occasion, step by step, in the person's words."""

    occasion: str
    steps: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment(Value):
    """A place in a session that justifies something: the human's words, redacted."""

    session: str
    turn: int
    quote: str
    at: datetime | None = None
    skills: tuple[str, ...] = ()
    """Skills that the agent had loaded in the session by then."""
    procedure: Procedure | None = None
    """The one that the words tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction(Record):
    """The same thing said in one or several sessions: what `nightschool corrections` lists.

    `key` is what makes two corrections the same (`use pnpm not npm`); `wanted` and `unwanted` are
    its machine form where the words were explicit, else both are None.
    """

    GROWS = True

    key: str
    statement: str
    """The human's words, of the clearest moment."""
    wanted: str | None = None
    unwanted: str | None = None
    moments: tuple[Moment, ...] = ()
    projects: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return "c-" + digest_of(self.key)[:10]

    @property
    def sessions(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(moment.session for moment in self.moments))

    @property
    def recurs(self) -> bool:
        """Whether it was said in more than one session: once may be meant for that moment alone."""
        return len(self.sessions) > 1

    @property
    def last_at(self) -> datetime | None:
        return max((m.at for m in self.moments if m.at is not None), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate(Record):
    """A correction worth learning, as an editor may know it: evidence from train sessions only."""

    GROWS = True

    correction: str
    """Id of the `Correction`."""
    statement: str
    evidence: tuple[Moment, ...]
    sessions: tuple[str, ...]
    """All sessions that hold the correction, hold-out ones too: ids only."""
    check: Check
    """Never shown to an editor."""
    project: str
    """Root of the project it was seen in; "" where it was seen in several (then the user's own file)."""

    @property
    def id(self) -> str:
        return "k-" + digest_of(self.correction, self.project)[:10]

    @property
    def owner(self) -> str:
        return self.project


@dataclass(frozen=True, slots=True, kw_only=True)
class Task(Record):
    """A replayable piece of work. Its content never changes; the id is the digest of what matters."""

    prompt: str
    workspace: WorkspaceSource
    checks: tuple[Check, ...]
    session: str
    turn: int
    """Index of the human turn that is the prompt."""
    source: str
    """The agent whose session it was."""
    project: str
    cluster: str
    """Tasks of one session, or of near-identical prompts, share it. Never straddles a split."""
    split: Split
    concerns: tuple[str, ...] = ()
    """Ids of the candidates that the task concerns, whether or not it was corrected there."""
    at: datetime | None = None
    folder: str = ""
    """Where in the project the session began, relative to its root; "" at the root itself."""
    skills: tuple[str, ...] = ()
    """Skills that the agent loaded in its session."""
    made_of: str = ""
    """Of an imported one: id of the session that it was edited from or asks the same as; "" where of none."""

    @property
    def id(self) -> str:
        parts = (self.prompt, self.workspace, self.session, self.turn, self.checks, self.concerns)
        return "t-" + digest_of(*parts)[:12]

    @property
    def owner(self) -> str:
        return self.project

    @property
    def imported(self) -> bool:
        return self.source == IMPORTED

    @property
    def origin(self) -> str:
        """Id of the session whose words it has; "" where a person wrote them in a file."""
        return self.made_of if self.imported else self.session


class TaskAct(StrEnum):
    """What a person may say of one task."""

    REVIEW = "review"
    """Read, and found fit to be used: asked only of tasks that came from a file."""
    PROTECT = "protect"
    """Always among the guards of an exam."""
    RELEASE = "release"
    """Protected no longer."""
    WITHHOLD = "withhold"
    """Taken out of the hold-out: it serves no further exam."""
    RETIRE = "retire"
    """Serves no more, neither for practice nor for an exam."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskMark(Record):
    """A person's word on one task. The newest of its kind stands; none is ever rewritten."""

    task: str
    act: TaskAct
    actor: str
    reason: str = ""
    at: datetime

    @property
    def id(self) -> str:
        return digest_of(self)[:16]

    @property
    def owner(self) -> str:
        return self.task


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment(Record):
    """The split of one cluster, decided once, before anything is mined from it, kept for ever.

    Sessions that join a cluster later get a further record with the same cluster and split, so that
    none is ever rewritten.
    """

    cluster: str
    split: Split
    sessions: tuple[str, ...]

    @property
    def id(self) -> str:
        return f"{self.cluster}.{digest_of(self.sessions)[:8]}"

    @property
    def owner(self) -> str:
        return self.cluster


BETWEEN_ROOTS = "\n+\n"
"""In the name of a pool over several projects."""


def pool_of(roots: Iterable[str]) -> str:
    """The name of the pool over these projects, whatever their order: of one its root."""
    return BETWEEN_ROOTS.join(sorted(set(roots)))


def roots_in(pool: str | None) -> frozenset[str] | None:
    """The projects of a pool; None: all there are."""
    return frozenset(pool.split(BETWEEN_ROOTS)) if pool else None


def only_root(pool: str | None) -> str | None:
    """The root of a pool over one project; None where it is over several, or all."""
    return pool if pool and BETWEEN_ROOTS not in pool else None


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldoutVersion(Record):
    """One version of the hold-out of one pool: what the alpha is spent on.

    A new version starts by the count of new tasks, never by results or by spent alpha.
    """

    pool: str
    """The project's root, "" for the pool over all projects, or what `pool_of` says of several."""
    number: int
    tasks: tuple[str, ...]

    @property
    def id(self) -> str:
        return f"{digest_of(self.pool)[:10]}.{self.number}"

    @property
    def owner(self) -> str:
        return self.pool


def task_digest(tasks: tuple[Task, ...]) -> Digest:
    """What a verdict names as the tasks and checks that it speaks of."""
    return digest_of(*sorted((task.id, digest_of(task.checks)) for task in tasks))
