"""The one place that names concrete parts: settings and an environment in, what the commands need out."""

from __future__ import annotations

import os
import platform
import pwd
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache, partial
from pathlib import Path

from nightschool.adapters.agent_jobs import Tools
from nightschool.adapters.crontab import Crontab
from nightschool.adapters.git_projects import GitProjects
from nightschool.adapters.inline_engine import InlineEngine
from nightschool.adapters.live_files import FileSystemLiveFiles
from nightschool.adapters.own_files import HomeFiles
from nightschool.adapters.schedule_folder import ScheduleFolder
from nightschool.adapters.second_opinion import DetectSecrets
from nightschool.adapters.sqlite_store import SqliteStore
from nightschool.adapters.system_clock import SystemClock
from nightschool.adapters.systemd_timer import SystemdTimer
from nightschool.adapters.variables_file import read_variables
from nightschool.core.errors import RunnerUnusable, UserError
from nightschool.core.forgetting import Forgotten
from nightschool.core.harness import Harness, Target
from nightschool.core.jobs import JobOptions, Provision
from nightschool.core.ports import (
    Clock,
    LiveFiles,
    Progress,
    Redact,
    Runner,
    Sandbox,
    Store,
    Surface,
    TranscriptSource,
)
from nightschool.core.sessions import Roots, Session, in_text
from nightschool.core.skills import FILE, Skill
from nightschool.core.tasks import only_root
from nightschool.core.values import digest_of
from nightschool.ignore_lists import ignoring_by
from nightschool.plug_ins import loaded
from nightschool.project_settings import provision_at
from nightschool.rules.aims import Targets, named
from nightschool.rules.gate import Policy
from nightschool.rules.ignoring import Ignoring
from nightschool.rules.redaction import Redactor
from nightschool.rules.secret_places import Places
from nightschool.rules.words import DEFAULT, Words
from nightschool.settings import Origin, Settings, config_path
from nightschool.stages.aiming import Aiming
from nightschool.stages.cycle import Cycle
from nightschool.stages.door import Door
from nightschool.stages.forget import Forgetting
from nightschool.stages.harvest import HarvestRequest
from nightschool.stages.numbers import next_number
from nightschool.stages.prepare import Preparation
from nightschool.stages.replay import Replay
from nightschool.stages.schedule import Scheduling
from nightschool.stages.set_ups import SetUps
from nightschool.stages.veil import Veil, unveiled
from nightschool.stages.vetting import Vetting

AGENTS: Mapping[str, str] = {"claude-code": "claude", "codex": "codex"}
"""Runners that `auto` looks for, in this order, by the program that must be on PATH."""
TESTED: Mapping[str, frozenset[str]] = {
    "claude-code": frozenset({"2.1.332"}),
    "codex": frozenset({"0.171.0"}),
}
"""Versions of them that the tests run with."""
SCRIPTED = "scripted"
"""The demo's apprentice. It calls no model and knows the demo's tasks alone."""
SCRIPTED_SURFACE = "claude-code"
KEY_BYTES = 32
MARK_LENGTH = 16
SCOPES = ("auto", "project", "user")


