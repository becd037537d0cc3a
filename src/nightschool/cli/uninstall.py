"""`nightschool uninstall`: everything of ours goes, but the program itself."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nightschool.cli.exits import ExitCode
from nightschool.cli.opening import DATABASE
from nightschool.cli.options import Json
from nightschool.cli.output import Output
from nightschool.cli.reading import settings_here
from nightschool.cli.render import Line, Piece, Table
from nightschool.cli.scheduled import known_look, look_line, scheduling_here
from nightschool.core.errors import Conflict, NotAllowed, UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nightschool.core.proposals import Release
    from nightschool.core.values import Digest
    from nightschool.settings import Settings
    from nightschool.wiring import Parts

DryRun = Annotated[bool, typer.Option("--dry-run", help="Tell what there is, and change nothing.")]
KeepRules = Annotated[
    bool, typer.Option("--keep-rules", help="Leave the rules that you adopted in their files.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
UNTOUCHED = (
    "Not touched: your agents, their sessions and settings, and the .nightschool.toml of projects. "
    "The program goes the way it came: `uv tool uninstall nightschool`, `pipx uninstall nightschool`, or "
    "`rm ~/.local/bin/nightschool` and the folder that you cloned, where that is a link into its .venv."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rules:
    """A live file that holds rules of ours."""

    path: Path
    ours: frozenset[str]
    """All that was ever adopted into it, in its words."""
    number: int
    """Of these that stand in the block."""
    theirs: tuple[str, ...] = ()
    """What else reads as a rule in the block: a person wrote it, or changed its words."""


def uninstall(
    *, dry_run: DryRun = False, keep_rules: KeepRules = False, yes: Yes = False, json: Json = False
) -> ExitCode:
    """Remove what nightschool keeps: sessions, tasks, reports, settings, and its rules in your files.

    Tells first what there is, and asks. A file with adopted rules gets its old bytes back; where you changed
    it since, the rules go that read as they were adopted, and what you wrote or changed stays. Your agents
    and their sessions are not touched. Your settings go too, the ignore list in them.

    \b
    Example:
      nightschool uninstall --dry-run
      nightschool uninstall --keep-rules
    """
    from nightschool.settings import CONFIG_VARIABLE, config_path  # noqa: PLC0415 - help needs no settings
    from nightschool.wiring import own_files, variables_file  # noqa: PLC0415

    out = Output(json=json)
    settings = settings_here(forgiving=True)
    files = own_files(settings.home)
    named = os.environ.get(CONFIG_VARIABLE)
    config = Path(named).expanduser() if named else config_path()
    variables, scheduled = variables_file(), known_look(settings)
    with ExitStack() as stack:
        parts = _opened(settings, stack, out)
        rules = [] if parts is None else _rules(parts)
        document = {
            "home": settings.home,
            "holds": files.survey(),
            "config": config if os.path.lexists(config) else None,
            "variables": variables if os.path.lexists(variables) else None,
            "schedule": None if scheduled is None else look_line(scheduled),
            "rules": [{"path": found.path, "rules": found.number, "yours": found.theirs} for found in rules],
            "keep_rules": keep_rules,
        }
        told = _told(document, rules, keep_rules=keep_rules)
        if dry_run:
            return out.result({**document, "done": False}, [*told, "nothing was changed"])
        if not yes:
            out.note(*told)
            out.confirm("Remove all of this?", otherwise="pass --yes to remove it without being asked.")
        left_in: list[str] = []
        rewrote: list[Path] = []
        removed = [settings.home / name for name in files.survey()]
        removed += [path for path in (variables, config) if os.path.lexists(path)]
        if scheduled is not None:
            scheduling_here(settings).remove()  # first: nothing may start meanwhile
        if parts is not None:
            before = {found.path: _bytes(parts, found.path) for found in rules}
            stack.enter_context(parts.store.hold("cycle"))
            stack.enter_context(parts.store.hold("harvest"))
            left_in = [] if keep_rules else _take_out(parts, rules)
            stack.enter_context(parts.store.hold("publish"))
            rewrote = [path for path, content in before.items() if _bytes(parts, path) != content]
        foreign = files.remove()
        # Last: it says where the home is, should this be broken off.
        _unset(variables, config)
    document |= {"removed": removed, "rewrote": rewrote, "left_in_files": left_in, "left": foreign}
    return out.result({**document, "done": True}, _done(settings.home, removed, rewrote, left_in, foreign))


def _unset(*files: Path) -> None:
    """Remove files of settings, and the folder of the last if nothing else lies in it."""
    for path in files:
        path.unlink(missing_ok=True)
    folder = files[-1].parent
    if folder.name == "nightschool" and folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def _done(
    home: Path,
    removed: Sequence[Path],
    rewrote: Sequence[Path],
    left_in: Sequence[str],
    foreign: Sequence[str],
) -> list[Piece | str]:
    pieces: list[Piece | str] = [f"removed {path}" for path in removed]
    pieces += [
        f"took our rules out of {path}" if path.exists() else f"removed {path}, since it held nothing else"
        for path in rewrote
    ]
    if not pieces:
        pieces.append("there was nothing to remove")
    pieces += [Line(text, "yellow") for text in left_in]
    if foreign:
        pieces.append(f"left in {home}, since it is not ours: {', '.join(foreign)}")
    return [*pieces, Line(UNTOUCHED, "dim")]


def _bytes(parts: Parts, path: Path) -> bytes | None:
    """What a file holds; None where there is none, or it cannot be read."""
    try:
        return parts.live.read(path).content
    except UserError:
        return None


def _opened(settings: Settings, stack: ExitStack, out: Output) -> Parts | None:
    """The store where there is one that can be opened: none is made to be removed."""
    from nightschool.wiring import opened  # noqa: PLC0415 - help needs no store

    if not (settings.home / DATABASE).is_file():
        return None
    parts = opened(settings, environment=dict(os.environ), person_home=Path.home())
    try:
        return stack.enter_context(parts)
    except UserError as error:
        out.note(Line(f"{error}. So it is not known which files hold rules of ours", "yellow"))
        return None


def _rules(parts: Parts) -> list[_Rules]:
    """The live files that were written and still hold a block."""
    from nightschool.core.proposals import Release, Step  # noqa: PLC0415
    from nightschool.rules.memory_block import is_among, parse  # noqa: PLC0415

    written = {release.path for release in parts.store.find(Release) if release.step is not Step.ABANDONED}
    found = []
    for path in sorted(written):
        ours = _ours(parts, path)
        try:
            live = parts.live.read(Path(path))
            block = parse(live.content, where=path)
        except UserError:  # unreadable or damaged: it is named, and told again where it cannot be mended
            found.append(_Rules(path=Path(path), ours=ours, number=1))
            continue
        theirs = tuple(rule for rule in block.rules if not is_among(rule, ours))
        if block.begin is not None:
            number = len(block.rules) - len(theirs)
            found.append(_Rules(path=Path(path), ours=ours, number=number, theirs=theirs))
    return found


def _ours(parts: Parts, path: str) -> frozenset[str]:
    """What adopting ever wrote into a file's block. One that was undone may be back, by git."""
    from nightschool.core.proposals import Release, Step  # noqa: PLC0415 - help needs no store
    from nightschool.rules.memory_block import parse  # noqa: PLC0415

    def rules(digest: Digest | None) -> set[str]:
        return set() if digest is None else {*parse(parts.store.blob(digest), where=path).rules}

    adopted = [
        release
        for release in parts.store.find(Release)
        if release.path == path and release.undoes is None and release.step is not Step.ABANDONED
    ]
    return frozenset(rule for one in adopted for rule in rules(one.after) - rules(one.before))


