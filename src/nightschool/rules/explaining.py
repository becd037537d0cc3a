"""What became of each row of a transcript: what its reader told, and what the rules made of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from nightschool.core.sessions import Became, CallStatus, LeftOut, RowFate, Session, Speaker, ToolCall
from nightschool.core.signals import Signal, SignalKind
from nightschool.core.tasks import Correction, Task
from nightschool.core.values import Value
from nightschool.rules.prose import is_acknowledgement, is_injected, is_paste, is_slash_command
from nightschool.rules.signals import signals
from nightschool.rules.telling import counted
from nightschool.rules.words import DEFAULT, Words

SHOWN = 100
"""Characters of a row's own text: the whole of it lies in the transcript."""
ENDED = {
    CallStatus.OK: "it was done",
    CallStatus.ERROR: "it failed",
    CallStatus.REFUSED: "you turned it down: a refusal",
    CallStatus.UNKNOWN: "how it ended is not known",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedRow(Value):
    """One row, or one part of a row of several."""

    offset: int
    kind: str
    became: Became
    why: str
    turn: int | None = None
    text: str = ""
    """The beginning of what it says, redacted."""
    signal: SignalKind | None = None
    corrections: tuple[str, ...] = ()
    """Ids of the corrections that were heard in it."""
    tasks: tuple[str, ...] = ()
    """Ids of the tasks that it is the request of."""


def explained(
    session: Session | None,
    fates: Sequence[RowFate],
    left_out: Iterable[LeftOut],
    *,
    heard: Iterable[Correction] = (),
    tasks: Iterable[Task] = (),
    planned: Collection[str] = (),
    words: Words = DEFAULT,
) -> tuple[ExplainedRow, ...]:
    """The rows of a transcript in the order of the file, and what in it is none. `session` is what its reader
    made of them. `planned`: ids of the tasks that are not made yet."""
    told = _Told.of(session, heard, tasks, words, planned) if session is not None else None
    rows = [told.row(fate) if told is not None else _plain(fate) for fate in fates]
    rows += [
        ExplainedRow(offset=out.offset, kind="no row", became=Became.LEFT_OUT, why=out.detail or out.reason)
        for out in left_out
        if out.offset is not None
    ]
    return tuple(sorted(rows, key=lambda row: row.offset))


def _plain(fate: RowFate) -> ExplainedRow:
    return ExplainedRow(offset=fate.offset, kind=fate.kind, became=fate.became, why=fate.why, turn=fate.turn)


@dataclass(slots=True)
class _Told:
    """What is known of the turns of a session."""

    session: Session
    calls: dict[str, ToolCall]
    signals: dict[int, Signal]
    heard: dict[int, list[Correction]]
    tasks: dict[int, list[Task]]
    planned: Collection[str]
    begun: set[int]
    """Agent turns of which a row was shown already."""

    @classmethod
    def of(
        cls,
        session: Session,
        heard: Iterable[Correction],
        tasks: Iterable[Task],
        words: Words,
        planned: Collection[str],
    ) -> _Told:
        moments: dict[int, list[Correction]] = defaultdict(list)
        for correction in heard:
            for turn in {moment.turn for moment in correction.moments if moment.session == session.id}:
                moments[turn].append(correction)
        requests: dict[int, list[Task]] = defaultdict(list)
        for task in tasks:
            if task.session == session.id:
                requests[task.turn].append(task)
        return cls(
            session=session,
            calls={call.call_id: call for call in session.calls},
            signals={found.turn: found for found in signals(session, words)},
            heard=moments,
            tasks=requests,
            planned=planned,
            begun=set(),
        )

    def row(self, fate: RowFate) -> ExplainedRow:
        row, turn, call = _plain(fate), fate.turn, self.calls.get(fate.call_id or "")
        match fate.became:
            case Became.HUMAN if turn is not None:
                return self._human(fate, turn)
            case Became.SAID if turn is not None:
                first = turn not in self.begun
                self.begun.add(turn)
                text = self.session.turns[turn].text if first else ""
                return _with(row, "what the agent said" if first else "goes on in the same turn", text)
            case Became.CALL if call is not None:
                return _with(row, f"a call of {call.name}", call.command or call.arguments)
            case Became.RESULT:
                return self._result(row, call)
        stopped = SignalKind.INTERRUPTION if fate.became is Became.INTERRUPTION else None
        return _with(row, fate.why or "says nothing of turns or calls", signal=stopped)

    def _result(self, row: ExplainedRow, call: ToolCall | None) -> ExplainedRow:
        if call is None:
            return _with(row, "the result of a call that is not in this file")
        refused = SignalKind.REFUSAL if call.status is CallStatus.REFUSED else None
        return _with(
            row, f"the result of {call.name}: {ENDED[call.status]}", call.result or "", signal=refused
        )

    def _human(self, fate: RowFate, turn: int) -> ExplainedRow:
        signal, heard, tasks = self.signals.get(turn), self.heard[turn], self.tasks[turn]
        why = [
            *(f"{found.kind}: {found.quote!r}" for found in (signal,) if found is not None),
            *(
                f"heard as {one.id}, {one.statement!r}, in {counted(len(one.sessions), 'session')}"
                for one in heard
            ),
            *(
                f"{'would be ' if one.id in self.planned else ''}the request of task {one.id}"
                for one in tasks
            ),
        ]
        return ExplainedRow(
            offset=fate.offset,
            kind=fate.kind,
            became=fate.became,
            why="; ".join(why) or self._silent(turn),
            turn=turn,
            text=_shown(self.session.turns[turn].text),
            signal=None if signal is None else signal.kind,
            corrections=tuple(one.id for one in heard),
            tasks=tuple(one.id for one in tasks),
        )

    def _silent(self, turn: int) -> str:
        """Why a person's turn says nothing of the agent's work."""
        text, before = self.session.turns[turn].text, self.session.turns[:turn]
        if not any(one.speaker is Speaker.AGENT for one in before):
            return "a request, before the agent did anything that could be corrected"
        reasons = (
            (is_injected, "put in by the client"),
            (is_slash_command, "a command of the client"),
            (is_acknowledgement, "a short reply that judges nothing"),
            (is_paste, "mostly pasted: what others wrote is no correction of yours"),
        )
        for holds, why in reasons:
            if holds(text):
                return why
        return "a request: nothing in it says that what was done is not what you wanted"


def _with(row: ExplainedRow, why: str, text: str = "", *, signal: SignalKind | None = None) -> ExplainedRow:
    return ExplainedRow(
        offset=row.offset,
        kind=row.kind,
        became=row.became,
        why=why,
        turn=row.turn,
        text=_shown(text),
        signal=signal,
    )


def _shown(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else line[: SHOWN - 1] + "\N{HORIZONTAL ELLIPSIS}"


def whole_session(session: Session) -> Iterator[str]:
    """What keeps all of a session from being learned from."""
    if session.ours:
        yield "Nothing is learned from it: it is one of nightschool's own replays."
    if session.sidechain:
        yield "Nothing is learned from it: it is a sub-agent's file, in which no person speaks."
    if session.headless:
        yield "Nothing is learned from it: a program started it, and no person speaks in it."
