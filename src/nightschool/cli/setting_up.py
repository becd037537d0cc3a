"""Which set-up commands a run may use. One that came with a project is read by a person before it runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from nightschool.cli.opening import write_private

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nightschool.cli.output import Output
    from nightschool.core.jobs import Provision
    from nightschool.core.tasks import Task
    from nightschool.settings import Origin
    from nightschool.wiring import Parts

FOLDER = "agreed"
"""In our home: one file for each text that a person agreed to."""


def provisions(
    parts: Parts, tasks: Iterable[Task], out: Output, *, yes: bool, asks: bool = True
) -> dict[str, Provision]:
    """What workspaces are given, by project and by folder with settings of its own. Asks once for each
    command that a project brought; raises `NotAllowed` where nobody agrees. Without `asks` nothing will be
    run, so nobody is asked."""
    from nightschool.core.jobs import provided  # noqa: PLC0415 - help needs no tasks
    from nightschool.core.tasks import GitSource  # noqa: PLC0415
    from nightschool.project_settings import speaking  # noqa: PLC0415

    folders: dict[str, set[str]] = {}
    for task in tasks:
        if isinstance(task.workspace, GitSource):
            folders.setdefault(task.project, set()).add(task.folder)
    found: dict[str, Provision] = {}
    for project in sorted(folders):
        for folder in speaking(project, folders[project]):
            provision, origin = parts.provision(project, folder)
            if provision == provided(found, project, folder)[1]:
                continue  # as above it, or nothing at all
            if provision.setup is not None and asks and origin.place == "project":
                _agree(parts, provision, origin, out, yes=yes)
            found[f"{project}/{folder}".rstrip("/")] = provision
    return found


def _agree(parts: Parts, provision: Provision, origin: Origin, out: Output, *, yes: bool) -> None:
    agreed = _place(parts, provision)
    if agreed.exists():
        return
    # `--yes` stands in a crontab too: it lets a text that a pull brought run where that can do no harm, and
    # a network is more.
    text = _text(provision, f"{origin} asks to run this")
    if yes and not provision.network:
        out.note(text)  # agreed to beforehand, and yet shown: nobody may have read it
    else:
        way = "run it once at a terminal, or" if provision.network else "pass --yes to agree to it, or"
        out.note(text)
        out.confirm(
            "Run it?",
            otherwise=f'{way} set setup.command to your own or to "none" '
            "(NIGHTSCHOOL_SETUP_COMMAND goes before the project's file).",
        )
    # Not the text, nor whose it is: what a project held is for `forget` to remove, and the name is enough.
    told = {"network": provision.network, "by": parts.actor}
    write_private(agreed, json.dumps(told, indent=2, ensure_ascii=False) + "\n")


def told(found: Mapping[str, Provision]) -> list[str]:
    """The commands of a plan, each with what it may reach."""
    return [_text(one, f"set-up of {name}") for name, one in found.items() if one.setup is not None]


def _text(provision: Provision, lead: str) -> str:
    network = "with the network of this machine" if provision.network else "without a network"
    lines = "".join(f"\n  {line}" for line in (provision.setup or "").splitlines())
    where = f" in the folder {provision.folder}" if provision.folder else ""
    return f"{lead}, once per commit{where}, in a sandbox, {network}:{lines}"


def _place(parts: Parts, provision: Provision) -> Path:
    """By text and network, whichever project brings it: agreed to once, asked about again when it differs."""
    from nightschool.core.values import digest_of  # noqa: PLC0415

    name = digest_of(provision.setup, provision.network)[:16]
    return parts.settings.home / FOLDER / f"{name}.json"
