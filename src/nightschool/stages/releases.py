"""What publishing, undoing and remaking have in common: dossiers, and releases that survive a kill.

A release is written down before the file is touched and again after it, so that a process that dies
between leaves a record of what it was about to do; `recover` tells from the file how far it came.
"""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from enum import Enum
from pathlib import Path

from nightschool.core.errors import Conflict, NightschoolError, NotAllowed, NotFound, UserError
from nightschool.core.harness import LiveFile, Target
from nightschool.core.ports import Clock, LiveFiles, Redact, Store
from nightschool.core.proposals import (
    Dossier,
    Draft,
    Edit,
    RefusedEdit,
    Release,
    Review,
    SafetyReport,
    Status,
    Step,
    Verdict,
    status_of,
)
from nightschool.core.tasks import Candidate
from nightschool.core.values import Digest, digest_bytes
from nightschool.rules.skill_body import edited

LOCK = "publish"
SHORTEST_PREFIX = 4
NEW_FILE_MODE = 0o644
NOW = "as it is now"
ADOPTING = ("as it was read", "as proposed")
UNDOING = ("as it was adopted", "as it was before")

Reasons = list[tuple[str, str]]
WAITING = frozenset({Status.IN_REVIEW, Status.SUGGESTED, Status.APPROVED})
"""What waits for a person's word."""
OPEN = WAITING | {Status.ROLLED_BACK}
"""What a person can still adopt, or have made anew."""


class Fit(Enum):
    """How an open proposal stands to its live file."""

    FITS = "the file is the one that it was made from"
    STALE = "the file was changed since: adopting is refused, and the edits can be made anew"
    LOST = "stale, and an edit has lost its place: only a new proposal can follow"


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
        reasons: Sequence[tuple[str, str]] = (),
        outside: bool = False,
    ) -> None:
        """`names` are those of base and proposed in the difference."""
        self.reasons = tuple(reasons)
        """Why the edits cannot be made again, or taken out, on the file as it is now; none where they can."""
        self.outside = outside
        """Whether only text outside of our block was changed."""
        self.path = path
        self.base = base
        self.live = live
        self.proposed = proposed
        self.names = names
        super().__init__(f"{path} was changed since nightschool read it; nothing was written")

    def diff(self, redact: Redact) -> str:
        """What happened to the file since, then what would have been written. A person's own file may hold
        secrets: they are taken out of each side, since between the signs of a diff none could be seen."""
        known, wanted = self.names
        base, live, proposed = (_redacted(side, redact) for side in (self.base, self.live, self.proposed))
        return _difference(known, NOW, base, live) + _difference(known, wanted, base, proposed)


def dossier(store: Store, draft_id: str) -> Dossier:
    return _dossier(store, _find_draft(store, draft_id))


def drafts(store: Store) -> tuple[Dossier, ...]:
    """All drafts, the oldest first."""
    return tuple(_dossier(store, draft) for draft in store.find(Draft))


def recover(store: Store, live: LiveFiles) -> tuple[Release, ...]:
    """Close the releases that a killed process left open; gives what was written of them."""
    with store.hold(LOCK):
        return recovered(store, live)


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


def fit(case: Dossier, live: LiveFiles, place: Callable[[Target], Path]) -> Fit:
    """The one place that knows whether a proposal is stale. Of what is settled nothing can be."""
    draft = case.draft
    if case.status not in OPEN:
        return Fit.FITS
    try:
        now = live.read(place(draft.target))
    except UserError:
        # Adopting and rebasing both name what is wrong with the file.
        return Fit.STALE
    if fits(draft, now):
        return Fit.FITS
    return Fit.LOST if against_edits(draft.edits, now, draft.target) else Fit.STALE


def fits(draft: Draft, now: LiveFile) -> bool:
    return digest_of_file(now.content) == draft.live


def read_only(now: LiveFile) -> Reasons:
    """Nothing is written over a person's word that a file is to stay as it is, whoever may write it."""
    if now.mode is None or now.mode & 0o200:
        return []
    text = (
        f"{now.path} is read-only (mode {now.mode:04o}), so it is left as it is; "
        f"`chmod u+w {shlex.quote(str(now.path))}` lets it be changed"
    )
    return [("read-only", text)]


