"""Makes a new draft from one: on the file as it is now, or of a part of its edits.

Evidence binds to a digest, so none is carried over: the new draft is a suggestion that nobody examined.
The safety check is made anew, and the old draft stays as it is (docs/decisions/0008).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from nightschool.core.errors import NotAllowed, UserError
from nightschool.core.harness import Harness, LiveFile, Target
from nightschool.core.ports import Clock, LiveFiles, Store, Vet
from nightschool.core.proposals import (
    STANDS_AS,
    Act,
    Decision,
    Dossier,
    Draft,
    Edit,
    Review,
    Risk,
    SafetyReport,
    Status,
    advance,
)
from nightschool.core.values import Digest
from nightschool.rules.editing import aim
from nightschool.rules.safety import SAFETY_VERSION
from nightschool.rules.skill_body import edited
from nightschool.stages.in_file import let_go_if_taken_out, there
from nightschool.stages.pins import pinned, pinned_text
from nightschool.stages.releases import (
    LOCK,
    OPEN,
    Reasons,
    StaleLiveFile,
    against_edits,
    dossier,
    fits,
    next_time,
    recovered,
    stored,
)


def remake(
    draft_id: str,
    *,
    store: Store,
    live: LiveFiles,
    place: Callable[[Target], Path],
    harness: Callable[[Target], Harness],
    vet: Vet,
    clock: Clock,
    edits: Sequence[int] = (),
) -> Draft:
    """The draft of these edits (numbers from 1; none: all) on the live file as it is now.

    The same draft where it fits already, or the one that was made so before. Raises `StaleLiveFile` with
    the three versions where the file was changed so that an edit has lost its place, `NotAllowed` with
    every other reason.
    """
    with store.hold(LOCK):
        recovered(store, live)
        case = dossier(store, draft_id)
        draft = case.draft
        chosen = _chosen(draft, edits)
        now = there(draft.target, live.read(place(draft.target)))
        as_made = fits(draft, now)
        if as_made and chosen == draft.edits:
            return draft
        reasons = _against(case, now, store)
        lost = against_edits(chosen, now, draft.target)
        if reasons or (lost and as_made):
            raise NotAllowed([*reasons, *lost])
        if lost:
            base, _ = (None, None) if draft.before is None else stored(store, draft.before)
            proposed, _ = stored(store, draft.after)
            raise StaleLiveFile(now.path, base=base, live=now.content, proposed=proposed, reasons=lost)
        made = _made(draft, chosen, now, store, harness(draft.target).digest, clock)
        known = store.get(Draft, made.id)
        if known is not None:
            return known
        found = tuple(vet(made))
        if high := [finding for finding in found if finding.risk is not Risk.LOW]:
            raise NotAllowed([(f"unsafe-{finding.code}", finding.text) for finding in high])
        report = SafetyReport(draft=made.digest, findings=found, rules=SAFETY_VERSION, cycle=made.cycle)
        store.commit(made, report)
        return made


def let_go_of(draft_id: str, *, store: Store, live: LiveFiles, clock: Clock, actor: str) -> None:
    """Where it was adopted and a hand took all of it out since, write that down: then it can be had anew."""
    with store.hold(LOCK):
        recovered(store, live)
        case = dossier(store, draft_id)
        if case.status is Status.PUBLISHED:
            let_go_if_taken_out(case, store=store, live=live, clock=clock, actor=actor)


def reopen(
    draft_id: str, *, store: Store, clock: Clock, actor: str, was: Status = Status.ROLLED_BACK
) -> bool:
    """Take up again what the person took back, or turned down (`was`), and asks for now: a run examines it as
    any other, with a wealth and a number of its own where it has none. Whether it stood so."""
    with store.hold(LOCK):
        case = dossier(store, draft_id)
        if case.status is not was:
            return False
        advance(case.status, Act.REOPEN)
        again = Review(
            draft=case.draft.digest, reviewer=actor, decision=Decision.REOPEN, at=next_time(store, clock)
        )
        store.commit(again)
        return True


def _chosen(draft: Draft, numbers: Sequence[int]) -> tuple[Edit, ...]:
    wrong = [number for number in numbers if not 1 <= number <= len(draft.edits)]
    if wrong:
        raise UserError(
            f"there is no edit {wrong[0]}: {draft.id} has {len(draft.edits)}, numbered from 1 "
            f"(`nightschool show {draft.id}` lists them)"
        )
    if not numbers:
        return draft.edits
    return tuple(edit for number, edit in enumerate(draft.edits, start=1) if number in set(numbers))


def _against(case: Dossier, now: LiveFile, store: Store) -> Reasons:
    reasons: Reasons = []
    if case.status not in OPEN:
        text = f"nothing can be made from a proposal {STANDS_AS[case.status]}"
        reasons.append(("wrong-state", text))
    pin = pinned(store, now.path)
    if pin is not None:
        reasons.append(("pinned", pinned_text(pin)))
    return reasons


def _made(
    draft: Draft, edits: tuple[Edit, ...], now: LiveFile, store: Store, base: Digest, clock: Clock
) -> Draft:
    kept = None if now.content is None else store.put_blob(now.content)
    return Draft(
        candidate=draft.candidate,
        target=draft.target,
        aim=draft.aim,
        edits=edits,
        base=base,
        live=kept,
        live_mode=now.mode,
        before=kept,
        after=store.put_blob(edited(draft.target, now.content, edits, where=str(now.path)).content),
        certify=aim(edits),
        cycle=draft.cycle,
        created_at=clock.now(),
        made_from=draft.id,
    )
