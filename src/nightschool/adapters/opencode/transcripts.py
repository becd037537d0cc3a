"""Transcripts of OpenCode: sessions in `opencode.db` since 1.2, in a tree of JSON files before.

A message has parts. A person's turn is a user message with a text that is not `synthetic`; a call is a part
that holds its own result. A session with a parent is a sub-agent's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nightschool.adapters.agent_home import AgentHome
from nightschool.adapters.conversation import RESULT_LIMIT, Place
from nightschool.adapters.opencode import store
from nightschool.adapters.opencode.store import DATABASE, HEAD, MESSAGE, Unreadable, when
from nightschool.adapters.rows import Row, Rows, word
from nightschool.adapters.snapshot_rows import open_document, snapshot
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
from nightschool.core.values import digest_of

SOURCE = "opencode"
HOME = AgentHome(variable="XDG_DATA_HOME", usual=".local/share", sessions=("opencode",))
TREE = ("storage", "session")
_REJECTED = "rejected permission"
_RUN_DENIES = "question"
"""What `opencode run` forbids: nobody is there to answer."""


class OpenCodeTranscripts(TranscriptFiles):
    """The `TranscriptSource` of OpenCode."""

    name = SOURCE
    title = "OpenCode"
    home = HOME
    endings = (DATABASE, ".json")

    def folders(self, roots: Roots) -> Sequence[Path]:
        """The variable names the folder of all programs' data."""
        (folder,) = HOME.session_folders(Path(roots.home), dict(roots.environment))
        return (folder,)

    def may_be(self, path: str) -> bool:
        """The database, or a session's own file in the tree."""
        parts = Path(path).parts
        return parts[-1] == DATABASE or parts[-4:-2] == TREE

    def parts(self, ref: TranscriptRef) -> Iterator[TranscriptRef]:
        if not store.is_database(ref.path):
            yield ref
            return
        try:
            found = store.sessions(ref.path)
        except Unreadable:
            yield ref  # reading it says why
            return
        for session, changed in found:
            yield TranscriptRef(source=SOURCE, path=ref.path, size=ref.size, mtime=changed, part=session)

    def is_ours(self, row: Mapping[str, Any]) -> bool:
        return _is_ours(row)

    def opened(self, ref: TranscriptRef, since: Offset | None) -> Rows | LeftOut:
        if store.is_database(ref.path):
            return _of_database(ref, since)
        opened = open_document(ref, since, lambda document: [document])
        if isinstance(opened, LeftOut):
            return opened
        head = opened.given[0].value
        if "directory" not in head or "projectID" not in head:
            return opened
        found = store.rows_of_tree(Path(ref.path), head)
        return snapshot(ref, since, head=opened.head, values=found.rows, left_out=found.left_out)

    def reading(self, file: Rows, since: Offset | None) -> Reading:
        del since  # read from its first row each time
        return _Reading(self._redact, file)


def _of_database(ref: TranscriptRef, since: Offset | None) -> Rows | LeftOut:
    try:
        found = store.rows_of_database(ref.path, ref.part)
    except Unreadable as error:
        return LeftOut(path=in_text(ref.path), reason="unreadable", detail=str(error))
    return snapshot(ref, since, head=digest_of(found.rows), values=found.rows, left_out=found.left_out)


def _is_ours(row: Mapping[str, Any]) -> bool:
    """Whether no other agent writes such a row."""
    return row.get("$kind") in (HEAD, MESSAGE) and word(row.get("id")) is not None


