"""Transcripts of Copilot CLI: `~/.copilot/session-state/<id>/events.jsonl`, before 1.0 `<id>.jsonl` there,
and what `session-store.db` holds of sessions whose events are gone.

Each line is an event with an id of its own. A person's turn is a `user.message`; what the agent said and
asked for stands in `assistant.message`, and a call's id comes again in the events of its execution. What
happens within a sub-agent names it (`agentId`) or the call that started it (`parentToolCallId`) and counts
nothing. `parentAgentTaskId` is no proof: newer versions give it to a person's prompts too.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nightschool.adapters.agent_home import AgentHome
from nightschool.adapters.conversation import commit_hash, moment
from nightschool.adapters.copilot import store
from nightschool.adapters.databases import Unreadable, is_database
from nightschool.adapters.listing import named
from nightschool.adapters.reading import Carry, Reading, exit_code_of, parsed
from nightschool.adapters.rows import Rows, mapping, word
from nightschool.adapters.snapshot_rows import snapshot
from nightschool.adapters.transcript_files import TranscriptFiles
from nightschool.core.ports import Unchanged
from nightschool.core.sessions import Became, CallStatus, LeftOut, Offset, Roots, TranscriptRef, in_text
from nightschool.core.values import digest_of

SOURCE = "copilot"
HOME = AgentHome(variable="COPILOT_HOME", usual=".copilot", sessions=("session-state",))
_FAMILIES = ("session", "user", "assistant", "tool", "system", "hook", "subagent", "permission", "skill")
_REJECTED = frozenset({"rejected", "denied-interactively-by-user"})
"""Codes of a failure, and kinds of an answer, that are a person's no."""


@dataclass(slots=True)
class _Carry(Carry):
    recorded: bool = False
    """What replies take has rows of its own (since 1.0.102)."""


class _Reading(Reading[_Carry]):
    carries = _Carry

    def abridged(self) -> bool:
        return is_database(self._file.path)

    def take(self, value: Mapping[str, Any]) -> None:
        if not self.knows(value):
            if _family(value):
                self.bad("an event without an id, a time or what it tells")
            return
        kind, told, at = value["type"], value["data"], moment(value.get("timestamp"))
        self.timed(at)
        self.stands(value["id"], at)
        if told.get("parentToolCallId") is not None or value.get("agentId") is not None:
            self.became(Became.LEFT_OUT, "within a sub-agent")
        else:
            self._event(kind, told)

    def _event(self, kind: str, told: Mapping[str, Any]) -> None:
        match kind:
            case "user.message" if told.get("source") not in (None, "user"):
                self.became(Became.LEFT_OUT, "put in by the client")
            case "user.message":
                self.prompt(word(told.get("content")) or "", "without words")
            case "assistant.message":
                self._reply(told)
            case "tool.execution_complete":
                self._result(told)
            case "permission.completed":
                self._answer(told)
            case "skill.invoked":
                self.became(Became.FACTS, "a skill was loaded")
                self._talk.loaded(word(told.get("name")))
            case "abort":
                self.interrupted()
            case _:
                self._of_session(kind, told)

    def _of_session(self, kind: str, told: Mapping[str, Any]) -> None:
        match kind:
            case "session.start" | "session.resume":
                self._begins(told)
            case "session.model_change":
                self.became(Became.FACTS, "model")
                self.model(told.get("newModel"))
            case "session.usage_record":
                self.became(Became.FACTS, "what a reply took")
                self._carry.recorded = True
                used = mapping(told.get("usage"))
                self.took((used.get("inputTokens"),), (used.get("outputTokens"),))

    def _begins(self, told: Mapping[str, Any]) -> None:
        self.became(Became.FACTS, "id, folder, version, model and branch")
        self._carry.session = self._carry.session or self._talk.own_id(told.get("sessionId"))
        self.learn("version", told.get("copilotVersion"))
        self.model(told.get("selectedModel"))
        context = told.get("context")
        if isinstance(context, dict):
            self.learn("cwd", context.get("cwd"))
            self.learn("branch", context.get("branch"))
            self.learn("commit", commit_hash(context.get("headCommit")))

    def _reply(self, told: Mapping[str, Any]) -> None:
        self.model(told.get("model"))
        self.said(told.get("content"))
        for call in self.objects(told.get("toolRequests"), "calls"):
            self.called(call.get("toolCallId"), call.get("name"), parsed(call.get("arguments")))
        if not self._carry.recorded:
            self.took((), (told.get("outputTokens"),))

    def _result(self, told: Mapping[str, Any]) -> None:
        result, error = told.get("result"), told.get("error")
        text = word(result.get("content")) if isinstance(result, dict) else None
        shell = told.get("shellExecution")
        code = exit_code_of(shell.get("exitCode")) if isinstance(shell, dict) else None
        status = CallStatus.OK if told.get("success") is True and not code else CallStatus.ERROR
        if isinstance(error, dict):
            text = word(error.get("message")) or text
            status = CallStatus.REFUSED if word(error.get("code")) in _REJECTED else status
        self.answered(told.get("toolCallId"), text, status, code)

    def _answer(self, told: Mapping[str, Any]) -> None:
        """A person's no, which the call's own end calls a denial like any other."""
        result = told.get("result")
        if isinstance(result, dict) and result.get("kind") in _REJECTED:
            self.answered(told.get("toolCallId"), result.get("feedback"), CallStatus.REFUSED)

    def session_id(self) -> str:
        """The folder's name is the session's, before 1.0 the file's own."""
        path = Path(self._file.path)
        own = path.parent.name if path.stem == "events" else path.stem
        return self._carry.session or self._talk.short(own)


class CopilotTranscripts(TranscriptFiles):
    """The `TranscriptSource` of Copilot CLI."""

    name = SOURCE
    title = "Copilot CLI"
    home = HOME
    reads = _Reading

    def discover(self, roots: Roots, unchanged: Unchanged | None = None) -> Iterable[TranscriptRef]:
        found = list(super().discover(roots, unchanged))
        place = str(HOME.folder(Path(roots.home), dict(roots.environment)) / store.DATABASE)
        if not roots.explicit and os.path.lexists(place):
            found += [one for ref in named(SOURCE, place) for one in self.parts(ref)]
        return sorted(found, key=lambda ref: (ref.path, ref.part))

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
            yield replace(
                ref, size=1 + one.turns, mtime=one.changed or ref.mtime, part=self.part_named(one.own)
            )

    def opened(self, ref: TranscriptRef, since: Offset | None) -> Rows | LeftOut:
        if not is_database(ref.path):
            return super().opened(ref, since)
        try:
            if not ref.part:
                store.sessions(ref.path)  # says why none could be listed
            own = self.own_of(ref.part, lambda: (one.own for one in store.sessions(ref.path)))
            rows = store.rows_of(ref.path, own)
        except Unreadable as error:
            return LeftOut(path=in_text(ref.path), reason="unreadable", detail=str(error))
        return snapshot(ref, since, head=digest_of(rows), values=rows)

    def is_ours(self, row: Mapping[str, Any]) -> bool:
        whole = isinstance(row.get("data"), dict) and "id" in row
        timed = moment(row.get("timestamp")) is not None or row.get(store.STORED) is True
        return whole and _family(row) and timed


def _family(row: Mapping[str, Any]) -> bool:
    kind = word(row.get("type")) or ""
    return kind == "abort" or (kind.partition(".")[0] in _FAMILIES and "." in kind)
