"""Mining what was said while a skill was loaded."""

from __future__ import annotations

from dataclasses import replace

from nightschool.core.sessions import Session
from nightschool.core.tasks import Footprint
from stages.test_mine import quiet, run, told


def skilled(one: Session, *names: str) -> Session:
    """The session, in which the agent loaded these skills in its first turn."""
    first = replace(one.turns[1], skills=names)
    return replace(one, turns=(one.turns[0], first, *one.turns[2:]))


WANTED = "Always use pnpm."


def test_tasks_of_a_skill_are_those_in_which_it_was_loaded() -> None:
    """DESIGN 6: what is always wanted in a skill concerns each session in which it was loaded, corrected or
    not; and a task knows the skills of its session."""
    sessions = [skilled(told(n, WANTED), "notes") for n in range(5)]
    loaded, other = skilled(quiet(6), "notes"), skilled(quiet(7), "tidy")
    mined = run([*sessions, loaded, other])
    (candidate,) = mined.candidates
    assert candidate.check == Footprint(wanted="pnpm")
    assert {moment.skills for moment in candidate.evidence} == {("notes",)}
    concerned = {task.session for task in mined.tasks if candidate.id in task.concerns}
    assert concerned == {one.id for one in (*sessions, loaded)}
    skills = {task.session: task.skills for task in mined.tasks}
    assert (skills[loaded.id], skills[other.id]) == (("notes",), ("tidy",))
    (guard,) = [task for task in mined.tasks if task.session == other.id]
    assert guard.concerns == ()


def test_this_not_that_is_about_work_with_either() -> None:
    """A session of the skill in which neither stands could not be won rightly: it stays a guard, and knows
    its skill, so that it is among the first to be asked whether it suffers."""
    loaded = skilled(quiet(6), "notes")
    mined = run([*(skilled(told(n), "notes") for n in range(5)), loaded])
    (guard,) = [task for task in mined.tasks if task.session == loaded.id]
    assert (guard.concerns, guard.skills) == ((), ("notes",))


def test_where_skills_differ_a_session_without_the_words_stays_a_guard() -> None:
    """Only where one skill was loaded each time do its other sessions become tasks."""
    sessions = [skilled(told(n, WANTED), *(("notes",) if n % 2 else ("tidy",))) for n in range(8)]
    loaded = skilled(quiet(6), "notes")
    mined = run([*sessions, loaded])
    (guard,) = [task for task in mined.tasks if task.session == loaded.id]
    mixed = len({moment.skills for moment in mined.candidates[0].evidence}) > 1
    assert (guard.concerns == ()) == mixed
