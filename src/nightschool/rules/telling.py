"""Counts, money and codes as a person reads them. Relieves the report and the commands of their own ways.

Codes stay in documents; texts have these words.
"""

from __future__ import annotations

import shlex
from datetime import timedelta
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
    return f"{number:,} {one if number == 1 else several or one + 's'}"


def dollars(amount: Decimal) -> str:
    """To the cent. What is less than one and not nothing is said to be."""
    if 0 < amount < CENT:
        return "less than $0.01"
    return f"{'-' if amount < 0 else ''}${abs(amount):,.2f}"


def took(span: timedelta) -> str:
    """`12 seconds`, `3.4 minutes`."""
    seconds = span.total_seconds()
    return counted(round(seconds), "second") if seconds < 60 else f"{seconds / 60:.1f} minutes"


def about_minutes(span: timedelta) -> str:
    """An estimate, which no fraction makes better."""
    minutes = round(span / timedelta(minutes=1))
    return f"about {counted(minutes, 'minute')}" if minutes else "less than a minute"


def about_tokens(number: float) -> str:
    """An estimate in two figures."""
    if number >= 1e6:
        return f"about {number / 1e6:,.1f} million tokens"
    return f"about {int(float(f'{number:.2g}')):,} tokens"


def figures(value: float) -> str:
    """Three figures of a number without a unit, such as a wealth, and never a power of ten."""
    if value >= 1e6:
        return f"{value / 1e6:,.1f} million" if value < 1e9 else "more than 1,000 million"
    if value >= 999.5:
        return f"{int(float(f'{value:.3g}')):,}"
    return "less than 0.001" if 0 < value < 1e-3 else f"{value:.3g}"


def left_out(number: int, reason: str) -> str:
    return f"left out: {number} x {LEFT_OUT.get(reason, reason)}"


def why_left_out(reason: str, detail: str) -> str:
    """In words, with what is known more of it."""
    return LEFT_OUT.get(reason, reason) + (f" ({detail})" if detail else "")


def no_task(number: int, code: str) -> str:
    return f"no task from {counted(number, 'session')}: {NO_TASK.get(code, code)}"


def moved(folder: str) -> str:
    """What to do where a project's folder is not there: what is known of it names the old place."""
    return (
        f"the folder {folder} is not there, so nothing is written in it. Where it was moved or renamed, "
        f"`ln -s NEW {shlex.quote(folder)}` lets what was said and adopted there count for the new place"
    )
