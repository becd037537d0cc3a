"""`nightschool report`: a cycle or a proposal as one file, written anew from the store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nightschool.cli.exits import ExitCode
from nightschool.cli.links import named
from nightschool.cli.options import Json
from nightschool.cli.output import Output, json_text
from nightschool.cli.reading import Project, reading, root_of, typed
from nightschool.core.errors import UserError

if TYPE_CHECKING:
    from nightschool.cli.pages import Clean, Page
    from nightschool.core.cycles import CycleReport
    from nightschool.core.proposals import Dossier
    from nightschool.wiring import Parts

FORMATS = ("html", "md", "json")
STDOUT = "-"

Name = Annotated[
    str | None,
    typer.Argument(
        metavar="[CYCLE|PROPOSAL]", help="A cycle (n-0001) or a proposal; without it, the newest cycle."
    ),
]
Format = Annotated[
    str | None, typer.Option("--format", help="html, md or json; without it, as FILE is named, else html.")
]
Target = Annotated[
    str | None, typer.Option("--output", "-o", metavar="FILE", help="Where to write it; - is the terminal.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace FILE where it is there already.")]


def report(
    name: Name = None,
    *,
    form: Format = None,
    output: Target = None,
    force: Force = False,
    project: Project = None,
    json: Json = False,
) -> ExitCode:
    """Write the report of a cycle or of a proposal anew: the evidence, task by task, in one file.

    As HTML it stands alone: it needs no network, is good in dark and light, and can be printed or sent. It
    and Markdown name your home folder as ~; JSON is for programs and keeps whole paths.
    Without --output it lies in the `reports` folder of nightschool's own home, and its path is printed.

    \b
    Example:
      nightschool report
      nightschool report n-0003 --format md --output -
      nightschool report d-1f2e3d4c5b --output exam.html
    """
    from nightschool.cli.opening import write_private  # noqa: PLC0415 - help needs no store

    out = Output(json=json)
    kind = _format(form, output)
    if output == STDOUT and json and kind != "json":
        raise UserError(f"--json prints one JSON document: name a file for {kind}, or take --format json")
    with reading(fleeting=True, forgiving=True) as parts:
        called, cycle, text = _content(parts, name, kind, root_of(project))
        if output == STDOUT:
            return out.file(text)
        # Below the cycle's name: what is forgotten of a cycle takes the reports of its proposals along.
        file = called if called == cycle else f"{cycle}.{called}"
        path = parts.settings.home / "reports" / f"{file}.{kind}"
        if output is not None:
            path = _free(output, force=force)
        write_private(path, text)
    document = {"report": called, "format": kind, "path": path}
    return out.result(document, [f"written: {path}"])


def keep(parts: Parts, cycle: CycleReport) -> Path:
    """Write all forms of a cycle's report into our own home; the path of the one to look at."""
    from nightschool.cli.opening import write_private  # noqa: PLC0415 - help needs no store

    folder = parts.settings.home / "reports"
    for kind in reversed(FORMATS):
        write_private(folder / f"{cycle.cycle}.{kind}", _of_cycle(parts, cycle, kind))
    return folder / f"{cycle.cycle}.html"


def _format(form: str | None, output: str | None) -> str:
    if form is None:
        ending = Path(output or "").suffix.removeprefix(".").lower()
        if ending and ending not in FORMATS:
            known = ", ".join(f".{one}" for one in FORMATS)
            raise UserError(f"--output {output}: no report is written as .{ending}; name a file with {known}")
        return ending or FORMATS[0]
    if form not in FORMATS:
        raise UserError(f"--format {form!r}: allowed are {', '.join(FORMATS)}")
    return form


def _free(output: str, *, force: bool) -> Path:
    """Where to write: what lies there already is somebody's."""
    path = typed(Path(output))
    if path.is_dir():
        raise UserError(f"--output {path} is a folder: name a file in it")
    if not path.parent.is_dir():
        raise UserError(f"--output {path}: there is no folder {path.parent}")
    if path.exists() and not force:
        raise UserError(f"--output {path} is there already: name another file, or pass --force to replace it")
    return path


def _content(parts: Parts, name: str | None, kind: str, root: str) -> tuple[str, str, str]:
    """What it is called, the cycle that it is of, and the whole text."""
    from nightschool.cli import dossiers, evidence, pages  # noqa: PLC0415 - help needs no store
    from nightschool.cli.history import newest_cycles, the_cycle  # noqa: PLC0415
    from nightschool.stages.releases import dossier  # noqa: PLC0415

    if name is not None and name.startswith("d-"):
        case = dossier(parts.store, name)
        cycle = case.verdict.cycle if case.verdict else case.draft.cycle
        if kind == "json":
            document = dossiers.document(case, parts) | _evidence(case, parts)
            return case.draft.id, cycle, json_text(document) + "\n"
        page = evidence.of_proposal(case, parts)
        clean = evidence.cleaning(parts)
        text = pages.markdown(page, clean) if kind == "md" else _html(page, clean)
        return case.draft.id, cycle, text
    (found,) = newest_cycles(parts.store, root, 1) if name is None else (the_cycle(parts.store, name),)
    return found.cycle, found.cycle, _of_cycle(parts, found, kind)


def _evidence(case: Dossier, parts: Parts) -> dict[str, object]:
    """What a proposal was tried on, and its diff, for programs."""
    from nightschool.cli import evidence  # noqa: PLC0415 - help needs no store
    from nightschool.cli.difference import difference  # noqa: PLC0415

    rows = evidence.tries(case, parts)
    asked = [row | {"asked": parts.redact(str(row["asked"]))} for row in rows]
    return {"tries": asked, "diff": parts.redact(difference(case.draft, parts))}


def _of_cycle(parts: Parts, cycle: CycleReport, kind: str) -> str:
    from dataclasses import fields  # noqa: PLC0415

    from nightschool.cli import evidence, pages  # noqa: PLC0415 - help needs no store
    from nightschool.rules.report import markdown  # noqa: PLC0415

    clean = evidence.cleaning(parts)
    match kind:
        case "json":
            proposals = {case.draft.id: _evidence(case, parts) for case in evidence.proposed(cycle, parts)}
            told = {one.name: getattr(cycle, one.name) for one in fields(cycle)}
            return json_text(told | {"proposals": proposals}) + "\n"
        case "md":
            page = evidence.of_proposals(cycle, parts)
            more = f"\n{pages.markdown(page, clean)}" if page.sections else ""
            return clean(markdown(cycle, lambda target: named(parts.place(target)))) + more
    return _html(evidence.of_cycle(cycle, parts), clean)


def _html(page: Page, clean: Clean) -> str:
    from nightschool.cli.html import html  # noqa: PLC0415 - help needs no store

    return html(page, clean)
