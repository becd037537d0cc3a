"""One pass over the rows of one transcript, whichever agent wrote it: what the next pass must know of it, and
a session at the end.

Relieves the transcripts of each agent: their files keep what is known of that agent's records.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import orjson

from nightschool.adapters import unpacked
from nightschool.adapters.conversation import RESULT_LIMIT, Conversation, Place
from nightschool.adapters.rows import Row, Rows, kind_of, word
from nightschool.core.jobs import MARKER
from nightschool.core.ports import TellRow
from nightschool.core.sessions import (
    Became,
    CallStatus,
    LateResult,
    LeftOut,
    Offset,
    ReadResult,
    RowFate,
    Session,
    Speaker,
)
from nightschool.core.spent import Spent, count_of, money_of, within

if TYPE_CHECKING:
    from nightschool.adapters.transcript_files import TranscriptFiles

CLIENT = "put in by the client, or without words of a person"
WENT_BACK = (Became.LEFT_OUT, "the person went back to before it")
STOPPED = "a person stopped the agent"
_KIND = 60
"""Characters of what a row calls itself."""
_NAME = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
"""A session's id at the end of a file's name."""


_PATHS = re.compile(r"[\w./-]+")


@dataclass(slots=True)
class Carry:
    """What the rows read so far decide for those to come. An agent adds what its own records need."""

    session: str | None = None
    """The id that the rows give the session."""
    prompted: bool = False
    ours: bool = False
    headless: bool = False
    """A program sends the prompts, at the row at hand."""
    sidechain: bool | None = None
    """Another agent sends the prompts; None while no row tells."""
    model: str | None = None
    unplaced: tuple[int | None, int | None, str | None] | None = None
    """What replies took that are part of no turn yet."""
    speaking: bool = False
    """An agent's turn goes on."""


C = TypeVar("C", bound=Carry)


def carried(kind: type[C], since: Offset | None) -> C:
    """What an earlier pass left for this one."""
    return kind(**orjson.loads(since.carry)) if since is not None and since.carry else kind()