@dataclass(slots=True, kw_only=True)
class Parts:
    """What a command works with. Made by `opened`."""

    settings: Settings
    environment: Mapping[str, str]
    person_home: Path
    store: Store
    redact: Redactor
    demo: bool = False
    """Only the demo, whose content is ours, may run without isolation."""
    clock: Clock = field(default_factory=SystemClock)
    live: LiveFiles = field(default_factory=FileSystemLiveFiles)
    projects: GitProjects = field(default_factory=GitProjects)

    def sources(self) -> dict[str, TranscriptSource]:
        """The transcript sources that the settings name."""
        return {name: source(name, self.redact) for name in self.settings.sources}

    def roots(self, explicit: tuple[str, ...] = ()) -> Roots:
        known = ("" if self.demo else here(), *self.store.owners(Session))
        return Roots(
            home=str(self.person_home),
            environment=tuple(sorted(self.environment.items())),
            projects=tuple(dict.fromkeys(place for place in known if place)),
            explicit=explicit,
        )

    def harvest_request(
        self,
        *,
        explicit: tuple[str, ...] = (),
        since: datetime | None = None,
        everything: bool = False,
        recognise: bool = True,
        dry_run: bool = False,
    ) -> HarvestRequest:
        chosen = self.settings.harvest
        return HarvestRequest(
            roots=self.roots(explicit),
            sources=self.settings.sources,
            recognise=recognise,
            since=since,
            everything=everything,
            max_sessions=None if everything or explicit or since else chosen.max_sessions,
            dry_run=dry_run,
            lookback=timedelta(hours=chosen.lookback_hours),
            lookback_limit=timedelta(days=chosen.lookback_limit_days),
            ignoring=self.ignoring(),
        )

    def ignoring(self) -> Ignoring:
        """What may not be read, or not be kept, as the settings and the store have it now."""
        forgotten = frozenset(known.trace for known in self.store.find(Forgotten))
        root, now = cache(self.projects.root), self.clock.now()
        return ignoring_by(self.settings, home=self.person_home, root=root, now=now, forgotten=forgotten)

    def forgetting(self) -> Forgetting:
        files = HomeFiles(self.settings.home)
        whole = unveiled(self.store)
        return Forgetting(store=whole, files=files, clock=self.clock, root=cache(self.projects.root))

    def forget_due(self, *, held: bool = False) -> tuple[str, ...]:
        """Forget what the settings say is due; told. `held`: the caller has the lock of the cycle."""
        return self.forgetting().due(self.ignoring(), held=held)

    def words(self) -> Words:
        """The lists of words that judge an agent's work, with the person's own."""
        own = self.settings.words
        if not own.corrections and not own.approvals:
            return DEFAULT
        return DEFAULT.with_phrases(corrections=own.corrections, approvals=own.approvals)

    def surface(self, agent: str) -> Surface:
        name = SCRIPTED_SURFACE if agent == SCRIPTED else agent
        surface: Surface = loaded("surfaces", name)(environment=self.environment)
        return surface

    def place(self, target: Target) -> Path:
        """Where a target lies on disk."""
        return self.surface(target.agent).live_path(target, self.person_home)

    def harness(self, target: Target) -> Harness:
        """What the target's agent reads now."""
        where = Path(target.project) if target.project else None
        return self.surface(target.agent).load(where, self.person_home)

    def vet(self) -> Vetting:
        """The look at a draft before it is staged or published."""
        return Vetting(
            store=self.store,
            redact=self.redact,
            second_opinion=DetectSecrets() if self.settings.publish.second_opinion else None,
            surface=self.surface,
            person_home=self.person_home,
        )

    def sandbox(self) -> Sandbox:
        name = self.settings.sandbox
        if name == "unsafe-process" and not self.demo:
            raise UserError(
                "sandbox = unsafe-process is for the demo alone: agents are never run without one"
            )
        sandbox: Sandbox = loaded("sandboxes", name)(work=self.settings.home / "work")
        return sandbox

    def runner_name(self) -> tuple[str, str]:
        """The runner, and why it was chosen."""
        name = self.settings.runner
        if name != "auto":
            return name, f"the settings say so ({self.settings.origin('runner').place})"
        for found, program in AGENTS.items():
            path = shutil.which(program, path=self.environment.get("PATH"))
            if path is not None:
                return found, f"it is the first agent found on PATH ({path})"
        raise RunnerUnusable(
            f"none of the agents {', '.join(AGENTS.values())} is on PATH: install one, "
            "or name a runner with --runner"
        )

    def runner(self, name: str) -> Runner:
        if name == SCRIPTED:
            from nightschool.testing.demo import apprentice  # noqa: PLC0415 - the demo's material
            from nightschool.testing.scripted_runner import ScriptedRunner  # noqa: PLC0415

            return ScriptedRunner(script=apprentice(), sandbox=self.sandbox(), surface=self.surface(name))
        make = loaded("runners", name)
        tools = Tools(
            sandbox=self.sandbox(),
            surface=self.surface(name),
            redact=self.redact,
            redact_json=self.redact.nested,
        )
        runner: Runner = make(tools=tools, environment=self.environment, **self._endpoint(name))
        return runner

    def _endpoint(self, name: str) -> dict[str, str | None]:
        chosen = self.settings.endpoints
        match name:
            case "claude-code":
                return {"endpoint": chosen.anthropic_url, "key_variable": chosen.anthropic_key_variable}
            case "codex":
                return {"endpoint": chosen.openai_url, "key_variable": chosen.openai_key_variable}
        return {}

    def options(self) -> JobOptions:
        return JobOptions(
            model=self.settings.model,
            effort=self.settings.effort,
            timeout=timedelta(seconds=self.settings.limits.job_timeout_seconds),
        )

    def policy(self) -> Policy:
        chosen = self.settings.gate
        return Policy(mode=chosen.mode, alpha=chosen.alpha, margin=chosen.margin)

    def provision(self, project: str, folder: str = "") -> tuple[Provision, Origin]:
        """What workspaces are given for work that began in a folder of a project, and who says so."""
        return provision_at(project, folder, self.environment)

    def preparation(self, *, project: str | None, progress: Progress) -> Preparation:
        """Reading and mining over one project (its root), or over all with None."""
        return Preparation(
            store=self.store,
            clock=self.clock,
            projects=self.projects,
            sources=self.sources(),
            max_tasks=self.settings.mine.max_tasks,
            words=self.words(),
            project=project,
            progress=progress,
        )

    def aiming(
        self, agent: str, *, project: str | None, scope: str = "auto", skill: str | None = None
    ) -> Aiming:
        """What a run over one project (its root) or all would edit; `skill` is a place or a name."""
        if scope not in SCOPES:
            raise UserError(f"--scope {scope!r}: allowed are {', '.join(SCOPES)}")
        surface, allowed = self.surface(agent), self.settings.targets
        project = only_root(project)
        return Aiming(
            surface=surface,
            person_home=self.person_home,
            project=project,
            scope=scope,
            allowed=Targets(memory=allowed.memory, skills=allowed.skills),
            only=None if skill is None else self._named(skill, surface, project),
            there=Path.is_dir,
        )

    def _named(self, text: str, surface: Surface, project: str | None) -> Skill:
        """The skill at a place, else of a name. Only what the surface lists is ever taken: what a link
        brings from elsewhere is not among it."""
        if not self.settings.targets.skills:
            origin = self.settings.origin("targets.skills")
            raise UserError(f"--skill {text}: targets.skills is off ({origin}); switch it on to edit a skill")
        harness = surface.load(None if project is None else Path(project), self.person_home)
        known = {
            skill: os.path.realpath(self.place(surface.skill_target(skill, project=project)))
            for skill in surface.skills(harness)
        }
        path = Path(text).expanduser()
        real = os.path.realpath(path if path.name == FILE else path / FILE)
        found = next((skill for skill, place in known.items() if place == real), None)
        return named(text, known, found=found, agent=surface.name)

    def cycle(
        self, *, project: str | None, progress: Progress, scope: str = "auto", skill: str | None = None
    ) -> Cycle:
        """A cycle over one project (its root), or over all with None."""
        name, _ = self.runner_name()
        aiming = self.aiming(name, project=project, scope=scope, skill=skill)
        runner = self.runner(name)
        number = next_number(self.store)
        options, surface = self.options(), aiming.surface
        door = Door(
            runner=runner,
            store=self.store,
            clock=self.clock,
            redact=self.redact,
            budget=self.settings.limits.budget,
            cycle=number,
        )
        replay = Replay(
            door=door,
            engine=InlineEngine(door.run, width=self.settings.limits.width),
            store=self.store,
            cycle=number,
            options=options,
            surface_version=surface.version,
            progress=progress,
        )
        return Cycle(
            number=number,
            store=self.store,
            clock=self.clock,
            live=self.live,
            preparation=self.preparation(project=project, progress=progress),
            redact=self.redact,
            vet=self.vet(),
            adopts_for=self.actor if self.settings.publish.auto_adopt else None,
            aiming=aiming,
            door=door,
            replay=replay,
            set_ups=SetUps(sandbox=self.sandbox(), redact=self.redact, provided=replay.provided),
            policy=self.policy(),
            options=options,
            edit_budget=self.settings.edit_budget,
            project=project,
            sandbox=self.settings.sandbox,
            forget_due=partial(self.forget_due, held=True),
        )

    @property
    def actor(self) -> str:
        """Who decides, for reviews and releases."""
        named = self.environment.get("USER") or self.environment.get("LOGNAME")
        if named:
            # Python read it by the machine's encoding, which may be a narrow one.
            return os.fsencode(named).decode("utf-8", "replace")
        try:
            return pwd.getpwuid(os.getuid()).pw_name
        except KeyError:  # a container may know no name for its user
            return f"uid {os.getuid()}"


