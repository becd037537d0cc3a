"""Transcripts of Gemini CLI: `~/.gemini/tmp/<project>/chats/session-*.json`, since 0.39 `.jsonl`.

A `.json` file is one document that is saved over and over. A `.jsonl` file is a journal: a head, messages, a
message again (by its id) when calls were added to it, `$set` for the head or for what the model is told from
there on, `$rewindTo` where the person went back to a message. Either is read whole whenever it changed, and
the newest copy of a message counts.

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
from nightschool.adapters.conversation import moment
from nightschool.adapters.reading import WENT_BACK, Carry, Reading
from nightschool.adapters.rows import LONGEST, Row, Rows, kind_of, mapping, open_file, open_rows, word
from nightschool.adapters.snapshot_rows import SnapshotRows, at_once, content_of, open_document
from nightschool.adapters.transcript_files import TranscriptFiles
from nightschool.core.sessions import (
    Became,
    CallStatus,
    LeftOut,
    Offset,
    Roots,
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
_SHORTENED = (Became.LEFT_OUT, "put in by the client where it shortened the session")
_DENIED = ("did not allow", "denied")
_CANCELLED = "Request cancelled."


def _messages(document: dict[str, Any]) -> Iterable[object]:
    """The head of a document, then its messages."""
    messages = document.pop("messages", [])
    yield document
    yield from messages if isinstance(messages, list) else (messages,)


def _is_journal(path: str) -> bool:
    """Whether the first line stands by itself, and is not (the beginning of) a whole session."""
    file = open_file(path)
    if isinstance(file, LeftOut):
        return False
    with file, suppress(OSError, ValueError):
        line = file.readline(LONGEST)
        if line.strip() == b"{":
            return False
        if path.endswith(".jsonl"):
            return b'"messages":' not in line or b'"$set"' in line
        first = orjson.loads(line)
        return isinstance(first, dict) and "messages" not in first
    return False


def _journal(ref: TranscriptRef, since: Offset | None) -> SnapshotRows | LeftOut:
    """The rows of the lines, and what a later line overrode behind them."""
    file = open_rows(ref.path)
    if isinstance(file, LeftOut):
        return file

    def standing(rows: Iterator[Row]) -> list[Row]:
        found = Standing()
        for row in rows:
            for complaint in found.take(row):
                file.leave_out("bad-record", row.offset, complaint)
        return found.rows

    with file:
        return at_once(file, standing, restarted=since is not None)


class Standing:
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
        self._rewind(back)
        change = value.get("$set")
        messages = change.get("messages") if isinstance(change, dict) else None
        if isinstance(messages, list):
            yield from self._set(row, messages)
        elif messages is not None:
            yield f"messages must be a list, not {kind_of(messages)}"

    def _set(self, row: Row, messages: list[Any]) -> Iterator[str]:
        """What the model is told from here on. What is not among it happened all the same: it went when a
        request was cancelled or the session compressed, and what is new then the client wrote."""
        named = {word(message.get("id")) for message in messages if isinstance(message, dict)}
        shortened = any(name not in named for name in self._living)
        for message in messages:
            if not isinstance(message, dict):
                yield f"a message must be an object, not {kind_of(message)}"
            elif shortened and word(message.get("id")) not in self._living:
                self.rows.append(row._replace(value=message, fate=_SHORTENED))
            elif "$set" not in message and "$rewindTo" not in message:
                yield from self.take(row._replace(value=message))

    def _rewind(self, back: str | None) -> None:
        """To before a message: it and all behind it are left."""
        while back in self._living:
            _, place = self._living.popitem()
            self.rows[place] = self.rows[place]._replace(fate=WENT_BACK)


class _Reading(Reading[Carry]):
    carries = Carry

    def kind(self, value: Mapping[str, Any]) -> str:
        return word(value.get("type")) or next((key for key in value if key[:1] == "$"), "head")

    def skills_of(self, name: str, given: object, command: str | None) -> Sequence[str]:
        del command
        skill = given.get("name") if name == "activate_skill" and isinstance(given, dict) else None
        return (skill,) if isinstance(skill, str) else ()

    def take(self, value: Mapping[str, Any]) -> None:
        self.knows(value)
        at = moment(value.get("timestamp"))
        self.stands(value.get("id"), at)
        match word(value.get("type")):
            case "user":
                self.timed(at)
                text = self.text_of(value.get("content"))
                self.prompt("" if text.lstrip().startswith(_NOT_TYPED) else text)
            case "gemini":
                self.timed(at)
                self.model(value.get("model"))
                self.said(self.text_of(value.get("content")))
                for call in self.objects(value.get("toolCalls"), "calls"):
                    self._call(call)
                tokens = mapping(value.get("tokens"))
                self.took((tokens.get("input"),), (tokens.get("output"), tokens.get("thoughts")))
            case kind if kind in _NOTES:
                self._note(self.text_of(value.get("content")))
            case _ if "sessionId" in value:
                self.became(Became.FACTS, "id and time")
                self._carry.session = self._carry.session or self._talk.own_id(value["sessionId"])
                self._carry.sidechain = self._carry.sidechain or value.get("kind") == "subagent"
                self.timed(moment(value.get("startTime")))

    def _note(self, text: str) -> None:
        if text.startswith(_CANCELLED):
            self.interrupted()
        else:
            self.became(Became.LEFT_OUT, "a note of the client")

    def _call(self, call: Mapping[str, Any]) -> None:
        own = self.called(call.get("id"), call.get("name"), call.get("args"))
        status, text = _judged(call)
        if own is not None and status is not None:
            self.answered(own, text, status)

    def project(self) -> str | None:
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


class GeminiTranscripts(TranscriptFiles):
    """The `TranscriptSource` of Gemini CLI."""

    name = SOURCE
    title = "Gemini CLI"
    home = HOME
    endings = (".json", ".jsonl")
    reads = _Reading

    def folders(self, roots: Roots) -> Sequence[Path]:
        """The variable names a home, in which the usual folder lies."""
        environment = dict(roots.environment)
        home = environment.pop(HOME.variable, None) or roots.home
        return HOME.session_folders(Path(home).absolute(), environment)

    def may_be(self, path: str) -> bool:
        """Other files of the project lie beside the folder of its chats."""
        return CHATS in Path(path).parts

    def is_ours(self, row: Mapping[str, Any]) -> bool:
        if "projectHash" in row:
            return word(row.get("sessionId")) is not None
        return word(row.get("type")) in _KINDS and "content" in row and word(row.get("id")) is not None

    def opened(self, ref: TranscriptRef, since: Offset | None) -> Rows | LeftOut:
        if _is_journal(ref.path):
            return _journal(ref, since)
        return open_document(ref, since, _messages)
