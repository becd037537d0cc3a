"""Transcripts of OpenCode: sessions in `opencode.db` since 1.2, in a tree of JSON files before.

A message has parts. A person's turn is a user message with a text that is not `synthetic`; a call is a part
that holds its own result. A session with a parent is a sub-agent's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nightschool.adapters.agent_home import AgentHome
from nightschool.adapters.conversation import milliseconds
from nightschool.adapters.databases import Unreadable, is_database
from nightschool.adapters.opencode import store
from nightschool.adapters.opencode.store import DATABASE, HEAD, MESSAGE
from nightschool.adapters.reading import WENT_BACK, Carry, Reading, exit_code_of
from nightschool.adapters.rows import Rows, mapping, word
from nightschool.adapters.snapshot_rows import open_document, snapshot
from nightschool.adapters.transcript_files import TranscriptFiles
from nightschool.core.sessions import Became, CallStatus, LeftOut, Offset, Roots, TranscriptRef, in_text
from nightschool.core.values import digest_of

SOURCE = "opencode"
HOME = AgentHome(variable="XDG_DATA_HOME", usual=".local/share", sessions=("opencode",))
TREE = ("storage", "session")
_CUT_SHORT = "User aborted the command\n</shell_metadata>"
"""How the output of a command ends that a person stopped."""
_REJECTED = "rejected permission"
_RUN_DENIES = "question"
"""What `opencode run` forbids: nobody is there to answer."""


class _Reading(Reading[Carry]):
    carries = Carry
    _back_to: str | None = None
    _went_back = False

    def kind(self, value: Mapping[str, Any]) -> str:
        kind, role = word(value.get("$kind")) or "no kind", word(value.get("role"))
        return f"{kind} {role}" if role else kind

    def skills_of(self, name: str, given: object, command: str | None) -> Sequence[str]:
        del command
        skill = given.get("name") if name == "skill" and isinstance(given, dict) else None
        return (skill,) if isinstance(skill, str) else ()

    def take(self, value: Mapping[str, Any]) -> None:
        if not self.knows(value):
            self.bad("a session or a message without an id")
            return
        if value["$kind"] == HEAD:
            self._head(value)
            return
        time = value.get("time")
        at = milliseconds(time.get("created")) if isinstance(time, dict) else None
        self._went_back = self._went_back or (self._back_to is not None and value["id"] == self._back_to)
        if self._went_back:
            self.became(*WENT_BACK)
            self._talk.went_back()
            return
        self.timed(at)
        self.stands(None, at)  # a copy of a session has ids of its own, and the times of its original
        parts = list(self.objects(value.get("parts"), "parts"))
        match word(value.get("role")):
            case "user":
                typed = (word(part.get("text")) for part in parts if _is_text(part))
                self.prompt("\n".join(text for text in typed if text is not None))
            case "assistant":
                self._reply(value, parts)

    def _head(self, value: Mapping[str, Any]) -> None:
        self.became(Became.FACTS, "id, folder and version")
        self._carry.session = self._talk.own_id(value.get("id"))
        self._carry.sidechain = word(value.get("parentID")) is not None
        self.learn("cwd", value.get("directory"))
        self.learn("version", value.get("version"))
        revert, rules = value.get("revert"), value.get("permission")
        self._back_to = word(revert.get("messageID")) if isinstance(revert, dict) else None
        denied = (rule for rule in self.objects(rules, "permissions") if rule.get("action") == "deny")
        self.run_by(program=any(rule.get("permission") == _RUN_DENIES for rule in denied))

    def _reply(self, value: Mapping[str, Any], parts: Sequence[Mapping[str, Any]]) -> None:
        self.model(value.get("modelID"))
        for part in parts:
            if _is_text(part):
                self.said(part.get("text"))
            elif part.get("type") == "tool":
                self._call(part)
        tokens = mapping(value.get("tokens"))
        cache = mapping(tokens.get("cache"))
        given = (tokens.get("input"), cache.get("read"), cache.get("write"))
        self.took(given, (tokens.get("output"), tokens.get("reasoning")), value.get("cost"))
        error = value.get("error")
        if isinstance(error, dict) and error.get("name") == "MessageAbortedError":
            self.interrupted()

    def _call(self, part: Mapping[str, Any]) -> None:
        state = part.get("state")
        told = state if isinstance(state, dict) else {}
        own = self.called(part.get("callID"), part.get("tool"), told.get("input"))
        status, code = _judged(told)
        if own is not None and status is not None:
            self.answered(own, word(told.get("output")) or word(told.get("error")), status, code)


def _is_text(part: Mapping[str, Any]) -> bool:
    """Whether it is what was said, and not what the client put in."""
    return part.get("type") == "text" and not part.get("synthetic")


def _judged(state: Mapping[str, Any]) -> tuple[CallStatus | None, int | None]:
    """How a call ended and its exit code; None where it never ended."""
    metadata = state.get("metadata")
    code = exit_code_of(metadata.get("exit")) if isinstance(metadata, dict) else None
    match word(state.get("status")):
        case "error" if _REJECTED in (word(state.get("error")) or ""):
            return CallStatus.REFUSED, code
        case "error":
            return CallStatus.ERROR, code
        case "completed" if code is None and (word(state.get("output")) or "").rstrip().endswith(_CUT_SHORT):
            return CallStatus.UNKNOWN, code
        case "completed" | "success":
            return (CallStatus.ERROR if code else CallStatus.OK), code
    return None, None


class OpenCodeTranscripts(TranscriptFiles):
    """The `TranscriptSource` of OpenCode."""

    name = SOURCE
    title = "OpenCode"
    home = HOME
    reads = _Reading
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
        if not is_database(ref.path):
            yield ref
            return
        try:
            found = store.sessions(ref.path)
        except Unreadable:
            yield ref  # reading it says why
            return
        for one in found:
            # None of the file's own size: it grows with any session, and each would be read again.
            part = self.part_named(one.own)
            yield TranscriptRef(source=SOURCE, path=ref.path, size=1 + one.rows, mtime=one.changed, part=part)

    def is_ours(self, row: Mapping[str, Any]) -> bool:
        return row.get("$kind") in (HEAD, MESSAGE) and word(row.get("id")) is not None

    def opened(self, ref: TranscriptRef, since: Offset | None) -> Rows | LeftOut:
        if is_database(ref.path):
            return self._of_database(ref, since)
        opened = open_document(ref, since, lambda document: [document])
        if isinstance(opened, LeftOut):
            return opened
        head = opened.given[0].value
        if "directory" not in head or "projectID" not in head:
            return opened
        found = store.rows_of_tree(Path(ref.path), head)
        return snapshot(ref, since, head=opened.head, values=found.rows, left_out=found.left_out)

    def _of_database(self, ref: TranscriptRef, since: Offset | None) -> Rows | LeftOut:
        try:
            own = self.own_of(ref.part, lambda: (one.own for one in store.sessions(ref.path)))
            found = store.rows_of_database(ref.path, own)
        except Unreadable as error:
            return LeftOut(path=in_text(ref.path), reason="unreadable", detail=str(error))
        return snapshot(ref, since, head=digest_of(found.rows), values=found.rows, left_out=found.left_out)
