"""`nightschool doctor`: what a run needs, what is there, and how to mend what is not."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from nightschool.cli.exits import DISK_FULL, ExitCode
from nightschool.cli.opening import DATABASE
from nightschool.cli.options import Json
from nightschool.cli.output import Output
from nightschool.cli.reading import settings_here
from nightschool.cli.render import Line, Piece
from nightschool.cli.scheduled import MENDS, key_hint, last_line, login_trouble, look_line, scheduling_here
from nightschool.core.errors import AuthenticationFailed, NightschoolError, RunnerUnusable, UserError
from nightschool.rules.health import (
    Finding,
    State,
    clock_finding,
    retention_finding,
    unread_findings,
    version_finding,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nightschool.settings import Settings
    from nightschool.wiring import Parts

TONES: dict[State, Literal["green", "yellow", "red"]] = {"ok": "green", "note": "yellow", "blocks": "red"}
NOT_READ = {
    "kimi": ".kimi",
}
"""Agents whose sessions are not read yet, by their folder."""
DISK_NEEDED = 1 << 30
LEAST = 1 << 20
"""With less nothing can be stored."""
VERSION_SECONDS = 20
CONNECT_SECONDS = 3
CLAUDE_TOKEN = "CLAUDE_CODE_OAUTH_TOKEN"  # noqa: S105 - the name of a variable
LOGIN = "set the variable in the shell that runs nightschool; `corrections` and `run --dry-run` need no key"


def doctor(*, json: Json = False) -> ExitCode:
    """Look whether a run can start here: sandbox, agents, sessions, store, schedule, settings, disk.

    Each problem is told with its fix. Exit code 0 where nothing blocks a run, else 4. Of keys only the
    names of the variables are told. An address of a model that you set yourself is asked whether it takes
    a connection; a vendor's is not.

    \b
    Example:
      nightschool doctor
      nightschool doctor --json
    """
    environment, home = dict(os.environ), Path.home()
    try:
        chosen = settings_here()
    except UserError as error:
        found = [Finding(about="settings", state="blocks", text=str(error), fix="correct that setting")]
    else:
        found = [
            *_with_store(chosen, environment, home),
            *_agents(chosen, environment),
            *_sessions(chosen, environment, home),
            *_schedule(chosen),
            *_disk(chosen),
            *_settings(chosen),
        ]
        if not any(finding.about == "login" for finding in found):
            found += _keys(chosen, environment)
    blocked = any(finding.state == "blocks" for finding in found)
    pieces: list[Piece | str] = [piece for finding in found if _told(finding) for piece in _pieces(finding)]
    pieces.append(Line("settings that are not named have their built-in default: --json has them all", "dim"))
    pieces.append(
        "something blocks a run: see above"
        if blocked
        else "nothing blocks a run\nnext: nightschool corrections"
    )
    document = {"blocked": blocked, "findings": found}
    return Output(json=json).result(document, pieces, ExitCode.NEEDS_PERSON if blocked else ExitCode.DONE)


def _told(finding: Finding) -> bool:
    return not (finding.about.startswith("setting ") and finding.text.endswith("(built-in default)"))


def _pieces(finding: Finding) -> Iterator[Piece]:
    mark = {"ok": "ok", "note": "--", "blocks": "NO"}[finding.state]
    yield Line(f"{mark}  {finding.about}: {finding.text}", TONES[finding.state])
    if finding.fix:
        yield Line(f"    fix: {finding.fix}")


def _with_store(chosen: Settings, environment: Mapping[str, str], home: Path) -> Iterator[Finding]:
    from nightschool.cli.idle_entries import findings  # noqa: PLC0415 - help needs no store
    from nightschool.core.cycles import CycleReport  # noqa: PLC0415
    from nightschool.rules.telling import counted  # noqa: PLC0415
    from nightschool.wiring import opened  # noqa: PLC0415

    elsewhere = f"make {chosen.home} readable and writable, or set NIGHTSCHOOL_HOME to another folder"
    try:
        with _store_folder(chosen) as folder:
            fresh = folder != chosen.home
            with opened(replace(chosen, home=folder), environment=environment, person_home=home) as parts:
                cycles = len(parts.store.find(CycleReport))
                text = f"{chosen.home} can be read and is of this version, {counted(cycles, 'cycle')} in it"
                if fresh:
                    text = f"{chosen.home} holds none yet: the first command that stores makes it"
                yield Finding(about="store", state="ok", text=text)
                yield from _sandbox(parts)
                yield from _login(chosen, parts)
                yield from _second_opinion(parts)
                yield from _files(parts)
                yield from findings(parts)
                yield from _scheduled_login(chosen, parts)
                yield _clock(parts)
    except OSError as error:
        place = error.filename or chosen.home
        full = error.errno in DISK_FULL
        yield Finding(
            about="disk" if full else "store",
            state="blocks",
            text=f"{place}: {error.strerror}",
            fix=f"free some of the disk that {place} is on" if full else elsewhere,
        )
    except NightschoolError as error:
        full = shutil.disk_usage(_nearest(chosen.home)).free < LEAST
        fix = f"free some of the disk that {chosen.home} is on" if full else elsewhere
        yield Finding(about="store", state="blocks", text=str(error), fix=fix)


@contextmanager
def _store_folder(chosen: Settings) -> Iterator[Path]:
    """The store's folder; where there is no store yet one that is thrown away: looking leaves nothing."""
    if (chosen.home / DATABASE).exists():
        yield chosen.home
        return
    place = _nearest(chosen.home)
    if not os.access(place, os.W_OK | os.X_OK):
        raise UserError(f"{chosen.home} cannot be made: {place} is not yours to write to")
    with tempfile.TemporaryDirectory(prefix="nightschool-doctor-") as folder:
        yield Path(folder)


