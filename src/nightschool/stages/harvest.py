"""Harvest: transcripts become sessions. What was not read stays unread and is counted, never lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from nightschool.core.cursors import of_part, stamp_of
from nightschool.core.errors import UserError
from nightschool.core.forgetting import Skipped, Thing, trace_of
from nightschool.core.ports import Clock, Store, TranscriptSource, Unchanged
from nightschool.core.sessions import (
    LeftOut,
    Offset,
    ReadResult,
    Roots,
    Session,
    TranscriptRef,
    Window,
    in_text,
)
from nightschool.core.values import Record, Value
from nightschool.rules.ignoring import BAD_SETTINGS, Ignoring, Why
from nightschool.stages.told import Progress, Step, Told
from nightschool.stages.veil import Veil, unveiled

LOCK = "harvest"
AT_ONCE, MOST_AT_ONCE = 64, 16_000_000
"""Records, and bytes that they were read from, in a transaction: a file's session and cursor go together."""
_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)

Found = tuple[TranscriptSource, TranscriptRef]
Enough = Callable[[Sequence[Session]], bool]
"""Whether what is known is enough to learn from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HarvestRequest(Value):
    """What to read."""

    roots: Roots
    """Where to look. What stands in `explicit` is read whatever its age."""
    sources: tuple[str, ...] = ()
    """Names of sources; none: all there are."""
    recognise: bool = True
    """Whether an explicit file goes to the source that knows it by content; else it is taken for one of
    each of `sources`, because the person said so."""
    since: datetime | None = None
    """Only files that changed since."""
    everything: bool = False
    """No window at all."""
    max_sessions: int | None = None
    dry_run: bool = False
    """Nothing is stored and no cursor moves."""
    lookback: timedelta = timedelta(hours=72)
    lookback_limit: timedelta = timedelta(days=90)
    ignoring: Ignoring = field(default_factory=Ignoring)
    """What is left out before anything of it is stored, also of what was named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HarvestReport(Value):
    """What a harvest gave."""

    sessions: Sequence[Session]
    """Each session that has something new, whole; of files that a person named also those without. They are
    read from the store when they are asked for, one by one."""
    left_out: tuple[LeftOut, ...]
    files: int
    """Read, or tried to."""
    unchanged: int
    postponed: int
    """Changed files that are still unread: behind the cap or before the window."""
    looked_back_to: datetime | None
    """Where the window begins; None where there was none."""
    counts: tuple[tuple[str, int], ...] = ()
    """(reason, how many) of what was left out."""
    fresh: tuple[str, ...] = ()
    """Ids of the sessions that have something new."""


def enough_always(sessions: Sequence[Session]) -> bool:
    """The first window is never widened."""
    del sessions
    return True


def harvest(
    request: HarvestRequest,
    *,
    sources: Mapping[str, TranscriptSource],
    store: Store,
    clock: Clock,
    enough: Enough = enough_always,
    progress: Progress | None = None,
) -> HarvestReport:
    """Read what is new, newest files first.

    It looks back for `lookback`, and for twice as long again and again while older files wait, until there is
    `enough` in all that is known or `lookback_limit` is reached. All in the widest window ever used that is
    still unread is read, too. Each session is stored together with the cursor of its file,
    so a cursor never moves past what was not stored. Raises `Busy` while another harvest writes.
    """
    now = clock.now()
    names = request.sources or tuple(sources)
    unknown = [name for name in names if name not in sources]
    if unknown:
        raise UserError(f"no source is called {unknown[0]!r}; there are: {', '.join(sorted(sources))}")
    # Reading, too, is under the lock: two harvests at once would read the same files twice for nothing.
    with nullcontext() if request.dry_run else store.hold(LOCK):
        # What a list hides is compared with all that is stored of it, and never stored over.
        run = _Run(request, {name: sources[name] for name in names}, unveiled(store), progress)
        try:
            run.look()
            begins = run.read_windows(now, enough)
            if run.look_where_work_was_met():
                begins = run.read_windows(now, enough)
        except KeyboardInterrupt:
            run.flush()  # what was read is kept, also of a part that was not yet full
            raise
        if isinstance(store, Veil):
            store.look_again()
        return run.report(begins)