class _Reading(Reading):
    """What the rows of one session tell."""

    def __init__(self, redact: Redact, file: Rows) -> None:
        super().__init__(redact, file)
        self._session: str | None = None
        self._model: str | None = None
        self._prompted = self._ours = self._sidechain = self._headless = False
        self._back_to: str | None = None
        self._went_back = False

    def is_dull(self, line: bytes) -> bool:
        del line
        return False

    def kind(self, row: Row) -> str:
        kind, role = word(row.value.get("$kind")) or "no kind", word(row.value.get("role"))
        return f"{kind} {role}" if role else kind

    def take(self, row: Row) -> None:
        value = row.value
        if not _is_ours(value):
            self.bad(row, "a message without an id")
            return
        self._known = True
        if value["$kind"] == HEAD:
            self._head(value)
            return
        time = value.get("time")
        at = when(time.get("created")) if isinstance(time, dict) else None
        self._went_back = self._went_back or (self._back_to is not None and value["id"] == self._back_to)
        if self._went_back:
            self.became(Became.LEFT_OUT, "the person went back to before it")
            return
        self.timed(at)
        place = Place(self._talk.own_id(value["id"]) or "", at, row.offset, row.end)
        blocks = list(self.objects(row, value.get("parts"), "parts"))
        match word(value.get("role")):
            case "user":
                self._prompt(blocks, place)
            case "assistant":
                self._reply(value, blocks, place)

    def _head(self, value: Mapping[str, Any]) -> None:
        self.became(Became.FACTS, "id, folder and version")
        self._session = self._talk.own_id(value.get("id"))
        self._sidechain = word(value.get("parentID")) is not None
        self.learn("cwd", value.get("directory"))
        self.learn("version", value.get("version"))
        revert, rules = value.get("revert"), value.get("permission")
        self._back_to = word(revert.get("messageID")) if isinstance(revert, dict) else None
        self._headless = any(
            isinstance(rule, dict) and rule.get("permission") == _RUN_DENIES and rule.get("action") == "deny"
            for rule in (rules if isinstance(rules, list) else ())
        )

    def _prompt(self, blocks: Sequence[Mapping[str, Any]], place: Place) -> None:
        typed = (block for block in blocks if block.get("type") == "text" and not block.get("synthetic"))
        text = "\n".join(text for block in typed if (text := word(block.get("text"))) is not None)
        if not text.strip():
            self.became(Became.LEFT_OUT, "put in by the client, or without words of a person")
            return
        if not self._prompted:
            self._prompted = True
            self._ours = text.lstrip('" \n').startswith(f"[{MARKER}")
        if self._headless or self._sidechain:
            who = "a program, not by a person" if self._headless else "an agent"
            self.became(Became.LEFT_OUT, f"sent by {who}")
            return
        row = place.row or self._talk.row(None, place.at, text, Speaker.HUMAN)
        self._talk.human(text, place._replace(row=row))
        self.became(Became.HUMAN)

    def _reply(self, value: Mapping[str, Any], blocks: Sequence[Mapping[str, Any]], place: Place) -> None:
        model = word(value.get("modelID"))
        self._model = self._talk.short(model) if model else self._model
        for block in blocks:
            if block.get("type") == "text" and not block.get("synthetic"):
                text = word(block.get("text")) or ""
                if self._talk.said(text, self._named(place, text), self._model):
                    self.became(Became.SAID)
            elif block.get("type") == "tool" and (own := self._talk.own_id(block.get("callID"))) is not None:
                self._call(own, block, place)
        error = value.get("error")
        if isinstance(error, dict) and error.get("name") == "MessageAbortedError":
            self._talk.interrupted(self._named(place, "aborted"))
            self.became(Became.INTERRUPTION, "a person stopped the agent")

    def _call(self, own: str, block: Mapping[str, Any], place: Place) -> None:
        state = block.get("state")
        told = state if isinstance(state, dict) else {}
        name, given = str(block.get("tool", "")), told.get("input")
        skill = given.get("name") if name == "skill" and isinstance(given, dict) else None
        call = self._talk.call(own, name, given)
        skills = [skill] if isinstance(skill, str) else []
        self._talk.called(call, self._named(place, own), self._model, skills=skills)
        self.became(Became.CALL, call_id=own)
        status, code = _judged(told)
        if status is not None:
            text = word(told.get("output")) or word(told.get("error")) or ""
            self.became(Became.RESULT, call_id=own)
            result = self._talk.text(text, RESULT_LIMIT)
            self._talk.answered(LateResult(call_id=own, result=result, status=status, exit_code=code))

    def _named(self, place: Place, text: str) -> Place:
        return place._replace(row=place.row or self._talk.row(None, place.at, text, Speaker.AGENT))

    def carry(self) -> str:
        return ""

    def session(self, since: Offset | None) -> Session:
        del since
        facts = {key: self._talk.short(value) for key, value in self._facts.items()}
        return Session(
            session_id=self._session or self._talk.short(Path(self._file.path).stem),
            source=SOURCE,
            path=self._file.path,
            agent_version=facts.get("version"),
            project=facts.get("cwd"),
            started_at=self._first,
            ended_at=self._last,
            headless=self._headless,
            ours=self._ours,
            sidechain=self._sidechain,
            turns=self._talk.turns,
            late=self._talk.late,
            warnings=self.warnings,
        ).settled()


def _judged(state: Mapping[str, Any]) -> tuple[CallStatus | None, int | None]:
    """How a call ended and its exit code; None where it never ended."""
    metadata = state.get("metadata")
    given = metadata.get("exit") if isinstance(metadata, dict) else None
    code = given if isinstance(given, int) and not isinstance(given, bool) and abs(given) < 1 << 31 else None
    match word(state.get("status")):
        case "error" if _REJECTED in (word(state.get("error")) or ""):
            return CallStatus.REFUSED, code
        case "error":
            return CallStatus.ERROR, code
        case "completed" | "success":
            return (CallStatus.ERROR if code else CallStatus.OK), code
    return None, None
