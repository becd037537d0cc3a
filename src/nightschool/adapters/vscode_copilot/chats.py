"""How VS Code stores a chat: one document, or since 1.109 a log of what changed in it.

Relieves the transcripts of replaying the log. Each line is an operation on the document: 0 is the whole of
it, 1 sets what stands at a path, 2 cuts the list at a path to a length and adds to it, 3 deletes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeGuard

import orjson

from nightschool.adapters.reading import WENT_BACK
from nightschool.adapters.rows import LONGEST, Row, kind_of, open_file, open_rows
from nightschool.adapters.snapshot_rows import SnapshotRows, at_once, open_document
from nightschool.core.sessions import Became, LeftOut, Offset, TranscriptRef

KIND = "$vscode"
CHAT, REQUEST = "chat", "request"
_WHOLE, _SET, _PUSH, _DELETE = range(4)
_REQUESTS = "requests"
_CHANGE = (Became.COPY, "a change: it counts with what it changes")
_AGAIN = (Became.COPY, "written again: it counts where it stands last")


def open_chat(ref: TranscriptRef, since: Offset | None) -> SnapshotRows | LeftOut:
    """A chat's head and its requests as they stand now, whichever way it is stored."""
    return _log(ref, since) if _is_log(ref.path) else open_document(ref, since, rows_of)


def rows_of(document: dict[str, Any]) -> Iterable[object]:
    """The head of a document, then its requests. One of another kind stays what it is."""
    requests = document.get(_REQUESTS)
    if not isinstance(requests, list) or not ("version" in document or "sessionId" in document):
        yield document
        return
    yield _head(document)
    for request in requests:
        yield _request(request) if isinstance(request, dict) else request


def _head(document: Mapping[str, Any]) -> dict[str, Any]:
    return {**{key: value for key, value in document.items() if key != _REQUESTS}, KIND: CHAT}


def _request(value: Mapping[str, Any]) -> dict[str, Any]:
    return {**value, KIND: REQUEST}


def _is_log(path: str) -> bool:
    """By the name; of another name, whether the first line is an object by itself, and not a whole chat."""
    if path.endswith(".jsonl"):
        return True
    file = open_file(path)
    if isinstance(file, LeftOut):
        return False
    with file, suppress(OSError, ValueError):
        first = orjson.loads(file.readline(LONGEST))
        return isinstance(first, dict) and _REQUESTS not in first
    return False


def _log(ref: TranscriptRef, since: Offset | None) -> SnapshotRows | LeftOut:
    file = open_rows(ref.path)
    if isinstance(file, LeftOut):
        return file

    def standing(rows: Iterator[Row]) -> list[Row]:
        replay = Replay()
        for row in rows:
            for complaint in replay.take(row):
                file.leave_out("bad-record", row.offset, complaint)
        return replay.standing()

    with file:
        return at_once(file, standing, restarted=since is not None)


