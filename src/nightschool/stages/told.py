"""What a harvest tells on its way and gives at its end. What gigabytes hold is not held at once.

Relieves `harvest`, which reads and stores it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

from nightschool.core.errors import NotFound
from nightschool.core.ports import Store
from nightschool.core.sessions import LeftOut, Session
from nightschool.core.values import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(Value):
    """One more file is done."""

    done: int
    """Files so far, of `total` that are known of now."""
    total: int
    source: str
    size: int
    """Bytes that were new in it; 0 where it holds several sessions, and it is not known which are whose."""
    session: Session | None
    """Whole, where it has something new. It comes again if a later file has more of it."""
    left_out: tuple[LeftOut, ...]


Progress = Callable[[Step], None]


class Told(Sequence[Session]):
    """In the order of their ids as given. `held` are those that no store has."""

    def __init__(self, ids: Sequence[str], held: Mapping[str, Session], store: Store) -> None:
        self.ids = tuple(ids)
        self._held = held
        self._store = store

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Session]:
        return map(self._read, self.ids)

    @overload
    def __getitem__(self, at: int) -> Session: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Session]: ...

    def __getitem__(self, at: int | slice) -> Session | Sequence[Session]:
        if isinstance(at, slice):
            return Told(self.ids[at], self._held, self._store)
        return self._read(self.ids[at])

    def _read(self, name: str) -> Session:
        found = self._held.get(name) or self._store.get(Session, name)
        if found is None:
            raise NotFound(f"session {name} was forgotten while it was read; read again")
        return found