@contextmanager
def opened(
    settings: Settings, *, environment: Mapping[str, str], person_home: Path, demo: bool = False
) -> Iterator[Parts]:
    """The store of the settings' home, open, with all that works on it."""
    store = SqliteStore.open(settings.home)
    try:
        parts = Parts(
            settings=settings,
            environment=environment,
            person_home=person_home,
            store=store,
            redact=Redactor(redaction_key(settings.home), _places(settings)),
            demo=demo,
        )
        parts.store = Veil(store, lambda known: parts.forgetting().hidden(parts.ignoring(), known))
        yield parts
    finally:
        store.close()


def scheduling(home: Path, *, environment: Mapping[str, str], person_home: Path) -> Scheduling:
    """What starts runs by itself for a folder of data: `look`, `install` and `remove`."""
    schedulers = (
        SystemdTimer(environment=environment, home=person_home),
        Crontab(environment=environment),
    )
    return Scheduling(
        schedulers={scheduler.name: scheduler for scheduler in schedulers},
        memory=ScheduleFolder(home),
        clock=SystemClock(),
        mark=digest_of("schedule", str(home))[:MARK_LENGTH],
    )


def variables_file() -> Path:
    """The person's file of variables for scheduled runs, there or not."""
    return config_path().with_name("schedule.env")


