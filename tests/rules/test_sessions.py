"""What a fork copied counts with its original alone."""

from __future__ import annotations

from dataclasses import replace

from conversations import agent, bash, human, session
from nightschool.rules.sessions import without_copies


def test_copied_turns_count_with_the_earlier_session() -> None:
    """A fork begins with the turns of its parent: only what is new in it stays."""
    parent = session("parent", human("add a test"), agent("Done.", bash("pytest")))
    new = session("fork", human("commit"), agent("Committed.", bash("git commit")), day=1).turns
    fork = replace(
        parent, session_id="fork", ended_at=new[-1].at, turns=(*parent.turns, *new), path="/elsewhere"
    )
    for order in ((parent, fork), (fork, parent)):
        kept = {one.session_id: one for one in without_copies(order)}
        assert kept["parent"] == parent
        assert kept["fork"].turns == new


def test_a_turn_that_goes_on_in_the_fork_keeps_what_is_new() -> None:
    """An agent's turn that the fork continues keeps the calls that the parent does not have."""
    parent = session("parent", human("add a test"), agent("Done.", bash("pytest")))
    longer = replace(parent.turns[1], calls=(bash("pytest"), bash("ls")))
    fork = replace(parent, session_id="fork", turns=(parent.turns[0], longer), started_at=None)
    _, kept = without_copies([fork, parent])
    assert [[call.command for call in turn.calls] for turn in kept.turns] == [["ls"]]


def test_same_rows_of_two_agents_are_no_copies() -> None:
    """Ids of rows are an agent's own: those of another agent are not compared with them."""
    one = session("one", human("go"))
    other = replace(one, source="codex")
    assert {len(kept.turns) for kept in without_copies([one, other])} == {1}
