"""Transcripts of Gemini CLI: `~/.gemini/tmp/<project>/chats/session-*.json`, since 0.39 `.jsonl`.

A `.json` file is one document that is saved over and over. A `.jsonl` file is a journal: a head, messages, a
message again (by its id) when calls were added to it, `$set` for the head, `$rewindTo` where the person went
back to a message. Either is read whole whenever it changed, and the newest copy of a message counts.

The rows name no folder. `.project_root` beside `chats`, which newer versions write, does; without it a
session names no project.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from nightschool.adapters.agent_home import AgentHome
from nightschool.adapters.conversation import RESULT_LIMIT, Place, moment
from nightschool.adapters.rows import LONGEST, Row, Rows, open_file, open_rows, word
from nightschool.adapters.snapshot_rows import SnapshotRows, open_document
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
)

SOURCE = "gemini"
HOME = AgentHome(variable="GEMINI_CLI_HOME", usual=".gemini", sessions=("tmp",))
CHATS = "chats"
ROOT_FILE = ".project_root"
_LONGEST_PATH = 4096
_NOTES = frozenset({"info", "warning", "error"})
_KINDS = frozenset({"user", "gemini"}) | _NOTES
_FATE = "$fate"
"""What we put beside a row of the journal that a later one overrides, and why."""
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


def _messages(document: dict[str, Any]) -> Iterable[Mapping[str, Any]]:
    """The head of a document, then its messages."""
    messages = document.pop("messages", None)
    yield document
    yield from (row for row in (messages if isinstance(messages, list) else ()) if isinstance(row, dict))


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
            standing.take(row.value)
    return SnapshotRows(
        path=file.path,
        size=ref.size,
        mtime=ref.mtime,
        head=file.head,
        values=[*standing.others, *standing.living.values(), *standing.overridden],
        restarted=since is not None,
        left_out=file.left_out,
    )


class _Standing:
    """The messages that stand, each at the place of its first copy, since calls belong to the reply that
    asked for them."""

    def __init__(self) -> None:
        self.living: dict[str, dict[str, Any]] = {}
        self.others: list[dict[str, Any]] = []
        """What is no message."""
        self.overridden: list[dict[str, Any]] = []

    def take(self, row: dict[str, Any]) -> None:
        own, back, change = word(row.get("id")), word(row.get("$rewindTo")), row.get("$set")
        if own is not None and word(row.get("type")) in _KINDS:
            if own in self.living:
                self._override(own, Became.COPY, "written again, with more")
            self.living[own] = row
            return
        self.others.append(row)
        if back in self.living:
            names = list(self.living)
            for name in names[names.index(back) :]:
                self._override(name, Became.LEFT_OUT, "the person went back to before it")
                del self.living[name]
        messages = change.get("messages") if isinstance(change, dict) else None
        if isinstance(messages, list):
            self._set(messages)

    def _set(self, messages: list[Any]) -> None:
        """All messages anew: what is not among them is gone from the session."""
        named = {word(message.get("id")) for message in messages if isinstance(message, dict)}
        for name in [name for name in self.living if name not in named]:
            self._override(name, Became.LEFT_OUT, "taken out of the session")
            del self.living[name]
        for message in messages:
            if isinstance(message, dict) and "$set" not in message and "$rewindTo" not in message:
                self.take(message)

    def _override(self, name: str, became: Became, why: str) -> None:
        self.overridden.append({**self.living[name], _FATE: (became, why)})


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
        if _FATE in value:
            self.became(*value[_FATE])
            return
        at = moment(value.get("timestamp"))
        place = Place(self._talk.own_id(value.get("id")) or "", at, row.offset, row.end)
        match word(value.get("type")):
            case "user":
                self.timed(at)
                self._prompt(_text(value.get("content")), place)
            case "gemini":
                self.timed(at)
                self._reply(value, place)
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

    def _reply(self, value: Mapping[str, Any], place: Place) -> None:
        model = word(value.get("model"))
        self._model = self._talk.short(model) if model else self._model
        text = _text(value.get("content"))
        if self._talk.said(text, self._named(place, text), self._model):
            self.became(Became.SAID)
        calls = value.get("toolCalls")
        for call in calls if isinstance(calls, list) else ():
            own = self._talk.own_id(call.get("id")) if isinstance(call, dict) else None
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
            project=_project(Path(self._file.path)),
            started_at=self._first,
            ended_at=self._last,
            ours=self._ours,
            sidechain=self._sidechain,
            turns=self._talk.turns,
            late=self._talk.late,
            warnings=self.warnings,
        ).settled()


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


def _project(path: Path) -> str | None:
    """The folder that the file beside `chats` names."""
    above = next((parent.parent for parent in path.parents if parent.name == CHATS), None)
    file = None if above is None else open_file(str(above / ROOT_FILE))
    if file is None or isinstance(file, LeftOut):
        return None
    with file, suppress(OSError, UnicodeDecodeError):
        named = file.read(_LONGEST_PATH).decode("utf-8").strip()
        return named if named.startswith("/") and "\n" not in named else None
    return None
