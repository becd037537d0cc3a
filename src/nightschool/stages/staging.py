"""Stages a draft for review: the safety check stands before anything is kept as a proposal."""

from __future__ import annotations

from dataclasses import dataclass

from nightschool.core.ports import Store, Vet
from nightschool.core.proposals import Draft, RefusedEdit, SafetyReport
from nightschool.core.values import Value
from nightschool.rules.safety import SAFETY_VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged(Value):
    """The safety report, and the edits that it refused; a draft that did not pass is not kept."""

    safety: SafetyReport
    refused: tuple[RefusedEdit, ...] = ()


def stage(draft: Draft, *, store: Store, vet: Vet, cycle: str) -> Staged:
    """Look at what the draft brings; keep it with its report if it passed, else its refused edits."""
    known = store.get(Draft, draft.id)
    if known is not None and known.digest == draft.digest:
        reports = store.find(SafetyReport, owner=draft.digest)
        if reports and reports[-1].rules == SAFETY_VERSION:
            return Staged(safety=reports[-1])
    report = SafetyReport(draft=draft.digest, findings=tuple(vet(draft)), rules=SAFETY_VERSION, cycle=cycle)
    if report.passed:
        store.commit(*([] if known else [draft]), report)
        return Staged(safety=report)
    why = "; ".join(f"{finding.code}: {finding.text}" for finding in report.findings)
    refused = tuple(
        RefusedEdit(edit=edit, code="unsafe", text=why, candidate=draft.candidate, cycle=cycle)
        for edit in draft.edits
    )
    store.commit(*refused)
    return Staged(safety=report, refused=refused)
