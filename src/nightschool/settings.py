"""What a person may set, and where each value came from.

Read in this order, the later wins: built-in defaults, the person's file, the project's file, the
environment, flags. An unknown key or a wrong type is an error that names key and place; nothing is
ignored. A project's file comes with a clone, so it is not the person's word: it may not widen what
they trust or pay for.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_type_hints

from platformdirs import user_data_path
from platformdirs.unix import Unix
from pydantic import TypeAdapter, ValidationError

from nightschool.core.errors import UserError
from nightschool.core.forgetting import IgnoreList
from nightschool.core.values import Value
from nightschool.plug_ins import SINGULAR
from nightschool.setting_kinds import (
    KEEPS,
    NONE,
    PAYS,
    REACHES,
    READ,
    READS,
    About,
    AgentsOwn,
    Allowed,
    Count,
    Endpoints,
    Folder,
    Gate,
    Harvest,
    Hide,
    Ignore,
    Limit,
    Limits,
    Mine,
    OwnWords,
    PlugIn,
    Publish,
    RunnerName,
    SandboxName,
    SetUp,
    SourceNames,
    Targets,
)


class BadProjectFile(UserError):
    """A project's own file is wrong. The person's settings may still be right."""


PREFIX = "NIGHTSCHOOL_"
CONFIG_VARIABLE = "NIGHTSCHOOL_CONFIG"
"""Names another file in place of the person's own."""
OURS = frozenset({CONFIG_VARIABLE, "NIGHTSCHOOL_PROCESS"})
"""Variables with our prefix that are no settings; the second marks processes of the sandbox."""
PROJECT_FILE = ".nightschool.toml"


