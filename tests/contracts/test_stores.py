"""Every store keeps the contract of the port."""

from __future__ import annotations

from pathlib import Path

from nightschool.adapters.sqlite_store import SqliteStore
from nightschool.testing.conformance.store import check_store
from nightschool.testing.memory_store import MemoryStore


def test_the_store_in_memory_keeps_the_contract() -> None:
    """The in-memory store that tests rest on behaves as the port says."""
    store = MemoryStore()
    check_store(lambda: store)


def test_the_sqlite_store_keeps_the_contract(tmp_path: Path) -> None:
    """The SQLite store, opened twice on one home, behaves as the port says."""
    check_store(lambda: SqliteStore.open(tmp_path / "home"))
