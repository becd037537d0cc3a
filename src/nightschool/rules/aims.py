"""Which file a candidate's edit belongs in, and why: a skill's own, a new skill's, or the memory file.

Relieves the cycle and the plan of a dry run, which must say the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nightschool.core.errors import UserError
from nightschool.core.skills import Skill
from nightschool.core.tasks import Candidate
from nightschool.core.values import Value
from nightschool.rules.new_skill import NewSkill, new_skill
from nightschool.rules.telling import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets(Value):
    """Which kinds of file may be edited."""

    memory: bool = True
    skills: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice(Value):
    """Where an edit goes: to this skill, to this new skill, else to memory; to none of them where `off`."""

    skill: Skill | None = None
    new: NewSkill | None = None
    off: bool = False
    why: str = ""
    """Where a skill was thought of; else there is nothing to say but where it was said."""


def skill_of(candidate: Candidate) -> str | None:
    """The one skill that was loaded each time the correction was given, in train sessions."""
    loaded = {moment.skills for moment in candidate.evidence}
    (names,) = loaded if len(loaded) == 1 else ((),)
    return names[0] if len(names) == 1 else None


def concerns(candidate: Candidate, skill: Skill) -> bool:
    """Whether the correction was ever given, in a train session, while the skill was loaded."""
    return any(skill.name in moment.skills for moment in candidate.evidence)


def choose(candidate: Candidate, known: Sequence[Skill], allowed: Targets) -> Choice:
    """A correction that was given while exactly one skill was loaded, the same each time, goes to that
    skill; a procedure that no skill holds becomes one; all else goes to memory. Looks at train moments."""
    found = _aimed(candidate, known)
    if not allowed.skills and (found.skill or found.new):
        found = Choice(why=f"{found.why}; to memory, since targets.skills is off")
    if not allowed.memory and not (found.skill or found.new):
        off = "it would go to memory, and targets.memory is off"
        return Choice(off=True, why=f"{found.why}; {off}" if found.why else off)
    return found


def _aimed(candidate: Candidate, known: Sequence[Skill]) -> Choice:
    moments = candidate.evidence
    loaded = {moment.skills for moment in moments}
    names = sorted({name for skills in loaded for name in skills})
    if not names:
        return _without_skill(candidate, known)
    if len(loaded) > 1:
        times = sum(bool(moment.skills) for moment in moments)
        told = ", ".join(names)
        said = f"you said it with other skills loaded at other times ({told}; in {times} of {len(moments)})"
        return Choice(why=f"{said}: to memory")
    if len(names) > 1:
        return Choice(why=f"several skills were loaded when you said it ({', '.join(names)}): to memory")
    (name,) = names
    told = f"the skill {name} was loaded when you said it"
    here = [skill for skill in known if skill.name == name]
    if len(here) == 1:
        return Choice(skill=here[0], why=told)
    if not here:
        return Choice(why=f"{told}, and this agent has none of that name here: to memory")
    places = ", ".join(skill.place for skill in here)
    return Choice(why=f"{told}, and there is more than one ({places}): to memory; --skill PATH names one")


def _without_skill(candidate: Candidate, known: Sequence[Skill]) -> Choice:
    procedures = [moment.procedure for moment in candidate.evidence if moment.procedure is not None]
    if not procedures or len(procedures) < len(candidate.evidence):
        return Choice()
    latest = procedures[-1]
    made = new_skill(latest)
    if any(skill.name == made.name for skill in known):
        return Choice(why=f"a skill {made.name}, which it could become, is there already: to memory")
    return Choice(new=made, why=f"you said {counted(len(latest.steps), 'step')} in their order: a skill")


def reach(*, scope: str, own: bool) -> str:
    """Why the memory file of one project, or the person's own (`own`), which is read in all their work."""
    if own:
        why = "you passed --scope user" if scope == "user" else "you did not say it in one project alone"
        way = " (--scope project: to the project's)" if scope == "auto" else ""
        return f"{why}: to your own file, which holds for all your work{way}"
    return "you passed --scope project" if scope == "project" else "you said it in this project alone"


def named(text: str, known: Mapping[Skill, str], *, found: Skill | None, agent: str) -> Skill:
    """The skill that a person named: by its place on disk (`found`), else by its name.

    What is missing, and a name that several have, are told apart. `known` gives each one's real path.
    """
    if found is not None:
        return found
    alike = [skill for skill in known if skill.name == text]
    if len(alike) == 1:
        return alike[0]
    if alike:
        paths = ", ".join(known[skill] for skill in alike)
        raise UserError(f"--skill {text}: {len(alike)} skills have this name: {paths}. Name one by its path.")
    listed = "\n".join(f"  {skill.name}  {path}" for skill, path in known.items())
    there = f"there are:\n{listed}" if known else "it reads none here"
    raise UserError(f"--skill {text}: no skill that {agent} reads here lies there or has this name; {there}")
