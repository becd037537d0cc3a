"""A transcript in our own terms: who said what, what was called, what came of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from nightschool.core.cursors import of_part, since_1970, stamp_of
from nightschool.core.spent import Spent, all_spent
from nightschool.core.values import Record, Value, digest_of


class Speaker(StrEnum):
    HUMAN = "human"
    AGENT = "agent"


class CallStatus(StrEnum):
    """What became of a tool call. A call without a result is unknown, not failed."""

    OK = "ok"
    ERROR = "error"
    REFUSED = "refused"
    """A person turned it down."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall(Value):
    """One call of a tool by the agent. Texts are redacted, then bounded, marked where cut."""

    call_id: str
    name: str
    arguments: str = ""
    """JSON text of the arguments, or the raw text where the agent records no JSON."""
    command: str | None = None
    """The shell command line, where the tool is a shell."""
    files: tuple[str, ...] = ()
    """Paths that the call names as written or edited, as the agent wrote them."""
    result: str | None = None
    """None: no result in the transcript."""
    status: CallStatus = CallStatus.UNKNOWN
    exit_code: int | None = None
    skills: tuple[str, ...] = ()
    """Skills that it loads, if it is done."""

    @property
    def error(self) -> str | None:
        """What the tool said, where it failed."""
        return self.result if self.status is CallStatus.ERROR else None


def skills_loaded(calls: Iterable[ToolCall]) -> tuple[str, ...]:
    """The skills that these calls loaded. One that failed or was turned down loaded none."""
    done = (call for call in calls if call.status not in {CallStatus.ERROR, CallStatus.REFUSED})
    return tuple(dict.fromkeys(skill for call in done for skill in call.skills))


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn(Value):
    """A human's prompt, or what the agent said and did until the next row of a human.

    `row` is the agent's own id of the row where it has one (copied rows of forks share it),
    else the digest of speaker, time and text. `offset` is the byte offset of its row in
    the file, or in a document the number of the row.
    """

    speaker: Speaker
    text: str
    row: str
    at: datetime | None = None
    offset: int = 0
    calls: tuple[ToolCall, ...] = ()
    interrupted: bool = False
    """The human stopped the agent in this (agent) turn."""
    skills: tuple[str, ...] = ()
    """Skills that were put in without a call: the person named them."""
    model: str | None = None
    spent: Spent | None = None
    went_back: bool = False
    """The person took back what came behind it."""
    end: int = 0
    """Byte offset behind its last row."""

    def continued(self, behind: Turn) -> Turn:
        """This agent turn with what a later part of the file adds to it."""
        known = {call.call_id for call in self.calls}
        return replace(
            self,
            text="\n\n".join(text for text in (self.text, behind.text) if text),
            calls=self.calls + tuple(call for call in behind.calls if call.call_id not in known),
            interrupted=self.interrupted or behind.interrupted,
            skills=tuple(dict.fromkeys(self.skills + behind.skills)),
            model=behind.model or self.model,
            spent=all_spent((self.spent, behind.spent)),
            went_back=self.went_back or behind.went_back,
            end=behind.end,
        )

    def fuller(self, copy: Turn) -> Turn:
        """Of two copies of one turn the one that holds more."""
        return max(copy, self, key=lambda turn: (len(turn.calls), turn.answered, len(turn.text)))

    @property
    def loaded(self) -> tuple[str, ...]:
        """All skills that were loaded in it."""
        return tuple(dict.fromkeys((*self.skills, *skills_loaded(self.calls))))

    @property
    def answered(self) -> int:
        """How many of its calls have a result."""
        return sum(call.result is not None for call in self.calls)


