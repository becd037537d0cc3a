"""`nightschool doctor`: what a run needs, what is there, and how to mend what is not."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from nightschool.cli.exits import ExitCode
from nightschool.cli.opening import DATABASE
from nightschool.cli.options import Json
from nightschool.cli.output import Output
from nightschool.cli.reading import settings_here
from nightschool.cli.render import Line, Piece
from nightschool.core.errors import AuthenticationFailed, NightschoolError, UserError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nightschool.settings import Settings
    from nightschool.wiring import Parts

State = Literal["ok", "note", "blocks"]
TONES: dict[State, Literal["green", "yellow", "red"]] = {"ok": "green", "note": "yellow", "blocks": "red"}
NOT_READ = {
    "opencode": ".local/share/opencode",
    "gemini": ".gemini",
    "copilot": ".copilot",
    "pi": ".pi",
    "kimi": ".kimi",
}
"""Agents whose sessions are not read yet, by their folder."""
DISK_NEEDED = 1 << 30
VERSION_SECONDS = 20
CLAUDE_TOKEN = "CLAUDE_CODE_OAUTH_TOKEN"  # noqa: S105 - the name of a variable
LOGIN = "set the variable in the shell that runs nightschool; `corrections` and `run --dry-run` need no key"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at. `blocks` is what keeps a run from starting."""

    about: str
    state: State
    text: str
    fix: str = ""


def doctor(*, json: Json = False) -> ExitCode:
    """Look whether a run can start here: sandbox, agents, sessions, store, settings, keys, disk.

    Each problem is told with its fix. Exit code 0 where nothing blocks a run, else 4. Of keys only the
    names of the variables are told.

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
            *_disk(chosen),
            *_keys(chosen, environment),
            *_settings(chosen),
        ]
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
    from nightschool.core.cycles import CycleReport  # noqa: PLC0415 - help needs no store
    from nightschool.rules.telling import counted  # noqa: PLC0415
    from nightschool.wiring import opened  # noqa: PLC0415

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
                yield from _login(parts)
    except (NightschoolError, OSError) as error:
        yield Finding(
            about="store",
            state="blocks",
            text=str(error),
            fix=f"make {chosen.home} readable and writable, or set NIGHTSCHOOL_HOME to another folder",
        )


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
    from nightschool.wiring import AGENTS, SCRIPTED  # noqa: PLC0415

    there = 0
    for name, program in AGENTS.items():
        path = shutil.which(program, path=environment.get("PATH"))
        if path is None:
            yield Finding(about=f"agent {name}", state="note", text=f"{program} is not on PATH")
            continue
        there += chosen.runner in {name, "auto"}
        yield Finding(about=f"agent {name}", state="ok", text=f"{_version(path)} at {path}")
    if not there and chosen.runner != SCRIPTED:
        wanted = "an agent" if chosen.runner == "auto" else f"the agent {chosen.runner}"
        yield Finding(
            about="runner",
            state="blocks",
            text=f"runner = {chosen.runner}, and no such agent is on PATH",
            fix=f"install {wanted} ({', '.join(AGENTS.values())}); the demo needs none",
        )


def _version(path: str) -> str:
    try:
        done = subprocess.run(
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=VERSION_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"version unknown ({type(error).__name__})"
    lines = done.stdout.decode("utf-8", "replace").strip().splitlines()
    return lines[0] if done.returncode == 0 and lines else "version unknown"


def _sessions(chosen: Settings, environment: Mapping[str, str], home: Path) -> Iterator[Finding]:
    from nightschool.core.sessions import Roots  # noqa: PLC0415
    from nightschool.rules.telling import counted  # noqa: PLC0415
    from nightschool.wiring import source  # noqa: PLC0415

    for name in chosen.sources:
        reader = source(name, str)  # nothing is read here
        looked = reader.folders(Roots(home=str(home), environment=tuple(environment.items())))
        for folder in looked:
            if folder.is_dir():
                count = sum(1 for _ in folder.rglob("*.jsonl"))
                yield Finding(
                    about=f"sessions {name}", state="ok", text=f"{counted(count, 'file')} in {folder}"
                )
        if looked and not any(folder.is_dir() for folder in looked):
            yield Finding(
                about=f"sessions {name}",
                state="note",
                text=f"none in {looked[0]}",
                fix=f"elsewhere? set {reader.moved_by}, or nightschool harvest --source {name} --root DIR",
            )
    for name, place in NOT_READ.items():
        if (home / place).is_dir():
            text = f"{home / place} is here, but the sessions of this agent are not read yet"
            yield Finding(about=f"sessions {name}", state="note", text=text)


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
    """Which keys are set, by name alone."""
    endpoints = chosen.endpoints
    for variable in (endpoints.anthropic_key_variable, CLAUDE_TOKEN, endpoints.openai_key_variable):
        text = "is set" if environment.get(variable) else "is not set"
        yield Finding(about="key", state="ok", text=f"{variable} {text}")


def _login(parts: Parts) -> Iterator[Finding]:
    """Whether the agent that would practise has what its sandbox needs to reach the model."""
    try:
        name, _ = parts.runner_name()
        parts.runner(name).check()
    except AuthenticationFailed as error:
        yield Finding(about="login", state="blocks", text=str(error), fix=LOGIN)
    except NightschoolError:
        return  # no agent, or no sandbox: told above, with its fix
    else:
        yield Finding(about="login", state="ok", text=f"{name} has a key or a token for the sandbox")


def _settings(chosen: Settings) -> Iterator[Finding]:
    from nightschool.settings import KEYS  # noqa: PLC0415

    for key in KEYS:
        value, origin = chosen.get(key), chosen.origin(key)
        shown = ", ".join(value) if isinstance(value, tuple) else "none" if value is None else str(value)
        yield Finding(about=f"setting {key}", state="ok", text=f"{shown} ({origin})")
