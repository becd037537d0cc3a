"""What stands of a candidate already: nothing to do, a draft to go on with, edits that were turned down.

Relieves the cycle, which composes the stages and has no logic of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from nightschool.core.harness import Harness, LiveFile, Target
from nightschool.core.proposals import Dossier, Draft, RefusedEdit, Status, Verdict, VerdictKind
from nightschool.core.tasks import Candidate
from nightschool.core.values import digest_bytes
from nightschool.rules.memory_block import parse

STANDS = {Status.IN_REVIEW, Status.SUGGESTED, Status.APPROVED, Status.PUBLISHED}
SAID_NO = {Status.REJECTED, Status.ROLLED_BACK}
ASKED_FOR = {Status.DRAFT, Status.SUGGESTED, Status.NO_VERDICT, Status.IN_REVIEW}
"""Made anew by the person and not decided: a later word than one that was taken back."""
TURNED_DOWN = {Status.REJECTED, Status.EVALUATION_FAILED, Status.ROLLED_BACK}


def root_for(candidate: Candidate, *, scope: str, project: str | None) -> str | None:
    """Root of the project whose memory file a draft would change; None: the person's own file.

    `scope`: `auto` follows where the correction was seen, `project` and `user` say it.
    """
    match scope:
        case "auto":
            return candidate.project or None
        case "project":
            return candidate.project or project
        case "user":
            return None
    raise ValueError(f"a scope is auto, project or user, not {scope!r}")


def settled(
    cases: Sequence[Dossier],
    target: Target,
    base: Harness,
    live: LiveFile,
    *,
    by_hand: Collection[str] = (),
) -> tuple[str, str, str] | None:
    """(code, why, draft) where there is nothing to do for a candidate. `by_hand`: drafts that were adopted,
    and whose words a hand took out or changed: that is the person's word, as an undo is.

    What the person took back stays so, whatever became of the file or of other drafts since, until they ask
    for it themselves.
    """
    for case in reversed(cases):
        name = case.draft.id
        if name in by_hand and case.draft.target == target:
            why = (
                f"proposal {name} was adopted, and its words were taken out or changed by hand since; "
                f"`nightschool adopt {name}` takes it again"
            )
            return "taken-back", why, name
        if name in by_hand:
            continue
        if case.status is Status.PUBLISHED and _is_read(case.draft, target, live):
            return "already-published", f"proposal {name} was adopted", name
        if case.status in {Status.IN_REVIEW, Status.APPROVED} and _fits(case.draft, target, base, live):
            return "waits-for-review", f"proposal {name} waits for you", name
        if case.draft.target != target:
            continue
        if case.status is Status.ROLLED_BACK:
            again = f"nightschool adopt {name}" + ("" if case.certified else " --reason WHY")
            if not _fits(case.draft, target, base, live):
                again = f"nightschool rebase {name}"
            why = f"proposal {name} was adopted and taken back; `{again}` takes it up again"
            return "taken-back", why, name
        if case.draft.made_from is not None and case.status in ASKED_FOR:
            return None
    return None


def say_the_same(case: Dossier, others: Iterable[Dossier]) -> tuple[Dossier, ...]:
    """Other proposals, adopted or waiting, that answer the same correction or write the same rule in a file
    that the agent reads along with this one's: the person's own beside a project's."""
    return tuple(
        other
        for other in others
        if other.status in STANDS
        and other.draft.target.agent == case.draft.target.agent
        and other.draft.target.scope is not case.draft.target.scope
        and (_correction(other) == _correction(case) or _rules(other.draft) & _rules(case.draft))
    )


def takes_the_place(other: Dossier, case: Dossier, *, stands: bool) -> bool:
    """Whether another proposal for the same file says all that a stale one does, and stands in its place: its
    words are in the file or can be (`stands`), the person had it made from this one, or said a word on it
    since. A word on the one is a word on the other."""
    if other.draft.id == case.draft.id or not _changes(case.draft) <= _changes(other.draft):
        return False
    if other.draft.made_from == case.draft.id:
        return other.status in STANDS | SAID_NO
    later = other.draft.created_at >= case.draft.created_at
    return stands or (later and other.status in SAID_NO)


def open_draft(cases: Sequence[Dossier], target: Target, base: Harness, live: LiveFile) -> Draft | None:
    """The newest draft that the gate has not decided on, if it still fits what is live.

    An invalid exam decided nothing: asked again it says the same at no cost, until runner, model or
    hold-out are others.
    """
    for case in reversed(cases):
        undecided = case.status in {Status.DRAFT, Status.SUGGESTED, Status.NO_VERDICT}
        if undecided and _fits(case.draft, target, base, live):
            return case.draft
    return None


def came_to(verdict: Verdict, before: Verdict | None) -> tuple[VerdictKind, str]:
    """What a draft came to in a run. `before`: the verdict that spoke of it till then. It stands where this
    one tried nothing."""
    if before is None or verdict.rests_on_pairs or not before.rests_on_pairs:
        return verdict.kind, verdict.why
    return before.kind, f"{verdict.why}; what its exam showed before stands: {before.why}"


def turned_down(
    candidate: Candidate, target: Target, cases: Iterable[Dossier], refused: Iterable[RefusedEdit], cycle: str
) -> tuple[RefusedEdit, ...]:
    """Edits that the gate, a person or the safety check turned down or that a person took back, as an
    editor is told of them. A person's no is about one file ("it belongs into the team's"): it does not bar
    another.

    Edits that were refused for what they carry are not among them: an editor that reads why would learn
    what the checks look for. Nor are those of an invalid exam, which says nothing about them.
    """
    unsafe = [item for item in refused if item.code == "unsafe"]
    rejected = [
        RefusedEdit(
            edit=edit, code="repeats-rejected", text=_reason(case), candidate=candidate.id, cycle=cycle
        )
        for case in cases
        if case.status in TURNED_DOWN
        if case.status is Status.EVALUATION_FAILED or case.draft.target == target
        for edit in case.draft.edits
    ]
    return (*unsafe, *rejected)


def _fits(draft: Draft, target: Target, base: Harness, live: LiveFile) -> bool:
    now = None if live.content is None else digest_bytes(live.content)
    return draft.target == target and draft.base == base.digest and draft.live == now


def _is_read(draft: Draft, target: Target, live: LiveFile) -> bool:
    """Whether what was adopted is read where the target is. A draft is for one agent and for one project, or
    for all of the person's; elsewhere it is read only where the file says the same, as one that is linked."""
    if draft.target.agent == target.agent and draft.target.project in {"", target.project}:
        return True
    written = _rules(draft)
    return bool(written) and written <= {" ".join(rule.split()) for rule in parse(live.content).rules}


def _rules(draft: Draft) -> frozenset[str]:
    """What it writes, however it is wrapped."""
    return frozenset(" ".join(edit.rule.split()) for edit in draft.edits if edit.rule.strip())


def _changes(draft: Draft) -> frozenset[tuple[str, str, str]]:
    """Its edits, however their words are wrapped."""
    return frozenset(
        (edit.op, " ".join(edit.rule.split()), " ".join(edit.anchor.split())) for edit in draft.edits
    )


def _correction(case: Dossier) -> str:
    """What it answers; its own name where that is not known any more."""
    return case.draft.id if case.candidate is None else case.candidate.correction


def _reason(case: Dossier) -> str:
    """Why a draft was turned down, without a word of the gate: an editor reads it."""
    if case.status is Status.REJECTED:
        return f"a person rejected it: {case.reviews[-1].reason}"
    if case.status is Status.ROLLED_BACK:
        return "a person adopted it and took it back"
    return "it did not pass an exam on work that you do not see"
