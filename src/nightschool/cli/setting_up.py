"""Which set-up commands a run may use. One that came with a project is read by a person before it runs."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nightschool.cli.opening import write_private
from nightschool.core.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nightschool.cli.output import Output
    from nightschool.cli.render import Piece
    from nightschool.core.jobs import Provision
    from nightschool.core.tasks import Task
    from nightschool.settings import Origin
    from nightschool.wiring import Parts

FOLDER = "agreed"
"""In our home: one file for each text that a person agreed to."""

AgreeSetup = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ID",
        help="Agree to the set-up command of a project that has this ID (it is told).",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """A command that came with a project and that nobody agreed to yet."""

    provision: Provision
    origin: Origin

    @property
    def id(self) -> str:
        return _id(self.provision)

    def told(self) -> str:
        return f"{_text(self.provision, f'{self.origin} asks to run this')}\n  (its ID: {self.id})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the workspaces of a run are given."""

    provisions: dict[str, Provision]
    """By project, and by folder with settings of its own."""
    brought: tuple[Brought, ...]

    def told(self) -> list[str]:
        """The commands of a plan, each with what it may reach."""
        new = {one.id: one for one in self.brought}
        return [
            _text(one, f"set-up of {name}") + _not_agreed(new.get(_id(one)))
            for name, one in self.provisions.items()
            if one.setup is not None
        ]


def wanted(parts: Parts, tasks: Iterable[Task]) -> Wanted:
    """What the settings of the tasks' projects and folders say."""
    from nightschool.core.jobs import provided  # noqa: PLC0415 - help needs no tasks
    from nightschool.core.tasks import GitSource  # noqa: PLC0415
    from nightschool.project_settings import speaking  # noqa: PLC0415

    folders: dict[str, set[str]] = {}
    for task in tasks:
        if isinstance(task.workspace, GitSource):
            folders.setdefault(task.project, set()).add(task.folder)
    found: dict[str, Provision] = {}
    brought: dict[str, Brought] = {}
    for project in sorted(folders):
        for folder in speaking(project, folders[project]):
            provision, origin = parts.provision(project, folder)
            if provision == provided(found, project, folder)[1]:
                continue  # as above it, or nothing at all
            if provision.setup is not None and origin.place == "project":
                one = Brought(provision=provision, origin=origin)
                if not _place(parts, one.id).exists():
                    brought.setdefault(one.id, one)
            found[f"{project}/{folder}".rstrip("/")] = provision
    return Wanted(provisions=found, brought=tuple(brought.values()))


def consent(
    parts: Parts,
    found: Wanted,
    out: Output,
    *,
    plan: Sequence[Piece | str] | None,
    agreed: Sequence[str],
) -> None:
    """Show the plan and ask once, about the start and about each command that a project brought. Without a
    plan the start was agreed to before (`--yes`, earlier runs): that covers no command which nobody read."""
    left = _named(parts, found.brought, agreed)
    if plan is not None:
        out.note(*plan, *found.told())
        start = "pass --yes to start without being asked"
        out.confirm(
            "Start, and run the set-up too?" if left else "Start?",
            otherwise=f"{start}; for the set-up {_way(left)}" if left else start,
        )
    elif left:
        out.note(*(one.told() for one in left))
        out.confirm(
            "Run it?" if len(left) == 1 else "Run them?", otherwise=f"--yes is not enough: {_way(left)}"
        )
    for one in left:
        _keep(parts, one)


def _named(parts: Parts, brought: Iterable[Brought], agreed: Sequence[str]) -> list[Brought]:
    """Keeps what the person agreed to by its ID; gives what is left. An ID says the exact text: what a pull
    brings later has another."""
    there = {one.id: one for one in brought}
    for name in agreed:
        if name in there:
            _keep(parts, there.pop(name))
        elif re.fullmatch(r"[0-9a-f]{16}", name) is None or not _place(parts, name).exists():
            asked = (
                f"they ask for {', '.join(there)}"
                if there
                else "they ask for none that you have not agreed to"
            )
            raise UserError(f"--agree-setup {name}: no project of this run has a set-up of this ID; {asked}")
    return list(there.values())


def _keep(parts: Parts, one: Brought) -> None:
    # Not the text, nor whose it is: what a project held is for `forget` to remove, and the name is enough.
    told = {"network": one.provision.network, "by": parts.actor}
    write_private(_place(parts, one.id), json.dumps(told, indent=2, ensure_ascii=False) + "\n")


def _way(left: Sequence[Brought]) -> str:
    flags = " ".join(f"--agree-setup {one.id}" for one in left)
    return (
        f'add `{flags}` to agree to what is shown, or set setup.command to your own or to "none" '
        "(NIGHTSCHOOL_SETUP_COMMAND goes before the project's file)"
    )


def _not_agreed(one: Brought | None) -> str:
    return (
        ""
        if one is None
        else f"\n  it came with the project; you have not agreed to it yet (its ID: {one.id})"
    )


def _text(provision: Provision, lead: str) -> str:
    network = "with the network of this machine" if provision.network else "without a network"
    lines = "".join(f"\n  {line}" for line in (provision.setup or "").splitlines())
    where = f" in the folder {provision.folder}" if provision.folder else ""
    return f"{lead}, once per commit{where}, in a sandbox, {network}:{lines}"


def _id(provision: Provision) -> str:
    """Of text and network, whichever project brings it: agreed to once, asked about again when it differs."""
    from nightschool.core.values import digest_of  # noqa: PLC0415

    return digest_of(provision.setup, provision.network)[:16]


def _place(parts: Parts, name: str) -> Path:
    return parts.settings.home / FOLDER / f"{name}.json"
