"""Chats with Copilot in VS Code: `User/workspaceStorage/<id>/chatSessions/*.json` and `*.jsonl`, and those of
windows without a folder in `User/globalStorage/emptyWindowChatSessions`.

A request is a person's prompt together with the reply to it. VS Code keeps the chats of all its extensions
there: what Copilot did not answer is left out. The folder of a chat stands in `workspace.json` beside it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from nightschool.adapters.agent_home import AgentHome
from nightschool.adapters.conversation import milliseconds
from nightschool.adapters.listing import list_files, named
from nightschool.adapters.reading import WENT_BACK, Carry, Reading, exit_code_of, parsed
from nightschool.adapters.rows import Rows, word
from nightschool.adapters.snapshot_rows import content_of, object_in
from nightschool.adapters.transcript_files import TranscriptFiles
from nightschool.adapters.vscode_copilot.chats import CHAT, KIND, REQUEST, open_chat
from nightschool.core.ports import Unchanged
from nightschool.core.sessions import (
    Became,
    CallStatus,
    LeftOut,
    Offset,
    Roots,
    TranscriptRef,
    in_text,
)

SOURCE = "vscode-copilot"
HOME = AgentHome(variable="VSCODE_PORTABLE", usual="", sessions=())
PRODUCTS = ("Code", "Code - Insiders", "VSCodium")
WORKSPACES, CHATS = "workspaceStorage", "chatSessions"
OF_NO_FOLDER = "globalStorage/emptyWindowChatSessions"
_ANSWERED_BY = "github.copilot"
_CANCELLED = 2
"""How a reply ended: a person stopped it."""
_DENIED = (0, 5)
"""How a call came to be allowed, or not: turned down, or skipped."""
_SUB_AGENT = "subagent"


def _users(home: Path, environment: Mapping[str, str]) -> list[Path]:
    """Where the editors keep what is the person's, on Linux, macOS and Windows."""
    portable, data = environment.get("VSCODE_PORTABLE"), environment.get("VSCODE_APPDATA")
    if portable:
        return [Path(portable).absolute() / "user-data" / "User"]
    usual = (
        environment.get("XDG_CONFIG_HOME") or home / ".config",
        home / "Library" / "Application Support",
        environment.get("APPDATA") or home / "AppData" / "Roaming",
    )
    return [
        Path(base).absolute() / product / "User"
        for base in ((data,) if data else usual)
        for product in PRODUCTS
    ]


def _with_chats(folder: Path) -> Iterator[str]:
    """The folders of chats below one of ours. What extensions keep beside them may be large and is not
    looked through."""
    if folder.name != WORKSPACES:
        yield str(folder)
        return
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208 - a name may be no text
    except FileNotFoundError:
        return
    except OSError:
        yield str(folder)  # reading it says what is wrong
        return
    yield from (str(folder / name / CHATS) for name in names)


