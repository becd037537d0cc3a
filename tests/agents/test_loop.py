"""The whole loop with the real Claude Code and the real Codex, from their own transcripts to their own work.

Sessions that both agents wrote are read, the agent practises in the sandbox, an edit is proposed by it and
adopted by the person, and the same agent then does right what it did wrong. The model alone is scripted.
"""

from __future__ import annotations

import json
import os
import re
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from agents.stages import KEY, Agents
from nightschool import settings
from nightschool.core.cycles import CycleReport
from nightschool.core.jobs import MARKER
from nightschool.core.proposals import Draft, Release, Status, VerdictKind
from nightschool.core.tasks import Candidate, Footprint, Split, Task
from nightschool.core.trials import Arm, Trial, TrialRequest
from nightschool.rules.memory_block import parse
from nightschool.stages.cycle import Cycle
from nightschool.stages.prepare import Prepared
from nightschool.stages.publish import adopt
from nightschool.stages.releases import dossier
from nightschool.testing.demo import lay_out
from nightschool.testing.model_server import ModelServer, Seen
from nightschool.testing.script import Rule, Say, Script, Shell, When
from nightschool.wiring import Parts, opened

pytestmark = pytest.mark.agents

RULE = "Use pathlib for every path, never os.path."
EDITOR = "You improve the memory file"
WRITES = r"(?P<file>ledger/\w+\.py)"
READ_EVIDENCE = "cat evidence/candidate.json"
KEY_VARIABLE = "KEY_OF_THIS_TEST"
"""Not the agents' own variable, so that the settings decide and not what the machine has set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What differs between the agents: settings, and the file that each reads."""

    endpoint: str
    memory: str


PLACES = {
    "claude-code": Place(endpoint='anthropic_url = "{url}"\nanthropic_key_variable', memory="CLAUDE.md"),
    "codex": Place(endpoint='openai_url = "{url}/v1"\nopenai_key_variable', memory="AGENTS.md"),
}


@pytest.mark.parametrize("name", sorted(PLACES))
def test_a_rule_is_learned_adopted_and_followed(name: str, agents_env: Agents, tmp_path: Path) -> None:
    """What a person kept saying is learned by a cycle with their agent, and spares them the next time."""
    person = tmp_path / "sam"
    project = lay_out(person)
    memory = project / PLACES[name].memory
    laid_out = contents(person)
    with (
        connections() as contacted,
        ModelServer(Script(), key=KEY) as model,
        opened_for(name, agents_env, model, person) as parts,
    ):
        cycle = cycle_of(parts, project)
        with cycle.held():
            prepared = cycle.prepare(parts.harvest_request(everything=True))
            candidate, task = chosen(prepared)
            model.script = script_of(candidate)
            before = tried(cycle, task)
            assert before.score == 0.0, before.note
            report = cycle.practise(prepared)
        draft = learned(report, candidate, parts)
        assert_counted(report, model.requests)
        assert_editor_read(candidate, held_out(prepared), model.requests)
        assert contents(person) == laid_out, "a cycle writes nothing into the person's HOME"

        assert adopted(draft, parts).path == str(memory)
        with_rule = contents(person)
        assert {path for path in with_rule if with_rule[path] != laid_out.get(path)} == {memory}
        assert parse(memory.read_bytes()).rules == (RULE,)

        so_far = len(model.requests)
        after = tried(cycle_of(parts, project), task)
        asked = [seen for seen in model.requests[so_far:] if said(task.prompt, seen)]
        assert asked, "a new job does the task; no old one answers for it"
        assert all(said(RULE, seen) for seen in asked)
        assert after.score == 1.0, after.note
        assert contents(person) == with_rule, "a replay leaves no session in the person's HOME"
        served = urlsplit(model.url)
        assert set(contacted) == {(served.hostname, served.port)}


@contextmanager
def opened_for(name: str, agents: Agents, model: ModelServer, person: Path) -> Iterator[Parts]:
    """All parts as a person has them who wrote this file of settings."""
    file = person.parent / "config.toml"
    file.write_text(
        f'home = "{person.parent / "nightschool"}"\nrunner = "{name}"\n'
        f'[gate]\nmode = "suggest"\n'
        f'[endpoints]\n{PLACES[name].endpoint.format(url=model.url)} = "{KEY_VARIABLE}"\n',
        encoding="utf-8",
    )
    read = settings.load(project=None, environment={settings.CONFIG_VARIABLE: str(file)})
    environment = {"PATH": f"{agents.path}:{os.defpath}", "USER": "sam", KEY_VARIABLE: KEY}
    with opened(read, environment=environment, person_home=person) as parts:
        yield parts


def cycle_of(parts: Parts, project: Path) -> Cycle:
    return parts.cycle(project=str(project), progress=lambda _what, _done, _total: None)


