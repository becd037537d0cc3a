"""Notes what a person should know of a cycle: losses, stale proposals, tasks that tell nothing.

Relieves the cycle of looking for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from textwrap import shorten

from nightschool.core.cycles import Learned
from nightschool.core.harness import Target
from nightschool.core.jobs import Finished, LostTry, Role
from nightschool.core.ports import LiveFiles, Store
from nightschool.core.proposals import Dossier, Verdict
from nightschool.core.trials import Trial
from nightschool.rules.gate import Policy
from nightschool.rules.limits import ended_by
from nightschool.rules.standing import say_the_same
from nightschool.rules.telling import counted
from nightschool.rules.worth import told_waiting
from nightschool.stages.door import Door
from nightschool.stages.in_file import in_its_place, of_case
from nightschool.stages.mine import Mined
from nightschool.stages.releases import Fit, dossier, drafts, fit
from nightschool.stages.set_ups import Stop
from nightschool.stages.silences import silences

LOSSES = 3
LOSS_WIDTH = 300
LACKS = "replays run without a network and without logins of other tools; what needs them fails"


def stopped(door: Door, learned: Sequence[Learned], store: Store) -> str | None:
    """The limit that ended a cycle, or kept an exam of it from its tries."""
    verdicts = [verdict for verdict in store.find(Verdict) if verdict.cycle == door.cycle]
    return ended_by(door.stopped_by(), learned, verdicts, door.scarce())


def losses(store: Store, cycle: str, stops: Iterable[Stop]) -> tuple[str, ...]:
    """What tries were lost to, the most frequent first, in the words that the door redacted."""
    told = {stop.why for stop in stops}
    tries = store.find(LostTry, owner=cycle)
    lost = Counter(f"{one.reason}: {one.message}" for one in tries if one.message not in told)
    return tuple(
        f"{counted(count, 'try was', 'tries were')} lost: {shorten(why, LOSS_WIDTH)}"
        for why, count in lost.most_common(LOSSES)
    )


def tries(store: Store, cycle: str) -> tuple[tuple[str, int], ...]:
    """What the trials of a cycle were made for."""
    return tuple(sorted(Counter(trial.purpose for trial in store.find(Trial, owner=cycle)).items()))


def edit_jobs(store: Store, cycle: str) -> int:
    """The jobs of a cycle that wrote edits."""
    return sum(job.role is Role.EDIT for job in store.find(Finished, owner=cycle))


def practised(mined: Mined, learned: Sequence[Learned]) -> tuple[str, ...]:
    """Why nothing was tried, or what every try lacked."""
    if not mined.candidates:
        return tuple(told_waiting(mined.waiting)) or ("nothing to learn yet: no correction was heard",)
    tried = any(item.draft is not None for item in learned)
    return (LACKS,) if tried else ()


def stale(
    learned: Sequence[Learned], *, store: Store, live: LiveFiles, place: Callable[[Target], Path]
) -> Iterator[str]:
    """What the person changed by hand while this ran."""
    for item in learned:
        if item.draft is not None:
            case = dossier(store, item.draft)
            found = fit(case, live, place)
            again = f"`nightschool rebase {item.draft}` makes it anew"
            if found is Fit.LOST:
                again = "an edit has lost its place, and the next run proposes anew"
            if found is not Fit.FITS:
                path = place(case.draft.target)
                yield f"{path} was changed since {item.draft} was made, which is stale already: {again}"


def said_twice(
    learned: Sequence[Learned], *, store: Store, live: LiveFiles, place: Callable[[Target], Path]
) -> Iterator[str]:
    """What is proposed for a file while another one that is read along with it says it, or may."""

    def counts(other: Dossier) -> bool:
        state = of_case(other, store, live)
        if state is not None:
            return state.stands
        return in_its_place(other, store=store, live=live, place=place) is None

    known = drafts(store)
    for case in known:
        if any(item.draft == case.draft.id for item in learned):
            for other in filter(counts, say_the_same(case, known)):
                here, there = place(case.draft.target), place(other.draft.target)
                yield (
                    f"{case.draft.id} says in {here} what {other.draft.id} ({other.status}) says in "
                    f"{there}: the agent reads both, so one of them will do"
                )


def quiet(learned: Sequence[Learned], *, store: Store, policy: Policy) -> Iterator[str]:
    """Tasks that took tries and told nothing."""
    for item in learned:
        verdict = None if item.draft is None else dossier(store, item.draft).verdict
        found = silences(verdict, store, policy)
        if found is not None:
            yield f"the exam of {item.draft} learns nothing from some tasks: {'; '.join(found.lines)}"