class Replay:
    """The document that the lines of a log lead to, and for each line what became of it."""

    def __init__(self) -> None:
        self._rows: list[Row] = []
        self._state: dict[str, Any] | None = None
        self._places: list[int | None] = []
        """Where in `rows` each of the requests stands; None: it is none."""
        self._head: int | None = None

    def take(self, row: Row) -> Iterator[str]:
        """Gives what is wrong in a line."""
        value = row.value
        kind = value.get("kind")
        if kind == _WHOLE and isinstance(value.get("v"), dict):
            yield from self._whole(row, value["v"])
        elif self._state is None:
            self._rows.append(row)  # of another kind; or a log that lost its beginning, which says nothing
        elif kind not in (_SET, _PUSH, _DELETE):
            yield "no operation on a chat"
        elif not (path := _path(value.get("k"))):
            yield "an operation without a path"
        elif path[0] == _REQUESTS and len(path) <= 2:
            yield from self._of_requests(row, kind, path)
        else:
            self._rows.append(row._replace(fate=_CHANGE))
            if not _applied(self._state, kind, path, value):
                yield "it changes what is not there"

    def standing(self) -> list[Row]:
        """All rows, with what they came to in the end."""
        rows = self._rows
        if self._state is not None and self._head is not None:
            rows[self._head] = rows[self._head]._replace(value=_head(self._state))
            for place, request in zip(self._places, self._requests(), strict=True):
                if place is not None:
                    rows[place] = rows[place]._replace(value=_request(request))
        return rows

    def _requests(self) -> list[Any]:
        found = self._state.get(_REQUESTS) if self._state is not None else None
        return found if isinstance(found, list) else []

    def _whole(self, row: Row, state: dict[str, Any]) -> Iterator[str]:
        self._leave(0, _AGAIN)
        if self._head is not None:
            self._rows[self._head] = self._rows[self._head]._replace(fate=_AGAIN)
        self._state, self._head = state, len(self._rows)
        self._rows.append(row)
        yield from self._stand(row, self._requests())

    def _of_requests(self, row: Row, kind: int, path: Sequence[str | int]) -> Iterator[str]:
        """Requests that come, go, or are replaced."""
        assert self._state is not None
        before = len(self._requests())
        if not _applied(self._state, kind, path, row.value):
            self._rows.append(row._replace(fate=_CHANGE))
            yield "it changes what is not there"
            return
        now = self._requests()
        step = path[-1]
        if len(path) == 1:
            cut = row.value.get("i")
            kept = 0 if kind != _PUSH else min(cut, before) if _is_index(cut) else before
            self._leave(kept, WENT_BACK if kind == _PUSH else _AGAIN)
            fresh = now[kept:]
        elif isinstance(step, int) and step < before:
            # One that is written again stands at the place of its first copy.
            fresh = []
            place = self._places[step]
            if place is not None and not isinstance(now[step], dict):
                self._rows[place] = self._rows[place]._replace(fate=WENT_BACK)
                self._places[step] = None
        else:
            fresh = now[before:]
        if not fresh:
            self._rows.append(row._replace(fate=_CHANGE))
        yield from self._stand(row, fresh)

    def _stand(self, row: Row, requests: Sequence[Any]) -> Iterator[str]:
        for request in requests:
            if isinstance(request, dict):
                self._places.append(len(self._rows))
                self._rows.append(row)
            else:
                self._places.append(None)
                yield f"a request must be an object, not {kind_of(request)}"

    def _leave(self, first: int, fate: tuple[Became, str]) -> None:
        for place in self._places[first:]:
            if place is not None:
                self._rows[place] = self._rows[place]._replace(fate=fate)
        del self._places[first:]


def _is_index(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _path(value: object) -> Sequence[str | int]:
    """The steps of a path; none where it is no path."""
    steps = value if isinstance(value, list) else []
    return steps if all(isinstance(step, str) or _is_index(step) for step in steps) else []


def _at(holder: Any, step: str | int) -> Any:
    if isinstance(holder, dict) and isinstance(step, str):
        return holder.get(step)
    if isinstance(holder, list) and isinstance(step, int) and step < len(holder):
        return holder[step]
    return None


def _applied(state: Any, kind: int, path: Sequence[str | int], operation: Mapping[str, Any]) -> bool:
    """Do what an operation says, where there is what it speaks of."""
    for step in path[:-1]:
        state = _at(state, step)
    last, value = path[-1], operation.get("v")
    if kind == _PUSH:
        value = _pushed(_at(state, last), value, operation.get("i"))
        if value is None:
            return False
    if isinstance(state, dict) and isinstance(last, str):
        if kind == _DELETE:
            state.pop(last, None)
        else:
            state[last] = value
        return True
    if isinstance(state, list) and isinstance(last, int) and last <= len(state):
        # In a list what is deleted leaves its place behind.
        state[last : last + 1] = [None if kind == _DELETE else value]
        return True
    return False


def _pushed(before: object, more: object, cut: object) -> list[Any] | None:
    """The list as it is after a push; None where there is none, or nothing to push."""
    if not isinstance(before, list | None) or not isinstance(more, list | None):
        return None
    found = before or []
    if _is_index(cut):
        del found[cut:]
    found.extend(more or ())
    return found
