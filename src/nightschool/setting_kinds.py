"""What a value of a setting may be, and what is said of it, section by section. Relieves `settings`, which
reads them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from annotated_types import Ge, Gt, Lt, MinLen
from pydantic import AfterValidator, BeforeValidator, StringConstraints

from nightschool.core.cycles import Budget
from nightschool.core.forgetting import IgnoreList
from nightschool.core.values import Value
from nightschool.plug_ins import known

NONE = "none"
"""Lifts a limit; TOML has no word of its own for it."""
READ = (
    "claude-code",
    "codex",
    "copilot",
    "cursor",
    "gemini",
    "opencode",
    "pi",
    "vscode-copilot",
    "aider",
)
"""The agents whose transcripts are read where nothing else is said: all that there are. A file that none of
them knows is told of by the first, which takes any lines."""
SHORTEST_WORD = 3
"""A shorter one stands in every session."""


@dataclass(frozen=True, slots=True)
class About:
    """What a setting is, and what a project's file may do to it."""

    text: str
    personal: str | None = None
    """Why a project may not set it; None: it may."""
    lower: bool = False
    """A project may lower it, not raise it."""
    adds: bool = False
    """A project's own holds for its own sessions, besides the person's."""


PAYS = "what it costs is for the person to say"
SENDS = "whom it is sent to, and with which key, is for the person to say"
EXAMINES = "a clone must not ease the exam of its own rules"
READS = "whose history is read, and where it is kept, is for the person to say"
PUBLISHES = "what is written into their files is for the person to say"
KEEPS = "how long their history is kept is for the person to say"
HIDES = "what of them is hidden is for the person to say"
REACHES = "what a clone's work may reach is for the person to say"
JUDGES = "by which words they judge is for the person to say"


def _none(value: object) -> object:
    return None if value == NONE else value


def _dollars(value: object) -> object:
    # Text first: a float of 0.1 would become a Decimal of 55 digits.
    return Decimal(str(value)) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def _folder(value: object) -> object:
    if not isinstance(value, str):
        return value
    path = Path(value).expanduser()
    if not path.is_absolute():
        raise ValueError("a path begins with / or ~")
    return path


def _address(value: str | None) -> str | None:
    if value is None:
        return value
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        raise ValueError("no address")
    if parts.username or parts.password:
        raise ValueError("holds a password")
    return value


@dataclass(frozen=True, slots=True)
class Allowed:
    """What an error says of a kind of value."""

    text: str


@dataclass(frozen=True, slots=True)
class PlugIn:
    """That a value names something that plugs in."""

    kind: str
    """As `plug_ins.known` has it."""
    also: tuple[str, ...] = ()
    """Words with a meaning of their own."""

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.also, *known(self.kind))


Count = Annotated[int, Ge(1), Allowed("a whole number, 1 or more")]
Limit = Annotated[
    Annotated[int, Ge(1)] | None,
    BeforeValidator(_none),
    Allowed('a whole number, 1 or more, or "none" for no limit'),
]
Dollars = Annotated[
    Annotated[Decimal, Gt(0)] | None,
    BeforeValidator(_dollars),
    BeforeValidator(_none),
    Allowed('a number above 0, or "none" for no limit'),
]
Chance = Annotated[float, Gt(0), Lt(1), Allowed("a number between 0 and 1")]
Word = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:/@\[\]-]*$", max_length=200)]
RunnerName = Annotated[
    Word, PlugIn("runners", also=("auto",)), Allowed('the name of a runner that is installed, or "auto"')
]
SandboxName = Annotated[Word, PlugIn("sandboxes"), Allowed("the name of a sandbox that is installed")]
SourceNames = Annotated[
    tuple[Word, ...], MinLen(1), PlugIn("sources"), Allowed("a list of names of sources that are installed")
]
AgentsOwn = Annotated[Word | None, BeforeValidator(_none), Allowed('a name, or "none" for the agent\'s own')]
Folder = Annotated[Path, BeforeValidator(_folder), Allowed("an absolute path (`~` is your home)")]
Address = Annotated[
    str | None,
    AfterValidator(_address),
    BeforeValidator(_none),
    Allowed('an address like "https://host/base" without a password, or "none" for the agent\'s own'),
]
Variable = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$"), Allowed("the name of a variable, not a key")
]
CommandLine = Annotated[
    Annotated[str, StringConstraints(min_length=1, max_length=4000, pattern=r"^[^\x00]*$")] | None,
    BeforeValidator(_none),
    Allowed('a command line of at most 4000 characters, or "none" for none'),
]
Switch = Annotated[bool, Allowed("true or false")]
Mode = Annotated[Literal["certify", "suggest"], Allowed('"certify" or "suggest"')]


