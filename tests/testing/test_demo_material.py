"""The demo's project, sessions and apprentice."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nightschool.testing import demo
from nightschool.testing.apprentice import work
from nightschool.testing.script import plain

TRANSCRIPTS = demo.HERE / "transcripts"
TRACES = re.compile(
    r"/(?:root|tmp|var|opt|work|mnt|Users)/|/home/(?!sam\b)|sk-ant-|api[_-]?key", re.IGNORECASE
)
FILES = sorted(TRANSCRIPTS.rglob("*.jsonl"))


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def claude_prompts(path: Path) -> Iterator[str]:
    for row in rows(path):
        if row["type"] == "user" and row.get("promptSource") == "typed":
            yield row["message"]["content"]


def codex_prompts(path: Path) -> Iterator[str]:
    for row in rows(path):
        item = row["payload"].get("item", {})
        if item.get("type") == "UserMessage":
            yield item["content"][0]["text"]


def prompts(path: Path) -> list[str]:
    return list(claude_prompts(path) if path.parent.name == "claude-code" else codex_prompts(path))


def test_the_sessions_are_those_of_people() -> None:
    """Nine and six sessions of two to three typed turns, none of them marked as headless."""
    assert [path.parent.name for path in FILES] == ["claude-code"] * 9 + ["codex"] * 6
    assert {len(prompts(path)) for path in FILES} == {2, 3}
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        assert '"entrypoint":"cli"' in text or '"originator":"codex-tui"' in text


def test_corrections_stand_in_both_agents_and_three_languages() -> None:
    """Nine sessions hold the correction towards pathlib, in nine wordings."""
    said = [text for path in FILES for text in prompts(path) if "pathlib" in text]
    assert len(said) == len(set(said)) == 9
    assert sum("statt" in text for text in said) == sum("en lugar de" in text for text in said) == 1


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem[-12:])
def test_nothing_tells_of_machine_vendor_or_account(path: Path) -> None:
    """No path of the machine, no key, no long text of a vendor; small files."""
    text = path.read_text(encoding="utf-8")
    assert TRACES.search(text) is None
    assert "You are a coding agent" not in text
    assert len(text.encode()) < 60_000


def test_sessions_lie_on_their_days_in_order() -> None:
    """Times of a session grow, but for rows that Claude Code writes late, and stay on one day."""
    for path in FILES:
        times = [row["timestamp"] for row in rows(path) if "timestamp" in row]
        assert len({time[:10] for time in times}) == 1
        if path.parent.name == "codex":
            assert times == sorted(times)


def test_the_repository_has_the_commit_that_the_rows_name(tmp_path: Path) -> None:
    """The project is laid out with the very commit that Codex recorded, and a clean tree."""
    project = demo.lay_out(tmp_path)
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"],  # noqa: S607 - git of the PATH
        cwd=project,
        capture_output=True,
        text=True,
        check=True,
    )
    named = {rows(path)[0]["payload"]["git"]["commit_hash"] for path in FILES if path.parent.name == "codex"}
    assert named == {head.stdout.strip()}
    laid = [*tmp_path.glob(".claude/projects/*/*.jsonl"), *tmp_path.glob(".codex/sessions/*/*/*/*.jsonl")]
    assert len(laid) == len(FILES)
    assert all(demo.RECORDED_HOME not in path.read_text(encoding="utf-8") for path in laid)


@pytest.mark.parametrize(
    "path", [path for path in FILES if "Commit" not in prompts(path)[0]], ids=lambda path: path.stem[-12:]
)
def test_the_apprentice_can_do_every_request(path: Path, tmp_path: Path) -> None:
    """Each first request changes a file that it names, in both arms; the memory file makes the difference."""
    prompt = prompts(path)[0]
    shares = {memory: _share(prompt, memory, tmp_path) for memory in ("", "- use pathlib\n- use logging\n")}
    if "(" in prompt and "docstring" not in prompt:
        assert shares["- use pathlib\n- use logging\n"] - shares[""] > 0.5


def _share(prompt: str, memory: str, folder: Path) -> float:
    """In how many of 12 tries the good way was gone."""
    good = 0
    for seed in range(12):
        root = folder / f"{len(memory)}-{seed}"
        (root / "home").mkdir(parents=True)
        shutil.copytree(demo.HERE / "project", root / "project")
        project = root / "project"
        (project / "CLAUDE.md").write_text(memory)
        order = {"script": plain(demo.apprentice()), "prompt": prompt, "seed": f"try {seed}"}
        calls = work(order, project, root / "home")["calls"]
        assert all(call["exit_code"] == 0 for call in calls)
        changed = [
            path
            for path in (project / "ledger").iterdir()
            if path.read_bytes() != (demo.HERE / "project/ledger" / path.name).read_bytes()
        ]
        assert all(path.name in prompt for path in changed)
        for path in changed:
            ast.parse(path.read_text())
            good += any(word in path.read_text() for word in ("pathlib", "logging"))
    return good / 12
