"""Numbers of cycles: one is given once a job may be booked or a report stored, so that a run that was
declined, was stopped before, or had nothing to do leaves no gap.

Relieves the cycle of it. A number is never given twice: whoever holds the lock of cycles gives it, before
anything is stored under it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from nightschool.core.ports import Store
from nightschool.core.tasks import roots_in

CYCLES = "cycles"


def next_number(store: Store) -> str:
    """The number that the next cycle would have."""
    return f"n-{store.taken(CYCLES) + 1:04d}"


def give(store: Store, number: str) -> None:
    """Give this number, where it was not given yet. The lock is held."""
    if number == next_number(store):
        store.take(CYCLES)


@contextmanager
def holding_number(store: Store, *, pool: str | None = None) -> Iterator[str]:
    """The lock of the cycle, held under the number that it would have. Another cycle may end, and have had
    that number, just before the lock is there. `pool`: what the cycle is about, for who finds it held."""
    about = ", ".join(sorted(roots_in(pool) or ())) or "all projects"
    while True:
        number = next_number(store)
        with store.hold("cycle", by=f"{number}\na run over {about}"):
            if number == next_number(store):
                yield number
                return