def _nearest(folder: Path) -> Path:
    """The folder, or the nearest one above it that there is."""
    return next(place for place in (folder, *folder.parents) if place.exists())


def _sandbox(parts: Parts) -> Iterator[Finding]:
    try:
        probed = parts.sandbox().probe()
    except UserError as error:
        yield Finding(about="sandbox", state="blocks", text=str(error), fix='set sandbox = "bubblewrap"')
        return
    for part, works, mend in probed:
        optional = mend.startswith("optional")
        state: State = "ok" if works else "note" if optional else "blocks"
        yield Finding(
            about="sandbox", state=state, text=f"{part}: {'works' if works else 'not here'}", fix=mend
        )


def _agents(chosen: Settings, environment: Mapping[str, str]) -> Iterator[Finding]:
    from nightschool.wiring import AGENTS, SCRIPTED, TESTED  # noqa: PLC0415

    there = 0
    for name, program in AGENTS.items():
        path = shutil.which(program, path=environment.get("PATH"))
        if path is None:
            text, fix = f"{program} is not on PATH", "none is needed, unless you want to practise with it"
            yield Finding(about=f"agent {name}", state="note", text=text, fix=fix)
            continue
        there += chosen.runner in {name, "auto"}
        yield version_finding(name, _version(path), path, TESTED.get(name, ()))
    if not there and chosen.runner != SCRIPTED:
        wanted = "an agent" if chosen.runner == "auto" else f"the agent {chosen.runner}"
        yield Finding(
            about="runner",
            state="blocks",
            text=f"runner = {chosen.runner}, and no such agent is on PATH",
            fix=f"install {wanted} ({', '.join(AGENTS.values())}); the demo needs none",
        )


def _version(path: str) -> str | None:
    """What an agent calls its version, None where it says nothing."""
    try:
        done = subprocess.run(
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=VERSION_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = done.stdout.decode("utf-8", "replace").strip().splitlines()
    return lines[0] if done.returncode == 0 and lines else None


def _sessions(chosen: Settings, environment: Mapping[str, str], home: Path) -> Iterator[Finding]:
    from nightschool.core.sessions import Roots  # noqa: PLC0415
    from nightschool.plug_ins import known  # noqa: PLC0415
    from nightschool.rules.telling import counted  # noqa: PLC0415
    from nightschool.setting_kinds import READ  # noqa: PLC0415
    from nightschool.wiring import here, source  # noqa: PLC0415

    for name in chosen.sources:
        reader = source(name, str)  # nothing is read here
        roots = Roots(home=str(home), environment=tuple(environment.items()), projects=(here(),))
        looked, paths = reader.folders(roots), [Path(ref.path) for ref in reader.discover(roots)]
        for folder in looked:
            if folder.is_dir():
                text = f"{counted(sum(path.is_relative_to(folder) for path in paths), 'file')} in {folder}"
                yield Finding(about=f"sessions {name}", state="ok", text=text)
        yield from unread_findings(name, [str(path) for path in paths if not _readable(path)])
        kept = reader.retention(roots)
        if kept is not None and paths:
            yield retention_finding(name, kept, chosen.harvest.lookback_limit_days)
        # Of an agent that the person does not have there is nothing to say: where its sessions lie among the
        # data of all programs, that folder says nothing of it.
        shared = (reader.moved_by or "").startswith("XDG_")
        named = not shared and (
            reader.moved_by in environment or any(folder.parent.is_dir() for folder in looked)
        )
        if named and not any(folder.is_dir() for folder in looked):
            yield Finding(
                about=f"sessions {name}",
                state="note",
                text=f"none in {looked[0]}",
                fix=f"elsewhere? set {reader.moved_by}, or nightschool harvest --source {name} --root DIR",
            )
    for name in known("sources"):
        if name not in READ and name not in chosen.sources:
            text = "installed, and not among the `sources` that are read"
            fix = f"name it among `sources` in the settings, or once: nightschool harvest --source {name}"
            yield Finding(about=f"sessions {name}", state="note", text=text, fix=fix)
    for name, place in NOT_READ.items():
        if (home / place).is_dir():
            text = f"{home / place} is here, but the sessions of this agent are not read yet"
            fix = "none yet; corrections that other agents heard are learned from"
            yield Finding(about=f"sessions {name}", state="note", text=text, fix=fix)


def _readable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.R_OK)


