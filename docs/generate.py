"""Writes into docs/ what the code knows: each command's help, settings, exit codes, the files of a room,
and the pictures that `pictures.py` draws.

    make docs

A page keeps what people wrote around its generated block. tests/test_docs.py compares.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import os
import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pictures

DOCS = Path(__file__).parent
SOURCE = DOCS.parent / "src" / "nightschool"
BLOCK = "<!-- from the code: make docs -->\n{}\n<!-- end -->"
FOUND = re.compile(r"<!-- from the code: make docs -->\n.*?\n<!-- end -->", re.DOTALL)
WIDTH = 88


def commands() -> Iterator[str]:
    """Each command that does something, as a person types it."""
    from nightschool.cli.app import COMMANDS, GROUPS  # noqa: PLC0415 - after COLUMNS is set

    yield from COMMANDS
    for group, (_, inner) in GROUPS.items():
        yield from (f"{group} {name}" for name in inner)


def help_of(path: str) -> str:
    from nightschool.cli.app import run  # noqa: PLC0415 - after COLUMNS is set

    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        run([*path.split(), "--help"])
    return "```text\n" + "\n".join(line.rstrip() for line in told.getvalue().splitlines()).strip() + "\n```"


def settings_table() -> str:
    from nightschool.settings import KEYS  # noqa: PLC0415 - help needs no settings

    lines = ["| setting | default | what it is | allowed | a project's file |", "|---|---|---|---|---|"]
    for name, key in KEYS.items():
        may = (
            f"no: {key.about.personal}"
            if key.about.personal
            else "may lower it"
            if key.about.lower
            else "adds to it, for its own sessions"
            if key.about.adds
            else "yes"
        )
        text = " | ".join((f"`{name}`", _default(name), key.about.text, key.allowed, may))
        lines.append(f"| {text} |")
    return "\n".join(lines)


def _default(name: str) -> str:
    from nightschool.settings import KEYS  # noqa: PLC0415

    value = KEYS[name].default
    match value:
        case None | ():
            return "none"
        case tuple():
            return ", ".join(f"`{item}`" for item in value)
        case str() | int() | float() | Decimal():
            return f"`{value}`"
    return "the platform's data folder"


def exit_codes() -> str:
    from nightschool.cli.exits import MEANING  # noqa: PLC0415

    lines = ["| code | name | what it means |", "|---|---|---|"]
    lines += [
        f"| {code.value} | {code.name.lower().replace('_', ' ')} | {text} |" for code, text in MEANING.items()
    ]
    return "\n".join(lines)


def files_of(room: Path) -> str:
    """Each file of a room with the first line of its docstring."""
    lines = ["| file | what it is |", "|---|---|"]
    for file in sorted(room.rglob("*.py")):
        text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
        if text:
            lines.append(f"| `{file.relative_to(room)}` | {text.splitlines()[0]} |")
    return "\n".join(lines)


def index() -> str:
    """The commands with the first sentence of their help."""
    from nightschool.cli.app import COMMANDS, GROUPS  # noqa: PLC0415 - after COLUMNS is set

    functions = dict(COMMANDS)
    for group, (_, inner) in GROUPS.items():
        functions |= {f"{group} {name}": function for name, function in inner.items()}
    lines = ["| command | what it does |", "|---|---|"]
    for name, function in functions.items():
        page = f"commands/{name.replace(' ', '-')}.md"
        lines.append(f"| [{name}]({page}) | {(inspect.getdoc(function) or '').splitlines()[0]} |")
    return "\n".join(lines)


def rooms() -> Iterator[Path]:
    yield from (file.parent for file in sorted(SOURCE.glob("*/__init__.py")))


def blocks() -> dict[Path, tuple[str, str]]:
    """By page: what it begins with where it is new, and its generated block."""
    pages = {
        DOCS / "commands" / f"{path.replace(' ', '-')}.md": (f"# nightschool {path}", help_of(path))
        for path in commands()
    }
    pages[DOCS / "README.md"] = ("# Nightschool: documentation", index())
    pages[DOCS / "settings.md"] = ("# Settings", settings_table())
    pages[DOCS / "how-it-decides.md"] = ("# How it decides", pictures.block())
    pages[DOCS / "exit-codes.md"] = ("# Exit codes", exit_codes())
    for room in rooms():
        pages[DOCS / "rooms" / f"{room.name}.md"] = (f"# {room.name}", files_of(room))
    return pages


def written(page: Path, title: str, block: str) -> str:
    """The page as it should be."""
    text = page.read_text(encoding="utf-8") if page.exists() else f"{title}\n\n{BLOCK.format('')}\n"
    return FOUND.sub(lambda _: BLOCK.format(block), text)


def main() -> None:
    # The width and the plainness of help come from the environment.
    os.environ.update(COLUMNS=str(WIDTH), NO_COLOR="1")
    for page, (title, block) in blocks().items():
        text = written(page, title, block)
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(text, encoding="utf-8")
            print(f"wrote {page.relative_to(DOCS.parent)}")
    pictures.main()


if __name__ == "__main__":
    main()
