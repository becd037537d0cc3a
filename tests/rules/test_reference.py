"""Requests that mean nothing without the conversation before them."""

from __future__ import annotations

import pytest

from nightschool.rules.reference import refers_back


@pytest.mark.parametrize(
    "text",
    [
        "ok fix it",
        "Fix it please.",
        "can you fix that?",
        "yes, do option b",
        "do the same for the others",
        "fix the error above",
        "try again with the second one",
        "go on with step 2",
        "bitte behebe das",
        "corrige ça",
        "修复一下",
        "それを直してください",
    ],
)
def test_what_names_nothing_refers_back(text: str) -> None:
    """None of its words is a thing of the project: whoever reads it alone knows nothing of the work."""
    assert refers_back(text)


@pytest.mark.parametrize(
    "text",
    [
        "fix the login form",
        "Fix the failing tests",
        "rename it to loader",
        "now add a histogram",
        "fix it: parser.py drops the last row",
        "do it\n\nTraceback (most recent call last):\n  File 'a.py', line 3",
        "修复登录表单",
        "",
        "put the totals in a table",
    ],
)
def test_what_names_a_thing_stands_by_itself(text: str) -> None:
    """A file, a part or a pasted trace in the same message says what the work is."""
    assert not refers_back(text)
