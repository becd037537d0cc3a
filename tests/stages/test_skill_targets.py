"""Whole cycles in which a skill was loaded when the person corrected the agent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from cycle_builders import Place, QuickRunner, cycle_in, tree
from nightschool.core.cycles import CycleReport, Learned
from nightschool.core.errors import UserError
from nightschool.core.jobs import Delivered, Job, Outcome, Role
from nightschool.core.proposals import Draft, Status
from nightschool.core.sessions import CallStatus, ToolCall
from nightschool.core.tasks import Candidate, Task
from nightschool.rules.aims import Targets
from nightschool.rules.memory_block import BEGIN
from nightschool.rules.report import markdown
from nightschool.stages.cycle import Cycle
from nightschool.stages.publish import adopt
from nightschool.stages.releases import dossier
from nightschool.stages.undo import undo
from nightschool.wiring import Parts
from skill_builders import BODY, HEAD, NAME, loading, retold, with_skill


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place.made(tmp_path)


@dataclass(slots=True)
class LoadingRunner(QuickRunner):
    """Loads a skill that is there before it works."""

    loads: bool = True

    def run(self, job: Job, cancelled: Any) -> Outcome:
        outcome = QuickRunner.run(self, job, cancelled)
        there = any(file.path.endswith("/SKILL.md") for file in job.harness.files)
        if not self.loads or not there or job.role is Role.EDIT or not isinstance(outcome, Delivered):
            return outcome
        names = tuple(Path(f.path).parent.name for f in job.harness.files if f.path.endswith("/SKILL.md"))
        call = ToolCall(call_id="1", name="Skill", status=CallStatus.OK, skills=names)
        return replace(outcome, trajectory=(call,))


@contextmanager
def cycled(
    place: Place, runner: QuickRunner, *, allowed: Targets | None = None, skill: str | None = None
) -> Iterator[tuple[Parts, Cycle, CycleReport]]:
    with cycle_in(place, runner=runner) as (parts, cycle):
        aiming = parts.aiming("claude-code", project=str(place.project), skill=skill)
        cycle.aiming = aiming if allowed is None else replace(aiming, allowed=allowed)
        with cycle.held():
            report = cycle.practise(cycle.prepare(parts.harvest_request(everything=True)))
        yield parts, cycle, report


def about(report: CycleReport) -> Learned:
    return next(item for item in report.learned if "os.path" in item.statement)


def test_a_loaded_skill_is_edited_in_its_body_and_taken_back(place: Place) -> None:
    """B20, B40, B43, B44: the draft edits that skill alone, behind its head; adopt and undo are exact."""
    live = with_skill(place.project)
    loading(place.person, NAME)
    before = tree(place.person)
    runner = LoadingRunner()
    with cycled(place, runner) as (parts, _, report):
        learned = about(report)
        assert learned.code == "accept", learned.why
        assert learned.aim == f"the skill {NAME} was loaded when you said it"
        assert f"File: project/.claude/skills/{NAME}/SKILL.md, since the skill" in markdown(report)
        assert learned.draft is not None
        draft = dossier(parts.store, learned.draft).draft
        assert (draft.target.skill, draft.aim) == (NAME, learned.aim)
        assert tree(place.person) == before, "nothing live moves before a person adopts"
        (edit,) = draft.edits
        adopt(
            draft.id,
            store=parts.store,
            live=parts.live,
            place=parts.place,
            vet=parts.vet(),
            clock=parts.clock,
            actor="sam",
        )
        assert live.read_bytes().startswith(HEAD + BODY + b"\r\n" + BEGIN.encode() + b"\r\n")
        assert edit.rule.encode() in live.read_bytes()
        assert live.stat().st_mode & 0o777 == 0o640
        changed = {path for path, what in tree(place.person).items() if before.get(path) != what}
        assert changed == {str(live.relative_to(place.person))}
        assert (
            not (place.project / "CLAUDE.md").exists()
            or "pathlib" not in (place.project / "CLAUDE.md").read_text()
        )
        undo(None, store=parts.store, live=parts.live, clock=parts.clock, actor="sam")
        assert tree(place.person) == before
    editors = [job for job in runner.jobs if job.role is Role.EDIT]
    shown = {file.path for job in editors for file in job.files}
    assert {"evidence/skill.md"} <= shown
    assert any(f"You improve the skill `{NAME}`" in job.prompt for job in editors)


def test_a_damaged_skill_stops_its_own_correction_alone(place: Place) -> None:
    """One skill that cannot be edited is named with the way out; what goes elsewhere is learned all the
    same, and the skill's text is in no other file."""
    file = with_skill(place.project, head=HEAD.removesuffix(b"---\r\n"))
    loading(place.person, NAME, only="os.path")
    before = tree(place.person)
    with cycled(place, LoadingRunner()) as (parts, _, report):
        learned = about(report)
        assert (learned.code, learned.draft) == ("needs-you", None)
        assert str(file) in learned.why
        assert "Nothing was changed" in learned.why
        others = [item for item in report.learned if item.target and item.target.skill is None]
        assert [item.draft is not None for item in others if "logging" in item.statement] == [True]
        assert {draft.target.place for draft in parts.store.find(Draft)} == {"project/CLAUDE.md"}
        assert not any(b"All data lies in" in parts.store.blob(d.after) for d in parts.store.find(Draft))
    assert tree(place.person) == before


