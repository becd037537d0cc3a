"""`nightschool run`: one cycle over the person's own sessions."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nightschool.cli import chosen_tasks, expected, planned, project_files, setting_up
from nightschool.cli.exits import ExitCode
from nightschool.cli.links import named
from nightschool.cli.options import Json
from nightschool.cli.output import Output
from nightschool.cli.progress import Told
from nightschool.cli.reading import entered, typed
from nightschool.cli.render import Line, Piece, Table
from nightschool.core.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from nightschool.cli.chosen_tasks import Given
    from nightschool.cli.planned import Course
    from nightschool.cli.project_files import Said
    from nightschool.core.cycles import CycleReport, Learned
    from nightschool.core.harness import Target
    from nightschool.stages.aiming import Aiming
    from nightschool.stages.cycle import Cycle
    from nightschool.stages.prepare import Preparation, Prepared
    from nightschool.wiring import Parts

Project = Annotated[
    Path | None, typer.Option(metavar="DIR", help="The project; without it, that of this folder.")
]
Projects = Annotated[
    list[Path] | None,
    typer.Option(metavar="DIR", help="The project, or one of several; without it, that of this folder."),
]
AllProjects = Annotated[bool, typer.Option("--all-projects", help="All projects at once.")]
Runner = Annotated[str | None, typer.Option(metavar="claude-code|codex|auto", help="Agent that practises.")]
Model = Annotated[
    str | None, typer.Option(metavar="NAME", help="Model that it uses; without it, the agent's own choice.")
]
Mode = Annotated[str | None, typer.Option(metavar="certify|suggest", help="What the gate says.")]
MaxJobs = Annotated[int | None, typer.Option(min=1, metavar="N", help="Jobs that it may start.")]
Scope = Annotated[str, typer.Option(metavar="auto|project|user", help="Whose memory file is edited.")]
Tasks = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Practise the tasks of this file alone: no transcript is read, no cursor moves."
    ),
]
Skill = Annotated[
    str | None,
    typer.Option(metavar="PATH", help="Improve one skill: its folder, its SKILL.md, or its name."),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Read and plan only: no job, no cursor, no proposal.")
]
Yes = Annotated[
    bool,
    typer.Option("--yes", "-y", help="Do not ask before it starts. Agrees to no project's set-up."),
]

Wait = Annotated[
    bool, typer.Option("--wait", help="Where another run is at work, start once it is done: one at a time.")
]

CERTIFIED = {"accept", "adopted", "waits-for-review"}
SUGGESTED = {"undecided", "underpowered"}
GOES_ON = {"budget-ended", "next-run", "lost"}
SETTLED = {"already-published", "already-followed", "taken-back", "pinned", "switched-off"}
"""Nothing was tried for these: they are no failure to certify."""
IDLE = "nothing to do: no job was started, so this run is no cycle and leaves no report"


def run(  # noqa: PLR0913 - one parameter an option
    *,
    project: Projects = None,
    all_projects: AllProjects = False,
    runner: Runner = None,
    model: Model = None,
    mode: Mode = None,
    max_jobs: MaxJobs = None,
    scope: Scope = "auto",
    skill: Skill = None,
    tasks: Tasks = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    agree_setup: setting_up.AgreeSetup = None,
    wait: Wait = False,
    json: Json = False,
) -> ExitCode:
    """Read new sessions, practise what you keep correcting, and stage proposals for your review.

    It learns from the sessions of the project that holds this folder, read where Claude Code and Codex keep
    them; new ones of other projects are read along, and kept for the runs of theirs. The agent that is
    installed practises in a sandbox without a network, with at most 100 jobs and 60 minutes. No file of
    yours changes: that is for `nightschool adopt`; `nightschool undo` takes it back.

    \b
    Example:
      nightschool run --dry-run --skill .claude/skills/release-notes
      nightschool run --tasks tasks.toml
    """
    from nightschool.cli import opening  # noqa: PLC0415 - help needs no store
    from nightschool.cli.report import keep  # noqa: PLC0415

    out = Output(json=json)
    flags = {"runner": runner, "model": model, "gate.mode": mode, "limits.max_jobs": max_jobs}
    root = opening.project_roots(project or (), out, every=all_projects)
    if not yes:
        _ask_about_home(root, out)
    told_to = Told()
    given = chosen_tasks.Given.of(tasks, root)
    single = project[0] if project else None
    with opening.opening(flags, single, rehearsal=dry_run, own=_several(root)) as parts:
        if dry_run:
            cycle = _cycle(parts, root, scope, skill, told_to)
            return _rehearsed(parts, cycle, root, told_to, out, given, single, scope)
        notes = [] if given is None else given.permit(parts)
        cycle = parts.cycle(project=root, scope=scope, skill=skill, progress=told_to)
        cycle.notes += notes
        with entered(cycle.held, out, wait=wait):
            with told_to.shown(out, "run"):
                prepared = _prepared(parts, cycle.preparation, given)
            said = _said(parts, prepared, root, single)
            said.into(cycle)
            found = _agreed(parts, cycle, prepared, root, out, said, yes=yes, set_ups=agree_setup or ())
            if all(one.code is not None for one in found):
                return _idle(parts, cycle, prepared, found, out, said)
            with told_to.shown(out, "run, jobs"):
                report = cycle.practise(prepared)
        lines = [*told(report, parts.place), f"report: {keep(parts, report)}, and the same as .md and .json"]
    code = ExitCode.WRONG_USE if said.wrong else code_of(item.code for item in report.learned)
    return out.result(report, lines, code)


def _said(parts: Parts, prepared: Prepared, root: str | None, single: Path | None) -> Said:
    """What the files of the projects say of this run."""
    standing, left_out = typed(single or Path()).resolve(), prepared.harvested.left_out
    return project_files.said(parts, prepared.mined.tasks, root, standing, left_out)


def _several(pool: str | None) -> bool:
    """Then the person's own settings hold for the whole, and each project's limits for its part."""
    from nightschool.core.tasks import only_root  # noqa: PLC0415 - help needs no tasks

    return pool is None or only_root(pool) is None


def _ask_about_home(pool: str | None, out: Output) -> None:
    if pool is not None and str(Path.home()) in pool.splitlines():
        out.confirm(
            "This is your home folder, not a project. Take all that lies directly in it as one?",
            otherwise="go to a project, name one with --project, take --all-projects, or pass --yes.",
        )


def _agreed(
    parts: Parts,
    cycle: Cycle,
    prepared: Prepared,
    root: str | None,
    out: Output,
    said: Said,
    *,
    yes: bool,
    set_ups: Sequence[str],
) -> Sequence[Course]:
    """What is to be done, once the agent can work and the person wants it to, asked only where there is
    work."""
    ups = setting_up.wanted(parts, said.fit(prepared.mined.tasks))
    cycle.replay.provisions |= ups.provisions
    found = planned.courses(parts, cycle, prepared)
    if all(one.code is not None or one.jobs == 0 for one in found):
        # Nobody was asked, so nothing may start, whatever was not foreseen.
        cycle.door.closed = True
        return found
    cycle.door.runner.check()
    if (trouble := expected.unkept(parts, cycle.door.runner)) is not None:
        raise UserError(trouble)
    asks = not yes and not expected.agreed_before(parts, cycle.door.name, root)
    plan = [*_plan(parts, prepared, root, cycle.aiming, found), *said.told] if asks else None
    if plan is None:
        jobs, least = _in_all(parts, found)
        out.note(f"expected: {expected.in_short(parts, jobs, least)}", *expected.limits_told(parts))
    setting_up.consent(parts, ups, out, plan=plan, agreed=set_ups)
    return found


def _idle(
    parts: Parts, cycle: Cycle, prepared: Prepared, found: Sequence[Course], out: Output, said: Said
) -> ExitCode:
    """A run that has nothing to do says why of each correction. It is no cycle: it has no number and leaves
    no report."""
    settled = [one.outlook.learned for one in found if one.outlook is not None]
    report = cycle.report(prepared, [one for one in settled if one is not None])
    document = {field.name: getattr(report, field.name) for field in fields(report)} | {"cycle": None}
    lines = [Line(IDLE, "bold"), *told(report, parts.place)]
    code = ExitCode.WRONG_USE if said.wrong else code_of(item.code for item in report.learned)
    return out.result(document, lines, code)


def code_of(came_to: Iterable[str]) -> ExitCode:
    """3 where something was tried and nothing that passed waits for the person."""
    codes = set(came_to)
    return ExitCode.DONE if codes & CERTIFIED or codes <= SETTLED else ExitCode.NOTHING_CERTIFIED


def _prepared(parts: Parts, preparation: Preparation, given: Given | None) -> Prepared:
    """From what sessions tell, or from the tasks that were given alone."""
    return (
        preparation.prepare(parts.harvest_request()) if given is None else given.prepared(parts, preparation)
    )


def _cycle(parts: Parts, root: str | None, scope: str, skill: str | None, told_to: Told) -> Cycle | None:
    """What would practise; None while no agent is there to say what it reads."""
    from nightschool.core.errors import RunnerUnusable  # noqa: PLC0415 - help needs no rules

    try:
        return parts.cycle(project=root, scope=scope, skill=skill, progress=told_to)
    except RunnerUnusable:
        if skill is not None:
            raise
        return None


def _rehearsed(
    parts: Parts,
    cycle: Cycle | None,
    root: str | None,
    told_to: Told,
    out: Output,
    given: Given | None,
    single: Path | None,
    scope: str,
) -> ExitCode:
    """What a run would do. It needs no agent: what is missing is a line of the plan."""
    due = [f"a run would begin with this: {line}" for line in parts.forget_due()]
    with told_to.shown(out, "read"):
        prepared = _prepared(parts, parts.preparation(project=root, progress=told_to), given)
    said = _said(parts, prepared, root, single)
    ups = setting_up.wanted(parts, said.fit(prepared.mined.tasks))
    if cycle is not None:
        said.into(cycle)
        cycle.replay.provisions |= ups.provisions
    found = planned.courses(parts, cycle, prepared, project=root, scope=scope)
    plan = _plan(parts, prepared, root, None if cycle is None else cycle.aiming, found)
    plan += given.unreviewed() if given is not None else []
    plan += [*said.told, *due]
    if prepared.mined.candidates:
        plan += ups.told()
    code = ExitCode.WRONG_USE if said.wrong else ExitCode.DONE
    return out.result(_planned(plan, prepared, found), [*plan, "nothing was started, stored or staged"], code)


def _plan(
    parts: Parts, prepared: Prepared, root: str | None, aiming: Aiming | None, courses: Sequence[Course]
) -> list[Piece | str]:
    from nightschool.rules.report import read_along, unread  # noqa: PLC0415 - help needs no rules
    from nightschool.rules.telling import BY_YOUR_WORD, counted, left_out  # noqa: PLC0415
    from nightschool.rules.worth import told_waiting  # noqa: PLC0415

    tasks, found = prepared.mined.tasks, prepared.mined.candidates
    settled = [one for one in courses if one.code is not None]
    jobs, least = _in_all(parts, courses)
    train = sum(task.split == "train" for task in tasks)
    words = prepared.words
    rows = [
        (
            words[one.candidate.id],
            len(one.candidate.sessions),
            one.shown,
            one.why,
        )
        for one in courses
    ]
    columns = ("correction", "sessions", "would edit", "since")
    return [
        f"{counted(prepared.known_own or 0, 'session')} of {_where(root)} known, {len(prepared.own)} of them "
        "with something new since the last cycle; "
        f"{counted(len(prepared.mined.corrections), 'correction')} in {_where(root)}, "
        f"{len(found)} of them worth an edit"
        + (f", {len(settled)} of these with nothing to do now" if settled else ""),
        *(left_out(count, reason) for reason, count in prepared.harvested.counts if reason in BY_YOUR_WORD),
        *read_along(prepared.elsewhere),
        *unread(prepared.harvested.postponed, prepared.harvested.looked_back_to),
        *(f"  {line}" for line in told_waiting(prepared.mined.waiting)),
        *([Table(columns=columns, rows=rows)] if rows else []),
        *planned.exams(courses, words),
        *(() if aiming is None else aiming.notes(found)),
        f"{counted(train, 'task')} to practise on, {len(tasks) - train} held out for the exam",
        *(expected.lines(parts, jobs, least) if rows else []),
        *(_runs(parts, courses) if rows else []),
    ]


def _in_all(parts: Parts, courses: Sequence[Course]) -> tuple[int, int]:
    """Jobs of one run, at a usual gain and at a clear one, as far as the limits allow."""
    most = expected.room(parts).jobs
    busy = [one for one in courses if one.code is None]
    return min(most, sum(one.jobs for one in busy)), min(most, sum(one.clear for one in busy))


def _runs(parts: Parts, courses: Sequence[Course]) -> list[str]:
    """Where one run is probably not enough."""
    from nightschool.rules.telling import counted  # noqa: PLC0415 - help needs no rules

    room, jobs = expected.room(parts), sum(one.jobs for one in courses if one.code is None)
    if room.limit is None or jobs <= room.jobs:
        return []
    if not room.jobs:
        return [f"{room.limit} leaves no room for a single job, so nothing would be tried"]
    return [
        f"all of it takes up to {counted(jobs, 'job')}, and {room.limit} allows about {room.jobs} a run, so "
        f"up to {-(-jobs // room.jobs)} runs: an exam that was begun keeps its evidence and goes on in the "
        "next"
    ]


def _where(pool: str | None) -> str:
    from nightschool.core.tasks import roots_in  # noqa: PLC0415 - help needs no tasks

    roots = roots_in(pool)
    if roots is None:
        return "all projects"
    return "this project" if len(roots) == 1 else f"these {len(roots)} projects"


def _planned(plan: list[Piece | str], prepared: Prepared, courses: Sequence[Course]) -> dict[str, object]:
    return {
        "dry_run": True,
        "sessions": [session.id for session in prepared.own],
        "sessions_elsewhere": prepared.elsewhere,
        "candidates": prepared.mined.candidates,
        "exams": [one.exam for one in courses if one.exam is not None],
        "settled": [one.document for one in courses if one.code is not None],
        "tasks": [task.id for task in prepared.mined.tasks],
        "plan": [piece for piece in plan if isinstance(piece, str)],
    }


def _aims(learned: Iterable[Learned], place: Callable[[Target], Path]) -> list[str]:
    """Which file is edited for which corrections, and why that one: each pair of these once."""
    said: dict[tuple[str, str], list[str]] = {}
    for item in learned:
        if item.target is not None:
            said.setdefault((named(place(item.target)), item.aim), []).append(f'"{item.statement}"')
    one = len(said) == 1
    return [
        f"{'all' if one else ', '.join(words)}: for {file}" + (f", since {aim}" if aim else "")
        for (file, aim), words in said.items()
    ]


def told(report: CycleReport, place: Callable[[Target], Path]) -> list[Piece | str]:
    """A report on the screen. `place` says where a target lies."""
    from nightschool.rules.came_to import in_full  # noqa: PLC0415
    from nightschool.rules.report import job_lines, missing_line, read_along, stands_on  # noqa: PLC0415
    from nightschool.rules.telling import counted, left_out  # noqa: PLC0415

    rows = [(item.draft, item.statement, in_full(item.code), item.why) for item in report.learned]
    pieces: list[Piece | str] = [
        f"{stands_on(report)}; "
        f"{counted(report.corrections, 'correction')}, {report.candidates} worth an edit; "
        f"{counted(report.tasks_train, 'task')} to practise on, {report.tasks_holdout} held out for the exam",
        *read_along(report.sessions_elsewhere),
        *(left_out(count, reason) for reason, count in report.left_out),
    ]
    if rows:
        pieces.append(Table(columns=("proposal", "correction", "came to", "why"), rows=rows))
        pieces += [Line(line, "dim") for line in _aims(report.learned, place)]
    elif report.corrections:
        pieces.append("nothing to learn yet")
    ended = [Line(f"ended by: {report.ended_by}", "dim")] if report.ended_by else []
    pieces += [
        *(Line(line, "dim") for line in job_lines(report)),
        *ended,
        *(Line(note, "dim") for note in report.notes),
    ]
    if report.missing:
        pieces.append(Line(missing_line(report.missing), "dim"))
    return [*pieces, _next(report)]


def _next(report: CycleReport) -> str:
    """To look at first what can be adopted, then an exam that a limit cut short, which the next run goes on
    with, then what may be adopted; once nothing waits, when to come again."""
    codes = {item.code for item in report.learned}
    if report.ended_by and "undecided" in codes and not codes & (CERTIFIED - {"adopted"}):
        return "next: nightschool run  (it goes on from here)"
    places = (CERTIFIED, SUGGESTED, codes - SETTLED)
    for some in places:
        for item in report.learned:
            if item.draft is not None and item.code in some - {"adopted"}:
                return f"next: nightschool show {item.draft} --diff"
    if any(item.code in GOES_ON for item in report.learned):
        return "next: nightschool run  (it goes on from here)"
    if any(item.code == "needs-you" for item in report.learned):
        return "next: what is said above, then nightschool run"
    return "next: nightschool run  (after some more work with your agents)"
