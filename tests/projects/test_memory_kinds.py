"""Each kind of memory goes the whole way: practised with as it is, edited, adopted and undone by command."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import project_builders as builders
from cycle_builders import tree
from nightschool import settings
from nightschool.cli import app
from nightschool.testing.script import Rule, Say, Script, Shell, When
from nightschool.testing.scripted_runner import ScriptedRunner
from nightschool.wiring import opened

APPRENTICE = Script(
    rules=(
        Rule(when=When(contains=("use pnpm",)), then=(Shell(command="echo pnpm > done"), Say(text="Done."))),
        Rule(then=(Shell(command="echo npm > done"), Say(text="Done."))),
    )
)
OTHERS = {
    "AGENTS.md": "# for all\n",
    "CLAUDE.local.md": "mine\n",
    ".claude/rules/style.md": "a rule\n",
    "sub/CLAUDE.md": "# of sub\n",
}


def linked(root: Path) -> str:
    (root / "CLAUDE.md").unlink()
    (root / "CLAUDE.md").symlink_to("AGENTS.md")
    return "AGENTS.md"


def importing(root: Path) -> str:
    (root / "CLAUDE.md").write_text("@AGENTS.md\n")
    return "CLAUDE.md"


def beside_others(root: Path) -> str:
    (root / "CLAUDE.md").write_text("# app\n\nOur words.\n")
    return "CLAUDE.md"


@pytest.mark.parametrize("made", [linked, importing, beside_others], ids=lambda made: made.__name__)
def test_each_kind_of_memory_goes_the_whole_way(
    made: Callable[[Path], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The practice has every memory file of the project; the edit goes to one file, through a link where it
    is one; the others, an import and what a person wrote stay; undo gives the bytes back. A policy of the
    machine is named in the report, and not in the practice."""
    home = tmp_path / "sam"
    root = builders.repository(home / "app")
    builders.write(root, OTHERS)
    edited = made(root)
    builders.commit(root)
    builders.sessions(home, builders.Kind(name="app", directory=root, root=root), count=6)
    policy = tmp_path / "policy.md"
    policy.write_text("always say please\n")
    monkeypatch.setattr("nightschool.adapters.claude_code.home.POLICY", (policy,))
    for name, value in {
        "HOME": str(home),
        "NIGHTSCHOOL_HOME": str(tmp_path / "school"),
        "NIGHTSCHOOL_CONFIG": str(tmp_path / "config.toml"),
    }.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "config.toml").write_text("")
    monkeypatch.chdir(root)
    before, text = tree(root), (root / edited).read_text()

    chosen = settings.load(
        project=root,
        environment=dict(os.environ),
        flags={"runner": "scripted", "limits.max_jobs": "none", "gate.mode": "suggest"},
    )
    with opened(chosen, environment=dict(os.environ), person_home=home) as parts:
        cycle = parts.cycle(project=str(root), progress=lambda *_: None)
        surface = parts.surface("claude-code")
        cycle.door.runner = ScriptedRunner(script=APPRENTICE, sandbox=parts.sandbox(), surface=surface)
        base = {file.path: file.content for file in cycle.aiming.base(root).files}
        with cycle.held():
            report = cycle.practise(cycle.prepare(parts.harvest_request(everything=True)))
    read = {name for name in OTHERS if name != "AGENTS.md" or made is importing}
    assert {f"project/{name}" for name in read} <= base.keys()
    (learned,) = report.learned
    assert learned.draft is not None, learned
    assert ("managed policy", "policy.md") in {(one.kind, one.name) for one in report.missing}
    assert "say please" not in str(base)
    assert tree(root) == before

    assert app.run(["adopt", learned.draft, "--reason", "I want it"]) == 0
    now = (root / edited).read_text()
    assert now.startswith(text)
    assert "use pnpm, not npm" in now
    assert (root / "CLAUDE.md").is_symlink() == (made is linked)
    changed = {name for name, state in tree(root).items() if before.get(name) != state}
    assert changed == {edited}
    assert app.run(["undo"]) == 0
    assert tree(root) == before
