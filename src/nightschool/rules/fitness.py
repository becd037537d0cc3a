"""Whether a change leaves an agent's files well-formed and inside their budgets: what it makes worse.

A problem that was there before is no fault of a draft, unless the draft adds to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from nightschool.core.harness import Problem, Severity
from nightschool.core.proposals import Finding, Risk

FIGURE = re.compile(r"\d+")


def worse(before: Iterable[Problem], after: Iterable[Problem]) -> tuple[Finding, ...]:
    """A finding for each problem that is new, or that says the same with a greater figure.

    What keeps an agent from reading the file (`Severity.ERROR`) may not be published; the rest is told.
    """
    known: dict[tuple[str, str], list[list[int]]] = {}
    for problem in before:
        known.setdefault(_said(problem), []).append(_figures(problem))
    return tuple(
        Finding(
            code="surface",
            risk=Risk.HIGH if problem.severity is Severity.ERROR else Risk.LOW,
            text=f"{problem.path} {problem.text}",
        )
        for problem in after
        if not _was_there(_figures(problem), known.get(_said(problem), ()))
    )


def _said(problem: Problem) -> tuple[str, str]:
    return problem.path, FIGURE.sub("N", problem.text)


def _figures(problem: Problem) -> list[int]:
    return [int(figure) for figure in FIGURE.findall(problem.text)]


def _was_there(figures: Sequence[int], old: Iterable[Sequence[int]]) -> bool:
    return any(all(now <= then for now, then in zip(figures, known, strict=True)) for known in old)