def _clock(parts: Parts) -> Finding:
    """This machine's clock beside the newest transcript and the newest report."""
    from nightschool.core.cycles import CycleReport  # noqa: PLC0415 - help needs no store

    seen = [
        (ref.mtime, f"the transcript {ref.path}")
        for source in parts.sources().values()
        for ref in source.discover(parts.roots())
    ]
    seen += [(report.ended_at, f"the report of {report.cycle}") for report in parts.store.find(CycleReport)]
    newest, what = max(seen, default=(None, ""))
    return clock_finding(parts.clock.now(), newest, what)


def _schedule(chosen: Settings) -> Iterator[Finding]:
    """What starts by itself, how it last went, and the file that keys are to be given in."""
    from nightschool.core.schedules import ENDED_WELL  # noqa: PLC0415 - help needs no schedule
    from nightschool.wiring import variables_file, variables_of_schedule  # noqa: PLC0415

    try:
        scheduling = scheduling_here(chosen)
        look = scheduling.look()
        well = look.state in {"none", "installed"}
        fix = "" if well else MENDS.get(look.state, "see what `crontab -l` says")
        yield Finding(about="schedule", state="ok" if well else "note", text=look_line(look), fix=fix)
        plan = look.plan
        for path in (plan.entry.command[0], *plan.projects) if plan is not None else ():
            if not Path(path).exists():
                text = f"{path}, which it names, is not there any more"
                fix = "nightschool schedule install, or: nightschool schedule remove --project DIR"
                yield Finding(about="schedule", state="note", text=text, fix=fix)
        if look.last is not None:
            bad = bool(look.last.note) or look.last.code not in ENDED_WELL
            fix = f"see {scheduling.memory.log}" if bad else ""
            yield Finding(
                about="schedule",
                state="note" if bad else "ok",
                text=last_line(look.last, goes_on=look.goes_on),
                fix=fix,
            )
    except NightschoolError as error:
        yield Finding(about="schedule", state="note", text=str(error), fix="nightschool schedule remove")
    try:
        names = ", ".join(sorted(variables_of_schedule()))
    except UserError as error:
        yield Finding(about="schedule keys", state="note", text="no scheduled run starts", fix=str(error))
    else:
        if names:
            text = f"{names} in {variables_file()}, which is yours alone"
            yield Finding(about="schedule keys", state="ok", text=text)


def _scheduled_login(chosen: Settings, parts: Parts) -> Iterator[Finding]:
    """Whether a scheduled run has a login: it has not the environment of this shell."""
    from nightschool.wiring import variables_file  # noqa: PLC0415 - help needs no wiring

    try:
        plan = scheduling_here(chosen).memory.plan()
        trouble = login_trouble(parts, plan) if plan is not None else ""
    except UserError:
        return  # a broken plan, or a file of keys that others may read: told with the schedule
    if trouble:
        text = f"a scheduled run would stop: {trouble}"
        yield Finding(about="schedule keys", state="note", text=text, fix=key_hint(variables_file()))


def _disk(chosen: Settings) -> Iterator[Finding]:
    place = _nearest(chosen.home)
    free = shutil.disk_usage(place).free
    low = free < DISK_NEEDED
    yield Finding(
        about="disk",
        state="note" if low else "ok",
        text=f"{free / (1 << 30):.1f} GiB free at {place}",
        fix="free some: workspaces of jobs may need a GiB and more" if low else "",
    )


def _keys(chosen: Settings, environment: Mapping[str, str]) -> Iterator[Finding]:
    """Which keys are set, by name alone, while no agent is there that would say whether it has what it
    needs."""
    endpoints = chosen.endpoints
    names = (endpoints.anthropic_key_variable, CLAUDE_TOKEN, endpoints.openai_key_variable)
    there = [name for name in names if environment.get(name)]
    for name in there:
        yield Finding(about="key", state="ok", text=f"{name} is set")
    if not there:
        text = f"none is set of {', '.join(names)}"
        yield Finding(about="key", state="note", text=text, fix=f"once an agent is there: {LOGIN}")


