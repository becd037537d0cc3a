"""The prompts as they are shipped."""

from __future__ import annotations

from dataclasses import replace
from importlib import resources

import pytest

from nightschool.core.jobs import Role
from nightschool.core.tasks import Candidate, Footprint, Moment
from nightschool.prompts import load
from nightschool.rules.editing import screen
from nightschool.stages.consolidate import parse_reply

FILE = {"what": "the memory file", "file": "evidence/memory.md", "own": "", "place": "the list of rules"}
NAMES = sorted(
    entry.name.removesuffix(".md")
    for entry in resources.files("nightschool.prompts").iterdir()
    if entry.name.endswith(".md")
)


def test_there_are_prompts() -> None:
    """The list that the other tests go through is not empty."""
    assert "edit" in NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_prompt_says_its_role_and_reply(name: str) -> None:
    """Each prompt's front matter names a role that jobs have, the one of its file, and the reply it wants."""
    prompt = load(name)
    assert Role(prompt.role) == name
    assert prompt.reply
    assert not prompt.text.startswith("role:")


def test_a_change_of_the_text_is_another_version() -> None:
    """The version is the digest of the text, so that a changed prompt is never answered from a cache."""
    prompt = load("edit")
    assert replace(prompt, text=prompt.text + " ").version != prompt.version


@pytest.mark.parametrize("inputs", [{}, {"budget": 4}, {"budget": 4, "complaint": "", "more": 1}])
def test_inputs_are_exact(inputs: dict[str, object]) -> None:
    """A missing and an unknown input are errors that name what the prompt takes."""
    with pytest.raises(ValueError, match=r"budget.*complaint"):
        load("edit").render(**inputs)


def test_inputs_are_text_and_nothing_more() -> None:
    """What is filled in is not read as a template itself."""
    text = load("edit").render(**FILE, budget=3, complaint="it costs $budget or $5")
    assert "at most 3 edits" in text
    assert "it costs $budget or $5" in text


def test_the_editors_example_is_read_by_the_real_parser() -> None:
    """An editor that answers as the prompt's example does is understood, and its edit could be taken."""
    (edit,) = parse_reply(load("edit").render(**FILE, budget=4, complaint=""), CANDIDATE)
    assert (edit.op, edit.moment) == ("add", CANDIDATE.evidence[0])
    screened = screen([edit], candidate=CANDIDATE, rejected=[], checks=[], task_ids=[], judge_texts=[])
    assert screened.accepted == (edit,)


CANDIDATE = Candidate(
    correction="c-1",
    statement="use tabs in Makefiles",
    evidence=(Moment(session="claude-code:1f0c", turn=2, quote="use tabs in Makefiles"),),
    sessions=("claude-code:1f0c",),
    check=Footprint(wanted="tabs"),
    project="",
)