class _Reading(Reading[Carry]):
    """What the rows of one chat tell."""

    carries = Carry

    def kind(self, value: Mapping[str, Any]) -> str:
        return word(value.get(KIND)) or f"operation {value.get('kind')}"

    def take(self, value: Mapping[str, Any]) -> None:
        if not self.knows(value):
            return
        if value[KIND] == CHAT:
            self.became(Became.FACTS, "id and time")
            self._carry.session = self._talk.own_id(value.get("sessionId"))
            self.timed(milliseconds(value.get("creationDate")))
            return
        if value.get("shouldBeRemovedOnSend") or value.get("isHidden"):
            self.became(*WENT_BACK)
            self._talk.went_back()
        elif not _is_answered(value.get("agent")):
            self.became(Became.LEFT_OUT, "not answered by Copilot")
        else:
            self._request(value)

    def _request(self, value: Mapping[str, Any]) -> None:
        at, agent = milliseconds(value.get("timestamp")), value.get("agent")
        self.timed(at)
        self.learn("version", agent.get("extensionVersion") if isinstance(agent, dict) else None)
        self.model(value.get("modelId"))
        own, text = self._talk.own_id(value.get("requestId")), _words(value.get("message"))
        self.stands(own, at)
        if value.get("isSystemInitiated"):
            self.became(Became.LEFT_OUT, "put in by the editor")
        elif value.get("confirmation"):
            self.became(Became.LEFT_OUT, "an answer to a question")
        else:
            self.prompt(text, "without words")
        self.stands(None if own is None else f"{own}.reply", at)
        self._reply(value)

    def _reply(self, value: Mapping[str, Any]) -> None:
        asked, texts = _asked(value.get("result")), list[str]()
        for number, part in enumerate(self.objects(value.get("response"), "parts of a reply")):
            if part.get("kind") == "toolInvocationSerialized":
                self._call(part, number, asked)
            else:
                texts.append(_said(part))
        self.said("".join(texts))
        state = value.get("modelState")
        if value.get("isCanceled") is True or (isinstance(state, dict) and state.get("value") == _CANCELLED):
            self.interrupted()
        self.timed(milliseconds(state.get("completedAt")) if isinstance(state, dict) else None)

    def _call(self, part: Mapping[str, Any], number: int, asked: _Asked) -> None:
        data, details = part.get("toolSpecificData"), part.get("resultDetails")
        told = data if isinstance(data, dict) else {}
        shown = details if isinstance(details, dict) else {}
        own = part.get("toolCallId") or f"{self._place.row or self._row.offset}.{number}"
        within = part.get("fromSubAgent") or part.get("subAgentInvocationId") not in (None, own)
        if within and told.get("kind") != _SUB_AGENT:
            self.became(Became.LEFT_OUT, "within a sub-agent")
            return
        name, given, result = asked.of(own)
        if given is None:
            given = _given(told) or parsed(shown.get("input"))
        call_id = self.called(own, name or part.get("toolId"), given)
        code = _exit_code(told)
        status = _status(part, failed=bool(code) or shown.get("isError") is True)
        if call_id is not None and status is not None:
            self.answered(call_id, result or _printed(told, shown), status, code)

    def project(self) -> str | None:
        """The folder that `workspace.json` beside the chats names. One of several folders names none."""
        path = Path(self._file.path)
        if path.parent.name != CHATS:
            return None
        place = str(path.parent.parent / "workspace.json")
        content = content_of(place)
        if isinstance(content, LeftOut):
            if content.reason != "vanished":
                self._file.leave_out(content.reason, content.offset, content.detail, content.path)
            return None
        told = object_in(content)
        if isinstance(told, str):
            self._file.leave_out("bad-record", 0, told, in_text(place))
            return None
        folder = _folder(told.get("folder"))
        return None if folder is None else self._talk.short(folder)


def _folder(address: object) -> str | None:
    """The folder on this machine that an address names; of one elsewhere nothing is known here."""
    try:
        parts = urlsplit(address) if isinstance(address, str) else None
    except ValueError:
        return None
    if parts is None or parts.scheme != "file" or parts.netloc:
        return None
    path = unquote(parts.path)
    if path[2:3] == ":" and path[1:2].isalpha():
        path = path[1:]  # of Windows
    return path if path.isprintable() and "\ufffd" not in path and len(path) > 1 else None


def _is_answered(agent: object) -> bool:
    """Whether Copilot answered a request, and no other extension."""
    name = word(agent.get("id")) if isinstance(agent, dict) else None
    return name is not None and name.startswith(_ANSWERED_BY)


def _words(message: object) -> str:
    return (word(message.get("text")) if isinstance(message, dict) else word(message)) or ""


def _said(part: Mapping[str, Any]) -> str:
    """What a part of a reply says: text, or the name of a file in the midst of it."""
    match part.get("kind"):
        case None:
            return _text(part.get("value"))
        case "markdownContent":
            return _text(part.get("content") or part.get("value"))
        case "inlineReference":
            found = part.get("inlineReference")
            address = found.get("uri", found) if isinstance(found, dict) else None
            path = word(address.get("path")) if isinstance(address, dict) else None
            return word(part.get("name")) or (path or "").rpartition("/")[2]
    return ""


def _text(value: object) -> str:
    """A text, or one that may hold markdown."""
    return (word(value.get("value")) if isinstance(value, dict) else word(value)) or ""


