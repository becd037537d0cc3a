"""Takes the corrections of a run in turn, each with its share of the budget: decision 0011.

Relieves the cycle, which knows what to do with one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence

from nightschool.core.cycles import Learned
from nightschool.core.tasks import Candidate
from nightschool.rules.prospects import in_turn, share, waits
from nightschool.stages.outlook import Outlook
from nightschool.stages.replay import Replay

LONGEST = 40
"""Of a correction in a line of progress."""


def take_turns(
    found: Sequence[Outlook],
    *,
    replay: Replay,
    turn: Callable[[Candidate], Learned],
    unfinished: Container[str],
    learned: dict[str, Learned],
    words: Mapping[str, str],
) -> None:
    """Each in its turn with its share, then those that used it up with all that is left. `learned` is filled
    as they come, so that what was learned before a break is known; `words` are what each is called."""
    door, prospects = replay.door, [one.prospect for one in found]
    order, whole = in_turn(prospects), replay.door.left()
    for place, number in enumerate(order):
        own, candidate = found[number], found[number].candidate
        later = [prospects[other] for other in order[place + 1 :] if found[other].done is None]
        why = waits(own.prospect, door.left(), whole) if own.done is None else None
        if why is not None:
            learned[candidate.id] = Learned.of(candidate, "next-run", why)
            continue
        replay.about = _about(words[candidate.id], place, order)
        jobs = share(own.prospect, later, door.left())
        replay.rest = door.share(jobs, 1 + len(later)) if later and not own.prospect.won else None
        learned[candidate.id] = turn(candidate)
    replay.rest = None
    for place, number in enumerate(order):
        if found[number].candidate.id in unfinished:
            replay.about = _about(words[found[number].candidate.id], place, order)
            learned[found[number].candidate.id] = turn(found[number].candidate)


def _about(words: str, place: int, order: Sequence[int]) -> str:
    shown = words if len(words) <= LONGEST else words[: LONGEST - 1] + "…"
    return f'"{shown}" ({place + 1} of {len(order)}): '
