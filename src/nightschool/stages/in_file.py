"""What of an adoption stands in its file, told from the file as it is: a hand, or git, may have taken it out.

Relieves undo, adopting, the cycle and the screens of looking at the file each in its own way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

from nightschool.core.errors import UserError
from nightschool.core.harness import LiveFile, Target
from nightschool.core.ports import Clock, LiveFiles, Store
from nightschool.core.proposals import Dossier, Draft, Edit, Release, Status, Step
from nightschool.rules.reversal import still_there, touches
from nightschool.rules.skill_body import rules_of
from nightschool.rules.standing import takes_the_place
from nightschool.rules.telling import moved
from nightschool.stages.releases import (
    WAITING,
    Fit,
    digest_of_file,
    drafts,
    fit,
    next_number,
    next_time,
    published,
    standing_after,
    undo_of,
)

BY_HAND = "taken out or changed by hand"


class InFile(StrEnum):
    """What became of what was adopted and not undone."""

    AS_WRITTEN = "as-written"
    CHANGED = "changed"
    """It stands; a hand changed the file elsewhere."""
    OUTDATED = "outdated"
    """It stands; the file was written again since."""
    REPLACED = "replaced"
    """What was adopted later took the place of its words."""
    PARTLY = "partly"
    """A part of it was taken out or changed by hand."""
    TAKEN_OUT = "reworded"
    """None of its words is left: taken out, or changed by hand. They are the person's."""
    GONE = "gone"
    """The file is."""
    AWAY = "project-gone"
    """The folder of the project is: it may have been moved, with the file."""
    UNREADABLE = "unreadable"

    @property
    def stands(self) -> bool:
        """Unreadable is unknown, and what is not known is not called taken out."""
        return self not in {InFile.TAKEN_OUT, InFile.GONE, InFile.AWAY}

    @property
    def nothing_left(self) -> bool:
        """Whether nothing could be taken back any more."""
        return self in {InFile.TAKEN_OUT, InFile.GONE}


def in_file(release: Release, store: Store, live: LiveFiles) -> InFile:
    """Of a publication that is not undone."""
    try:
        now = live.read(Path(release.path))
        if is_away(release.target, now):
            return InFile.AWAY
        return _found(release, now, store)
    except UserError:
        return InFile.UNREADABLE


def of_case(case: Dossier, store: Store, live: LiveFiles) -> InFile | None:
    """Of a proposal that is adopted; None of any other."""
    done = published(case.releases)
    if case.status is not Status.PUBLISHED or not done:
        return None
    return in_file(done[-1], store, live)


def _found(release: Release, now: LiveFile, store: Store) -> InFile:
    digest = digest_of_file(now.content)
    if digest == release.after:
        return InFile.AS_WRITTEN
    if now.content is None:
        return InFile.GONE
    releases = store.find(Release)
    last = [r for r in releases if r.step is Step.DONE and r.path == release.path][-1]
    there = InFile.OUTDATED if digest == last.after else InFile.CHANGED
    missing = by_hand(release, now.content, store)
    if not missing:
        return there
    draft = store.get(Draft, release.draft_id)
    later = standing_after(release, releases)
    if all(any(touches(edits_of(one, store), [edit]) for one in later) for edit in missing):
        return InFile.REPLACED
    return InFile.TAKEN_OUT if draft is not None and len(missing) == len(draft.edits) else InFile.PARTLY


def by_hand(release: Release, content: bytes | None, store: Store) -> tuple[Edit, ...]:
    """Its edits that the file does not show as it did when they were written. One that it never showed is
    not among them: of that nothing can be told."""
    draft = store.get(Draft, release.draft_id)
    if draft is None or release.after is None:
        return ()
    written = still_there(draft.edits, rules_of(release.target, store.blob(release.after)))
    left = () if content is None else still_there(written, rules_of(release.target, content))
    return tuple(edit for edit in written if edit not in left)


def hands(undo: Release, store: Store) -> tuple[str, ...]:
    """The words of what it took back that a hand had taken out or changed before."""
    undone = next(r for r in store.find(Release) if r.number == undo.undoes and r.step is Step.DONE)
    content = None if undo.before is None else store.blob(undo.before)
    return tuple(edit.rule or edit.anchor for edit in by_hand(undone, content, store))


def edits_of(release: Release, store: Store) -> tuple[Edit, ...]:
    draft = store.get(Draft, release.draft_id)
    return () if draft is None else draft.edits


def let_go(
    release: Release, now: LiveFile, *, store: Store, clock: Clock, actor: str, reason: str = ""
) -> Release:
    """The undo of what was taken out by hand already: it is written down, and no file is touched."""
    kept = None if now.content is None else store.put_blob(now.content)
    done = replace(
        release,
        number=next_number(store),
        step=Step.DONE,
        before=kept,
        before_mode=now.mode,
        after=kept,
        after_mode=now.mode,
        folders=(),
        undoes=release.number,
        actor=actor,
        reason=reason,
        at=next_time(store, clock),
    )
    store.commit(done)
    return done


def let_go_if_taken_out(
    case: Dossier, *, store: Store, live: LiveFiles, clock: Clock, actor: str
) -> Release | None:
    """Where an adopted proposal is asked for anew and nothing of it is left: that is written down first.
    Gives the release that still stands, or None."""
    release = published(case.releases)[-1]
    if not in_file(release, store, live).nothing_left:
        return release
    now = live.read(Path(release.path))
    let_go(release, now, store=store, clock=clock, actor=actor, reason=BY_HAND)
    return None


def is_away(target: Target, now: LiveFile) -> bool:
    """Whether the folder of its project is not there."""
    return bool(target.project) and Path(target.project).resolve() in now.absent


def is_gone(target: Target, live: LiveFiles, place: Callable[[Target], Path]) -> bool:
    """The same, of a file that may not even be readable."""
    try:
        return is_away(target, live.read(place(target)))
    except UserError:
        return False


def there(target: Target, now: LiveFile) -> LiveFile:
    """The file, where its project is: no folder is made for one that was moved."""
    if is_away(target, now):
        raise UserError(moved(target.project))
    return now


def takes_back(release: Release, store: Store, live: LiveFiles, *, name: str = "") -> str | None:
    """The undo of it that is not refused, by this name; None where nothing of it is left, or it is undone."""
    if undo_of(release, store.find(Release)) is not None:
        return None
    match in_file(release, store, live):
        case InFile.AS_WRITTEN:
            return f"nightschool undo {name or release.number}"
        case InFile.CHANGED | InFile.OUTDATED | InFile.PARTLY:
            return f"nightschool undo {name or release.number} --keep-later"
    return None


def is_of(target: Target, project: str) -> bool:
    """Whether it is of a project or of all. A link in the old place of one leads to the new place."""
    own = target.project
    return own in {"", project} or Path(own).resolve() == Path(project).resolve()


def in_its_place(
    case: Dossier, *, store: Store, live: LiveFiles, place: Callable[[Target], Path]
) -> Dossier | None:
    """The proposal that stands in the place of a stale one; None where there is none."""
    if case.status not in WAITING or fit(case, live, place) is Fit.FITS:
        return None
    path = place(case.draft.target).resolve()
    for other in reversed(drafts(store)):
        state = of_case(other, store, live)
        fitting = other.status in WAITING and fit(other, live, place) is Fit.FITS
        stands = fitting or (state is not None and state.stands)
        same_file = place(other.draft.target).resolve() == path
        if same_file and takes_the_place(other, case, stands=stands):
            return other
    return None
