"""The documentation is what the code does: generated blocks, links, and examples that run."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pictures
import pytest

from nightschool.cli.app import COMMANDS, GROUPS, run
from nightschool.rules.betting import alpha_share
from nightschool.rules.gate import Policy

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md")])
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)]*)?\)")
CONSOLE = re.compile(r"<!-- run -->\n```console\n(.*?)\n```", re.DOTALL)
POLICY = Policy()
LEAVES = [*COMMANDS, *(f"{group} {name}" for group, (_, inner) in GROUPS.items() for name in inner)]


@pytest.fixture
def generate(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setenv("COLUMNS", str(module.WIDTH))
    monkeypatch.setenv("NO_COLOR", "1")
    return module


def test_generated_blocks_are_current(generate: ModuleType) -> None:
    """Each command has its page with its help, and settings and exit codes are those of the code."""
    stale = [
        f"{page.relative_to(ROOT)}: run `make docs`"
        for page, (title, block) in generate.blocks().items()
        if not page.exists()
        or block not in page.read_text(encoding="utf-8")
        or page.read_text(encoding="utf-8") != generate.written(page, title, block)
    ]
    assert stale == []


def test_no_page_without_its_command(generate: ModuleType) -> None:
    """A command that is gone leaves no page behind."""
    known = {page.name for page in generate.blocks() if page.parent.name == "commands"}
    assert {page.name for page in (DOCS / "commands").glob("*.md")} == known


@pytest.mark.parametrize("command", LEAVES)
def test_every_command_shows_an_example_and_json(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The help of each command has an example of it, and each command takes --json."""
    run([*command.split(), "--help"])
    told = capsys.readouterr().out
    assert "Example:" in told
    assert f"nightschool {command}" in told.split("Example:")[1]
    assert "--json" in told


def test_every_room_has_its_page() -> None:
    """Each room of the package is described, and no page describes one that is not there."""
    rooms = {path.parent.name for path in (ROOT / "src" / "nightschool").glob("*/__init__.py")}
    assert {page.stem for page in (DOCS / "rooms").glob("*.md")} == rooms