@dataclass(frozen=True, slots=True, kw_only=True)
class LateResult(Value):
    """The result of a call that stands in a part read earlier (or in a cut file, nowhere)."""

    call_id: str
    result: str
    status: CallStatus
    exit_code: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Session(Record):
    """One transcript. Times are aware, in UTC. Grows as its file grows."""

    GROWS = True

    session_id: str
    """The agent's own id, unique within its source."""
    source: str
    path: str
    """The transcript file, for `explain` and for the person; never decoded for meaning."""
    agent_version: str | None = None
    project: str | None = None
    """The working directory that the rows name; None where no row names one."""
    branch: str | None = None
    commit: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    headless: bool = False
    """Started by a machine: listed with no human turns, never mined."""
    ours: bool = False
    """One of our own replays, known by its marker: left out and counted."""
    sidechain: bool = False
    """A sub-agent's own file: left out and counted."""
    abridged: bool = False
    """From where its agent keeps less of it than in the transcript, which stands in its place once read."""
    offered: tuple[str, ...] | None = None
    """Skills that the agent could have loaded; None where the rows do not tell."""
    turns: tuple[Turn, ...] = ()
    late: tuple[LateResult, ...] = ()
    warnings: tuple[str, ...] = ()
    """What could not be read: offset and reason, redacted."""

    @property
    def id(self) -> str:
        return f"{self.source}:{self.session_id}"

    @property
    def owner(self) -> str:
        return self.project or ""

    @property
    def human_turns(self) -> tuple[Turn, ...]:
        return () if self.headless else tuple(t for t in self.turns if t.speaker is Speaker.HUMAN)

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """Distinct calls by id, in order; the copy with the known status wins."""
        found: dict[str, ToolCall] = {}
        for turn in self.turns:
            for call in turn.calls:
                known = found.get(call.call_id)
                if known is None or known.status is CallStatus.UNKNOWN:
                    found[call.call_id] = call
        return tuple(found.values())

    @property
    def skills(self) -> tuple[str, ...]:
        """All skills that were loaded in it, in order."""
        return tuple(dict.fromkeys(skill for turn in self.turns for skill in turn.loaded))

    @property
    def files(self) -> tuple[str, ...]:
        """All files that it wrote or edited, in order."""
        done = (call for call in self.calls if call.status not in {CallStatus.ERROR, CallStatus.REFUSED})
        return tuple(dict.fromkeys(file for call in done for file in call.files))

    @property
    def spent(self) -> Spent | None:
        return all_spent(turn.spent for turn in self.turns)

    @property
    def tool_errors(self) -> int:
        return sum(call.status is CallStatus.ERROR for call in self.calls)

    @property
    def refusals(self) -> int:
        return sum(call.status is CallStatus.REFUSED for call in self.calls)

    def extended(self, part: Session) -> Session:
        """This session with a later part of the same file: turns appended, late results joined.

        An agent turn that goes on in the part is one turn. A turn whose row is already here adds
        nothing but what its copy holds more, so reading the same bytes twice is harmless. Of copies in two
        files the one that ends later is the later part, whichever was read first.
        """
        if part.id != self.id:
            raise ValueError(f"{part.id} is no part of {self.id}")
        if self.abridged != part.abridged:
            return part if self.abridged else self
        return part._joined(self) if part._is_before(self) else self._joined(part)

    def _is_before(self, other: Session) -> bool:
        ends = [(one.ended_at is not None, one.ended_at, one.path) for one in (self, other)]
        return self.path != other.path and ends[0] < ends[1]

    def _joined(self, part: Session) -> Session:
        first, then = (self, part) if self.path == part.path else (part, self)
        turns = self._with_turns_of(part)
        return replace(
            self,
            path=part.path,
            agent_version=part.agent_version or self.agent_version,
            project=first.project or then.project,
            branch=first.branch or then.branch,
            commit=first.commit or then.commit,
            started_at=min((at for at in (self.started_at, part.started_at) if at), default=None),
            ended_at=max((at for at in (self.ended_at, part.ended_at) if at), default=None),
            headless=(self.headless or part.headless) and not _spoken_in(turns),
            ours=self.ours or part.ours,
            sidechain=self.sidechain or part.sidechain,
            offered=_either(self.offered, part.offered),
            turns=turns,
            late=self.late + tuple(late for late in part.late if late not in self.late),
            warnings=self.warnings + tuple(w for w in part.warnings if w not in self.warnings),
        ).settled()

    def _with_turns_of(self, part: Session) -> tuple[Turn, ...]:
        places = {turn.row: index for index, turn in enumerate(self.turns)}
        turns = list(self.turns)
        for index, turn in enumerate(part.turns):
            place = places.get(turn.row)
            if place is not None:
                turns[place] = turns[place].fuller(turn)
            elif index or part.path != self.path or not _goes_on(turns, turn):
                turns.append(turn)
            elif turn.offset >= turns[-1].end:
                turns[-1] = turns[-1].continued(turn)
        times = [turn.at for turn in turns if turn.at is not None]
        if part.path != self.path and len(times) == len(turns):
            return tuple(turn for _, _, turn in sorted(zip(times, range(len(turns)), turns, strict=True)))
        return tuple(turns)

    def settled(self) -> Session:
        """This session with late results joined to the calls that they answer."""
        late = {result.call_id: result for result in self.late}
        if not late:
            return self
        turns = tuple(
            replace(turn, calls=tuple(_joined(call, late) for call in turn.calls)) if turn.calls else turn
            for turn in self.turns
        )
        answered = {call.call_id for turn in turns for call in turn.calls}
        return replace(self, turns=turns, late=tuple(r for r in self.late if r.call_id not in answered))


def _either(one: tuple[str, ...] | None, other: tuple[str, ...] | None) -> tuple[str, ...] | None:
    return other if one is None else tuple(dict.fromkeys((*one, *(other or ()))))


def _goes_on(turns: list[Turn], turn: Turn) -> bool:
    return bool(turns) and turns[-1].speaker is Speaker.AGENT and turn.speaker is Speaker.AGENT


