"""Adopt and reject: a person's word on a draft, and the writing of it into the live file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from nightschool.core.errors import NightschoolError, NotAllowed, UserError
from nightschool.core.harness import LiveFile, Scope, Target
from nightschool.core.ports import Clock, LiveFiles, Projects, Store, Vet
from nightschool.core.proposals import (
    Act,
    Decision,
    Dossier,
    Release,
    Review,
    Risk,
    Status,
    Step,
    VerdictKind,
    advance,
)
from nightschool.rules.memory_block import check_text
from nightschool.rules.unattended import against
from nightschool.stages.in_file import let_go_if_taken_out, there
from nightschool.stages.pins import pinned, pinned_text
from nightschool.stages.releases import (
    LOCK,
    NEW_FILE_MODE,
    Reasons,
    StaleLiveFile,
    against_edits,
    carry_out,
    dossier,
    fits,
    next_number,
    next_time,
    read_only,
    recovered,
    stored,
)


def adopt(
    draft_id: str,
    *,
    store: Store,
    live: LiveFiles,
    place: Callable[[Target], Path],
    vet: Vet,
    clock: Clock,
    actor: str,
    reason: str = "",
) -> Release:
    """Approve and publish in one. A draft that is published already gives its release; nothing is written,
    unless all of it was taken out of the file by hand since.

    Raises `NotAllowed` with every failing reason, or `StaleLiveFile` where only the live file forbids it.
    """
    with store.hold(LOCK):
        recovered(store, live)
        case = dossier(store, draft_id)
        draft = case.draft
        if case.status is Status.PUBLISHED:
            stands = let_go_if_taken_out(case, store=store, live=live, clock=clock, actor=actor)
            if stands is not None:
                return stands
            case = dossier(store, draft.id)
        now_live = there(draft.target, live.read(place(draft.target)))
        after = _permit(case, now_live, store=store, vet=vet, actor=actor, reason=reason)
        at = next_time(store, clock)
        mode = NEW_FILE_MODE if now_live.mode is None else now_live.mode
        intended = Release(
            number=next_number(store),
            step=Step.INTENDED,
            draft=draft.digest,
            draft_id=draft.id,
            target=draft.target,
            path=str(now_live.path),
            before=None if now_live.content is None else store.put_blob(now_live.content),
            before_mode=now_live.mode,
            after=draft.after,
            after_mode=mode,
            folders=tuple(map(str, now_live.absent)),
            actor=actor,
            reason=reason,
            at=at,
        )
        review = Review(draft=draft.digest, reviewer=actor, decision=Decision.APPROVE, reason=reason, at=at)
        # An approval of this very digest stands, also where an earlier publication broke off.
        approvals = () if case.status is Status.APPROVED else (review,)
        store.commit(*approvals, intended)
        return carry_out(intended, store=store, live=live, expected=now_live.content, content=after)


def objections(
    draft_id: str,
    *,
    store: Store,
    live: LiveFiles,
    place: Callable[[Target], Path],
    vet: Vet,
    actor: str,
    reason: str = "",
) -> tuple[tuple[str, str], ...]:
    """All that speaks against adopting a draft as it is now, each with a code. Writes nothing."""
    case = dossier(store, draft_id)
    try:
        _permit(case, live.read(place(case.draft.target)), store=store, vet=vet, actor=actor, reason=reason)
    except NotAllowed as refused:
        return refused.reasons
    except StaleLiveFile as stale:
        return (("live-changed", str(stale)),)
    return ()


def reject(draft_id: str, *, store: Store, clock: Clock, actor: str, reason: str) -> Review:
    """Turn a draft down. One that was turned down already gives that review."""
    with store.hold(LOCK):
        case = dossier(store, draft_id)
        if case.status is Status.REJECTED:
            return next(r for r in reversed(case.reviews) if r.decision is Decision.REJECT)
        advance(case.status, Act.REJECT)
        if not actor:
            raise NotAllowed([("no-actor", "a review needs the name of its reviewer")])
        review = Review(
            draft=case.draft.digest,
            reviewer=actor,
            decision=Decision.REJECT,
            reason=reason,
            at=next_time(store, clock),
        )
        store.commit(review)
        return review


def adopt_unattended(
    draft_id: str,
    *,
    store: Store,
    live: LiveFiles,
    place: Callable[[Target], Path],
    vet: Vet,
    clock: Clock,
    projects: Projects,
    actor: str,
) -> tuple[Release | None, str]:
    """Adopt without asking, for a person whose settings say so, what they would hardly refuse. The words
    tell what was done, or why nothing was.

    Never raises: a cycle goes on, and what was not adopted waits for the person.
    """
    try:
        case = dossier(store, draft_id)
        target = case.draft.target
        path = live.read(place(target)).path
        theirs = target.scope is Scope.PROJECT and projects.tracks(path)
        reasons = [*against(case, team=theirs)]
        if leads_out(target, place(target)) is not None:
            reasons.append(("leads-out", f"a link leads out of the project, to {path}"))
        if not reasons:
            reason = "publish.auto_adopt: by the person's setting, without being asked"
            release = adopt(
                draft_id,
                store=store,
                live=live,
                place=place,
                vet=vet,
                clock=clock,
                actor=actor,
                reason=reason,
            )
            return release, (
                f"adopted by your setting publish.auto_adopt as {release.number}, into {release.path}; "
                f"`nightschool undo {release.draft_id}` takes it back"
            )
    except NightschoolError as error:
        return None, f"not adopted without you: {error}"
    return None, "not adopted without you: " + "; ".join(text for _, text in reasons)


def _permit(case: Dossier, now_live: LiveFile, *, store: Store, vet: Vet, actor: str, reason: str) -> bytes:
    """The bytes to publish, if everything allows it."""
    reasons: Reasons = [] if actor else [("no-actor", "a review needs the name of its reviewer")]
    reasons += _against_state(case) + _against_evidence(case, reason)
    after, damage = stored(store, case.draft.after)
    base, base_damage = (None, []) if case.draft.before is None else stored(store, case.draft.before)
    reasons += damage + base_damage
    if not damage and not base_damage:
        # Anew, on the very bytes: rules, known secrets and the files around may be others by now.
        found = [finding for finding in vet(case.draft) if finding.risk is not Risk.LOW]
        reasons += [(f"unsafe-{finding.code}", finding.text) for finding in found]
    if case.draft.before != case.draft.live:
        reasons.append(("digest-differs", "the kept copy of the live file is not the one it was made from"))
    stale = not fits(case.draft, now_live)
    pin = pinned(store, now_live.path)
    if pin is not None:
        reasons.append(("pinned", pinned_text(pin)))
    reasons += read_only(now_live)
    if not reasons:
        # What no diff can show would be adopted unseen.
        reasons += _unseen(now_live)
    if reasons and stale:
        reasons.append(("live-changed", f"{now_live.path} was changed since the proposal was made"))
    if reasons or after is None:
        raise NotAllowed(reasons)
    if stale:
        raise StaleLiveFile(
            now_live.path,
            base=base,
            live=now_live.content,
            proposed=after,
            reasons=against_edits(case.draft.edits, now_live, case.draft.target),
        )
    return after


def leads_out(target: Target, path: Path) -> Path | None:
    """The file that a project's link leads to outside of it; None where it stays inside."""
    root, real = Path(target.project), path.resolve()
    inside = real.is_relative_to(root.resolve())
    return real if target.scope is Scope.PROJECT and path.is_relative_to(root) and not inside else None


