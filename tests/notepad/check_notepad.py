"""Keeps the contract: raises an `AssertionError` that says what does not hold. Give it an empty folder."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from notepad_agent import NotepadTranscripts

from nightschool.testing.conformance.source import check_source, lines


def rows_for(prompts: Sequence[str]) -> list[bytes]:
    rows: list[dict[str, object]] = []
    for number, prompt in enumerate(prompts):
        at = f"2026-03-01T09:{number:02}:00Z"
        rows += [
            {"note": f"n{number}", "by": "person", "at": at, "text": prompt, "folder": "/home/me/app"},
            {"note": f"n{number}a", "by": "agent", "at": at, "text": "Done."},
        ]
    return [json.dumps(row).encode() for row in rows]


if __name__ == "__main__":
    sample = lines(".notepad/sessions/one.jsonl", rows_for)
    check_source(lambda redact: NotepadTranscripts(redact=redact), sample, Path(sys.argv[1]))
