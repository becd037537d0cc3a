"""What is said and done in the demo's sessions, read from `sessions.toml`."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic import TypeAdapter

from nightschool.core.values import Value
from nightschool.testing.script import Act, Rule, Say, Script, Shell, Use, When, Write

HOME = "/home/sam"
PROJECT = "/home/sam/ledger"
DEMO = Path(__file__).parents[2] / "src/nightschool/testing/demo"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange(Value):
    """The person's words, and the acts that they call for; the last one is the reply."""

    words: str
    acts: tuple[Act, ...]
    stop_at: str = ""
    """A text on the screen at which the person presses Escape; the reply is then never given."""

    @property
    def reply(self) -> str:
        last = self.acts[-1]
        if not isinstance(last, Say):
            raise TypeError(f"{self.words!r} ends without a reply")
        return last.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording(Value):
    """One session. `at` is the time that its first row is moved to."""

    name: str
    agent: str
    at: datetime
    exchanges: tuple[Exchange, ...]

    def script(self) -> Script:
        """One rule for each of the person's texts, found by its exact words."""
        rules = tuple(
            Rule(when=When(prompt=rf"{re.escape(exchange.words)}\s*\Z"), then=exchange.acts)
            for exchange in self.exchanges
        )
        return Script(rules=rules, aside=json.dumps({"title": self.name.replace("-", " ")}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Version(Value):
    """One way to write the function, and what the agent says of it."""

    imports: str
    function: str
    reply: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected(Value):
    """A request, the answer in the way that nobody wanted, the correction, the answer as wanted."""

    name: str
    agent: str
    at: datetime
    file: str
    asked: str
    correction: str
    thanks: str
    first: Version
    second: Version

    def recording(self) -> Recording:
        exchanges = (
            Exchange(words=self.asked, acts=self._written(self.first, known=False)),
            Exchange(words=self.correction, acts=self._written(self.second, known=True)),
            Exchange(words=self.thanks, acts=(Say(text="You are welcome."),)),
        )
        return Recording(name=self.name, agent=self.agent, at=self.at, exchanges=exchanges)

    def _written(self, version: Version, *, known: bool) -> tuple[Act, ...]:
        """How each agent writes a file: Claude Code reads an old one first, Codex looks with its shell."""
        content = grown(self.file, version)
        said = Say(text=version.reply)
        if self.agent == "codex":
            write = Write(path=self.file, content=content)
            return (write, said) if known else (Shell(command=f"cat {self.file}"), write, said)
        path = f"{PROJECT}/{self.file}"
        write = Write(path=path, content=content)
        return (write, said) if known else (Use(tool="Read", arguments={"file_path": path}), write, said)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sessions(Value):
    corrected: tuple[Corrected, ...]
    plain: tuple[Recording, ...]


def grown(file: str, version: Version) -> str:
    """The project's file with imports below its docstring and a function at its end."""
    head, _, rest = (DEMO / "project" / file).read_text(encoding="utf-8").partition("\n\n")
    old, blank, body = rest.partition("\n\n") if rest.startswith(("import", "from")) else ("", "", rest)
    lines = sorted([version.imports, *old.splitlines()], key=lambda line: (line.startswith("from"), line))
    block = "\n".join(lines) + (blank or "\n\n") + body
    return f"{head}\n\n{block.rstrip()}\n\n\n{version.function.strip()}\n"


def recordings() -> tuple[Recording, ...]:
    """All sessions, in the order of the file."""
    text = (Path(__file__).parent / "sessions.toml").read_text(encoding="utf-8")
    sessions = TypeAdapter(Sessions).validate_python(tomllib.loads(text))
    return (*(corrected.recording() for corrected in sessions.corrected), *sessions.plain)
