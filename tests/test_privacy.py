"""A whole cycle over sessions full of secrets and names: none of them in a file, a stream or a report."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from nightschool.testing.demo import lay_out
from planted import IGNORE, NAMES, OF_MEMORY, SECRETS, found, found_below, plant

WORDS = (*SECRETS.values(), OF_MEMORY, *NAMES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """What a cycle and the commands that look at it have left and printed."""

    person: Path
    home: Path
    report: Any
    """Of the cycle, as the command printed it."""
    printed: Mapping[str, bytes]


@pytest.fixture(scope="module")
def night(make_folder: Callable[[str], Path]) -> Night:
    """One cycle and every command that shows something of it, each a process of its own."""
    folder = make_folder("privacy")
    person = folder / "sam"
    person.mkdir()
    project = lay_out(person)
    plant(person)
    (person / ".claude/CLAUDE.md").write_text(f"The token is {SECRETS['git token']}.\n", encoding="utf-8")
    memory = project / "CLAUDE.md"
    memory.write_text(memory.read_text(encoding="utf-8") + f"\nThe token is {OF_MEMORY}.\n", "utf-8")
    config = folder / "config.toml"
    config.write_text(
        f'runner = "scripted"\n[harvest]\nlookback_limit_days = 36500\n{IGNORE}', encoding="utf-8"
    )
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(person),
        "USER": "sam",
        "NIGHTSCHOOL_HOME": str(folder / "ns"),
        "NIGHTSCHOOL_CONFIG": str(config),
    }
    printed: dict[str, bytes] = {}

    def command(*given: str) -> bytes:
        whole = [sys.executable, "-m", "nightschool", *given]
        done = subprocess.run(whole, cwd=project, env=environment, check=False, capture_output=True)
        printed[" ".join(given)] = done.stdout + done.stderr
        assert done.returncode in {0, 3, 4}, done.stderr.decode()
        return done.stdout

    report = json.loads(command("run", "--yes", "--max-jobs", "30", "--json"))
    proposals = json.loads(command("proposals", "--json"))["proposals"]
    command("report", "--json")
    for name in [row["id"] for row in proposals]:
        for form in ("html", "md", "json"):
            command("report", name, "--format", form)
        command("show", name, "--diff")
        command("show", name, "--json")
        command("adopt", name, "--reason", f"so it is, {SECRETS['git token']}")
    for given in (
        "harvest --all",
        "corrections",
        "tasks",
        "proposals",
        "status",
        "history",
        "doctor",
        "run --dry-run",
    ):
        command(*given.split())
        command(*given.split(), "--json")
    command("undo", "--json")
    return Night(person=person, home=folder / "ns", report=report, printed=printed)


def test_the_plants_are_really_there(night: Night) -> None:
    """The agents' own files hold every secret and name: a search that finds none elsewhere says something."""
    for root in (".claude", ".codex"):
        told = found_below(night.person / root, WORDS)
        seen = {word for words in told.values() for word in words}
        assert set(SECRETS.values()) <= seen
    everywhere = {word for words in found_below(night.person, WORDS).values() for word in words}
    assert everywhere == set(WORDS)


def test_the_search_finds_what_is_encoded() -> None:
    """The search knows a word at each place in base64, as bytes stand in the database."""
    import base64  # noqa: PLC0415

    for before in range(6):
        content = base64.b64encode(b"x" * before + SECRETS["git token"].encode() + b"more")
        assert found(content, [SECRETS["git token"]]) == [SECRETS["git token"]]


def test_something_was_learned(night: Night) -> None:
    """The cycle really read, practised and reported: silence would prove nothing."""
    report = night.report
    assert report["sessions_read"] == 15
    assert report["spend"]["jobs"] > 0
    assert dict(report["left_out"]) == {"ignored": 3}


def test_no_file_of_ours_holds_a_secret_or_an_ignored_name(night: Night) -> None:
    """Database, log of the database, blobs, reports, locks and work folders hold none of them."""
    assert {"nightschool.db", "reports", "blobs"} <= {path.name for path in night.home.iterdir()}
    told = found_below(night.home, WORDS)
    # What gives a file its very bytes back on undo is that file, as secret as it was.
    copies = {name for name in told if name.startswith("blobs/")}
    assert all((night.home / name).read_text("utf-8").startswith("# ledger") for name in copies)
    assert {word for name in copies for word in told[name]} == {OF_MEMORY}
    assert told.keys() == copies


def test_no_stream_holds_a_secret(night: Night) -> None:
    """Nothing that a command prints, on stdout or stderr, for people or programs, holds a secret."""
    assert len(night.printed) > 20
    told = {name: found(text, (*SECRETS.values(), OF_MEMORY)) for name, text in night.printed.items()}
    assert {name: words for name, words in told.items() if words} == {}


def test_all_that_is_kept_is_for_the_person_alone(night: Night) -> None:
    """After a cycle with real workspaces no file or folder of ours can be read by anyone else. A commit's
    files keep the modes that an agent is to see, in a folder that nobody else gets into."""
    checkouts = list(night.home.glob("work/mirrors/*/checkouts/*/"))
    shared = [
        str(path.relative_to(night.home))
        for path in night.home.rglob("*")
        if stat.S_IMODE(path.lstat().st_mode) & 0o077
        if not any(folder in path.parents for folder in checkouts)
    ]
    assert shared == []
    assert checkouts
    assert list(night.home.glob("work/mirrors/*/HEAD")), "a cycle with a repository leaves its mirror"