Place = Literal["default", "file", "project", "environment", "flag"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin(Value):
    """Where a value came from. `where` is the file, the variable or the flag; "" for a default."""

    place: Place
    where: str = ""

    def __str__(self) -> str:
        return self.where or "built-in default"


def _home() -> Path:
    return user_data_path("nightschool", appauthor=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(Value):
    """All of it. `load` reads it; `origins` names the place of each key."""

    home: Annotated[Folder, About("Folder of database, blobs and workspaces.", READS)] = field(
        default_factory=_home
    )
    sources: Annotated[SourceNames, About("Agents whose transcripts are read.", READS)] = READ
    runner: Annotated[RunnerName, About("Agent that practises; `auto` takes an installed one.", PAYS)] = (
        "auto"
    )
    model: Annotated[AgentsOwn, About("Model that it uses.", PAYS)] = None
    effort: Annotated[AgentsOwn, About("Reasoning effort that it is asked for.", PAYS)] = None
    sandbox: Annotated[SandboxName, About("Sandbox that agents run in.", REACHES)] = "bubblewrap"
    edit_budget: Annotated[Count, About("Rules that one draft may add, replace or delete.", lower=True)] = 4
    retention_days: Annotated[
        Limit, About("Days after which a session, a report and an agent's answer are forgotten.", KEEPS)
    ] = None
    limits: Limits = field(default_factory=Limits)
    harvest: Harvest = field(default_factory=Harvest)
    words: OwnWords = field(default_factory=OwnWords)
    mine: Mine = field(default_factory=Mine)
    setup: SetUp = field(default_factory=SetUp)
    ignore: Ignore = field(default_factory=Ignore)
    hide: Hide = field(default_factory=Hide)
    gate: Gate = field(default_factory=Gate)
    targets: Targets = field(default_factory=Targets)
    publish: Publish = field(default_factory=Publish)
    endpoints: Endpoints = field(default_factory=Endpoints)
    origins: Mapping[str, Origin] = field(default_factory=dict, compare=False)
    """By key; a key that is not in it has its built-in default."""

    def origin(self, key: str) -> Origin:
        return self.origins.get(key, Origin(place="default"))

    def get(self, key: str) -> Any:
        """The value of a key as the files spell it: `limits.max_jobs`."""
        value: Any = self
        for part in KEYS[key].path:
            value = getattr(value, part)
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One setting, as files, variables and flags spell it."""

    path: tuple[str, ...]
    kind: Any
    """The annotated type."""
    about: About
    default: Any
    """MISSING where it depends on the platform."""

    @property
    def name(self) -> str:
        return ".".join(self.path)

    @property
    def variable(self) -> str:
        return PREFIX + "_".join(self.path).upper()

    @property
    def flag(self) -> str:
        one = self.path[-1].removesuffix("s") if self.many else self.path[-1]  # given once for each
        return "--" + one.replace("_", "-")

    @property
    def allowed(self) -> str:
        return next(item.text for item in get_args(self.kind) if isinstance(item, Allowed))

    @property
    def plug_in(self) -> PlugIn | None:
        return next((item for item in get_args(self.kind) if isinstance(item, PlugIn)), None)

    @property
    def many(self) -> bool:
        return isinstance(self.default, tuple)


def _keys(tree: type, path: tuple[str, ...] = ()) -> Iterator[Key]:
    hints = get_type_hints(tree, include_extras=True)
    for part in fields(tree):
        kind = hints[part.name]
        about = next((item for item in get_args(kind) if isinstance(item, About)), None)
        if about is not None:
            yield Key(path=(*path, part.name), kind=kind, about=about, default=part.default)
        elif part.name in SECTIONS:
            yield from _keys(kind, (*path, part.name))


SECTIONS: Mapping[str, type] = {
    "limits": Limits,
    "harvest": Harvest,
    "words": OwnWords,
    "mine": Mine,
    "setup": SetUp,
    "ignore": Ignore,
    "hide": Hide,
    "gate": Gate,
    "targets": Targets,
    "publish": Publish,
    "endpoints": Endpoints,
}
KEYS: Mapping[str, Key] = {key.name: key for key in _keys(Settings)}


@cache
def _adapter(name: str) -> TypeAdapter[Any]:
    return TypeAdapter(KEYS[name].kind)


def load(
    *,
    project: Path | None,
    folder: Path | None = None,
    environment: Mapping[str, str],
    flags: Mapping[str, object] | None = None,
) -> Settings:
    """The settings for work in a project (its root, None for none), and in a folder of it: the files of the
    folders from the root down to that one count too, the nearest last.

    `flags` are by key (`{"limits.max_jobs": 20}`); None is a flag that was not given.
    """
    found: dict[str, Any] = {}
    origins: dict[str, Origin] = {}
    file = own_file(environment)
    for name, value in _from_file(file, must_exist=bool(environment.get(CONFIG_VARIABLE))):
        _take(found, origins, name, value, Origin(place="file", where=str(file)))
    for place in () if project is None else places(project, folder):
        file = place / PROJECT_FILE
        with _of_project():
            for name, value in _from_file(file, must_exist=False):
                _take(found, origins, name, value, Origin(place="project", where=str(file)))
    for name, text in _from_environment(environment):
        origin = Origin(place="environment", where=KEYS[name].variable)
        _take(found, origins, name, text, origin)
    for name, value in (flags or {}).items():
        if value is not None:
            _take(found, origins, name, value, Origin(place="flag", where=KEYS[name].flag))
    return _built(found, origins)


def project_ignore(root: Path) -> IgnoreList:
    """The ignore list of a project's own file. Raises `UserError` where the file cannot be read."""
    file = root / PROJECT_FILE
    found: dict[str, Any] = {}
    for name, value in _from_file(file, must_exist=False):
        if KEYS[name].about.adds:
            _take(found, {}, name, value, Origin(place="file", where=str(file)))
    return Ignore(**{name.partition(".")[2]: value for name, value in found.items()}).rules


def keys_in(file: Path) -> tuple[str, ...]:
    """The keys that a file says something of. Raises `UserError` where it cannot be read."""
    return tuple(name for name, _ in _from_file(file, must_exist=False))


@contextmanager
def _of_project() -> Iterator[None]:
    try:
        yield
    except UserError as error:
        raise BadProjectFile(str(error)) from error


def places(project: Path, folder: Path | None) -> list[Path]:
    """The project's root, and the folders below it on the way to one of its own."""
    inside = folder is not None and folder.is_relative_to(project)
    parts = folder.relative_to(project).parts if folder is not None and inside else ()
    return [project.joinpath(*parts[:depth]) for depth in range(len(parts) + 1)]


def config_path() -> Path:
    """The person's own file: below ~/.config on macOS too, as the tools beside it have it."""
    return Unix("nightschool").user_config_path / "config.toml"


def own_file(environment: Mapping[str, str]) -> Path:
    """The same, or the one that the environment names in its place."""
    named = environment.get(CONFIG_VARIABLE)
    return Path(named).expanduser() if named else config_path()


def _built(found: Mapping[str, Any], origins: Mapping[str, Origin]) -> Settings:
    def part(section: str) -> dict[str, Any]:
        return {
            key.path[-1]: found[name]
            for name, key in KEYS.items()
            if name in found and (key.path[0] if len(key.path) > 1 else "") == section
        }

    sections = {name: tree(**part(name)) for name, tree in SECTIONS.items()}
    return Settings(**part(""), **sections, origins=dict(origins))


def _from_file(file: Path, *, must_exist: bool) -> Iterator[tuple[str, object]]:
    try:
        document = tomllib.loads(file.read_bytes().decode("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        if must_exist:
            raise UserError(f"{CONFIG_VARIABLE} names {file}, which is not there") from None
        return
    except OSError as error:
        raise UserError(f"{file} cannot be read: {error.strerror}") from error
    except ValueError as error:  # bad UTF-8, bad TOML
        raise UserError(f"{file} is no TOML file: {error}") from error
    for name, value in document.items():
        if name not in SECTIONS:
            yield _known(name, value, str(file)), value
        elif isinstance(value, dict):
            for inner, item in value.items():
                yield _known(f"{name}.{inner}", item, str(file)), item
        else:
            raise UserError(
                f"{file}: {name} is a section, found {_kind(value)}: write [{name}] and below it one of "
                + ", ".join(key.path[-1] for key in KEYS.values() if key.path[0] == name)
            )


def _from_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    by_variable = {key.variable: name for name, key in KEYS.items()}
    for variable, text in sorted(environment.items()):
        if not variable.startswith(PREFIX) or variable in OURS or not text:
            continue  # an empty variable is one that is not set, as everywhere in a shell
        if variable not in by_variable:
            raise UserError(
                f"the environment variable {variable} is no setting{_nearest(variable, by_variable)}"
            )
        yield by_variable[variable], text


def _known(name: str, value: object, where: str) -> str:
    """The value is not shown: under an unknown key it may be anything, a secret too."""
    if name in KEYS:
        return name
    raise UserError(f"{where}: unknown setting {name!r}, found {_kind(value)}{_nearest(name, KEYS)}")


def _nearest(name: str, known: Mapping[str, object]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]}?" if near else "; there are " + ", ".join(known)


def _take(
    found: dict[str, Any], origins: dict[str, Origin], name: str, value: object, origin: Origin
) -> None:
    key = KEYS[name]
    text = origin.place == "environment"
    if key.many and text and isinstance(value, str):
        value = tuple(item.strip() for item in value.split(","))
    elif key.many and isinstance(value, list):
        value = tuple(value)
    try:
        # Text of the environment is read as what it says; in a file "3" is no number.
        valid = _adapter(name).validate_python(value, strict=not text)
    except ValidationError as error:
        raise UserError(
            f"{origin.where}: {name} is {_shown(key, value)}{_item(key, error)}; allowed is {key.allowed}"
        ) from error
    if key.plug_in is not None:
        _refuse_unknown(key, key.plug_in, valid, origin)
    if origin.place == "project":
        if key.about.adds:
            return  # it holds for sessions of that project, wherever they are read: `project_ignore`
        _refuse_widening(key, valid, found.get(name, key.default), origin)
    found[name] = valid
    origins[name] = origin


def _refuse_unknown(key: Key, plug_in: PlugIn, value: Any, origin: Origin) -> None:
    """A name that nobody declares is never taken for another, and is told before it is needed."""
    names = plug_in.names
    unknown = next((name for name in (value if key.many else (value,)) if name not in names), None)
    if unknown is not None:
        near = difflib.get_close_matches(unknown, names, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise UserError(
            f"{origin.where}: {key.name}: there is no {SINGULAR[plug_in.kind]} {unknown[:60]!r}; "
            f"there are: {', '.join(names)}{hint}"
        )


def _refuse_widening(key: Key, value: Any, before: Any, origin: Origin) -> None:
    """A project's file must not widen trust or cost."""
    way_out = f"set it in {config_path()}, as {key.variable} or by a flag"
    if key.about.personal is not None:
        raise UserError(
            f"{origin.where}: {key.name} may not be set by a project: {key.about.personal}; {way_out}"
        )
    if key.about.lower and before is not None and (value is None or value > before):
        raise UserError(
            f"{origin.where}: {key.name} is {NONE if value is None else value}, and a project may lower it "
            f"only (it is {before}); {way_out}"
        )


def _kind(value: object) -> str:
    match value:
        case bool() | int() | float():
            return str(value).lower()
        case str():
            return "a text"
        case list() | tuple():
            return "a list"
        case dict():
            return "a section"
    return f"a {type(value).__name__}"


def _item(key: Key, error: ValidationError) -> str:
    """Of a list, which item is wrong: the first."""
    first = error.errors(include_url=False)[0]
    place = next((part for part in first["loc"] if isinstance(part, int)), None)
    if not key.many or place is None:
        return ""
    found = first["input"]
    return f", and its item {place + 1} is {_shown(key, found)}: {first['msg'].removeprefix('Value error, ')}"


def _shown(key: Key, value: object) -> str:
    """What was found. Where a key or a password may stand in error, its kind alone."""
    if isinstance(value, str) and key.path[0] != "endpoints":
        return repr(value[:60])
    return _kind(value)
