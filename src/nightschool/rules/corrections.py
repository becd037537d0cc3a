"""What people keep telling their agents: the same correction in several sessions is one `Correction`."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from nightschool.core.sessions import Session, Speaker, Turn
from nightschool.core.tasks import Correction, Moment, Procedure
from nightschool.rules.alike import alike_groups
from nightschool.rules.gist import Gist, gist
from nightschool.rules.instructions import STANDING
from nightschool.rules.procedures import named_in, procedure
from nightschool.rules.prose import (
    flat,
    is_acknowledgement,
    is_injected,
    is_paste,
    is_remark,
    sentences,
    word_count,
)
from nightschool.rules.prose import own_words as own_words_of
from nightschool.rules.signals import LATELY, QUOTE, reproach, told_and_done
from nightschool.rules.statements import Explicit, explicit, said, says_enough
from nightschool.rules.voice import clearest, when
from nightschool.rules.words import DEFAULT, Words

ENOUGH_SESSIONS = 5
"""Two train sessions and three hold-out clusters: the least that the gate can decide on."""
ALIKE = 0.8
"""Overlap of words from which two statements without a machine form are the same correction."""
FEWEST = 3
"""Words of a reproach that says something when it stands alone in a list."""
_ENDING = re.compile(r"\.[a-z0-9]{1,5}$")
"""What a file's name ends with: ".svg"."""
ECHO = 3
"""Words of a sentence from which a copy of it in a tool result, or in what the agent said, is its source."""
AGENT_ECHO = 8
"""The same for the agent's own text: a short answer to its question may well repeat its words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One correction as one human turn gives it."""

    moment: Moment
    key: str
    wanted: str | None
    unwanted: str | None
    forbids: bool
    project: str
    source: str

    @property
    def has_form(self) -> bool:
        return self.wanted is not None or self.unwanted is not None


def corrections(sessions: Iterable[Session], words: Words = DEFAULT) -> tuple[Correction, ...]:
    """Each thing that was said, with every moment of it; most sessions first, then the latest.

    Left out are headless runs, sub-agents' files and our own replays. A row that two sessions share (a
    fork or a resumed copy) counts once, in the older session. Instructions with the same machine form are
    the same, whatever the wording or language; one that names only half of a form belongs to the one form
    that completes it, if there is one; other statements are the same when nearly all their words are.
    The result does not depend on the order of the sessions.
    """
    found = [one for session, fresh in own_turns(sessions) for one in _said(session, fresh, words)]
    groups: dict[str, list[Said]] = defaultdict(list)
    homes = _homes(found)
    for one in found:
        if one.has_form:
            groups[homes.get(one.key, one.key)].append(one)
    loose = [one for one in found if not one.has_form]
    for group in _alike(loose):
        groups[min(one.key for one in group)] += group
    listed = [_correction(key, group) for key, group in groups.items()]
    return tuple(sorted(listed, key=_rank))


def enough(sessions: Iterable[Session]) -> bool:
    """Whether a look back shows a correction often enough for the gate to decide on. Only those with a
    machine form count, and a person's own phrases (`Words.with_phrases`) give none."""
    return any(
        len(correction.sessions) >= ENOUGH_SESSIONS and (correction.wanted or correction.unwanted)
        for correction in corrections(sessions)
    )


def own_turns(sessions: Iterable[Session]) -> Iterator[tuple[Session, frozenset[int]]]:
    """The sessions that a person had, oldest first, each with the indexes of its human turns that are
    no copies of rows of an older one."""
    seen: set[tuple[str, str]] = set()
    for session in sorted(sessions, key=_age):
        if session.headless or session.sidechain or session.ours:
            continue
        fresh: set[int] = set()
        for index, turn in enumerate(session.turns):
            if turn.speaker is Speaker.HUMAN and (session.source, turn.row) not in seen:
                fresh.add(index)
            seen.add((session.source, turn.row))
        yield session, frozenset(fresh)


def _age(session: Session) -> tuple[datetime, str]:
    return (session.started_at or datetime.max.replace(tzinfo=UTC), session.id)


def _said(session: Session, fresh: frozenset[int], words: Words) -> Iterator[Said]:
    heard: list[str] = []  # what tools printed so far
    agent: list[str] = []
    did = deque[str](maxlen=LATELY)
    skills: dict[str, None] = {}
    acted = stopped = False
    for index, turn in enumerate(session.turns):
        skills |= dict.fromkeys(turn.loaded)
        if turn.speaker is Speaker.AGENT:
            acted = acted or turn.interrupted or bool(turn.calls or turn.text.strip())
            stopped = turn.interrupted or any(call.status == "refused" for call in turn.calls)
            agent.append(turn.text)
            did += told_and_done(turn)
            heard += [call.result for call in turn.calls if call.result]
            continue
        if index in fresh:
            for item in _of_turn(turn, words, did, acted=acted, stopped=stopped):
                if not _echo(item.quote, heard, agent):
                    yield _one(session, index, turn, item, tuple(skills))
        stopped = False


