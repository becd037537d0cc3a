"""Procedures in a person's words, and the skills that they become."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations import agent, bash, human, session
from nightschool.core.skills import (
    LONGEST_DESCRIPTION,
    LONGEST_NAME,
    NAME,
    fields,
    head_and_body,
    head_faults,
)
from nightschool.core.tasks import Procedure
from nightschool.rules.corrections import corrections
from nightschool.rules.new_skill import name_of, new_skill
from nightschool.rules.procedures import named_in, procedure

LIST = "No. When you cut a release:\n1. run `make docs`\n2. update the changelog\n3. tag it with `git tag -s`"
TOLD = (
    "When you cut a release, first run `make docs`, then update the changelog, "
    "and finally run `make dist`. Ok?"
)


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        (LIST, ("run `make docs`", "update the changelog", "tag it with `git tag -s`")),
        (TOLD, ("run `make docs`", "update the changelog", "run `make dist`")),
        (
            "Wenn du ein Release machst, zuerst `make docs`, dann das Log, zuletzt `git push`.",
            ("`make docs`", "das Log", "`git push`"),
        ),
        (
            "No: when you cut it first run `make docs`, then update the log, then copy it to the share",
            ("run `make docs`", "update the log", "copy it to the share"),
        ),
        (
            "Wenn du taggst: zuerst `make test`, dann das Log, und erst dann `git tag`",
            ("`make test`", "das Log", "`git tag`"),
        ),
    ],
)
def test_steps_in_their_order_are_a_procedure(text: str, steps: tuple[str, ...]) -> None:
    """A numbered list of three below an occasion, or first ..., then ..., finally ..."""
    found = procedure(text)
    assert found is not None
    assert found.steps == steps
    assert found.occasion.casefold().startswith(("when you cut", "wenn du"))


@pytest.mark.parametrize(
    "text",
    [
        "Two rules:\n1. use pnpm, not npm\n2. use tabs\n3. be brief",
        "When you release:\n1. build\n2. tag",
        "When you release:\n1. build\n2. never push\n3. tag",
        "When you release:\n- build\n- tag\n- push",
        "First, look at the log, then fix it, finally run the tests.",
        "Use pnpm, not npm.",
        "",
        "> When you release:\n> 1. a b\n> 2. c d\n> 3. e f",
    ],
)
def test_rules_and_requests_are_none(text: str) -> None:
    """Rules, two steps, bullets, prohibitions, quotes and a request without an occasion are none."""
    assert procedure(text) is None


def test_the_last_step_with_code_tells_that_it_was_done() -> None:
    """A machine looks for what stands in code marks last; steps without any give nothing to look for."""
    assert [named_in(p) for p in (procedure(LIST), procedure(TOLD)) if p] == ["git tag -s", "make dist"]
    assert named_in(Procedure(occasion="o", steps=("a", "b", "c"))) is None


def test_a_procedure_is_one_correction() -> None:
    """Told in two sessions after the agent acted, the steps are one correction that holds them whole."""
    both = [
        session(name, human("Release it"), agent("Done.", bash("git tag v1")), human(LIST), day=day)
        for day, name in enumerate(("a", "b"))
    ]
    (found,) = corrections(both)
    assert (found.wanted, len(found.sessions)) == ("git tag -s", 2)
    assert [len(m.procedure.steps) for m in found.moments if m.procedure] == [3, 3]
    assert corrections([session("c", human(LIST))]) == (), "as a first request it is the work itself"


def test_a_new_skill_says_what_the_person_said() -> None:
    """Name and description are made of the person's words, quoted for YAML (B37), with a mark of origin."""
    found = procedure(LIST)
    assert found is not None
    made = new_skill(found)
    parts = head_and_body(made.content)
    assert parts is not None
    head, body = parts
    assert made.name == fields(head)["name"] == "cut-release"
    assert fields(head)["description"].startswith("When you cut a release: run `make docs`; ")
    assert b"metadata:\n  origin: nightschool\n" in head
    assert list(head_faults(head)) == []
    assert re.findall(rb"^\d\. .*$", body, re.MULTILINE) == [
        b"1. run `make docs`",
        b"2. update the changelog",
        b"3. tag it with `git tag -s`",
    ]


@given(st.text(max_size=300), st.lists(st.text(min_size=1, max_size=600), min_size=3, max_size=5))
def test_a_new_skill_keeps_the_rules_of_agent_skills(occasion: str, steps: list[str]) -> None:
    """Whatever was said, the name fits the pattern and name and description their lengths."""
    made = new_skill(Procedure(occasion=occasion, steps=tuple(steps)))
    assert NAME.fullmatch(made.name)
    assert len(made.name) <= LONGEST_NAME
    parts = head_and_body(made.content)
    assert parts is not None
    assert len(fields(parts[0])["description"]) <= LONGEST_DESCRIPTION
    assert name_of(occasion) == made.name
