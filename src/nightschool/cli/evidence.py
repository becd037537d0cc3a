"""What a report's page holds: the store's evidence on a cycle or a proposal, as sections.

Relieves `report` of it. What is said of a proposal is what `show` says (`dossiers`), with its tries task by
task.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from nightschool.cli import dossiers
from nightschool.cli.links import named
from nightschool.cli.pages import Page, Section
from nightschool.cli.printable import printable
from nightschool.cli.render import Line, Piece, Table
from nightschool.cli.tasks import first_line
from nightschool.core.cycles import CycleReport
from nightschool.core.proposals import Draft
from nightschool.core.tasks import Split, Task
from nightschool.core.trials import Draw, Trial
from nightschool.rules.came_to import in_full
from nightschool.rules.limits import limits_told
from nightschool.rules.report import inline, job_lines, read_lines, setting
from nightschool.rules.tallies import Tally, tallies, until
from nightschool.rules.telling import counted
from nightschool.stages.releases import dossier

if TYPE_CHECKING:
    from nightschool.cli.pages import Clean
    from nightschool.core.cycles import Learned
    from nightschool.core.proposals import Dossier
    from nightschool.wiring import Parts

Pieces = list[Piece | str]
TRIED = ("task", "asked", "for", "cluster", "passed_without", "passed_with")


def cleaning(parts: Parts) -> Clean:
    """Secrets out, also of files of the person's own that a diff shows, and where the person's home lies,
    since a report may be sent; then what hides or turns text."""
    homes = {str(parts.person_home), str(parts.person_home.resolve())} - {"/"}
    if not homes:
        return lambda text: printable(parts.redact(text))
    # Where a text is escaped already, so is the path in it. What only begins like it is another folder.
    paths = "|".join(re.escape(path) for home in homes for path in (home, inline(home)))
    at_home = re.compile(rf"(?:{paths})(?![\w.-])")
    return lambda text: printable(at_home.sub("~", parts.redact(text)))


def of_cycle(report: CycleReport, parts: Parts) -> Page:
    """All that a cycle read, tried and came to."""
    return Page(
        title=f"Cycle {report.cycle}",
        lead=setting(report),
        sections=[
            Section(title="What came of it", pieces=list(_overview(report, parts))),
            Section(title="What was read", pieces=read_lines(report)),
            Section(title="What it used", pieces=[*job_lines(report), *limits_told(report)]),
            *([Section(title="To know", pieces=list(report.notes))] if report.notes else []),
            *(_learned(item, report.cycle, parts) for item in report.learned),
            *_lacking(report),
        ],
    )


def of_proposals(report: CycleReport, parts: Parts) -> Page:
    """What a cycle's report in words lacks: of each proposal the tries task by task, and the diff."""
    return Page(
        title="Evidence",
        lead="What each proposal was tried on, and the change of the file.",
        sections=[
            Section(
                title=case.draft.id,
                pieces=[*_tries(case, parts), *dossiers.shown_diff(case, parts)],
            )
            for case in proposed(report, parts)
        ],
    )


def proposed(report: CycleReport, parts: Parts) -> list[Dossier]:
    """The proposals of a cycle as it left them, but for those that were forgotten."""
    named = dict.fromkeys(item.draft for item in report.learned if item.draft is not None)
    there = [name for name in named if parts.store.get(Draft, name) is not None]
    return [_as_left(dossier(parts.store, name), report.cycle) for name in there]


def tries(case: Dossier, parts: Parts) -> list[dict[str, object]]:
    """The table of tries, for programs."""
    return [dict(zip(TRIED, _tally(tally), strict=True)) for tally in _tallied(case, parts)]


def of_proposal(case: Dossier, parts: Parts) -> Page:
    """All that is known of a proposal."""
    return Page(
        title=f"Proposal {case.draft.id}",
        lead=f"for {parts.place(case.draft.target)}",
        sections=[
            Section(
                title=dossiers.words(case, parts.store) or case.draft.id, pieces=_proposal(case, parts, None)
            )
        ],
    )


def _overview(report: CycleReport, parts: Parts) -> Iterator[Piece | str]:
    if report.failed:
        yield Line(f"broke off: {report.failed}", "red")
    if not report.learned:
        yield "Nothing was tried."
        return
    columns = ("your words", "came to", "why", "file", "proposal")
    yield Table(columns=columns, rows=[_row(item, parts) for item in report.learned])


