"""Undo: old bytes and mode back, or a refusal; or, asked for, a release's edits out of what came later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from nightschool.core.errors import NotAllowed, NotFound, UserError
from nightschool.core.harness import LiveFile
from nightschool.core.ports import Clock, LiveFiles, Store
from nightschool.core.proposals import Act, Draft, Edit, Release, Step, advance
from nightschool.rules.memory_block import block_as_written, with_block_of
from nightschool.rules.reversal import reversed_edits, touches
from nightschool.rules.skill_body import edited, rules_of
from nightschool.stages.in_file import edits_of, in_file, is_of, let_go, there
from nightschool.stages.releases import (
    LOCK,
    UNDOING,
    StaleLiveFile,
    against_edits,
    carry_out,
    digest_of_file,
    dossier,
    kept_later,
    next_number,
    next_time,
    ordinal,
    published,
    recovered,
    standing_after,
    undo_of,
)


def undo(
    which: str | None,
    *,
    store: Store,
    live: LiveFiles,
    clock: Clock,
    actor: str,
    reason: str = "",
    keep_later: bool = False,
    project: str | None = None,
) -> Release:
    """Give a file the bytes and mode back that it had before a release; remove it where there was none.

    `which` is the number of a release or the id of a draft; None is the newest that is not yet undone, of
    `project` (its root) and of the person's own files, or where that is None of all.
    Undone already: its undo is given again, nothing is written. Where a hand took all of it out already, or
    reworded it, that is written down and the file left alone. Raises `StaleLiveFile` where the file no longer
    is what was published, `NotAllowed` where another release was built upon this one. With `keep_later` the
    release's edits are then taken out of the file as it is, but for those whose words a hand changed: these
    are the person's. Where only text outside of our block was changed, the block gets its old bytes back and
    all else stays byte for byte.
    """
    with store.hold(LOCK):
        recovered(store, live)
        releases = tuple(store.find(Release))
        release = _newest(releases, project) if which is None else _chosen(store, releases, which)
        if (undone := undo_of(release, releases)) is not None:
            return undone
        now = there(release.target, live.read(Path(release.path)))
        if in_file(release, store, live).nothing_left:
            return let_go(release, now, store=store, clock=clock, actor=actor, reason=reason)
        if keep_later and (_builders(release, releases) or digest_of_file(now.content) != release.after):
            content, mode = _without(release, releases, now, store), now.mode
        else:
            _refuse_if_built_upon(release, releases)
            content, mode = _as_before(release, now, store), release.before_mode
        intended = replace(
            release,
            number=next_number(store),
            step=Step.INTENDED,
            before=None if now.content is None else store.put_blob(now.content),
            before_mode=now.mode,
            after=None if content is None else store.put_blob(content),
            after_mode=None if content is None else mode,
            undoes=release.number,
            actor=actor,
            reason=reason,
            at=next_time(store, clock),
        )
        store.commit(intended)
        return carry_out(intended, store=store, live=live, expected=now.content, content=content)


def _as_before(release: Release, now: LiveFile, store: Store) -> bytes | None:
    """The very bytes of before, where the file still is what was published."""
    content = None if release.before is None else store.blob(release.before)
    if digest_of_file(now.content) != release.after:
        raise _stale(release, now, store, _against_taking_out(release, now, store))
    if None not in {now.mode, release.after_mode} and now.mode != release.after_mode:
        # Somebody narrowed or widened it since: giving an old mode back would undo that, too, unasked.
        raise NotAllowed(
            [
                (
                    "mode-changed",
                    f"the bytes of {now.path} are what was written, its mode is not: {now.mode:04o} now, "
                    f"{release.after_mode:04o} then; `chmod {release.after_mode:o}` it and undo again",
                )
            ]
        )
    return content


def _without(release: Release, releases: Sequence[Release], now: LiveFile, store: Store) -> bytes | None:
    """The file as it is now without the release's edits; None where it was ours and nothing is left."""
    before, back = _back(release, store)
    if not _builders(release, releases) and _block_untouched(release, now, store):
        content = with_block_of(now.content or b"", before, where=str(now.path))
        return _or_none(content, release, releases)
    done = edited(release.target, now.content, back, where=str(now.path))
    if done.refused:
        later = standing_after(release, releases)
        in_the_way = [one for one in later if touches(edits_of(one, store), edits_of(release, store))]
        if in_the_way:
            named = ", ".join(f"{r.number} ({r.draft_id})" for r in in_the_way)
            why = "; ".join(refusal.text for refusal in done.refused)
            text = f"its edits cannot be taken out of {now.path} alone ({why}): undo {named} first"
            raise NotAllowed([("built-upon", text)])
        if not done.taken:
            raise _stale(release, now, store, against_edits(back, now, release.target))
    # What else is refused has no place any more, since a hand changed its words: they are the person's now.
    return _or_none(done.content, release, releases)


