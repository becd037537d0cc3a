"""A store that lives as long as its process: for tests, and for commands that store nothing."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

from nightschool.core.errors import Busy, Conflict, NotFound
from nightschool.core.ports import R
from nightschool.core.values import Digest, Record, digest_bytes

Key = tuple[type[Record], str]


class MemoryStore:
    """The `Store` port in memory. Threads may share it; two "processes" share one object."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._records: dict[Key, Record] = {}
        self._blobs: dict[Digest, bytes] = {}
        self._counters: dict[str, int] = {}
        self._held: dict[str, str] = {}

    def commit(self, *records: Record) -> None:
        with self._guard:
            # Dictionaries keep the place of a replaced key, so `find` stays in order of first writing.
            staged = dict(self._records)
            for record in records:
                key = (type(record), record.id)
                known = staged.get(key)
                if known is not None and known != record and not record.GROWS:
                    raise Conflict(
                        f"{type(record).__name__} {record.id} is stored with another content; "
                        "nothing was written"
                    )
                staged[key] = record
            self._records = staged

    def get(self, kind: type[R], record_id: str) -> R | None:
        with self._guard:
            found = self._records.get((kind, record_id))
        return found if isinstance(found, kind) else None

    def find(self, kind: type[R], owner: str | None = None) -> Sequence[R]:
        with self._guard:
            records = tuple(self._records.values())
        return tuple(
            record
            for record in records
            if type(record) is kind and isinstance(record, kind) and owner in {None, record.owner}
        )

    def owners(self, kind: type[Record]) -> Sequence[str]:
        with self._guard:
            return tuple(sorted({record.owner for record in self._records.values() if type(record) is kind}))

    def beside(self, kind: type[Record], name: str) -> Mapping[str, str]:
        with self._guard:
            return {one.id: getattr(one, name) for one in self._records.values() if type(one) is kind}

    def remove(self, kind: type[Record], record_id: str) -> None:
        if not kind.GROWS:
            raise TypeError(f"a {kind.__name__} is never removed")
        with self._guard:
            self._records.pop((kind, record_id), None)

    def forget(self, removed: Sequence[Record], kept: Sequence[Record]) -> None:
        with self._guard:
            staged = dict(self._records)
            for record in removed:
                staged.pop((type(record), record.id), None)
            for record in kept:
                staged[type(record), record.id] = record
            self._records = staged

    def purge(self, blobs: Collection[Digest]) -> int:
        with self._guard:
            gone = self._blobs.keys() - set(blobs)
            for digest in gone:
                del self._blobs[digest]
        return len(gone)

    def put_blob(self, content: bytes) -> Digest:
        digest = digest_bytes(content)
        with self._guard:
            self._blobs[digest] = content
        return digest

    def blob(self, digest: Digest) -> bytes:
        with self._guard:
            if digest not in self._blobs:
                raise NotFound(f"no blob {digest}")
            return self._blobs[digest]

    def take(self, counter: str, count: int = 1) -> int:
        if count < 1:
            raise ValueError(f"cannot take {count} numbers of {counter}")
        with self._guard:
            first = self._counters.get(counter, 0) + 1
            self._counters[counter] = first + count - 1
        return first

    def taken(self, counter: str) -> int:
        with self._guard:
            return self._counters.get(counter, 0)

    @contextmanager
    def hold(self, lock: str, *, by: str = "") -> Iterator[None]:
        with self._guard:
            if lock in self._held:
                raise Busy(f"the lock {lock!r} is held by this process")
            self._held[lock] = by.partition("\n")[0]
        try:
            yield
        finally:
            with self._guard:
                del self._held[lock]

    def holder(self, lock: str) -> str | None:
        return self._held.get(lock)
