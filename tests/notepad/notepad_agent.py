"""Sessions of Notepad Agent: `~/.notepad/sessions/*.jsonl`. Each line is a note: by whom, when, and what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nightschool.adapters.agent_home import AgentHome
from nightschool.adapters.conversation import moment
from nightschool.adapters.reading import Carry, Reading
from nightschool.adapters.rows import word
from nightschool.adapters.transcript_files import TranscriptFiles
from nightschool.core.sessions import CallStatus

BY = frozenset({"person", "agent", "tool"})


class NotepadReading(Reading[Carry]):
    """What the notes of one session tell."""

    carries = Carry

    def kind(self, value: Mapping[str, Any]) -> str:
        return word(value.get("by")) or "by nobody"

    def take(self, value: Mapping[str, Any]) -> None:
        if not self.knows(value):
            return
        at = moment(value.get("at"))
        self.timed(at)
        self.stands(value.get("note"), at)
        self.learn("cwd", value.get("folder"))
        match value["by"]:
            case "person":
                self.prompt(word(value.get("text")) or "")
            case "agent":
                self.said(value.get("text"))
            case "tool":
                call = self.called(value.get("note"), value.get("tool"), value.get("given"))
                if call is not None and "gave" in value:
                    status = CallStatus.ERROR if value.get("failed") else CallStatus.OK
                    self.answered(call, value["gave"], status)


class NotepadTranscripts(TranscriptFiles):
    """The `TranscriptSource` of Notepad Agent."""

    name = "notepad"
    title = "Notepad Agent"
    home = AgentHome(variable="NOTEPAD_HOME", usual=".notepad", sessions=("sessions",))
    reads = NotepadReading

    def is_ours(self, row: Mapping[str, Any]) -> bool:
        return word(row.get("by")) in BY and "note" in row