def _login(chosen: Settings, parts: Parts) -> Iterator[Finding]:
    """Whether the agent that would practise can, and has what its sandbox needs to reach the model."""
    from nightschool.wiring import AGENTS  # noqa: PLC0415 - help needs no wiring

    name = chosen.runner
    try:
        name, _ = parts.runner_name()
        parts.runner(name).check()
    except RunnerUnusable as error:
        program = shutil.which(AGENTS.get(name, ""), path=parts.environment.get("PATH"))
        if program is not None:  # one that is absent is told with the agents
            fix = f"install {name} anew, or name another agent: runner in your settings, or --runner"
            yield Finding(about="runner", state="blocks", text=str(error), fix=fix)
    except AuthenticationFailed as error:
        yield Finding(about="login", state="blocks", text=str(error), fix=LOGIN)
    except NightschoolError:
        pass  # no sandbox: told above, with its fix
    else:
        yield Finding(about="login", state="ok", text=f"{name} has a key or a token for the sandbox")
        yield from _model(name, chosen, parts.environment)
    yield from _money(parts)


def _money(parts: Parts) -> Iterator[Finding]:
    """A limit that the agent that would practise cannot keep, so that no run of it starts."""
    from nightschool.cli.expected import setting_one, unkept  # noqa: PLC0415 - help needs no wiring

    try:
        runner = parts.runner(parts.runner_name()[0])
    except NightschoolError:
        return
    trouble = unkept(parts, runner)
    if trouble is not None:
        fix = f'limits.max_dollars = "none", and limits.max_tokens ({setting_one(runner)})'
        yield Finding(about="limits", state="blocks", text=trouble, fix=fix)


def _model(name: str, chosen: Settings, environment: Mapping[str, str]) -> Iterator[Finding]:
    """Where the agent that would practise sends its requests. Who set an address of their own wants to know
    that it is up; a vendor is not told that somebody looks."""
    own = {
        "claude-code": chosen.endpoints.anthropic_url or environment.get("ANTHROPIC_BASE_URL"),
        "codex": chosen.endpoints.openai_url or environment.get("OPENAI_BASE_URL"),
    }
    if name not in own:
        return
    address = own[name]
    if not address:
        text = f"{name} sends its requests to its vendor; nothing was sent there now"
        yield Finding(about="model", state="ok", text=text)
        return
    try:
        parts = urlsplit(address)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        with socket.create_connection((parts.hostname or "", port), timeout=CONNECT_SECONDS):
            pass
    except (OSError, ValueError) as error:
        fix = "start what should answer there, or set another address (endpoints in your settings)"
        text = f"{name} sends its requests to {address}, which takes no connection: {error}"
        yield Finding(about="model", state="blocks", text=text, fix=fix)
    else:
        text = f"{name} sends its requests to {address}, which takes connections"
        yield Finding(about="model", state="ok", text=text)


def _second_opinion(parts: Parts) -> Iterator[Finding]:
    """An extra that the settings ask for and that is not installed keeps every proposal from being staged."""
    try:
        parts.vet()
    except UserError as error:
        fix = "install it into the environment that nightschool runs in"
        yield Finding(about="second opinion", state="blocks", text=str(error), fix=fix)


def _files(parts: Parts) -> Iterator[Finding]:
    """What an agent that is here does not read of its own files, or reads in part."""
    from nightschool.cli.reading import root_of  # noqa: PLC0415 - help needs no store
    from nightschool.core.harness import Severity  # noqa: PLC0415
    from nightschool.wiring import AGENTS  # noqa: PLC0415

    root = root_of(None)
    for name, program in AGENTS.items():
        if shutil.which(program, path=parts.environment.get("PATH")) is None:
            continue
        surface = parts.surface(name)
        for problem in surface.problems(surface.load(Path(root) if root else None, parts.person_home)):
            if problem.severity is not Severity.NOTE:
                text = f"{problem.path} {problem.text}"
                fix = "correct that file, or remove what stands before it"
                yield Finding(about=f"files of {name}", state="note", text=text, fix=fix)


def _settings(chosen: Settings) -> Iterator[Finding]:
    from nightschool.settings import KEYS  # noqa: PLC0415

    for key in KEYS:
        value, origin = chosen.get(key), chosen.origin(key)
        shown = ", ".join(value) if isinstance(value, tuple) else "none" if value is None else str(value)
        yield Finding(about=f"setting {key}", state="ok", text=f"{shown} ({origin})")