def against_edits(edits: Sequence[Edit], now: LiveFile, target: Target) -> Reasons:
    """Why these edits cannot be made on the file as it is now. Text that they do not name is not in their
    way."""
    try:
        refused = edited(target, now.content, edits, where=str(now.path)).refused
    except UserError as error:
        return [("block-damaged", str(error))]
    places = {id(edit): place for place, edit in enumerate(edits, start=1)}
    return [(f"edit-{code}", f"edit {places[id(edit)]}: {text}") for edit, code, text in refused]


def stored(store: Store, digest: Digest) -> tuple[bytes | None, Reasons]:
    try:
        content = store.blob(digest)
    except NotFound:
        return None, [("content-missing", f"the content {digest[:10]} of the proposal is not in the store")]
    except Conflict as error:
        return None, [("digest-differs", str(error))]
    if digest_bytes(content) != digest:
        return None, [("digest-differs", f"the content {digest[:10]} of the proposal was changed")]
    return content, []


def carry_out(
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
    _clear(intended, live)
    done = replace(intended, step=Step.DONE)
    store.commit(done)
    return done


def _clear(release: Release, live: LiveFiles) -> None:
    """Where a file was taken back that was new, the folders that were made for it go too."""
    if release.after is None:
        live.clear([Path(folder) for folder in release.folders])


def recovered(store: Store, live: LiveFiles) -> tuple[Release, ...]:
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
    present = digest_of_file(live.read(Path(intended.path)).content)
    if present == intended.after:
        _clear(intended, live)
        return replace(intended, step=Step.DONE)
    if present == intended.before:
        why = "broken off before the file was written"
    else:
        why = "broken off, and the file now holds neither what it held before nor what was to be written"
    return replace(intended, step=Step.ABANDONED, reason=why)


def next_time(store: Store, clock: Clock) -> datetime:
    """Now, or just after the newest act where the clock was set back: a status is read from their order."""
    acts = [*(review.at for review in store.find(Review)), *(release.at for release in store.find(Release))]
    return max([clock.now(), *(at + timedelta(microseconds=1) for at in acts)])


def next_number(store: Store) -> str:
    return f"r-{store.take('releases'):04d}"


def ordinal(release: Release) -> int:
    return int(release.number.removeprefix("r-"))


def published(releases: Sequence[Release]) -> list[Release]:
    """Publications that took place, undone ones too, the oldest first."""
    done = [release for release in releases if release.step is Step.DONE and release.undoes is None]
    return sorted(done, key=ordinal)


def undo_of(release: Release, releases: Sequence[Release]) -> Release | None:
    return next((r for r in releases if r.step is Step.DONE and r.undoes == release.number), None)


def standing_after(release: Release, releases: Sequence[Release]) -> list[Release]:
    """Later publications into the same file that are not undone, the newest first."""
    later = [
        r
        for r in published(releases)
        if r.path == release.path and ordinal(r) > ordinal(release) and undo_of(r, releases) is None
    ]
    return later[::-1]


def kept_later(undo: Release, releases: Sequence[Release]) -> bool:
    """Whether an undo took one release's edits out and kept what came later: no old bytes came back."""
    undone = next((r for r in releases if r.number == undo.undoes), None)
    return undone is not None and undo.after != undone.before


def digest_of_file(content: bytes | None) -> Digest | None:
    return None if content is None else digest_bytes(content)


def _redacted(content: bytes | None, redact: Redact) -> bytes | None:
    try:
        return None if content is None else redact(content.decode()).encode()
    except UnicodeDecodeError:
        return content


def _difference(old_name: str, new_name: str, old: bytes | None, new: bytes | None) -> str:
    try:
        before = "" if old is None else old.decode()
        after = "" if new is None else new.decode()
    except UnicodeDecodeError:
        return f"--- {old_name}\n+++ {new_name}\n(no text in UTF-8)\n" if old != new else ""
    old_ends, new_ends = _ends(before), _ends(after)
    note = ""
    if old_ends and new_ends and old_ends != new_ends:
        # Lines that differ in nothing that can be seen would hide those that do.
        before, after = before.replace("\r\n", "\n"), after.replace("\r\n", "\n")
        became = f"{old_ends} became {new_ends}"
        if before == after:
            return f"--- {old_name}\n+++ {new_name}\n(only the line ends differ: {became})\n"
        note = f"(the line ends differ too: {became}; they are left aside here)\n"
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), old_name, new_name
    )
    return note + "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def _ends(text: str) -> str:
    """How its lines end, as a person calls it; "" where there are none."""
    if "\n" not in text:
        return ""
    windows = text.count("\r\n")
    return "CRLF" if windows == text.count("\n") else "LF and CRLF" if windows else "LF"
