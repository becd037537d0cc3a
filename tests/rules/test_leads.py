"""What people put around an instruction, and the one thing that they mean by it."""

# ruff: noqa: RUF001 - words of other languages are written in their own letters

from __future__ import annotations

import pytest

from conversations import agent, human, session
from nightschool.core.sessions import Session
from nightschool.rules.corrections import corrections
from nightschool.rules.leads import bare
from nightschool.rules.signals import LATELY, signals
from nightschool.rules.statements import explicit

PNPM = "use pnpm not npm"
UV = "use uv not pip"
SAME = {
    PNPM: (
        "I told you: pnpm and not npm.",
        "again: pnpm, not npm",
        "pnpm!! not npm",
        "pnpm. Not npm.",
        "why npm again? we use pnpm",
        "npm again?? use pnpm",
        "no npm here please, pnpm",
        "Kein npm. pnpm.",
        "warum schon wieder npm? pnpm!",
        "ich will pnpm, kein npm",
        "on utilise pnpm ici, pas npm",
        "je t'ai déjà dit : pnpm, pas npm",
        "ya te dije: pnpm, no npm",
        "toujours pnpm, jamais npm",
        "siempre pnpm, nunca npm",
        "не npm, а pnpm",
    ),
    UV: (
        "I told you: uv, not pip",
        "I've told you before, uv not pip",
        "uv please, never pip",
        "no pip! use uv",
        "like I said, uv instead of pip",
        "that should be uv, not pip",
        "we use uv here, not pip",
        "wie gesagt: uv statt pip",
        "nochmal: uv, nicht pip",
        "schon wieder pip, wir verwenden uv",
        "wir nutzen hier uv, kein pip",
        "wie immer: uv und nicht pip",
        "Wie oft noch: uv statt pip",
        "du sollst uv nehmen, nicht pip",
        "nee, wir nehmen uv, kein pip",
        "Hör auf mit pip, nimm uv",
        "mach das mit uv, nicht mit pip",
        "I keep telling you to use uv instead of pip",
    ),
    "use testing not testify": (
        "no testify please, use the testing package",
        "kein testify, nimm das testing-Paket",
        "how often do I have to say it, no testify. Use testing.",
    ),
    "use svg not png": (
        "svg please, not png",
        "save figures as svg, not png",
        "nein, als svg speichern, nicht png",
        "bitte svg verwenden, nicht png",
    ),
    "use slog not log.printf": (
        "ich habe es schon gesagt: slog statt log.Printf!",
        "log with slog, not log.Printf",
    ),
    "not export default": (
        "I said no `export default`.",
        "again: never `export default`",
        "bitte nie `export default`",
    ),
}


DID = "I ran npm, pip, testify, log.Printf, plt.savefig('a.png') and wrote a default export."


def corrected(name: str, request: str, correction: str, *, day: int = 0) -> Session:
    """A session in which the agent did all that is corrected anywhere here."""
    return session(name, human(request), agent(DID), human(correction), day=day)


@pytest.mark.parametrize(("key", "sentence"), [(key, one) for key, many in SAME.items() for one in many])
def test_impatience_changes_nothing_of_what_is_meant(key: str, sentence: str) -> None:
    """Reminders, politeness, word order and language around a contrast leave its two terms as they are."""
    assert [item.key for item in explicit(sentence)] == [key]


@pytest.mark.parametrize("key", SAME)
def test_what_is_said_in_many_ways_is_one_correction(key: str) -> None:
    """Each way to say it, in a session of its own: one correction with all of the sessions."""
    found = corrections(
        corrected(str(day), "Rename the loader", sentence, day=day) for day, sentence in enumerate(SAME[key])
    )
    assert [(one.key, len(one.sessions)) for one in found] == [(key, len(SAME[key]))]


