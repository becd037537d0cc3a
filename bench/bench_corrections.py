"""Sensitivity and false alarms of correction signals on real sessions.

    python bench/bench_corrections.py

A session is taken for corrected where any human turn in it carries the signal. What a reader judged of the
same files stands in the column `user_corrected` of the manifest of `../shared/cases/transcripts`.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from nightschool.adapters.claude_code.transcripts import ClaudeCodeTranscripts
from nightschool.adapters.codex.transcripts import CodexTranscripts
from nightschool.core.ports import TranscriptSource
from nightschool.core.sessions import SignalKind, TranscriptRef
from nightschool.rules.signals import signals

CASES = Path(__file__).resolve().parents[2] / "shared" / "cases" / "transcripts"
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


def main() -> int:
    if not CASES.is_dir():
        print(f"no cases to measure on: {CASES} is absent")
        return 0
    rows = list(judged())
    for name, corrected, words in rows:
        verdict = {
            (True, True): "hit",
            (True, False): "MISSED",
            (False, True): "FALSE ALARM",
            (False, False): "",
        }
        print(f"{verdict[corrected, words is not None]:12} {name:70.70} {words or ''}")
    told = [words is not None for _, corrected, words in rows if corrected]
    calm = [words is not None for _, corrected, words in rows if not corrected]
    print()
    print(
        f"sensitivity   {sum(told)} of {len(told)} corrected sessions are found: {sum(told) / len(told):.2f}"
    )
    print(f"false alarms  {sum(calm)} of {len(calm)} others are taken for it: {sum(calm) / len(calm):.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
