"""What `status` counts."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from gate_builders import task
from nightschool.adapters.sqlite_store import SqliteStore
from nightschool.adapters.system_clock import SystemClock
from nightschool.cli.app import run
from nightschool.core.harness import Scope, Target
from nightschool.core.jobs import Delivered, Finished, Reservation, Role, Usage
from nightschool.core.proposals import Release, Step
from nightschool.core.tasks import HoldoutVersion, Split, TaskAct, TaskMark
from nightschool.core.trials import AlphaEntry
from nightschool.core.values import digest_of
from nightschool.rules.betting import alpha_share
from publish_builders import BEFORE, MODE, adopted, propose, undone

Ask = Callable[..., Any]
NOW = SystemClock().now()


def store(home: Path) -> SqliteStore:
    return SqliteStore.open(home / "school")


def test_status_of_nothing(home: Path, ask: Ask, capsys: pytest.CaptureFixture[str]) -> None:
    """Where nothing happened yet, status says so and what to type."""
    told = ask("status")
    assert (told["last_cycle"], told["proposals"], told["unsettled"], told["interrupted"]) == (
        None,
        [],
        [],
        [],
    )
    assert run(["status"]) == 0
    assert "next: nightschool corrections" in capsys.readouterr().out


def test_status_counts_what_was_used_and_left(home: Path, ask: Ask) -> None:
    """This month's jobs, the alpha that was spent, jobs without an end and releases without one."""
    version = HoldoutVersion(pool="", number=1, tasks=("t-1", "t-2"))
    entries = [
        AlphaEntry(holdout=version.id, k=k, wealth=digest_of(k), draft="d-1", alpha=0.1, margin=0.15, at=NOW)
        for k in (1, 2)
    ]
    jobs = [
        a_job("a", NOW, Usage(tokens=5, cost=Decimal("0.25"))),
        a_job("b", NOW, Usage()),
        a_job("c", LONG_AGO, Usage(tokens=9)),
    ]
    booked = [
        Reservation(key=digest_of(key), attempt=at, cycle="n-1", at=NOW, tokens=1, cost=Decimal(1))
        for at, key in enumerate(("a", "nobody finished"))
    ]
    releases = [
        a_release("r-0001", Step.INTENDED),
        a_release("r-0001", Step.DONE),
        a_release("r-0002", Step.INTENDED),
    ]
    store(home).commit(version, *entries, *jobs, *booked, *releases)
    told = ask("status")
    (holdout,) = told["holdouts"]
    assert (holdout["tasks"], holdout["drafts"]) == (2, 2)
    assert holdout["alpha_spent"] == pytest.approx(alpha_share(0.1, 1) + alpha_share(0.1, 2))
    month = told["this_month"]
    assert (month["jobs"], month["tokens"], month["cost"]) == (2, 5, 0.25)
    assert (month["unknown_tokens"], month["unknown_cost"]) == (1, 1)
    assert len(told["unsettled"]) == 1
    assert [row["release"] for row in told["interrupted"]] == ["r-0002"]


def test_held_out_tasks_that_are_in_no_exam_yet_are_counted(
    home: Path, ask: Ask, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those that came since, and those that were forgotten and let in again, wait for the next exam, which
    begins by their number: of the newest exam of a project alone, without what the person took out."""
    made = [task(name) for name in "abcd"]
    pool = made[0].project
    first = HoldoutVersion(pool=pool, number=1, tasks=(made[0].id,))
    second = HoldoutVersion(pool=pool, number=2, tasks=(made[0].id, made[1].id))
    train = task("train", split=Split.TRAIN)
    withheld = TaskMark(task=made[3].id, act=TaskAct.WITHHOLD, actor="sam", reason="gone", at=NOW)
    store(home).commit(first, second, *made, train, withheld)
    rows = ask("status")["holdouts"]
    assert [(row["tasks"], row["waiting_tasks"]) for row in rows] == [(1, 0), (2, 1)]
    assert run(["status"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "1 of 10" in told
    assert "let in again too" in told
    store(home).commit(HoldoutVersion(pool=pool, number=3, tasks=(made[0].id, made[1].id, made[2].id)))
    assert run(["status"]) == 0
    assert "let in again" not in capsys.readouterr().out


LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


def a_job(key: str, at: datetime, usage: Usage) -> Finished:
    return Finished(
        key=digest_of(key),
        cycle="n-1",
        role=Role.ATTEMPT,
        agent="codex",
        started_at=at,
        ended_at=at,
        outcome=Delivered(reply="done", usage=usage),
    )


def a_release(number: str, step: Step) -> Release:
    return Release(
        number=number,
        step=step,
        draft=digest_of("draft"),
        draft_id="d-1",
        target=Target(agent="codex", scope=Scope.PROJECT, place="project/AGENTS.md", project="/p"),
        path="/p/AGENTS.md",
        before=None,
        before_mode=None,
        after=None,
        after_mode=None,
        actor="sam",
        at=NOW,
    )


def test_status_tells_what_each_project_has_learned(
    home: Path, ask: Ask, capsys: pytest.CaptureFixture[str]
) -> None:
    """Edits that stand in a file, by project; one that was taken back is not learned any more."""
    with closing(store(home)) as opened:
        draft = propose(opened)
        path = home / "CLAUDE.md"
        path.write_bytes(BEFORE)
        path.chmod(MODE)
        adopted(opened, draft, path)
    (row,) = ask("status")["projects"]
    assert (row["project"], row["waiting"]) == ("/p", 0)
    assert [(one["id"], one["statement"]) for one in row["learned"]] == [(draft.id, "use pnpm, not npm")]
    with closing(store(home)) as opened:
        undone(opened, draft.id)
    (row,) = ask("status")["projects"]
    assert row["learned"] == []
    assert run(["status"]) == 0
    assert "nothing yet" in capsys.readouterr().out