def _back(release: Release, store: Store) -> tuple[bytes | None, tuple[Edit, ...]]:
    """The bytes before a release, and the edits that take its own back."""
    draft = store.get(Draft, release.draft_id)
    if draft is None:
        raise NotFound(f"the proposal {release.draft_id} of {release.number} is not in the store")
    before = None if release.before is None else store.blob(release.before)
    return before, reversed_edits(draft.edits, rules_of(draft.target, before))


def _against_taking_out(release: Release, now: LiveFile, store: Store) -> Sequence[tuple[str, str]]:
    """Why `keep_later` would be refused too: it takes out what it can, if there is anything."""
    try:
        _, back = _back(release, store)
        done = edited(release.target, now.content, back, where=str(now.path))
    except UserError as error:
        return [("block-damaged", str(error))]
    return () if done.taken else against_edits(back, now, release.target)


def _block_untouched(release: Release, now: LiveFile, store: Store) -> bool:
    """Whether only text outside of our block was changed since: then the old block can be put back as it
    was. In a skill an edit may reach text outside of it."""
    if release.target.skill is not None or release.after is None:
        return False
    return block_as_written(now.content, store.blob(release.after), where=str(now.path))


def _or_none(content: bytes, release: Release, releases: Sequence[Release]) -> bytes | None:
    made = any(r.before is None for r in published(releases) if r.path == release.path)
    return None if made and not content else content


def _stale(
    release: Release, now: LiveFile, store: Store, reasons: Sequence[tuple[str, str]]
) -> StaleLiveFile:
    """`reasons`: why the edits can't be taken out of the file as it is; none where they can."""
    adopted = None if release.after is None else store.blob(release.after)
    before = None if release.before is None else store.blob(release.before)
    return StaleLiveFile(
        now.path,
        base=adopted,
        live=now.content,
        proposed=before,
        names=UNDOING,
        reasons=reasons,
        outside=not reasons and _block_untouched(release, now, store),
    )


def _newest(releases: Sequence[Release], project: str | None) -> Release:
    standing = [r for r in published(releases) if undo_of(r, releases) is None]
    here = [r for r in standing if project is None or is_of(r.target, project)]
    if here:
        return here[-1]
    if not standing:
        raise UserError("nothing is published that could be undone")
    last = standing[-1]
    raise UserError(
        f"nothing that stands was adopted for {project}; the newest elsewhere is {last.number}, in "
        f"{last.path}: `nightschool undo {last.number}` takes it back"
    )


def _chosen(store: Store, releases: Sequence[Release], which: str) -> Release:
    named = [release for release in releases if release.number == which]
    if not named:
        try:
            case = dossier(store, which)
        except NotFound:
            raise NotFound(
                f"no release and no proposal {which!r}; `nightschool releases` lists what was adopted, and "
                "`nightschool proposals` the proposals"
            ) from None
        done = published(case.releases)
        if not done:
            advance(case.status, Act.UNDO)
            raise NotFound(f"no release of {case.draft.id}")
        return done[-1]
    last = named[-1]
    if last.undoes is not None:
        raise UserError(f"{which} is itself an undo, of {last.undoes}; to redo, adopt {last.draft_id}")
    if last.step is not Step.DONE:
        raise NotAllowed([("wrong-state", f"release {which} never took place: {last.reason}")])
    return last


def _builders(release: Release, releases: Sequence[Release]) -> list[Release]:
    """What has built upon a release since: later publications, and undos that kept this one."""
    partial = [
        r
        for r in releases
        if r.step is Step.DONE
        and r.undoes is not None
        and r.path == release.path
        and ordinal(r) > ordinal(release)
        and r.before != r.after
        and kept_later(r, releases)
    ]
    return [*standing_after(release, releases), *partial]


def _refuse_if_built_upon(release: Release, releases: Sequence[Release]) -> None:
    built = _builders(release, releases)
    if not built:
        return
    alone = f"`nightschool undo {release.number} --keep-later` takes its edits alone out, if they stand apart"
    named = ", ".join(f"{r.number} ({r.draft_id})" for r in built if r.undoes is None)
    if named:
        text = f"{release.path} was changed again by {named}; undo that first, newest first. {alone}"
    else:
        text = f"{release.path} was changed by {built[-1].number}, an undo that kept this. {alone}"
    raise NotAllowed([("built-upon", text)])
