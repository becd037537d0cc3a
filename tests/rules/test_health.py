"""What `doctor` says of versions, clocks and the retention of transcripts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from nightschool.core.retention import Retention
from nightschool.rules.health import clock_finding, retention_finding, unread_findings, version_finding

NOW = datetime(2025, 3, 1, 2, 0, tzinfo=UTC)
TESTED = frozenset({"2.1.197", "2.2.0"})


@pytest.mark.parametrize(
    ("said", "state"),
    [
        ("2.1.197 (Claude Code)", "ok"),
        ("claude 2.2.0", "ok"),
        ("2.1.1970 (Claude Code)", "note"),
        ("2.1.19 (Claude Code)", "note"),
        ("unknown", "note"),
        (None, "note"),
    ],
)
def test_another_version_than_the_tested_is_told(said: str | None, state: str) -> None:
    """A version is compared whole; one that says nothing of itself is none of the tested."""
    finding = version_finding("claude-code", said, "/bin/claude", TESTED)
    assert finding.state == state
    assert bool(finding.fix) == (state == "note")


def test_an_agent_without_tested_versions_is_taken_as_it_is() -> None:
    """Of an agent of somebody else nobody here can say what is tested."""
    assert version_finding("other", "1.0", "/bin/other", ()).state == "ok"


@pytest.mark.parametrize(
    ("ahead", "state"), [(-400 * 86400, "ok"), (60, "ok"), (3600, "note"), (90000, "note")]
)
def test_a_clock_far_behind_what_is_there(ahead: int, state: str) -> None:
    """What was written an hour or more after now was written by a clock that this one is behind of."""
    finding = clock_finding(NOW, NOW + timedelta(seconds=ahead), "the report of n-0001")
    assert finding.state == state
    assert ("n-0001" in finding.text) == (state == "note")


def test_nothing_to_compare_with() -> None:
    """A clock alone is taken as right."""
    assert clock_finding(NOW, None, "").state == "ok"


@pytest.mark.parametrize(
    ("days", "state"), [(1, "note"), (30, "note"), (89, "note"), (90, "ok"), (None, "note")]
)
def test_transcripts_that_vanish_before_they_could_be_read(days: int | None, state: str) -> None:
    """Shorter than the widest look back is told; so is what nobody knows."""
    kept = Retention(days=days, place="its default", setting="the setting")
    assert retention_finding("claude-code", kept, 90).state == state


def test_unread_files_are_named_up_to_three() -> None:
    """All are counted, three are named, none is no finding."""
    assert list(unread_findings("codex", [])) == []
    (finding,) = unread_findings("codex", ["/d", "/c", "/b", "/a"])
    assert finding.text == "4 files or folders cannot be read: /a, /b, /c, ..."
