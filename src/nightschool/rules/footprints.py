"""Where the terms of a footprint stand in what an agent left behind. Relieves checking of how words, units
and command lines are read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from nightschool.core.jobs import Delivered
from nightschool.core.sessions import CallStatus
from nightschool.core.tasks import Footprint

PATCH = "*** Begin Patch"
"""Where a patch begins in a command line or in the arguments of a tool (Codex)."""
LONGEST = 200
"""Words of one command that are looked at."""

_WORD = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_DIGITS = frozenset("0123456789")
_SEGMENT = re.compile(r"[;&|\n(){}`]+")
_MARKS = str.maketrans("", "", "\"'")
_BEFORE = re.compile(r"\w+=.*|sudo|time|timeout|exec|env|nice|command|nohup|xargs|\$|-.*|\d+[smh]?")
"""What may stand before the name of a command."""
_PYTHON = re.compile(r"(?:.*/)?python[\d.]*")


def commands_of(outcome: Delivered) -> Sequence[str]:
    """The command lines that ran. Of one that carries a patch only what stands before it: its added lines are
    in the files, and those that it takes away are not what the agent left behind."""
    return [
        call.command.split(PATCH, 1)[0]
        for call in outcome.trajectory
        if call.command is not None and call.status is not CallStatus.REFUSED
    ]


def left_behind(outcome: Delivered) -> str:
    """What a footprint is looked for in: command lines that ran, and text that was added to files."""
    return "\n".join((*commands_of(outcome), *(change.added for change in outcome.files)))


def holds_term(text: str, term: str) -> bool:
    """Whether the term stands in the text as a whole word, case folded.

    Where the term begins or ends with a letter of the ASCII alphabet, a digit or `_`, its neighbour there
    may not be one: `npm` is not in `pnpm`, `os.path` not in `os.pathsep`. A unit stands right behind its
    number: `rem` is in `1.3rem`. Any other end is plain, so that `--no-verify` and scripts without spaces
    between words are found.
    """
    return next(_spots(text.casefold(), term.casefold()), None) is not None


def overlaps(check: Footprint) -> bool:
    """Whether the right way holds the wrong words: `uv run pytest`, not `pytest`."""
    return (
        check.wanted is not None
        and check.unwanted is not None
        and check.wanted != check.unwanted
        and holds_term(check.wanted, check.unwanted)
    )


def right(check: Footprint, text: str) -> bool:
    """Whether what is wanted stands in what was left behind; no where nothing is wanted. Words that are a
    part of what is unwanted (`pytest` of `python -m pytest`) show nothing."""
    if check.wanted is None:
        return False
    if check.unwanted is not None and holds_term(check.unwanted, check.wanted):
        return _stands_alone(text, check.wanted, check.unwanted) or (
            " " in check.wanted and _ran(text, check.wanted, without=check.unwanted)
        )
    return _shows(text, check.wanted)


def wrong(check: Footprint, text: str, outcome: Delivered) -> bool:
    """Whether what is unwanted stands there; no where nothing is unwanted.

    Words of the right way (`uv run pytest`) do not count as the wrong one (`pytest`). Beside a right way of
    several words the wrong one counts where it is itself the command of a line that ran, or of a file that
    shows the right way too: that a file imports `pytest` says nothing of how it was run.
    """
    if check.unwanted is None:
        return False
    if check.wanted is None or not overlaps(check):
        return _shows(text, check.unwanted)
    if " " not in check.wanted:
        return _stands_alone(text, check.unwanted, check.wanted)
    shown = (change.added for change in outcome.files if _shows(change.added, check.wanted))
    places = ("\n".join(commands_of(outcome)), *shown)
    return any(_ran(place, check.unwanted, without=check.wanted) for place in places)


def _spots(haystack: str, needle: str) -> Iterator[int]:
    if not needle:
        raise ValueError("an empty term is in every text")
    at = haystack.find(needle)
    while at >= 0:
        end = at + len(needle)
        free_before = needle[0] not in _WORD or at == 0 or haystack[at - 1] not in _WORD
        free_behind = needle[-1] not in _WORD or end == len(haystack) or haystack[end] not in _WORD
        if free_behind and (free_before or (needle.isalpha() and _behind_number(haystack, at))):
            yield at
        at = haystack.find(needle, at + 1)


def _behind_number(haystack: str, at: int) -> bool:
    """Whether a number ends there that is not itself a part of a word: `1.3`, not the `3` of `h3`."""
    begins = at
    while begins > 0 and (haystack[begins - 1] in _DIGITS or haystack[begins - 1] == "."):
        begins -= 1
    return haystack[at - 1] in _DIGITS and (begins == 0 or haystack[begins - 1] not in _WORD)


def _stands_alone(text: str, term: str, other: str) -> bool:
    """Whether the term stands somewhere that is no part of the other."""
    haystack = text.casefold()
    taken = [(at, at + len(other)) for at in _spots(haystack, other.casefold())]
    place = 0
    for at in _spots(haystack, term.casefold()):
        while place < len(taken) and taken[place][1] <= at:
            place += 1
        if place == len(taken) or not taken[place][0] <= at < at + len(term) <= taken[place][1]:
            return True
    return False


def _shows(text: str, term: str) -> bool:
    """A term of several words is found as a command with other options between them too."""
    if holds_term(text, term):
        return True
    words = term.casefold().split()
    if len(words) < 2 or words[0].startswith("-"):
        return False
    return any(_calls(command, words) for command in _segments(text) if words[0] in command)


def _segments(text: str) -> Iterator[Sequence[str]]:
    for part in _SEGMENT.split(text.casefold()):
        words = part.translate(_MARKS).split()[:LONGEST]
        if words:
            yield words


def _calls(command: Sequence[str], words: Sequence[str]) -> bool:
    """Whether the command is called with the words in their order, and with the options wherever they stand:
    `git -C app log -5 --oneline` is `git log --oneline`."""
    head = [word for word in words if not word.startswith("-")]
    options = {word for word in words if word.startswith("-")}
    return any(
        word == head[0] and options <= set(command[at:]) and _goes_on(command[at + 1 :], head[1:])
        for at, word in enumerate(command)
    )


def _goes_on(rest: Sequence[str], head: Sequence[str]) -> bool:
    """Whether the words follow with nothing but options, each with one value at most, between them."""
    wanted, value = list(head), False
    for word in rest:
        if not wanted:
            break
        if word == wanted[0]:
            wanted.pop(0)
        elif word.startswith("-"):
            value = True
        elif value:
            value = False
        else:
            return False
    return not wanted


def _ran(text: str, term: str, *, without: str) -> bool:
    """Whether the term is what some line runs, not an argument in it, and not the other command."""
    words, other = term.casefold().split(), without.casefold().split()
    return any(
        words[0] in {bare[0], bare[0].rpartition("/")[2]}
        and _calls([words[0], *bare[1:]], words)
        and not _calls(bare, other)
        for bare in map(_bare, _segments(text))
        if bare
    )


def _bare(command: Sequence[str]) -> Sequence[str]:
    """A command without what only prepares it."""
    at = 0
    while at < len(command):
        if _PYTHON.fullmatch(command[at]) and command[at + 1 : at + 2] == ["-m"]:
            at += 2
        elif _BEFORE.fullmatch(command[at]):
            at += 1
        else:
            break
    return command[at:]
