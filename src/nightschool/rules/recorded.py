"""What a session shows of its own work: what it left behind, and the files as they were at its start.

Relieves mining of reading the arguments and results of tools.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from nightschool.core.jobs import Delivered, FileChange
from nightschool.core.sessions import CallStatus, Session, Speaker, ToolCall, Turn
from nightschool.rules.footprints import PATCH

_NUMBERED = re.compile(r"^\s*(\d{1,6})(?:\u2192|\t)(.*)$")
_REMINDER = re.compile(r"\n*<system-reminder>.*?</system-reminder>\s*$", re.DOTALL)
_PATCH_FILE = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$", re.MULTILINE)
_WHOLE_FILE = re.compile(r"^\s*cat\s+(?P<path>[\w@./+-]+|'[^'\n]+'|\"[^\"$`\n]+\")\s*$")
_OUTPUT = re.compile(r"\A(?:Chunk ID|Wall time|Exit code|Process exited)[^\0]{0,400}?\nOutput:\n")
_CUT = re.compile(r"\[cut\b|\btruncated\b|\[\.\.\.", re.IGNORECASE)
READ_LINES = 2000
"""Claude Code shows this many lines of a file and stops without a word."""
READ_COLUMNS = 2000
"""And so many characters of a line."""
LONGEST_NAME = 255
"""Bytes of a file's name, on every file system that we know."""
STAND_IN = "[secret:"
"""Begins what redaction put in the place of a secret."""


def place(path: str, *, directory: str, root: str) -> str | None:
    """A path that a call names, relative to the project's root; None where it lies outside.

    A directory that is not below the root is taken for the top of another worktree of it.
    """
    if not path or "\0" in path or "\\" in path or not root.startswith("/"):
        return None
    if directory and not directory.startswith("/"):
        return None
    full = posixpath.normpath(posixpath.join(directory or "/", path))
    here, top = f"{directory.rstrip('/')}/", f"{root.rstrip('/')}/"
    if directory and full.startswith(here):
        found = (here[len(top) :] if here.startswith(top) else "") + full[len(here) :]
    elif full.startswith(top):
        found = full[len(top) :]
    else:
        return None
    return posixpath.normpath(found) if _fits(found) else None


def begun_in(directory: str, *, root: str) -> str:
    """The folder of the project that a session began in; "" for its top, and in another worktree of it."""
    top = f"{posixpath.normpath(root).rstrip('/')}/"
    inside = posixpath.normpath(directory or "/").removeprefix(top)
    return inside if f"{top}{inside}" == posixpath.normpath(directory or "/") and _fits(inside) else ""


def _fits(path: str) -> bool:
    """Whether it names a file of the project: git's own folder is none, and no file has so long a name."""
    parts = path.split("/")
    return all(part.lower() != ".git" and len(part.encode("utf-8")) <= LONGEST_NAME for part in parts)


def outcome_of(turns: Iterable[Turn], *, directory: str, root: str) -> Delivered:
    """What the agent did in these turns, as if it had been a job: commands that ran, text it added.

    Edits that failed or that a person turned down changed nothing.
    """
    calls = [call for turn in turns if turn.speaker is Speaker.AGENT for call in turn.calls]
    ran = tuple(call for call in calls if call.status is not CallStatus.REFUSED)
    changes: dict[str, list[str]] = {}
    for call in ran:
        if call.status is CallStatus.ERROR:
            continue
        added = _added(call)
        for path in call.files:
            where = place(path, directory=directory, root=root)
            if where is not None:
                changes.setdefault(where, []).append(added)
    files = tuple(
        FileChange(path=path, content="\n".join(texts).encode("utf-8", "replace"), added="\n".join(texts))
        for path, texts in changes.items()
    )
    return Delivered(reply="", files=files, trajectory=ran)


def did_something(outcome: Delivered) -> bool:
    return bool(outcome.files) or any(call.command is not None for call in outcome.trajectory)


def edited_in_place(turns: Iterable[Turn], *, directory: str, root: str) -> frozenset[str]:
    """Files that were there before and of which the agent changed a part."""
    found: set[str] = set()
    made: set[str] = set()
    for call in (call for turn in turns for call in turn.calls if call.status is not CallStatus.REFUSED):
        changed = set(_edited(call))
        found |= changed - made
        made |= set(call.files) - changed - found
    places = (place(path, directory=directory, root=root) for path in found)
    return frozenset(path for path in places if path is not None)


_NEW_FILE = re.compile(r"\s*File created successfully\b")
"""How Claude Code says that a file was not there before."""


def newly_made(turns: Iterable[Turn], *, directory: str, root: str) -> frozenset[str]:
    """Files of which the session says that they were not there before it made them."""
    found = {path for turn in turns for call in turn.calls for path in _made(call)}
    places = (place(path, directory=directory, root=root) for path in found)
    return frozenset(path for path in places if path is not None)


def looked_at(turns: Iterable[Turn], *, directory: str, root: str) -> frozenset[str]:
    """Files that the agent opened, whole or in part."""
    calls = (call for turn in turns for call in turn.calls if call.status is CallStatus.OK)
    named = (_arguments(call).get("file_path") for call in calls if call.name == "Read")
    places = (place(path, directory=directory, root=root) for path in named if isinstance(path, str))
    return frozenset(path for path in places if path is not None)


