"""`nightschool demo`: the whole loop on recorded sessions, with a scripted apprentice, in its own folder."""

from __future__ import annotations

import fcntl
import os
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nightschool.cli.exits import ExitCode
from nightschool.cli.options import Json
from nightschool.cli.output import Output
from nightschool.cli.progress import Told
from nightschool.cli.render import Diff, Line, Piece, Table
from nightschool.core.errors import UserError

if TYPE_CHECKING:
    from nightschool.core.cycles import CycleReport, Learned
    from nightschool.core.harness import LiveFile
    from nightschool.core.proposals import Draft, Verdict
    from nightschool.stages.cycle import Cycle
    from nightschool.stages.prepare import Prepared
    from nightschool.wiring import Parts

HONEST = "No model is called here: a scripted apprentice does the work, on real files."


Into = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="Only lay the recorded sessions and project out there, to try commands."
    ),
]


def demo(*, into: Into = None, json: Json = False) -> ExitCode:
    """See the whole loop in seconds: no key, no network, nothing of yours is read or changed.

    Sessions that Claude Code and Codex really wrote are read; a correction that recurs in them is found,
    practised, proposed, examined, adopted and taken back, all in a temporary folder. The one who works is
    a scripted apprentice: no model is called.

    \b
    Example:
      nightschool demo
      nightschool demo --into ~/practice
    """
    began = time.monotonic()
    out = Output(json=json)
    if into is not None:
        return _laid_out(into.expanduser().absolute(), out)
    with place() as folder:
        return _play(folder, out, began)


