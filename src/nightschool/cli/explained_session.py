"""How a session is explained: each row of its transcript with what became of it. Relieves `explain`."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nightschool.cli.exits import ExitCode
from nightschool.cli.output import Output
from nightschool.cli.reading import typed
from nightschool.cli.render import Line, Piece, Table
from nightschool.core.errors import NotFound, UserError
from nightschool.core.sessions import Became

if TYPE_CHECKING:
    from nightschool.core.ports import TranscriptSource
    from nightschool.core.sessions import LeftOut, ReadResult, RowFate, Session, TranscriptRef
    from nightschool.core.tasks import Task
    from nightschool.rules.explaining import ExplainedRow
    from nightschool.stages.mine import Mined
    from nightschool.wiring import Parts

WHAT = {Became.NOTHING: "that say nothing of turns or calls", Became.COPY: "copies"}
"""Rows that a person seldom asks for."""
QUIET = frozenset(WHAT)
SHORTEST = 4
"""Characters of an id that name a session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """A transcript, read once more from its first byte."""

    source: TranscriptSource
    ref: TranscriptRef
    result: ReadResult
    fates: Sequence[RowFate]


def explain(name: str, out: Output, *, brief: bool = False) -> ExitCode:
    """A session by its id (or the beginning of it) or by its transcript file."""
    from nightschool.cli.opening import opening  # noqa: PLC0415 - few commands need it
    from nightschool.rules.explaining import explained  # noqa: PLC0415

    # On a copy of the store: reading and mining tell what they make of the session, and leave nothing.
    with opening(rehearsal=True, forgiving=True) as parts:
        found = _read(parts, name)
        session = found.result.session
        made = {task.id for task in _made(parts, found)}
        mined = _mined(parts, found)
        heard, tasks = (mined.corrections if mined else ()), _made(parts, found)
        planned = [task.id for task in tasks if task.id not in made]
        none = [out for out in found.result.left_out if not _apart(found, out)]
        rows = explained(
            session, found.fates, none, heard=heard, tasks=tasks, planned=planned, words=parts.words()
        )
        document = {
            "session": session and session.id,
            "source": found.source.name,
            "path": found.ref.path,
            "project": session and session.project,
            "rows": rows,
            "left_out": found.result.left_out,
            "corrections": _corrections(found, mined),
            "tasks": [
                {"id": one.id, "split": one.split, "turn": one.turn, "made": one.id in made} for one in tasks
            ],
            "no_task": _no_task(found, mined),
        }
        return out.result(document, _told(found, mined, rows, tasks, planned, brief=brief))


def _read(parts: Parts, name: str) -> _Read:
    source, ref = _found(parts, name)
    fates: list[RowFate] = []
    result = source.read(ref, None, told=fates.append)
    if result.session is None and not fates:
        why = "; ".join(out.detail or out.reason for out in result.left_out)
        raise UserError(f"{ref.path} tells nothing: {why or 'it is empty'}; name a transcript of an agent")
    _refuse_unread(parts, ref, result.session)
    return _Read(source=source, ref=ref, result=result, fates=fates)


def _refuse_unread(parts: Parts, ref: TranscriptRef, session: Session | None) -> None:
    """What may not be read is not told either. What is only too old to be kept may be looked at."""
    from nightschool.core.sessions import Session  # noqa: PLC0415
    from nightschool.rules.ignoring import BAD_SETTINGS  # noqa: PLC0415
    from nightschool.rules.telling import why_left_out  # noqa: PLC0415

    ignoring = parts.ignoring()
    why = ignoring.file(ref.path, ref.id)
    if why is None and session is not None:
        why = ignoring.session(session, changed=ref.mtime)
    if why is None or why.reason == "too-old":
        return
    name = ref.path if session is None else session.id
    if why.reason == BAD_SETTINGS and parts.store.get(Session, name) is not None:
        return  # it was let in while its project's list could be read
    way = "take what names it off the list"
    if why.reason == "forgotten":
        way = f"`nightschool forget {shlex.quote(name)} --allow`, or of its project, lets it be read again"
    if why.reason == BAD_SETTINGS:
        way = "mend it or move it away"
    raise UserError(f"{name} is not told: {why_left_out(why.reason, why.detail)}; {way}")


def _found(parts: Parts, name: str) -> tuple[TranscriptSource, TranscriptRef]:
    sources = parts.sources()
    path = typed(Path(name))
    if os.sep in name or path.is_file():
        if not path.is_file():
            raise UserError(f"there is no file {path}: name a transcript file, or a session by its id")
        return _recognised(sources.values(), parts, str(path))
    refs = dict(_by_id(parts, name))
    if len(refs) > 1:
        raise UserError(f"{name!r} names several sessions: {', '.join(sorted(refs))}; name one of them")
    if not refs:
        raise NotFound(f"no session {name!r}; `nightschool harvest` lists those of the last days")
    ((session, (source, where)),) = refs.items()
    part = session.removeprefix(f"{source}:")
    if not os.path.isfile(where):  # noqa: PTH113 - the path may hold what Path would change
        raise UserError(f"the transcript of {session} is gone: there is no {where}")
    return _recognised([sources[source]] if source in sources else sources.values(), parts, where, part)


