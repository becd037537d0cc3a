"""The cycles so far, and what changed between two."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from job_builders import task_of
from nightschool.adapters.sqlite_store import SqliteStore
from nightschool.cli import diff
from nightschool.cli.app import run
from nightschool.cli.run import told
from nightschool.core.cycles import CycleReport
from nightschool.core.jobs import Delivered, Finished, LostTry, Reason, Reservation, Role, Usage
from nightschool.core.trials import Arm
from nightschool.core.values import digest_of
from nightschool.rules.bare import use_alone
from nightschool.rules.compared import Changed
from report_builders import PNPM, REPORT

Ask = Callable[..., Any]
NOW = datetime(2026, 3, 2, tzinfo=UTC)


OTHER = "/usr"
"""Another project's root: a folder that is there wherever this runs."""


def cycle(number: int, project: str, **changed: Any) -> CycleReport:
    made = replace(
        REPORT,
        cycle=f"n-{number:04d}",
        project=project,
        started_at=NOW,
        ended_at=NOW + timedelta(minutes=3),
        spend=replace(REPORT.spend, unknown_cost=1),
    )
    return replace(made, **changed)


@pytest.fixture
def here(home: Path) -> str:
    """Two cycles of this folder, one over all projects between them, one of another project."""
    store = SqliteStore.open(home / "school")
    store.commit(
        cycle(1, str(home)),
        cycle(2, ""),
        # Of an earlier time, by a clock that was set back.
        cycle(3, str(home), started_at=NOW - timedelta(days=9), learned=(replace(PNPM, code="accept"),)),
        cycle(4, OTHER, learned=()),
    )
    store.close()
    return str(home)


def test_the_newest_stands_first(here: str, ask: Ask) -> None:
    """By the order of writing, with those over all projects; others only when asked for."""
    assert [one["cycle"] for one in ask("history")["cycles"]] == ["n-0003", "n-0002", "n-0001"]
    assert ask("history", "--all-projects")["cycles"][0]["cycle"] == "n-0004"
    assert [one["cycle"] for one in ask("history", "--project", OTHER)["cycles"]] == ["n-0004", "n-0002"]


def test_a_line_tells_the_whole_cycle(here: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One line each: when, what was read, what each candidate came to, what is known of the cost."""
    assert run(["history"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("n-0001")]
    for part in ("2026-03-02 00:00", "7 sessions", "use pnpm: not decided yet", "8 jobs, $0.50 and unknown"):
        assert part in line


def test_no_cycle_is_told_with_the_way_on(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before the first cycle the next step is a run; where others have some, their history."""
    assert run(["history"]) == 0
    assert "next: nightschool run" in capsys.readouterr().out
    assert not (home / "school").exists()
    with_other = SqliteStore.open(home / "school")
    with_other.commit(cycle(1, "/other project"))
    with_other.close()
    assert run(["history"]) == 0
    assert "next: nightschool history --project '/other project'" in capsys.readouterr().out


def test_diff_takes_the_last_two_of_the_project(here: str, ask: Ask) -> None:
    """Without names it is the last two that concern this project, the older first."""
    told = ask("diff")
    assert (told["before"], told["after"]) == ("n-0002", "n-0003")
    (course,) = told["candidates"]
    assert (course["change"], course["before"]["code"], course["after"]["code"]) == (
        "changed",
        "undecided",
        "accept",
    )


def test_diff_of_two_that_are_named(here: str, ask: Ask, capsys: pytest.CaptureFixture[str]) -> None:
    """In the order in which they are named; another project is said to be one."""
    told = ask("diff", "n-0004", "n-0001")
    assert told["conditions"] == [{"what": "project", "before": OTHER, "after": here}]
    assert {one["name"]: one["by"] for one in told["figures"]}["dollars"] is None
    assert run(["diff", "n-0004", "n-0001"]) == 0
    shown = capsys.readouterr().out
    assert "Scores of other conditions say little about each other." in shown
    assert "new" in shown


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["n-0001"], "two cycles"),
        (["n-0001", "n-9"], "no report of a cycle 'n-9'; the newest are n-0004, n-0003"),
        (["--project", "/etc"], "fewer than 2 cycles of /etc"),
        (["--project", "/nowhere"], "/nowhere is no folder"),
    ],
)
def test_a_cycle_that_is_not_there(here: str, ask: Ask, arguments: list[str], told: str) -> None:
    """Wrong use, with what there is; never a similar one in its place."""
    assert told in ask("diff", *arguments, code=2)["error"]["text"]