_READS_FILE = re.compile(
    r"""(?:read|scan|load|open|connect)\w*\(\s*[rbfu]{0,2}["']([^"'\n{}*]{1,200}\.\w{1,8})["']"""
)
"""Code that reads a file by its name: `pd.read_csv("data/a.csv")`, `open('b.txt')`."""
_READER = re.compile(
    r"(?:^|[;&|\n]\s*)(?:cat|head|tail|less|wc|file|stat|cut|jq|sqlite3|duckdb)\s+([^;&|<>\n]{1,400})"
)
_PATH = re.compile(r"(?<![\w=])[\w@.+-]*(?:/[\w@.+-]+)*\.[A-Za-z]\w{0,7}(?![\w/])")


def spoken_of(text: str, *, directory: str, root: str) -> frozenset[str]:
    """Files of the project that a request names by a path."""
    places = (place(path, directory=directory, root=root) for path in _PATH.findall(text) if "/" in path)
    return frozenset(path for path in places if path is not None)


def used(turns: Iterable[Turn], *, directory: str, root: str) -> frozenset[str]:
    """Files of the project that commands looked into, or that code reads which the agent ran or wrote. Not
    every way to read a file is known, so this finds some of what the work needs, and not all."""
    found: list[str] = []
    for call in (call for turn in turns for call in turn.calls if call.status is CallStatus.OK):
        command = (call.command or "").split(PATCH, 1)[0]
        found += [path for words in _READER.findall(command) for path in _PATH.findall(words)]
        found += _READS_FILE.findall(f"{command}\n{_added(call)}")
    places = (place(path, directory=directory, root=root) for path in found)
    return frozenset(path for path in places if path is not None)


def shown_at_start(session: Session, *, directory: str, root: str) -> Mapping[str, str]:
    """Files that the session shows in full before it first writes any, by path. What it writes itself
    says nothing of how things were."""
    shown: dict[str, str] = {}
    for call in (call for turn in session.turns for call in turn.calls):
        if call.files:
            break
        seen = _whole_file(call)
        if seen is None or call.status is not CallStatus.OK:
            continue
        where = place(seen[0], directory=directory, root=root)
        if where is not None:
            shown.setdefault(where, seen[1])
    return shown


def same_text(shown: str, committed: bytes) -> bool:
    """Whether a file that a session shows is the one that was committed, line by line. Lines with a
    redacted secret cannot be compared."""
    here = shown.splitlines()
    there = committed.decode("utf-8", "replace").splitlines()
    pairs = zip(here, there, strict=False)
    return len(here) == len(there) and all(one == other or STAND_IN in one for one, other in pairs)


def _whole_file(call: ToolCall) -> tuple[str, str] | None:
    """Path and text where a call shows a whole file."""
    if call.result is None:
        return None
    if call.command is not None:
        match = _WHOLE_FILE.match(call.command)
        if match is None or _CUT.search(call.result[-200:]) or _CUT.search(call.result[:400]):
            return None
        return match.group("path").strip("'\""), _OUTPUT.sub("", call.result, count=1)
    arguments = _arguments(call)
    path = arguments.get("file_path")
    if call.name != "Read" or not isinstance(path, str) or arguments.keys() & {"offset", "limit", "pages"}:
        return None
    text = _numbered(call.result)
    return None if text is None else (path, text)


def _numbered(result: str) -> str | None:
    """The text in a listing that numbers every line from 1; None where anything else stands in it."""
    lines: list[str] = []
    for line in _REMINDER.sub("", result).splitlines():
        match = _NUMBERED.match(line)
        if match is None or int(match.group(1)) != len(lines) + 1 or len(match.group(2)) >= READ_COLUMNS:
            return None
        lines.append(match.group(2))
    return "\n".join(lines) + "\n" if 0 < len(lines) < READ_LINES else None


def _arguments(call: ToolCall) -> Mapping[str, Any]:
    try:
        found = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _added(call: ToolCall) -> str:
    """The text that a call adds to files, as far as its arguments show it."""
    patch = _patch(call)
    if patch is not None:
        return "\n".join(line[1:] for line in patch.splitlines() if line.startswith("+"))
    return "\n".join(_new_texts(_arguments(call)))


def _new_texts(arguments: Mapping[str, Any]) -> Iterator[str]:
    old = arguments.get("old_string")
    kept = set(old.splitlines()) if isinstance(old, str) else set()
    for key in ("content", "new_string", "new_source", "file_text", "new_str"):
        text = arguments.get(key)
        if isinstance(text, str):
            yield "\n".join(line for line in text.splitlines() if line not in kept)
    edits = arguments.get("edits")
    for part in edits if isinstance(edits, list) else []:
        if isinstance(part, dict):
            yield from _new_texts(part)


def _patch(call: ToolCall) -> str | None:
    for text in (call.command, call.arguments, *_arguments(call).values()):
        if isinstance(text, str) and PATCH in text and "\n" in text:
            return text[text.index(PATCH) :]
    return None


def _made(call: ToolCall) -> Sequence[str]:
    if call.status is not CallStatus.OK:
        return ()
    patch = _patch(call)
    if patch is not None:
        return [path for kind, path in _PATCH_FILE.findall(patch) if kind == "Add"]
    return call.files if _NEW_FILE.match(call.result or "") else ()


def _edited(call: ToolCall) -> Sequence[str]:
    patch = _patch(call)
    if patch is not None:
        return [path for kind, path in _PATCH_FILE.findall(patch) if kind != "Add"]
    return call.files if _arguments(call).keys() & {"old_string", "edits", "old_str"} else ()
