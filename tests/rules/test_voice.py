"""Which words stand for a correction: those of most sessions, plain."""

# ruff: noqa: RUF001 - words of other languages are written in their own letters

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from nightschool.core.tasks import Moment
from nightschool.rules.voice import clearest, plain, tongue

BEGAN = datetime(2026, 3, 1, tzinfo=UTC)


def moments(*quotes: str) -> Sequence[Moment]:
    """One session each, the last one the newest."""
    return [
        Moment(session=f"s{number}", turn=2, quote=quote, at=BEGAN + timedelta(days=number))
        for number, quote in enumerate(quotes)
    ]


@pytest.mark.parametrize(
    ("quote", "words"),
    [
        ("No, use rg, not grep please!", "use rg, not grep"),
        ("rg, not grep!", "rg, not grep"),
        ("please use rg instead of grep", "use rg instead of grep"),
        ("No em dashes please", "No em dashes"),
        ("again: no comments that only repeat the code", "no comments that only repeat the code"),
        ("stop writing comments everywhere!", "stop writing comments everywhere"),
        ("Don't use npm. Use pnpm!", "Don't use npm. Use pnpm"),
        ("bitte pnpm statt npm nehmen!!", "pnpm statt npm nehmen"),
        ("utilise pnpm, pas npm s'il te plaît", "utilise pnpm, pas npm"),
        ("请用 pnpm，不要用 npm", "请用 pnpm，不要用 npm"),
        ("please!", "please!"),
        ("stop", "stop"),
    ],
)
def test_address_and_emphasis_are_left_aside(quote: str, words: str) -> None:
    """A rule has the words of a person without "no,", "please" and exclamation marks, and never none."""
    assert plain(quote) == words
    assert plain(words) == words


@pytest.mark.parametrize(
    ("quote", "language"),
    [
        ("use pnpm, not npm", "en"),
        ("No! Use pnpm", "en"),
        ("nimm pnpm statt npm", "de"),
        ("utilise pnpm, pas npm", "fr"),
        ("usa pnpm en vez de npm", "es"),
        ("use pnpm em vez de npm", "pt"),
        ("usa pnpm invece di npm", "it"),
        ("используй pnpm, а не npm", "ru"),
        ("请用 pnpm，不要用 npm", "zh"),
        ("npmじゃなくてpnpmを使って", "ja"),
        ("npm 말고 pnpm 써", "ko"),
        ("pnpm", ""),
    ],
)
def test_languages_are_told_apart(quote: str, language: str) -> None:
    """By script and by the words that only they have."""
    assert tongue(quote) == language


def test_the_language_of_most_sessions_has_the_word() -> None:
    """Neither a shorter nor a later way in another language stands for it."""
    english = ["use pnpm, not npm in this repository", "we use pnpm here, not npm"]
    found = clearest(moments(*english, "pnpm statt npm", *english, "utilise pnpm, pas npm"))
    assert found.quote == "we use pnpm here, not npm"


def test_of_two_languages_the_one_spoken_last_has_it() -> None:
    """Said as often in both, the newest decides."""
    assert clearest(moments("use pnpm, not npm", "nimm pnpm, nicht npm")).quote == "nimm pnpm, nicht npm"
    assert clearest(moments("nimm pnpm, nicht npm", "use pnpm, not npm")).quote == "use pnpm, not npm"


def test_a_sentence_comes_before_a_fragment() -> None:
    """ "rg, not grep!" is shorter and later, and has no verb; the plain words of most sessions are taken."""
    found = clearest(
        moments("use rg, not grep", "please use rg, not grep!", "rg, not grep!", "rg, not grep!")
    )
    assert plain(found.quote) == "use rg, not grep"
    often = clearest(moments("use rg, don't use grep", "don't use grep, use rg", "Use rg, don't use grep!"))
    assert plain(often.quote).casefold() == "use rg, don't use grep"


def test_all_sessions_decide_which_of_some_is_taken() -> None:
    """Of words that may be shown the ones are taken that most have, also of those that may not be."""
    shown = moments("utilise pnpm, pas npm", "use pnpm, not npm")
    held = moments(*["utilise pnpm, pas npm"] * 3)
    assert clearest(shown).quote == "use pnpm, not npm"
    assert clearest(shown, [*shown, *held]).quote == "utilise pnpm, pas npm"


def test_the_order_of_moments_does_not_matter() -> None:
    """The same words are taken whatever was read first."""
    some = moments("use rg, not grep", "rg, not grep", "nimm rg statt grep", "Use rg instead of grep")
    assert clearest(some) == clearest(some[::-1])