def chosen(prepared: Prepared) -> tuple[Candidate, Task]:
    """The correction that the sessions hold most often, and a held-out task that it was given on."""
    sources = {session.source for session in prepared.harvested.sessions}
    assert sources == {"claude-code", "codex"}
    candidate = max(prepared.mined.candidates, key=lambda candidate: len(candidate.sessions))
    assert candidate.check == Footprint(wanted="pathlib", unwanted="os.path")
    task = next(task for task in held_out(prepared) if candidate.id in task.concerns)
    assert task.session not in {moment.session for moment in candidate.evidence}
    return candidate, task


def held_out(prepared: Prepared) -> list[Task]:
    return [task for task in prepared.mined.tasks if task.split is Split.HOLDOUT]


def script_of(candidate: Candidate) -> Script:
    """A model that takes os.path unless the rule stands in its request, and that writes the rule down when
    it is the editor, after it has read what the person said."""
    moment = candidate.evidence[0]
    edit = {"op": "add", "rule": RULE, "session": moment.session, "turn": moment.turn, "why": "said often"}
    return Script(
        rules=(
            Rule(
                when=When(prompt=EDITOR),
                then=(Shell(command=READ_EVIDENCE), Say(text=json.dumps({"edits": [edit]}))),
            ),
            Rule(
                when=When(prompt=r"(skip_row|warn_of_gap)\(.*?" + WRITES),
                then=(Shell(command="echo 'import logging' >> $file"), Say(text="It is logged.")),
            ),
            Rule(
                when=When(prompt=WRITES, contains=(RULE,)),
                then=(Shell(command="echo 'from pathlib import Path' >> $file"), Say(text="Done.")),
            ),
            Rule(
                when=When(prompt=WRITES),
                then=(Shell(command="echo 'import os.path' >> $file"), Say(text="Done.")),
            ),
        )
    )


def tried(cycle: Cycle, task: Task) -> Trial:
    """The task with the memory that is live, through the one door."""
    harness = cycle.aiming.base(Path(task.project))
    return cycle.replay.trials([TrialRequest(task=task, harness=harness, arm=Arm.BASE, purpose="probe")])[0]


def learned(report: CycleReport, candidate: Candidate, parts: Parts) -> Draft:
    """The draft of the candidate: better on held-out tasks, and called a suggestion, since this gate proves
    nothing. The other correction is one that the agent keeps already."""
    by_candidate = {item.candidate: item for item in report.learned}
    item = by_candidate.pop(candidate.id)
    assert item.code == VerdictKind.UNDECIDED, item.why
    assert "passed 0 times without the edit, 6 times with it" in item.why
    assert [other.code for other in by_candidate.values()] == ["already-followed"]
    assert item.draft is not None
    case = dossier(parts.store, item.draft)
    assert case.status is Status.SUGGESTED
    assert [edit.rule for edit in case.draft.edits] == [RULE]
    return case.draft


def adopted(draft: Draft, parts: Parts) -> Release:
    return adopt(
        draft.id,
        store=parts.store,
        live=parts.live,
        place=parts.place,
        vet=parts.vet(),
        clock=parts.clock,
        actor=parts.actor,
        reason="it is what I keep saying",
    )


def assert_counted(report: CycleReport, requests: Sequence[Seen]) -> None:
    """The report knows the use of every job: as many tokens as the model was sent, and its answers."""
    assert report.spend.lost == report.spend.unknown_tokens == report.spend.unsettled == 0
    assert report.spend.jobs == len({job_of(seen) for seen in requests})
    sent = sum(len(seen.text) // 4 for seen in requests)
    assert sent < report.spend.tokens < 1.1 * sent


def assert_editor_read(candidate: Candidate, held_out: Sequence[Task], requests: Sequence[Seen]) -> None:
    """The editor's own tool gave it the words of train sessions, and no prompt of a held-out task."""
    edits = [seen for seen in requests if said(EDITOR, seen)]
    assert len({job_of(seen) for seen in edits}) == 1
    assert all(said(moment.quote, edits[-1]) for moment in candidate.evidence)
    assert not any(said(task.prompt, seen) for task in held_out for seen in edits)


def job_of(seen: Seen) -> str:
    """The mark of the job that a request belongs to."""
    found = re.search(rf"\[{re.escape(MARKER)} ([0-9a-f]+)\]", seen.text)
    assert found is not None, seen.text[:400]
    return found[1]


def said(words: str, seen: Seen) -> bool:
    """Whether these words stand in what the model was sent."""
    return any(words in text for text in strings(seen.body))


def strings(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for item in value.values():
                yield from strings(item)
        case list():
            for item in value:
                yield from strings(item)


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@contextmanager
def connections() -> Iterator[list[Any]]:
    """The addresses that this process, in which the gateway runs, connects to by network."""
    _listen()
    del CONTACTED[:]
    yield CONTACTED


CONTACTED: list[Any] = []


@cache
def _listen() -> None:
    """Once, since an audit hook stays as long as its process."""

    def heard(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "socket.connect" and arguments[0].family != socket.AF_UNIX:
            CONTACTED.append(arguments[1][:2])

    sys.addaudithook(heard)
