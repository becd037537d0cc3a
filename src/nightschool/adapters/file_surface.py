"""What surfaces made of files have in common: where the files lie is data, one `Layout` an agent."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from nightschool.adapters import harness_files
from nightschool.adapters.agent_home import AgentHome
from nightschool.adapters.harness_files import Place
from nightschool.core.harness import NOTHING, Absent, File, Harness, Problem, Scope, Target
from nightschool.core.skills import FILE, Skill

NOT_MOVED: Mapping[str, str] = {}
"""An environment in which every agent's folder lies in HOME, as usual."""


Configured = Callable[[Path | None, Path, Mapping[str, str]], Iterable[Absent]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Names of the files and folders that an agent reads."""

    home: AgentHome
    memory: str
    """The memory file, of a project and in the agent's folder."""
    project: tuple[str, ...]
    nested: tuple[str, ...]
    """Those of them that are read in the folders of a project too."""
    own: tuple[str, ...]
    """In the agent's folder. Never what may hold a key, a login or a transcript."""
    shared: tuple[str, ...] = ()
    """In HOME itself: what several agents read."""
    skills: tuple[str, ...]
    """Folders of skills, of a project; a new one is made in the first."""
    own_skills: tuple[str, ...]
    """The same of the person's own, below HOME."""
    configured: Configured
    """What the agent's configuration names and no practice has."""
    imports: Callable[[str], bool] = lambda _path: False
    """Whether `@path` in the file at this path of a harness brings another file."""
    imports_from_outside: Callable[[Path, Path, Mapping[str, str]], bool] = lambda *_: False
    """Whether that holds for a file of HOME that a project's memory names."""


class FileSurface(ABC):
    """A `Surface` by its layout. The environment is the person's: it may name another folder."""

    name: str
    version: str
    layout: Layout

    def __init__(self, *, environment: Mapping[str, str] = NOT_MOVED) -> None:
        self._environment = environment

    @abstractmethod
    def problems(self, harness: Harness) -> Sequence[Problem]: ...

    def memory_target(self, *, project: str | None, beside: Harness = NOTHING) -> Target:
        scope, folder = Scope.PROJECT, "project"
        if project is None:
            scope, folder = Scope.USER, f"user/{self.layout.home.usual}"
        usual = f"{folder}/{self.layout.memory}"
        place = self.read_instead(usual, beside) or usual
        return Target(agent=self.name, scope=scope, project=project or "", place=place)

    def read_instead(self, place: str, harness: Harness) -> str | None:  # noqa: ARG002 - of most agents none is
        return None

    def skill_target(self, skill: Skill, *, project: str | None) -> Target:
        scope = Scope.PROJECT if skill.place.startswith("project/") else Scope.USER
        root = (project or "") if scope is Scope.PROJECT else ""
        return Target(agent=self.name, scope=scope, project=root, place=skill.place)

    def new_skill(self, name: str, *, project: str | None) -> Target:
        prefix, folders = ("project", self.layout.skills) if project else ("user", self.layout.own_skills)
        skill = Skill(name=name, place=f"{prefix}/{folders[0]}/{name}/{FILE}")
        return self.skill_target(skill, project=project)

    def skills(self, harness: Harness) -> Sequence[Skill]:
        return harness_files.skills(harness, self.layout.skills, self.layout.own_skills)

    def holds(self, path: Path, project: Path | None, home: Path) -> bool:
        return any(path.is_relative_to(place.base.resolve()) for place in self._places(project, home))

    def live_path(self, target: Target, home: Path) -> Path:
        prefix, _, inside = target.place.partition("/")
        if prefix == "project":
            return Path(target.project) / inside
        path = PurePosixPath(inside)
        if path.is_relative_to(self.layout.home.usual):
            return self.folder(home) / path.relative_to(self.layout.home.usual)
        return home / inside

    def folder(self, home: Path) -> Path:
        """The agent's folder, wherever the person moved it."""
        return self.layout.home.folder(home, self._environment)

    def load(self, project: Path | None, home: Path) -> Harness:
        files, _ = self._read(self._places(project, home), project, home)
        return Harness.of(files)

    def place(self, harness: Harness, root: Path, home: Path) -> Sequence[Path]:
        # Not the person's environment: a replay has a HOME of its own, where all lies as usual.
        old = harness_files.collect([self._of_project(root, home)])
        for path in old:
            if harness.get(path) is None:
                (root / path.removeprefix("project/")).unlink()
        harness_files.place(harness, root, home)
        usual = self.layout.home.usual
        folders = [*(f"{usual}/{name}" for name in self.layout.own), *self.layout.shared]
        return harness_files.tops(harness, home, folders)

    def touches(self, harness: Harness, root: Path) -> Sequence[str]:
        own = [file.path.partition("/") for file in harness.files]
        written = (name for prefix, _, name in own if prefix == "project")
        return [*self.layout.project, *harness_files.nested(root, self.layout.nested), *written]

    def missing(self, project: Path | None, home: Path) -> Sequence[Absent]:
        places = self._places(project, home)
        _, left = self._read(places, project, home)
        gone = [Absent(kind="import", name=name, place=str(path)) for name, path in left]
        return (*gone, *_behind_links(places), *self.layout.configured(project, home, self._environment))

    def _read(
        self, places: Sequence[Place], project: Path | None, home: Path
    ) -> tuple[list[File], list[tuple[str, Path]]]:
        """The files, and the imports that lie where no replay has a place."""
        found = harness_files.collect(places)
        outside = project is None or self.layout.imports_from_outside(project, home, self._environment)
        more, left = harness_files.imported(found, places, self.layout.imports, outside=outside)
        return [*found.values(), *more.values()], left

    def _of_project(self, project: Path, home: Path) -> Place:
        # A project that holds HOME itself is the person's home folder: all of theirs lies below it.
        names = [] if home.is_relative_to(project) else harness_files.nested(project, self.layout.nested)
        return Place(base=project, prefix="project", names=(*self.layout.project, *names))

    def _places(self, project: Path | None, home: Path) -> list[Place]:
        layout = self.layout
        places = [
            Place(base=self.folder(home), prefix=f"user/{layout.home.usual}", names=layout.own),
            Place(base=home, prefix="user", names=layout.shared),
        ]
        return places if project is None else [self._of_project(project, home), *places]


def _behind_links(places: Sequence[Place]) -> Iterator[Absent]:
    """Files and folders that a link puts here from a place which is neither project nor HOME."""
    for place in places:
        for name in place.names:
            if harness_files.is_there(place.base / name) and not harness_files.reaches(
                place.base / name, places
            ):
                yield Absent(kind="file behind a link", name=name, place=str(place.base / name))
