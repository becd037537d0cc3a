"""What is unread again where an agent turns out not to be logged in. Relieves `harvest`, which reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from nightschool.core.errors import AuthenticationFailed
from nightschool.core.ports import Store
from nightschool.core.sessions import Offset, Window

Cursor = TypeVar("Cursor", Offset, Window)


@contextmanager
def cursors_kept(store: Store) -> Iterator[None]:
    """Gives the cursors back as they were if the login turns out to be refused: then nothing was learned
    from what was read, and the next run has to see it again."""
    offsets, windows = store.find(Offset), store.find(Window)
    try:
        yield
    except AuthenticationFailed:
        _restore(store, Offset, offsets)
        _restore(store, Window, windows)
        raise


def _restore(store: Store, kind: type[Cursor], before: Sequence[Cursor]) -> None:
    known = {record.id for record in before}
    for record in store.find(kind):
        if record.id not in known:
            store.remove(kind, record.id)
    store.commit(*before)