@dataclass(slots=True)
class _Run:
    request: HarvestRequest
    sources: Mapping[str, TranscriptSource]
    store: Store
    progress: Progress | None
    stamps: dict[str, str] = field(default_factory=dict)
    """By the id of each cursor what its file looked like. The cursors are read of what changed."""
    waiting: list[Found] = field(default_factory=list)
    sessions: dict[str, Session] = field(default_factory=dict)
    """Those that are not stored yet; in a dry run all."""
    told: dict[str, tuple[datetime, str]] = field(default_factory=dict)
    """All that are to be told of, with what puts them in order."""
    fresh: set[str] = field(default_factory=set)
    left_out: list[LeftOut] = field(default_factory=list)
    unstored: dict[str, Record] = field(default_factory=dict)
    size: int = 0
    """Bytes that were read since something was stored."""
    skipped: dict[str, Skipped] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    met: set[str] = field(default_factory=set)
    """Folders in which work was done, by what was read."""
    unchanged: int = 0
    files: int = 0

    def look(self) -> None:
        """What there is and has changed since it was last read, newest first."""
        self.stamps = dict(self.store.beside(Offset, "stamp"))
        for source in self.sources.values():
            self.skipped |= {known.file: known for known in self.store.find(Skipped, owner=source.name)}
        self._look(self.request.roots, tuple(self.sources.values()))

    def look_where_work_was_met(self) -> bool:
        """Whether more waits in projects that were met only now: some agents keep their sessions there."""
        roots, waited, unchanged = self.request.roots, len(self.waiting), self.unchanged
        more = replace(roots, projects=tuple(sorted(self.met - set(roots.projects))))
        if roots.explicit or not more.projects:
            return False
        # Where no folder is added nothing is listed a second time: there may be ten thousand files.
        there = [one for one in self.sources.values() if set(one.folders(more)) - set(one.folders(roots))]
        self._look(more, there)
        self.unchanged = unchanged  # all but those were counted
        return len(self.waiting) > waited

    def _look(self, roots: Roots, sources: Sequence[TranscriptSource]) -> None:
        for source, ref in self._found(roots, sources):
            if ref.id in self.seen:
                continue
            self.seen.add(ref.id)
            if self._passes_over(ref):
                continue
            if self.request.roots.explicit and not self._remembers(ref):
                # It gave no session, and who names it wants to know why: told again, of the whole file.
                self.stamps.pop(ref.id, None)
            if self.stamps.get(ref.id) == ref.stamp:
                self.unchanged += 1
            else:
                self.waiting.append((source, ref))
        self.waiting.sort(key=lambda pair: pair[1].path)
        self.waiting.sort(key=lambda pair: pair[1].mtime, reverse=True)

    def _passes_over(self, ref: TranscriptRef) -> bool:
        """Whether a file is left out unopened: by its path, or because it was, and nothing has changed."""
        rules = self.request.ignoring
        why = rules.file(in_text(ref.path), ref.id) if rules.knows_files else None
        if why is not None:
            self.left_out.append(LeftOut(path=in_text(ref.path), reason=why.reason, detail=why.detail))
            return True
        known = self.skipped.get(trace_of(Thing.FILE, ref.id)) if self.skipped else None
        if known is None:
            return False
        # It is read from its first byte again: what it holds may stand in any part of it.
        self.stamps.pop(ref.id, None)
        if (known.size, known.mtime, known.rules) != (ref.size, ref.mtime, rules.digest):
            return False
        self.left_out.append(LeftOut(path=in_text(ref.path), reason=known.reason, detail="as before"))
        return True

    def _found(self, roots: Roots, sources: Sequence[TranscriptSource]) -> Iterable[Found]:
        if not roots.explicit or not self.request.recognise:
            for source in sources:
                found = source.discover(roots, self._unchanged(source))
                yield from ((source, ref) for ref in found)
            return
        places: dict[str, dict[str, list[TranscriptRef]]] = {}
        for name, source in self.sources.items():
            for ref in source.discover(roots):
                places.setdefault(ref.path, {}).setdefault(name, []).append(ref)
        for path in sorted(places):
            refs = places[path]
            knows = (name for name, found in refs.items() if self.sources[name].recognises(found[0]))
            name = next(knows, next(iter(refs)))
            yield from ((self.sources[name], ref) for ref in refs[name])

    def _unchanged(self, source: TranscriptSource) -> Unchanged | None:
        """What tells files of a source of which nothing need be made; None where each is to be looked at."""
        if self.request.roots.explicit or self.skipped or self.request.ignoring.knows_files:
            return None
        begin, stamps, seen = of_part(source.name, ""), self.stamps, self.seen

        def unchanged(path: str, size: int, mtime: int) -> bool:
            cursor = begin + (path if path.isascii() else in_text(path))
            if seen and cursor in seen:
                return True  # looked at already, and perhaps read since
            known = stamps.get(cursor)
            same = known is not None and known == stamp_of(size, mtime)
            self.unchanged += same
            return same

        return unchanged

    def read_windows(self, now: datetime, enough: Enough) -> datetime | None:
        """Read window after window. Gives the beginning of the widest one."""
        request = self.request
        if request.roots.explicit or request.everything:
            self._read_since(dict.fromkeys(self.sources, _BEGINNING))
            if request.everything and not request.roots.explicit:
                self._note(dict.fromkeys(self.sources, _BEGINNING))
            return None
        if request.since is not None:
            begins = dict.fromkeys(self.sources, request.since)
            self._read_since(begins)
            self._note(begins)
            return request.since
        widest = {window.source: window.begins for window in self.store.find(Window)}
        begins = {name: min(now - request.lookback, widest.get(name, now)) for name in self.sources}
        self._read_since(begins)
        span = request.lookback
        while self.waiting and span < request.lookback_limit and not self._full():
            newest = max(ref.mtime for _, ref in self.waiting)
            if newest < now - request.lookback_limit or enough(self._known()):
                break
            while span < request.lookback_limit and now - span > newest:
                span = min(span * 2, request.lookback_limit)
            begins = {name: min(begin, now - span) for name, begin in begins.items()}
            self._read_since(begins)
        self._note(begins)
        return min(begins.values(), default=None)

    def _known(self) -> Sequence[Session]:
        """What is stored and what was read now."""
        return tuple({**{one.id: one for one in self.store.find(Session)}, **self.sessions}.values())

    def _full(self) -> bool:
        limit = self.request.max_sessions
        return limit is not None and len(self.fresh) >= limit

    def _note(self, begins: Mapping[str, datetime]) -> None:
        """Remember how far back a harvest looked, so that what a cap postponed is read later."""
        if self.request.dry_run:
            return
        for name, begin in begins.items():
            known = self.store.get(Window, name)
            if known is None or begin < known.begins:
                self.store.commit(Window(source=name, begins=begin))

    def _read_since(self, begins: Mapping[str, datetime]) -> None:
        inside = [pair for pair in self.waiting if pair[1].mtime >= begins[pair[0].name]]
        outside = [pair for pair in self.waiting if pair[1].mtime < begins[pair[0].name]]
        total = self.files + len(inside)
        for index, (source, ref) in enumerate(inside):
            if self._full():
                outside = inside[index:] + outside
                break
            told = len(self.left_out)
            size, session = self._read(source, ref)
            if self.progress is not None:
                self.progress(
                    Step(
                        done=self.files,
                        total=total,
                        source=source.name,
                        size=size,
                        session=session,
                        left_out=tuple(self.left_out[told:]),
                    )
                )
        self.waiting = outside
        self.flush()

    def _read(self, source: TranscriptSource, ref: TranscriptRef) -> tuple[int, Session | None]:
        """How many bytes were new in a file, and the session that has something new by it."""
        before = self.store.get(Offset, ref.id) if ref.id in self.stamps else None
        result = source.read(ref, before)
        self.files += 1
        known = 0 if before is None or result.restarted else before.size
        size = 0 if ref.part else max(0, ref.size - known)
        self.size += size
        return size, self._taken(ref, result, before)

    def _taken(self, ref: TranscriptRef, result: ReadResult, before: Offset | None) -> Session | None:
        named = bool(self.request.roots.explicit)
        # A file that vanished since the look is no one's fault; one that a person named is missed.
        self.left_out += [out for out in result.left_out if named or out.reason != "vanished"]
        session = result.session
        if session is None:
            self._keep(None, result.offset)
            return None
        known = self.sessions.get(session.id) or self.store.get(Session, session.id)
        # The whole of it: what an earlier part holds keeps the rest out too.
        whole = _joined(known, session, result)
        why = self.request.ignoring.session(whole, changed=ref.mtime)
        if why is not None:
            self._skip(ref, whole, why, stored=known is not None)
            return None
        reason = _unwanted(session)
        if reason is not None:
            self.left_out.append(_left_out(session, reason))
            self._keep(None, result.offset)
            return None
        # Without a cursor it is new to the caller, also where the session is stored: see refused logins.
        if before is None or whole != known:
            self.fresh.add(whole.id)
        elif not named:
            self._keep(None, result.offset)  # only touched: there is nothing new in it
            return None
        self.sessions[whole.id] = whole
        self.told[whole.id] = _age(whole)
        self.met |= {whole.project} if whole.project else set()
        self._keep(whole, result.offset)
        return whole if whole.id in self.fresh else None

    def _skip(self, ref: TranscriptRef, session: Session, why: Why, *, stored: bool) -> None:
        """Nothing of it is stored, not even the name of its file."""
        self.left_out.append(LeftOut(path=session.path, reason=why.reason, detail=why.detail))
        if self.request.dry_run:
            return
        self.sessions.pop(session.id, None)
        self.told.pop(session.id, None)
        self.unstored.pop(f"session {session.id}", None)
        file = trace_of(Thing.FILE, ref.id)
        self.unstored[f"skipped {file}"] = Skipped(
            source=ref.source,
            file=file,
            size=ref.size,
            mtime=ref.mtime,
            # A project's own list may change without a word to us: what it left out is read each time.
            rules=self.request.ignoring.digest if why.by_person else None,
            reason=why.reason,
            stored=session.id if stored and why.reason != BAD_SETTINGS else "",
        )

    def _keep(self, session: Session | None, offset: Offset | None) -> None:
        """Session and cursor of one file, to be stored in one transaction."""
        if offset is None or self.request.dry_run:
            return
        if session is not None:
            self.unstored[f"session {session.id}"] = session
        self.unstored[f"offset {offset.id}"] = offset
        if self.skipped and (known := self.skipped.pop(trace_of(Thing.FILE, offset.id), None)) is not None:
            self.store.remove(Skipped, known.id)
        if len(self.unstored) >= AT_ONCE or self.size >= MOST_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Store what was read."""
        if self.unstored:
            self.store.commit(*self.unstored.values())
            self.unstored.clear()
        if not self.request.dry_run:
            self.sessions.clear()
        self.size = 0

    def _remembers(self, ref: TranscriptRef) -> bool:
        """Whether the store has the session that a file gave. Of one that did not change it is told."""
        if ref.id not in self.stamps:
            return False
        cursor = self.store.get(Offset, ref.id)
        name = "" if cursor is None else cursor.session
        known = self.store.get(Session, f"{ref.source}:{name}") if name else None
        if known is not None and self.stamps[ref.id] == ref.stamp:
            self.told[known.id] = _age(known)
        return known is not None

    def report(self, begins: datetime | None) -> HarvestReport:
        ordered = sorted(self.told, key=self.told.__getitem__)
        return HarvestReport(
            sessions=Told(ordered, self.sessions, self.store) if ordered else (),
            left_out=tuple(self.left_out),
            files=self.files,
            unchanged=self.unchanged,
            postponed=len(self.waiting),
            looked_back_to=begins,
            fresh=tuple(name for name in ordered if name in self.fresh),
            counts=tuple(sorted(Counter(out.reason for out in self.left_out).items())),
        )


def _joined(known: Session | None, part: Session, result: ReadResult) -> Session:
    """With what is known of the session, from this file or from a copy of it elsewhere."""
    if known is None or (result.restarted and known.path == part.path):
        return part
    return known.extended(part)


def in_order(sessions: Iterable[Session]) -> list[Session]:
    """The oldest first."""
    return sorted(sessions, key=_age)


def _age(session: Session) -> tuple[datetime, str]:
    return session.started_at or _BEGINNING, session.id


def _unwanted(session: Session) -> str | None:
    """Why a session is left out as a whole."""
    if session.sidechain:
        return "sub-agent"
    return "own-replay" if session.ours else None


def _left_out(session: Session, reason: str) -> LeftOut:
    """That a session is left out, with what it holds."""
    return LeftOut(
        path=session.path,
        reason=reason,
        detail=f"{len(session.calls)} tool calls, {session.tool_errors} tool errors",
        human_turns=len(session.human_turns),
        tool_calls=len(session.calls),
        tool_errors=session.tool_errors,
        refusals=session.refusals,
    )
