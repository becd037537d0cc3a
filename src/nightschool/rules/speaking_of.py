"""What is known, what of it is to be forgotten, and what speaks of that: words, and pages with its tasks.

Relieves forgetting of looking for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from nightschool.core.cycles import CycleReport
from nightschool.core.jobs import Finished, LostTry, Reservation
from nightschool.core.pins import Pin
from nightschool.core.proposals import (
    Draft,
    RefusedEdit,
    Release,
    Review,
    SafetyReport,
    Verdict,
)
from nightschool.core.sessions import Offset, Session
from nightschool.core.tasks import (
    Assignment,
    Candidate,
    Correction,
    HoldoutVersion,
    Task,
    TaskMark,
    roots_in,
)
from nightschool.core.trials import Trial
from nightschool.core.values import Record, Value

TELLING = 8
"""Shortest text that is looked for in what agents and this program wrote: shorter ones stand anywhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known(Value):
    """All records that may hold words of a session or the name of a project."""

    sessions: tuple[Session, ...] = ()
    offsets: tuple[Offset, ...] = ()
    corrections: tuple[Correction, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    tasks: tuple[Task, ...] = ()
    marks: tuple[TaskMark, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    holdouts: tuple[HoldoutVersion, ...] = ()
    reservations: tuple[Reservation, ...] = ()
    finished: tuple[Finished, ...] = ()
    lost: tuple[LostTry, ...] = ()
    trials: tuple[Trial, ...] = ()
    drafts: tuple[Draft, ...] = ()
    refused: tuple[RefusedEdit, ...] = ()
    safety: tuple[SafetyReport, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    reviews: tuple[Review, ...] = ()
    releases: tuple[Release, ...] = ()
    cycles: tuple[CycleReport, ...] = ()
    pins: tuple[Pin, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen(Value):
    """What is to be forgotten."""

    sessions: frozenset[str] = frozenset()
    """Ids."""
    project: str | None = None
    """A folder: all that belongs to it, and to projects below it."""
    before: datetime | None = None
    """Reports and answers of agents that are older go too."""


def phrases(known: Known, removed: Iterable[Record], chosen: Chosen) -> frozenset[str]:
    """Words by which a text that an agent or this program wrote is known to speak of it: those that nothing
    that stays says too."""
    found: set[str] = set(chosen.sessions)
    found |= {chosen.project} if chosen.project else set()
    for record in removed:
        match record:
            case Session():
                found.add(record.session_id)
            case Correction():
                found |= {record.key, record.statement, *(moment.quote for moment in record.moments)}
            case Draft():
                found |= {edit.rule for edit in record.edits}
            case Task():
                found.add(record.prompt)
    moments = [moment for correction in known.corrections for moment in correction.moments]
    moments += [moment for candidate in known.candidates for moment in candidate.evidence]
    found |= {moment.quote for moment in moments if moment.session in chosen.sessions}
    return frozenset(text for text in found - _staying(known, removed, chosen) if len(text) >= TELLING)


def _staying(known: Known, removed: Iterable[Record], chosen: Chosen) -> set[str]:
    gone = {(type(record), record.id) for record in removed}
    found = {edit.rule for one in known.drafts if (Draft, one.id) not in gone for edit in one.edits}
    found |= {task.prompt for task in known.tasks if (Task, task.id) not in gone}
    for one in known.corrections:
        if (Correction, one.id) not in gone:
            found |= {moment.quote for moment in one.moments if moment.session not in chosen.sessions}
            found.add(one.key)
    return found


def listing(reports: Iterable[CycleReport], trials: Iterable[Trial], gone: Sequence[Task]) -> set[str]:
    """The cycles whose page may list one of these tasks: of a proposal that was tried in a cycle in which the
    task was, or of one in its project."""
    names = {task.id for task in gone}
    tried = {trial.cycle for trial in trials if trial.task in names}
    roots = {root for task in gone for root in roots_in(task.project) or ()} if tried else set()
    kept = {report.cycle: report for report in reports}
    drafts = {name: {item.draft for item in one.learned if item.draft} for name, one in kept.items()}
    hit = {draft for cycle in tried for draft in drafts.get(cycle, set())}
    return {
        name
        for name, own in drafts.items()
        if own and (own & hit or (tried and ((about := kept[name].roots) is None or about & roots)))
    }
