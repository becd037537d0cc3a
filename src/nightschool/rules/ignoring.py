"""Whether a session may be read: the ignore lists, what was forgotten, and how long things are kept.

Relieves the harvest and the import of tasks, which ask before anything is stored. A pattern errs on the
side of leaving out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from typing import NamedTuple

from nightschool.core.forgetting import IgnoreList, Thing, folders_of, is_inside, trace_of
from nightschool.core.sessions import Session
from nightschool.core.tasks import FilesSource, Footprint, Task
from nightschool.core.values import Digest, Value, digest_of

NOTHING = IgnoreList()
BAD_SETTINGS = "bad-settings"
"""The reason where a project's file cannot be read: it might have named the session, so nothing of it is
stored; and it might not have, so nothing that is stored is forgotten."""


class Why(NamedTuple):
    """Why a session is left out: a code of `LeftOut`, and which rule ("" where the code says all). Never the
    words that matched."""

    reason: str
    detail: str
    by_person: bool = True
    """Not by a project's own list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignoring(Value):
    """The rules as they hold now. The list of a folder's own file speaks of the sessions in that folder and
    below it alone, wherever a harvest is started: it comes with a clone, and may neither hide nor reveal what
    is another's."""

    own: IgnoreList = NOTHING
    of_folder: Callable[[str], IgnoreList | str] = lambda _: NOTHING
    """A text says what is wrong with its file."""
    root: Callable[[str], str] = str
    real: Callable[[str], str] = str
    """Where a path leads that has links in it."""
    home: str = ""
    """The person's: no name of a folder above it, and no file there, speaks of what they do."""
    oldest: datetime | None = None
    """What ended before is not kept."""
    days: int | None = None
    forgotten: frozenset[Digest] = frozenset()
    """Traces."""

    @property
    def digest(self) -> Digest:
        """Of what the person said. A project's list and the time are looked at with each session."""
        return digest_of(self.own, self.days, self.forgotten)

    @property
    def knows_files(self) -> bool:
        """Whether a file may be left out by its path alone."""
        return bool(self.own.paths or self.forgotten)

    def file(self, path: str, ref_id: str) -> Why | None:
        if self.forgotten and trace_of(Thing.FILE, ref_id) in self.forgotten:
            return Why("forgotten", "")
        return _by_path(self.own, (place(path) for place in (str, self.real)), "your list")

    def session(self, session: Session, *, changed: datetime | None = None) -> Why | None:
        """`changed`: when its file did, for a session that tells no time."""
        if self.forgotten and trace_of(Thing.SESSION, session.id) in self.forgotten:
            return Why("forgotten", "")
        root = "" if session.project is None else self.root(session.project)
        if self.forgotten and any(
            trace_of(Thing.PROJECT, place) in self.forgotten
            for folder in dict.fromkeys((root, session.project or ""))
            for place in folders_of(folder)
        ):
            return Why("forgotten", "with its project")
        last = session.ended_at or session.started_at or changed
        if self.oldest is not None and last is not None and last < self.oldest:
            return Why("too-old", f"retention_days is {self.days}")
        return self._listed(self._of_session(session, root))

    def task(self, task: Task) -> Why | None:
        """One that a person brought in a file. It has no age: it is kept until the person says otherwise."""
        return self._listed(_of_task(task))

    def project(self, root: str) -> Why | None:
        """Whether all that ran in a project is left out."""
        if self.forgotten and any(
            trace_of(Thing.PROJECT, place) in self.forgotten for place in folders_of(root)
        ):
            return Why("forgotten", "with its project")
        return self._listed(_Held(root, root, lambda: iter((root, self.real(root))), lambda: iter(())))

    def has_list(self, folder: str) -> bool:
        """Whether a file of a folder, or of one above it, has a list."""
        held = _Held(self.root(folder), folder, lambda: iter(()), lambda: iter(()))
        return any(self.of_folder(place) for place in self._below_home(held))

    def _listed(self, held: _Held) -> Why | None:
        found = self._named(self.own, held, "your list")
        if found is not None:
            return found
        for folder in self._below_home(held):
            theirs = self.of_folder(folder)
            if isinstance(theirs, str):
                return Why(BAD_SETTINGS, theirs, by_person=False)
            found = self._named(theirs, held, "its project's list")
            if found is not None:
                return found._replace(by_person=False)
        return None

    def _below_home(self, held: _Held) -> list[str]:
        """The folders that it ran in, the nearest first, up to the home folder or to the root of the disk."""
        own = dict.fromkeys(place for place in (held.root, held.folder) if place)
        inside = self.home and any(is_inside(self.home, place) for place in own)
        above = dict.fromkeys(place for folder in own for place in folders_of(folder))
        return [
            place
            for place in above
            if place in own or not inside or (place != self.home and is_inside(self.home, place))
        ]

    def _named(self, rules: IgnoreList, held: _Held, whose: str) -> Why | None:
        if not rules:
            return None
        if rules.projects and self._of_projects(rules.projects, held):
            return Why("ignored", f"by ignore.projects of {whose}")
        found = _by_path(rules, held.paths(), whose)
        if found is not None:
            return found
        words = tuple(word.casefold() for word in rules.words)
        if words and any(word in text for text in held.texts() for word in words):
            return Why("ignored", f"by ignore.words of {whose}")
        return None

    def _of_projects(self, patterns: Iterable[str], held: _Held) -> bool:
        """Whether a folder that it ran in is named, by its path or by its name."""
        above = {place for folder in (held.root, held.folder) for place in folders_of(folder)}
        names = {place.rpartition("/")[2].casefold() for place in self._below_home(held)}
        return any(
            any(fnmatchcase(place, pattern.rstrip("/")) for place in above)
            if "/" in pattern
            else any(fnmatchcase(name, pattern.casefold()) for name in names)
            for pattern in patterns
        )

    def _of_session(self, session: Session, root: str) -> _Held:
        folder = session.project or ""

        def paths() -> Iterator[str]:
            written = (name for call in session.calls for name in call.files)
            for place in (session.path, folder, *_places(written, root, folder)):
                yield place
                if place.startswith("/"):
                    yield self.real(place)

        return _Held(root, folder, paths, lambda: _said(session))


