"""Remakes `tests/fixtures` with the agents that npm put beside this file.

`PYTHONPATH=tests .venv/bin/python -m agents.remake_fixtures [AGENT[/SCENE] ...]`; without names, all. Each
scene is played in a booth of its own, then made a fixture; what a harvest makes of that is held
against what was meant.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from agents.recording import booth
from agents.recording.agents import HANDS
from agents.recording.hands import SKILL_TEXT, Hands
from agents.recording.inside import SENT
from agents.recording.meant import expected
from agents.recording.normal import Normal, Words, runs, told
from agents.recording.scenes import PROMPTS, scenes_of
from agents.stages import MODULES
from recorded import EXPECTED, FIXTURES, HOME, Recording, read

_KEPT = {".jsonl", ".json", ".db", ".project_root"}
"""Endings and names of files that hold sessions, or where they were held."""


def main(asked: list[str]) -> int:
    wrong = 0
    for agent, scene in _chosen(asked):
        hands = HANDS[agent]
        folder = FIXTURES / agent / version(hands, MODULES) / scene
        with tempfile.TemporaryDirectory() as home:
            played(hands, scene, Path(home), MODULES)
            written(folder, fixture(hands, Path(home)))
        meant = json.dumps(expected(hands, scene), indent=1, ensure_ascii=False)
        (folder / EXPECTED).write_text(f"{meant}\n", encoding="utf-8")
        recording = Recording(folder=folder)
        with tempfile.TemporaryDirectory() as home:
            found = read(agent, recording.laid_out(Path(home)))
        right = found == recording.expected
        wrong += not right
        told = "as meant" if right else f"NOT as meant: {json.dumps(found)}"
        sys.stdout.write(f"{recording.name}: {recording.size} bytes, {told}\n")
    return 1 if wrong else 0


def _chosen(asked: list[str]) -> Iterator[tuple[str, str]]:
    for name in asked or sorted(HANDS):
        agent, _, scene = name.partition("/")
        if agent not in HANDS:
            raise SystemExit(f"no agent is called {agent!r}; there are: {', '.join(sorted(HANDS))}")
        yield from ((agent, one) for one in ([scene] if scene else scenes_of(HANDS[agent])))


def version(hands: Hands, modules: Path) -> str:
    """The version that npm put there."""
    about = json.loads((modules / hands.package / "package.json").read_text(encoding="utf-8"))
    return str(about["version"])


def played(hands: Hands, scene: str, home: Path, modules: Path) -> None:
    """Play the scene in the booth, with this folder as the person's HOME."""
    booth.run(["-m", "agents.recording.inside", hands.source, scene], home=home, modules=modules)


def fixture(hands: Hands, home: Path) -> dict[str, str]:
    """Name and text of each file of the fixture."""
    sent = json.loads((home / SENT).read_text(encoding="utf-8"))
    return Normal(vendors=frozenset(_vendors(sent))).files(dict(_stored(hands, home)))


def _stored(hands: Hands, home: Path) -> Iterator[tuple[str, Path]]:
    for store in hands.stores:
        place = home / store
        for path in [place] if place.is_file() else sorted(place.rglob("*")):
            if path.is_file() and (path.suffix in _KEPT or path.name in _KEPT):
                yield path.relative_to(home).as_posix(), path


def _vendors(sent: list[tuple[str, Mapping[str, object]]]) -> Iterator[Words]:
    """All runs of words in what the agent told the model of its own: its prompts and its tools.

    A text with a prompt of ours in it is the session itself, told again to be summed up.
    """
    own = frozenset(runs(SKILL_TEXT))
    for text in {text for _, body in sent for text in told(body)}:
        if not any(prompt in text for prompt in PROMPTS):
            yield from (run for run in runs(text) if run not in own)


def written(folder: Path, files: Mapping[str, str]) -> Path:
    """The folder of a fixture, with these files in place of what it held."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in files.items():
        path = folder / HOME / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
