"""Chats of Aider: `.aider.chat.history.md` in the folder of a project, and `.aider.input.history` beside it.

Aider keeps nothing in one place: its files lie at the root of the git repository that it was started in, or
in that folder. They are looked for in the projects that are known, and where the person's variables say.
One file holds all chats of a project; each of them is a session, read whole when it changed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

from nightschool.adapters.agent_home import AgentHome
from nightschool.adapters.aider.files import (
    CHAT,
    KIND,
    NOTE,
    PROMPT,
    REPLY,
    TYPED,
    Chat,
    History,
    chats_in,
    entries_in,
    moment_here,
    rows_of_chat,
    rows_of_history,
)
from nightschool.adapters.listing import file_time, named
from nightschool.adapters.reading import Carry, Reading
from nightschool.adapters.rows import Rows, open_file, word
from nightschool.adapters.snapshot_rows import snapshot
from nightschool.adapters.transcript_files import TranscriptFiles
from nightschool.core.ports import Redact, Unchanged
from nightschool.core.sessions import (
    Became,
    CallStatus,
    LeftOut,
    Offset,
    Roots,
    TranscriptRef,
    in_text,
)
from nightschool.core.values import digest_bytes, digest_of

SOURCE = "aider"
CHATS = ".aider.chat.history.md"
INPUTS = ".aider.input.history"
CHATS_VARIABLE, INPUTS_VARIABLE = "AIDER_CHAT_HISTORY_FILE", "AIDER_INPUT_HISTORY_FILE"
LARGEST_CHAT = 64 << 20
LARGEST_INPUTS = 8 << 20
"""Bytes that are held while a session is read."""
_KINDS = frozenset({CHAT, PROMPT, REPLY, NOTE, TYPED})
_EDITED = re.compile(r"Applied edit to (?P<path>.+)")
_NOT_EDITED = "The LLM did not conform to the edit format"
_SHELL = "Run shell command"
_LEAVE = (_SHELL, "Create new file", "Allow edits to file", "Edit the files")
"""What the agent asks leave for. Questions of Aider's own are others."""
_VERSION = re.compile(r"Aider v(?P<version>\S+)")
_MODEL = re.compile(r"(?:Main model|Model): (?P<model>\S+)")
_STOPPED = ("^C again to exit", "^C KeyboardInterrupt")
_BY_PROGRAM = ("--message", "-m", "--msg", "--message-file", "-f")
_YES_TO_ALL = ("--yes-always", "--yes")
_TO_MODEL = ("/ask", "/code", "/architect", "/context")


def _histories(roots: Roots) -> list[str]:
    """The histories that are there: in known projects, at the roots of their repositories, in HOME."""
    environment = dict(roots.environment)
    name = environment.get(CHATS_VARIABLE) or CHATS
    folders = dict.fromkeys(place for known in roots.projects for place in (known, _top_of(known)))
    found = dict.fromkeys(os.path.join(folder, name) for folder in (*folders, roots.home))  # noqa: PTH118 - texts
    return [path for path in found if os.path.lexists(path)]


@lru_cache(maxsize=1000)
def _top_of(folder: str) -> str:
    """The root of the repository that holds a folder, else the folder."""
    holds = (place for place in (Path(folder), *Path(folder).parents) if (place / ".git").exists())
    try:
        return str(next(holds, folder))
    except OSError:
        return folder


def _looked_at(path: str) -> tuple[int, float]:
    try:
        known = os.stat(path)  # noqa: PTH116 - links are followed, and Path adds nothing
    except (OSError, ValueError):
        return 0, 0.0
    return known.st_size, known.st_mtime


@lru_cache(maxsize=64)
def _chats_of(path: str, size: int, changed: float) -> Mapping[str, Chat]:
    """By their ids, of a file as it was then: each is read by itself, and none looks for the others."""
    del changed
    file = open_file(path)
    if isinstance(file, LeftOut):
        return {}
    with file:
        try:
            return {_id_of(path, chat): chat for chat in chats_in(file, size)}
        except OSError:
            return {}


@lru_cache(maxsize=2)
def _entries_of(path: str, size: int, changed: float) -> History | LeftOut:
    del size, changed
    file = open_file(path)
    if isinstance(file, LeftOut):
        return History() if file.reason == "vanished" else file
    with file:
        try:
            content = file.read(LARGEST_INPUTS + 1)
        except OSError as error:
            return LeftOut(path=in_text(path), reason="unreadable", detail=f"reading broke off: {error}")
    if len(content) > LARGEST_INPUTS:
        detail = f"larger than {LARGEST_INPUTS >> 20} MiB: prompts are told by the chats alone"
        return LeftOut(path=in_text(path), reason="unreadable", detail=detail)
    return History(entries_in(_decoded(content)))


