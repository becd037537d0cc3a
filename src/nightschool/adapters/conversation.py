"""Builds turns from what an agent's rows say, row by row. Every text is redacted, then bounded.

Relieves the transcripts of each agent of joining rows to turns and results to calls.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

import orjson

from nightschool.core.ports import Redact
from nightschool.core.sessions import CallStatus, LateResult, Speaker, ToolCall, Turn, row_id
from nightschool.core.spent import Spent, all_spent
from nightschool.core.values import digest_of

HUMAN_LIMIT = 100_000
TEXT_LIMIT = 20_000
RESULT_LIMIT = 8_000
ARGUMENTS_LIMIT = 60_000
NAME_LIMIT = 200
PATH_LIMIT = 4_000

_PLAIN_ID = re.compile(r"[\w.:/-]{1,128}\Z", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{7,64}\Z")
_PATCHED = re.compile(r"^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$", re.MULTILINE)
_WRITTEN = re.compile(r"(?:^|[;&\n])[ \t]*cat[ \t]*>>?[ \t]*([\w@./+-]+)[ \t]*<<")
_EDITED_PATHS = ("file_path", "filePath", "notebook_path", "path")
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "fish"})
_DEEPEST = 60


class Place(NamedTuple):
    """Where a row stands. `row` is the agent's own id of it; "" where it has none."""

    row: str
    at: datetime | None
    offset: int
    end: int


@dataclass(slots=True)
class _AgentTurn:
    place: Place
    end: int
    number: int
    """Its index among the turns."""
    texts: list[str] = field(default_factory=list)
    calls: dict[str, ToolCall] = field(default_factory=dict)
    interrupted: bool = False
    skills: dict[str, None] = field(default_factory=dict)
    model: str | None = None
    spent: Spent | None = None
    went_back: bool = False

    def turn(self) -> Turn:
        return Turn(
            speaker=Speaker.AGENT,
            text="\n\n".join(self.texts),
            row=self.place.row,
            at=self.place.at,
            offset=self.place.offset,
            calls=tuple(self.calls.values()),
            interrupted=self.interrupted,
            skills=tuple(self.skills),
            model=self.model,
            spent=self.spent,
            went_back=self.went_back,
            end=self.end,
        )


