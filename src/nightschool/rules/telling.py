"""Counts, money and codes as a person reads them. Relieves the report and the commands of their own ways.

Codes stay in documents; texts have these words.
"""

from __future__ import annotations

from decimal import Decimal

CENT = Decimal("0.01")
LEFT_OUT = {
    "sub-agent": "of a sub-agent: it is not you who speaks there",
    "own-replay": "made by nightschool itself while practising",
    "unreadable": "could not be read",
    "not-a-transcript": "no session of an agent",
    "bad-record": "a damaged or too long line inside a session",
    "empty": "empty so far",
    "dangling-link": "a link that leads nowhere",
    "vanished": "gone before it could be read",
    "ignored": "on an ignore list",
    "bad-settings": "its project's settings file is wrong",
    "forgotten": "you had it forgotten",
    "too-old": "older than you keep it",
}
"""Why a file or a line of one was left out."""
BY_YOUR_WORD = ("ignored", "forgotten", "too-old")
"""Of these, those that the person or a project said."""
NO_TASK = {
    "own-replay": "made by nightschool itself while practising",
    "sub-agent": "of a sub-agent: it is not you who speaks there",
    "headless": "started by a program, not by a person",
    "straddles": "its request is like one for training and like one for the exam",
    "no-project": "no folder is known that it ran in",
    "no-workspace": "the files that it began with are not known",
    "idle-passes": "doing nothing would pass",
    "postponed": "more tasks than one run takes; the next run goes on",
    "told-in-request": "the request itself says the correction already",
    "not-told-apart": "what was corrected would have passed the check",
    "reference-fails": "the session's own work does not pass the check",
    "corrected": "corrected in words that make no check",
    "stopped": "interrupted, or a call was turned down",
    "no-request": "no request in it, only commands, pastes or short replies",
    "refers-back": "its request speaks of what stood before it",
    "no-files": "its work changed no file of the project",
    "copied": "its request is a copy from an older session",
    "built-on-earlier-work": "its request builds on files that it had changed before",
}
"""Why a session gave no task."""


def counted(number: int, one: str, several: str = "") -> str:
    """`1 session`, `2 sessions`."""
    return f"{number} {one if number == 1 else several or one + 's'}"


def dollars(amount: Decimal) -> str:
    """To the cent. What is less than one and not nothing is said to be."""
    if 0 < amount < CENT:
        return "less than $0.01"
    return f"${amount:.2f}"


def left_out(number: int, reason: str) -> str:
    return f"left out: {number} x {LEFT_OUT.get(reason, reason)}"


def why_left_out(reason: str, detail: str) -> str:
    """In words, with what is known more of it."""
    return LEFT_OUT.get(reason, reason) + (f" ({detail})" if detail else "")


def no_task(number: int, code: str) -> str:
    return f"no task from {counted(number, 'session')}: {NO_TASK.get(code, code)}"
