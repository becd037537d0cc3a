"""What a run would do with each correction, asked as the run itself asks. Relieves `run` of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nightschool.cli.expected import JOBS_A_CANDIDATE, room
from nightschool.cli.links import named
from nightschool.cli.nested import own_file_below
from nightschool.cli.render import Line, Piece, Table
from nightschool.core.errors import UserError
from nightschool.rules.came_to import in_short
from nightschool.rules.telling import counted

if TYPE_CHECKING:
    from nightschool.core.tasks import Candidate
    from nightschool.rules.prospects import Prospect
    from nightschool.stages.cycle import Cycle
    from nightschool.stages.outlook import Outlook
    from nightschool.stages.prepare import Prepared
    from nightschool.wiring import Parts


IF_ANOTHER = ", if there is another edit"
"""Behind a file whose edit the person turned down: only the answer of the one who edits tells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """What becomes of one candidate."""

    candidate: Candidate
    file: Path | None = None
    """That an edit would change; None where none may be, or no agent is there to say."""
    outlook: Outlook | None = None
    """None while no agent is there."""
    jobs: int = JOBS_A_CANDIDATE
    """To expect until it is decided, at a usual gain."""
    clear: int = JOBS_A_CANDIDATE
    """The same where the edit helps in every try."""
    first: int = 1
    """The run in which it is decided where all edits help in every try, from 1."""
    run: int = 1
    """In which run it is probably decided, or staged as a suggestion."""
    bar: str | None = None
    """Why no exam can certify it; None where one can."""
    why: str | None = None
    """Why that file, or why nothing is done."""
    places: tuple[str, ...] = ()
    """While no agent is there: the file that each would have edited, and which agent that is."""

    @property
    def code(self) -> str | None:
        """Why no job is started for it, as a report says it; None: it would be practised."""
        return self.outlook.done[0] if self.outlook is not None and self.outlook.done is not None else None

    @property
    def shown(self) -> object:
        """Where the plan shows the file."""
        if self.code == "pinned":
            return f"{self.file} (pinned: left alone)"
        if self.places:
            return " or ".join(self.places)
        if self.code is None:
            again = self.outlook is not None and self.outlook.rejected is not None
            return None if self.file is None else named(self.file) + (IF_ANOTHER if again else "")
        return in_short(self.code)

    @property
    def document(self) -> dict[str, object]:
        draft = None if self.outlook is None or self.outlook.done is None else self.outlook.done[2]
        return {"candidate": self.candidate.id, "code": self.code, "why": self.why, "draft": draft}

    @property
    def exam(self) -> dict[str, object] | None:
        """What its exam takes, for a program; None where nothing would be done, or nobody can say."""
        if self.outlook is None or self.code is not None:
            return None
        found = self.outlook.prospect
        return {
            "candidate": self.candidate.id,
            "kinds_held_out": found.clusters,
            "can_pass": self.bar is None,
            "why_not": self.bar,
            "begun": found.begun,
            "jobs_at_least": found.least,
            "jobs_if_clear": self.clear,
            "jobs_probably": self.jobs,
            "decided_in_run": self.run if self.bar is None else None,
        }


def courses(
    parts: Parts,
    cycle: Cycle | None,
    prepared: Prepared,
    *,
    project: str | None = None,
    scope: str = "auto",
) -> list[Course]:
    """Those that the run is about. Without an agent nothing is known but which files each agent in which it
    was said would have edited."""
    from nightschool.rules.prospects import in_turn  # noqa: PLC0415 - help needs no rules

    if cycle is None:
        return [
            Course(candidate=one, places=_places(parts, one, project, scope))
            for one in prepared.mined.candidates
        ]
    outlooks, whole = cycle.outlooks(prepared), room(parts).jobs
    found: dict[int, Course] = {}
    used = clear = 0
    for number in in_turn([one.prospect for one in outlooks]):
        own = outlooks[number]
        bar = _bar(own.prospect, cycle)
        jobs, least = _jobs(own, cycle, bar)
        used, clear = used + jobs, clear + least
        found[number] = Course(
            candidate=own.candidate,
            file=None if own.target is None else parts.place(own.target),
            outlook=own,
            jobs=jobs,
            clear=least,
            first=_run(clear, whole),
            run=_run(used, whole),
            bar=bar,
            why=_why(own, parts) if own.done is None else parts.redact(own.done[1]),
        )
    return [found[number] for number in range(len(outlooks))]