def test_nothing_changed_is_said(here: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A cycle beside itself has no row of figures."""
    assert run(["diff", "n-0004", "n-0004"]) == 0
    shown = capsys.readouterr().out
    assert "FIGURE" in shown, "an unknown sum is never said to be the same"
    assert "sessions with something new" not in shown


def test_a_run_leads_to_what_is_certified_first() -> None:
    """Of what it came to, `next` names a proposal that the gate accepted before one that it did not."""
    learned = (PNPM, replace(PNPM, code="accept", draft="d-2"))
    assert (
        told(cycle(1, "/p", learned=learned), lambda target: Path(target.place))[-1]
        == "next: nightschool show d-2 --diff"
    )


def booked(number: int, cycle: str, key: str) -> Reservation:
    return Reservation(
        key=digest_of(key), attempt=number, cycle=cycle, at=NOW, tokens=60_000, cost=Decimal("0.25")
    )


def ended(cycle: str, key: str, *, task: str | None = None, arm: Arm | None = None) -> Finished:
    usage = Usage(tokens=7, cost=Decimal("0.10"))
    outcome = Delivered(reply="done", usage=usage)
    return Finished(
        key=digest_of(key),
        cycle=cycle,
        role=Role.ATTEMPT,
        agent="codex",
        started_at=NOW,
        ended_at=NOW,
        outcome=outcome,
        task=task,
        arm=arm,
    )


@pytest.fixture
def cut_off(home: Path) -> str:
    """A run that was killed, a calibration, a run with a report, and the newest without one."""
    task = replace(task_of("a"), project=str(home))
    other = replace(task_of("b"), project="/other")
    lost = LostTry(
        key=digest_of("lost"),
        attempt=3,
        cycle="n-0001",
        reason=Reason.CANCELLED,
        message="stopped",
        usage=Usage(),
    )
    store = SqliteStore.open(home / "school")
    store.commit(
        task,
        other,
        *(booked(at, "n-0001", key) for at, key in enumerate(("a", "b", "never", "lost"))),
        ended("n-0001", "a", task=task.id),
        ended("n-0001", "b", task=task.id),
        lost,
        booked(4, "n-0002", "c"),
        ended("n-0002", "c", task=other.id, arm=Arm.FIRST),
        booked(5, "n-0003", "d"),
        cycle(3, str(home)),
        booked(6, "n-0004", "e"),
    )
    store.close()
    return str(home)


def test_a_cycle_without_a_report_has_its_row(
    cut_off: str, ask: Ask, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a killed run used is told where it ran, with what is unknown of it; a calibration is called one,
    and what no project is known of is counted in each and listed with all."""
    here = ask("history")
    assert [one["cycle"] for one in here["without_report"]] == ["n-0001"]
    assert here["of_no_known_project"] == 1
    assert run(["history"]) == 0
    assert capsys.readouterr().out.startswith(
        "1 more cycle, broken off or forgotten, of which no project is known"
    )
    assert [one["cycle"] for one in here["cycles"]] == ["n-0003"]
    now, _, broken = ask("history", "--all-projects")["without_report"]
    assert (now["cycle"], now["over"], now["projects"], now["unsettled"]) == ("n-0004", True, [], 1)
    assert (broken["cycle"], broken["over"], broken["projects"]) == ("n-0001", True, [cut_off])
    assert (broken["jobs"], broken["finished"], broken["lost"], broken["unsettled"]) == (4, 2, 1, 1)
    assert (broken["tokens"], broken["cost"], broken["unknown_cost"]) == (14, 0.2, 1)
    assert run(["history", "--all-projects"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line[:6] for line in lines[1:5]] == ["n-0004", "n-0003", "n-0002", "n-0001"]
    assert "broken off" in lines[1]
    assert " a calibration " in lines[3]
    assert "broken off" not in lines[3]
    for part in ("2026-03-02 00:00", "broken off, 1 job without an end", "4 jobs, $0.20 and unknown"):
        assert part in lines[4]
    assert lines[5].startswith("next: nightschool report n-0003")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "n-0001",
            ("broken off", "began 2026-03-02 00:00 UTC", "4 jobs", "2 finished, 1 lost", "`nightschool run`"),
        ),
        ("n-0002", ("calibration", "1 job, $0.10", "`nightschool gate calibrate`")),
    ],
)
def test_a_report_that_was_never_written_is_said_to_be(
    cut_off: str, ask: Ask, name: str, told: tuple[str, ...]
) -> None:
    """A cycle that started jobs is not denied: what is known of it is told."""
    text = ask("report", name, code=2)["error"]["text"]
    for part in (f"cycle {name} has no report", *told):
        assert part in text


