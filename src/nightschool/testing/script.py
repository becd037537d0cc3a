"""The declared behaviour of a scripted model or agent: rules, lots and acts, readable from a file."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from nightschool.core.errors import UserError
from nightschool.core.values import Value
from nightschool.testing.apprentice import choose


@dataclass(frozen=True, slots=True, kw_only=True)
class Say(Value):
    """Answer with a text; the turn ends."""

    kind: Literal["say"] = "say"
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shell(Value):
    """Run a command line with whatever tool the agent offers for it."""

    kind: Literal["shell"] = "shell"
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Write(Value):
    """Write a whole file: with the agent's tool for it, else with a shell."""

    kind: Literal["write"] = "write"
    path: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Use(Value):
    """Call one tool by its name, for what only one agent has."""

    kind: Literal["use"] = "use"
    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault(Value):
    """Answer the request with an HTTP error, as a provider in trouble does."""

    kind: Literal["fault"] = "fault"
    status: int
    message: str = "scripted fault"


Act = Annotated[Say | Shell | Write | Use | Fault, Field(discriminator="kind")]


@dataclass(frozen=True, slots=True, kw_only=True)
class When(Value):
    """All that is given must hold. Words are searched without regard to case."""

    contains: tuple[str, ...] = ()
    """In what the agent was given: system prompt, memory, the humans' words. Not in its own doings."""
    lacks: tuple[str, ...] = ()
    prompt: str = ""
    """A pattern searched in the last prompt; its named groups fill `$name` in the acts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule(Value):
    """With `probability` the acts of `then`, one after another as their results come in, else those of
    `otherwise`; where these are empty, the next rule is asked."""

    when: When = When()
    then: tuple[Act, ...]
    otherwise: tuple[Act, ...] = ()
    probability: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Script(Value):
    """The first rule that matches speaks. After its last act, and where none matches, `default`."""

    rules: tuple[Rule, ...] = ()
    default: Act = Say(text="Done.")
    aside: str = '{"title": "Small change"}'
    """Answer to requests that offer no tools: an agent's own asides, such as naming the session."""
    seed: int = 0


_SCRIPT: TypeAdapter[Script] = TypeAdapter(Script)
_ACT: TypeAdapter[Act] = TypeAdapter(Act)


def read_script(path: Path) -> Script:
    """A script from a JSON or TOML file. Unknown keys are errors."""
    content = path.read_bytes()
    try:
        if path.suffix == ".toml":
            return _SCRIPT.validate_python(tomllib.loads(content.decode()))
        return _SCRIPT.validate_json(content)
    except (ValidationError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is no script: {error}") from error


def plain(script: Script) -> dict[str, Any]:
    """The script as JSON-ready mappings, every key present: what the apprentice reads."""
    dumped: dict[str, Any] = _SCRIPT.dump_python(script, mode="json")
    return dumped


def decide(script: Script, *, text: str, prompt: str | None = None, stage: int = 0, seed: str = "") -> Act:
    """What to do. Pure: the same arguments, the same act.

    `text` is all that the agent was given, `prompt` the last words of the human (the whole text where
    nobody can tell), `stage` how many results came back since, `seed` what tells one draw from another.
    """
    asked = text if prompt is None else prompt
    return _ACT.validate_python(choose(plain(script), text=text, prompt=asked, stage=stage, seed=seed))
