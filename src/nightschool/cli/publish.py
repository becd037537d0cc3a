"""`nightschool adopt`, `reject` and `undo`: the person's word. No other command writes a live file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from nightschool.cli.exits import ExitCode
from nightschool.cli.options import Json, as_utf8
from nightschool.cli.output import Output
from nightschool.cli.proposals import Name
from nightschool.cli.render import Diff, Line
from nightschool.core.errors import NotAllowed, UserError

if TYPE_CHECKING:
    from nightschool.core.ports import Store
    from nightschool.core.proposals import Release
    from nightschool.stages.publish import StaleLiveFile

Reason = Annotated[str, typer.Option(metavar="TEXT", help="Why; a suggestion is adopted only with it.")]
WhyNot = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why you turn it down; kept with it.")]
Which = Annotated[
    str | None,
    typer.Argument(metavar="ID", help="Proposal or release (r-0001); without it, what was adopted last."),
]


def adopt(proposal: Name, *, reason: Reason = "", json: Json = False) -> ExitCode:
    """Write a proposal into the file that your agent reads.

    Only if that file is still the one that the proposal was made from; else nothing is written and you see
    what changed. `nightschool undo` takes it back.

    \b
    Example:
      nightschool adopt d-1f2e3d4c5b
      nightschool adopt d-1f2e3d4c5b --reason "it is what I always say"
    """
    from nightschool.cli.dossiers import adopting  # noqa: PLC0415 - help needs no store
    from nightschool.cli.opening import opening  # noqa: PLC0415
    from nightschool.stages import publish  # noqa: PLC0415

    out = Output(json=json)
    with opening() as parts:
        store = parts.store
        case = publish.dossier(store, proposal)
        before = _numbers(store)
        try:
            release = publish.adopt(
                case.draft.id,
                store=store,
                live=parts.live,
                place=parts.place,
                vet=parts.vet(),
                clock=parts.clock,
                actor=parts.actor,
                reason=as_utf8("--reason", reason),
            )
        except publish.StaleLiveFile as stale:
            again = "nightschool run", f"nightschool reject {case.draft.id} --reason WHY"
            return _stale(
                out, stale, "make a new proposal from the file as it is now, or reject this one", again
            )
        except NotAllowed as refused:
            raise _with_the_command(refused, adopting(case)) from refused
    following = f"nightschool undo {release.draft_id}"
    document = {"release": release, "written": release.number not in before, "next": [following]}
    if release.number in before:
        told = f"{release.draft_id} is published already as {release.number}; nothing was written"
    else:
        told = f"adopted {release.draft_id} as {release.number}: wrote {release.path}"
    return out.result(document, [told, f"next: {following}  (takes it back)"])


def reject(proposal: Name, *, reason: WhyNot, json: Json = False) -> ExitCode:
    """Turn a proposal down. Your reason is kept, and no file is touched.

    \b
    Example:
      nightschool reject d-1f2e3d4c5b --reason "true of one project only"
    """
    from nightschool.cli.opening import opening  # noqa: PLC0415 - help needs no store
    from nightschool.core.proposals import Status  # noqa: PLC0415
    from nightschool.stages import publish  # noqa: PLC0415

    reason = as_utf8("--reason", reason)
    if not reason.strip():
        raise UserError("--reason is empty: say in a few words why you turn it down")
    with opening() as parts:
        case = publish.dossier(parts.store, proposal)
        review = publish.reject(
            case.draft.id, store=parts.store, clock=parts.clock, actor=parts.actor, reason=reason
        )
    name = case.draft.id
    told = f"rejected {name}: {review.reason}"
    if case.status is Status.REJECTED:
        told = f"{name} was rejected already by {review.reviewer}, {review.at:%Y-%m-%d}: {review.reason}"
    return Output(json=json).result({"id": name, "review": review}, [told, "next: nightschool proposals"])


def undo(which: Which = None, *, json: Json = False) -> ExitCode:
    """Give a file the bytes and the mode back that it had before a proposal was adopted.

    Only if the file still is what was written then; else nothing is written and you see what changed.

    \b
    Example:
      nightschool undo
      nightschool undo d-1f2e3d4c5b
    """
    from nightschool.cli.dossiers import adopting  # noqa: PLC0415 - help needs no store
    from nightschool.cli.opening import opening  # noqa: PLC0415
    from nightschool.stages import publish  # noqa: PLC0415

    out = Output(json=json)
    with opening() as parts:
        before = _numbers(parts.store)
        try:
            release = publish.undo(
                which, store=parts.store, live=parts.live, clock=parts.clock, actor=parts.actor
            )
        except publish.StaleLiveFile as stale:
            again = f"nightschool undo {which}" if which else "nightschool undo"
            return _stale(out, stale, "take your later changes out of the file, then undo again", (again,))
        following = adopting(publish.dossier(parts.store, release.draft_id))
    written = release.number not in before
    told = [_restored(release)]
    if not written:
        told = [f"{release.undoes} was undone already as {release.number}; nothing was written"]
    document = {"release": release, "written": written, "next": [following]}
    return out.result(document, [*told, f"next: {following}  (adopts it again)"])


def _numbers(store: Store) -> set[str]:
    """The releases so far: an act that gives one of them has written nothing."""
    from nightschool.core.proposals import Release  # noqa: PLC0415

    return {release.number for release in store.find(Release)}


def _restored(release: Release) -> str:
    undone = f"undid {release.undoes} as {release.number}: {release.path}"
    if release.after is None:
        return f"{undone} is removed, since there was no such file before"
    mode = "" if release.after_mode is None else f" ({release.after_mode:04o})"
    return f"{undone} has the bytes and the mode{mode} back that it had before"


def _with_the_command(refused: NotAllowed, command: str) -> NotAllowed:
    """The same refusal; where a reason is all that it lacks, with what to type."""
    if [code for code, _ in refused.reasons] != ["waiver-missing"]:
        return refused
    ((code, text),) = refused.reasons
    return NotAllowed([(code, f"{text}. To take it all the same: {command}")])


def _stale(out: Output, stale: StaleLiveFile, way: str, commands: tuple[str, ...]) -> ExitCode:
    """What happened to the file, what would have been written, and how to go on. Nothing was written."""
    document = {
        "code": "stale-live-file",
        "text": str(stale),
        "path": stale.path,
        "diff": stale.diff,
        "next": list(commands),
    }
    if not out.json:
        out.note(Line(f"nightschool: {stale}", "red"), Diff(stale.diff), f"To go on, {way}:")
        out.note(*(f"  {command}" for command in commands))
    return out.result({"error": document}, code=ExitCode.NEEDS_PERSON)