class _Asked:
    """What the model asked for, as the extension keeps it beside the reply: by the ids of the calls."""

    def __init__(self) -> None:
        self.calls: dict[str, tuple[str, object]] = {}
        self.results: dict[str, str] = {}

    def of(self, own: object) -> tuple[str, object, str]:
        if not isinstance(own, str):
            return "", None, ""
        name, given = self.calls.get(_plain(own), ("", None))
        return name, given, self.results.get(_plain(own), "")


def _plain(own: str) -> str:
    """An id without what VS Code adds to it to tell it from that of another request."""
    return own.partition("__vscode")[0]


def _asked(result: object) -> _Asked:
    found = _Asked()
    metadata = result.get("metadata") if isinstance(result, dict) else None
    if not isinstance(metadata, dict):
        return found
    for one in _dicts(metadata.get("toolCallRounds")):
        for call in _dicts(one.get("toolCalls")):
            own = word(call.get("id"))
            if own is not None:
                found.calls[_plain(own)] = word(call.get("name")) or "", parsed(call.get("arguments"))
    results = metadata.get("toolCallResults")
    for own, given in results.items() if isinstance(results, dict) else ():
        texts = (_text(part) for part in _dicts(given.get("content") if isinstance(given, dict) else None))
        found.results[_plain(own)] = "\n".join(text for text in texts if text)
    return found


def _dicts(values: object) -> Iterator[dict[str, Any]]:
    return (one for one in values if isinstance(one, dict)) if isinstance(values, list) else iter(())


def _given(told: Mapping[str, Any]) -> object:
    """What a call was given, as the editor shows it: the command line as it was run, or its input."""
    line = told.get("commandLine")
    if isinstance(line, dict):
        shown = (word(line.get(key)) for key in ("userEdited", "toolEdited", "original"))
        return {"command": next((text for text in shown if text), "")}
    if told.get("kind") == "terminal":
        return {"command": word(told.get("command")) or ""}
    return told.get("rawInput")


def _exit_code(told: Mapping[str, Any]) -> int | None:
    state = told.get("terminalCommandState")
    return exit_code_of(state.get("exitCode")) if isinstance(state, dict) else None


def _printed(told: Mapping[str, Any], shown: Mapping[str, Any]) -> str:
    output = told.get("terminalCommandOutput")
    if isinstance(output, dict):
        return word(output.get("text")) or ""
    return "\n".join(text for part in _dicts(shown.get("output")) if (text := _text(part)))


def _status(part: Mapping[str, Any], *, failed: bool) -> CallStatus | None:
    """How a call ended; None where nothing says so. Whether it was allowed was once a truth value."""
    allowed = part.get("isConfirmed")
    if allowed is False or (isinstance(allowed, dict) and allowed.get("type") in _DENIED):
        return CallStatus.REFUSED
    if part.get("isComplete") is not True:
        return None
    return CallStatus.ERROR if failed else CallStatus.OK


class VSCodeCopilotTranscripts(TranscriptFiles):
    """The `TranscriptSource` of Copilot Chat in VS Code."""

    name = SOURCE
    title = "Copilot Chat in VS Code"
    home = HOME
    endings = (".json", ".jsonl")
    reads = _Reading

    def folders(self, roots: Roots) -> Sequence[Path]:
        """Those of the editors that are here; else the one of VS Code itself."""
        users = _users(Path(roots.home), dict(roots.environment))
        there = [user for user in users if user.is_dir()] or users[:1]
        return [user / place for user in there for place in (WORKSPACES, OF_NO_FOLDER)]

    def discover(self, roots: Roots, unchanged: Unchanged | None = None) -> Iterable[TranscriptRef]:
        if roots.explicit:
            found = [ref for path in roots.explicit for ref in named(SOURCE, path)]
        else:
            folders = (chats for folder in self.folders(roots) for chats in _with_chats(folder))
            found = [ref for chats in folders for ref in list_files(SOURCE, chats, self.endings, unchanged)]
        return sorted(found, key=lambda ref: ref.path)

    def is_ours(self, row: Mapping[str, Any]) -> bool:
        return row.get(KIND) in (CHAT, REQUEST)

    def opened(self, ref: TranscriptRef, since: Offset | None) -> Rows | LeftOut:
        return open_chat(ref, since)
