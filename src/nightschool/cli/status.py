"""`nightschool status`: where things stand, and what waits for the person."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING

from nightschool.cli.exits import ExitCode
from nightschool.cli.options import Json
from nightschool.cli.output import Output
from nightschool.cli.reading import reading
from nightschool.cli.render import Line, Piece, Table

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from nightschool.core.cycles import CycleReport
    from nightschool.core.jobs import Usage
    from nightschool.core.ports import Store
    from nightschool.wiring import Parts

Rows = list[dict[str, object]]
RECURS = 2


def status(*, json: Json = False) -> ExitCode:
    """Tell what the last cycle came to, what waits for your word, and what was used this month.

    \b
    Example:
      nightschool status
      nightschool status --json
    """
    from nightschool.core.cycles import CycleReport  # noqa: PLC0415 - help needs no store
    from nightschool.core.tasks import Correction  # noqa: PLC0415

    with reading(fleeting=True) as parts:
        last = max(parts.store.find(CycleReport), key=lambda report: report.ended_at, default=None)
        heard = parts.store.find(Correction)
        open_proposals = _proposals(parts)
        versions = _versions(parts)
        spent = _spent(parts.store, parts.clock.now())
        unsettled, interrupted = _unsettled(parts.store), _interrupted(parts.store)
    recurring = sum(len(item.sessions) >= RECURS for item in heard)
    document = {
        "last_cycle": last,
        "proposals": open_proposals,
        "corrections": {"known": len(heard), "recurring": recurring},
        "holdouts": versions,
        "this_month": spent,
        "unsettled": unsettled,
        "interrupted": interrupted,
    }
    pieces: list[Piece | str] = [
        _cycle_line(last),
        f"{len(heard)} corrections known, {recurring} of them heard in several sessions",
        *_proposal_pieces(open_proposals),
        *_version_pieces(versions),
        _spent_line(spent),
        *_trouble(unsettled, interrupted),
        f"next: {_next(last, open_proposals, known=bool(heard))}",
    ]
    return Output(json=json).result(document, pieces)


def _proposals(parts: Parts) -> Rows:
    from nightschool.core.proposals import Status  # noqa: PLC0415
    from nightschool.stages.publish import drafts  # noqa: PLC0415

    waiting = {Status.IN_REVIEW, Status.SUGGESTED, Status.APPROVED}
    return [
        {
            "id": case.draft.id,
            "status": case.status,
            "statement": case.candidate.statement if case.candidate else None,
            "path": str(parts.place(case.draft.target)),
            "created_at": case.draft.created_at,
        }
        for case in drafts(parts.store)
        if case.status in waiting
    ]


def _versions(parts: Parts) -> Rows:
    """Each hold-out version with the share of alpha that its drafts were given."""
    from nightschool.core.tasks import HoldoutVersion  # noqa: PLC0415
    from nightschool.core.trials import AlphaEntry  # noqa: PLC0415
    from nightschool.rules.betting import alpha_share  # noqa: PLC0415

    alpha = parts.settings.gate.alpha
    spent: dict[str, list[float]] = defaultdict(list)
    for entry in parts.store.find(AlphaEntry):
        spent[entry.holdout].append(alpha_share(entry.alpha, entry.k))
    return [
        {
            "id": version.id,
            "project": version.pool,
            "number": version.number,
            "tasks": len(version.tasks),
            "drafts": len(spent[version.id]),
            "alpha": alpha,
            "alpha_spent": sum(spent[version.id]),
        }
        for version in parts.store.find(HoldoutVersion)
    ]


def _spent(store: Store, now: datetime) -> dict[str, object]:
    """Use of the jobs of this month (UTC). What an agent did not tell is counted, not guessed."""
    from nightschool.core.jobs import Finished, LostTry, Reservation  # noqa: PLC0415

    month = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    begun = {booked.id: booked.at for booked in store.find(Reservation)}
    uses: list[Usage] = [job.outcome.usage for job in store.find(Finished) if job.started_at >= month]
    # A lost try has no time of its own; its reservation has.
    uses += [lost.usage for lost in store.find(LostTry) if (at := begun.get(lost.id)) and at >= month]
    return {
        "since": month,
        "jobs": len(uses),
        "tokens": sum(use.tokens for use in uses if use.tokens is not None),
        "cost": sum((use.cost for use in uses if use.cost is not None), Decimal(0)),
        "unknown_tokens": sum(use.tokens is None for use in uses),
        "unknown_cost": sum(use.cost is None for use in uses),
    }


def _unsettled(store: Store) -> Rows:
    """Reservations whose job never came to an end: it runs now, or its process died."""
    from nightschool.core.jobs import Finished, LostTry, Reservation  # noqa: PLC0415

    finished = {job.key for job in store.find(Finished)}
    lost = {attempt.id for attempt in store.find(LostTry)}
    return [
        {"cycle": booked.cycle, "at": booked.at, "tokens": booked.tokens, "cost": booked.cost}
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


def _cycle_line(last: CycleReport | None) -> str:
    if last is None:
        return "no cycle has run yet"
    came = f"broke off: {last.failed}" if last.failed else f"{len(last.learned)} corrections practised"
    return f"last cycle: {last.cycle}, {last.ended_at:%Y-%m-%d %H:%M} UTC, {last.runner}, {came}"


def _proposal_pieces(rows: Rows) -> Iterable[Piece | str]:
    if not rows:
        return ["no proposal waits for you"]
    cells = [(row["id"], row["status"], row["path"], row["statement"]) for row in rows]
    return ["", Table(columns=("proposal", "status", "file", "correction"), rows=cells, title="For you"), ""]


def _version_pieces(rows: Rows) -> Iterable[Piece | str]:
    columns = ("id", "project", "tasks", "drafts", "alpha_spent", "alpha")
    heads = ("hold-out", "project", "tasks", "drafts", "alpha spent", "of")
    if rows:
        yield Table(
            columns=heads,
            rows=[
                [row[name] or 0 if name != "project" else row[name] or "all" for name in columns]
                for row in rows
            ],
        )


def _spent_line(spent: dict[str, object]) -> str:
    unknown = f"; {spent['unknown_cost']} jobs told no cost" if spent["unknown_cost"] else ""
    return f"this month: {spent['jobs']} jobs, {spent['tokens']} tokens, ${spent['cost']}{unknown}"


def _trouble(unsettled: Rows, interrupted: Rows) -> Iterable[Piece]:
    if unsettled:
        yield Line(
            f"{len(unsettled)} jobs did not come to an end: they run now, or were broken off", "yellow"
        )
    for row in interrupted:
        text = f"release {row['release']} of {row['path']} was interrupted: the next adopt or undo settles it"
        yield Line(text, "yellow")


def _next(last: CycleReport | None, rows: Rows, *, known: bool) -> str:
    if rows:
        return f"nightschool show {rows[0]['id']} --diff"
    return "nightschool run" if last is not None or known else "nightschool corrections"
