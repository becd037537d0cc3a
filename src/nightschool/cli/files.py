"""`nightschool releases`, `pin` and `unpin`: what became of a file, and whether it may change."""

from __future__ import annotations

import shlex
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nightschool.cli.exits import ExitCode
from nightschool.cli.options import Json, as_utf8
from nightschool.cli.output import Output
from nightschool.cli.reading import typed
from nightschool.cli.render import Piece, Table
from nightschool.core.errors import Busy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nightschool.core.proposals import Release

Which = Annotated[
    Path | None, typer.Argument(metavar="FILE", help="A file that agents read; without it, all of them.")
]
Pinned = Annotated[
    Path | None, typer.Argument(metavar="FILE", help="The file to pin; without it, those that are pinned.")
]
Unpinned = Annotated[Path, typer.Argument(metavar="FILE", help="The file that may change again.")]
Reason = Annotated[str, typer.Option(metavar="TEXT", help="Why; told wherever the pin keeps something back.")]
TIME = "%Y-%m-%d %H:%M"


def releases(which: Which = None, *, json: Json = False) -> ExitCode:
    """List what was adopted into a file and undone again, and whether it was changed by hand since.

    \b
    Example:
      nightschool releases
      nightschool releases CLAUDE.md
    """
    from nightschool.cli.opening import opening  # noqa: PLC0415 - help needs no store
    from nightschool.core.proposals import Release, Step  # noqa: PLC0415
    from nightschool.stages.pins import pinned  # noqa: PLC0415
    from nightschool.stages.releases import digest_of_file, published, recover, undo_of  # noqa: PLC0415

    with opening(forgiving=True) as parts:
        with suppress(Busy):  # whoever publishes now closes what a killed one left
            recover(parts.store, parts.live)
        known = parts.store.find(Release)
        real = None if which is None else parts.live.read(typed(which)).path
        wanted = [r for r in known if r.step is Step.DONE and (real is None or r.path == str(real))]
        standing = [r.number for r in published(wanted) if undo_of(r, known) is None]
        state: dict[str, object] = {}
        if real is not None:
            last = wanted[-1] if wanted else None
            now = digest_of_file(parts.live.read(real).content)
            state = {
                "path": real,
                "as_last_written": None if last is None else last.after == now,
                "pinned": pinned(parts.store, real),
            }
    document = {**state, "releases": wanted, "standing": standing}
    if not wanted:
        where = "" if real is None else f" into {real}"
        return Output(json=json).result(
            document, [f"nothing was adopted{where} yet", "next: nightschool proposals"]
        )
    told: list[Piece | str] = [_table(wanted, standing, known), *_state(state)]
    following = [f"next: nightschool undo {standing[-1]}"] if standing else []
    return Output(json=json).result(document, [*told, *following])


def _table(wanted: Sequence[Release], standing: Sequence[str], known: Sequence[Release]) -> Table:
    rows = [
        (r.number, f"{r.at:{TIME}}", r.actor, _what(r, standing, known), r.draft_id, r.reason or None, r.path)
        for r in wanted
    ]
    return Table(columns=("release", "when", "who", "what", "proposal", "reason", "file"), rows=rows)


def _what(release: Release, standing: Sequence[str], known: Sequence[Release]) -> str:
    from nightschool.stages.releases import kept_later  # noqa: PLC0415 - help needs no stage

    if release.undoes is not None:
        return f"undid {release.undoes}" + (", kept what came later" if kept_later(release, known) else "")
    return "adopted, stands" if release.number in standing else "adopted, undone since"


def _state(state: dict[str, object]) -> list[str]:
    if not state:
        return []
    as_written = (
        "as the last of them left it" if state["as_last_written"] else "changed by hand since the last"
    )
    return [f"the file is {as_written}", *(["it is pinned"] if state["pinned"] else [])]


def pin(which: Pinned = None, *, reason: Reason = "", json: Json = False) -> ExitCode:
    """Pin a file: nothing is proposed for it and nothing adopted into it until you unpin it.

    What was adopted before can still be undone.

    \b
    Example:
      nightschool pin CLAUDE.md --reason "the team's, changed by review only"
      nightschool pin
    """
    from nightschool.cli.opening import opening  # noqa: PLC0415 - help needs no store
    from nightschool.stages import pins  # noqa: PLC0415

    with opening() as parts:
        if which is None:
            known = pins.pins(parts.store)
            rows = [(one.path, f"{one.at:{TIME}}", one.actor, one.reason or None) for one in known]
            table = Table(columns=("file", "since", "who", "reason"), rows=rows)
            return Output(json=json).result({"pins": known}, [table] if rows else ["no file is pinned"])
        said = pins.pin(
            typed(which),
            store=parts.store,
            live=parts.live,
            clock=parts.clock,
            redact=parts.redact,
            actor=parts.actor,
            reason=as_utf8("--reason", reason),
        )
    told = [f"pinned {said.path}: nothing is proposed for it or adopted into it"]
    following = f"nightschool unpin {shlex.quote(said.path)}"
    return Output(json=json).result(
        {"pin": said, "next": [following]}, [*told, f"next: {following}  (lets it change)"]
    )


def unpin(which: Unpinned, *, json: Json = False) -> ExitCode:
    """Let a pinned file be changed again.

    \b
    Example:
      nightschool unpin CLAUDE.md
    """
    from nightschool.cli.opening import opening  # noqa: PLC0415 - help needs no store
    from nightschool.stages import pins  # noqa: PLC0415

    path = typed(which)
    with opening() as parts:
        said = pins.unpin(path, store=parts.store, live=parts.live, clock=parts.clock, actor=parts.actor)
    told = f"{path} was not pinned" if said is None else f"unpinned {said.path}"
    return Output(json=json).result({"pin": said}, [told])
