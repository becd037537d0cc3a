"""Sensitivity and false alarms of correction signals on real sessions, and of corrections on sentences.

    python bench/bench_corrections.py

A session is taken for corrected where any human turn in it carries the signal. What a reader judged of the
same files stands in the column `user_corrected` of the manifest of `../shared/cases/transcripts`.

`sentences.tsv` beside this file holds sentences in nine languages, each of which a person says after the
agent acted (the first row says what it did), and whether it should be listed by `corrections` (`yes`)
or is a request, a question, a comfort,
a quotation or a thing to put off (`no`). They were written to be hard, so the shares say how the two
kinds of mistake compare, not how often they are made.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from nightschool.adapters.claude_code.transcripts import ClaudeCodeTranscripts
from nightschool.adapters.codex.transcripts import CodexTranscripts
from nightschool.core.ports import TranscriptSource
from nightschool.core.sessions import Session, Speaker, TranscriptRef, Turn
from nightschool.core.signals import SignalKind
from nightschool.rules.corrections import corrections
from nightschool.rules.signals import signals

CASES = Path(__file__).resolve().parents[2] / "shared" / "cases" / "transcripts"
SENTENCES = Path(__file__).with_name("sentences.tsv")
SOURCES: dict[str, TranscriptSource] = {
    "claude-code": ClaudeCodeTranscripts(redact=str),
    "codex": CodexTranscripts(redact=str),
}


def judged() -> Iterator[tuple[str, bool, str | None]]:
    """(file, corrected as a reader says, the words that we take for a correction)."""
    with (CASES / "MANIFEST.tsv").open(encoding="utf-8", newline="") as manifest:
        for row in csv.DictReader(manifest, delimiter="\t"):
            source = SOURCES.get(row["agent"])
            if source is None or not row["kind"].startswith("real") or row["user_corrected"] == "n/a":
                continue
            path = CASES / row["file"]
            ref = TranscriptRef(
                source=source.name,
                path=str(path),
                size=path.stat().st_size,
                mtime=datetime.fromtimestamp(path.stat().st_mtime, UTC),
            )
            session = source.read(ref, None).session
            found = [] if session is None else signals(session)
            words = next((s.quote for s in found if s.kind is SignalKind.CORRECTION), None)
            yield row["file"], row["user_corrected"].startswith("yes"), words


def told() -> Iterator[tuple[str, bool, str, bool]]:
    """(language, should be listed, the sentence, is listed)."""
    with SENTENCES.open(encoding="utf-8", newline="") as table:
        rows = list(csv.reader(table, delimiter="\t", quoting=csv.QUOTE_NONE))
    did = next(cell for language, _, cell in rows if language == "did")
    for language, wanted, cell in rows:
        if language != "did":
            sentence = cell.replace("\\n", "\n")
            yield language, wanted == "yes", cell, bool(corrections([_session(sentence, did)]))


def _session(sentence: str, did: str) -> Session:
    said = (
        (Speaker.HUMAN, "Rename the importer to loader."),
        (Speaker.AGENT, f"Done, it is renamed. I ran: {did}"),
        (Speaker.HUMAN, sentence),
    )
    turns = tuple(Turn(speaker=speaker, text=text, row=str(row)) for row, (speaker, text) in enumerate(said))
    return Session(source="claude-code", session_id="bench", path="", turns=turns)


def _shares(hits: Iterable[bool], alarms: Iterable[bool], of: str) -> None:
    found, false = list(hits), list(alarms)
    print()
    print(f"sensitivity   {sum(found)} of {len(found)} {of} are found: {sum(found) / len(found):.2f}")
    print(
        f"false alarms  {sum(false)} of {len(false)} others are taken for it: {sum(false) / len(false):.2f}"
    )


def _sessions() -> None:
    if not CASES.is_dir():
        print(f"no cases to measure on: {CASES} is absent")
        return
    rows = list(judged())
    for name, corrected, words in rows:
        verdict = {
            (True, True): "hit",
            (True, False): "MISSED",
            (False, True): "FALSE ALARM",
            (False, False): "",
        }
        print(f"{verdict[corrected, words is not None]:12} {name:70.70} {words or ''}")
    _shares(
        (words is not None for _, corrected, words in rows if corrected),
        (words is not None for _, corrected, words in rows if not corrected),
        "corrected sessions",
    )


def main() -> int:
    _sessions()
    print()
    rows = list(told())
    for language, wanted, sentence, listed in rows:
        if wanted is not listed:
            print(f"{'MISSED' if wanted else 'FALSE ALARM':12} {language}  {sentence}")
    for language in dict.fromkeys(row[0] for row in rows):
        hits = [listed for lang, wanted, _, listed in rows if lang == language and wanted]
        alarms = [listed for lang, wanted, _, listed in rows if lang == language and not wanted]
        print(f"{language:12} {sum(hits)} of {len(hits)} found, {sum(alarms)} of {len(alarms)} others")
    _shares((r[3] for r in rows if r[1]), (r[3] for r in rows if not r[1]), "correcting sentences")
    return 0


if __name__ == "__main__":
    sys.exit(main())
