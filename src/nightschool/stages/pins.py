"""Pinned files: what a person wants left as it is. Never proposed for, never adopted into."""

from __future__ import annotations

import shlex
from pathlib import Path

from nightschool.core.pins import Pin
from nightschool.core.ports import Clock, LiveFiles, Redact, Store
from nightschool.stages.releases import LOCK


def pinned(store: Store, path: Path) -> Pin | None:
    """The pin of a file, by its real path; None where it has none, or was unpinned since."""
    said = store.find(Pin, owner=str(path))
    return said[-1] if said and said[-1].holds else None


def pins(store: Store) -> tuple[Pin, ...]:
    """All pins that hold, by path."""
    newest = {pin.path: pin for pin in store.find(Pin)}
    return tuple(newest[path] for path in sorted(newest) if newest[path].holds)


def pinned_text(pin: Pin) -> str:
    """Why nothing is written into the file, and the way out."""
    why = f" ({pin.reason})" if pin.reason else ""
    return f"{pin.path} is pinned{why}; `nightschool unpin {shlex.quote(pin.path)}` lets it be changed again"


def pin(
    path: Path,
    *,
    store: Store,
    live: LiveFiles,
    clock: Clock,
    redact: Redact,
    actor: str,
    reason: str = "",
) -> Pin:
    """Pin a file, there or not. Pinned for the same reason already: that pin is given, nothing is written."""
    with store.hold(LOCK):
        real = live.read(path).path
        reason = redact(reason.strip())
        known = pinned(store, real)
        if known is not None and known.reason == reason:
            return known
        return _say(real, store, clock, actor, reason, holds=True)


def unpin(path: Path, *, store: Store, live: LiveFiles, clock: Clock, actor: str) -> Pin | None:
    """Let a file be changed again. None where it was not pinned: nothing is written."""
    with store.hold(LOCK):
        real = live.read(path).path
        if pinned(store, real) is None:
            return None
        return _say(real, store, clock, actor, "", holds=False)


def _say(path: Path, store: Store, clock: Clock, actor: str, reason: str, *, holds: bool) -> Pin:
    said = Pin(
        number=f"p-{store.take('pins'):04d}",
        path=str(path),
        holds=holds,
        actor=actor,
        reason=reason,
        at=clock.now(),
    )
    store.commit(said)
    return said