def _read(file: BinaryIO, wanted: Sequence[Chat], typed: History) -> tuple[bytes, list[dict[str, Any]]]:
    """The bytes of chats and the rows in them."""
    parts, values = [], []
    for chat in wanted:
        file.seek(chat.begin)
        parts.append(file.read(chat.end - chat.begin))
        values += rows_of_chat(_decoded(parts[-1]), chat, typed.during(chat))
    return b"".join(parts), values


def _decoded(content: bytes) -> str:
    return content.decode("utf-8", "replace")


def _id_of(path: str, chat: Chat) -> str:
    """Aider gives its chats no id. Two of one project that began in the same second are told apart."""
    again = f"-{chat.again + 1}" if chat.again else ""
    begun = re.sub(r"\D", "", chat.started)
    return f"{begun}-{digest_of(in_text(path))[:8]}{again}"


def _answer_in(text: str) -> str:
    """What a person answered, by its first letter; "" where the line holds no question with an answer."""
    question, _, answer = text.rpartition(":")
    answer = answer.removeprefix(" ")
    return answer if "?" in question and len(answer) == 1 and answer.isalnum() else ""


class _Reading(Reading[Carry]):
    carries = Carry

    def __init__(self, source: TranscriptFiles, file: Rows, since: Offset | None) -> None:
        super().__init__(source, file, since)
        self._begun = ""
        self._yes_to_all = self._awaited = False
        self._subject = ""
        """What Aider said last: a question is about it."""

    def kind(self, value: Mapping[str, Any]) -> str:
        return word(value.get(KIND)) or "no kind"

    def take(self, value: Mapping[str, Any]) -> None:
        if not self.knows(value):
            return
        kind, text = value[KIND], value["text"]
        at = moment_here(value.get("at") or "")
        self.stands(digest_of(SOURCE, self._begun, self._row.offset, text)[:16], at)
        match kind:
            case "chat":
                self._begun = self._begun or text
                self.timed(moment_here(text))
                self.became(Became.FACTS, "when it began")
            case "prompt" | "typed":
                self._prompt(value)
            case "reply":
                self._awaited = self._awaited and not text.strip()
                self.said(text.strip("\n"))
            case "note":
                self._note(text)
                self._subject = text

    def _prompt(self, value: Mapping[str, Any]) -> None:
        text, why = value["text"].strip(), value.get("why")
        self.timed(self._place.at)
        if why:
            self.became(Became.LEFT_OUT, why)
            return
        if text:
            self._awaited = not text.startswith(("/", "!")) or text.startswith(_TO_MODEL)
        if value[KIND] == TYPED:  # no chat says when it began
            self.stands(None, self._place.at)
        self.prompt(text, "without words")

    def _note(self, text: str) -> None:
        if (edited := _EDITED.match(text)) is not None:
            self._done("edit", {"path": edited["path"]}, text, CallStatus.OK)
        elif text.startswith(_NOT_EDITED):
            self._done("edit", {}, text, CallStatus.ERROR)
        elif text.startswith(_LEAVE) and (answer := _answer_in(text)):
            if answer in "nsd" and not self._yes_to_all:
                shell = text.startswith(_SHELL)
                given = {"command" if shell else "path": self._subject}
                self._done("shell" if shell else "edit", given, text, CallStatus.REFUSED)
        elif text.startswith(_STOPPED):
            if self._awaited:
                self.interrupted()
            self._awaited = False
        elif not self._carry.prompted:
            self._head(text)
        elif (model := _MODEL.match(text)) is not None:
            self.model(model["model"])
            self.became(Became.FACTS, "model")

    def _head(self, text: str) -> None:
        """What Aider says when it starts: its command line, its version, its model."""
        words = text.split()
        if words and re.fullmatch(r"(?:.*[/\\])?aider(?:\.exe)?|.*aider[/\\]__main__\.py", words[0]):
            self.run_by(program=any(one.partition("=")[0] in _BY_PROGRAM for one in words[1:]))
            self._yes_to_all = any(one in _YES_TO_ALL for one in words[1:])
            self.became(Became.FACTS, "how it was started")
        if (version := _VERSION.match(text)) is not None:
            self.learn("version", version["version"])
            self.became(Became.FACTS, "version")
        if (model := _MODEL.match(text)) is not None:
            self.model(model["model"])
            self.became(Became.FACTS, "model")

    def _done(self, name: str, given: dict[str, str], told: str, status: CallStatus) -> None:
        self._awaited = False
        self.called(self._place.row, name, given)
        self.answered(self._place.row, told, status)

    def session_id(self) -> str:
        begun = re.sub(r"[^0-9]", "", self._begun) or "typed"
        return self._file.part or f"{begun}-{digest_of(self._file.path)[:8]}"

    def project(self) -> str | None:
        """Its files lie in the folder of the project, unless a variable puts them elsewhere."""
        folder, name = os.path.split(self._file.path)
        return self._talk.short(folder) if name in {CHATS, INPUTS} else None