def test_endings_of_files_are_the_same_with_their_dots_and_without() -> None:
    """ "`.svg`, not `.png`" joins "svg, not png" where both were said, and stands alone where only it was."""
    dotted = corrected("a", "Plot it", "again, .svg and not .png for figures")
    plain = corrected("b", "Plot it", "svg please, not png", day=1)
    assert [(c.key, len(c.sessions)) for c in corrections([dotted, plain])] == [("use svg not png", 2)]
    assert [c.key for c in corrections([dotted])] == ["use .svg not .png"]


def test_a_ban_is_the_same_whatever_is_wanted_instead() -> None:
    """What follows a ban by its noun ("..., use named exports") is no part of what makes it the same."""
    said = (
        "no default exports!",
        "no default exports, use named exports",
        "keine default exports, bitte named exports",
    )
    found = corrections(corrected(str(day), "Add a page", one, day=day) for day, one in enumerate(said))
    assert [len(one.sessions) for one in found] == [len(said)]


@pytest.mark.parametrize(
    ("sentence", "left"),
    [
        ("I told you: uv, not pip", "uv, not pip"),
        ("pathlib please, not os.path", "pathlib, not os.path"),
        ("no testify please, use the testing package", "no testify, use the testing"),
        ("use a package manager", "use a package manager"),
        ("nein, nicht pip!", "nein, nicht pip!"),
        ("again", "again"),
        ("always use modules, never packages", "always use modules, never packages"),
        ("use a library instead of a framework", "use a library instead of a framework"),
        ("Once more tests fail, stop the build", "Once more tests fail, stop the build"),
        ("once more: uv, not pip", "uv, not pip"),
        ("", ""),
    ],
)
def test_what_is_left_is_what_is_meant(sentence: str, left: str) -> None:
    """Only what leads in, politeness and the kind behind a name go; a sentence of nothing else stays."""
    assert bare(sentence) == left


REPORTS = (
    "The log goes to stderr, not stdout.",
    "The user is logged in as admin, not guest.",
    "It fails with Chrome, not Firefox.",
    "The build works with node20, not node18.",
    "Es läuft mit Firefox, nicht mit Chrome.",
    "The button should be blue, not green.",
    "I want a dropdown, not a modal.",
    "Guests are not allowed, use members.",
    "Labels in German please.",
    "Switch back to main.",
    "Tests? Green.",
    "Friday? Perfect.",
    "Ready? Go.",
    "Postgres? Fine.",
    "No errors. Commit!",
    "Keine Fehler. Weiter.",
    "No output, retry.",
    "No sidebar, tabs.",
    "Warum? Erklär.",
    "Hello! Claude.",
)


@pytest.mark.parametrize("sentence", REPORTS)
def test_reports_and_wishes_of_the_product_are_no_corrections(sentence: str) -> None:
    """What has the form of a contrast counts against what the agent did or spoke of, or where it urges."""
    assert (
        corrections([session("a", human("Add a page"), agent("Done: `npm test` passes."), human(sentence))])
        == ()
    )


def test_a_contrast_is_held_against_what_was_done_lately() -> None:
    """Each remark looks at a bounded number of texts, so a long session is gone through once: what the agent
    did a hundred texts ago is no proof any more, what it did ninety-nine ago is."""
    told = "The log goes to stderr, not stdout."
    for between, heard in ((LATELY - 1, 1), (LATELY, 0)):
        turns = [
            human("Add a log"),
            agent("It prints to stdout."),
            *(agent("ok") for _ in range(between)),
            human(told),
        ]
        assert len(corrections([session("a", *turns)])) == heard
        assert len(signals(session("a", *turns))) == heard


def test_the_same_words_against_what_the_agent_did_are_a_correction() -> None:
    """ "It goes to stderr, not stdout" contradicts an agent that wrote to stdout."""
    told = "The log goes to stderr, not stdout."
    (found,) = corrections([session("a", human("Add a log"), agent("It prints to stdout."), human(told))])
    assert found.key == "use stderr not stdout"