class Conversation:
    """Turns in the making. Rows of one agent turn are joined until a person speaks."""

    def __init__(self, redact: Redact) -> None:
        self._redact = redact
        self._turns: list[Turn | _AgentTurn] = []
        self._open: _AgentTurn | None = None
        self._calls: dict[str, _AgentTurn] = {}
        self._late: dict[str, LateResult] = {}
        self._short: dict[str, str] = {}
        self.unplaced: Spent | None = None
        """What replies took of which nothing was said yet."""
        self.speaking = False
        """An agent's turn goes on, here or from what was read before."""

    @property
    def turns(self) -> tuple[Turn, ...]:
        return tuple(turn if isinstance(turn, Turn) else turn.turn() for turn in self._turns)

    @property
    def late(self) -> tuple[LateResult, ...]:
        return tuple(self._late.values())

    @property
    def latest(self) -> int:
        """Index of the turn that was added to last."""
        return len(self._turns) - 1

    def turn_of(self, call_id: str | None) -> int | None:
        """Index of the turn that a call stands in; None where it was not seen here."""
        turn = None if call_id is None else self._calls.get(call_id)
        return None if turn is None else turn.number

    def human(self, text: str, place: Place) -> None:
        self._open, self.speaking = None, False
        self._turns.append(
            Turn(
                speaker=Speaker.HUMAN,
                text=self.text(text, HUMAN_LIMIT),
                row=place.row or row_id(Speaker.HUMAN, place.at, text),
                at=place.at,
                offset=place.offset,
                end=place.end,
            )
        )

    def said(self, text: str, place: Place, model: str | None) -> bool:
        """Whether anything was said."""
        if not text.strip():
            return False
        self._agent(place, model, text).texts.append(self.text(text, TEXT_LIMIT))
        return True

    def called(
        self, call: ToolCall, place: Place, model: str | None = None, *, skills: Sequence[str] = ()
    ) -> None:
        """A call, counted once however often its id comes, and the skills that it loads if it is done."""
        if call.call_id in self._calls:
            return
        turn = self._agent(place, model, call.call_id)
        named = tuple(self.short(skill) for skill in skills)
        turn.calls[call.call_id] = replace(call, skills=named) if named else call
        self._calls[call.call_id] = turn

    def loaded(self, skill: str | None) -> None:
        """A skill, if any, that was put in without a call: the person named it."""
        last = self._turns[-1] if self._turns else None
        if skill is None:
            return
        if isinstance(last, _AgentTurn):
            last.skills[self.short(skill)] = None
        elif last is not None:
            skills = dict.fromkeys((*last.skills, self.short(skill)))
            self._turns[-1] = replace(last, skills=tuple(skills))

    def answered(self, result: LateResult) -> None:
        """The first result of a call counts. One whose call was not seen here is kept as late."""
        turn = self._calls.get(result.call_id)
        if turn is None:
            self._late.setdefault(result.call_id, result)
            return
        call = turn.calls[result.call_id]
        if call.result is None:
            turn.calls[result.call_id] = replace(
                call, result=result.result, status=result.status, exit_code=result.exit_code
            )

    def took(self, spent: Spent, place: Place) -> None:
        """What a reply took: the turn at hand, else the next one, where nothing of it is said yet."""
        if not self.speaking:
            self.unplaced = all_spent((self.unplaced, spent))
        else:
            turn = self._agent(place, None, "")
            turn.spent = all_spent((turn.spent, spent))

    def went_back(self) -> None:
        """The person took back what came behind the last turn; behind none, what came before the first."""
        last = self._turns[-1] if self._turns else None
        if isinstance(last, _AgentTurn):
            last.went_back = True
        elif last is not None:
            self._turns[-1] = replace(last, went_back=True)

    def cut_short(self, calls: Iterable[str]) -> None:
        """These calls were stopped while they ran: nobody had turned them down."""
        for call_id in filter(None, map(self.call_id, calls)):
            turn = self._calls.get(call_id)
            if turn is not None:
                turn.calls[call_id] = replace(turn.calls[call_id], status=CallStatus.UNKNOWN)

    def interrupted(self, place: Place) -> None:
        """A person stopped the agent, also where it had not yet said anything."""
        self._agent(place, None, "interrupted").interrupted = True

    def _agent(self, place: Place, model: str | None, begins: str) -> _AgentTurn:
        turn = self._open
        if turn is None:
            row = place.row or row_id(Speaker.AGENT, place.at, begins)
            place = place._replace(row=row)
            turn = self._open = _AgentTurn(place, place.end, len(self._turns), spent=self.unplaced)
            self.unplaced, self.speaking = None, True
            self._turns.append(turn)
        turn.end = place.end
        turn.model = self.short(model) if model else turn.model
        return turn

    def text(self, text: str, limit: int) -> str:
        """Redacted as a whole, then cut, so that no half of a secret stays behind."""
        return bounded(self._redact(text), limit)

    def short(self, text: str) -> str:
        """A name, a version, a folder: the same few come again and again."""
        known = self._short.get(text)
        if known is None:
            known = self._short[text] = self.text(text, PATH_LIMIT)
        return known

    def own_id(self, value: object) -> str | None:
        """The agent's own id of a row, a call or a session, where it is one; never a secret in its place."""
        return self._redact(value) if isinstance(value, str) and _PLAIN_ID.match(value) else None

    def call_id(self, value: object) -> str | None:
        """A name for a call: its own id, or what stands for one that may hold anything; None for no text."""
        if not isinstance(value, str) or not value:
            return None
        return self.own_id(value) or digest_of(value)[:16]

    def call(self, call_id: str, name: str, arguments: Any, own_command: str | None = None) -> ToolCall:
        """A call with its arguments, redacted string by string and then as a whole, so that both a key
        that spans lines and a value that only its name betrays are found. Stays JSON where it was.
        `own_command` is a command line that they hold in another form than others do."""
        plain = self._clean(arguments, 0)
        if isinstance(plain, str):
            text, command = bounded(plain, ARGUMENTS_LIMIT), None
        else:
            text = self.text(orjson.dumps(plain, default=str).decode("utf-8"), ARGUMENTS_LIMIT)
            command = _command(plain)
        if command is None and own_command is not None:
            command = self.text(own_command, TEXT_LIMIT)
        return ToolCall(
            call_id=call_id,
            name=bounded(self.short(name), NAME_LIMIT),
            arguments=text,
            command=None if command is None else self.text(command, TEXT_LIMIT),
            files=_files(name, plain, command),
        )

    def _clean(self, value: Any, depth: int) -> Any:
        if depth > _DEEPEST:
            return "[cut: nested deeper]"
        match value:
            case str():
                return self.text(value, TEXT_LIMIT)
            case dict():
                return {self.short(str(key)): self._clean(item, depth + 1) for key, item in value.items()}
            case list():
                return [self._clean(item, depth + 1) for item in value]
        return value


