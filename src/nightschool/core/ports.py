"""What the stages know of the outside. Each contract has a check in `nightschool.testing.conformance`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from pathlib import Path
from threading import Event
from typing import Protocol, TypeVar

from nightschool.core.harness import NOTHING, Absent, Harness, LiveFile, Problem, Target
from nightschool.core.jobs import FileChange, Job, Outcome
from nightschool.core.proposals import Draft, Finding
from nightschool.core.retention import Retention
from nightschool.core.sandboxes import Command, Execution, SandboxPlan
from nightschool.core.sessions import Offset, ReadResult, Roots, RowFate, TranscriptRef
from nightschool.core.skills import Skill
from nightschool.core.trials import Trial, TrialRequest
from nightschool.core.values import Digest, Record

R = TypeVar("R", bound=Record)

Progress = Callable[[str, int, int | None], None]
"""Told what goes on, in plain words, and how much of how much is done (None: nobody knows). For the person
who waits: nothing depends on it."""
TellRow = Callable[[RowFate], None]
"""Told what became of each row, as it is read."""
Redact = Callable[[str], str]
"""Replaces each secret in a text by a stand-in; the same secret gives the same stand-in."""
SecondOpinion = Callable[[str], Sequence[tuple[str, str]]]
"""What another scanner takes for a secret in a text: (kind, the secret). Asks nobody, reads no file."""
Vet = Callable[[Draft], Sequence[Finding]]
"""All that is wrong with a draft, looked at anew. What is found above low risk may not be published."""


class Clock(Protocol):
    def now(self) -> datetime:
        """The time, aware, in UTC: for what is stored and told. Anybody may set it, and it jumps."""
        ...

    def awake(self) -> timedelta:
        """How long this machine was awake since a moment of its own choice: for limits. It never goes back,
        nobody can set it, and it stands still while the machine sleeps."""
        ...


Unchanged = Callable[[str, int, int], bool]
"""Whether a file of this path, size and time (microseconds since 1970) is as it was when it was read."""


class TranscriptSource(Protocol):
    """Reads the transcripts of one agent. Never writes into the agent's folders.

    Implementations are constructed as `Source(redact=...)` and redact every text before they
    bound or return it.
    """

    name: str
    moved_by: str | None
    """The variable that says that the agent's folder lies elsewhere."""

    def folders(self, roots: Roots) -> Sequence[Path]:
        """Where this agent keeps its sessions, there or not, by home and environment."""
        ...

    def discover(self, roots: Roots, unchanged: Unchanged | None = None) -> Iterable[TranscriptRef]:
        """The files that may be transcripts, by a cheap look: path, size, mtime. Ordered by path.

        A link that dangles, a pipe under a transcript's name or a folder that cannot be listed is
        given too: `read` names it. What is missing altogether is given only if it was explicit.
        A file that holds several sessions is given once for each, with the session's id as its `part`.
        What is `unchanged` need not be given: of ten thousand files nothing is made but of those that grew.
        """
        ...

    def retention(self, roots: Roots) -> Retention | None:
        """How long the agent leaves its transcripts; None where it removes none."""
        ...

    def recognises(self, ref: TranscriptRef) -> bool:
        """Whether the file's first rows are this agent's, whatever its name."""
        ...

    def read(self, ref: TranscriptRef, since: Offset | None, *, told: TellRow | None = None) -> ReadResult:
        """The session in the file, or (with `since`) the part of it that lies behind that offset.

        Never raises for bad content: a bad row costs that row, is counted in `left_out` with its
        byte offset, and reading goes on. Two rows run together on one line are both read. A last
        line without a newline that is no whole row is left for the next read and not counted.
        Where the file was replaced (its head differs) it is read from the start. What its agent writes
        anew each time is read whole each time, and nothing of it that is no whole document yet.

        With `told` each row is told of, in order, with what became of it; what is no row stands in
        `left_out`. It changes nothing of what is read.
        """
        ...


