"""Which corrections are worth an edit by now, and why the others wait. Relieves mining of it."""

# ruff: noqa: RUF001 - words of other languages are written in their own letters

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from nightschool.core.tasks import Candidate, Correction, Footprint, Moment, Split
from nightschool.core.values import Value
from nightschool.rules.procedures import tells_an_order
from nightschool.rules.telling import counted
from nightschool.rules.voice import clearest, plain

_CONTRAST = re.compile(
    r"(?:.{0,60}?(?<!\w)(?:use|prefer|nimm|nutze|benutze|verwende|utilise|usa|используй)\s+)?(.{2,60}?)(?:,\s*|\s)"
    r"(?:and\s+)?(?:not|instead of|rather than|nicht|statt|pas|au lieu de|en vez de|invece di|а не|вместо)"
    r"\s+(.{2,60}?)[.!\s]*$",
    re.IGNORECASE,
)
_MARKS = " `'\"“”«»"
HOW = (
    "to have one practised that cannot be checked as it is: say it in two sessions with what stands in a "
    'command or a file in quotes, as in "use `X`, not `Y`", "never use `X`" or "always use `X`"'
)
"""The person's way out, where a machine cannot tell whether their words were followed."""
WAITING_SHOWN = 6
"""Of those that wait, the ones said most often are told one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits(Value):
    """A correction that is no candidate yet."""

    key: str
    statement: str
    """What the person said."""
    sessions: int
    code: str
    why: str


def weighed(
    heard: Sequence[Correction], sides: Mapping[str, Split], inside: set[str]
) -> tuple[tuple[Candidate, ...], tuple[Waits, ...]]:
    """The corrections of some sessions: those worth an edit, and those that wait. `sides` tells on which side
    of the split a session is."""
    candidates: list[Candidate] = []
    waiting: list[Waits] = []
    for correction in heard:
        here = [moment for moment in correction.moments if moment.session in inside]
        if not here:
            continue
        train = tuple(moment for moment in here if sides.get(moment.session) is Split.TRAIN)
        if not has_form(correction):
            waiting.append(_waits(correction, "no-form", why_no_form(correction)))
        elif not correction.recurs:
            waiting.append(_waits(correction, "seen-once", "seen once; it takes a second session"))
        elif not train:
            waiting.append(_waits(correction, "no-train-moment", "all its sessions here are held out"))
        else:
            candidates.append(_candidate(correction, train))
    return tuple(candidates), tuple(waiting)


_QUOTED = re.compile('`[^`]+`|"[^"]+"|“[^”]+”|«[^»]+»')


def has_form(correction: Correction) -> bool:
    """Whether its words give a check."""
    return correction.wanted is not None or correction.unwanted is not None


def why_no_form(correction: Correction) -> str:
    """Why a machine cannot tell whether one without a check was followed, and what would let it."""
    if any(moment.procedure is not None for moment in correction.moments):
        return "no step of it has a command in code marks, which would tell that it was gone through"
    if tells_an_order(correction.statement):
        return (
            "it tells an order of steps, and what is practised names its occasion and three steps or more: "
            '"when ...: first ..., then ..., finally ..."'
        )
    found = _CONTRAST.match(plain(correction.statement))
    if found is None and _QUOTED.search(correction.statement) is not None:
        return (
            "it does not say plainly whether what it quotes is to be used or not: "
            '"always use X", "never X" and "X, not Y" do'
        )
    if found is None:
        return "it has nothing in quotes that could be looked for in a command or a file"
    wanted, unwanted = (part.strip(_MARKS) for part in found.groups())
    if wanted.casefold() == unwanted.casefold():
        return "upper and lower case alone tell its halves apart, and a check does not tell them"
    return (
        f"'{wanted}' and '{unwanted}' are words about the work, which need not stand in it: "
        "put in quotes what stands in a command or a file"
    )


def told_waiting(waiting: Sequence[Waits], shown: int = WAITING_SHOWN) -> Iterator[str]:
    """Of each that waits, in the person's words, why: those of most sessions, and how many more there are."""
    ordered = sorted(waiting, key=lambda one: -one.sessions)
    for one in ordered[:shown]:
        yield f'waits: "{one.statement}", in {counted(one.sessions, "session")}: {one.why}'
    if len(ordered) > shown:
        yield f"{len(ordered) - shown} more wait: `nightschool corrections` lists all that was heard"
    if any(one.code == "no-form" for one in ordered[:shown]):
        yield HOW


def _waits(correction: Correction, code: str, why: str) -> Waits:
    return Waits(
        key=correction.key,
        statement=correction.statement,
        sessions=len(correction.sessions),
        code=code,
        why=why,
    )


def _candidate(correction: Correction, train: tuple[Moment, ...]) -> Candidate:
    """Words of train sessions alone; the correction's own statement may come from a held-out one. Which of
    them, the number of all sessions that have such words decides."""
    return Candidate(
        correction=correction.id,
        statement=plain(clearest(train, correction.moments).quote),
        evidence=train,
        sessions=correction.sessions,
        check=Footprint(wanted=correction.wanted, unwanted=correction.unwanted),
        project=correction.projects[0] if len(correction.projects) == 1 else "",
    )
