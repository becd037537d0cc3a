"""Skills with the real agents: what a draft of a skill changes is what the agent then has before it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from agents.stages import KEY, Agents, MakeStage
from agents.test_loop import READ_EVIDENCE, RULE, WRITES, adopted, cycle_of, opened_for, said, tried
from nightschool.core.harness import File, Harness
from nightschool.core.jobs import Delivered
from nightschool.core.proposals import Edit
from nightschool.core.sessions import skills_loaded
from nightschool.core.skills import BOM
from nightschool.core.tasks import Candidate, Footprint, Moment, Split
from nightschool.rules import skill_body
from nightschool.stages.prepare import Prepared
from nightschool.stages.releases import dossier
from nightschool.testing.conformance.runner import job
from nightschool.testing.demo import lay_out
from nightschool.testing.model_server import ModelServer
from nightschool.testing.script import Act, Rule, Say, Script, Shell, Use, When
from skill_builders import BODY, HEAD, NAME, loading, with_skill

pytestmark = pytest.mark.agents

SEEN = HEAD.removeprefix(BOM)
"""No agent reads a head behind a mark of byte order; a surface tells it."""
LOADS: dict[str, Act] = {
    "claude-code": Use(tool="Skill", arguments={"skill": NAME}),
    "codex": Shell(command=f"cat .codex/skills/{NAME}/SKILL.md"),
}


@pytest.mark.parametrize("name", sorted(LOADS))
def test_the_agent_loads_the_edited_body(name: str, make_stage: MakeStage) -> None:
    """The head reaches the model with the first request, the body with its edit once the agent loads it, and
    the job tells that it was loaded."""
    moment = Moment(session="s", turn=0, quote=RULE)
    edited = skill_body.apply(SEEN + BODY, [Edit(op="add", rule=RULE, moment=moment)]).content
    folder = ".claude/skills" if name == "claude-code" else ".codex/skills"
    script = Script(rules=(Rule(then=(LOADS[name], Say(text="Loaded."))),))
    with make_stage(name, script) as stage:
        harness = Harness.of([File(path=f"project/{folder}/{NAME}/SKILL.md", content=edited)])
        outcome = stage.runner.run(replace(job(stage.runner, "Write paths."), harness=harness), Event())
        assert isinstance(outcome, Delivered), outcome
        assert skills_loaded(outcome.trajectory) == (NAME,)
        first, *_, last = stage.model.requests
        assert said("Paths: all", first)
        assert not said(RULE, first)
        assert said(RULE, last)


def test_a_skill_is_learned_adopted_and_followed(agents_env: Agents, tmp_path: Path) -> None:
    """What a person kept saying while a skill was loaded stands in that skill, and spares them the next time:
    a cycle with the real Claude Code, from sessions in which it was loaded to work by its edited body."""
    person = tmp_path / "sam"
    project = lay_out(person)
    live = with_skill(project, SEEN)
    loading(person, NAME)
    with (
        ModelServer(Script(), key=KEY) as model,
        opened_for("claude-code", agents_env, model, person) as parts,
    ):
        cycle = cycle_of(parts, project)
        with cycle.held():
            prepared = cycle.prepare(parts.harvest_request(everything=True))
            candidate = chosen(prepared)
            model.script = script_of(candidate)
            report = cycle.practise(prepared)
        item = next(item for item in report.learned if item.candidate == candidate.id)
        assert item.draft is not None, item.why
        assert "passed 0 times without the edit, 6 times with it" in item.why
        draft = dossier(parts.store, item.draft).draft
        assert (draft.target.skill, draft.aim) == (NAME, f"the skill {NAME} was loaded when you said it")

        assert adopted(draft, parts).path == str(live)
        assert live.read_bytes().startswith(SEEN + BODY)
        so_far = len(model.requests)
        held = [task for task in prepared.mined.tasks if task.split is Split.HOLDOUT]
        task = next(task for task in held if candidate.id in task.concerns)
        after = tried(cycle_of(parts, project), task)
        assert (after.score, after.skills) == (1.0, (NAME,)), after.note
        first, *_, last = model.requests[so_far:]
        assert not said(RULE, first)
        assert said(RULE, last)


def chosen(prepared: Prepared) -> Candidate:
    form = Footprint(wanted="pathlib", unwanted="os.path")
    candidate = next(found for found in prepared.mined.candidates if found.check == form)
    assert {moment.skills for moment in candidate.evidence} == {(NAME,)}
    return candidate


def script_of(candidate: Candidate) -> Script:
    """A model that loads the skill for all that it writes, and takes os.path unless the rule stands there."""
    moment = candidate.evidence[0]
    edit = {"op": "add", "rule": RULE, "session": moment.session, "turn": moment.turn, "why": "said often"}
    edits = Say(text=json.dumps({"edits": [edit]}))
    right = Shell(command="echo 'from pathlib import Path' >> $file")
    wrong = Shell(command="echo 'import os.path' >> $file")
    logs = Shell(command="echo 'import logging' >> $file")
    reads = Shell(command=READ_EVIDENCE)
    load, done = LOADS["claude-code"], Say(text="Done.")
    return Script(
        rules=(
            Rule(
                when=When(prompt=f"You improve the skill `{NAME}`"),
                then=(reads, edits),
            ),
            Rule(when=When(prompt=r"(skip_row|warn_of_gap)\(.*?" + WRITES), then=(load, logs, done)),
            Rule(when=When(prompt=WRITES, contains=(RULE,)), then=(load, right, done)),
            Rule(when=When(prompt=WRITES), then=(load, wrong, done)),
        )
    )
