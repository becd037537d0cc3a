"""What became of a correction in a run, in words: the one table, for all screens and reports.

Relieves the report, the history and the plan of tables of their own, which had said different things.
"""

from __future__ import annotations

WORDS: dict[str, tuple[str, str]] = {
    "accept": ("passed", "certified: it passed the gate and waits for your review"),
    "adopted": ("passed and adopted", "certified, and adopted without asking, as your settings say"),
    "reject": ("failed", "failed: the exam speaks against it"),
    "undecided": ("not decided yet", "suggestion: not decided yet"),
    "underpowered": (
        "not proven",
        "suggestion: too few held-out tasks, or too small a budget, to prove it",
    ),
    "invalid": ("no verdict", "no verdict: the exam says nothing about it"),
    "waits-for-review": ("waits for you", "waits for your review"),
    "already-followed": ("followed already", "followed already: nothing to learn"),
    "already-published": ("adopted already", "adopted already"),
    "taken-back": ("you took it back", "you took it back"),
    "budget-ended": ("budget ended", "the budget ended first"),
    "next-run": ("waits for the next run", "waits for the next run"),
    "needs-you": ("needs you first", "needs you first"),
    "set-up-failed": ("its set-up fails", "not practised: its project cannot be set up"),
    "no-train-task": ("nothing to practise on", "nothing to practise on"),
    "no-edit": ("no edit left", "no edit was left to try"),
    "same-edit": ("same edit as another", "its edit is the one that was made for another correction"),
    "lost": ("every try was lost", "every try was lost"),
    "unsafe": ("not safe", "did not pass the safety check"),
    "pinned": ("pinned: left alone", "left alone: you pinned the file"),
    "switched-off": ("your settings forbid it", "not tried: your settings forbid its file"),
}
"""By the codes of `Learned`: in a word or two, and in full."""


def in_short(code: str) -> str:
    return WORDS[code][0] if code in WORDS else code


def in_full(code: str) -> str:
    return WORDS[code][1] if code in WORDS else code
