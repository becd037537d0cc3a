"""What `show` and `adopt` tell before a proposal is written: certificates lost, rules twice, other agents."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from desks import Desk
from nightschool.core.harness import Scope
from nightschool.core.proposals import Draft, VerdictKind
from nightschool.rules.memory_block import apply
from publish_builders import BEFORE, CANDIDATE, draft_of, rules, safety_of, verdict_of

PNPM, TESTS, SORT = "use pnpm, not npm", "write tests first", "sort imports"


def propose(
    desk: Desk, file: Path, text: str, *, agent: str = "claude-code", sessions: tuple[str, ...] = ("s1", "s2")
) -> Draft:
    """An accepted proposal of one rule for a file of a project or, in HOME, of the person's own."""
    content = file.read_bytes() if file.exists() else None
    own = file.parent.name.startswith(".")
    project = "" if own else str(file.parent)
    said = replace(CANDIDATE, correction=f"c-{text}", sessions=sessions, project=project)
    edits = rules(text)
    with desk.store() as store:
        draft = draft_of(store, content, apply(content, edits).content)
        target = replace(
            draft.target,
            agent=agent,
            scope=Scope.USER if own else Scope.PROJECT,
            project=project,
            place=f"user/{file.parent.name}/{file.name}" if own else f"project/{file.name}",
        )
        draft = replace(draft, candidate=said.id, target=target, edits=edits)
        store.commit(said, draft, safety_of(draft), verdict_of(draft))
    return draft


def test_certificates_that_would_be_lost_are_asked_about_first(desk: Desk) -> None:
    """Nothing is written before the person knows which proposals have to be examined again and what that
    costs; `--yes` answers beforehand. Suggestions, stale ones and other files are not among them."""
    stale = desk.propose(*rules("ask first"))
    desk.file.write_bytes(BEFORE + b"more\r\n")
    one, other = desk.propose(*rules(PNPM)), desk.propose(*rules(TESTS))
    suggested = desk.propose(*rules(SORT), kind=VerdictKind.UNDECIDED)
    elsewhere = propose(desk, desk.file.parent / "AGENTS.md", TESTS, agent="codex")
    told = desk.says("adopt", one.id, code=4)
    assert f"the gate accepted {other.id} for this file too" in told
    assert "up to 190 jobs, money unknown" in told
    assert "--yes" in told
    assert not {stale.id, suggested.id, elsewhere.id} & set(told.replace(",", " ").split())
    assert desk.file.read_bytes() == BEFORE + b"more\r\n"
    assert f"the gate accepted {other.id} for this file too" in desk.says("show", one.id)
    given = desk.gives("adopt", one.id, "--yes")
    assert [other.id in line for line in given["to_know"]] == [True]
    assert sorted(given["made_stale"]) == sorted([other.id, suggested.id])


def test_nothing_is_asked_of_what_is_refused_anyway(desk: Desk) -> None:
    """What lacks a reason is told that, and not what adopting it would cost others."""
    desk.propose(*rules(PNPM))
    suggested = desk.propose(*rules(TESTS), kind=VerdictKind.UNDECIDED)
    told = desk.says("adopt", suggested.id, code=4)
    assert "--reason" in told
    assert "the gate accepted" not in told


def test_a_rule_that_another_file_holds_is_told(desk: Desk) -> None:
    """The project's and the person's own file are both read: what stands in one, or is proposed for it, is
    told before the other gets it too."""
    own = Path.home() / ".claude" / "CLAUDE.md"
    theirs, mine = propose(desk, desk.file, PNPM), propose(desk, own, PNPM)
    assert f"{theirs.id} proposes the same for {desk.file}" in desk.says("show", mine.id)
    assert f"{mine.id} proposes the same for {own}" in desk.says("adopt", theirs.id)
    told = desk.says("adopt", mine.id)
    assert f"the same stands in {desk.file}, which the agent reads along" in told
    assert f"`nightschool undo {theirs.id}` takes it out there" in told
    assert PNPM in own.read_text()


@pytest.mark.parametrize(
    ("sessions", "told"),
    [
        (("claude-code:a", "claude-code:b"), None),
        (("codex:a", "codex:b"), "you said it to codex, and to no other agent."),
        (("codex:a", "codex:b", "claude-code:c"), "you said it to codex, too (2 sessions)."),
    ],
)
def test_an_agent_that_was_told_and_does_not_read_the_file_is_named(
    desk: Desk, sessions: tuple[str, ...], told: str | None
) -> None:
    """Whoever corrected another agent than the one that practised hears it before adopting, with the run
    that practises the other one and the file that it is for."""
    draft = propose(desk, desk.file, PNPM, sessions=sessions)
    know = desk.gives("show", draft.id)["to_know"]
    assert bool(know) == (told is not None)
    if told is not None:
        assert told in know[0]
        assert f"nightschool run --project '{desk.file.parent}' --runner codex" in know[0]
        assert str(desk.file.parent / "AGENTS.md") in know[0]
    assert desk.gives("adopt", draft.id)["to_know"] == know


def test_a_file_that_both_agents_read_is_fine(desk: Desk) -> None:
    """Through a link or an import the other agent reads it too: nothing is told."""
    root = desk.file.parent
    (root / "AGENTS.md").symlink_to("CLAUDE.md")
    linked = propose(desk, desk.file, PNPM, sessions=("codex:a",))
    assert desk.gives("show", linked.id)["to_know"] == []
    (root / "AGENTS.md").unlink()
    (root / "AGENTS.md").write_text("# Ours\n")
    imported = propose(desk, root / "AGENTS.md", TESTS, agent="codex", sessions=("claude-code:a",))
    assert len(desk.gives("show", imported.id)["to_know"]) == 1
    desk.file.write_text("@AGENTS.md\n")
    assert desk.gives("show", imported.id)["to_know"] == []


@pytest.mark.parametrize("command", ["proposals", "status"])
def test_lists_are_kept_to_projects(desk: Desk, command: str) -> None:
    """`--project` leaves those for its files and for the person's own, which are read there; several may be
    named; `--all-projects` is what holds without it."""
    other = desk.file.parent.parent / "other" / "CLAUDE.md"
    other.parent.mkdir()
    here, there = propose(desk, desk.file, PNPM), propose(desk, other, TESTS)
    own = propose(desk, Path.home() / ".claude" / "CLAUDE.md", SORT)

    def listed(*arguments: str) -> set[str]:
        return {row["id"] for row in desk.gives(command, *arguments)["proposals"]}

    first, second = ("--project", str(desk.file.parent)), ("--project", str(other.parent))
    assert listed() == listed("--all-projects") == listed(*first, *second) == {here.id, there.id, own.id}
    assert listed(*first) == {here.id, own.id}
    assert listed(*second) == {there.id, own.id}
    assert "take one of them" in desk.says(command, *first, "--all-projects", code=2)
    assert "is no folder" in desk.says(command, "--project", "nowhere", code=2)
