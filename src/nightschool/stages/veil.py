"""The store as the ignore lists let it be seen: what they name is not there, and lies in it unchanged.

Relieves everything that reads the store of asking. It shows what would be left if the named sessions were
forgotten, by the rules of forgetting, and forgets nothing: a list hides, a word of the person destroys.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import TypeVar

from nightschool.core.cycles import CycleReport
from nightschool.core.jobs import LostTry
from nightschool.core.ports import Store
from nightschool.core.proposals import Draft, RefusedEdit, Release, Review, SafetyReport, Verdict
from nightschool.core.sessions import Session
from nightschool.core.tasks import Candidate, Correction, HoldoutVersion, Moment, Task, TaskMark
from nightschool.core.trials import Trial
from nightschool.core.values import Digest, Record
from nightschool.rules.forgetting import Plan

R = TypeVar("R", bound=Record)
WITH_WORDS: frozenset[type[Record]] = frozenset(
    {
        Session,
        Correction,
        Candidate,
        Task,
        TaskMark,
        HoldoutVersion,
        Draft,
        RefusedEdit,
        SafetyReport,
        Verdict,
        Review,
        Release,
        CycleReport,
        Trial,
        LostTry,
    }
)
"""Kinds that are shown or used. The ledger, cursors and answers by their keys are what they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hidden:
    """What is not to be seen now."""

    sessions: frozenset[str]
    """Ids, of tasks too that a person brought."""
    plan: Plan


@dataclass(slots=True)
class Veil:
    """A `Store` over another one, `whole`."""

    whole: Store
    look: Callable[[Sequence[Session] | None], Hidden | None]
    """What is hidden; given all sessions where they are at hand, since a cheap look does for the rest."""
    _looked: set[bool] = field(default_factory=set)
    _hidden: Hidden | None = None
    _in_place: dict[tuple[type[Record], str], Record | None] = field(default_factory=dict)

    def look_again(self) -> None:
        """After more was read."""
        self._looked.clear()

    def hidden(self, sessions: Sequence[Session] | None = None) -> Hidden | None:
        whole = sessions is not None
        if not self._looked & {True, whole}:
            self._hidden = self.look(sessions)
            self._looked.add(whole or self._hidden is not None)
            self._in_place = {} if self._hidden is None else dict(_in_place(self._hidden.plan))
        return self._hidden

    def get(self, kind: type[R], record_id: str) -> R | None:
        found = self.whole.get(kind, record_id)
        hides = found is not None and self._hides(kind)
        return self._seen(kind, found) if found is not None and hides else found

    def find(self, kind: type[R], owner: str | None = None) -> Sequence[R]:
        found = self.whole.find(kind, owner)
        if not found or not self._hides(kind, found if owner is None else ()):
            return found
        return tuple(seen for record in found if (seen := self._seen(kind, record)) is not None)

    def owners(self, kind: type[Record]) -> Sequence[str]:
        if not self._hides(kind):
            return self.whole.owners(kind)
        return tuple(sorted({record.owner for record in self.find(kind)}))

    def beside(self, kind: type[Record], name: str) -> Mapping[str, str]:
        found = self.whole.beside(kind, name)
        if not self._hides(kind):
            return found
        seen = {record.id for record in self.find(kind)}
        return {one: text for one, text in found.items() if one in seen}

    def _hides(self, kind: type[Record], found: Sequence[Record] = ()) -> bool:
        """Whether anything of a kind may be hidden. `found`: all of that kind, where they are at hand."""
        if kind not in WITH_WORDS:
            return False
        if kind is not Session or True in self._looked:
            return self.hidden() is not None
        known = [record for record in found if isinstance(record, Session)]
        return self.hidden(known or self.whole.find(Session)) is not None

    def _seen(self, kind: type[R], record: R) -> R | None:
        seen = self._in_place.get((kind, record.id), record)
        if isinstance(seen, Trial) and isinstance(record, Trial):
            seen = replace(seen, job=record.job)  # its job has its own name: nothing was forgotten
        return seen if seen is None or isinstance(seen, kind) else record

    def commit(self, *records: Record) -> None:
        self.whole.commit(*(self._with_what_is_hidden(record) for record in records))

    def _with_what_is_hidden(self, record: Record) -> Record:
        """What is made anew of what is seen does not take the place of the whole."""
        if not isinstance(record, Correction | Candidate) or self.hidden() is None:
            return record
        before = self.whole.get(type(record), record.id)
        if before is None or (type(record), record.id) not in self._in_place:
            return record
        if isinstance(record, Correction) and isinstance(before, Correction):
            return replace(
                record,
                moments=_joined(before.moments, record.moments, self._is_hidden),
                projects=tuple(sorted({*record.projects, *before.projects})),
                sources=tuple(sorted({*record.sources, *before.sources})),
            )
        if isinstance(record, Candidate) and isinstance(before, Candidate):
            sessions = (*(name for name in before.sessions if self._is_hidden(name)), *record.sessions)
            return replace(
                record,
                evidence=_joined(before.evidence, record.evidence, self._is_hidden),
                sessions=tuple(dict.fromkeys(sessions)),
            )
        return record

    def _is_hidden(self, session: str) -> bool:
        return self._hidden is not None and session in self._hidden.sessions

    def remove(self, kind: type[Record], record_id: str) -> None:
        if kind in WITH_WORDS and self.hidden() and (kind, record_id) in self._in_place:
            return  # what is hidden of it stays
        self.whole.remove(kind, record_id)

    def put_blob(self, content: bytes) -> Digest:
        return self.whole.put_blob(content)

    def blob(self, digest: Digest) -> bytes:
        return self.whole.blob(digest)

    def take(self, counter: str, count: int = 1) -> int:
        return self.whole.take(counter, count)

    def taken(self, counter: str) -> int:
        return self.whole.taken(counter)

    def forget(self, removed: Sequence[Record], kept: Sequence[Record]) -> None:
        self.whole.forget(removed, kept)
        self.look_again()

    def purge(self, blobs: Collection[Digest]) -> int:
        return self.whole.purge(blobs)

    def hold(self, lock: str, *, by: str = "") -> AbstractContextManager[None]:
        return self.whole.hold(lock, by=by)

    def holder(self, lock: str) -> str | None:
        return self.whole.holder(lock)


def unveiled(store: Store) -> Store:
    """All that is stored, for who reads transcripts into it, and who forgets."""
    return store.whole if isinstance(store, Veil) else store


def _in_place(plan: Plan) -> list[tuple[tuple[type[Record], str], Record | None]]:
    gone: list[tuple[tuple[type[Record], str], Record | None]]
    gone = [((type(record), record.id), None) for record in plan.removed]
    return [*gone, *(((type(record), record.id), record) for record in plan.kept)]


def _joined(
    before: tuple[Moment, ...], now: tuple[Moment, ...], is_hidden: Callable[[str], bool]
) -> tuple[Moment, ...]:
    hidden = (moment for moment in before if is_hidden(moment.session))
    return tuple(dict.fromkeys((*now, *hidden)))