def _take_out(parts: Parts, rules: Sequence[_Rules]) -> list[str]:
    """Take our rules out of the files; where that cannot be, say so."""
    from nightschool.core.proposals import Release, Step  # noqa: PLC0415
    from nightschool.rules.memory_block import without_ours  # noqa: PLC0415

    paths = {str(found.path) for found in rules}
    releases = parts.store.find(Release)
    made = {release.path for release in releases if release.before is None}
    undone = {release.undoes for release in releases if release.step is Step.DONE}
    standing = [
        release
        for release in releases
        if release.step is Step.DONE
        and release.undoes is None
        and release.number not in undone
        and release.path in paths
    ]
    for release in reversed(standing):
        _undo(parts, release)
    left = []
    for found in rules:
        try:
            live = parts.live.read(found.path)
            if live.content is not None:
                rest = without_ours(live.content, found.ours, where=str(found.path))
                kept = rest if rest or str(found.path) not in made else None
                parts.live.swap(found.path, expected=live.content, content=kept, mode=live.mode)
        except (UserError, Conflict) as error:
            left.append(f"{error}; its marked block is left to you")
        else:
            left += [f"left in {found.path}, since you wrote or changed it: {rule}" for rule in found.theirs]
    return left


def _undo(parts: Parts, release: Release) -> None:
    """The very bytes of before, where the file is still what was written; else its edits alone go, and words
    that they had replaced come back."""
    from contextlib import suppress  # noqa: PLC0415

    from nightschool.stages.undo import undo  # noqa: PLC0415

    for keep_later in (False, True):
        with suppress(NotAllowed, Conflict, UserError):
            undo(
                release.number,
                store=parts.store,
                live=parts.live,
                clock=parts.clock,
                actor=parts.actor,
                keep_later=keep_later,
            )


def _told(document: dict[str, object], rules: Sequence[_Rules], *, keep_rules: bool) -> list[Piece | str]:
    holds = document["holds"]
    rows = [(name, size) for name, size in holds.items()] if isinstance(holds, dict) else []
    pieces: list[Piece | str] = [f"home: {document['home']}"]
    if rows:
        pieces.append(Table(columns=("holds", "bytes"), rows=rows))
    else:
        pieces.append("nothing of ours is in it")
    if document["config"]:
        pieces.append(f"settings: {document['config']}; it goes too, with the ignore list in it")
    else:
        pieces.append("settings: no file of yours")
    if document["variables"]:
        pieces.append(f"variables of scheduled runs: {document['variables']}")
    if document["schedule"]:
        pieces.append(f"schedule: {document['schedule']}")
    what = "stay" if keep_rules else "are taken out"
    pieces += [f"adopted rules in {found.path}: {found.number}, they {what}" for found in rules]
    pieces += [
        f"yours in its block, so it stays: {rule}"
        for found in rules
        for rule in found.theirs
        if not keep_rules
    ]
    return pieces
