"""What the real agents send out of a cycle over sessions, files and memory full of secrets and names."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from agents.stages import KEY, Agents
from agents.test_loop import KEY_VARIABLE, PLACES, chosen, contents, cycle_of, script_of, tried
from nightschool import settings
from nightschool.cli.output import json_text
from nightschool.rules.report import markdown
from nightschool.testing.demo import lay_out
from nightschool.testing.model_server import ModelServer
from nightschool.testing.script import Script, Shell
from nightschool.wiring import opened
from planted import IGNORE, NAMES, OF_MEMORY, SECRETS, found, found_below, plant

pytestmark = pytest.mark.agents

WORDS = (*SECRETS.values(), OF_MEMORY, *NAMES)


@pytest.mark.parametrize("name", sorted(PLACES))
def test_no_secret_leaves(name: str, agents_env: Agents, tmp_path: Path) -> None:
    """Each request that leaves a cycle with a real agent is recorded, and none holds a planted secret or an
    ignored name: not from a transcript, not from the memory that the agent loads, not from a file that it
    prints. Nor does a file of ours, or the report."""
    person = tmp_path / "sam"
    project = lay_out(person)
    plant(person)
    memory = project / PLACES[name].memory
    known = memory.read_text(encoding="utf-8") if memory.exists() else ""
    memory.write_text(f"{known}\nThe deploy token is {OF_MEMORY}.\n", encoding="utf-8")
    before = contents(person)
    file = tmp_path / "config.toml"
    with ModelServer(Script(), key=KEY) as model:
        file.write_text(
            f'home = "{tmp_path / "ns"}"\nrunner = "{name}"\n[gate]\nmode = "suggest"\n[endpoints]\n'
            f'{PLACES[name].endpoint.format(url=model.url)} = "{KEY_VARIABLE}"\n{IGNORE}',
            encoding="utf-8",
        )
        read = settings.load(project=None, environment={settings.CONFIG_VARIABLE: str(file)})
        environment = {"PATH": f"{agents_env.path}:{os.defpath}", "USER": "sam", KEY_VARIABLE: KEY}
        with opened(read, environment=environment, person_home=person) as parts:
            cycle = cycle_of(parts, project)
            with cycle.held():
                prepared = cycle.prepare(parts.harvest_request(everything=True))
                assert dict(prepared.harvested.counts)["ignored"] == 3
                candidate, task = chosen(prepared)
                model.script = printing(script_of(candidate), PLACES[name].memory)
                tried(cycle, task)
                report = cycle.practise(prepared)
    sent = [seen.text.encode() for seen in model.requests]
    assert any(b"The deploy token is" in text for text in sent), "the memory was loaded and printed"
    assert [words for text in sent if (words := found(text, WORDS))] == []
    told = f"{markdown(report)}{json_text(report)}".encode()
    assert found(told, WORDS) == []
    kept = found_below(tmp_path / "ns", WORDS)
    assert {key: words for key, words in kept.items() if not key.startswith("blobs/")} == {}
    assert {word for words in kept.values() for word in words} <= {OF_MEMORY}
    assert contents(person) == before


def printing(script: Script, memory: str) -> Script:
    """The same model, which looks at the memory file first: so tools print what it holds."""
    look = Shell(command=f"cat {memory}")
    rules = tuple(replace(rule, then=(look, *rule.then)) for rule in script.rules)
    return replace(script, rules=rules)
