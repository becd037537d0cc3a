"""What is to hold for later, or must not be done, in the languages that we know."""

# ruff: noqa: RUF001 - words of other languages are written in their own letters

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from conversations import agent, corrected, human, session
from nightschool.rules.corrections import corrections
from nightschool.rules.statements import explicit

SENTENCES = Path(__file__).resolve().parents[2] / "bench" / "sentences.tsv"
MISTAKEN = {
    "Do not disturb mode should hide the banner",
    "do not enter animation plays twice, fix it please",
    "stop condition is wrong in the loop of parser.py, or is it?",
    "Non trovare il file è un errore, gestiscilo",
    "必ず失敗するテストを書いてください",
    "Lass die Konfiguration in Ruhe und ändere sie nie",
    "why is that a default export? We use named exports instead...",
    "replace axios by fetch please, as always",
    "ich möchte dass du pnpm statt npm nimmst",
    "did I not say vitest instead of jest?",
    "again emojis in the commit message. No emojis.",
    "imports at the top of the file, not inside functions",
    "type hints everywhere, no Any",
    "tests first, then the code",
}
"""Sentences that are judged wrongly, so that nobody takes the table for tuned until it fits."""

RECURRING = {
    "en": ("you must never touch the vendor folder", "please don't touch the vendor folder!"),
    "de": ("Schreib keine Kommentare in den Code!", "bitte nie Kommentare in den Code schreiben"),
    "fr": ("N'ajoute jamais de commentaires dans le code.", "n'ajoute pas de commentaires dans le code"),
    "es": ("Nunca hagas commit sin preguntar", "nunca hagas un commit sin preguntarme"),
    "pt": ("Não adicione comentários ao código", "nunca adicione comentários no código!"),
    "it": ("Non aggiungere commenti al codice", "non aggiungere mai commenti nel codice, per favore"),
    "ru": ("Не добавляй комментарии в код", "Пожалуйста, никогда не добавляйте комментарии в код!"),
    "zh": ("不要自动提交代码", "别自动提交代码"),
    "ja": ("コードにコメントを追加しないで", "コードにコメントを追加しないでください。"),
}


@pytest.mark.parametrize("language", RECURRING)
def test_what_is_said_twice_is_one_correction(language: str) -> None:
    """One prohibition in two wordings, in two sessions after the agent acted, recurs: in every language."""
    one, other = RECURRING[language]
    found = corrections(
        [corrected("a", "Rename the loader", one), corrected("b", "Sort the list", other, day=1)]
    )
    assert [len(item.sessions) for item in found] == [2], [item.statement for item in found]


def _table() -> list[tuple[str, bool]]:
    with SENTENCES.open(encoding="utf-8", newline="") as table:
        rows = list(csv.reader(table, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [(cell.replace("\\n", "\n"), wanted == "yes") for kind, wanted, cell in rows if kind != "did"]


def _did() -> str:
    return next(
        line for line in SENTENCES.read_text(encoding="utf-8").splitlines() if line.startswith("did\t")
    )


@pytest.mark.parametrize(("sentence", "listed"), _table())
def test_the_sentences_of_the_bench(sentence: str, *, listed: bool) -> None:
    """Each correction of the table is listed; no request, question, comfort, quotation or delay is, but for
    the few that are known to be mistaken."""
    turns = human("Rename the importer"), agent(f"Done. I ran: {_did()}"), human(sentence)
    found = corrections([session("a", *turns)])
    assert bool(found) is (listed is not (sentence in MISTAKEN))


@pytest.mark.parametrize(
    "request_text",
    [
        "Führe immer die Tests aus, bevor du committest",
        "Build the page. You must never show the header twice.",
        "Lance toujours les tests avant de commiter",
        "Ejecuta siempre las pruebas antes de hacer commit",
        "Не добавляй комментарии в код",
        "你应该总是先运行测试再提交",
        "N'ajoute pas de commentaires dans le code",
    ],
)
def test_a_first_request_is_not_told_by_a_clause(request_text: str) -> None:
    """Before the agent acted only an adverb in front of a sentence says that it is meant to last."""
    assert corrections([session("a", human(request_text), agent())]) == ()


def test_an_imperative_counts_only_where_it_leads() -> None:
    """Behind a request "zeige immer den Kopf" describes the product; behind thanks it corrects."""
    assert explicit("Baue ein Formular mit zwei Feldern. Zeige immer den Kopf der Seite.") == ()
    assert len(explicit("Danke. Führe immer die Tests aus, bevor du committest.")) == 1


@pytest.mark.parametrize("size", [1_000, 2_900])
def test_long_sentences_are_read_to_their_end(size: int) -> None:
    """A sentence without spaces, or of commas alone, is looked at like any other."""
    for filler in ("a" * size, "a, " * (size // 3), "не " * 40 + "б" * size, "不" * size):
        assert corrections([corrected("a", "Rename the importer", f"x {filler} y")]) == ()
