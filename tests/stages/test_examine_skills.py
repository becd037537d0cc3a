"""Exams of drafts that edit a skill: what the agent did not load was not examined."""

from __future__ import annotations

from dataclasses import replace

import pytest

from exam_builders import GUARDS, TARGETS, Chance, exam, helpful, sit, useless
from gate_builders import CANDIDATE, ScriptedPractice
from nightschool.core.proposals import VerdictKind
from nightschool.core.trials import AlphaEntry, Pair
from nightschool.rules.gate import Policy
from nightschool.rules.pairing import partition
from nightschool.testing.memory_store import MemoryStore

PLACE = "project/.claude/skills/notes/SKILL.md"


@pytest.mark.parametrize("chance", [helpful, useless])
@pytest.mark.parametrize("mode", ["certify", "suggest"])
def test_a_skill_that_was_never_loaded_was_not_examined(chance: Chance, mode: str) -> None:
    """DESIGN 6: invalid, whatever the scores say, since they are not its doing; and the reason is told."""
    policy = Policy(mode=mode)  # type: ignore[arg-type]  # one of two words
    verdict = sit(exam(place=PLACE), ScriptedPractice(chance, skills=("other",)), policy=policy)
    assert (verdict.kind, verdict.code) == (VerdictKind.INVALID, "never-triggered")
    assert "did not load the skill notes in any of" in verdict.why
    assert verdict.pairs <= 6, "it is not tried for long"
    assert "say in the description of its SKILL.md when to use it" in verdict.why


@pytest.mark.parametrize("skills", [("notes",), ("a", "notes"), None])
def test_a_skill_that_was_loaded_is_judged_as_all_else(skills: tuple[str, ...] | None) -> None:
    """Where it was loaded, or nobody can tell, the gate's word stands."""
    store = MemoryStore()
    verdict = sit(exam(place=PLACE), ScriptedPractice(helpful, skills=skills), store)
    assert verdict.kind is VerdictKind.ACCEPT, verdict.why
    loaded = {pair.loaded for pair in store.find(Pair) if pair.role == "target"}
    assert loaded == {None if skills is None else True}


def test_memory_is_never_asked_for_a_trigger() -> None:
    """What a draft of memory loads besides is nobody's concern."""
    store = MemoryStore()
    verdict = sit(exam(), ScriptedPractice(helpful, skills=()), store)
    assert verdict.kind is VerdictKind.ACCEPT, verdict.why
    assert {pair.loaded for pair in store.find(Pair)} == {None}


def test_drafts_of_several_skills_share_one_ledger() -> None:
    """DESIGN 6: skills that share tasks spend the alpha of one hold-out, one after the other."""
    store = MemoryStore()
    for name in ("notes", "tidy"):
        sat = exam(place=f"project/.claude/skills/{name}/SKILL.md", rule=f"in {name}: use pnpm")
        sit(sat, ScriptedPractice(useless, skills=(name,)), store)
    entries = store.find(AlphaEntry)
    assert len({entry.holdout for entry in entries}) == 1
    assert sorted(entry.k for entry in entries) == [1, 2]


def test_guards_of_a_skill_are_first_its_own_work() -> None:
    """Tasks in whose sessions the skill was loaded are asked first whether they suffer."""
    own = tuple(replace(guard, skills=("notes",)) for guard in GUARDS[5:7])
    tasks = (*TARGETS, *GUARDS[:5], *own, GUARDS[7])
    for seed in ("a", "b"):
        targets, pool = partition(tasks, CANDIDATE, (GUARDS[0].id,), seed, "notes")
        assert set(targets) == {task.id for task in TARGETS}
        assert pool[0] == GUARDS[0].id, "what a person protects stands before all"
        assert set(pool[1:3]) == {task.id for task in own}
        assert set(partition(tasks, CANDIDATE, (), seed)[1]) == set(pool)
