"""What a run says that it read: the sessions of its project, and those of others apart."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from cycle_builders import Place
from nightschool.cli import app


def test_sessions_of_other_projects_are_counted_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first line, the plan and `history` count the sessions of the run's own project; those of others are
    named as read along, and are new to the run of theirs although they were read before. What was read once
    is new to no second run."""
    place = Place.made(tmp_path)
    other = place.person / "till"
    shutil.copytree(place.project, other)
    theirs = 0
    for transcript in sorted((place.person / ".claude" / "projects").rglob("*.jsonl"))[:3]:
        name = f"11111111-2222-4333-8444-{theirs:012}"
        text = transcript.read_text().replace(transcript.stem, name).replace(str(place.project), str(other))
        (transcript.parent / f"{name}.jsonl").write_text(text)
        theirs += 1
    monkeypatch.setenv("HOME", str(place.person))
    monkeypatch.setenv("NIGHTSCHOOL_HOME", str(place.ours))
    config = 'runner = "scripted"\n[limits]\nmax_jobs = 1\n[harvest]\nlookback_limit_days = 36500\n'
    (tmp_path / "config.toml").write_text(config, encoding="utf-8")
    monkeypatch.setenv("NIGHTSCHOOL_CONFIG", str(tmp_path / "config.toml"))

    def said(folder: Path, *arguments: str) -> Any:
        monkeypatch.chdir(folder)
        app.run([*arguments, "--json"])
        return json.loads(capsys.readouterr().out)

    plan = said(place.project, "run", "--dry-run")
    own = len(plan["sessions"])
    assert (own > theirs, plan["sessions_elsewhere"]) == (True, theirs)
    assert f"sessions of this project known, {own} of them with something new" in plan["plan"][0]
    assert f"of other projects {theirs} sessions with something new, kept for their own runs" in plan["plan"]

    first = said(place.project, "run", "--yes")
    assert (first["sessions_read"], first["sessions_elsewhere"]) == (own, theirs)
    assert said(place.project, "history")["cycles"][0]["sessions_read"] == own
    assert said(place.project, "run", "--yes")["sessions_read"] == 0
    beside = said(other, "run", "--yes")
    assert (beside["sessions_read"], beside["sessions_elsewhere"]) == (theirs, 0)
    # There was nothing to do in it, so that was no cycle: what it read is new to the one that comes.
    assert beside["cycle"] is None
    assert said(other, "run", "--yes")["sessions_read"] == theirs
    everything = said(other, "run", "--all-projects", "--yes")
    assert (everything["sessions_read"], everything["sessions_elsewhere"]) == (own + theirs, 0)