class Reading(ABC, Generic[C]):
    """What the rows of one transcript, or of the part of it behind an offset, tell."""

    carries: type[C]

    def __init__(self, source: TranscriptFiles, file: Rows, since: Offset | None) -> None:
        self._source = source
        self._file = file
        self._talk = Conversation(source.redact)
        self._carry = carried(self.carries, since)
        self._talk.speaking = self._carry.speaking
        if self._carry.unplaced is not None:
            given, output, cost = self._carry.unplaced
            paid = None if cost is None else Decimal(cost)
            self._talk.unplaced = Spent(input=given, output=output, cost=paid)
        self._since = since.session if since is not None else ""
        self._facts: dict[str, str] = {}
        self._offered: dict[str, None] | None = None
        self._first: datetime | None = None
        self._last: datetime | None = None
        self._known = False
        """A row was this agent's."""
        self._machine = self._carry.headless
        """A program sent some of it."""
        self._row = Row(0, 0, {})
        self._place = Place("", None, 0, 0)
        self._fates: list[tuple[Became, str, int | None, str | None]] | None = None
        """What became of the row at hand, where somebody asks."""

    # What an agent says of its records.

    @abstractmethod
    def take(self, value: Mapping[str, Any]) -> None:
        """What one row says."""

    def is_dull(self, line: bytes) -> bool:
        """Whether a row of this agent says by its first bytes that it tells nothing."""
        del line
        return False

    def kind(self, value: Mapping[str, Any]) -> str:
        """What a row calls itself."""
        return word(value.get("type")) or "no type"

    def skills_of(self, name: str, given: object, command: str | None) -> Sequence[str]:
        """The skills that a call loads, if it is done."""
        del name, given, command
        return ()

    def told_before(self, text: str) -> str:
        """Why a prompt is one that was read already, in another row; "" where it is none."""
        del text
        return ""

    def not_a_persons(self) -> str:
        """Why no person sent the prompt at hand; "" where one did."""
        if self._carry.sidechain:
            return "a prompt for a sub-agent: an agent wrote it"
        return "sent by a program, not by a person" if self._carry.headless else ""

    def session_id(self) -> str:
        """What the rows say, else the file's name."""
        return self._carry.session or self.name_of(self.stem) or self._talk.short(self.stem)

    @property
    def stem(self) -> str:
        """The file's name without its ending, packed or not."""
        return Path(self._file.path.removesuffix(unpacked.ENDING)).stem

    def name_of(self, stem: str) -> str | None:
        """The session's id at the end of a file's name."""
        found = _NAME.search(stem)
        return found.group() if found else None

    def abridged(self) -> bool:
        """Whether the agent keeps more of the session elsewhere."""
        return False

    def project(self) -> str | None:
        """The folder that the rows name."""
        return self._told("cwd")

    # What rows are made into.

    def knows(self, value: Mapping[str, Any]) -> bool:
        """Whether no other agent writes such a row."""
        ours = self._source.is_ours(value)
        self._known = self._known or ours
        return ours

    def stands(self, own: object, at: datetime | None) -> None:
        """Id and time of the row at hand."""
        self._place = Place(self._talk.own_id(own) or "", at, self._row.offset, self._row.end)

    def timed(self, at: datetime | None) -> None:
        if at is not None:
            self._first = at if self._first is None else min(self._first, at)
            self._last = at if self._last is None else max(self._last, at)

    def learn(self, key: str, value: object, *, latest: bool = False) -> None:
        """The first, or the latest, that is said of it."""
        if isinstance(value, str) and value and (latest or key not in self._facts):
            self._facts[key] = value

    def model(self, value: object) -> None:
        name = word(value)
        self._carry.model = self._talk.short(name) if name else self._carry.model

    def run_by(self, *, program: bool) -> None:
        """Who sends the prompts from the row at hand on."""
        self._carry.headless = program
        self._machine = self._machine or program

    def prompt(self, text: str, why: str = CLIENT) -> None:
        """What was sent to the agent: a person's turn, if a person did. The first one tells our own replays.
        `why` it is none where it has no words."""
        if not text.strip():
            self.became(Became.LEFT_OUT, why)
            return
        if not self._carry.prompted:
            self._carry.prompted = True
            self._carry.ours = text.lstrip('" \n').startswith(f"[{MARKER}")
        others = self.not_a_persons()
        if others:
            self.became(Became.LEFT_OUT, others)
            return
        copy = self.told_before(text)
        if copy:
            self.became(Became.COPY, copy)
            return
        self._talk.human(text, self._place)
        self.became(Became.HUMAN)

    def said(self, text: object) -> None:
        if self._talk.said(word(text) or "", self._place, self._carry.model):
            self.became(Became.SAID)

    def called(self, own: object, name: object, given: object, command: str | None = None) -> str | None:
        """A call with its arguments; `command` where they hold it in a form of the agent's own. Gives the
        name that the call has from now on."""
        call_id = self._talk.call_id(own)
        if call_id is None:
            self.bad("a call without an id")
            return None
        call = self._talk.call(call_id, word(name) or "", given, command)
        skills = self.skills_of(call.name, given, call.command)
        self._talk.called(call, self._place, self._carry.model, skills=skills)
        self.became(Became.CALL, call_id=call_id)
        return call_id

    def answered(self, own: object, text: object, status: CallStatus, code: int | None = None) -> None:
        """How a call ended and what it gave."""
        call_id = self._talk.call_id(own)
        if call_id is None:
            self.bad("the result of a call without an id")
            return
        result = self._talk.text(word(text) or "", RESULT_LIMIT)
        self.became(Became.RESULT, call_id=call_id)
        self._talk.answered(LateResult(call_id=call_id, result=result, status=status, exit_code=code))

    def took(self, given: Iterable[object], output: Iterable[object], cost: object = None) -> None:
        """The tokens that a reply took, in parts, and what it cost. It is called once for each reply."""
        spent = Spent(input=_total(given), output=_total(output), cost=money_of(cost))
        if spent != Spent():
            self._talk.took(spent, self._place)

    def offers(self, names: Iterable[object]) -> None:
        """Skills that the agent could load from here on."""
        found = dict.fromkeys(self._offered or ())
        self._offered = found | dict.fromkeys(
            self._talk.short(name) for name in names if isinstance(name, str)
        )

    def interrupted(self) -> None:
        self._talk.interrupted(self._place)
        self.became(Became.INTERRUPTION, STOPPED)

    # What cannot be read, and who is told.

    def bad(self, why: str) -> None:
        """What the row at hand holds in a place that is known, and is not what stands there."""
        self._file.leave_out("bad-record", self._row.offset, why)

    def objects(self, value: object, what: str) -> Iterator[dict[str, Any]]:
        """The objects of a list, such as the blocks of a message. What is none is named; no list is none."""
        if value is not None and not isinstance(value, list):
            self.bad(f"{what} must be a list, not {kind_of(value)}")
            return
        for item in value or ():
            if isinstance(item, dict):
                yield item
            else:
                self.bad(f"one of {what} must be an object, not {kind_of(item)}")

    def text_of(self, content: object, what: str = "content") -> str:
        """The words of a message: a text, or the texts of its blocks."""
        if isinstance(content, str):
            return content
        texts = (block.get("text") for block in self.objects(content, what))
        return "\n".join(text for text in texts if isinstance(text, str))

    def became(self, what: Became, why: str = "", call_id: str | None = None) -> None:
        """Says what became of the row at hand: what is looked up for it costs nothing where nobody asks."""
        if self._fates is not None:
            of_turn = what in {Became.HUMAN, Became.SAID, Became.INTERRUPTION}
            turn = self._talk.latest if of_turn else self._talk.turn_of(call_id)
            self._fates.append((what, why, turn, call_id))

    # One pass.

    def through(self, told: TellRow | None) -> None:
        """All rows in their order. Who asks for each row is told of the dull ones, too."""
        for row in self._file.rows(self._dull, all_told=told is not None):
            self._row = row
            if told is None:
                self._take(row)
                continue
            self._fates, faults = [], self._file.faults
            self._take(row)
            if not self._fates and self._file.faults > faults:
                continue  # what is bad stands among what was left out
            kind = self._talk.text(self.kind(row.value), _KIND)
            for what, why, turn, call_id in self._fates or [(Became.NOTHING, "", None, None)]:
                told(RowFate(offset=row.offset, kind=kind, became=what, why=why, turn=turn, call_id=call_id))

    def _dull(self, line: bytes) -> bool:
        dull = self.is_dull(line)
        self._known = self._known or dull
        return dull

    def _take(self, row: Row) -> None:
        if row.fate is None:
            self.take(row.value)
        else:
            self._known = self._known or self._source.is_ours(row.value)
            self.became(*row.fate)
            if row.fate == WENT_BACK:
                self._talk.went_back()

    def result(self) -> ReadResult:
        file, source = self._file, self._source
        session = self._session() if self._known or self._since else None
        left_out = tuple(file.left_out)
        if session is None and left_out and left_out[0].reason == "unreadable" and not file.position:
            left_out = (replace(left_out[0], offset=None),)  # of the file as a whole
        elif session is None:
            # What is damaged in a file that is none of ours is one finding, not as many as it has lines.
            reason = "not-a-transcript" if file.position or left_out else "empty"
            damaged = f", and what is no row at {file.counted} {left_out[0].offset}" if left_out else ""
            detail = f"no row of {source.title} in it{damaged}"
            left_out = (LeftOut(path=file.path, reason=reason, detail=detail),)
        left = self._talk.unplaced
        self._carry.speaking = self._talk.speaking
        self._carry.unplaced = None
        if left is not None:
            self._carry.unplaced = left.input, left.output, None if left.cost is None else str(left.cost)
        carry = orjson.dumps(asdict(self._carry)).decode("utf-8")
        offset = file.offset(source.name, session=session.session_id if session else "", carry=carry)
        return ReadResult(session=session, offset=offset, left_out=left_out, restarted=file.restarted)

    def _session(self) -> Session:
        talk, project = self._talk, self.project()
        return Session(
            session_id=self._since or self.session_id(),
            source=self._source.name,
            path=self._file.path,
            agent_version=self._told("version"),
            project=project,
            branch=self._told("branch"),
            commit=self._facts.get("commit"),
            started_at=self._first,
            ended_at=self._last,
            headless=self._machine and not any(turn.speaker is Speaker.HUMAN for turn in talk.turns),
            ours=self._carry.ours,
            sidechain=bool(self._carry.sidechain),
            abridged=self.abridged(),
            offered=None if self._offered is None else tuple(self._offered),
            turns=talk.turns,
            late=talk.late,
            warnings=tuple(self._warning(found) for found in self._file.left_out),
        ).settled()

    def _told(self, key: str) -> str | None:
        fact = self._facts.get(key)
        return None if fact is None else self._talk.short(fact)

    def _warning(self, found: LeftOut) -> str:
        place = "" if found.offset is None else f"{self._file.counted} {found.offset}: "
        other = "" if found.path == self._file.path else f"{self._talk.short(found.path)}: "
        return f"{other}{place}{found.detail}"


def parsed(given: object) -> object:
    """The arguments of a call: an object, or the text of one."""
    if isinstance(given, str):
        try:
            return orjson.loads(given)
        except ValueError:
            return given
    return given


def exit_code_of(value: object) -> int | None:
    """Of a command; None for what no system gives. Windows has codes of 32 bits."""
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 32 else None


def skills_opened(text: str) -> tuple[str, ...]:
    """The skills whose files a command line, or a path, names: some agents load a skill by reading it."""
    found = dict[str, None]()
    for path in _PATHS.findall(text):
        folder, opened, _ = path.rpartition("/SKILL.md")
        _, among, below = folder.partition("skills/")
        name = below.rpartition("/")[2]
        if opened and among and name:
            found[name] = None
    return tuple(found)


def _total(parts: Iterable[object]) -> int | None:
    """None where no part is told."""
    counts = [count for part in parts if (count := count_of(part)) is not None]
    return within(sum(counts)) if counts else None
