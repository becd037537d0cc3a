"""What each project has learned: the edits that are published, by project. Relieves `status` of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from nightschool.cli.dossiers import SINCE, words
from nightschool.cli.render import Line, Piece, Table
from nightschool.core.cycles import CycleReport
from nightschool.core.proposals import Dossier, Step
from nightschool.stages.in_file import of_case

if TYPE_CHECKING:
    from nightschool.wiring import Parts

Rows = list[dict[str, object]]
EVERYWHERE = "all projects"


def rows(
    cases: Sequence[Dossier], waiting: Sequence[Dossier], reports: Sequence[CycleReport], parts: Parts
) -> Rows:
    """By project that a cycle was about or that has a proposal; "" stands for the person's own files."""
    wait = Counter(case.draft.target.project for case in waiting)
    adopted = [(case, of_case(case, parts.store, parts.live)) for case in cases]
    about = [name for report in reports for name in sorted(report.roots or {""})]
    names = dict.fromkeys([*about, *(case.draft.target.project for case in cases)])
    cycles = {name: [report.cycle for report in reports if _concerns(report, name)] for name in names}
    return [
        {
            "project": name,
            "learned": [
                _edit(case, parts)
                for case, state in adopted
                if case.draft.target.project == name and state is not None and state.stands
            ],
            "taken_out": [
                {**_edit(case, parts), "now": SINCE[state]}
                for case, state in adopted
                if case.draft.target.project == name and state is not None and not state.stands
            ],
            "waiting": wait[name],
            "cycles": len(cycles[name]),
            "last_cycle": cycles[name][-1] if cycles[name] else None,
        }
        for name in names
    ]


def _concerns(report: CycleReport, name: str) -> bool:
    """A cycle over all is about each; the person's own files are the matter of what edited them, too."""
    if report.roots is None:
        return True
    own = (item.target is not None and not item.target.project for item in report.learned)
    return name in report.roots if name else any(own)


def pieces(found: Rows) -> Iterable[Piece | str]:
    if not found:
        return
    cells = [
        (
            row["project"] or EVERYWHERE,
            "; ".join(str(edit["statement"] or edit["id"]) for edit in _edits(row, "learned"))
            or ("nothing" if _edits(row, "taken_out") else "nothing yet"),
            row["waiting"],
            row["last_cycle"],
        )
        for row in found
    ]
    heads = ("project", "learned", "waiting", "last cycle")
    yield Table(columns=heads, rows=cells, title="What was learned: edits that stand in your files")
    for edit in (edit for row in found for edit in _edits(row, "taken_out")):
        what = edit["statement"] or "an edit"
        yield Line(f"adopted, {edit['now']}: {what} ({edit['id']}, {edit['path']})", "yellow")
    yield ""


def _edits(row: dict[str, object], which: str) -> Rows:
    edits = row[which]
    return edits if isinstance(edits, list) else []


def _edit(case: Dossier, parts: Parts) -> dict[str, object]:
    done = [r for r in case.releases if r.step is Step.DONE and r.undoes is None]
    return {
        "id": case.draft.id,
        "statement": words(case, parts.store),
        "path": parts.place(case.draft.target),
        "since": done[-1].at if done else None,
    }
