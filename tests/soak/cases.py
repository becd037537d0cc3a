"""What a soak is made of: parts of many seeded cases, run in processes of their own and counted."""

from __future__ import annotations

import multiprocessing
import signal
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

WATCHDOG = 300
"""Seconds after which a case is taken to hang."""
SHARE = 20
"""The ordinary tests run one case in so many."""
Seen = Counter[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One case. All that is chosen in it comes from `random`, which seed, part and number make."""

    number: int
    random: Random
    folder: Path
    """Empty, and removed afterwards."""
    shared: Path
    """For what is made once and used by all cases of a run."""

    @classmethod
    def of(cls, part: Part, seed: int, number: int, base: Path) -> Case:
        shared, folder = base / "shared", base / f"{part.name.replace(' ', '-')}-{number}"
        shared.mkdir(exist_ok=True)
        folder.mkdir()
        return cls(number=number, random=Random(f"{seed} {part.name} {number}"), folder=folder, shared=shared)


def nothing_more(_seen: Seen) -> Sequence[str]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Many cases of one kind."""

    name: str
    """In the table."""
    group: str
    """What `PART=` names."""
    holds: str
    """What every case asserts, in words."""
    cases: int
    check: Callable[[Case], Seen]
    """Raises where the rule is broken; else what was seen, to be added up."""
    judge: Callable[[Seen], Sequence[str]] = nothing_more
    """What all cases together broke."""
    table: Callable[[Seen], Sequence[str]] = nothing_more
    """Lines of a table of its own."""

    @property
    def few(self) -> int:
        """How many of them the ordinary tests run."""
        return -(-self.cases // SHARE)


@dataclass(slots=True, kw_only=True)
class Result:
    part: Part
    cases: int
    seen: Seen = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


def run(part: Part, *, seed: int, cases: int, width: int, first: int = 0) -> Result:
    """The part's cases from `first` on, in `width` processes that nothing else runs in."""
    result = Result(part=part, cases=cases)
    # Spawned, so that no thread of this process is in a process that forks to be killed.
    context = multiprocessing.get_context("spawn")
    with (
        tempfile.TemporaryDirectory(prefix="nightschool-soak-") as base,
        ProcessPoolExecutor(width, mp_context=context) as pool,
    ):
        begun: dict[Future[Seen], int] = {
            pool.submit(_checked, part, seed, number, Path(base)): number
            for number in range(first, first + cases)
        }
        for future in as_completed(begun):
            error = future.exception()
            if error is None:
                result.seen.update(future.result())
            else:
                result.failures.append(f"{part.name}, seed {seed}, case {begun[future]}: {_told(error)}")
    result.failures += part.judge(result.seen)
    return result


def _checked(part: Part, seed: int, number: int, base: Path) -> Seen:
    signal.signal(signal.SIGALRM, _hangs)
    signal.alarm(WATCHDOG)
    case = Case.of(part, seed, number, base)
    seen = part.check(case)
    signal.alarm(0)
    _remove(case.folder)
    return seen


def _hangs(_number: int, _frame: FrameType | None) -> None:
    raise TimeoutError(f"no end after {WATCHDOG} seconds")


def _remove(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        else:
            path.unlink()
    folder.rmdir()


def _told(error: BaseException) -> str:
    """With the trace of the process that it happened in."""
    cause: Any = error.__cause__
    return f"{type(error).__name__}: {error}\n{cause if cause is not None else ''}"


def markdown(results: Sequence[Result]) -> Iterator[str]:
    """One table of all parts, then those that have one of their own."""
    yield "| part | cases | failures | what held in each | seen |"
    yield "| --- | ---: | ---: | --- | --- |"
    for result in results:
        part = result.part
        seen = ", ".join(f"{count:,} {what}" for what, count in sorted(result.seen.items()))
        shown = "" if part.table is not nothing_more else seen
        yield f"| {part.name} | {result.cases:,} | {len(result.failures)} | {part.holds} | {shown} |"
    for result in results:
        lines = result.part.table(result.seen)
        if lines:
            yield ""
            yield from lines
