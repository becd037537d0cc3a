"""A new agent is one file and one entry point: proved by one that is a package of its own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "tests" / "notepad"
PAGE = ROOT / "docs" / "another-agent.md"
NOTES = (
    {"note": "n1", "by": "person", "at": "2026-03-01T09:00:00Z", "text": "Fix it", "folder": "/home/me/app"},
    {"note": "n2", "by": "tool", "tool": "run", "given": {"command": "make"}, "gave": "no", "failed": True},
    {"note": "n3", "by": "agent", "text": "Done."},
    {"note": "n4", "by": "person", "at": "2026-03-01T09:05:00Z", "text": "No, use uv, not pip"},
)


def test_the_page_shows_the_files() -> None:
    """What the page says to write is what is tested here, letter by letter."""
    page = PAGE.read_text(encoding="utf-8")
    shown = re.findall(r"<!-- (tests/notepad/\S+) -->\n```\w+\n(.*?)```", page, re.DOTALL)
    assert {name for name, _ in shown} == {
        f"tests/notepad/{path.name}" for path in PACKAGE.iterdir() if path.is_file()
    }
    for name, text in shown:
        assert text == (ROOT / name).read_text(encoding="utf-8"), f"{name}: copy it into {PAGE.name}"


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with nightschool as it is here, in which the package is installed, without a network."""
    place = tmp_path_factory.mktemp("venv")
    venv.create(place, with_pip=False)
    found = place / "bin" / "python"
    site = subprocess.check_output(
        [found, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], text=True
    )
    here = sysconfig.get_path("purelib")
    (Path(site.strip()) / "of_the_project.pth").write_text(f"import site; site.addsitedir({here!r})\n")
    command = ["-m", "pip", "--python", str(found), "install", "--quiet", "--disable-pip-version-check"]
    offline = ["--no-index", "--no-deps", "--no-build-isolation", "--no-warn-script-location"]
    source = place / "source"
    source.mkdir()
    for path in PACKAGE.iterdir():  # a build may write beside its sources
        if path.is_file():
            (source / path.name).write_bytes(path.read_bytes())
    subprocess.run([sys.executable, *command, *offline, str(source)], check=True, cwd=place)
    return found


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / ".notepad" / "sessions" / "one.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(note) + "\n" for note in NOTES))
    return tmp_path


def asked(python: Path, home: Path, *arguments: str) -> Any:
    environment = {"HOME": str(home), "NIGHTSCHOOL_HOME": str(home / "school"), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [python, "-m", "nightschool", *arguments, "--json"],
        env=environment,
        cwd=home,
        capture_output=True,
        check=False,
        text=True,
    )
    return json.loads(done.stdout)


def test_it_is_read(python: Path, home: Path) -> None:
    """By its name, from its default place, with what was said, called and corrected."""
    told = asked(python, home, "harvest", "--source", "notepad")
    assert told["left_out"] == []
    (session,) = told["sessions"]
    assert (session["human_turns"], session["tool_calls"], session["tool_errors"]) == (2, 1, 1)
    assert session["project"] == "/home/me/app"


def test_it_is_listed(python: Path, home: Path) -> None:
    """Of one that is installed and not among those that are read it is said how it is; of one that is, where
    its sessions lie."""
    found = [one for one in asked(python, home, "doctor")["findings"] if one["about"] == "sessions notepad"]
    assert [(one["state"], "sources" in one["fix"]) for one in found] == [("note", True)]
    settings = home / ".config" / "nightschool" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('sources = ["codex", "notepad"]\n')
    found = [one for one in asked(python, home, "doctor")["findings"] if one["about"] == "sessions notepad"]
    assert [(one["state"], one["text"]) for one in found] == [("ok", f"1 file in {home}/.notepad/sessions")]


def test_it_keeps_the_contract(python: Path, tmp_path: Path) -> None:
    """By the check that is shown, run where the package is installed."""
    empty = tmp_path / "empty"
    empty.mkdir()
    subprocess.run([python, PACKAGE / "check_notepad.py", empty], check=True)