def variables_of_schedule() -> Mapping[str, str]:
    return read_variables(variables_file())


def own_files(home: Path) -> HomeFiles:
    """What lies in a home of ours, whether or not its store can be opened."""
    return HomeFiles(home)


def _places(settings: Settings) -> Places:
    name = platform.node() if settings.hide.host_names else ""
    hosts = tuple(dict.fromkeys(part for part in (name, name.partition(".")[0]) if part))
    return Places(homes=settings.hide.home_names, hosts=hosts)


def redaction_key(home: Path) -> bytes:
    """The key of the stand-ins, made once: equal secrets have equal stand-ins, which tell nothing of them."""
    path = home / "redaction.key"
    if not path.exists():
        descriptor, new = tempfile.mkstemp(dir=home, prefix=".redaction.key.")  # mode 0600
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
        with suppress(FileExistsError):
            os.link(new, path)  # whole at once, and only if another process was not first
        Path(new).unlink()
    key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise UserError(f"{path} is no key of ours: move it away, and a new one is made")
    return key


def source(name: str, redact: Redact) -> TranscriptSource:
    found: TranscriptSource = loaded("sources", name)(redact=redact)
    return found


def here() -> str:
    """The current folder; "" where it is gone."""
    with suppress(OSError):
        return in_text(str(Path.cwd()))
    return ""


def project_root(folder: Path) -> str:
    """The root of the project that holds a folder, which is absolute."""
    return GitProjects().root(in_text(str(folder)))


def worktree_of(folder: Path) -> str | None:
    """The working tree that holds a folder, where the files of its project are those of another."""
    return GitProjects().worktree(str(folder))
