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

from nightschool.core.forgetting import IgnoreList, Thing, trace_of
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
    """The rules as they hold now. A project's own list speaks of its own sessions alone, wherever a harvest
    is started: it comes with a clone, and may neither hide nor reveal what is another's."""

    own: IgnoreList = NOTHING
    of_project: Callable[[str], IgnoreList | str] = lambda _: NOTHING
    """By the project's root, or a folder below it; a text says what is wrong with its file."""
    root: Callable[[str], str] = str
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
        return _by_path(self.own, (path,), "your list")

    def session(self, session: Session, *, changed: datetime | None = None) -> Why | None:
        """`changed`: when its file did, for a session that tells no time."""
        if self.forgotten and trace_of(Thing.SESSION, session.id) in self.forgotten:
            return Why("forgotten", "")
        root = "" if session.project is None else self.root(session.project)
        if root and self.forgotten and trace_of(Thing.PROJECT, root) in self.forgotten:
            return Why("forgotten", "with its project")
        last = session.ended_at or session.started_at or changed
        if self.oldest is not None and last is not None and last < self.oldest:
            return Why("too-old", f"retention_days is {self.days}")
        return self._listed(_of_session(session, root))

    def task(self, task: Task) -> Why | None:
        """One that a person brought in a file. It has no age: it is kept until the person says otherwise."""
        return self._listed(_of_task(task))

    def _listed(self, held: _Held) -> Why | None:
        root = held.root
        found = _named(self.own, held, "your list")
        if found is not None or not root:
            return found
        for place in _down(root, held.folder):
            theirs = self.of_project(place)
            if isinstance(theirs, str):
                return Why(BAD_SETTINGS, theirs, by_person=False)
            found = _named(theirs, held, "its project's list")
            if found is not None:
                return found._replace(by_person=False)
        return None


def _down(root: str, folder: str) -> Iterator[str]:
    """The project's root, and the folders on the way to one below it: each may have a list."""
    yield root
    place = root
    below = folder.removeprefix(f"{root}/") if folder.startswith(f"{root}/") else ""
    for part in below.split("/") if below else ():
        place = f"{place}/{part}"
        yield place


class _Held(NamedTuple):
    """What a list is compared with: looked at only where there is a list."""

    root: str
    folder: str
    paths: Callable[[], Iterator[str]]
    texts: Callable[[], Iterator[str]]
    """Case folded."""


def _of_session(session: Session, root: str) -> _Held:
    folder = session.project or ""

    def paths() -> Iterator[str]:
        yield from (session.path, folder)
        yield from _places((name for call in session.calls for name in call.files), root, folder)

    return _Held(root, folder, paths, lambda: _said(session))


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


def _named(rules: IgnoreList, held: _Held, whose: str) -> Why | None:
    if not rules:
        return None
    if held.root and any(_is_project(pattern, held.root, held.folder) for pattern in rules.projects):
        return Why("ignored", f"by ignore.projects of {whose}")
    found = _by_path(rules, held.paths(), whose)
    if found is not None:
        return found
    words = tuple(word.casefold() for word in rules.words)
    if words and any(word in text for text in held.texts() for word in words):
        return Why("ignored", f"by ignore.words of {whose}")
    return None


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


def _is_project(pattern: str, root: str, folder: str) -> bool:
    if "/" not in pattern:
        return fnmatchcase(root.rpartition("/")[2].casefold(), pattern.casefold())
    below = pattern.rstrip("/") + "/*"
    return any(fnmatchcase(place, one) for place in (root, folder) for one in (pattern.rstrip("/"), below))


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
