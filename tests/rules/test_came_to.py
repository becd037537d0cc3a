"""The words for what became of a correction."""

from __future__ import annotations

import ast
import inspect
import re

from nightschool.core import cycles
from nightschool.rules.came_to import WORDS, in_full, in_short


def codes() -> set[str]:
    """Those that `Learned.code` may have, by its docstring."""
    for node in ast.walk(ast.parse(inspect.getsource(cycles))):
        if isinstance(node, ast.ClassDef) and node.name == "Learned":
            told = [part.value for part in node.body if isinstance(part, ast.Expr)]
            texts = [str(part.value) for part in told if isinstance(part, ast.Constant)]
            return set(re.findall(r"[a-z]+(?:-[a-z]+)*", next(text for text in texts if "accept," in text)))
    raise AssertionError("Learned is gone")


def test_each_code_has_words_for_every_screen() -> None:
    """No screen shows a code, and all say the same: there is one table, and it is whole."""
    assert codes() == set(WORDS)
    for code in WORDS:
        for told in (in_short(code), in_full(code)):
            assert not re.fullmatch(r"[a-z]+(-[a-z]+)+", told), told
