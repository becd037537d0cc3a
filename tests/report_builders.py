"""A report of a cycle, for tests that need one: `replace` what the test is about."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from nightschool.core.cycles import Budget, CycleReport, Learned, Spend

NOW = datetime(2026, 3, 1, tzinfo=UTC)
PNPM = Learned(candidate="k-1", statement="use pnpm", sessions=4, code="undecided", why="so far", draft="d-1")
REPORT = CycleReport(
    cycle="n-1",
    started_at=NOW,
    ended_at=NOW + timedelta(minutes=3),
    project="/p",
    runner="codex",
    runner_version="1",
    model=None,
    sandbox="bubblewrap",
    mode="certify",
    sessions_read=7,
    sessions_known=9,
    human_turns=20,
    left_out=(),
    postponed=0,
    corrections=5,
    candidates=1,
    tasks_train=2,
    tasks_holdout=4,
    skipped=(),
    learned=(PNPM,),
    spend=Spend(jobs=8, tokens=10, cost=Decimal("0.5")),
    budget=Budget(),
    trials=6,
)
