"""`nightschool harvest FILE --dry-run --json` against the figures of real transcripts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from corpus import absent, figures, files_of
from nightschool.cli.app import run
from transcripts import CASES

FIELDS = ("human_turns", "tool_calls", "tool_errors", "refusals")


@pytest.mark.cases
@absent
@pytest.mark.parametrize("name", [*files_of("claude-code"), *files_of("codex")])
def test_each_real_file_gives_its_figures(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A named file gives what a person counts in it; a sub-agent's own file is left out, with its reason."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NIGHTSCHOOL_HOME", str(tmp_path / "school"))
    assert run(["harvest", str(CASES / name), "--dry-run", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    expected = figures(name)
    if "/agent-" in name or "agent-acompact" in name:
        assert told["sessions"] == []
        assert [left["reason"] for left in told["left_out"]] == ["sub-agent"]
        assert f"{expected[1]} tool calls, {expected[2]} tool errors" in told["left_out"][0]["detail"]
        assert tuple(str(told["left_out"][0][field]) for field in FIELDS) == expected
    elif "n/a" in expected:
        assert told["sessions"] or told["left_out"]
    elif not told["sessions"]:
        assert set(expected) == {"0"}, told
        assert told["left_out"], "a file that gives nothing says why"
    else:
        (session,) = told["sessions"]
        assert tuple(str(session[field]) for field in FIELDS) == expected
