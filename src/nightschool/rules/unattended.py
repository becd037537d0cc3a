"""Which proposals may be adopted without asking, for a person whose settings allow it at all."""

from __future__ import annotations

from nightschool.core.proposals import Dossier, VerdictKind


def against(case: Dossier, *, team: bool) -> tuple[tuple[str, str], ...]:
    """Why a proposal has to wait for the person, each reason with a code. None: it may be adopted.

    `team`: the file is shared with others. A proposal that takes a rule away is never of low risk: what the
    rule was good for may not be on any task.
    """
    reasons: list[tuple[str, str]] = []
    verdict = case.verdict
    if verdict is None or verdict.kind is not VerdictKind.ACCEPT:
        reasons.append(("not-accepted", "the gate did not accept it"))
    if not case.safety or case.safety[-1].findings:
        reasons.append(("findings", "the safety check found something to know, or was not made"))
    if any(edit.op != "add" for edit in case.draft.edits):
        reasons.append(("takes-away", "it replaces or deletes a rule"))
    if case.draft.target.skill is not None:
        reasons.append(("skill", "a skill is edited only by a proposal that a person looked at"))
    if team:
        reasons.append(("team-file", "git tracks the file, so it is not yours alone"))
    return tuple(reasons)