def _places(parts: Parts, candidate: Candidate, project: str | None, scope: str) -> tuple[str, ...]:
    from nightschool.plug_ins import known  # noqa: PLC0415 - help needs no wiring

    said_to = {session.partition(":")[0] for session in candidate.sessions}
    found = []
    for agent in sorted(said_to & set(known("surfaces"))):
        try:
            target = parts.aiming(agent, project=project, scope=scope).aim(candidate).target
        except UserError as error:
            return (str(error),)
        if target is not None:
            found.append(f"{named(parts.place(target))} (by {agent})")
    return tuple(found)


def _why(own: Outlook, parts: Parts) -> str:
    """Why that file, and what the person should know before jobs are spent on it."""
    told = [own.aim]
    if own.rejected is not None:
        asks = counted(own.prospect.practice, "job")
        told.append(
            f"you turned {own.rejected} down, and what it says is not proposed again: {asks} to ask for "
            "another edit, and where the answer holds none, nothing more is tried and nothing is proposed"
        )
    if own.elsewhere is not None:
        told.append(
            f"you took {own.elsewhere.id} back, which said it in {named(parts.place(own.elsewhere.target))}; "
            "this is another file (`nightschool pin FILE` keeps it as it is)"
        )
    nested = None if own.target is None else own_file_below(own.candidate, own.target, parts)
    if nested is not None:
        told.append(nested)
    if own.said is not None:
        told.append(f"the file says already: {parts.redact(own.said)!r}, so its turn comes last")
    return "; ".join(told)


def _jobs(own: Outlook, cycle: Cycle, bar: str | None) -> tuple[int, int]:
    """At a usual gain, and at a clear one."""
    if own.done is not None:
        return 0, 0
    if bar is not None:
        return own.prospect.practice, own.prospect.practice
    policy = cycle.policy_of(own.candidate)
    return own.prospect.probably(policy), own.prospect.if_clear(policy)


def _bar(own: Prospect, cycle: Cycle) -> str | None:
    """Why no exam can certify it, also where the limits of one run leave no room to begin one."""
    left = cycle.door.left()
    if own.barred is not None or own.begun or own.least <= left:
        return own.barred
    return f"practice and exam take {own.least} jobs or more in one run, and {cycle.door.scarce()}"


def _run(used: int, whole: int) -> int:
    """The corrections before it in the order of their turns are decided first."""
    return max(1, -(-used // max(1, whole)))


def exams(found: Sequence[Course], said: dict[str, str]) -> list[Piece | str]:
    """What the exam of each takes, and when it is probably decided."""
    rows, bars = [], []
    for one in found:
        if one.outlook is None or one.code is not None:
            continue
        own, words = one.outlook.prospect, said[one.candidate.id]
        if one.bar is not None:
            bars.append(f"{words}: can only become a suggestion. {one.bar}")
        jobs = f"{one.clear} to {one.jobs}" if one.clear < one.jobs else str(one.jobs)
        rows.append((words, own.clusters, _can_pass(one), jobs, _when(one)))
    if not rows:
        return []
    heads = ("exam of", "kinds held out", "can pass", "jobs", "decided in")
    return [Table(columns=heads, rows=rows), *(Line(bar, "dim") for bar in bars)]


def _can_pass(one: Course) -> str:
    if one.bar is not None or one.outlook is None:
        return "no"
    if one.outlook.prospect.won:
        return "yes: its evidence is there"
    return "yes: goes on" if one.outlook.prospect.begun else "yes"


def _when(one: Course) -> str:
    when = "this run" if one.run == 1 else f"run {one.run} from now"
    if one.first < one.run:
        when = f"run {one.first} to {one.run} from now"
    return when if one.bar is None else f"{when}: a suggestion"
