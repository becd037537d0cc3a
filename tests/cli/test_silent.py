"""Tasks that tell an exam nothing are told everywhere that shows it, and leave it only by a person's word."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cycle_builders import Place, QuickRunner, cycle_in, run_cycle
from nightschool.cli import app
from nightschool.core.proposals import Verdict, VerdictKind
from nightschool.core.trials import AlphaEntry, Pair, Partition
from nightschool.rules.silent import SILENT_AFTER


def test_a_silent_task_is_told_with_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the report, `show`, `explain` and `tasks`, with what it costs; the running exam keeps it. Once taken
    out it is told no more, and the next exam is another one with a k of its own."""
    place = Place.made(tmp_path)
    monkeypatch.setenv("HOME", str(place.person))
    monkeypatch.setenv("NIGHTSCHOOL_HOME", str(place.ours))
    monkeypatch.chdir(place.project)
    draft = run_cycle(place, runner=QuickRunner(), jobs=25).learned[0].draft
    assert draft is not None
    with cycle_in(place) as (parts, _):
        verdict = next(one for one in parts.store.find(Verdict) if one.kind is VerdictKind.UNDECIDED)
        assert verdict.wealth_key is not None
        parted = parts.store.get(Partition, verdict.wealth_key)
        assert parted is not None
        tried = {pair.task for pair in parts.store.find(Pair, verdict.wealth_key)}
        task = next(name for name in parted.targets if name not in tried)
        for number in range(SILENT_AFTER):
            parts.store.commit(
                Pair(
                    wealth=verdict.wealth_key,
                    draw=100_000 + number,
                    role="target",
                    task=task,
                    cluster="c",
                    base_score=0.0,
                    draft_score=0.0,
                    cycle=verdict.cycle,
                )
            )

    def printed(*arguments: str) -> str:
        assert app.run(arguments) in {0, 3}
        return " ".join(capsys.readouterr().out.split())

    way = f"nightschool tasks withhold {task} --reason WHY"
    for command in (("show", draft), ("explain", draft), ("report", draft), ("tasks",)):
        if command[0] == "report":
            printed(*command)
            (page,) = place.ours.rglob(f"*{draft}*.html")
            told = page.read_text()
        else:
            told = printed(*command)
        assert f"{task}: not passed in any of {SILENT_AFTER} pairs" in told, command
        assert way in told, command
    assert "clean wins" in printed("show", draft)
    assert json.loads(printed("show", draft, "--json"))["silent"]["tasks"][0]["task"] == task
    report = run_cycle(place, runner=QuickRunner(), jobs=2)
    assert any(way in note for note in report.notes), report.notes

    printed("tasks", "withhold", task, "--reason", "needs a device that is not here")
    assert way not in printed("tasks")
    assert way not in printed("show", draft)
    run_cycle(place, runner=QuickRunner(), jobs=25)
    with cycle_in(place) as (parts, _):
        assert [entry.k for entry in parts.store.find(AlphaEntry) if entry.draft == draft] == [1, 2]
