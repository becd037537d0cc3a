"""What each project has learned: the edits that are published, by project. Relieves `status` of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from nightschool.cli.dossiers import WAITING, words
from nightschool.cli.render import Piece, Table
from nightschool.core.cycles import CycleReport
from nightschool.core.proposals import Dossier, Status, Step

if TYPE_CHECKING:
    from nightschool.wiring import Parts

Rows = list[dict[str, object]]
EVERYWHERE = "all projects"


def rows(cases: Sequence[Dossier], reports: Sequence[CycleReport], parts: Parts) -> Rows:
    """By project that a cycle was about or that has a proposal; "" stands for the person's own files."""
    waiting = Counter(case.draft.target.project for case in cases if case.status in WAITING)
    published = [case for case in cases if case.status is Status.PUBLISHED]
    last = {report.project: report for report in reports}
    names = dict.fromkeys([*last, *(case.draft.target.project for case in cases)])
    return [
        {
            "project": name,
            "learned": [_edit(case, parts) for case in published if case.draft.target.project == name],
            "waiting": waiting[name],
            "cycles": sum(report.project == name for report in reports),
            "last_cycle": last[name].cycle if name in last else None,
        }
        for name in names
    ]


def pieces(found: Rows) -> Iterable[Piece | str]:
    if not found:
        return
    cells = [
        (
            row["project"] or EVERYWHERE,
            "; ".join(str(edit["statement"] or edit["id"]) for edit in _edits(row)) or "nothing yet",
            row["waiting"],
            row["last_cycle"],
        )
        for row in found
    ]
    heads = ("project", "learned", "waiting", "last cycle")
    yield Table(columns=heads, rows=cells, title="What was learned: edits that stand in your files")
    yield ""


def _edits(row: dict[str, object]) -> Rows:
    edits = row["learned"]
    return edits if isinstance(edits, list) else []


def _edit(case: Dossier, parts: Parts) -> dict[str, object]:
    done = [r for r in case.releases if r.step is Step.DONE and r.undoes is None]
    return {
        "id": case.draft.id,
        "statement": words(case, parts.store),
        "path": parts.place(case.draft.target),
        "since": done[-1].at if done else None,
    }
