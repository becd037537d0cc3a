"""`explain` tells the rows of a session of each agent, by its file and by its id, and what was unreadable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nightschool.adapters.sqlite_store import SqliteStore
from nightschool.cli.app import run
from nightschool.core.sessions import Session
from samples import SAMPLES

PROMPTS = ("add a test", "No, use pnpm, not npm", "commit")


@pytest.mark.parametrize(
    ("name", "kind"), [(name, kind) for name, samples in SAMPLES.items() for kind in samples]
)
def test_a_session_of_each_agent_is_told(
    name: str, kind: str, home: Path, ask: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """Each prompt and each answer is a row with its words, in order; what cannot be read is named with its
    file; it is the same whether the file or the session is named."""
    sample = SAMPLES[name][kind]
    path = home / sample.place
    path.parent.mkdir(parents=True, exist_ok=True)
    sample.write(path, PROMPTS)
    ask("harvest", str(path))
    (session,) = SqliteStore.open(home / "school").find(Session)
    told = ask("explain", str(path))
    assert told == ask("explain", session.id)
    assert (told["session"], told["source"], told["left_out"]) == (session.id, name, [])
    rows = [(row["became"], row["text"]) for row in told["rows"] if row["became"] in {"human", "said"}]
    assert [text for became, text in rows if became == "human"] == list(PROMPTS)
    assert Counter(became for became, _ in rows) == {"human": 3, "said": 3}
    assert [row["signal"] for row in told["rows"] if row["became"] == "human"] == [None, "correction", None]

    before = Counter(row["became"] for row in told["rows"])
    spoiled = sample.spoil(path)
    told = ask("explain", str(path))
    assert [(out["path"], out["offset"]) for out in told["left_out"]] == [
        (str(place), offset) for place, offset in spoiled
    ]
    here = [place for place, offset in spoiled if offset is not None and place == path]
    after = Counter(row["became"] for row in told["rows"])
    assert after["left out"] >= before["left out"] + len(here)
    assert run(["explain", str(path)]) == 0
    printed = capsys.readouterr().out
    assert all(str(place) in printed for place, _ in spoiled)
    assert all(out["detail"][:20] in printed for out in told["left_out"])
