"""`nightschool releases`, `pin` and `unpin`: what became of a file, and whether it may change."""

from __future__ import annotations

import shlex
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nightschool.cli import links
from nightschool.cli.exits import ExitCode
from nightschool.cli.options import Json, as_utf8
from nightschool.cli.output import Output
from nightschool.cli.reading import root_of, typed
from nightschool.cli.render import Piece, Table
from nightschool.core.errors import Busy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nightschool.core.proposals import Release
    from nightschool.wiring import Parts

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
    from nightschool.stages.in_file import in_file  # noqa: PLC0415
    from nightschool.stages.pins import pinned  # noqa: PLC0415
    from nightschool.stages.releases import digest_of_file, published, recover, undo_of  # noqa: PLC0415

    with opening(forgiving=True) as parts:
        with suppress(Busy):  # whoever publishes now closes what a killed one left
            recover(parts.store, parts.live)
        known = parts.store.find(Release)
        real = None if which is None else parts.live.read(typed(which)).path
        wanted = [r for r in known if r.step is Step.DONE and (real is None or r.path == str(real))]
        kept = [r for r in published(wanted) if undo_of(r, known) is None]
        standing = [r.number for r in kept]
        now = {r.number: in_file(r, parts.store, parts.live).value for r in kept}
        back = _takes_back(kept, parts)
        state: dict[str, object] = {}
        if real is not None:
            last = wanted[-1] if wanted else None
            content = digest_of_file(parts.live.read(real).content)
            state = {
                "path": real,
                "as_last_written": None if last is None else last.after == content,
                "pinned": pinned(parts.store, real),
            }
        names = {r.number: links.written(r, parts) for r in wanted}
    document = {**state, "releases": wanted, "standing": standing, "by_hand": now}
    if not wanted:
        where = "" if real is None else f" into {real}"
        return Output(json=json).result(
            document, [f"nothing was adopted{where} yet", "next: nightschool proposals"]
        )
    told: list[Piece | str] = [_table(wanted, now, known, names), *_state(state)]
    following = [f"next: {way}" for way in back]
    return Output(json=json).result(document, [*told, *following])


NOW = {
    "as-written": "adopted, stands",
    "changed": "adopted, stands; the file was changed by hand since",
    "outdated": "adopted, stands",
    "replaced": "adopted, replaced by a later one",
    "partly": "adopted, a part of it changed or taken out by hand since",
    "reworded": "adopted, changed or taken out by hand since",
    "gone": "adopted, the file is gone since",
    "project-gone": "adopted, the project's folder is gone since",
    "unreadable": "adopted, the file cannot be read now",
}


def _takes_back(standing: Sequence[Release], parts: Parts) -> list[str]:
    """The undo of the newest that can still be taken out: of this project, before any other."""
    from nightschool.stages.in_file import is_of, takes_back  # noqa: PLC0415 - help needs no stage

    here = root_of(None)
    found = sorted(standing, key=lambda one: is_of(one.target, here))
    ways = (takes_back(release, parts.store, parts.live) for release in found[::-1])
    return [way for way in ways if way is not None][:1]


def _table(
    wanted: Sequence[Release], now: Mapping[str, str], known: Sequence[Release], names: Mapping[str, str]
) -> Table:
    rows = [
        (
            r.number,
            f"{r.at:{TIME}}",
            r.actor,
            _what(r, now, known),
            r.draft_id,
            r.reason or None,
            names[r.number],
        )
        for r in wanted
    ]
    return Table(columns=("release", "when", "who", "what", "proposal", "reason", "file"), rows=rows)


def _what(release: Release, now: Mapping[str, str], known: Sequence[Release]) -> str:
    from nightschool.stages.releases import kept_later  # noqa: PLC0415 - help needs no stage

    if release.undoes is not None:
        return f"undid {release.undoes}" + (", kept what came later" if kept_later(release, known) else "")
    return NOW[now[release.number]] if release.number in now else "adopted, undone since"


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
    told = [f"pinned {links.named(typed(which))}: nothing is proposed for it or adopted into it"]
    if not Path(said.path).exists():
        told.append(f"there is no such file now: look whether {said.path} is the one that you mean")
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
    told = f"{path} was not pinned" if said is None else f"unpinned {links.named(path)}"
    return Output(json=json).result({"pin": said}, [told])
