"""Looks up what stands of a candidate before a job is spent on it.

Relieves the cycle, and the plan of a dry run, which must come to the same answer.
"""

from __future__ import annotations

from dataclasses import dataclass

from nightschool.core.harness import LiveFile, Target
from nightschool.core.ports import LiveFiles, Store
from nightschool.core.proposals import Dossier, Draft, Status
from nightschool.core.tasks import Candidate
from nightschool.core.values import Value
from nightschool.rules.memory_block import check_text
from nightschool.rules.standing import settled
from nightschool.stages.aiming import Aim, Aiming
from nightschool.stages.in_file import of_case
from nightschool.stages.pins import pinned, pinned_text
from nightschool.stages.releases import dossier, read_only


@dataclass(frozen=True, slots=True, kw_only=True)
class Stand(Value):
    """The file as it is, the drafts of before, and why there is nothing to do."""

    live: LiveFile
    cases: tuple[Dossier, ...] = ()
    done: tuple[str, str, str | None] | None = None
    """(code, why, draft); None: a run would practise."""
    elsewhere: Draft | None = None
    """The newest that the person took back from another file: their no was about that one."""


def stand(
    candidate: Candidate, aim: Aim, target: Target, *, aiming: Aiming, store: Store, live: LiveFiles
) -> Stand:
    """Raises `UserError` where the live file cannot be read, or is no text."""
    surface, home = aiming.surface, aiming.person_home
    file = live.read(surface.live_path(target, home))
    pin = pinned(store, file.path)
    if pin is not None:
        return Stand(live=file, done=("pinned", pinned_text(pin), None))
    for _, why in read_only(file):
        return Stand(live=file, done=("needs-you", why, None))
    if target.skill is not None and not surface.holds(file.path, aim.root, home):
        why = f"a link leads from {target.place} to {file.path}, out of what the agent's places hold"
        return Stand(live=file, done=("needs-you", why, None))
    check_text(file.content or b"", where=str(file.path))
    cases = tuple(dossier(store, draft.id) for draft in store.find(Draft, owner=candidate.id))
    # The same correction is another candidate where it was heard in more projects, or in fewer, since.
    kin = [one.id for one in store.find(Candidate) if _kin(one, candidate)]
    others = [dossier(store, draft.id) for name in kin for draft in store.find(Draft, owner=name)]
    known = sorted((*others, *cases), key=lambda case: case.draft.created_at)
    by_hand = frozenset(
        case.draft.id
        for case in known
        if (state := of_case(case, store, live)) is not None and not state.stands
    )
    done = settled(known, target, aim.base, file, by_hand=by_hand)
    back = [case.draft for case in known if case.status is Status.ROLLED_BACK and case.draft.target != target]
    return Stand(live=file, cases=cases, done=done, elsewhere=back[-1] if back else None)


def _kin(one: Candidate, candidate: Candidate) -> bool:
    return one.correction == candidate.correction and one.id != candidate.id


def same_edit(draft: Draft, candidate: Candidate, store: Store) -> tuple[str, str, str] | None:
    """(code, why, draft) where the same bytes of the same file were drafted for another correction: what two
    corrections ask for in one edit is one proposal, with one exam and one word of the person."""
    known = store.get(Draft, draft.id)
    if known is None or known.candidate == candidate.id:
        return None
    status = dossier(store, known.id).status
    return "same-edit", f"the very same edit was made for another correction: {known.id}, {status}", known.id
