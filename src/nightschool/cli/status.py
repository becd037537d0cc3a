"""`nightschool status`: where things stand, and what waits for the person."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from nightschool.cli.exits import ExitCode
from nightschool.cli.options import Json
from nightschool.cli.output import Output
from nightschool.cli.reading import (
    AT_WORK,
    Every,
    Only,
    concerns,
    only,
    reading,
    run_for,
    settings_here,
    where,
)
from nightschool.cli.render import Line, Piece, Table
from nightschool.cli.scheduled import known_look, look_pieces

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nightschool.core.cycles import CycleReport
    from nightschool.core.jobs import Usage
    from nightschool.core.ports import Store
    from nightschool.core.proposals import Dossier
    from nightschool.core.tasks import Correction
    from nightschool.stages.schedule import Look
    from nightschool.wiring import Parts

WAITING = (
    "Waiting: tasks held out since that exam was made, those of what you forgot and let in again too. They "
    "are in no exam until so many wait: then the next one is made, by their number alone."
)
Rows = list[dict[str, object]]
FORGETTING = (
    "a forgetting was broken off: no record speaks of it any more, but traces may lie on the disk; the next "
    "harvest, run or forget clears them away"
)


def _scheduled() -> Look | None:
    """By the settings, not by the parts: without a store those stand over another home."""
    return known_look(settings_here(forgiving=True))


def status(*, project: Only = None, all_projects: Every = False, json: Json = False) -> ExitCode:
    """Tell what the last cycle came to, what waits for your word, what was learned and what it cost.

    With --project what concerns it, and your own files; what was used and what is scheduled is of all.

    \b
    Example:
      nightschool status
      nightschool status --json
    """
    from nightschool.cli import dossiers, learned  # noqa: PLC0415 - help needs no store
    from nightschool.core.cycles import CycleReport  # noqa: PLC0415
    from nightschool.core.forgetting import Unfinished  # noqa: PLC0415
    from nightschool.core.tasks import Correction  # noqa: PLC0415
    from nightschool.stages.releases import drafts  # noqa: PLC0415

    roots, out = only(project, every=all_projects), Output(json=json)
    with reading(fleeting=True, forgiving=True) as parts:
        reports = [found for found in parts.store.find(CycleReport) if found.concerns(roots)]
        # By the order of writing: a clock that was set back does not bring an old one to the front.
        last = reports[-1] if reports else None
        heard = [item for item in parts.store.find(Correction) if roots is None or roots & {*item.projects}]
        cases = [case for case in drafts(parts.store) if concerns(case.draft.target.project, roots)]
        waiting = dossiers.waiting(cases, parts)
        open_proposals = _proposals(waiting, parts)
        first = dossiers.first_step(waiting, parts)
        projects = learned.rows(cases, waiting, reports, parts)
        versions = [row for row in _versions(parts) if concerns(str(row["project"]), roots)]
        spent = _spent(parts.store, parts.clock.now())
        unsettled, interrupted = _unsettled(parts.store), _interrupted(parts.store)
        now = parts.store.holder("cycle")
        cycles = _cycles(last, parts.store, begun=bool(spent.jobs))
        forgetting = parts.store.get(Unfinished, "forgetting") is not None
    scheduled = _scheduled()
    document = {
        "last_cycle": last,
        "proposals": open_proposals,
        "projects": projects,
        "corrections": {"known": len(heard), "recurring": sum(item.recurs for item in heard)},
        "holdouts": versions,
        "this_month": spent,
        "unsettled": unsettled,
        "interrupted": interrupted,
        "at_work": now,
        "schedule": scheduled,
        "forgetting": forgetting,
    }
    trouble = [*_trouble(unsettled, interrupted), *(look_pieces(scheduled) if scheduled is not None else ())]
    pieces: list[Piece | str] = [
        *cycles,
        _known_line(heard, roots),
        *_proposal_pieces(open_proposals),
        *learned.pieces(projects),
        *_version_pieces(versions),
        _spent_line(spent),
        *trouble,
        *([Line(FORGETTING, "yellow")] if forgetting else []),
        f"next: {first or _next(last, now, [name for item in heard for name in item.projects])}",
    ]
    return out.result(document, pieces)


def _known_line(heard: Sequence[Correction], roots: frozenset[str] | None) -> str:
    from nightschool.rules.telling import counted  # noqa: PLC0415 - help needs no rules

    often = sum(item.recurs for item in heard)
    known = f"{counted(len(heard), 'correction')} known in {where(roots)}"
    return f"{known}, {often} of them said in several sessions"


def _proposals(cases: Sequence[Dossier], parts: Parts) -> Rows:
    from nightschool.cli.dossiers import is_stale, words  # noqa: PLC0415

    return [
        {
            "id": case.draft.id,
            "status": case.status,
            "stale": is_stale(case, parts),
            "statement": words(case, parts.store),
            "path": str(parts.place(case.draft.target)),
            "created_at": case.draft.created_at,
        }
        for case in cases
    ]


def _versions(parts: Parts) -> Rows:
    """Each hold-out version with the share of alpha that its drafts were given."""
    from nightschool.core.tasks import HoldoutVersion, Split, TaskMark  # noqa: PLC0415
    from nightschool.rules.betting import alpha_share  # noqa: PLC0415
    from nightschool.rules.marks import serving, standings  # noqa: PLC0415
    from nightschool.stages import ledger  # noqa: PLC0415
    from nightschool.stages.mine import enough_new, pooled  # noqa: PLC0415

    alpha = parts.settings.gate.alpha
    marks, versions = parts.store.find(TaskMark), parts.store.find(HoldoutVersion)
    marked = standings(marks)
    newest = {version.pool: version.number for version in sorted(versions, key=lambda one: one.number)}

    def beside(version: HoldoutVersion) -> int:
        """Held-out tasks that serve and are not in the newest version: new ones, and those let in again."""
        if version.number != newest[version.pool]:
            return 0
        tasks = serving(pooled(parts.store, version.pool), marks)
        return sum(task.split is Split.HOLDOUT and task.id not in version.tasks for task in tasks)

    out = {name for name, standing in marked.items() if standing.out is not None}
    spent: dict[str, list[float]] = defaultdict(list)
    for entry in ledger.spent(parts.store):
        spent[entry.holdout].append(alpha_share(entry.alpha, entry.level))
    return [
        {
            "id": version.id,
            "project": version.pool,
            "number": version.number,
            "tasks": len(set(version.tasks) - out),
            "waiting_tasks": beside(version),
            "next_version_at": enough_new(version),
            "drafts": len(spent[version.id]),
            "alpha": alpha,
            "alpha_spent": sum(spent[version.id]),
        }
        for version in versions
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spent:
    since: datetime
    jobs: int
    tokens: int
    cost: Decimal
    unknown_tokens: int
    unknown_cost: int


def _spent(store: Store, now: datetime) -> _Spent:
    """Use of the jobs of this month (UTC). What an agent did not tell is counted, not guessed."""
    from nightschool.core.jobs import Finished, LostTry, Reservation  # noqa: PLC0415

    month = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    begun = {booked.id: booked.at for booked in store.find(Reservation)}
    uses: list[Usage] = [job.outcome.usage for job in store.find(Finished) if job.started_at >= month]
    # A lost try has no time of its own; its reservation has.
    uses += [lost.usage for lost in store.find(LostTry) if (at := begun.get(lost.id)) and at >= month]
    return _Spent(
        since=month,
        jobs=len(uses),
        tokens=sum(use.tokens for use in uses if use.tokens is not None),
        cost=sum((use.cost for use in uses if use.cost is not None), Decimal(0)),
        unknown_tokens=sum(use.tokens is None for use in uses),
        unknown_cost=sum(use.cost is None for use in uses),
    )


def _unsettled(store: Store) -> Rows:
    """Reservations whose job never came to an end: it runs now, as far as its cycle holds the lock, or its
    process died."""
    from nightschool.core.jobs import Finished, LostTry, Reservation  # noqa: PLC0415

    running = store.holder("cycle")
    finished = {job.key for job in store.find(Finished)}
    lost = {attempt.id for attempt in store.find(LostTry)}
    return [
        {
            "cycle": booked.cycle,
            "running": booked.cycle == running,
            "at": booked.at,
            "tokens": booked.tokens,
            "cost": booked.cost,
        }
        for booked in store.find(Reservation)
        if booked.key not in finished and booked.id not in lost
    ]


def _interrupted(store: Store) -> Rows:
    """Releases that were meant and neither done nor given up."""
    from nightschool.core.proposals import Release, Step  # noqa: PLC0415

    releases = store.find(Release)
    closed = {release.number for release in releases if release.step is not Step.INTENDED}
    return [
        {"release": release.number, "draft": release.draft_id, "path": release.path, "at": release.at}
        for release in releases
        if release.step is Step.INTENDED and release.number not in closed
    ]


def _cycles(last: CycleReport | None, store: Store, *, begun: bool) -> list[Piece | str]:
    """What is at work now, the last cycle with a report, and those after it that were broken off."""
    from nightschool.cli.history import without_report  # noqa: PLC0415 - help needs no store
    from nightschool.rules.unreported import number  # noqa: PLC0415

    now, others = store.holder("cycle"), without_report(store)
    since = [one for one in others if last is None or number(one.cycle) > number(last.cycle)]
    working: list[Piece | str] = []
    if now is not None:
        told = next((one.told for one in since if one.cycle == now), "it has started no job yet")
        working.append(Line(f"at work now: {now or 'a run'}: {told}", "bold"))
    broken = (f"cycle {one.cycle} since then: {one.told}" for one in since if one.over)
    return [*working, _cycle_line(last, begun=begun or bool(others)), *broken]


def _cycle_line(last: CycleReport | None, *, begun: bool) -> str:
    from collections import Counter  # noqa: PLC0415 - help needs no counter

    from nightschool.cli.history import came_to  # noqa: PLC0415
    from nightschool.rules.telling import counted  # noqa: PLC0415

    if last is None:
        return "no cycle has come to its end yet" if begun else "no cycle has run yet"
    where = last.project or "all projects"
    came = f"nothing to learn in {where}"
    if last.learned:
        ends = Counter(came_to(item) for item in last.learned)
        came = f"{counted(len(last.learned), 'correction')} of {where}: "
        came += ", ".join(f"{number} {end}" for end, number in ends.items())
    if last.spend.lost:
        came += f"; {counted(last.spend.lost, 'try', 'tries')} lost"
    if last.failed:
        came = f"broke off: {last.failed}"
    return f"last cycle: {last.cycle}, {last.ended_at:%Y-%m-%d %H:%M} UTC, {last.runner}, {came}"


def _proposal_pieces(rows: Rows) -> Iterable[Piece | str]:
    if not rows:
        return ["no proposal waits for you"]
    cells = [
        (
            row["id"],
            f"{row['status']}, stale" if row["stale"] else row["status"],
            row["statement"],
            row["path"],
        )
        for row in rows
    ]
    heads = ("proposal", "status", "your words", "file")
    return ["", Table(columns=heads, rows=cells, title="Waiting for your word"), ""]


def _version_pieces(rows: Rows) -> Iterable[Piece | str]:
    if not rows:
        return
    cells = [
        (
            row["project"] or "all projects",
            row["number"],
            row["tasks"],
            f"{row['waiting_tasks']} of {row['next_version_at']}" if row["waiting_tasks"] else None,
            row["drafts"],
            f"{row['alpha_spent']:.1%}",
            f"{row['alpha']:.0%}",
        )
        for row in rows
    ]
    heads = ("project", "exam", "tasks", "waiting", "exams begun", "risk used", "allowed")
    yield Table(columns=heads, rows=cells, title="Exams: tasks that no editor of edits sees")
    text = (
        "Risk: of accepting an edit by luck. Each exam that is begun uses a part of what is allowed; an edit "
    )
    text += "that is examined anew, with another agent or on other tasks, begins one more."
    yield Line(text, "dim")
    if any(row["waiting_tasks"] for row in rows):
        yield Line(WAITING, "dim")


def _spent_line(spent: _Spent) -> str:
    from nightschool.rules.telling import counted, dollars  # noqa: PLC0415

    unknown = f"; {counted(spent.unknown_cost, 'job')} told no cost" if spent.unknown_cost else ""
    used = f"{counted(spent.jobs, 'job')}, {counted(spent.tokens, 'token')}, {dollars(spent.cost)}"
    return f"this month: {used}{unknown}"


def _trouble(unsettled: Rows, interrupted: Rows) -> Iterable[Piece]:
    from nightschool.rules.telling import counted  # noqa: PLC0415

    now = sum(bool(row["running"]) for row in unsettled)
    if now:
        yield Line(f"{counted(now, 'job')} at work now", "dim")
    if broken := len(unsettled) - now:
        yield Line(f"{counted(broken, 'job')} without an end: broken off with its run", "yellow")
    for row in interrupted:
        text = f"release {row['release']} of {row['path']} was interrupted: the next adopt or undo settles it"
        yield Line(text, "yellow")


def _next(last: CycleReport | None, now: str | None, projects: Sequence[str]) -> str:
    if now is not None:
        return AT_WORK
    return run_for(projects) if last is not None or projects else "nightschool corrections"
