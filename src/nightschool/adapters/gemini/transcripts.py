"""Transcripts of Gemini CLI: `~/.gemini/tmp/<project>/chats/session-*.json`, since 0.39 `.jsonl`.

A `.json` file is one document that is saved over and over. A `.jsonl` file is a journal: a head, messages, a
message again (by its id) when calls were added to it, `$set` for the head, `$rewindTo` where the person went
back to a message. Either is read whole whenever it changed, and the newest copy of a message counts.

The rows name no folder. `.project_root` beside `chats`, which newer versions write, does; without it a
session names no project.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from nightschool.adapters.agent_home import AgentHome
from nightschool.adapters.conversation import RESULT_LIMIT, Place, moment
from nightschool.adapters.rows import LONGEST, Row, Rows, kind_of, open_file, open_rows, word
from nightschool.adapters.snapshot_rows import SnapshotRows, at_once, content_of, open_document
from nightschool.adapters.transcript_files import Reading, TranscriptFiles
from nightschool.core.jobs import MARKER
from nightschool.core.ports import Redact
from nightschool.core.sessions import (
    Became,
    CallStatus,
    LateResult,
    LeftOut,
    Offset,
    Roots,
    Session,
    Speaker,
    TranscriptRef,
    in_text,
)

SOURCE = "gemini"
HOME = AgentHome(variable="GEMINI_CLI_HOME", usual=".gemini", sessions=("tmp",))
CHATS = "chats"
ROOT_FILE = ".project_root"
_NOTES = frozenset({"info", "warning", "error"})
_KINDS = frozenset({"user", "gemini"}) | _NOTES
_NOT_TYPED = ("System: Please continue.", "<session_context>")
"""How user rows begin that the client put in."""
_DENIED = ("did not allow", "denied")
_CANCELLED = "Request cancelled."


class GeminiTranscripts(TranscriptFiles):
    """The `TranscriptSource` of Gemini CLI."""

    name = SOURCE
    title = "Gemini CLI"
    home = HOME
    endings = (".json", ".jsonl")

    def folders(self, roots: Roots) -> Sequence[Path]:
        """The variable names a home, in which the usual folder lies."""
        environment = dict(roots.environment)
        home = environment.pop(HOME.variable, None) or roots.home
        return HOME.session_folders(Path(home).absolute(), environment)

    def may_be(self, path: str) -> bool:
        """Other files of the project lie beside the folder of its chats."""
        return CHATS in Path(path).parts

    def is_ours(self, row: Mapping[str, Any]) -> bool:
        return _is_ours(row)

    def opened(self, ref: TranscriptRef, since: Offset | None) -> Rows | LeftOut:
        if _is_journal(ref.path):
            return _journal(ref, since)
        return open_document(ref, since, _messages)

    def reading(self, file: Rows, since: Offset | None) -> Reading:
        del since  # read from its first row each time
        return _Reading(self._redact, file)


def _is_ours(row: Mapping[str, Any]) -> bool:
    """Whether no other agent writes such a row."""
    if "projectHash" in row:
        return word(row.get("sessionId")) is not None
    return word(row.get("type")) in _KINDS and "content" in row and word(row.get("id")) is not None


def _messages(document: dict[str, Any]) -> Iterable[object]:
    """The head of a document, then its messages."""
    messages = document.pop("messages", [])
    yield document
    yield from messages if isinstance(messages, list) else (messages,)


def _is_journal(path: str) -> bool:
    """Whether the first line is an object by itself, and not a whole session."""
    file = open_file(path)
    if isinstance(file, LeftOut):
        return False
    with file, suppress(OSError, ValueError):
        first = orjson.loads(file.readline(LONGEST))
        return isinstance(first, dict) and "messages" not in first
    return False


def _journal(ref: TranscriptRef, since: Offset | None) -> SnapshotRows | LeftOut:
    """The rows of the lines, and what a later line overrode behind them."""
    file = open_rows(ref.path)
    if isinstance(file, LeftOut):
        return file
    standing = _Standing()
    with file:
        for row in file.rows():
            for complaint in standing.take(row):
                file.leave_out("bad-record", row.offset, complaint)
        return at_once(file, standing.rows, restarted=since is not None)


class _Standing:
    """The rows of a journal, each with its fate: a message that was written again stands, with its newest
    content, at the place of its first copy, since calls belong to the reply that asked for them."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._living: dict[str, int] = {}
        """Where in `rows` the messages that count stand."""

    def take(self, row: Row) -> Iterator[str]:
        """Gives what is wrong in it."""
        value = row.value
        own, back = word(value.get("id")), word(value.get("$rewindTo"))
        if own is not None and word(value.get("type")) in _KINDS:
            known = self._living.setdefault(own, len(self.rows))
            if known < len(self.rows):
                self.rows[known] = self.rows[known]._replace(value=value)
                row = row._replace(fate=(Became.COPY, "written again: it counts where it first stood"))
            self.rows.append(row)
            return
        self.rows.append(row)
        if back in self._living:
            names = list(self._living)
            self._leave(names[names.index(back) :], "the person went back to before it")
        change = value.get("$set")
        messages = change.get("messages") if isinstance(change, dict) else None
        if isinstance(messages, list):
            yield from self._set(row, messages)
        elif messages is not None:
            yield f"messages must be a list, not {kind_of(messages)}"

    def _set(self, row: Row, messages: list[Any]) -> Iterator[str]:
        """All messages anew: what is not among them is gone from the session."""
        named = {word(message.get("id")) for message in messages if isinstance(message, dict)}
        self._leave([name for name in self._living if name not in named], "taken out of the session")
        for message in messages:
            if not isinstance(message, dict):
                yield f"a message must be an object, not {kind_of(message)}"
            elif "$set" not in message and "$rewindTo" not in message:
                yield from self.take(row._replace(value=message))

    def _leave(self, names: Sequence[str], why: str) -> None:
        for name in names:
            place = self._living.pop(name)
            self.rows[place] = self.rows[place]._replace(fate=(Became.LEFT_OUT, why))


