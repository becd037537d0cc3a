"""What the limits of one project's own file leave it in a run over several. Relieves `replay` of the sums."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta

from nightschool.core.cycles import Budget, Spend
from nightschool.core.jobs import Usage
from nightschool.rules.aims import Targets
from nightschool.rules.gate import Policy
from nightschool.stages.door import added, fitting, used_up


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How one project's corrections are learned from, where its own file is stricter than the person's."""

    policy: Policy
    edit_budget: int
    targets: Targets


@dataclass(slots=True, kw_only=True)
class Share:
    """The part of one project: jobs on its tasks, and edits of its own corrections."""

    budget: Budget
    said_by: str
    """The file that says so."""
    spend: Spend = field(default_factory=Spend)
    worked: timedelta = timedelta(0)
    """While at least one job of it ran."""

    def left(self) -> int:
        return 0 if self.over() is not None else fitting(self.spend, self.budget)

    def over(self) -> str | None:
        """Which limit is used up, and who set it; None while there is some left."""
        why = used_up(self.spend, self.budget, self.worked)
        return None if why is None else f"{why} ({self.said_by})"

    def refuses(self, jobs: int) -> str | None:
        """Why so many more do not fit; None where they do."""
        if jobs <= self.left():
            return None
        return self.over() or f"{jobs} more jobs do not fit into the limits of {self.said_by}"

    def began(self, jobs: int) -> None:
        self.spend = replace(self.spend, jobs=self.spend.jobs + jobs, unsettled=self.spend.unsettled + jobs)

    def ended(self, usage: Usage, *, lost: bool) -> None:
        self.spend = added(self.spend, usage, lost=lost)