def test_every_page_can_be_reached() -> None:
    """From the index one comes to every page."""
    seen: set[Path] = set()
    todo = [DOCS / "README.md"]
    while todo:
        page = todo.pop()
        if page not in seen and page.suffix == ".md" and page.is_file():
            seen.add(page)
            todo += [(page.parent / target).resolve() for target in LINK.findall(page.read_text("utf-8"))]
    assert [str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md") if page not in seen] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """A link to a file of the repository leads to a file that is there."""
    broken = [
        target for target in LINK.findall(page.read_text("utf-8")) if not (page.parent / target).exists()
    ]
    assert broken == []


def test_every_dependency_has_its_reason() -> None:
    """What is installed with the package is named in the decision on dependencies."""
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    listed = re.search(r"^dependencies = \[(.*?)^\]", project, re.DOTALL | re.MULTILINE)
    assert listed is not None
    names = re.findall(r'"([A-Za-z0-9.-]+)', listed[1])
    decision = (DOCS / "decisions" / "0002-dependencies.md").read_text("utf-8")
    assert [name for name in names if f"| {name} |" not in decision] == []


def examples() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        found = CONSOLE.findall(page.read_text("utf-8"))
        if found:
            yield str(page.relative_to(ROOT)), "\n".join(found)


@pytest.mark.parametrize("block", [pytest.param(block, id=name) for name, block in examples()])
def test_examples_run(block: str, tmp_path: Path) -> None:
    """An example marked to be run does run in an empty home, and prints what the page shows.

    The blocks of a page are one shell: `cd` and `export` hold for what follows. A line `...` stands for any
    lines and `...` in a line for any words, `ID` for the proposal that waits for a review; an example
    without output shows none.
    """
    environment = {name: text for name, text in os.environ.items() if not name.startswith("NIGHTSCHOOL_")}
    environment |= {"HOME": str(tmp_path), "NIGHTSCHOOL_HOME": str(tmp_path / "school"), "COLUMNS": "88"}
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        environment.pop(name, None)
    folder, proposal = tmp_path, "ID"
    for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        line, _, shown = step.partition("\n")
        program, *arguments = shlex.split(line)
        if program == "cd":
            folder /= arguments[0]
            continue
        if program == "export":
            for name, _, value in (argument.partition("=") for argument in arguments):
                environment[name] = value.replace("$PWD", str(folder))
            continue
        assert program == "nightschool"
        told = called([proposal if word == "ID" else word for word in arguments], folder, environment)
        if proposal == "ID" and re.search(r"\bID\b", shown):
            proposal = in_review(called(["proposals", "--json"], folder, environment))
        if shown.strip():
            assert re.fullmatch(pattern(shown.strip()), told.replace(proposal, "ID"), re.DOTALL), told


def called(arguments: list[str], folder: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "nightschool", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def in_review(document: str) -> str:
    (found,) = [told["id"] for told in json.loads(document)["proposals"] if told["status"] == "in review"]
    return str(found)


def troubles() -> list[str]:
    page = (DOCS / "troubleshooting.md").read_text("utf-8")
    headings = re.findall(r"^### (`.+`)$", page, re.MULTILINE)
    return [words for heading in headings for words in re.findall(r"`([^`]+)`", heading)]


def sources() -> Iterator[ast.Module]:
    """Of what a person meets: all but the doubles."""
    for file in sorted((ROOT / "src/nightschool").rglob("*.py")):
        if "testing" in file.parts:
            continue
        yield ast.parse(file.read_bytes(), str(file))


def literals(node: ast.AST) -> Iterator[str]:
    """Texts of the code, with a mark in the place of what is filled in. No docstring is one."""
    match node:
        case ast.JoinedStr():
            parts = (part.value if isinstance(part, ast.Constant) else "\0" for part in node.values)
            yield "".join(str(part) for part in parts)
        case ast.Constant(value=str(text)):
            yield text
        case ast.Expr(value=ast.Constant()):
            return
    for child in ast.iter_child_nodes(node):
        yield from literals(child)


def test_troubles_are_those_of_the_code() -> None:
    """Each trouble of the page is told in words that the program really says."""
    said = "\n".join(text for module in sources() for text in literals(module))
    assert len(troubles()) > 30
    assert [words for words in troubles() if words not in said] == []


OF_THE_MACHINE = {"AuthenticationFailed", "RunnerUnusable", "SandboxUnavailable", "SchedulerFailed", "Busy"}
"""Errors after which nothing goes on until a person mended this machine or an account. Others are of what was
typed or of one file, and say all that there is to say."""


def test_what_stops_everything_is_among_the_troubles() -> None:
    """The page has the longer story of each error that is of the machine, by words of its text."""
    raised = [
        node.exc
        for module in sources()
        for node in ast.walk(module)
        if isinstance(node, ast.Raise)
        and isinstance(node.exc, ast.Call)
        and isinstance(node.exc.func, ast.Name)
        and node.exc.func.id in OF_THE_MACHINE
    ]
    assert len(raised) > 20
    untold = [text for text in map(" ".join, map(literals, raised)) if not any(w in text for w in troubles())]
    assert untold == []


def pattern(shown: str) -> str:
    lines = (re.escape(line).replace(r"\.\.\.", "[^\n]*") for line in shown.splitlines())
    whole = "\n".join(".*" if line == "[^\n]*" else line for line in lines)
    # Lines left out at the beginning or the end may be none.
    return re.sub(r"\n\.\*$", r"(?:\n.*)?", re.sub(r"^\.\*\n", r"(?:.*\n)?", whole))


def test_the_pictures_are_what_the_script_draws() -> None:
    """The simulated exams of how-it-decides.md come from the code that decides today, and all are shown."""
    page = (DOCS / "how-it-decides.md").read_text(encoding="utf-8")
    drawn = pictures.files()
    assert {file: file.read_text(encoding="utf-8") for file in drawn} == drawn
    assert set(pictures.FOLDER.iterdir()) == set(drawn)
    assert all(f"](pictures/{file.name})" in page for file in drawn)


def test_the_pictures_show_what_their_names_say() -> None:
    """The edit that helps passes, the other two do not, and the figures of the page are the gate's own."""
    good, useless, harmful = (pictures.exams(picture)[0].kind for picture in pictures.PICTURES)
    assert (good, useless, harmful) == ("accept", "reject", "reject")
    page = (DOCS / "how-it-decides.md").read_text(encoding="utf-8")
    for text in (f"{POLICY.alpha:.0%}".replace("%", " %"), f"{1 / alpha_share(POLICY.alpha, 1):.1f}"):
        assert text in page
    assert f"{1 / alpha_share(POLICY.alpha, 2):.1f}" in page
    assert f"fell below {POLICY.reject_below:g}" in page