class Surface(Protocol):
    """What one agent lets us edit: where each component lies, its limits, how it is checked.

    Implementations are constructed as `Surface(environment=...)`, the person's, which may say that the
    agent's folder lies elsewhere. `home` is the person's HOME, in `place` that of a replay.
    """

    name: str
    version: str
    """Of the knowledge, not of the agent: part of a job's key."""

    def memory_target(self, *, project: str | None, beside: Harness = NOTHING) -> Target:
        """The memory file for a correction: the project's, or with None the user's own. Where several names
        may serve it is the one that is read `beside` the files of this tree."""

    def read_instead(self, place: str, harness: Harness) -> str | None:
        """The file of a tree that the agent reads in place of one that lies here; None: it reads this one."""

    def skills(self, harness: Harness) -> Sequence[Skill]:
        """The skills in a tree, in the order of their places. Two may have one name."""

    def skill_target(self, skill: Skill, *, project: str | None) -> Target:
        """The SKILL.md of a skill that `skills` told of, in the project of this root."""

    def new_skill(self, name: str, *, project: str | None) -> Target:
        """Where the SKILL.md of a new skill would lie: in the project, or with None the user's own."""

    def holds(self, path: Path, project: Path | None, home: Path) -> bool:
        """Whether a real path lies in a place that `load` reads, so that no link led out of all of them."""

    def live_path(self, target: Target, home: Path) -> Path:
        """Where the target lies on disk (links not resolved)."""

    def load(self, project: Path | None, home: Path) -> Harness:
        """The live files that shape the agent, as a tree: the project's and the user's own."""

    def place(self, harness: Harness, root: Path, home: Path) -> Sequence[Path]:
        """Write a tree where this agent reads it: `project/` below root, `user/` below home. What lies
        there at such places and is not in the tree is removed: `load` gives the tree again.

        Exact in bytes and modes; refuses to write through a link that leads out of either.
        Returns what now lies below home, each a file or a folder of one skill, to be sealed: the
        person's own is read and not changed in a replay.
        """

    def touches(self, harness: Harness, root: Path) -> Sequence[str]:
        """Names below root of what `place` may write, replace or remove there: files, and folders with all
        that they hold. Root may be a part of a project: of several, those of each are all."""

    def problems(self, harness: Harness) -> Sequence[Problem]: ...

    def missing(self, project: Path | None, home: Path) -> Sequence[Absent]:
        """What the person's configuration names and `load` does not bring: servers, plugins, hooks, files
        that lie elsewhere. Names alone are read; what cannot be read is named as unknown, and no
        content raises."""


class Workspace(Protocol):
    """An open sandbox. `root` and `home` are host paths, `inside_*` what a process inside sees.

    Inside, the workspace is what lies below `root` and, wherever root has nothing of a name, what `shared`
    has of it. To replace or remove what is shared, `bring` it below root first. What a command changed or
    made lies below root, what it removed is told by `changes` alone.
    """

    root: Path
    home: Path
    shared: tuple[Path, ...]
    """Folders that many workspaces have in common, for reading alone, the uppermost first. Empty where root
    holds all."""
    inside_root: str
    inside_home: str
    gateway_url: str | None
    """`http://127.0.0.1:PORT` inside, leading to the plan's gateway."""

    def execute(self, command: Command, cancelled: Event) -> Execution:
        """Run to the end, to the time-out, to the cancel, or until the disk that the plan allows is used up;
        then nothing of it is left running. The time-out counts the time that the machine is awake. A process
        group that is told to stop is gone within two seconds.
        """
        ...

    def bring(self, names: Iterable[str]) -> None:
        """Have what the workspace holds at these names, files or whole folders, lie below root, with the
        folders and links that lead there. It is no change. What of it is removed from root before the next
        command is gone inside too."""
        ...

    def changes(self) -> tuple[FileChange, ...]:
        """What differs from the workspace as it was opened (harness files placed since by `seal`
        are not changes). Links and special files are not followed."""
        ...

    def seal(self, own: Sequence[Path] = ()) -> None:
        """Take the present state of root as the one that `changes` compares with.

        `own` are files and folders below home. In a sandbox that is `isolated`, what runs from now on
        reads them and can change, move or remove none of them; the rest of HOME stays writable.
        Raises `WorkspaceUnavailable` where one of them is reached through a link.
        """
        ...


class Sandbox(Protocol):
    """Opens workspaces. `open` raises `SandboxUnavailable` with the way to get it; never falls back."""

    name: str
    isolated: bool
    """Whether what runs inside is kept from the host, and from what was sealed."""

    def open(self, plan: SandboxPlan) -> AbstractContextManager[Workspace]:
        """A fresh workspace and an empty HOME, removed on leaving. May raise `SetUpFailed`."""
        ...

    def probe(self) -> Sequence[tuple[str, bool, str]]:
        """(part, works, how to mend it) for `doctor`."""
        ...


class Runner(Protocol):
    """Carries out jobs. A job that cannot be done is a `Failed` outcome."""

    name: str
    tells_cost: bool
    """Whether its jobs tell what they cost, in dollars. Where they don't, a limit of money cannot be kept."""

    @property
    def sends_to(self) -> str:
        """The address that prompts and files go to; "" where nothing leaves this machine."""
        ...

    def version(self) -> str:
        """Version of the agent, part of each job's key. Raises `RunnerUnusable` if it is missing."""
        ...

    def check(self) -> None:
        """Raises what every job would raise for want of a program (`RunnerUnusable`), of a key
        (`AuthenticationFailed`) or of a sandbox (`SandboxUnavailable`), before one is booked. Starts no
        agent, and asks nobody."""
        ...

    def run(self, job: Job, cancelled: Event) -> Outcome:
        """Raises only when no further job could succeed: `RunnerUnusable`, `AuthenticationFailed`,
        `SandboxUnavailable`, `BudgetExhausted`, or none of its project: `SetUpFailed`. Returns within two
        seconds of `cancelled`."""
        ...


