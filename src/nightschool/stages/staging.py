"""Stages a draft for review: the safety check stands before anything is kept as a proposal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nightschool.core.jobs import Finished
from nightschool.core.ports import Redact, Store
from nightschool.core.proposals import Draft, RefusedEdit, SafetyReport
from nightschool.core.sessions import Session
from nightschool.core.tasks import Candidate
from nightschool.core.trials import Trial
from nightschool.core.values import Value
from nightschool.rules.safety import SAFETY_VERSION, findings


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged(Value):
    """The safety report, and the edits that it refused; a draft with findings is not kept."""

    safety: SafetyReport
    refused: tuple[RefusedEdit, ...] = ()


def stage(draft: Draft, candidate: Candidate, *, store: Store, redact: Redact, cycle: str) -> Staged:
    """Look at what the draft adds; keep it with its report if nothing was found, else its refused edits."""
    known = store.get(Draft, draft.id)
    if known is not None and known.digest == draft.digest:
        reports = store.find(SafetyReport, owner=draft.digest)
        if reports and reports[-1].rules == SAFETY_VERSION:
            return Staged(safety=reports[-1])
    human, tool = _texts(candidate, store)
    found = findings(
        before=b"" if draft.before is None else store.blob(draft.before),
        after=store.blob(draft.after),
        added_rules=[edit.rule for edit in draft.edits if edit.rule],
        human_texts=human,
        tool_texts=tool,
        redact=redact,
    )
    report = SafetyReport(draft=draft.digest, findings=found, rules=SAFETY_VERSION, cycle=cycle)
    if report.passed:
        store.commit(*([] if known else [draft]), report)
        return Staged(safety=report)
    why = "; ".join(f"{finding.code}: {finding.text}" for finding in found)
    refused = tuple(
        RefusedEdit(edit=edit, code="unsafe", text=why, candidate=candidate.id, cycle=cycle)
        for edit in draft.edits
    )
    store.commit(*refused)
    return Staged(safety=report, refused=refused)


def _texts(candidate: Candidate, store: Store) -> tuple[Sequence[str], Sequence[str]]:
    """What people said, and what tools printed, in the train sessions and on their replays."""
    sessions = [store.get(Session, name) for name in {moment.session for moment in candidate.evidence}]
    human = [moment.quote for moment in candidate.evidence]
    tool: list[str] = []
    for session in sessions:
        if session is not None:
            human += [turn.text for turn in session.human_turns]
            tool += [call.result for call in session.calls if call.result]
    for trial in store.find(Trial):
        if trial.purpose == "train":
            finished = store.get(Finished, trial.job)
            if finished is not None:
                tool += [call.result for call in finished.outcome.trajectory if call.result]
    return human, tool
