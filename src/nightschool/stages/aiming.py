"""Aims: says which live file a candidate's edit would change, by the rules and what the agent has at hand.

Relieves the cycle, and the plan of a dry run, which starts no cycle. Stands below the other stages.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nightschool.core.errors import UserError
from nightschool.core.harness import Absent, Harness, Target
from nightschool.core.ports import Surface
from nightschool.core.skills import Skill
from nightschool.core.tasks import Candidate
from nightschool.core.values import Value
from nightschool.rules.aims import Targets, choose, concerns, reach
from nightschool.rules.new_skill import NewSkill
from nightschool.rules.standing import root_for


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim(Value):
    """Where an edit of one candidate goes."""

    root: Path | None
    """Of the project whose harness is practised with; None: the person's own alone."""
    base: Harness
    target: Target | None
    """None: the settings forbid it."""
    why: str
    new: NewSkill | None = None
    """What the target becomes; None where it is edited."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Aiming:
    """How candidates are aimed in one run."""

    surface: Surface
    person_home: Path
    project: str | None
    scope: str = "auto"
    """auto: a project's correction to the project's file; project, user: to that file in any case."""
    allowed: Targets
    own: Mapping[str, Targets] = field(default_factory=dict)
    """By project: what its own file leaves of that, in a run over several."""
    only: Skill | None = None
    """The one skill that the person named."""
    there: Callable[[Path], bool] = lambda _root: True
    """Whether a project's folder is there still."""

    def chosen(self, candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
        """Those that this run is about."""
        only = self.only
        return tuple(found for found in candidates if only is None or concerns(found, only))

    def notes(self, candidates: Sequence[Candidate]) -> tuple[str, ...]:
        """What the person should know of the choice."""
        only = self.only
        if only is None or self.chosen(candidates):
            return ()
        return (f"nothing that is worth an edit was said in a train session while {only.name} was loaded",)

    def base(self, root: Path | None) -> Harness:
        """What shapes the agent in a project, or with None the person's own alone."""
        return self.surface.load(root, self.person_home)

    def missing(self, candidates: Sequence[Candidate]) -> tuple[Absent, ...]:
        """What a practice lacks of the person's configuration, in all places that this run practises in."""
        places = dict.fromkeys(self.root(candidate) for candidate in self.chosen(candidates))
        return tuple(absent for where in places for absent in self.surface.missing(where, self.person_home))

    def root(self, candidate: Candidate) -> Path | None:
        """Root of the project whose harness is practised with."""
        where = self._where(candidate)
        return None if where is None else Path(where)

    def _where(self, candidate: Candidate) -> str | None:
        if self.only is not None and self.only.place.startswith("project/"):
            return self.project
        return root_for(candidate, scope=self.scope, project=self.project)

    def aim(self, candidate: Candidate) -> Aim:
        """Raises `UserError` where the project is gone: what is written there no agent would read."""
        where, root = self._where(candidate), self.root(candidate)
        if root is not None and not self.there(root):
            raise UserError(
                f"{root}, where it was said, is no folder any more. Where it was moved, `ln -s NEW "
                f"{shlex.quote(str(root))}` lets it count for the new place; `nightschool forget "
                f"{shlex.quote(str(root))}` lets it go"
            )
        base = self.base(root)
        if self.only is not None:
            why = f"you named the skill {self.only.name}"
            return Aim(root=root, base=base, target=self._skill(self.only, where), why=why)
        choice = choose(candidate, self.surface.skills(base), self.own.get(candidate.project, self.allowed))
        if choice.off:
            return Aim(root=root, base=base, target=None, why=choice.why)
        if choice.skill is not None:
            return Aim(root=root, base=base, target=self._skill(choice.skill, where), why=choice.why)
        if choice.new is not None:
            target = self.surface.new_skill(choice.new.name, project=where)
            return Aim(root=root, base=base, target=target, why=choice.why, new=choice.new)
        told = reach(scope=self.scope, own=where is None)
        return self._memory(root, base, where, "; ".join(filter(None, (told, choice.why))))

    def _memory(self, root: Path | None, base: Harness, project: str | None, why: str) -> Aim:
        """To the memory file that is read; where another one lies in the shadow of it, it is said."""
        usual = self.surface.memory_target(project=project)
        target = self.surface.memory_target(project=project, beside=base)
        if target != usual:
            names = [Path(one.place).name for one in (target, usual)]
            why = f"{why}; {target.agent} reads {names[0]}, so {names[1]} beside it is not read"
        return Aim(root=root, base=base, target=target, why=why)

    def _skill(self, skill: Skill, project: str | None) -> Target:
        return self.surface.skill_target(skill, project=project)
