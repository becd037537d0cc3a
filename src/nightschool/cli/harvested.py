"""What `harvest` tells while it reads, a line for each session as it comes, and the sums at the end.

Relieves `harvest`, which says what is read and what each session holds.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nightschool.cli.render import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from nightschool.cli.output import Output, Steps
    from nightschool.core.sessions import LeftOut, Session
    from nightschool.rules.words import Words
    from nightschool.stages.told import Step

MEGABYTE = 1_000_000


@dataclass(slots=True)
class Reading:
    """How far it is: files, those of each agent, and how fast."""

    steps: Steps
    began: float = field(default_factory=time.monotonic)
    size: int = 0
    files: Counter[str] = field(default_factory=Counter)

    def at(self, step: Step) -> None:
        self.size += step.size
        self.files[step.source] += 1
        each = ", ".join(f"{count} {source}" for source, count in self.files.most_common())
        rate = self.size / MEGABYTE / max(time.monotonic() - self.began, 1e-3)
        self.steps.at(step.done, step.total, beside=f"{rate:.1f} MB/s, {each}")


@dataclass(slots=True)
class Stream:
    """One line for each session, and for each file that gave none and was left out."""

    out: Output
    row: Callable[[Session], dict[str, object]]
    wanted: Callable[[Session], bool]
    words: Words
    told: set[str] = field(default_factory=set)
    named: set[LeftOut] = field(default_factory=set)

    def at(self, step: Step) -> None:
        if step.session is not None and self.wanted(step.session):
            self.session(step.session, step.left_out, new=True)
        else:
            self.left_out(step.left_out)

    def session(self, session: Session, left_out: Sequence[LeftOut] = (), *, new: bool) -> None:
        from nightschool.rules.signals import signals  # noqa: PLC0415 - help needs no rules

        self.told.add(session.id)
        self.named |= set(left_out)
        line = {
            **self.row(session),
            "path": session.path,
            "new": new,
            "turns": session.turns,
            "signals": signals(session, self.words),
            "left_out": left_out,
        }
        self.out.line(line)

    def left_out(self, found: Iterable[LeftOut]) -> None:
        """What belongs to no session, a file a line."""
        paths: dict[str, list[LeftOut]] = {}
        for out in found:
            if out not in self.named:
                paths.setdefault(out.path, []).append(out)
                self.named.add(out)
        for path, of_file in paths.items():
            self.out.line({"id": None, "path": path, "left_out": of_file})

    def rest(self, sessions: Iterable[Session], left_out: Iterable[LeftOut]) -> None:
        """What was known before, and what was left out unopened."""
        for session in sessions:
            if session.id not in self.told and self.wanted(session):
                self.session(session, new=False)
        self.left_out(left_out)


def summary(rows: Sequence[dict[str, object]], new: Sequence[str], name: Callable[..., str | None]) -> Table:
    """The same sums for each agent in each project."""
    columns = ("human_turns", "tool_calls", "tool_errors", "refusals", "corrections")
    sums: dict[tuple[str, str | None], Counter[str]] = {}
    for row in rows:
        of_both = sums.setdefault((str(row["source"]), name(row)), Counter())
        of_both["sessions"] += 1
        of_both["new"] += row["id"] in new
        for column in columns:
            count = row[column]
            of_both[column] += count if isinstance(count, int) else 0
    heads = ("agent", "project", "sessions", "new", "turns", "calls", "errors", "refused", "corrected")
    cells = [
        (agent, project, *(counts[column] for column in ("sessions", "new", *columns)))
        for (agent, project), counts in sorted(sums.items(), key=lambda item: (item[0][0], item[0][1] or ""))
    ]
    return Table(columns=heads, rows=cells, title="by agent and project")