class _Reading(Reading):
    """What the rows of one session tell."""

    def __init__(self, redact: Redact, file: Rows) -> None:
        super().__init__(redact, file)
        self._session: str | None = None
        self._model: str | None = None
        self._prompted = self._ours = self._sidechain = False

    def is_dull(self, line: bytes) -> bool:
        del line
        return False

    def kind(self, row: Row) -> str:
        return word(row.value.get("type")) or next((key for key in row.value if key[:1] == "$"), "head")

    def take(self, row: Row) -> None:
        value = row.value
        self._known = self._known or _is_ours(value)
        if row.fate is not None:
            self.became(*row.fate)
            return
        at = moment(value.get("timestamp"))
        place = Place(self._talk.own_id(value.get("id")) or "", at, row.offset, row.end)
        match word(value.get("type")):
            case "user":
                self.timed(at)
                self._prompt(_text(value.get("content")), place)
            case "gemini":
                self.timed(at)
                self._reply(row, place)
            case kind if kind in _NOTES:
                self._note(_text(value.get("content")), place)
            case _ if "sessionId" in value:
                self._head(value)

    def _head(self, value: Mapping[str, Any]) -> None:
        self.became(Became.FACTS, "id and time")
        self._session = self._session or self._talk.own_id(value.get("sessionId"))
        self._sidechain = self._sidechain or value.get("kind") == "subagent"
        self.timed(moment(value.get("startTime")))

    def _prompt(self, text: str, place: Place) -> None:
        if not text.strip() or text.lstrip().startswith(_NOT_TYPED):
            self.became(Became.LEFT_OUT, "put in by the client, or without words of a person")
            return
        if not self._prompted:
            self._prompted = True
            self._ours = text.lstrip().startswith(f"[{MARKER}")
        if self._sidechain:
            self.became(Became.LEFT_OUT, "a prompt for a sub-agent: an agent wrote it")
            return
        row = place.row or self._talk.row(None, place.at, text, Speaker.HUMAN)
        self._talk.human(text, place._replace(row=row))
        self.became(Became.HUMAN)

    def _note(self, text: str, place: Place) -> None:
        if text.startswith(_CANCELLED):
            self._talk.interrupted(self._named(place, text))
            self.became(Became.INTERRUPTION, "a person stopped the agent")
        else:
            self.became(Became.LEFT_OUT, "a note of the client")

    def _reply(self, row: Row, place: Place) -> None:
        value = row.value
        model = word(value.get("model"))
        self._model = self._talk.short(model) if model else self._model
        text = _text(value.get("content"))
        if self._talk.said(text, self._named(place, text), self._model):
            self.became(Became.SAID)
        calls = value.get("toolCalls")
        for call in self.objects(row, calls, "calls"):
            own = self._talk.own_id(call.get("id"))
            if own is not None:
                made = self._talk.call(own, str(call.get("name", "")), call.get("args"))
                self._talk.called(made, self._named(place, own), self._model)
                self.became(Became.CALL, call_id=own)
                self._result(own, call)

    def _result(self, own: str, call: Mapping[str, Any]) -> None:
        status, text = _judged(call)
        if status is not None:
            self.became(Became.RESULT, call_id=own)
            result = self._talk.text(text, RESULT_LIMIT)
            self._talk.answered(LateResult(call_id=own, result=result, status=status))

    def _named(self, place: Place, text: str) -> Place:
        return place._replace(row=place.row or self._talk.row(None, place.at, text, Speaker.AGENT))

    def carry(self) -> str:
        return ""

    def session(self, since: Offset | None) -> Session:
        del since
        return Session(
            session_id=self._session or self._talk.short(Path(self._file.path).stem),
            source=SOURCE,
            path=self._file.path,
            project=self._project(),
            started_at=self._first,
            ended_at=self._last,
            ours=self._ours,
            sidechain=self._sidechain,
            turns=self._talk.turns,
            late=self._talk.late,
            warnings=self.warnings,
        ).settled()

    def _project(self) -> str | None:
        """The folder that the file beside `chats` names."""
        above = next((p.parent for p in Path(self._file.path).parents if p.name == CHATS), None)
        if above is None:
            return None
        place = str(above / ROOT_FILE)
        content = content_of(place)
        if isinstance(content, LeftOut):
            if content.reason != "vanished":
                self._file.leave_out(content.reason, content.offset, content.detail, content.path)
            return None
        named = content.decode("utf-8", "replace").strip()
        if named.startswith("/") and named.isprintable() and "\ufffd" not in named:
            return self._talk.short(named)
        self._file.leave_out("bad-record", 0, "it names no folder", in_text(place))
        return None


def _judged(call: Mapping[str, Any]) -> tuple[CallStatus | None, str]:
    """How a call ended and what it gave; None where it never ended."""
    response = _responded(call.get("result"))
    text = (
        word(response.get("output")) or word(response.get("error")) or word(call.get("resultDisplay")) or ""
    )
    match call.get("status"):
        case "success":
            return CallStatus.OK, text
        case "error":
            return CallStatus.ERROR, text
        case "cancelled" if any(word in text for word in _DENIED):
            return CallStatus.REFUSED, text
    return None, text


def _responded(result: object) -> Mapping[str, Any]:
    for part in result if isinstance(result, list) else ():
        response = part.get("functionResponse") if isinstance(part, dict) else None
        given = response.get("response") if isinstance(response, dict) else None
        if isinstance(given, dict):
            return given
    return {}


def _text(content: object) -> str:
    """The words of a message: a text, or its parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "\n".join(text for text in texts if isinstance(text, str))