class Practice(Protocol):
    """Makes trials: what the gate and the improver see of replaying (stages/replay.py)."""

    def trials(self, requests: Sequence[TrialRequest]) -> Sequence[Trial]:
        """One trial for each request, in order. Runs several at once.

        A lost try is made again on the same draw; a trial that stays lost has the score None.
        Raises `SetUpFailed`, and `BudgetExhausted` where not all of them fit: then none was started.
        """
        ...

    def left(self) -> int:
        """How many more jobs the budget allows."""
        ...

    def share(self) -> int:
        """How many of these are for the exam in hand, while others wait for their turn."""
        ...

    def tell(self, words: str) -> None:
        """What the next trials are for, for the person who waits."""
        ...


class Projects(Protocol):
    """What is known of the folder that a session ran in. Only ever reads."""

    def root(self, directory: str) -> str:
        """The main working tree of the git repository that holds the directory (worktrees of one
        repository have one root, one that is gone too while git lists it), else the directory itself."""
        ...

    def commit_at(self, root: str, *, branch: str | None, at: datetime) -> str | None:
        """The newest commit of the branch (of HEAD where the branch is unknown or gone) that is not
        younger than `at`; None where there is no git or no such commit."""
        ...

    def holds(self, root: str, commit: str) -> bool:
        """Whether the repository has this commit (a rebase with gc, or another clone, has it not)."""
        ...

    def tracks(self, path: Path) -> bool:
        """Whether git tracks the file at this absolute path, so that others get it too. Raises `UserError`
        where git cannot tell."""
        ...

    def text_at(self, root: str, commit: str, path: str) -> bytes | None:
        """A file's bytes at a commit; None where it is not in it."""
        ...

    def absent(self, root: str, commit: str) -> Sequence[Absent]:
        """What no workspace of that commit holds, by name: submodules, large files (LFS), `.env` files."""


Ticket = int


class Engine(Protocol):
    """Runs many jobs at once."""

    def submit(self, job: Job) -> Ticket: ...

    def completed(self) -> Iterator[tuple[Ticket, Outcome]]:
        """Outcomes in order of completion, until none is outstanding."""
        ...

    def cancel(self, ticket: Ticket) -> None: ...

    def stop(self) -> None:
        """Cancel all that is outstanding and wait for its end; its outcomes are dropped."""
        ...


class Store(Protocol):
    """What is remembered. Every method is one transaction; two processes at once lose nothing."""

    def commit(self, *records: Record) -> None:
        """Write all or none. A record under a known id: the same content is nothing to do, another
        content replaces it where its kind `GROWS`, else it is a `Conflict`."""
        ...

    def get(self, kind: type[R], record_id: str) -> R | None: ...

    def find(self, kind: type[R], owner: str | None = None) -> Sequence[R]:
        """All of a kind in the order of first writing; with `owner` only those."""
        ...

    def owners(self, kind: type[Record]) -> Sequence[str]:
        """Who owns records of a kind, each once, in order: without reading what they hold."""
        ...

    def beside(self, kind: type[Record], name: str) -> Mapping[str, str]:
        """By the id of each record of a kind a text that stands beside it, without reading the record: an
        attribute of it that its table holds, too."""
        ...

    def remove(self, kind: type[Record], record_id: str) -> None:
        """Only kinds that `GROWS`."""
        ...

    def put_blob(self, content: bytes) -> Digest: ...

    def blob(self, digest: Digest) -> bytes:
        """Raises `NotFound`; raises `Conflict` where the stored bytes no longer have this digest."""
        ...

    def take(self, counter: str, count: int = 1) -> int:
        """The first of `count` numbers of a counter that are never given again (from 1)."""
        ...

    def taken(self, counter: str) -> int:
        """The last number of a counter that was given; 0 where none was."""
        ...

    def forget(self, removed: Sequence[Record], kept: Sequence[Record]) -> None:
        """In one transaction, of any kind, those that only grow by new ones too: take `removed` out, and
        put `kept` in the places of the records of their ids (at the end, where there are none). The one
        way in which what was written is ever changed."""
        ...

    def purge(self, blobs: Collection[Digest]) -> int:
        """Leave no trace on the disk of what was removed, and of blobs none but these; how many went.

        Nothing may be stored meanwhile that is to stay: hold the locks under which blobs are put. Raises
        `Busy` where another process reads too long; calling it again goes on.
        """
        ...

    def hold(self, lock: str, *, by: str = "") -> AbstractContextManager[None]:
        """A lock between processes that dies with its process. Raises `Busy` at once if it is held. `by`:
        what its holder is called; further lines say what it does, for the one that finds it held."""
        ...

    def holder(self, lock: str) -> str | None:
        """What the holder of a lock is called; None where nobody holds it. It may be let go at once."""
        ...


class LiveFiles(Protocol):
    """The only writer of live files."""

    def read(self, path: Path) -> LiveFile:
        """Raises `UserError` where the file is there but cannot be read: never an empty one instead."""

    def swap(
        self, path: Path, *, expected: bytes | None, content: bytes | None, mode: int | None
    ) -> LiveFile:
        """Replace the bytes atomically if they still are `expected`, else raise `Conflict` and write nothing.

        Follows a link to its file and keeps the link. `content` None removes the file.
        `mode` None keeps the mode (0644 for a new file). Folders that are missing are made.
        """

    def clear(self, folders: Sequence[Path]) -> None:
        """Remove those of these folders that are there and empty, the last first, up to one that is not."""