class _Held(NamedTuple):
    """What a list is compared with: looked at only where there is a list."""

    root: str
    folder: str
    paths: Callable[[], Iterator[str]]
    texts: Callable[[], Iterator[str]]
    """Case folded."""


def _of_task(task: Task) -> _Held:
    root = task.project
    folder = f"{root}/{task.folder}" if task.folder else root
    shown = task.workspace.files if isinstance(task.workspace, FilesSource) else ()
    looked_for, names = [], [file.path for file in shown]
    for check in task.checks:
        if isinstance(check, Footprint):
            looked_for += [check.wanted or "", check.unwanted or ""]
        else:
            names += check.paths

    def paths() -> Iterator[str]:
        yield folder
        yield from _places(iter(names), root, root)

    def texts() -> Iterator[str]:
        for text in (task.prompt, folder, *looked_for, *names):
            yield text.casefold()
        for file in shown:
            yield file.content.decode("utf-8", "replace").casefold()

    return _Held(root, folder, paths, texts)


def _said(session: Session) -> Iterator[str]:
    """All that was said, called and answered, and the names of folder and branch. Not the names of agents
    and models: a word of them would leave out everything."""
    for turn in session.turns:
        yield turn.text.casefold()
        for call in turn.calls:
            for text in (call.arguments, call.command, call.result, *call.files):
                yield (text or "").casefold()
    for late in session.late:
        yield late.result.casefold()
    yield (session.project or "").casefold()
    yield (session.branch or "").casefold()


def _places(names: Iterator[str], root: str, folder: str) -> Iterator[str]:
    """A file as it was written, absolute, and from the project's root."""
    for name in names:
        whole = name if name.startswith("/") else f"{folder}/{name}"
        yield name
        yield whole
        if root:
            yield whole.removeprefix(f"{root}/")


def _by_path(rules: IgnoreList, paths: Iterable[str], whose: str) -> Why | None:
    if any(path and fnmatchcase(path, pattern) for path in paths for pattern in rules.paths):
        return Why("ignored", f"by ignore.paths of {whose}")
    return None
