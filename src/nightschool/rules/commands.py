"""Commands of several words in a sentence, put in code marks, so that each is one term.

Relieves instructions of where a command ends: its templates know single words and what is quoted.
"""
# ruff: noqa: RUF001 - words of other languages are written in their own letters

from __future__ import annotations

import re

from nightschool.rules.instructions import ARTICLES, FOLLOWERS, QUOTED

_PROGRAMS = """
    apt bazel brew bun bundle cargo composer conda deno docker dotnet gh git gradle helm hatch kubectl make
    mise mvn node npm npx nox pdm php pip pip3 pipx pixi pnpm podman poetry python python3 rails rye ruff
    rustup terraform tox uv uvx vite yarn
    go(?=\\s+(?:build|fmt|generate|get|install|mod|run|test|tool|vet|work)\\b)
"""
"""Begin commands of several words. A word that a sentence begins with as well (`just`, `task`) is none."""
_SPLITS = """
    of not instead rather over never than statt anstatt anstelle nicht kein keine keinen nie niemals sondern
    pas non jamais plutôt au à no não nunca mai sino ma mas em invece al anziché а не вместо
    with before after first until while once during prefer use using don don't do des de
"""
"""Words that end a command in a sentence."""
_LIMITS = "without unless until while during once except"
"""What follows them says when the command is not meant."""
_VERBS = """
    run call import always please only just to we you nimm nutze benutze verwende utilise utilisez prends usa
    usar usá and or
"""
"""May stand before an option, and are no part of a command."""
_OPTION = r"--?[A-Za-z][\w-]*(?:=[\w@$./:#+~*%=-]*[\w+#*/%])?"
_NO_PART = rf"(?!(?:{'|'.join((*_SPLITS.split(), *_LIMITS.split(), *FOLLOWERS.split()))})(?![\w-]))"
_ARGUMENT = rf"{_NO_PART}(?:{_OPTION}|[@$./:+~]{{0,3}}[A-Za-z0-9_](?:[\w@$./:#+~*%=-]*[\w+#*/%])?)"
_COMMAND = (
    rf"(?:{'|'.join(_PROGRAMS.split())})(?![ \t]+\d)(?:[ \t]+{_ARGUMENT}){{1,5}}"  # "node 20" is a version
    rf"|{_NO_PART}(?!(?:{'|'.join(_VERBS.split())}|{ARTICLES})\b)[A-Za-z][\w.-]*"
    rf"(?:[ \t]+(?!-){_ARGUMENT}){{0,2}}(?:[ \t]+{_OPTION}){{1,3}}"
)
"""Several words that are a command by their first one, or by an option: `uv run pytest`, `grep -rn`."""

_ENDS = rf"(?!\w)(?!\s+(?:{'|'.join(_LIMITS.split())})\b)(?![ \t]+{_ARGUMENT})"
_FOUND = re.compile(rf"(?:{QUOTED})|(?<![\w./-])(?P<command>{_COMMAND}){_ENDS}", re.IGNORECASE)
_HINT = re.compile(rf"(?<![\w-])(?:{'|'.join(_PROGRAMS.split())})[ \t]+\S|[ \t]--?[A-Za-z]", re.IGNORECASE)
"""Sentences without it hold none: most are looked at no further."""


def with_marks(sentence: str) -> str:
    """The sentence, its commands of several words in code marks; what is quoted stays as it is."""
    if _HINT.search(sentence) is None:
        return sentence
    return _FOUND.sub(_marked, sentence)


def _marked(found: re.Match[str]) -> str:
    command = found.group("command")
    return found.group() if command is None else f"`{command}`"