class AiderTranscripts(TranscriptFiles):
    """The `TranscriptSource` of Aider."""

    name = SOURCE
    title = "Aider"
    home = AgentHome(variable=CHATS_VARIABLE, usual="", sessions=())
    reads = _Reading

    def __init__(self, *, redact: Redact) -> None:
        super().__init__(redact=redact)
        self._inputs: str | None = None
        """Where the person's variable says that what was typed is kept."""

    def folders(self, roots: Roots) -> Sequence[Path]:
        """Those that hold a history; nobody can say where others may be."""
        return tuple(dict.fromkeys(Path(path).parent for path in _histories(roots)))

    def discover(self, roots: Roots, unchanged: Unchanged | None = None) -> Iterable[TranscriptRef]:
        del unchanged  # all chats of a person lie in a few files
        self._inputs = dict(roots.environment).get(INPUTS_VARIABLE) or None
        paths = roots.explicit or _histories(roots)
        found = [one for path in paths for ref in named(SOURCE, path) for one in self.parts(ref)]
        return sorted(found, key=lambda ref: (ref.path, ref.part))

    def parts(self, ref: TranscriptRef) -> Iterator[TranscriptRef]:
        chats = _chats_of(ref.path, ref.size, ref.mtime.timestamp()) if ref.size else {}
        last = next(reversed(list(chats)), "")
        for part, chat in chats.items():
            # One that another followed is no longer written to: only the last is as new as the file.
            begun = moment_here(chat.started)
            changed = ref.mtime if part == last or begun is None else min(begun, ref.mtime)
            size = chat.end - chat.begin
            yield TranscriptRef(source=SOURCE, path=ref.path, size=size, mtime=changed, part=part)
        if not chats:
            yield ref  # reading it says what it is

    def is_ours(self, row: Mapping[str, Any]) -> bool:
        return word(row.get(KIND)) in _KINDS

    def opened(self, ref: TranscriptRef, since: Offset | None) -> Rows | LeftOut:
        """The rows of one chat; of a file without a part those of all its chats."""
        file = open_file(ref.path)
        if isinstance(file, LeftOut):
            return file
        path = in_text(ref.path)
        with file:
            try:
                known = os.fstat(file.fileno())
                if ref.path.endswith(INPUTS.removeprefix(".aider")) and known.st_size <= LARGEST_INPUTS:
                    content = file.read(LARGEST_INPUTS)
                    values: list[dict[str, Any]] = list(rows_of_history(entries_in(_decoded(content))))
                    left_out: list[LeftOut] = []
                else:
                    chats = _chats_of(ref.path, known.st_size, file_time(known.st_mtime_ns).timestamp())
                    names = [ref.part] if ref.part else list(chats)
                    wanted = [chats[name] for name in names if name in chats]
                    if sum(chat.end - chat.begin for chat in wanted) > LARGEST_CHAT:
                        detail = f"a chat larger than {LARGEST_CHAT >> 20} MiB"
                        return LeftOut(path=path, reason="unreadable", offset=wanted[0].begin, detail=detail)
                    typed = self._entries(ref.path)
                    left_out = [typed] if isinstance(typed, LeftOut) else []
                    history = History() if isinstance(typed, LeftOut) else typed
                    content, values = _read(file, wanted, history)
            except OSError as error:
                return LeftOut(path=path, reason="unreadable", detail=f"reading broke off: {error.strerror}")
        none: list[dict[str, Any]] = [{}] * bool(
            known.st_size
        )  # so that a file of another kind is none, and not an empty one
        return snapshot(ref, since, head=digest_bytes(content), values=values or none, left_out=left_out)

    def _entries(self, path: str) -> History | LeftOut:
        """What was typed, as the file beside the chats has it: none where there is no such file."""
        folder, name = os.path.split(path)
        beside = INPUTS if name == CHATS else f"{os.path.splitext(name)[0]}.input.history"  # noqa: PTH122 - a text
        place = os.path.join(folder, self._inputs or beside)  # noqa: PTH118 - texts, as paths of refs are
        return _entries_of(place, *_looked_at(place))
