"""Which file a candidate's edit belongs in."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from nightschool.core.errors import UserError
from nightschool.core.skills import Skill
from nightschool.core.tasks import Candidate, Footprint, Moment, Procedure
from nightschool.rules.aims import Targets, choose, concerns, named, reach, skill_of

NOTES = Skill(name="notes", place="project/.claude/skills/notes/SKILL.md")
OWN = Skill(name="notes", place="user/.claude/skills/notes/SKILL.md")
STEPS = Procedure(occasion="When you cut a release", steps=("build", "tag", "push"))
ALL = Targets()


def candidate(*loaded: tuple[str, ...], procedure: Procedure | None = None) -> Candidate:
    moments = tuple(
        Moment(session=f"s{n}", turn=2, quote="say it", skills=skills, procedure=procedure)
        for n, skills in enumerate(loaded)
    )
    return Candidate(
        correction="c-1",
        statement="say it",
        evidence=moments,
        sessions=tuple(moment.session for moment in moments),
        check=Footprint(wanted="it"),
        project="/p",
    )


def test_one_loaded_skill_is_the_target() -> None:
    """B20: the skill that was loaded each time the correction was given, and the reason."""
    choice = choose(candidate(("notes",), ("notes",)), [NOTES], ALL)
    assert (choice.skill, choice.why) == (NOTES, "the skill notes was loaded when you said it")


@pytest.mark.parametrize(
    ("loaded", "known", "said"),
    [
        (((), ()), [NOTES], "^$"),
        (
            (("a", "notes"), ("a", "notes")),
            [NOTES],
            r"several skills were loaded .* \(a, notes\)",
        ),
        ((("notes",), ()), [NOTES], r"other skills loaded at other times \(notes; in 1 of 2\)"),
        ((("a",), ("notes",)), [NOTES], r"\(a, notes; in 2 of 2\)"),
        ((("gone",), ("gone",)), [NOTES], "has none of that name here"),
        ((("notes",), ("notes",)), [NOTES, OWN], r"more than one \(project/.*user/"),
    ],
)
def test_all_else_goes_to_memory_and_says_why(
    loaded: tuple[tuple[str, ...], ...], known: list[Skill], said: str
) -> None:
    """B20: none, several, conflicts, missing and ambiguous go to the catch-all."""
    choice = choose(candidate(*loaded), known, ALL)
    assert (choice.skill, choice.new, choice.off) == (None, None, False)
    assert re.search(said, choice.why), choice.why


@pytest.mark.parametrize(
    ("scope", "own", "why"),
    [
        ("auto", False, "you said it in this project alone"),
        ("project", False, "you passed --scope project"),
        ("auto", True, "you did not say it in one project alone"),
        ("project", True, "you did not say it in one project alone"),
        ("user", True, "you passed --scope user"),
    ],
)
def test_whose_memory_file_and_why(scope: str, own: bool, why: str) -> None:  # noqa: FBT001 - of the table
    """The reason is the one that it was chosen by, and of a person's own file it is said how far it goes."""
    told = reach(scope=scope, own=own)
    assert told.startswith(why)
    assert ("holds for all your work" in told) is own


def test_a_procedure_becomes_a_skill() -> None:
    """Steps that were told each time, with no skill loaded, make a new skill; a name that is taken none."""
    choice = choose(candidate((), (), procedure=STEPS), [NOTES], ALL)
    assert choice.new is not None
    assert choice.new.name == "cut-release"
    assert "3 steps" in choice.why
    there = Skill(name="cut-release", place="user/.claude/skills/cut-release/SKILL.md")
    taken = choose(candidate((), (), procedure=STEPS), [there], ALL)
    assert (taken.new, "is there already" in taken.why) == (None, True)
    assert choose(candidate(("notes",), procedure=STEPS), [NOTES], ALL).skill == NOTES
    mixed = candidate((), (), procedure=STEPS)
    mixed = replace(mixed, evidence=(mixed.evidence[0], replace(mixed.evidence[1], procedure=None)))
    assert choose(mixed, [], ALL).new is None


def test_memory_and_skills_are_switched_off_apart() -> None:
    """Without skills all goes to memory and says so; without memory only skills are edited."""
    skilled, plain = candidate(("notes",)), candidate(())
    no_skills, no_memory = Targets(skills=False), Targets(memory=False)
    assert (choose(skilled, [NOTES], no_skills).skill, choose(skilled, [NOTES], no_skills).off) == (
        None,
        False,
    )
    assert "targets.skills is off" in choose(skilled, [NOTES], no_skills).why
    assert choose(skilled, [NOTES], no_memory).skill == NOTES
    assert choose(plain, [NOTES], no_memory).off
    assert "targets.memory is off" in choose(plain, [NOTES], no_memory).why
    assert choose(skilled, [NOTES], Targets(memory=False, skills=False)).off
    assert not choose(plain, [NOTES], no_skills).off
    assert choose(candidate((), procedure=STEPS), [], no_skills).new is None


def test_what_concerns_a_skill() -> None:
    """Named by a person, a skill takes each correction that was ever given while it was loaded."""
    assert concerns(candidate(("a", "notes"), ()), NOTES)
    assert not concerns(candidate(("a",)), NOTES)
    assert [skill_of(candidate(*loaded)) for loaded in ((("a",),), ((),), (("a", "b"),), (("a",), ()))] == [
        "a",
        None,
        None,
        None,
    ]


def test_a_name_is_missing_or_ambiguous() -> None:
    """The errors differ, and each lists what there is."""
    known = {NOTES: "/p/.claude/skills/notes/SKILL.md", OWN: "/h/.claude/skills/notes/SKILL.md"}
    assert named("anything", known, found=OWN, agent="claude-code") == OWN
    assert named("notes", {NOTES: "/p"}, found=None, agent="claude-code") == NOTES
    with pytest.raises(UserError, match=r"2 skills have this name: /p/.*, /h/.*by its path"):
        named("notes", known, found=None, agent="claude-code")
    with pytest.raises(UserError, match=r"(?s)no skill that claude-code reads here.*notes  /p/"):
        named("../../etc", known, found=None, agent="claude-code")
    with pytest.raises(UserError, match="it reads none here"):
        named("x", {}, found=None, agent="claude-code")