def _of_turn(
    turn: Turn, words: Words, did: Sequence[str], *, acted: bool, stopped: bool
) -> tuple[Explicit, ...]:
    told_whole = procedure(turn.text)
    if told_whole is not None and (acted or STANDING.search(told_whole.occasion) is not None):
        return (_whole(told_whole),)
    heard = explicit(turn.text, words, did)
    items = tuple(item for item in heard if item.has_form or says_enough(item.quote))
    if not acted:
        # In a first request only what is meant to last is a correction; the rest is the work itself.
        return tuple(item for item in items if item.standing or (item.has_form and item.position > 0))
    if items or is_injected(turn.text) or is_paste(turn.text) or is_acknowledgement(turn.text):
        return items
    own = own_words_of(turn.text)
    parts = sentences(own)
    told = reproach(parts, words, stopped=stopped) if parts and is_remark(own) else None
    if told is None:
        return ()
    quote = told if len(said(told)) >= FEWEST else " ".join(parts[parts.index(told) :][:2])
    if len(said(quote)) < FEWEST:
        return ()
    return (Explicit(quote=quote, position=0, forbids=gist(quote).forbids),)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Whole(Explicit):
    """A procedure: what is said in its steps has its meaning only there."""

    procedure: Procedure

    @property
    def key(self) -> str:
        words = self.wanted or " ".join(said(self.quote))
        return f"steps: {words}"


def _whole(found: Procedure) -> _Whole:
    quote = f"{found.occasion}: {'; '.join(found.steps)}"
    return _Whole(quote=quote, position=0, wanted=named_in(found), procedure=found)


def _echo(quote: str, heard: Sequence[str], agent: Sequence[str]) -> bool:
    """Whether the sentence stood in a tool result first (B55), or is quoted from the agent."""
    needle, words = flat(quote), word_count(quote)
    return (words >= ECHO and any(needle in flat(text) for text in heard)) or (
        words >= AGENT_ECHO and any(needle in flat(text) for text in agent)
    )


def _one(session: Session, index: int, turn: Turn, item: Explicit, skills: tuple[str, ...]) -> Said:
    moment = Moment(
        session=session.id,
        turn=index,
        quote=item.quote[:QUOTE],
        at=turn.at or session.started_at,
        skills=skills,
        procedure=item.procedure if isinstance(item, _Whole) else None,
    )
    return Said(
        moment=moment,
        key=item.key,
        wanted=item.wanted,
        unwanted=item.unwanted,
        forbids=item.forbids,
        project=session.project or "",
        source=session.source,
    )


def _homes(found: Iterable[Said]) -> Mapping[str, str]:
    """For the key of half a form the key of the one whole form that holds it; for two names of endings that
    are said with their dots ("`.svg`, not `.png`") the key of the form without, where it was said too."""
    whole: dict[str, set[str]] = defaultdict(set)
    keys = {one.key for one in found}
    homes: dict[str, str] = {}
    for one in found:
        if one.wanted is not None and one.unwanted is not None:
            bare = f"use {one.wanted.removeprefix('.')} not {one.unwanted.removeprefix('.')}"
            home = (
                bare
                if _ENDING.match(one.wanted) and _ENDING.match(one.unwanted) and bare in keys
                else one.key
            )
            homes[one.key] = home
            whole[f"use {one.wanted}"].add(home)
            whole[f"not {one.unwanted}"].add(home)
    return homes | {half: next(iter(keys)) for half, keys in whole.items() if len(keys) == 1}


def _alike(loose: Sequence[Said]) -> Iterator[list[Said]]:
    """Statements that go one way and share nearly all the words that carry them. One that forbids all of a
    thing ("no comments") belongs to those that forbid one kind of it, where there is but one."""
    for forbids in (False, True):
        some = [one for one in loose if one.forbids is forbids]
        names = [f"{one.moment.session}\n{one.moment.turn}\n{one.key}" for one in some]
        by_name = dict(zip(names, some, strict=True))
        gists = {name: gist(one.moment.quote) for name, one in by_name.items()}
        groups = alike_groups({name: found.words for name, found in gists.items()}, ALIKE)
        for group in _covered(groups, gists):
            yield [by_name[name] for name in group]


def _covered(groups: Sequence[tuple[str, ...]], gists: Mapping[str, Gist]) -> Iterator[list[str]]:
    """The groups, each that covers exactly one other joined to that."""
    homes: dict[int, int] = {}
    by_thing: dict[str, list[int]] = defaultdict(list)
    for number, group in enumerate(groups):
        if gists[group[0]].thing:
            by_thing[gists[group[0]].thing].append(number)
    for numbers in by_thing.values():
        for number in numbers:
            own = gists[groups[number][0]]
            kinds = [other for other in numbers if own.covers(gists[groups[other][0]])]
            if len(kinds) == 1:
                homes[number] = kinds[0]
    for number, group in enumerate(groups):
        if number not in homes:
            yield [
                *group,
                *(name for other, home in homes.items() if home == number for name in groups[other]),
            ]


def _kinds(group: Sequence[Said]) -> Sequence[Said]:
    """Without those that forbid all of a thing of which the others forbid a kind."""
    gists = [gist(one.moment.quote) for one in group]
    return [
        one for one, own in zip(group, gists, strict=True) if not any(own.covers(other) for other in gists)
    ]


def _correction(key: str, group: Sequence[Said]) -> Correction:
    ordered = sorted(group, key=lambda one: (when(one.moment), one.moment.session, one.moment.turn))
    moments = tuple({(o.moment.session, o.moment.turn): o.moment for o in reversed(ordered)}.values())[::-1]
    whole = [one for one in ordered if one.key == key and one.has_form] or _kinds(ordered)
    return Correction(
        key=key,
        statement=clearest(one.moment for one in whole).quote,
        wanted=whole[0].wanted,
        unwanted=whole[0].unwanted,
        moments=moments,
        projects=tuple(sorted({one.project for one in group if one.project})),
        sources=tuple(sorted({one.source for one in group})),
    )


def _rank(correction: Correction) -> tuple[int, float, str]:
    last = correction.last_at
    return (-len(correction.sessions), 0.0 if last is None else -last.timestamp(), correction.key)
