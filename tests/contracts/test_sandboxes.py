"""Every sandbox keeps the contract of the port."""

from __future__ import annotations

from pathlib import Path

from nightschool.adapters.bubblewrap import BubblewrapSandbox
from nightschool.adapters.unsafe_process import UnsafeProcessSandbox
from nightschool.testing.conformance.sandbox import check_sandbox


def test_bubblewrap_keeps_the_contract(tmp_path: Path) -> None:
    """The real bubblewrap does what the port says; where it cannot run this fails and does not skip."""
    check_sandbox(lambda: BubblewrapSandbox(work=tmp_path))


def test_the_process_without_isolation_keeps_the_contract(tmp_path: Path) -> None:
    """What runs without isolation still keeps workspace, HOME, environment, time-out and clean end."""
    check_sandbox(lambda: UnsafeProcessSandbox(work=tmp_path))