def bounded(text: str, limit: int) -> str:
    """The text, or its beginning and a mark that says how much more there was."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\n[cut: {len(text) - limit} more characters]"


def moment(stamp: object) -> datetime | None:
    """The time of a row, aware, in UTC; None where it names none. A time without a zone says nothing."""
    if not isinstance(stamp, str):
        return None
    try:
        found = datetime.fromisoformat(stamp)
        return None if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def milliseconds(stamp: object) -> datetime | None:
    """The time of a row that counts milliseconds since 1970; None where it does not."""
    if not isinstance(stamp, int | float) or isinstance(stamp, bool):
        return None
    try:
        return datetime.fromtimestamp(stamp / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def commit_hash(value: object) -> str | None:
    return value if isinstance(value, str) and _COMMIT.match(value) else None


def patched_files(patch: str) -> tuple[str, ...]:
    """The files that a patch in Codex's form names."""
    return tuple(dict.fromkeys(path.strip() for path in _PATCHED.findall(patch)))


def written_files(command: str) -> tuple[str, ...]:
    """The files that a command line writes in a form that is plain to see: a patch, a here-document."""
    return tuple(dict.fromkeys((*patched_files(command), *_WRITTEN.findall(command))))


def _command(arguments: Any) -> str | None:
    """The shell line in a call's arguments: `command` or `cmd`, as a text or as an argv list."""
    if not isinstance(arguments, dict):
        return None
    found = arguments.get("command", arguments.get("cmd"))
    if isinstance(found, str):
        return found
    if isinstance(found, list) and found and all(isinstance(part, str) for part in found):
        shell = found[0].rsplit("/", 1)[-1] in _SHELLS and found[1:2] in (["-c"], ["-lc"], ["-ic"])
        return found[2] if shell and len(found) == 3 else shlex.join(found)
    return None


_WRITERS = frozenset(
    {"Write", "Edit", "MultiEdit", "NotebookEdit", "write", "edit", "create", "write_file", "replace"}
)
"""Tools of all agents that write the file that they name."""


def _files(name: str, arguments: Any, command: str | None) -> tuple[str, ...]:
    if command is not None:
        return written_files(command)
    if isinstance(arguments, str):
        return patched_files(arguments)
    if not isinstance(arguments, dict):
        return ()
    found = [arguments.get(key) for key in _EDITED_PATHS] if name in _WRITERS else []
    patch = arguments.get("input", arguments.get("patch"))
    paths = [path for path in found if isinstance(path, str)]
    return (*paths, *(patched_files(patch) if isinstance(patch, str) else ()))
