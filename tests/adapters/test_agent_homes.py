"""What an agent's own settings say of how long it keeps its transcripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from nightschool.adapters.claude_code.home import retention
from nightschool.adapters.claude_code.transcripts import ClaudeCodeTranscripts
from nightschool.adapters.codex.transcripts import CodexTranscripts
from nightschool.core.sessions import Roots


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("own", "managed", "days", "place"),
    [
        (None, None, 30, "its default"),
        ("{}", None, 30, "its default"),
        ('{"cleanupPeriodDays": 7}', None, 7, "settings.json"),
        ('{"cleanupPeriodDays": 7}', '{"cleanupPeriodDays": 3}', 3, "managed.json"),
        ('{"cleanupPeriodDays": 7}', "{}", 7, "settings.json"),
        ('{"cleanupPeriodDays": "7"}', None, 30, "its default"),
        ('{"cleanupPeriodDays": true}', None, 30, "its default"),
        ("no json", None, None, "settings.json"),
    ],
)
def test_days_that_claude_code_keeps_transcripts(
    own: str | None, managed: str | None, days: int | None, place: str, tmp_path: Path
) -> None:
    """The organisation's word, then the person's, then 30; of a file that cannot be read nobody knows."""
    moved = {"CLAUDE_CONFIG_DIR": str(tmp_path / "moved")}
    if own is not None:
        written(tmp_path / "moved/settings.json", own)
    policy = tmp_path / "managed.json"
    if managed is not None:
        written(policy, managed)
    kept = retention(tmp_path, moved, policy)
    assert kept.days == days
    assert kept.place.endswith(place)
    assert kept.setting == f'"cleanupPeriodDays" in {tmp_path}/moved/settings.json'


def test_only_claude_code_is_known_to_remove_any(tmp_path: Path) -> None:
    """Sources tell it by home and environment; codex removes none."""
    written(tmp_path / ".claude/settings.json", '{"cleanupPeriodDays": 9}')
    roots = Roots(home=str(tmp_path))
    kept = ClaudeCodeTranscripts(redact=str).retention(roots)
    assert kept is not None
    assert kept.days == 9
    assert CodexTranscripts(redact=str).retention(roots) is None
