"""What a human said or did that judges the agent. Words count only after the agent has acted.

In any language: a call that was turned down, an interruption, a way that was taken back, and the same request
again after the agent had acted on it.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from functools import lru_cache

from nightschool.core.sessions import CallStatus, Session, Speaker, Turn
from nightschool.core.signals import Signal, SignalKind
from nightschool.rules.prose import (
    is_acknowledgement,
    is_remark,
    is_slash_command,
    own_words,
    sentences,
    word_count,
)
from nightschool.rules.statements import REMEMBERED, explicit
from nightschool.rules.words import DEFAULT, Words

LEADING = 3
"""A reproach leads a message; what stands further behind is the next piece of work."""
QUOTE = 300
"""Characters of a quote."""
REQUEST = 4
"""Words that a request has at least: fewer are said again for other reasons."""
LATELY = 100
"""Texts of the agent that a contrast is held against, the latest: what is corrected was done shortly before,
and a long session is gone through once."""
APPROVAL = 15
"""Words that a message of approval has at most; a longer one goes on to something else."""


def signals(session: Session, words: Words = DEFAULT) -> tuple[Signal, ...]:
    """Corrections and approvals from the words of human turns, refusals and interruptions from acts.

    The first request is never a signal, nor is any turn before the agent said or did something.
    Headless runs, sub-agents' files and our own replays have none.
    """
    if session.headless or session.sidechain or session.ours:
        return ()
    return tuple(_signals(session, words))


def _signals(session: Session, words: Words) -> Iterator[Signal]:
    acted = stopped = False
    acts, asked = 0, dict[str, int]()
    """How often the agent had acted when a request came."""
    did = deque[str](maxlen=LATELY)
    for index, turn in enumerate(session.turns):
        if turn.speaker is Speaker.AGENT:
            acted = acted or turn.interrupted or bool(turn.calls or turn.text.strip())
            refused = [call for call in turn.calls if call.status is CallStatus.REFUSED]
            stopped = turn.interrupted or bool(refused)
            yield from (Signal(kind=SignalKind.REFUSAL, turn=index, call_id=call.call_id) for call in refused)
            if turn.interrupted:
                yield Signal(kind=SignalKind.INTERRUPTION, turn=index)
            did += told_and_done(turn)
            acts += bool(turn.calls or turn.text.strip())
        else:
            found = spoken(turn, words, stopped=stopped, did=did) if acted else None
            request = _request(turn)
            if found is not None:
                kind, quote = found
                yield Signal(kind=kind, turn=index, quote=quote)
            elif acts > asked.get(request, acts):
                yield Signal(kind=SignalKind.REPEAT, turn=index)
            if request:
                asked[request] = acts
            stopped = False
        if turn.went_back:
            yield Signal(kind=SignalKind.REVERT, turn=index)


def told_and_done(turn: Turn) -> Iterator[str]:
    """What an agent's turn says, and what it asked its tools for."""
    yield turn.text
    yield from (text for call in turn.calls for text in (call.command, call.arguments) if text)


def _request(turn: Turn) -> str:
    """The words of a request by which it is known again; "" for what is said many times and asks for nothing
    new ("continue", "/review")."""
    text = own_words(turn.text)
    few = word_count(text) < REQUEST or is_slash_command(turn.text) or is_acknowledgement(text)
    return "" if few else " ".join(text.casefold().split())


def spoken(
    turn: Turn, words: Words = DEFAULT, *, stopped: bool = False, did: Sequence[str] | None = None
) -> tuple[SignalKind, str] | None:
    """What the words of a human turn say of the agent's work, and the sentence that says it.

    `stopped`: the human had just interrupted the agent or turned a call down.
    """
    if is_slash_command(turn.text):
        return None
    own = own_words(turn.text)
    parts = sentences(own)
    if not parts:
        return None
    if is_remark(own):
        told = reproach(parts, words, stopped=stopped) or _explicitly(turn, words, did)
        if told is not None:
            return SignalKind.CORRECTION, told[:QUOTE]
    if _approves(own, parts[0], words):
        return SignalKind.APPROVAL, parts[0][:QUOTE]
    return None


def _explicitly(turn: Turn, words: Words, did: Sequence[str] | None) -> str | None:
    return next((item.quote for item in explicit(turn.text, words, did)), None)


def reproach(parts: tuple[str, ...], words: Words = DEFAULT, *, stopped: bool = False) -> str | None:
    """The sentence that says that what was done is not what was wanted."""
    return _reproach(parts[:LEADING], words, stopped=stopped)


@lru_cache(maxsize=REMEMBERED)
def _reproach(parts: tuple[str, ...], words: Words, *, stopped: bool) -> str | None:
    if words.opener.search(parts[0]) or (stopped and words.stop.search(parts[0])):
        return parts[0]
    for part in parts:
        found = words.reproach.search(part)
        if found is not None and not _asks(part, found.end()):
            return part
    return None


_NO_QUESTION = re.compile(
    r"^(?:why|warum|pourquoi|por qué|perché|почему)\b|,? ?(?:no|right|oder|nicht)\?$", re.IGNORECASE
)
"""Ends in a question mark and still asks nothing: "why did you delete it?", "that's wrong, no?"."""


_MARKS = ("?", "\uff1f")
_ASKING = re.compile(
    r"(?:is|are|was|do|does|did|can|could|should|would|will|has|have|what|how|when|where|which|who|if|"
    r"ist|kann|soll|was|wie|wenn|est|peut|que|cómo|é|può|come|как|что|если)\b",
    re.IGNORECASE,
)


def _asks(part: str, end: int) -> bool:
    """Whether the words up to `end` only ask. The mark at the end of a sentence speaks for its last clause:
    "it is still broken, can you look?" says that it is."""
    marked = part.rstrip().endswith(_MARKS) and not _NO_QUESTION.search(part)
    if part[:end].endswith(_MARKS):  # of the phrase itself: a person's own may be "really?"
        return False
    return marked and (_ASKING.match(part) is not None or end > part.rfind(","))


def _approves(own: str, first: str, words: Words) -> bool:
    if not is_remark(own) or word_count(own) > APPROVAL or first.rstrip().endswith(_MARKS):
        return False
    found = words.approval.search(first)
    # What is said beside the approval takes it back, not a word of its own: "not bad".
    return found is not None and words.back.search(own.replace(found.group(), "", 1)) is None
