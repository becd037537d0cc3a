"""What was meant by each scene: what a right harvest gives, written from the scene and not from a harvest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agents.recording.hands import PROJECT, SKILL, Hands
from agents.recording.scenes import AGAIN, BUILD, BYE, DELETE, GREET, HELP, OTHER, POLITE, TESTS

HOME = "/home/sam"
Call = tuple[str, str]


def expected(hands: Hands, scene: str) -> dict[str, Any]:
    """In the terms of `recorded.read`."""
    return _MEANT[scene](hands)


def _session(
    hands: Hands,
    *turns: str,
    calls: Sequence[Call] = (),
    **more: Any,
) -> dict[str, Any]:
    return {
        "turns": list(turns),
        "calls": [list(call) for call in calls],
        "skills": [],
        "interrupted": 0,
        "ending": "done",
        "counted": True,  # what the replies took
        "headless": False,
        "models": [hands.model],
        "project": f"{HOME}/{PROJECT}",
        "warnings": 0,
    } | more


def _all(*sessions: Mapping[str, Any], **left_out: int) -> dict[str, Any]:
    return {
        "sessions": list(sessions),
        "left_out": {reason.replace("_", "-"): count for reason, count in left_out.items()},
    }


def _greeted(hands: Hands) -> tuple[Call, ...]:
    return (hands.tools.write, "ok"), (hands.tools.runs, "ok")


def _work(hands: Hands) -> dict[str, Any]:
    tool = hands.tools.skill[0]
    loads = (hands.tools.runs if tool == "shell" else tool, "ok")
    calls = (*_greeted(hands), (hands.tools.runs, hands.failed), loads)
    return _all(_session(hands, GREET, TESTS, POLITE, calls=calls, skills=[SKILL]))


def _stopped(hands: Hands) -> dict[str, Any]:
    asked = hands.asks is not None
    calls = [(hands.tools.runs, hands.refused)] if asked else []
    calls.append((hands.tools.runs, hands.cut))
    turns = (DELETE, BUILD, BYE) if asked else (BUILD, BYE)
    stops = 1 + (asked and hands.refusing_stops)
    return _all(_session(hands, *turns, calls=calls, interrupted=stops))


def _helped(hands: Hands) -> dict[str, Any]:
    assert hands.tools.helper is not None
    return _all(_session(hands, HELP, calls=((hands.tools.helper[0], "ok"),)), **hands.helpers)


def _compacted(hands: Hands) -> dict[str, Any]:
    return _all(_session(hands, GREET, AGAIN, calls=_greeted(hands)))


def _resumed(hands: Hands) -> dict[str, Any]:
    first = _session(hands, GREET, AGAIN, calls=_greeted(hands))
    if hands.fork is None:
        return _all(first)
    if not hands.forks_whole:
        return _all(first, _session(hands, OTHER))
    return _all(first, _session(hands, GREET, AGAIN, OTHER, calls=_greeted(hands)))


def _headless(hands: Hands) -> dict[str, Any]:
    known = hands.knows_headless
    turns = ((), ()) if known else ((GREET,), (BUILD,))
    whole = _session(hands, *turns[0], calls=_greeted(hands), headless=known)
    if hands.killed is None:
        unheard = _session(hands, *turns[1], headless=known, models=[], counted=False, ending="abandoned")
        return _all(whole, unheard)
    ends = "interrupted" if hands.killing_stops else "abandoned" if hands.killed == "refused" else None
    broken = _session(
        hands,
        *turns[1],
        calls=((hands.tools.runs, hands.killed),),
        headless=known,
        interrupted=int(hands.killing_stops),
        ending=ends,
    )
    return _all(whole, broken)


_MEANT: Mapping[str, Callable[[Hands], dict[str, Any]]] = {
    "work": _work,
    "stopped": _stopped,
    "helped": _helped,
    "compacted": _compacted,
    "resumed": _resumed,
    "headless": _headless,
}