def test_an_exam_without_the_skill_says_nothing(place: Place) -> None:
    """DESIGN 6: where the agent never loads the skill in the draft's trials, the verdict is invalid."""
    with_skill(place.project)
    loading(place.person, NAME)
    with cycled(place, LoadingRunner(loads=False)) as (parts, _, report):
        learned = about(report)
        assert (learned.code, learned.draft is not None) == ("invalid", True)
        assert "did not load the skill" in learned.why
        assert learned.draft is not None
        assert dossier(parts.store, learned.draft).status is Status.NO_VERDICT


@pytest.mark.parametrize(
    ("names", "skill", "said"),
    [
        ((), True, "you said it in this project alone"),
        ((NAME, "other"), True, "several skills were loaded"),
        ((NAME,), False, "has none of that name here"),
    ],
)
def test_without_one_skill_it_goes_to_memory_and_says_so(
    place: Place,
    names: tuple[str, ...],
    skill: bool,  # noqa: FBT001 - a parameter of the table
    said: str,
) -> None:
    """B20: with none, with several, with one that is gone, memory is edited, and the reason stands."""
    if skill:
        with_skill(place.project)
    loading(place.person, *names)
    with cycled(place, LoadingRunner()) as (parts, _, report):
        learned = about(report)
        assert learned.target is not None
        assert learned.target.place == "project/CLAUDE.md"
        assert said in learned.aim
        (draft,) = [d for d in parts.store.find(Draft) if d.id == learned.draft]
        assert draft.target.skill is None


def test_memory_and_skills_are_switched_off_apart(place: Place) -> None:
    """With skills off the skill's correction goes to memory; with memory off as well nothing is tried."""
    with_skill(place.project)
    loading(place.person, NAME)
    with cycled(place, LoadingRunner(), allowed=Targets(skills=False)) as (_, _, report):
        learned = about(report)
        assert (learned.code, learned.target and learned.target.place) == ("accept", "project/CLAUDE.md")
        assert "targets.skills is off" in learned.aim
    nothing = LoadingRunner()
    off = Targets(memory=False, skills=False)
    with cycled(place.beside("other"), nothing, allowed=off) as (_, _, report):
        assert {item.code for item in report.learned} == {"switched-off"}
        assert nothing.jobs == []


@pytest.mark.parametrize("given", ["folder", "file", "name"])
def test_a_named_skill_is_improved_alone(place: Place, given: str) -> None:
    """`--skill`: what was said while it was loaded, also beside others, goes to it; all else waits."""
    file = with_skill(place.project)
    loading(place.person, NAME, "other")
    text = {"folder": str(file.parent), "file": str(file), "name": NAME}[given]
    with cycled(place, LoadingRunner(), skill=text) as (parts, _, report):
        assert all(item.target and item.target.skill == NAME for item in report.learned)
        assert about(report).code == "accept", about(report).why
        assert about(report).aim == f"you named the skill {NAME}"
        assert all(NAME in task.skills for task in parts.store.find(Task))


