"""Adopt, reject, undo: the only writer of reviews and releases, and the only one who moves a live file.

A release is written down before the file is touched and again after it, so that a process that dies
between leaves a record of what it was about to do; `recover` tells from the file how far it came.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from nightschool.core.errors import Conflict, NightschoolError, NotAllowed, NotFound, UserError
from nightschool.core.harness import Target
from nightschool.core.ports import Clock, LiveFile, LiveFiles, Store, Vet
from nightschool.core.proposals import (
    Act,
    Decision,
    Dossier,
    Draft,
    RefusedEdit,
    Release,
    Review,
    Risk,
    SafetyReport,
    Status,
    Step,
    Verdict,
    VerdictKind,
    advance,
    status_of,
)
from nightschool.core.tasks import Candidate
from nightschool.core.values import Digest, digest_bytes

LOCK = "publish"
SHORTEST_PREFIX = 4
NEW_FILE_MODE = 0o644
NOW = "as it is now"
ADOPTING = ("as it was read", "as proposed")
UNDOING = ("as it was adopted", "as it was before")

Reasons = list[tuple[str, str]]


class StaleLiveFile(Conflict):
    """The live file is not the one that is known. Holds the three versions; nothing was written."""

    def __init__(
        self,
        path: Path,
        *,
        base: bytes | None,
        live: bytes | None,
        proposed: bytes | None,
        names: tuple[str, str] = ADOPTING,
    ) -> None:
        """`names` are those of base and proposed in the difference."""
        self.path = path
        self.base = base
        self.live = live
        self.proposed = proposed
        known, wanted = names
        self.diff = _difference(known, NOW, base, live) + _difference(known, wanted, base, proposed)
        """What happened to the file since, then what would have been written."""
        super().__init__(f"{path} was changed since nightschool read it; nothing was written")


def dossier(store: Store, draft_id: str) -> Dossier:
    return _dossier(store, _find_draft(store, draft_id))


def drafts(store: Store) -> tuple[Dossier, ...]:
    """All drafts, the oldest first."""
    return tuple(_dossier(store, draft) for draft in store.find(Draft))


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
    """Approve and publish in one. A draft that is published already gives its release; nothing is written.

    Raises `NotAllowed` with every failing reason, or `StaleLiveFile` where only the live file forbids it.
    """
    with store.hold(LOCK):
        _recover(store, live)
        case = dossier(store, draft_id)
        draft = case.draft
        if case.status is Status.PUBLISHED:
            return _published(case.releases)[-1]
        now_live = live.read(place(draft.target))
        after = _permit(case, now_live, store=store, vet=vet, actor=actor, reason=reason)
        at = _next_time(store, clock)
        mode = NEW_FILE_MODE if now_live.mode is None else now_live.mode
        intended = Release(
            number=_next_number(store),
            step=Step.INTENDED,
            draft=draft.digest,
            draft_id=draft.id,
            target=draft.target,
            path=str(now_live.path),
            before=None if now_live.content is None else store.put_blob(now_live.content),
            before_mode=now_live.mode,
            after=draft.after,
            after_mode=mode,
            actor=actor,
            reason=reason,
            at=at,
        )
        review = Review(draft=draft.digest, reviewer=actor, decision=Decision.APPROVE, reason=reason, at=at)
        # An approval of this very digest stands, also where an earlier publication broke off.
        approvals = () if case.status is Status.APPROVED else (review,)
        store.commit(*approvals, intended)
        return _carry_out(intended, store=store, live=live, expected=now_live.content, content=after)


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
            at=_next_time(store, clock),
        )
        store.commit(review)
        return review


def undo(
    which: str | None, *, store: Store, live: LiveFiles, clock: Clock, actor: str, reason: str = ""
) -> Release:
    """Give a file the bytes and mode back that it had before a release; remove it where there was none.

    `which` is the number of a release or the id of a draft; None is the newest that is not yet undone.
    Undone already: its undo is given again, nothing is written. Raises `StaleLiveFile` where the file no
    longer is what was published.
    """
    with store.hold(LOCK):
        _recover(store, live)
        releases = tuple(store.find(Release))
        release = _chosen(store, releases, which)
        if (undone := _undo_of(release, releases)) is not None:
            return undone
        _refuse_if_built_upon(release, releases)
        now_live = live.read(Path(release.path))
        content = None if release.before is None else store.blob(release.before)
        if _digest(now_live.content) != release.after:
            published = None if release.after is None else store.blob(release.after)
            raise StaleLiveFile(
                now_live.path, base=published, live=now_live.content, proposed=content, names=UNDOING
            )
        intended = replace(
            release,
            number=_next_number(store),
            step=Step.INTENDED,
            before=release.after,
            before_mode=now_live.mode,
            after=release.before,
            after_mode=release.before_mode,
            undoes=release.number,
            actor=actor,
            reason=reason,
            at=_next_time(store, clock),
        )
        store.commit(intended)
        return _carry_out(intended, store=store, live=live, expected=now_live.content, content=content)


def recover(store: Store, live: LiveFiles) -> tuple[Release, ...]:
    """Close the releases that a killed process left open; gives what was written of them."""
    with store.hold(LOCK):
        return _recover(store, live)


def _find_draft(store: Store, draft_id: str) -> Draft:
    exact = store.get(Draft, draft_id)
    if exact is not None:
        if exact.id != draft_id:
            raise NotAllowed(
                [("digest-differs", f"the stored proposal {draft_id} is not the one of that digest")]
            )
        return exact
    found = [draft for draft in store.find(Draft) if draft.id.startswith(draft_id)]
    if len(draft_id) < SHORTEST_PREFIX or not found:
        raise NotFound(f"no proposal {draft_id!r}; `nightschool proposals` lists them")
    if len(found) > 1:
        listed = ", ".join(draft.id for draft in found)
        raise UserError(f"{draft_id!r} is the beginning of several proposals: {listed}; name one of them")
    return found[0]


def _dossier(store: Store, draft: Draft) -> Dossier:
    safety = tuple(store.find(SafetyReport, draft.digest))
    verdicts = tuple(store.find(Verdict, draft.digest))
    reviews = tuple(store.find(Review, draft.digest))
    releases = tuple(release for release in store.find(Release) if release.draft == draft.digest)
    return Dossier(
        draft=draft,
        status=status_of(draft, safety=safety, verdicts=verdicts, reviews=reviews, releases=releases),
        candidate=store.get(Candidate, draft.candidate),
        safety=safety,
        verdicts=verdicts,
        reviews=reviews,
        releases=releases,
        refused_edits=tuple(store.find(RefusedEdit, draft.candidate)),
    )


def _permit(case: Dossier, now_live: LiveFile, *, store: Store, vet: Vet, actor: str, reason: str) -> bytes:
    """The bytes to publish, if everything allows it."""
    reasons: Reasons = [] if actor else [("no-actor", "a review needs the name of its reviewer")]
    reasons += _against_state(case) + _against_evidence(case, reason)
    after, damage = _blob(store, case.draft.after)
    base, base_damage = (None, []) if case.draft.before is None else _blob(store, case.draft.before)
    reasons += damage + base_damage
    if not damage and not base_damage:
        # Anew, on the very bytes: rules, known secrets and the files around may be others by now.
        found = [finding for finding in vet(case.draft) if finding.risk is not Risk.LOW]
        reasons += [(f"unsafe-{finding.code}", finding.text) for finding in found]
    if case.draft.before != case.draft.live:
        reasons.append(("digest-differs", "the kept copy of the live file is not the one it was made from"))
    stale = _digest(now_live.content) != case.draft.live
    if reasons and stale:
        reasons.append(("live-changed", f"{now_live.path} was changed since the proposal was made"))
    if reasons or after is None:
        raise NotAllowed(reasons)
    if stale:
        raise StaleLiveFile(now_live.path, base=base, live=now_live.content, proposed=after)
    return after


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
    if not case.verdicts:
        return [*reasons, ("verdict-missing", "the gate has not spoken of this revision")]
    verdict = case.verdicts[-1]
    match verdict.kind:
        case VerdictKind.ACCEPT:
            pass
        case VerdictKind.UNDECIDED | VerdictKind.UNDERPOWERED:
            if not reason.strip() and not _waived(case):
                text = f"it is a suggestion, not certified ({verdict.why}): only your reason can carry it"
                reasons.append(("waiver-missing", text))
        case VerdictKind.REJECT | VerdictKind.INVALID:
            reasons.append((f"verdict-{verdict.kind}", f"the gate says {verdict.kind}: {verdict.why}"))
    return reasons


def _waived(case: Dossier) -> bool:
    """Whether an approval that still stands gave its reason."""
    return case.status is Status.APPROVED and bool(case.reviews[-1].reason.strip())


def _blob(store: Store, digest: Digest) -> tuple[bytes | None, Reasons]:
    try:
        content = store.blob(digest)
    except NotFound:
        return None, [("content-missing", f"the content {digest[:10]} of the proposal is not in the store")]
    except Conflict as error:
        return None, [("digest-differs", str(error))]
    if digest_bytes(content) != digest:
        return None, [("digest-differs", f"the content {digest[:10]} of the proposal was changed")]
    return content, []


def _carry_out(
    intended: Release, *, store: Store, live: LiveFiles, expected: bytes | None, content: bytes | None
) -> Release:
    path = Path(intended.path)
    try:
        live.swap(path, expected=expected, content=content, mode=intended.after_mode)
    except NightschoolError as error:
        # The file tells how far it came: an error after the rename is no reason to call it unwritten.
        closed = _closed(intended, live)
        if closed.step is Step.ABANDONED:
            store.commit(replace(closed, reason=f"not written: {error}"))
            if isinstance(error, Conflict):
                now = live.read(path).content
                names = UNDOING if intended.undoes else ADOPTING
                raise StaleLiveFile(path, base=expected, live=now, proposed=content, names=names) from error
            raise
    done = replace(intended, step=Step.DONE)
    store.commit(done)
    return done


def _recover(store: Store, live: LiveFiles) -> tuple[Release, ...]:
    releases = store.find(Release)
    closed = {release.number for release in releases if release.step is not Step.INTENDED}
    written = []
    for release in releases:
        if release.number not in closed:
            # A file that cannot be looked at now stays open; it is no reason to refuse all others.
            with suppress(UserError):
                written.append(_closed(release, live))
    store.commit(*written)
    return tuple(written)


def _closed(intended: Release, live: LiveFiles) -> Release:
    present = _digest(live.read(Path(intended.path)).content)
    if present == intended.after:
        return replace(intended, step=Step.DONE)
    if present == intended.before:
        why = "broken off before the file was written"
    else:
        why = "broken off, and the file now holds neither what it held before nor what was to be written"
    return replace(intended, step=Step.ABANDONED, reason=why)


def _next_time(store: Store, clock: Clock) -> datetime:
    """Now, or just after the newest act where the clock was set back: a status is read from their order."""
    acts = [*(review.at for review in store.find(Review)), *(release.at for release in store.find(Release))]
    return max([clock.now(), *(at + timedelta(microseconds=1) for at in acts)])


def _next_number(store: Store) -> str:
    return f"r-{store.take('releases'):04d}"


def _ordinal(release: Release) -> int:
    return int(release.number.removeprefix("r-"))


def _published(releases: Sequence[Release]) -> list[Release]:
    """Publications that took place, undone ones too, the oldest first."""
    done = [release for release in releases if release.step is Step.DONE and release.undoes is None]
    return sorted(done, key=_ordinal)


def _undo_of(release: Release, releases: Sequence[Release]) -> Release | None:
    return next((r for r in releases if r.step is Step.DONE and r.undoes == release.number), None)


def _chosen(store: Store, releases: Sequence[Release], which: str | None) -> Release:
    if which is None:
        standing = [r for r in _published(releases) if _undo_of(r, releases) is None]
        if not standing:
            raise UserError("nothing is published that could be undone")
        return standing[-1]
    named = [release for release in releases if release.number == which]
    if not named:
        try:
            case = dossier(store, which)
        except NotFound:
            raise NotFound(
                f"no release and no proposal {which!r}; `nightschool proposals` lists the proposals, and "
                "`nightschool show ID` the releases of one"
            ) from None
        published = _published(case.releases)
        if not published:
            advance(case.status, Act.UNDO)
            raise NotFound(f"no release of {case.draft.id}")
        return published[-1]
    last = named[-1]
    if last.undoes is not None:
        raise UserError(f"{which} is itself an undo, of {last.undoes}; to redo, adopt {last.draft_id}")
    if last.step is not Step.DONE:
        raise NotAllowed([("wrong-state", f"release {which} never took place: {last.reason}")])
    return last


def _refuse_if_built_upon(release: Release, releases: Sequence[Release]) -> None:
    later = [
        r
        for r in _published(releases)
        if r.path == release.path and _ordinal(r) > _ordinal(release) and _undo_of(r, releases) is None
    ]
    if later:
        named = ", ".join(f"{r.number} ({r.draft_id})" for r in reversed(later))
        raise NotAllowed(
            [("built-upon", f"{release.path} was changed again by {named}; undo that first, newest first")]
        )


def _digest(content: bytes | None) -> Digest | None:
    return None if content is None else digest_bytes(content)


def _difference(old_name: str, new_name: str, old: bytes | None, new: bytes | None) -> str:
    try:
        before = "" if old is None else old.decode()
        after = "" if new is None else new.decode()
    except UnicodeDecodeError:
        return f"--- {old_name}\n+++ {new_name}\n(no text in UTF-8)\n" if old != new else ""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), old_name, new_name
    )
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
