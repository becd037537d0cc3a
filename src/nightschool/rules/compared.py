"""What changed from one cycle to another: figures and candidates side by side, from their reports alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from nightschool.core.cycles import CycleReport, Learned
from nightschool.core.values import Value

Figure = int | Decimal | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed(Value):
    """One figure in both reports. None: not known."""

    name: str
    before: Figure
    after: Figure

    @property
    def by(self) -> Figure:
        """How much more; None where one of the two is not known."""
        if self.before is None or self.after is None:
            return None
        return (
            Decimal(self.after) - self.before if isinstance(self.after, Decimal) else self.after - self.before
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Course(Value):
    """One candidate in both cycles; None where a cycle did not come to it."""

    candidate: str
    statement: str
    before: Learned | None
    after: Learned | None

    @property
    def change(self) -> Literal["new", "gone", "same", "changed"]:
        """`same`: it came to the same, with the same proposal and the same scores."""
        match self.before, self.after:
            case None, _:
                return "new"
            case _, None:
                return "gone"
        same = _came_to(self.before) == _came_to(self.after)
        return "same" if same else "changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Value):
    before: str
    after: str
    conditions: tuple[tuple[str, str, str], ...]
    """What makes the two hard to compare: (what, then, now)."""
    figures: tuple[Changed, ...]
    candidates: tuple[Course, ...]


def compared(before: CycleReport, after: CycleReport) -> Comparison:
    """From the one cycle to the other."""
    return Comparison(
        before=before.cycle,
        after=after.cycle,
        conditions=tuple(
            (name, then, now)
            for (name, then), (_, now) in zip(_conditions(before), _conditions(after), strict=True)
            if then != now
        ),
        figures=tuple(
            Changed(name=name, before=then, after=now)
            for (name, then), (_, now) in zip(_figures(before), _figures(after), strict=True)
        ),
        candidates=_courses(before.learned, after.learned),
    )


def _courses(before: Sequence[Learned], after: Sequence[Learned]) -> tuple[Course, ...]:
    """In the order of the later cycle, then those that it did not come to."""
    then, now = ({item.candidate: item for item in learned} for learned in (before, after))
    return tuple(
        Course(
            candidate=name,
            statement=(now.get(name) or then[name]).statement,
            before=then.get(name),
            after=now.get(name),
        )
        for name in [*now, *(name for name in then if name not in now)]
    )


def _came_to(item: Learned | None) -> object:
    return None if item is None else (item.code, item.draft, item.base, item.proposal, item.pairs)


def _conditions(report: CycleReport) -> tuple[tuple[str, str], ...]:
    return (
        ("project", report.project or "all projects"),
        ("agent", f"{report.runner} {report.runner_version}"),
        ("model", report.model or "the agent's own choice"),
        ("gate", report.mode),
        ("sandbox", report.sandbox),
    )


def _figures(report: CycleReport) -> tuple[tuple[str, Figure], ...]:
    """A sum of which a part is not known is not known."""
    spend = report.spend
    return (
        ("sessions with something new", report.sessions_read),
        ("sessions known", report.sessions_known),
        ("corrections", report.corrections),
        ("worth an edit", report.candidates),
        ("tasks for training", report.tasks_train),
        ("tasks for the exam", report.tasks_holdout),
        ("scored trials", report.trials),
        ("jobs started", spend.jobs),
        ("jobs lost", spend.lost),
        ("tokens", None if spend.unknown_tokens else spend.tokens),
        ("dollars", None if spend.unknown_cost else spend.cost),
    )