def _unseen(now: LiveFile) -> Reasons:
    try:
        check_text(now.content or b"", where=str(now.path))
    except UserError as error:
        return [("not-text", str(error))]
    return []


def _against_state(case: Dossier) -> Reasons:
    try:
        approved = case.status if case.status is Status.APPROVED else advance(case.status, Act.APPROVE)
        advance(approved, Act.PUBLISH)
    except NotAllowed as refused:
        return list(refused.reasons)
    return []


def _against_evidence(case: Dossier, reason: str) -> Reasons:
    reasons: Reasons = []
    if not case.safety:
        reasons.append(("safety-missing", "no safety check was made of this revision"))
    elif not case.safety[-1].passed:
        found = "; ".join(f"{finding.code}: {finding.text}" for finding in case.safety[-1].findings)
        reasons.append(("safety-failed", f"the safety check found {found}"))
    if not case.verdicts and case.draft.made_from is not None:
        if not reason.strip() and not _waived(case):
            # A run goes on with what nobody decided on; it leaves alone what a person took back.
            examined = " (`nightschool run` examines them)" if case.status is Status.SUGGESTED else ""
            text = (
                f"it was made from {case.draft.made_from}, whose evidence speaks of other bytes; no gate has "
                f"seen these{examined}: only your reason can carry it"
            )
            reasons.append(("waiver-missing", text))
        return reasons
    return reasons + _against_verdict(case, reason)


def _against_verdict(case: Dossier, reason: str) -> Reasons:
    verdict = case.verdict
    if verdict is None:
        return [("verdict-missing", "the gate has not spoken of this revision")]
    match verdict.kind:
        case VerdictKind.ACCEPT:
            pass
        case VerdictKind.UNDECIDED | VerdictKind.UNDERPOWERED:
            if not reason.strip() and not _waived(case):
                text = f"it is a suggestion, not certified ({verdict.why}): only your reason can carry it"
                return [("waiver-missing", text)]
        case VerdictKind.REJECT:
            told = "" if case.status is Status.EVALUATION_FAILED else "it failed its exam: "
            return [(f"verdict-{verdict.kind}", told + verdict.why)]
        case VerdictKind.INVALID:
            # What its status says already is not said again.
            told = "" if case.status is Status.NO_VERDICT else "its exam could say nothing about it: "
            return [(f"verdict-{verdict.kind}", told + verdict.why)]
    return []


def _waived(case: Dossier) -> bool:
    """Whether an approval that still stands gave its reason."""
    return case.status is Status.APPROVED and bool(case.reviews[-1].reason.strip())
