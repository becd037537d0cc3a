"""Two corrections that an editor answers with one edit."""

from __future__ import annotations

import json
from pathlib import Path

from cycle_builders import Place, QuickRunner, run_cycle
from job_builders import FREE
from nightschool.core.jobs import Delivered, Job, Outcome, Role
from nightschool.testing.scripted_runner import quoting_editor


def test_one_edit_for_two_corrections_is_one_proposal(tmp_path: Path) -> None:
    """Where an editor answers two corrections with the very same bytes there is one draft and one exam; the
    other correction is told where its answer is, in this run and in the next."""

    place = Place.made(tmp_path)

    def both(job: Job) -> Outcome | None:
        if job.role is not Role.EDIT:
            return None
        edits = json.loads(quoting_editor(job))["edits"]
        for edit in edits:
            edit["rule"] = "Use pathlib and logging."
        return Delivered(reply=json.dumps({"edits": edits}), usage=FREE)

    report = run_cycle(place, runner=QuickRunner(before=both))
    codes = [item.code for item in report.learned if item.draft is not None]
    assert codes.count("same-edit") == len(codes) - 1 > 0, report.learned
    assert len({item.draft for item in report.learned if item.draft is not None}) == 1
    again = run_cycle(place, runner=QuickRunner(before=both), everything=False)
    assert "same-edit" in [item.code for item in again.learned]