def _row(item: Learned, parts: Parts) -> tuple[object, ...]:
    file = None if item.target is None else named(parts.place(item.target))
    return item.statement, in_full(item.code), item.why, file, item.draft


def _learned(item: Learned, cycle: str, parts: Parts) -> Section:
    lead: Pieces = [f"said in {counted(item.sessions, 'session')}; {in_full(item.code)}: {item.why}"]
    # A proposal may have been forgotten; what the cycle said of it stands.
    if item.draft is None or parts.store.get(Draft, item.draft) is None:
        refused = [(dossiers.in_short(one.edit), one.text) for one in item.refused]
        if refused:
            lead.append(Table(title="Edits that were not taken", columns=("edit", "why not"), rows=refused))
        return Section(title=item.statement, pieces=lead)
    case = dossier(parts.store, item.draft)
    return Section(title=item.statement, pieces=[*lead, *_proposal(case, parts, cycle)])


def _proposal(case: Dossier, parts: Parts, cycle: str | None) -> Pieces:
    """As `show --diff` tells it, with its tries; of a cycle, as that cycle left it."""
    if cycle is not None:
        case = _as_left(case, cycle)
    return [*dossiers.pieces(case, parts), "", *_tries(case, parts), "", *dossiers.shown_diff(case, parts)]


def _as_left(case: Dossier, cycle: str) -> Dossier:
    names = [verdict.cycle for verdict in case.verdicts]
    return replace(case, verdicts=case.verdicts[: names.index(cycle) + 1]) if cycle in names else case


def _tallied(case: Dossier, parts: Parts) -> Sequence[Tally]:
    """Of the projects that its cycle was about, up to the end of that cycle: a correction may be practised
    in another project, or once more, at any later time."""
    verdict = case.verdict
    if verdict is None or case.candidate is None:
        return ()
    store = parts.store
    report = store.get(CycleReport, verdict.cycle)
    roots = None if report is None else report.roots
    draws = [] if verdict.wealth_key is None else store.find(Draw, verdict.wealth_key)
    tasks = {task.id: task for task in store.find(Task) if roots is None or task.project in roots}
    return tallies(
        case.candidate,
        tasks,
        until(store.find(Trial), verdict.cycle),
        until(draws, verdict.cycle),
        base=case.draft.base,
    )


def _tries(case: Dossier, parts: Parts) -> Pieces:
    found = _tallied(case, parts)
    if not found:
        return []
    heads = ("task", "what was asked", "for", "kind of task", "without the edit", "with the edit")
    return [
        Line("Tries, task by task", "bold"),
        Table(columns=heads, rows=_rows(found)),
        Line(
            f"{_sum(found)} in all, passed of tried. But for training they are in pairs; where one of a pair "
            "was lost neither is in the table, nor are tries that only chose guards. Tasks that are nearly "
            "the same are one kind.",
            "dim",
        ),
    ]


def _rows(found: Sequence[Tally]) -> list[tuple[object, ...]]:
    """Kinds have no name: those of one kind have one number."""
    kinds = {kind: number for number, kind in enumerate(dict.fromkeys(one.task.cluster for one in found), 1)}
    place = TRIED.index("cluster")
    cells = [_tally(one) for one in found]
    return [(*row[:place], str(kinds[str(row[place])]), *row[place + 1 :]) for row in cells]


def _sum(found: Sequence[Tally]) -> str:
    return counted(sum(one.base_tries + one.draft_tries for one in found), "try", "tries")


def _tally(tally: Tally) -> tuple[object, ...]:
    task = tally.task
    side = "training" if task.split is Split.TRAIN else "guard" if tally.guard else "exam"
    return (
        task.id,
        first_line(task.prompt),
        side,
        task.cluster,
        _of(tally.base_passed, tally.base_tries),
        _of(tally.draft_passed, tally.draft_tries),
    )


def _of(passed: int, tries: int) -> str | None:
    return f"{passed} of {tries}" if tries else None


def _lacking(report: CycleReport) -> Iterator[Section]:
    if report.missing:
        rows = [(absent.kind, absent.name, absent.place) for absent in report.missing]
        title = "Not there in the practice"
        text = "Of your configuration and your projects; no try had it, without or with the edit."
        table = Table(columns=("kind", "name", "named by"), rows=rows)
        yield Section(title=title, pieces=[text, table])