def _word(value: str) -> str:
    if value != value.strip() or len(value) < SHORTEST_WORD or not value.isprintable():
        raise ValueError("too short, or with blanks around it" if value.isprintable() else "of several lines")
    return value


def _path(value: str) -> str:
    if not value.strip("*/ ") or not value.isprintable():
        raise ValueError("it names everything")
    return str(Path(value).expanduser()) if value.startswith("~") else value


def _project(value: str) -> str:
    path = _path(value)
    if "/" in path and not path.startswith("/"):
        raise ValueError("a path begins with / or ~")
    return path


_SEVERAL = re.compile(r"[.!?]['\")]*\s|[\u3002\uff01\uff1f].")
"""Where a sentence ends and another begins, as `rules.prose` has it."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def _phrase(value: str) -> str:
    if _CONTROL.search(value):
        raise ValueError("of several lines, or with tabs and the like")
    if not value.strip() or value != value.strip():
        raise ValueError("empty, or with blanks around it")
    if _SEVERAL.search(value):
        raise ValueError("of several sentences, and looked for within one")
    return value


Phrases = Annotated[
    tuple[Annotated[str, StringConstraints(max_length=200), AfterValidator(_phrase)], ...],
    Allowed("a list of phrases of at most 200 characters, each of one sentence on one line"),
]
Ignored = Annotated[str, StringConstraints(max_length=500)]
IgnoredWords = Annotated[
    tuple[Annotated[Ignored, AfterValidator(_word)], ...],
    Allowed("a list of words of 3 letters or more, each on one line"),
]
IgnoredPaths = Annotated[
    tuple[Annotated[Ignored, AfterValidator(_path)], ...],
    Allowed('a list of patterns like "/work/secret/*", each of which names something'),
]
IgnoredProjects = Annotated[
    tuple[Annotated[Ignored, AfterValidator(_project)], ...],
    Allowed("a list of names of folders, or of absolute paths (`~` is your home); both may hold `*`"),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignore(Value):
    """Whose sessions are left out, before anything of them is stored."""

    projects: Annotated[IgnoredProjects, About("Projects whose sessions are left out.", adds=True)] = ()
    paths: Annotated[
        IgnoredPaths,
        About("Patterns of transcripts, folders and written files: such sessions are left out.", adds=True),
    ] = ()
    words: Annotated[
        IgnoredWords,
        About("A session that holds such a word, in whatever case, is left out.", adds=True),
    ] = ()

    @property
    def rules(self) -> IgnoreList:
        return IgnoreList(projects=self.projects, paths=self.paths, words=self.words)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnWords(Value):
    """What they say of an agent's work, besides what is built in. Looked for literally, in all sessions."""

    corrections: Annotated[
        Phrases, About("Phrases of yours, anywhere in a message, that say that it was wrong.", JUDGES)
    ] = ()
    approvals: Annotated[
        Phrases, About("Phrases of yours, at the beginning of a message, that say that it was right.", JUDGES)
    ] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hide(Value):
    """What is no secret and is replaced all the same in whatever is read. A path that stands alone stays."""

    home_names: Annotated[
        Switch, About("Whether names of home folders are hidden: `/home/NAME`, `/Users/NAME`.", HIDES)
    ] = False
    host_names: Annotated[Switch, About("Whether the name of this machine is hidden.", HIDES)] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets(Value):
    """Which kinds of file proposals are made for."""

    memory: Annotated[Switch, About("Whether memory files are edited.", lower=True)] = True
    skills: Annotated[
        Switch, About("Whether skills are edited and made; else it goes to memory.", lower=True)
    ] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Mine(Value):
    """What is made of the sessions."""

    max_tasks: Annotated[Count, About("New tasks that one cycle makes.")] = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits(Value):
    """Hard limits of one cycle. Unknown use counts as over a limit that is set."""

    max_jobs: Annotated[Limit, About("Jobs that one cycle may start.", lower=True)] = 100
    max_minutes: Annotated[Limit, About("Minutes that one cycle may last.", lower=True)] = 60
    max_tokens: Annotated[Limit, About("Tokens that one cycle may use.", lower=True)] = None
    max_dollars: Annotated[Dollars, About("US dollars that one cycle may cost.", lower=True)] = None
    width: Annotated[Count, About("Jobs that run at once.", lower=True)] = 2
    job_timeout_seconds: Annotated[
        Count, About("Seconds after which a job is stopped; then it scores 0.", lower=True)
    ] = 600

    @property
    def budget(self) -> Budget:
        return Budget(
            jobs=self.max_jobs,
            wall=None if self.max_minutes is None else timedelta(minutes=self.max_minutes),
            tokens=self.max_tokens,
            cost=self.max_dollars,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Harvest(Value):
    """What is read of the transcripts. What a cap leaves out is read in the next cycle."""

    lookback_hours: Annotated[Count, About("Hours that the first run looks back.")] = 72
    lookback_limit_days: Annotated[
        Count, About("Days to which the first run widens that, until there is enough to learn from.")
    ] = 90
    max_sessions: Annotated[Count, About("Sessions that one cycle reads.")] = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUp(Value):
    """What is run once per commit, in a sandbox of its own, before work on that commit is practised: to
    install what it depends on. What it leaves is laid under each attempt, which has no network."""

    command: Annotated[
        CommandLine, About("Command line, run by /bin/sh; a project's own is asked about first.")
    ] = None
    network: Annotated[Switch, About("Whether it has a network, that of this machine.", REACHES)] = False
    minutes: Annotated[Count, About("Minutes after which it is stopped.", lower=True)] = 15
    submodules: Annotated[Switch, About("Whether submodules are laid, as this machine has them.")] = False
    lfs: Annotated[Switch, About("Whether large files have the content that this machine has.")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate(Value):
    """How a draft is examined."""

    mode: Annotated[
        Mode, About("`certify` proves a draft; `suggest` stages what did better, unproven.", EXAMINES)
    ] = "certify"
    alpha: Annotated[
        Chance, About("Chance of a false accept over all drafts of one hold-out version.", lower=True)
    ] = 0.10
    margin: Annotated[
        Chance, About("How much worse a draft may be that only shortens or deletes.", lower=True)
    ] = 0.15


@dataclass(frozen=True, slots=True, kw_only=True)
class Publish(Value):
    """What is asked before a file of the person changes."""

    second_opinion: Annotated[
        Switch, About("Whether detect-secrets (the extra `scan`) looks for secrets too.", PUBLISHES)
    ] = False
    auto_adopt: Annotated[
        Switch,
        About("Whether what passed is adopted unasked: of low risk, into files of yours alone.", PUBLISHES),
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoints(Value):
    """Where the models are that agents in the sandbox reach, and which variable holds the key."""

    anthropic_url: Annotated[Address, About("Base address of the Messages API.", SENDS)] = None
    anthropic_key_variable: Annotated[Variable, About("Environment variable that holds its key.", SENDS)] = (
        "ANTHROPIC_API_KEY"
    )
    openai_url: Annotated[Address, About("Base address of the Responses API.", SENDS)] = None
    openai_key_variable: Annotated[Variable, About("Environment variable that holds its key.", SENDS)] = (
        "OPENAI_API_KEY"
    )
