"""How a session ended, and that what a fork copied counts with its original alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conversations import agent, bash, human, session
from nightschool.core.sessions import CallStatus, Turn
from nightschool.core.spent import Spent
from nightschool.rules.sessions import Ending, ending, without_copies


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
    longer = replace(parent.turns[1], calls=(bash("pytest"), bash("ls")), spent=Spent(input=9, output=9))
    fork = replace(parent, session_id="fork", turns=(parent.turns[0], longer), started_at=None)
    _, kept = without_copies([fork, parent])
    assert [[call.command for call in turn.calls] for turn in kept.turns] == [["ls"]]
    assert kept.spent is None, "how much of it the new part took is not known"


def test_same_rows_of_two_agents_are_no_copies() -> None:
    """Ids of rows are an agent's own: those of another agent are not compared with them."""
    one = session("one", human("go"))
    other = replace(one, source="codex")
    assert {len(kept.turns) for kept in without_copies([one, other])} == {1}


@pytest.mark.parametrize(
    ("turns", "how"),
    [
        ((), None),
        ((human("go"), agent()), Ending.DONE),
        ((human("go"), agent("Done.", bash("make", status=CallStatus.ERROR), bash("make"))), Ending.DONE),
        ((human("go"), agent("", bash("make", status=CallStatus.ERROR))), Ending.FAILING),
        ((human("go"), agent("", bash("make", status=CallStatus.REFUSED))), Ending.ABANDONED),
        ((human("go"), agent("", bash("make", status=CallStatus.UNKNOWN))), None),
        ((human("go"), agent(interrupted=True)), Ending.INTERRUPTED),
        ((human("go"), agent(), human("on")), Ending.ABANDONED),
    ],
)
def test_how_a_session_ended(turns: tuple[Turn, ...], how: Ending | None) -> None:
    """By the last thing in it; a call that may still be running is no end."""
    assert ending(session("s", *turns)) is how
