"""`nightschool proposals` and `nightschool show`: what waits for a person's word, and why."""

from __future__ import annotations

from typing import Annotated

import typer

from nightschool.cli.exits import ExitCode
from nightschool.cli.options import Json
from nightschool.cli.output import Output
from nightschool.cli.reading import AT_WORK, Every, Only, concerns, only

All = Annotated[bool, typer.Option("--all", help="Those too that were rejected or failed.")]
Name = Annotated[str, typer.Argument(metavar="ID", help="Id of a proposal, or its beginning.")]
UNDER_WAY = "Not examined yet: a run is at work now"
BROKEN_OFF = "Not examined: the run was broken off, and the next one goes on with it"
NOT_EXAMINED = "Not examined to an end: the run ended before, and the next one goes on with it"
SUPERSEDED = "Superseded: another proposal says the same in the same file"
UNSAID = "No verdict: the exam could say nothing about it. You can turn it down, with a reason"
WithDiff = Annotated[bool, typer.Option("--diff", help="Show the change of the file, line by line.")]


def proposals(
    *, every: All = False, project: Only = None, all_projects: Every = False, json: Json = False
) -> ExitCode:
    """List the edits that are proposed to you: those that wait for your word, then the others.

    One that is in review passed the gate. A suggestion did not, or not yet: it is adopted only with a
    reason of yours. One with no verdict sat an exam that could not tell; it can be turned down. With
    --project those for its files and for your own, which are read there too.

    \b
    Example:
      nightschool proposals
      nightschool proposals --all --json
    """
    from nightschool.cli import dossiers  # noqa: PLC0415 - help needs no store
    from nightschool.cli.opening import opening  # noqa: PLC0415
    from nightschool.core.cycles import CycleReport  # noqa: PLC0415
    from nightschool.core.proposals import Status  # noqa: PLC0415
    from nightschool.stages.releases import drafts  # noqa: PLC0415

    roots = only(project, every=all_projects)
    with opening(forgiving=True) as parts:
        known = [case for case in drafts(parts.store)[::-1] if concerns(case.draft.target.project, roots)]
        kept = [case for case in known if every or case.status not in dossiers.TURNED_DOWN]
        waiting = dossiers.waiting(known[::-1], parts)
        gone = [case for case in kept if dossiers.superseded_by(case, parts)]
        begun = [case for case in kept if case.status is Status.DRAFT]
        ended = {report.cycle for report in parts.store.find(CycleReport) if report.failed is None}
        broken = [case for case in begun if case.draft.cycle not in ended]
        unsaid = [case for case in kept if case.status is Status.NO_VERDICT]
        settled = [case for case in kept if case not in [*waiting, *unsaid, *begun, *gone]]
        cases = [*waiting, *unsaid, *begun, *gone, *settled]
        busy = parts.store.holder("cycle") is not None
        document = {
            "proposals": [dossiers.row(case, parts) for case in cases],
            "not_listed": len(known) - len(cases),
        }
        told = [
            piece
            for title, some in (
                ("Waiting for your word", waiting),
                (UNSAID, unsaid),
                (UNDER_WAY if busy else BROKEN_OFF, broken if not busy else begun),
                (NOT_EXAMINED, [] if busy else [case for case in begun if case not in broken]),
                (SUPERSEDED, gone),
                ("Settled", settled),
            )
            if some
            for piece in (dossiers.listed(some, parts, title), "")
        ]
        following = dossiers.first_step(waiting, parts) or (AT_WORK if busy else "nightschool run")
    hidden = len(known) - len(cases)
    none = [] if waiting else ["No proposal waits for you."]
    more = [f"{hidden} more, rejected or failed: nightschool proposals --all"] if hidden else []
    return Output(json=json).result(document, [*none, *told, *more, f"next: {following}"])


def show(proposal: Name, *, diff: WithDiff = False, json: Json = False) -> ExitCode:
    """Show a proposal: its edits with your words, the gate's verdict with its evidence, what became of it.

    \b
    Example:
      nightschool show d-1f2e3d4c5b --diff
      nightschool show d-1f2e --json
    """
    from nightschool.cli import beforehand, dossiers  # noqa: PLC0415 - help needs no store
    from nightschool.cli.opening import opening  # noqa: PLC0415
    from nightschool.stages.releases import dossier  # noqa: PLC0415

    with opening(forgiving=True) as parts:
        case = dossier(parts.store, proposal)
        out, know = Output(json=json), beforehand.to_know(case, parts)
        if json:
            return out.result(dossiers.document(case, parts) | {"to_know": know})
        change = dossiers.shown_diff(case, parts) if diff else []
        told = dossiers.pieces(case, parts, know)
        return out.result(None, [*told, *change, *dossiers.steps(case, parts)])
