"""Habits that no linter checks: sizes, one broad boundary, no marks, nothing of the machine."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "nightschool"
MOST_LINES_OF_FILE = 450
MOST_LINES_OF_FUNCTION = 60
BOUNDARY = "stages/door.py"
"""The one place where whatever a runner raises becomes a `Failed` outcome."""
BROAD = {"Exception", "BaseException"}
LOCKED = (
    "requirements/dev.txt",
    "tests/agents/package-lock.json",
    "tests/agents/recording/package-lock.json",
)
TEXT = {".py", ".md", ".toml", ".txt", ".in", ".json", ".mjs", ".yaml", ".yml", ".sh", ""}


@cache
def trees() -> dict[str, ast.Module]:
    return {
        path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(SOURCE.rglob("*.py"))
    }


def tracked() -> Iterator[Path]:
    command = ["git", "ls-files", "-z"]
    listing = subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    for name in listing.stdout.decode().split("\0"):
        path = ROOT / name
        if name and path.suffix in TEXT and path.is_file():
            yield path


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def test_files_are_short() -> None:
    """No file of the source, the tests or the benches is longer than 450 lines."""
    long = {
        str(path.relative_to(ROOT)): lines
        for folder in (SOURCE, ROOT / "tests", ROOT / "bench")
        for path in folder.rglob("*.py")
        if "node_modules" not in path.parts
        and (lines := len(text_of(path).splitlines())) > MOST_LINES_OF_FILE
    }
    assert long == {}


def test_functions_are_short() -> None:
    """No function of the source is longer than 60 lines."""
    long = {
        f"{name}:{node.name}": lines
        for name, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and (lines := (node.end_lineno or node.lineno) - node.lineno + 1) > MOST_LINES_OF_FUNCTION
    }
    assert long == {}


def broad_handlers(tree: ast.Module) -> Iterator[ast.ExceptHandler]:
    """Handlers that may swallow anything. One that ends by raising the same again only cleans up."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.ExceptHandler):
            continue
        kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
        last = node.body[-1]
        raises_again = isinstance(last, ast.Raise) and last.exc is None
        if not raises_again and any(
            kind is None or (isinstance(kind, ast.Name) and kind.id in BROAD) for kind in kinds
        ):
            yield node


def test_one_broad_boundary() -> None:
    """Only the door takes whatever a runner raises, in one place."""
    found = [name for name, tree in trees().items() for _ in broad_handlers(tree)]
    assert found == [BOUNDARY]


@pytest.mark.parametrize(
    ("handler", "broad"),
    [
        ("except:\n  pass", True),
        ("except Exception:\n  pass", True),
        ("except (OSError, BaseException) as e:\n  raise X from e", True),
        ("except BaseException:\n  clean()\n  raise", False),
        ("except OSError:\n  pass", False),
    ],
)
def test_broad_is_what_swallows(handler: str, *, broad: bool) -> None:
    """The rule sees bare handlers, tuples and aliases, and lets cleaning up be."""
    tree = ast.parse(f"try:\n  work()\n{handler}\n")
    assert bool(list(broad_handlers(tree))) is broad


def test_core_is_standard_library_only() -> None:
    """Values and contracts import nothing that would have to be installed, whatever its name."""
    allowed = sys.stdlib_module_names | {"nightschool"}
    foreign = [
        f"{name}: {module}"
        for name, tree in trees().items()
        if name.startswith("core/")
        for node in ast.walk(tree)
        for module in _imported(node)
        if module.partition(".")[0] not in allowed
    ]
    assert foreign == []


def _imported(node: ast.AST) -> list[str]:
    match node:
        case ast.Import():
            return [alias.name for alias in node.names]
        case ast.ImportFrom():
            return [node.module or "."]
    return []


def test_every_exception_from_a_rule_has_its_reason() -> None:
    """What a linter or the type checker is told to overlook says why, behind it or above it in the list."""
    silent = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in tracked()
        if path.suffix == ".py"
        for number, line in enumerate(text_of(path).splitlines(), 1)
        if re.search(r"# (?:no" r"qa|type: ig" r"nore)\b", line)
        and not re.search(r"# (?:no" r"qa: [A-Z0-9, ]+ -|type: ig" r"nore\[[a-z, -]+\]  #) \w", line)
        and "PLC0415" not in line
    ]
    assert silent == []


def test_only_the_cli_prints() -> None:
    """Everything but the command line hands values back; even there, only the output module writes."""
    printing = [
        name
        for name, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert printing == []


def test_nothing_is_left_to_do() -> None:
    """What is missing is an issue, not a mark in the code."""
    marks = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|X" r"XX|HA" r"CK)\b|\bNotImplemented" r"Error\b")
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in tracked()
        if path.suffix in {".py", ".mjs", ".toml"}
        for number, line in enumerate(text_of(path).splitlines(), 1)
        if marks.search(line)
    ]
    assert found == []


def test_nothing_of_the_machine() -> None:
    """No tracked file holds a path of the machine that it was written on."""
    found = [str(path.relative_to(ROOT)) for path in tracked() if f"{ROOT}/" in text_of(path)]
    assert found == []


def test_locks_name_no_host() -> None:
    """Lock files hold versions and digests; from where they are fetched is for the one who installs."""
    found = [
        f"{name}:{number}"
        for name in LOCKED
        if (ROOT / name).exists()
        for number, line in enumerate(text_of(ROOT / name).splitlines(), 1)
        if "://" in line or "index-url" in line
    ]
    assert found == []


def test_every_test_says_its_rule() -> None:
    """Each test's docstring states its rule in a sentence."""
    silent = [
        f"{path.relative_to(ROOT)}:{node.name}"
        for path in (ROOT / "tests").rglob("test_*.py")
        if "node_modules" not in path.parts
        for node in ast.walk(ast.parse(text_of(path)))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        if not (ast.get_docstring(node) or "").strip().endswith((".", ")", "?"))
    ]
    assert silent == []
