"""`nightschool adopt`, `rebase`, `reject` and `undo`: the person's word. No other writes a live file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from nightschool.cli import links
from nightschool.cli.exits import ExitCode
from nightschool.cli.options import Json, as_utf8
from nightschool.cli.output import Output
from nightschool.cli.proposals import Name
from nightschool.cli.reading import root_of
from nightschool.cli.render import Diff, Line
from nightschool.core.errors import NotAllowed, UserError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nightschool.core.ports import Store
    from nightschool.core.proposals import Dossier, Draft, Release
    from nightschool.stages.releases import StaleLiveFile
    from nightschool.wiring import Parts

Reason = Annotated[str, typer.Option(metavar="TEXT", help="Why; a suggestion is adopted only with it.")]
WhyNot = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why you turn it down; kept with it.")]
TakeBack = Annotated[bool, typer.Option("--take-back", help="Take that word back: decide it anew.")]
Some = Annotated[
    str, typer.Option("--edit", metavar="N[,N]", help="Take only these edits, by the numbers of `show`.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask where others have to be examined again.")]
KeepLater = Annotated[
    bool,
    typer.Option("--keep-later", help="Take its edits alone out, and keep what came later."),
]
Which = Annotated[
    str | None,
    typer.Argument(metavar="ID", help="Proposal or release (r-0001); without it, what was adopted last."),
]


def adopt(
    proposal: Name, *, reason: Reason = "", edit: Some = "", yes: Yes = False, json: Json = False
) -> ExitCode:
    """Write a proposal into the file that your agent reads.

    Only if that file is still the one that the proposal was made from; else nothing is written, you see
    what changed, and `nightschool rebase` makes the edits anew. `nightschool undo` takes it back.

    With --edit a new proposal is made of those edits alone. The gate has not seen it: it is a suggestion,
    adopted only with a reason.

    Where the gate accepted other proposals for the same file you are asked first: each was examined without
    this edit, so each has to be made anew and examined again.

    \b
    Example:
      nightschool adopt d-1f2e3d4c5b
      nightschool adopt d-1f2e3d4c5b --reason "it is what I always say"
      nightschool adopt d-1f2e3d4c5b --edit 1,3 --reason "the second is too much"
    """
    from nightschool.cli.beforehand import made_stale  # noqa: PLC0415 - help needs no store
    from nightschool.cli.dossiers import adopting  # noqa: PLC0415
    from nightschool.cli.opening import opening  # noqa: PLC0415
    from nightschool.stages import publish  # noqa: PLC0415
    from nightschool.stages.releases import StaleLiveFile, dossier  # noqa: PLC0415

    out, numbers = Output(json=json), _chosen(edit)
    with opening() as parts:
        store = parts.store
        name = dossier(store, proposal).draft.id
        before = _numbers(store)
        try:
            if numbers:
                name = _remade(name, parts, numbers).id
            reason = parts.redact(as_utf8("--reason", reason))
            know = _asked_first(name, reason, parts, out, yes=yes)
            release = publish.adopt(
                name,
                store=store,
                live=parts.live,
                place=parts.place,
                vet=parts.vet(),
                clock=parts.clock,
                actor=parts.actor,
                reason=reason,
            )
        except StaleLiveFile as stale:
            return _outdated(out, stale, stale.diff(parts.redact), dossier(store, name))
        except NotAllowed as refused:
            raise _with_the_command(refused, adopting(dossier(store, name))) from refused
        written = release.number not in before
        others = _others(made_stale(release, parts) if written else [], parts)
        path = links.written(release, parts)
    return _adopted(out, release, path, know, others, written=written)


def _adopted(
    out: Output, release: Release, path: str, know: Sequence[str], others: Mapping[str, str], *, written: bool
) -> ExitCode:
    following = f"nightschool undo {release.draft_id}"
    document = {
        "release": release,
        "written": written,
        "to_know": know,
        "made_stale": list(others),
        "next": [following, *others.values()],
    }
    if written:
        reach = "" if release.target.project else ", which your agent reads in all your work"
        told = f"adopted {release.draft_id} as {release.number}: wrote {path}{reach}"
    else:
        told = f"{release.draft_id} is published already as {release.number}; nothing was written"
    return out.result(document, [told, *_stale_now(others), f"next: {following}  (takes it back)"])


def _asked_first(name: str, reason: str, parts: Parts, out: Output, *, yes: bool) -> list[str]:
    """What adopting it brings along, told where nothing else speaks against it; asked where certificates
    would be lost."""
    from nightschool.cli import beforehand  # noqa: PLC0415 - help needs no store
    from nightschool.stages import publish  # noqa: PLC0415
    from nightschool.stages.releases import dossier  # noqa: PLC0415

    case = dossier(parts.store, name)
    know = beforehand.to_know(case, parts)
    if not know or publish.objections(
        name,
        store=parts.store,
        live=parts.live,
        place=parts.place,
        vet=parts.vet(),
        actor=parts.actor,
        reason=reason,
    ):
        return []
    out.note(*(Line(line, "yellow") for line in know))
    others = [other.draft.id for other in beforehand.losing(case, parts)]
    away = beforehand.leading_out(case, parts)
    if not yes and (others or away):
        asked = [f"have {', '.join(others)} examined again"] if others else []
        asked += [f"write to {away}, outside of the project"] if away else []
        out.confirm(
            f"Adopt {name}, and {' and '.join(asked)}?", otherwise="pass --yes to adopt without being asked."
        )
    return know


def rebase(proposal: Name, *, json: Json = False) -> ExitCode:
    """Make a proposal anew on a file that was changed since.

    Its edits are made again on the file as it is now; what you wrote outside of them stays. Where an edit has
    lost its place you see the file as it was, as it is and as proposed, and nothing is made. What comes out
    is a new proposal: the gate has not seen it, so it is a suggestion until `nightschool run` has examined
    it. The old one stays, for the case that the file becomes again what it was. What you took back is taken
    up again by it, and examined by a run like any other.

    \b
    Example:
      nightschool rebase d-1f2e3d4c5b
    """
    from nightschool.cli.difference import difference  # noqa: PLC0415 - help needs no store
    from nightschool.cli.dossiers import following  # noqa: PLC0415
    from nightschool.cli.opening import opening  # noqa: PLC0415
    from nightschool.stages.rebase import reopen  # noqa: PLC0415
    from nightschool.stages.releases import StaleLiveFile, dossier  # noqa: PLC0415

    out = Output(json=json)
    with opening() as parts:
        old = dossier(parts.store, proposal).draft
        try:
            made = _remade(old.id, parts)
            again = reopen(made.id, store=parts.store, clock=parts.clock, actor=parts.actor)
        except StaleLiveFile as stale:
            return _outdated(out, stale, stale.diff(parts.redact), dossier(parts.store, old.id))
        case, diff = dossier(parts.store, made.id), difference(made, parts)
        commands = [following(case, parts)[0], f"nightschool show {made.id} --diff"]
    document = {
        "id": made.id,
        "made_from": made.made_from,
        "status": case.status,
        "diff": diff,
        "next": commands,
    }
    if made.id == old.id:
        status = "a suggestion" if case.status == "suggestion" else case.status
        what = f"; you took it back, and it is {status} again{_examined(case)}" if again else ""
        return out.result(document, [f"{old.id} fits the file as it is{what}", f"next: {commands[0]}"])
    told = f"made {made.id} of {old.id}: {case.status}{_examined(case)}"
    return out.result(document, [told, Diff(diff), f"next: {commands[0]}"])


def _examined(case: Dossier) -> str:
    """What is to be known of a remade proposal without a verdict. The same may have been made before."""
    from nightschool.core.proposals import Status  # noqa: PLC0415 - help needs no store

    if case.verdicts:
        return ""
    match case.status:
        case Status.SUGGESTED:
            return ". The gate has not seen it: `nightschool run` examines it"
        case Status.REJECTED:
            return f": {case.reviews[-1].reason}. It was made before, and you turned it down"
    return ". It was made before; the gate has not seen it"


def _others(cases: Sequence[Dossier], parts: Parts) -> dict[str, str]:
    """Proposals with the command that leads on from each."""
    from nightschool.cli.dossiers import onward  # noqa: PLC0415 - help needs no store

    return {case.draft.id: onward(case, parts) for case in cases}


def _stale_now(others: Mapping[str, str]) -> list[str]:
    return [
        f"{name}, made from the file as it was before, is stale now: {way}" for name, way in others.items()
    ]


def _chosen(numbers: str) -> tuple[int, ...]:
    """The numbers of --edit, in any order, each once."""
    parts = [part.strip() for part in numbers.split(",")] if numbers else []
    if not all(part.isascii() and part.isdecimal() for part in parts):
        raise UserError(f"--edit {numbers}: numbers of edits with commas between them, such as 1,3")
    return tuple(sorted({int(part) for part in parts}))


def _remade(name: str, parts: Parts, edits: Sequence[int] = ()) -> Draft:
    from nightschool.stages.rebase import let_go_of, remake  # noqa: PLC0415 - help needs no store

    let_go_of(name, store=parts.store, live=parts.live, clock=parts.clock, actor=parts.actor)
    return remake(
        name,
        store=parts.store,
        live=parts.live,
        place=parts.place,
        harness=parts.harness,
        vet=parts.vet(),
        clock=parts.clock,
        edits=edits,
    )


def reject(
    proposal: Name, *, reason: WhyNot = "", take_back: TakeBack = False, json: Json = False
) -> ExitCode:
    """Turn a proposal down. Your reason is kept, and no file is touched.

    It can't be adopted then, and the same edit is not proposed for this file again, until you take that word
    back with --take-back: it stands then as its exam left it.

    \b
    Example:
      nightschool reject d-1f2e3d4c5b --reason "true of one project only"
      nightschool reject d-1f2e3d4c5b --take-back
    """
    from nightschool.cli.opening import opening  # noqa: PLC0415 - help needs no store
    from nightschool.core.proposals import Status  # noqa: PLC0415
    from nightschool.stages import publish  # noqa: PLC0415
    from nightschool.stages.releases import dossier  # noqa: PLC0415

    reason = as_utf8("--reason", reason)
    if take_back and reason:
        raise UserError("--take-back turns nothing down, so it takes no --reason")
    if not reason.strip() and not take_back:
        raise UserError("--reason is missing or empty: say in a few words why you turn it down")
    with opening() as parts:
        case = dossier(parts.store, proposal)
        if take_back:
            return _taken_up(case, parts, Output(json=json))
        review = publish.reject(
            case.draft.id,
            store=parts.store,
            clock=parts.clock,
            actor=parts.actor,
            reason=parts.redact(reason),
        )
    name = case.draft.id
    told = f"rejected {name}: {review.reason}"
    if case.status is Status.REJECTED:
        told = f"{name} was rejected already by {review.reviewer}, {review.at:%Y-%m-%d}: {review.reason}"
    way = f"the same edit is not proposed for this file again, until: nightschool reject {name} --take-back"
    document = {"id": name, "review": review}
    return Output(json=json).result(document, [told, way, "next: nightschool proposals"])


def _taken_up(case: Dossier, parts: Parts, out: Output) -> ExitCode:
    """A word that turned it down, taken back."""
    from nightschool.cli.dossiers import following  # noqa: PLC0415 - help needs no store
    from nightschool.core.proposals import Status  # noqa: PLC0415
    from nightschool.stages.rebase import reopen  # noqa: PLC0415
    from nightschool.stages.releases import dossier  # noqa: PLC0415

    name = case.draft.id
    was = reopen(name, store=parts.store, clock=parts.clock, actor=parts.actor, was=Status.REJECTED)
    now = dossier(parts.store, name)
    command = following(now, parts)[0]
    told = f"{name} is {now.status} again" if was else f"{name} was not turned down: it is {now.status}"
    return out.result({"id": name, "status": now.status, "next": [command]}, [told, f"next: {command}"])


def undo(which: Which = None, *, keep_later: KeepLater = False, json: Json = False) -> ExitCode:
    """Give a file the bytes and the mode back that it had before a proposal was adopted.

    Without an id it is the newest that stands, of the project that you stand in and of your own files.
    Only if the file still is what was written then; else nothing is written and you see what changed. Where
    you took it out already, or changed its words, that is written down and the file stays as it is.

    With --keep-later what came after stays, your own edits too: the edits of this one are taken out of the
    file as it is, but for rules whose words you changed, which are yours. It is refused where a later change
    built upon them. Where you edited outside of the marked block alone, the block gets its old bytes back.

    \b
    Example:
      nightschool undo
      nightschool undo d-1f2e3d4c5b
      nightschool undo r-0001 --keep-later
    """
    from nightschool.cli.beforehand import made_stale  # noqa: PLC0415 - help needs no store
    from nightschool.cli.dossiers import adopting, onward  # noqa: PLC0415
    from nightschool.cli.opening import opening  # noqa: PLC0415
    from nightschool.core.proposals import Release  # noqa: PLC0415
    from nightschool.stages import releases  # noqa: PLC0415
    from nightschool.stages.undo import undo as take_back  # noqa: PLC0415

    out = Output(json=json)
    with opening(own=True) as parts:
        before = _numbers(parts.store)
        try:
            release = take_back(
                which,
                store=parts.store,
                live=parts.live,
                clock=parts.clock,
                actor=parts.actor,
                keep_later=keep_later,
                project=root_of(None),
            )
        except releases.StaleLiveFile as stale:
            return _stale(out, stale, stale.diff(parts.redact), *_ways_back(stale, which))
        written = release.number not in before
        case = releases.dossier(parts.store, release.draft_id)
        following = onward(case, parts)
        others = _others(made_stale(release, parts) if written else [], parts)
        kept = releases.kept_later(release, parts.store.find(Release))
        told = [*_restored(release, links.written(release, parts), parts, kept=kept)]
    if not written:
        told = [f"{release.undoes} was undone already as {release.number}; nothing was written"]
    document = {
        "release": release,
        "written": written,
        "kept_later": kept,
        "made_stale": list(others),
        "next": [following, *others.values()],
    }
    onto = f"next: {following}  (adopts it again)"
    if following != adopting(case):
        onto = f"next: nightschool proposals  (to have it again on the file as it is: {following})"
    return out.result(document, [*told, *_stale_now(others), onto])


def _ways_back(stale: StaleLiveFile, which: str | None) -> tuple[str, tuple[str, ...]]:
    """How a file that was edited since gets rid of what was adopted: in words, and to type."""
    again = f"nightschool undo {which}" if which else "nightschool undo"
    if stale.reasons:
        way = (
            "change or delete in the file what was changed by hand there, since it is yours now; or put the "
            "adopted words back and undo again"
        )
        return way, (again,)
    keeping = f"{again} --keep-later"
    if stale.outside:
        way = "the marked block is as it was written: put its old bytes back and leave the rest as it is"
        return way, (keeping,)
    return "take its edits alone out and leave the rest as it is", (keeping,)


def _numbers(store: Store) -> set[str]:
    """The releases so far: an act that gives one of them has written nothing."""
    from nightschool.core.proposals import Release  # noqa: PLC0415

    return {release.number for release in store.find(Release)}


def _restored(release: Release, path: str, parts: Parts, *, kept: bool) -> list[str]:
    from nightschool.stages.in_file import hands  # noqa: PLC0415 - help needs no stage

    undone = f"undid {release.undoes} as {release.number}: {path}"
    changed = [
        f"yours, since it was changed or taken out by hand: {text}" for text in hands(release, parts.store)
    ]
    if release.before == release.after:
        return [f"undid {release.undoes} as {release.number}: nothing of it was left in {path}", *changed]
    if kept and release.after is not None:
        without = "is without these edits; it keeps what came later, so it has not its old bytes back"
        return [f"{undone} {without}", *changed]
    if release.after is None:
        return [f"{undone} is removed, since there was no such file before"]
    mode = "" if release.after_mode is None else f" ({release.after_mode:04o})"
    return [f"{undone} has the bytes and the mode{mode} back that it had before"]


def _with_the_command(refused: NotAllowed, command: str) -> NotAllowed:
    """The same refusal; where a reason is all that it lacks, with what to type."""
    if [code for code, _ in refused.reasons] != ["waiver-missing"]:
        return refused
    ((code, text),) = refused.reasons
    return NotAllowed([(code, f"{text}. To take it all the same: {command}")])


def _outdated(out: Output, stale: StaleLiveFile, diff: str, case: Dossier) -> ExitCode:
    """A proposal whose file was changed since: to be made anew where its edits still have their places."""
    from nightschool.cli.dossiers import run_again  # noqa: PLC0415 - help needs no store

    name = case.draft.id
    reject = f"nightschool reject {name} --reason WHY"
    if stale.reasons:
        way = "have a new proposal made from the file as it is now, or reject this one"
        return _stale(out, stale, diff, way, (run_again(case), reject))
    way = "make its edits anew on the file as it is now, or reject it"
    return _stale(out, stale, diff, way, (f"nightschool rebase {name}", reject))


def _stale(out: Output, stale: StaleLiveFile, diff: str, way: str, commands: tuple[str, ...]) -> ExitCode:
    """What happened to the file, what would have been written, and how to go on. Nothing was written."""
    document = {
        "code": "stale-live-file",
        "text": str(stale),
        "path": stale.path,
        "diff": diff,
        "base": _text(stale.base),
        "live": _text(stale.live),
        "proposed": _text(stale.proposed),
        "reasons": [{"code": code, "text": text} for code, text in stale.reasons],
        "next": list(commands),
    }
    if not out.json:
        out.note(Line(f"nightschool: {stale}", "red"), Diff(diff))
        out.note(*(text for _, text in stale.reasons), f"To go on, {way}:")
        out.note(*(f"  {command}" for command in commands))
    return out.result({"error": document}, code=ExitCode.NEEDS_PERSON)


def _text(content: bytes | None) -> str | None:
    return None if content is None else content.decode("utf-8", "replace")