@contextmanager
def place() -> Iterator[Path]:
    """A folder that is thrown away, of the same name each time: the lots of an exam hang on the place of its
    project, and the demo is to come out the same each time. Where that name is taken by somebody else, or by
    another demo at work, one by chance."""
    folder = Path(tempfile.gettempdir(), "nightschool-demo")
    with ExitStack() as stack:
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        try:
            there = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            stack.callback(os.close, there)
            found = os.fstat(there)
            if found.st_uid != os.getuid() or found.st_mode & 0o077:
                raise PermissionError(folder)
            fcntl.flock(there, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if folder.stat().st_ino != found.st_ino:
                raise FileNotFoundError(folder)  # that of a demo which ended just now
        except OSError:
            folder = Path(tempfile.mkdtemp(prefix="nightschool-demo-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        for left in folder.iterdir():  # by one that was killed
            if left.is_dir() and not left.is_symlink():
                shutil.rmtree(left)
            else:
                left.unlink()
        yield folder


def _laid_out(folder: Path, out: Output) -> ExitCode:
    """A HOME to practise in: the tutorial's."""
    from nightschool.testing.demo import lay_out  # noqa: PLC0415 - help needs no material

    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"--into {folder}: is there already and is not empty; name a new folder")
    folder.mkdir(parents=True, exist_ok=True)
    project = lay_out(folder)
    return out.result(
        {"home": folder, "project": project},
        [
            f"laid out in {folder}: a project with recorded sessions of both agents. To try commands there:",
            f"  cd {shlex.quote(str(project))}",
            f"  export HOME={shlex.quote(str(folder))} NIGHTSCHOOL_RUNNER=scripted",
            f"  {_called()} corrections",
            "It is another HOME for that shell: nothing of yours is read or changed.",
        ],
    )


def _play(folder: Path, out: Output, began: float) -> ExitCode:
    from nightschool.testing.demo import lay_out  # noqa: PLC0415 - help needs no material

    out.show(Line("nightschool demo", "bold"), HONEST, "")
    person = folder / "person"
    person.mkdir()
    project = lay_out(person)
    sandbox = _sandbox(folder, person, out)
    told_to = Told()
    with _parts(folder, person, sandbox) as parts:
        cycle = parts.cycle(project=str(project), progress=told_to)
        with cycle.held():
            with told_to.shown(out, "demo"):
                prepared = cycle.prepare(parts.harvest_request(everything=True))
            out.show(*_heard(prepared))
            with told_to.shown(out, "demo, jobs"):
                report = cycle.practise(prepared)
        best = next((item for item in report.learned if item.code == "accept"), None)
        summary = _summary(report, prepared)
        if best is None or best.draft is None:
            out.show(*_unlucky(report))
            return out.result(
                {**summary, "seconds": time.monotonic() - began}, [], ExitCode.NOTHING_CERTIFIED
            )
        shown = _proposal(parts, best.draft)
        out.show(*_examined(shown), *_others(report, best))
        taken = _adopt_and_undo(parts, cycle, prepared, shown.draft, out)
    seconds = time.monotonic() - began
    document = {
        **summary,
        "pairs": shown.verdict.pairs,
        "wealth": shown.verdict.wealth,
        "verdict": shown.verdict.kind,
        **taken,
        "seconds": seconds,
    }
    return out.result(document, _next(seconds))


@dataclass(frozen=True, slots=True)
class _Shown:
    draft: Draft
    verdict: Verdict
    diff: str


def _parts(folder: Path, person: Path, sandbox: str) -> Any:
    from nightschool import settings  # noqa: PLC0415
    from nightschool.wiring import opened  # noqa: PLC0415

    config = folder / "config.toml"
    config.touch()
    chosen = settings.load(
        project=None,
        environment={"NIGHTSCHOOL_HOME": str(folder / "home"), "NIGHTSCHOOL_CONFIG": str(config)},
        flags={"runner": "scripted", "sandbox": sandbox, "limits.max_jobs": "none"},
    )
    path = {"PATH": os.environ.get("PATH", os.defpath)}
    return opened(chosen, environment=path, person_home=person, demo=True)


def _sandbox(folder: Path, person: Path, out: Output) -> str:
    """bubblewrap, or for this content of ours alone, and said aloud, none."""
    from nightschool.core.errors import SandboxUnavailable  # noqa: PLC0415
    from nightschool.core.sandboxes import SandboxPlan  # noqa: PLC0415
    from nightschool.core.tasks import FilesSource  # noqa: PLC0415

    with _parts(folder, person, "bubblewrap") as parts:
        try:
            with parts.sandbox().open(SandboxPlan(workspace=FilesSource())):
                return "bubblewrap"
        except SandboxUnavailable as error:
            why = str(error).splitlines()[-1].strip()
            told = f"unsafe-process: this demo runs WITHOUT a sandbox, a run of yours would not start ({why})"
            out.note(Line(told, "red"))
            return "unsafe-process"


def _heard(prepared: Prepared) -> list[Piece | str]:
    sessions = prepared.harvested.sessions
    by_agent = {
        source: sum(s.source == source for s in sessions) for source in sorted({s.source for s in sessions})
    }
    rows = [
        (
            len(item.sessions),
            item.statement,
            ", ".join(item.sources),
            f"{item.last_at:%Y-%m-%d}" if item.last_at else None,
        )
        for item in prepared.mined.corrections
        if item.recurs
    ]
    train = sum(task.split == "train" for task in prepared.mined.tasks)
    return [
        f"1. Read {len(sessions)} sessions: "
        + ", ".join(f"{n} of {name}" for name, n in by_agent.items())
        + ".",
        "2. What the person kept saying:",
        Table(columns=("sessions", "correction", "agents", "last"), rows=rows),
        f"3. Practise: {train} train tasks, {len(prepared.mined.tasks) - train} held out for the exam.",
        "",
    ]


def _proposal(parts: Parts, draft_id: str) -> _Shown:
    from nightschool.cli.difference import difference  # noqa: PLC0415
    from nightschool.stages.releases import dossier  # noqa: PLC0415

    case = dossier(parts.store, draft_id)
    draft = case.draft
    return _Shown(draft=draft, verdict=case.verdicts[-1], diff=difference(draft, parts))


def _examined(shown: _Shown) -> list[Piece | str]:
    from nightschool.cli.verdicts import curve, scores  # noqa: PLC0415
    from nightschool.core.trials import SIDE_CHECKS  # noqa: PLC0415
    from nightschool.rules.telling import counted, figures  # noqa: PLC0415

    verdict, moment = shown.verdict, shown.draft.edits[0].moment
    able = sum(guard.could_show for guard in verdict.guards if guard.task != SIDE_CHECKS)
    guards = f"{counted(able, 'guard task')} unharmed" if able else "no guard task"
    return [
        f"4. Proposal {shown.draft.id}, in the person's own words (session {moment.session}):",
        Diff(shown.diff),
        "",
        f"5. The gate: {verdict.kind}. {verdict.why}.",
        Line(f"   evidence {curve(verdict.path)} {figures(verdict.wealth)}; {guards}", "bold")
        if verdict.wealth is not None
        else "",
        *scores(verdict),
        "",
    ]


def _others(report: CycleReport, best: Learned) -> list[Piece | str]:
    """What the other corrections came to."""
    from nightschool.rules.came_to import in_full  # noqa: PLC0415

    told: list[Piece | str] = [
        f"   The other one, {item.statement!r}: {in_full(item.code)}."
        for item in report.learned
        if item is not best
    ]
    return [*told, ""] if told else []


def _adopt_and_undo(
    parts: Parts, cycle: Cycle, prepared: Prepared, draft: Draft, out: Output
) -> dict[str, object]:
    from nightschool.stages.publish import adopt  # noqa: PLC0415
    from nightschool.stages.undo import undo  # noqa: PLC0415

    path = parts.place(draft.target)
    old = parts.live.read(path)
    release = adopt(
        draft.id,
        store=parts.store,
        live=parts.live,
        place=parts.place,
        vet=parts.vet(),
        clock=parts.clock,
        actor="the demo",
    )
    passed, tried = _attempts(cycle, prepared, draft)
    back = undo(release.number, store=parts.store, live=parts.live, clock=parts.clock, actor="the demo")
    same = _same(parts.live.read(path), old)
    out.show(
        f"6. Adopted as {release.number} into {path.name}; "
        f"{passed} of {tried} held-out tasks are now done right.",
        f"7. Undone as {back.number}: old bytes and mode are back: {'yes' if same else 'NO'}.",
        "",
    )
    return {"published": release.number, "undone": same}


def _same(now: LiveFile, old: LiveFile) -> bool:
    return (now.content, now.mode) == (old.content, old.mode)


def _attempts(cycle: Cycle, prepared: Prepared, draft: Draft) -> tuple[int, int]:
    """One more attempt at each task that the correction concerns, with the live files as they are now."""
    from nightschool.core.trials import Arm, TrialRequest  # noqa: PLC0415

    live = cycle.aiming.base(Path(draft.target.project))
    tasks = [t for t in prepared.mined.tasks if draft.candidate in t.concerns and t.split == "holdout"]
    trials = cycle.replay.trials(
        [TrialRequest(task=task, harness=live, arm=Arm.DRAFT, purpose="live") for task in tasks]
    )
    return sum(trial.score == 1 for trial in trials), len(trials)


def _summary(report: CycleReport, prepared: Prepared) -> dict[str, object]:
    best = next((item for item in report.learned if item.code == "accept"), None)
    return {
        "sessions": report.sessions_read,
        "tasks": len(prepared.mined.tasks),
        "candidates": report.candidates,
        "base": best and best.base and best.base.mean,
        "draft": best and best.proposal and best.proposal.mean,
        "pairs": None,
        "wealth": None,
        "verdict": None,
        "published": None,
        "undone": None,
    }


def _unlucky(report: CycleReport) -> list[Piece | str]:
    rows = [(item.statement, item.code, item.why) for item in report.learned]
    return [
        Table(columns=("correction", "came to", "why"), rows=rows),
        "The apprentice works by chance, and here the gate was not convinced: set TMPDIR to another.",
    ]


def _next(seconds: float) -> list[Piece | str]:
    command = _called()
    return [
        Line(f"That took {seconds:.0f} seconds. {HONEST}", "dim"),
        "What to type next (the first in any folder, the others in a project of yours):",
        f"  {command} corrections      what you keep telling your agents: no model, nothing leaves",
        f"  {command} doctor           what a run needs here, and what is missing",
        f"  {command} run --dry-run    what a run would do there, and cost",
    ]


def _called() -> str:
    """The command as the person can type it: by name where the shell finds this very program."""
    program = Path(sys.argv[0])
    found = shutil.which(program.name)
    if found is not None and program.exists() and Path(found).samefile(program):
        return program.name
    return str(program.absolute()) if program.name == "nightschool" else "nightschool"