def test_a_named_skill_that_nothing_was_said_of(place: Place) -> None:
    """Nothing is tried, and the report says why."""
    with_skill(place.project)
    runner = LoadingRunner()
    with cycled(place, runner, skill=NAME) as (parts, _, report):
        assert (report.learned, runner.jobs) == ((), [])
        assert any(f"while {NAME} was loaded" in note for note in report.notes)
        assert parts.store.find(Candidate)


def test_skill_paths_are_resolved_safely(place: Place, tmp_path: Path) -> None:
    """Traversal, links that lead out and strangers are refused; what exists is listed."""
    file = with_skill(place.project)
    out = tmp_path / "out"
    out.mkdir()
    (out / "SKILL.md").write_bytes(HEAD + BODY)
    (file.parent.parent / "evil").symlink_to(out)
    own = place.person / ".claude/skills" / NAME
    own.mkdir(parents=True)
    (own / "SKILL.md").write_bytes(HEAD + BODY)
    with cycle_in(place) as (parts, _):

        def named(text: str) -> str | None:
            only = parts.aiming("claude-code", project=str(place.project), skill=text).only
            return None if only is None else only.place

        assert named(str(own)) == f"user/.claude/skills/{NAME}/SKILL.md"
        assert named(f"{own}/../../skills/{NAME}") == f"user/.claude/skills/{NAME}/SKILL.md"
        for bad in (str(out), str(file.parent.parent / "evil"), "../../../etc", "evil", "", "\udcff"):
            with pytest.raises(UserError, match=f"(?s)no skill that claude-code reads.*{NAME}"):
                named(bad)
        with pytest.raises(UserError, match="2 skills have this name"):
            named(NAME)


STEPS = "When you write paths:\n1. look at `data/`\n2. name the file\n3. take it with `pathlib`"


def test_a_procedure_becomes_a_skill_that_undo_removes(place: Place) -> None:
    """What was told in steps becomes a folder in the person's words, without an editor; B46: undo removes
    what was made."""
    retold(place.person, STEPS)
    before = tree(place.person)
    runner = LoadingRunner()
    with cycled(place, runner) as (parts, _, report):
        learned = next(item for item in report.learned if item.target and item.target.skill)
        assert learned.code == "accept", learned.why
        assert "you said 3 steps in their order" in learned.aim
        assert not any("write paths" in file.content.decode() for job in runner.jobs for file in job.files)
        assert learned.draft is not None
        adopt(
            learned.draft,
            store=parts.store,
            live=parts.live,
            place=parts.place,
            vet=parts.vet(),
            clock=parts.clock,
            actor="sam",
        )
        made = place.project / ".claude/skills/write-paths/SKILL.md"
        assert made.stat().st_mode & 0o777 == 0o644
        text = made.read_text()
        assert text.startswith('---\nname: write-paths\ndescription: "When you write paths: look at')
        assert text.endswith("1. look at `data/`\n2. name the file\n3. take it with `pathlib`\n")
        surface = parts.surface("claude-code")
        assert not surface.problems(surface.load(place.project, place.person))
        undo(None, store=parts.store, live=parts.live, clock=parts.clock, actor="sam")
        assert tree(place.person) == before


def test_a_new_skill_that_the_agent_never_opens_is_not_certified(place: Place) -> None:
    """A description alone may sway the agent; what was never loaded was not examined."""
    retold(place.person, STEPS)
    with cycled(place, LoadingRunner(loads=False)) as (_, _, report):
        learned = next(item for item in report.learned if item.target and item.target.skill)
        assert (learned.code, "did not load the skill write-paths" in learned.why) == ("invalid", True)


def test_a_new_skill_is_not_made_behind_a_link_that_leads_out(place: Place, tmp_path: Path) -> None:
    """A folder of skills that is a link to elsewhere is not written to: the person is told instead."""
    retold(place.person, STEPS)
    out = tmp_path / "out"
    out.mkdir()
    (place.project / ".claude").mkdir(exist_ok=True)
    (place.project / ".claude/skills").symlink_to(out)
    runner = LoadingRunner()
    with cycled(place, runner) as (_, _, report):
        learned = next(item for item in report.learned if item.target and item.target.skill)
        assert (learned.code, str(out) in learned.why) == ("needs-you", True)