def test_a_forgotten_report_is_no_broken_cycle(home: Path, ask: Ask) -> None:
    """Where all answers were forgotten the report may have gone with them: that is said too."""
    store = SqliteStore.open(home / "school")
    job = ended("n-0001", "a")
    store.commit(
        booked(0, "n-0001", "a"), replace(job, outcome=use_alone(job.outcome)), booked(1, "n-0002", "b")
    )
    store.close()
    newest, oldest = ask("history", "--all-projects")["without_report"]
    assert oldest["told"] == "broken off, or its report was forgotten"
    assert newest["told"] == "broken off, 1 job without an end"


def test_what_runs_now_is_known_by_its_lock(
    cut_off: str, ask: Ask, capsys: pytest.CaptureFixture[str]
) -> None:
    """The cycle whose process holds the lock runs; one that began jobs later does not, were it the newest.
    Looking takes the lock from nobody, and with its process the cycle is broken off."""
    home = Path(cut_off)
    with closing(SqliteStore.open(home / "school")) as store, store.hold("cycle", by="n-0004"):
        now, broken = ask("history")["without_report"]
        assert (now["cycle"], now["over"], now["told"]) == (
            "n-0004",
            False,
            "running now, 1 job without an end",
        )
        assert broken["over"]
        assert [row["running"] for row in ask("status")["unsettled"]].count(True) == 1
        assert run(["status"]) == 0
        assert "1 job at work now" in capsys.readouterr().out
    with closing(SqliteStore.open(home / "school")) as store, store.hold("cycle", by="n-0005"):
        found = ask("history", "--all-projects")["without_report"]
        assert [one["over"] for one in found] == [True, True, True]
    assert not any(row["running"] for row in ask("status")["unsettled"])


def test_what_cycles_cost_is_compared_to_the_cent() -> None:
    """The difference is that of the figures beside it, with its sign, and no rest of a sum of fractions."""
    more = Changed(name="dollars", before=Decimal("7.67937000000000002"), after=Decimal("7.874475"))
    assert diff._figure(more) == ("dollars", "$7.68", "$7.87", "+$0.19")
    less = Changed(
        name="dollars", before=Decimal("0.98293499999999999"), after=Decimal("0.59617499999999999")
    )
    assert diff._figure(less) == ("dollars", "$0.98", "$0.60", "-$0.38")
    assert diff._figure(Changed(name="tokens", before=None, after=1_527_838))[2:] == ("1,527,838", None)