def _by_id(parts: Parts, name: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """Sessions of that id, or of that beginning, with source and file: those of the store, then those whose
    file has the id as its name."""
    from nightschool.core.sessions import Session  # noqa: PLC0415

    stored = parts.store.find(Session)
    for whole in (True, False):
        if not whole and len(name) < SHORTEST:
            return
        hits = [
            one
            for one in stored
            if (name in {one.id, one.session_id})
            or (not whole and (one.session_id.startswith(name) or one.id.startswith(name)))
        ]
        yield from ((one.id, (one.source, one.path)) for one in hits)
        if hits:
            return
    for source in parts.sources().values():
        own = name.removeprefix(f"{source.name}:")
        for ref in source.discover(parts.roots()) if len(own) >= SHORTEST else ():
            stem = ref.part or os.path.basename(ref.path).partition(".")[0]  # noqa: PTH119 - as above
            if stem.startswith(own) or stem.endswith(own):
                yield f"{source.name}:{stem}", (source.name, ref.path)


def _recognised(
    sources: Iterable[TranscriptSource], parts: Parts, path: str, part: str | None = None
) -> tuple[TranscriptSource, TranscriptRef]:
    """Of a file that holds several sessions the one that `part` names."""
    for source in sources:
        refs = [
            ref for ref in source.discover(parts.roots((path,))) if part is None or ref.part in {"", part}
        ]
        if refs and source.recognises(refs[0]):
            if len(refs) > 1:
                some = ", ".join(f"{source.name}:{ref.part}" for ref in refs[-5:])
                raise UserError(f"{path} holds {len(refs)} sessions: name one by its id, such as {some}")
            return source, refs[0]
    raise UserError(
        f"{path} is no transcript of an agent that nightschool knows: `nightschool doctor` lists them"
    )


def _mined(parts: Parts, found: _Read) -> Mined | None:
    """What the next run over its project would make of it, with all that it reads before; None where the
    session names no project."""
    from nightschool.rules.corrections import enough  # noqa: PLC0415
    from nightschool.stages.harvest import harvest  # noqa: PLC0415

    session = found.result.session
    if session is None or session.project is None:
        return None
    preparation = parts.preparation(
        project=parts.projects.root(session.project), progress=lambda _words, _done, _total: None
    )
    harvest(
        parts.harvest_request(),
        sources=parts.sources(),
        store=parts.store,
        clock=parts.clock,
        enough=enough,
    )
    return preparation.prepare(parts.harvest_request(explicit=(found.ref.path,))).mined


def _made(parts: Parts, found: _Read) -> list[Task]:
    """Its tasks, those too that a person took out, and those that the next run would make."""
    from nightschool.core.tasks import Task  # noqa: PLC0415

    session = found.result.session
    return [] if session is None else [task for task in parts.store.find(Task) if task.session == session.id]


def _apart(found: _Read, out: LeftOut) -> bool:
    """Whether it is none of the rows that are shown: it has no place among them, or lies in another file."""
    return out.offset is None or out.path != found.ref.path


def _place(out: LeftOut) -> str:
    return f"{out.path}: " if out.offset is None else f"{out.path}, byte {out.offset}: "


def _corrections(found: _Read, mined: Mined | None) -> list[dict[str, object]]:
    """What was heard in it, and whether that is worth an edit by now."""
    session = found.result.session
    if mined is None or session is None:
        return []
    candidates = {one.correction: one.id for one in mined.candidates}
    waiting = {one.key: one.why for one in mined.waiting}
    return [
        {
            "id": one.id,
            "statement": one.statement,
            "sessions": len(one.sessions),
            "candidate": candidates.get(one.id),
            "waits": waiting.get(one.key),
        }
        for one in mined.corrections
        if session.id in one.sessions
    ]


def _no_task(found: _Read, mined: Mined | None) -> list[dict[str, str]]:
    session = found.result.session
    if mined is None or session is None:
        return []
    return [{"code": code, "why": why} for name, code, why in mined.skipped if name == session.id]


def _told(
    found: _Read,
    mined: Mined | None,
    rows: Sequence[ExplainedRow],
    tasks: Sequence[Task],
    planned: Sequence[str],
    *,
    brief: bool,
) -> list[Piece | str]:
    from nightschool.cli.tasks import SIDES  # noqa: PLC0415
    from nightschool.rules.explaining import whole_session  # noqa: PLC0415
    from nightschool.rules.telling import counted  # noqa: PLC0415

    session = found.result.session
    name = "no session" if session is None else session.id
    shown = [row for row in rows if not brief or row.became not in QUIET]
    table = Table(
        columns=("at", "turn", "row", "became", "why", "text"),
        rows=[(row.offset, row.turn, row.kind, row.became, row.why, row.text or None) for row in shown],
        minor=("row",),
    )
    told: list[Piece | str] = [Line(f"{name}: {found.ref.path}", "bold"), table]
    hidden = Counter(row.became for row in rows if row not in shown)
    if hidden:
        kinds = ", ".join(f"{count} {WHAT[became]}" for became, count in sorted(hidden.items()))
        told.append(Line(f"not shown: {kinds}", "dim"))
    apart = (out for out in found.result.left_out if _apart(found, out))
    told += [f"not read: {_place(out)}{out.detail or out.reason}" for out in apart]
    told.append("")
    told += whole_session(session) if session is not None else []
    for one in _corrections(found, mined):
        state = f"waits: {one['waits']}" if one["waits"] else f"worth an edit ({one['candidate']})"
        seen = counted(int(str(one["sessions"])), "session")
        told.append(f"correction {one['id']}, {one['statement']!r}, in {seen}: {state}")
    told += [
        f"task {task.id}, for {SIDES[task.split]}, of turn {task.turn}"
        + (": the next run would make it" if task.id in planned else "")
        for task in tasks
    ]
    told += [f"no task: {one['why']} [{one['code']}]" for one in _no_task(found, mined)]
    if session is not None and session.project is None:
        told.append("no task: no row names the folder that it ran in")
    return told