def _spoken_in(turns: tuple[Turn, ...]) -> bool:
    """Whether a person spoke: a machine's run that a person took up is that person's session."""
    return any(turn.speaker is Speaker.HUMAN for turn in turns)


def _joined(call: ToolCall, late: dict[str, LateResult]) -> ToolCall:
    found = late.get(call.call_id)
    if found is None or call.result is not None:
        return call
    return replace(call, result=found.result, status=found.status, exit_code=found.exit_code)


def row_id(speaker: Speaker, at: datetime | None, text: str) -> str:
    """The id of a row whose agent gives it none."""
    return digest_of(speaker, at, text)[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Roots(Value):
    """Where to look: explicit folders or files, or an agent's default places under a home."""

    home: str
    environment: tuple[tuple[str, str], ...] = ()
    """Variables that move an agent's folder (CLAUDE_CONFIG_DIR, CODEX_HOME)."""
    projects: tuple[str, ...] = ()
    """Folders in which work is known to have been done: some agents keep their transcripts there."""
    explicit: tuple[str, ...] = ()
    """When given, only these are searched, whatever the names of the files in them."""


def in_text(path: str) -> str:
    """A path as a text that can be stored and shown: bytes in it that are no UTF-8 stand as escapes."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptRef(Value):
    """A transcript file or one session in it, known by a cheap look (no content read)."""

    source: str
    path: str
    """As the system opens it; what is stored and shown of it is `in_text`."""
    size: int
    """Bytes; of a part, whatever grows with it."""
    mtime: datetime
    part: str = ""
    """Of a file that holds several sessions (a database, a history), the id of one of them."""

    @property
    def id(self) -> str:
        """The id of the `Offset` of the file, or of this part of it."""
        return of_part(self.source, in_text(self.path), self.part)

    @property
    def stamp(self) -> str:
        return stamp_of(self.size, since_1970(self.mtime))


@dataclass(frozen=True, slots=True, kw_only=True)
class Offset(Record):
    """How far a file was read. Kept by the store as the cursor of that file."""

    GROWS = True

    source: str
    path: str
    position: int
    """Bytes read and stored; always at the start of a row."""
    size: int
    mtime: datetime
    head: str
    """Digest of the first bytes (up to 1 KiB): a file that was replaced is read anew."""
    session: str
    """The id of the session that this file gave; "" where it gave none."""
    carry: str = ""
    """What the source must remember of the part that was read, in its own words."""
    part: str = ""
    """Of a file that holds several sessions: the one that this is the cursor of."""

    @property
    def id(self) -> str:
        return of_part(self.source, self.path, self.part)

    @property
    def stamp(self) -> str:
        """By which a file is known not to have changed."""
        return stamp_of(self.size, since_1970(self.mtime))

    @property
    def owner(self) -> str:
        return self.source


@dataclass(frozen=True, slots=True, kw_only=True)
class Window(Record):
    """How far back a source's files were looked at. What lies in it and has no cursor was postponed."""

    GROWS = True

    source: str
    begins: datetime

    @property
    def id(self) -> str:
        return self.source


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut(Value):
    """A file or record that was not taken, and why."""

    path: str
    reason: str
    """A code: sub-agent, own-replay, unreadable, not-a-transcript, bad-record, empty, dangling-link,
    vanished, ignored, forgotten, too-old."""
    offset: int | None = None
    detail: str = ""
    human_turns: int | None = None
    """What a session that is left out as a whole holds, in the part that was read now; else None."""
    tool_calls: int | None = None
    tool_errors: int | None = None
    refusals: int | None = None


class Became(StrEnum):
    """What became of a row of a transcript."""

    HUMAN = "human"
    """A person's turn."""
    SAID = "said"
    """A part of the agent's turn."""
    CALL = "call"
    RESULT = "result"
    INTERRUPTION = "interruption"
    FACTS = "facts"
    """It tells of the session: folder, version, branch, model."""
    COPY = "copy"
    """What it says was read already, or belongs to another session."""
    LEFT_OUT = "left out"
    """It could have been a turn, and is none."""
    NOTHING = "nothing"
    """It says nothing of turns or calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFate(Value):
    """One thing that one row became, and why. A row of several blocks may have several."""

    offset: int
    kind: str
    """What the row calls itself, redacted and bounded."""
    became: Became
    why: str = ""
    """Never the row's own words."""
    turn: int | None = None
    """Index into the turns of what was read."""
    call_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadResult(Value):
    """What one read of one file gave. `session` is None where the file holds no session."""

    session: Session | None
    offset: Offset | None
    left_out: tuple[LeftOut, ...] = field(default=())
    restarted: bool = False
    """The file is not the one that the offset spoke of: it was read from the start."""
