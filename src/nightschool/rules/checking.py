"""Judges an outcome by the checks of its task. No model is asked."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nightschool.core.jobs import Delivered, Failed, Outcome, Reason
from nightschool.core.tasks import Check, Footprint, Touched
from nightschool.core.values import Value
from nightschool.rules.footprints import left_behind, right, wrong

JUDGE_VERSION = "checks-2"
"""Part of what a wealth belongs to: change it when a judgement could come out differently."""

_ENDED = {
    Reason.TIMEOUT: "it ran out of time",
    Reason.REFUSED: "the agent declined to do it",
    Reason.BAD_REPLY: "its reply could not be read",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement(Value):
    """The score of one outcome under metric `hard`; None where the attempt was lost."""

    score: float | None
    failed: tuple[int, ...]
    """Indexes of the checks that did not pass."""
    note: str
    """Why, in plain words. It never quotes what a check looks for: editors may come to see it."""


def judge(checks: Sequence[Check], outcome: Outcome) -> Judgement:
    """1.0 where every check passes, else 0.0. What failed outside the job has no score; all else that
    failed scores 0.0. A task without a check cannot be judged: `ValueError`."""
    if not checks:
        raise ValueError("a task without a check cannot be judged")
    if isinstance(outcome, Failed):
        if outcome.lost:
            return Judgement(score=None, failed=(), note="the attempt was lost outside of the work itself")
        ended = _ENDED.get(outcome.reason, "it ended early")
        return Judgement(score=0.0, failed=tuple(range(len(checks))), note=f"not finished: {ended}")
    complaints = [_complaint(check, outcome) for check in checks]
    failed = tuple(index for index, complaint in enumerate(complaints) if complaint)
    if not failed:
        return Judgement(score=1.0, failed=(), note="done the way the person had asked for")
    said = dict.fromkeys(complaint for complaint in complaints if complaint)
    return Judgement(score=0.0, failed=failed, note="; ".join(said))


def idle_passes(checks: Sequence[Check]) -> bool:
    """Whether doing nothing at all would pass: then the task may not serve."""
    return judge(checks, Delivered(reply="")).score == 1.0


def _complaint(check: Check, outcome: Delivered) -> str | None:
    match check:
        case Footprint():
            return _footprint(check, outcome)
        case Touched():
            return _touched(check.paths, (change.path for change in outcome.files))


def _footprint(check: Footprint, outcome: Delivered) -> str | None:
    if check.wanted is None and check.unwanted is None:
        raise ValueError("a footprint names what is wanted, what is unwanted, or both")
    text = left_behind(outcome)
    if wrong(check, text, outcome):
        return "it did what the person had said not to do"
    if check.wanted is not None and not right(check, text):
        return "it did not do it the way that the person had asked for"
    if check.wanted is None and not outcome.files:
        return "it changed nothing"
    return None


def _touched(paths: Iterable[str], changed: Iterable[str]) -> str | None:
    if {posixpath.normpath(path) for path in paths} & {posixpath.normpath(path) for path in changed}:
        return None
    return "it left untouched what the work is about"
