"""What the gate decides from pairs, losses and guards."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate_builders import CHECK, draw, pair, tally_of, task, terms, trial
from nightschool.core.proposals import Certify, VerdictKind
from nightschool.core.tasks import FilesSource, Split, Task
from nightschool.core.trials import Arm, LostPair, Pair
from nightschool.rules.gate import (
    Policy,
    Tally,
    before,
    decide,
    overlap,
    pairs_needed,
    walk,
)
from nightschool.rules.pairing import Losses, settle

# decide ----------------------------------------------------------------------------------------


def test_seven_clean_wins_are_enough() -> None:
    """A helpful edit is accepted as soon as wealth and clusters allow: after seven wins, not six."""
    given = terms()
    assert decide(tally_of([(0, 1)] * 6, given), given) is None
    ruling = decide(tally_of([(0, 1)] * 7, given), given)
    assert ruling is not None
    assert (ruling.kind, ruling.code) == (VerdictKind.ACCEPT, "enough-wealth")


def test_wins_on_too_few_clusters_do_not_accept() -> None:
    """Twenty wins on four of six clusters are a gain on four sessions only: five have to be won."""
    given = terms()
    pairs = [pair(n, 0, 1, f"cluster {n % 4}") for n in range(20)]
    assert walk(pairs, given)[1] is None
    _, ruling, path = walk([*pairs, pair(20, 0, 1, "cluster 5")], given)
    assert ruling is not None
    assert ruling.kind is VerdictKind.ACCEPT
    assert len(path) == 22


def test_three_clusters_accept_narrowly() -> None:
    """Where there are only three clusters all of them must be won, and the reason says how narrow it is."""
    given = terms(clusters=3)
    ruling = decide(tally_of([(0, 1)] * 8, given), given)
    assert ruling is not None
    assert ruling.kind is VerdictKind.ACCEPT
    assert "better in 3 of 3 kinds of task; these are few kinds" in ruling.why


def test_a_harmful_edit_is_rejected() -> None:
    """Six decided pairs and a wealth below 0.2 reject; five are too few."""
    given = terms()
    assert decide(tally_of([(1, 0)] * 5, given), given) is None
    ruling = decide(tally_of([(1, 0)] * 6, given), given)
    assert ruling is not None
    assert (ruling.kind, ruling.code) == (VerdictKind.REJECT, "low-wealth")


def test_a_doubtful_edit_goes_on() -> None:
    """Two wins and four losses leave a wealth of .23: not yet below the line of 0.2."""
    given = terms()
    tally = tally_of([*[(1.0, 0.0)] * 4, *[(0.0, 1.0)] * 2], given)
    assert tally.wealth.value == pytest.approx(0.229, abs=1e-3)
    assert decide(tally, given) is None


def test_a_cluster_is_won_by_its_sum() -> None:
    """One win and one loss, or ties alone, win no cluster; a margin counts for each pair of "not worse"."""
    start = Tally.start(terms())
    assert start.after("a", 0, 1).after("a", 1, 0).after("b", 1, 1).won == 0
    assert start.after("a", 0, 1).after("b", 1, 1).won == 1
    assert Tally.start(terms(certify=Certify.NOT_WORSE)).after("a", 1, 1).won == 1


def test_what_a_tally_counts() -> None:
    """The base passed only where its score is full, and an arm lives that scored at all, either one."""
    start = Tally.start(terms())
    assert [start.after("a", base, 0).base_passed for base in (0, 0.5, 1)] == [0, 0, 1]
    assert [start.after("a", *scores).alive for scores in ((0, 0), (1, 0), (0, 1))] == [False, True, True]


def test_ties_never_accept() -> None:
    """A tie earns nothing: pairs without a difference leave the wealth at 1."""
    given = terms()
    tally = tally_of([(1, 1), (0, 0)] * 5, given)
    assert tally.wealth.value == 1
    assert decide(tally, given) is None


def test_base_that_passes_all_is_invalid() -> None:
    """After twelve pairs in which the base passed, nothing can be gained that this exam sees."""
    given = terms()
    assert decide(tally_of([(1, 1)] * 11, given), given) is None
    ruling = decide(tally_of([(1, 1)] * 12, given), given)
    assert ruling is not None
    assert (ruling.kind, ruling.code) == (VerdictKind.INVALID, "base-passes-all")


@pytest.mark.parametrize("scores", [[(0.0, 0.0)] * 12, [(0.0, 0.0), (1.0, 1.0)] * 6])
def test_blind_checks_are_invalid(scores: list[tuple[float, float]]) -> None:
    """After twelve pairs in which no check told the arms apart, the exam is called blind, not a tie."""
    given = terms()
    ruling = decide(tally_of(scores, given), given)
    assert ruling is not None
    assert (ruling.kind, ruling.code) == (VerdictKind.INVALID, "checks-blind")


def test_not_worse_is_accepted_by_ties() -> None:
    """A draft that deletes is accepted where it behaves as before, and the reason names the margin."""
    given = terms(certify=Certify.NOT_WORSE)
    _, ruling, path = walk([pair(n, 1, 1) for n in range(100)], given)
    assert ruling is not None
    assert ruling.kind is VerdictKind.ACCEPT
    assert ruling.why.startswith("not worse by more than 0.15")
    assert 20 < len(path) < 60


def test_not_worse_needs_a_base_that_can_lose() -> None:
    """Where neither arm ever passes, "not worse" would be empty: invalid, never accepted."""
    given = terms(certify=Certify.NOT_WORSE)
    _, ruling, _ = walk([pair(n, 0, 0) for n in range(100)], given)
    assert ruling is not None
    assert ruling.code == "checks-blind"


def test_not_worse_rejects_a_loss() -> None:
    """A deletion that loses most pairs is rejected."""
    given = terms(certify=Certify.NOT_WORSE)
    _, ruling, _ = walk([pair(n, 1, 0) for n in range(20)], given)
    assert ruling is not None
    assert ruling.kind is VerdictKind.REJECT


scores = st.lists(st.tuples(st.sampled_from([0.0, 1.0]), st.sampled_from([0.0, 1.0])), max_size=60)


@given(found=scores, more=scores)
def test_later_pairs_do_not_change_a_ruling(
    found: list[tuple[float, float]], more: list[tuple[float, float]]
) -> None:
    """A ruling looks only at the pairs up to it, in the order of draws: how many ran at once, and in
    which order they were stored, decides nothing."""
    given = terms()
    pairs = [pair(n, base, draft) for n, (base, draft) in enumerate(found)]
    tally, ruling, path = walk(pairs, given)
    later = [pair(len(found) + n, base, draft) for n, (base, draft) in enumerate(more)]
    if ruling is not None:
        assert walk([*later, *reversed(pairs)], given) == (tally, ruling, path)
    assert path[0] == 1
    assert len(path) == tally.pairs + 1
    assert all(step > 0 for step in path)


def test_thirty_three_percent_against_twenty_five() -> None:
    """B29: 2 right of 8 against 2 right of 6 with two lost is compared on the six that both arms have:
    there the arms are alike, and nothing is accepted."""
    held = task("a")
    outcomes = [(1, 1), (1, 1), (0, 0), (0, 0), (0, 0), (0, 0), (0, None), (0, None)]
    settled = [
        settle(draw(), trial(Arm.BASE, b), trial(Arm.DRAFT, d), task=held, check=CHECK, cycle="cy")
        for b, d in outcomes
    ]
    pairs = [found for found in settled if isinstance(found, Pair)]
    lost = [found for found in settled if isinstance(found, LostPair)]
    assert (len(pairs), len(lost)) == (6, 2)
    assert sum(found.d for found in pairs) == 0
    assert Losses.of(pairs, lost) == Losses(tried=8, draft_only=2)


# before ----------------------------------------------------------------------------------------


def test_too_few_clusters_are_underpowered() -> None:
    """Two sessions cannot certify anything; none at all is said in its own words."""
    for clusters, word in ((2, "held-out tasks of 2"), (0, "no held-out task")):
        given = terms(clusters=clusters)
        ruling = before(given, Tally.start(given), pairs_left=50, overlap=None)
        assert ruling is not None
        assert (ruling.kind, ruling.code) == (VerdictKind.UNDERPOWERED, "few-targets")
        assert word in ruling.why


def test_three_clusters_can_be_examined() -> None:
    """Three sessions are enough to begin; for a suggestion, which certifies nothing, one is."""
    for enough in (terms(clusters=3), terms(clusters=1, policy=Policy(mode="suggest"))):
        assert before(enough, Tally.start(enough), pairs_left=50, overlap=None) is None
    none = terms(clusters=0, policy=Policy(mode="suggest"))
    ruling = before(none, Tally.start(none), pairs_left=50, overlap=None)
    assert ruling is not None
    assert ruling.code == "few-targets"


def test_too_few_pairs_are_underpowered() -> None:
    """Six pairs cannot hold the seven clean wins that the first draft needs, seven can."""
    given = terms()
    ruling = before(given, Tally.start(given), pairs_left=6, overlap=None)
    assert ruling is not None
    assert (ruling.kind, ruling.code) == (VerdictKind.UNDERPOWERED, "few-pairs")
    assert before(given, Tally.start(given), pairs_left=7, overlap=None) is None


def test_a_wealth_of_before_needs_less() -> None:
    """A draft that goes on needs only what is missing."""
    given = terms()
    tally = tally_of([(0, 1)] * 5, given)
    assert pairs_needed(tally, given) == 2
    assert before(given, tally, pairs_left=2, overlap=None) is None


def test_overlap_is_found_by_id_session_cluster_and_prompt() -> None:
    """B31: a task on both sides, a session, cluster or prompt on both sides, or a session that the editor
    was shown, makes the exam invalid."""
    held = task("a")
    assert overlap([held], [task("b", split=Split.TRAIN)], []) is None
    for train in (
        held,
        task("b", cluster=held.cluster, split=Split.TRAIN),
        Task(
            prompt="  DO   a ",
            workspace=FilesSource(),
            checks=(CHECK,),
            session="s",
            turn=0,
            source="codex",
            project="/p",
            cluster="other",
            split=Split.TRAIN,
        ),
    ):
        assert "overlap" in str(overlap([held], [train], []))
    assert "same session" in str(overlap([held], [], [held.session]))
    assert "train task" in str(overlap([task("c", split=Split.TRAIN)], [], []))
    ruling = before(terms(), Tally.start(terms()), pairs_left=50, overlap="they overlap")
    assert ruling is not None
    assert (ruling.kind, ruling.code) == (VerdictKind.INVALID, "overlap")


def test_gate_off_is_never_an_accept() -> None:
    """With the gate off the word is undecided."""
    given = terms(policy=Policy(mode="off"))
    ruling = before(given, Tally.start(given), pairs_left=50, overlap=None)
    assert ruling is not None
    assert (ruling.kind, ruling.code) == (VerdictKind.UNDECIDED, "gate-off")


def test_policy_refuses_nonsense() -> None:
    """A wrong number names itself."""
    with pytest.raises(ValueError, match=r"gate\.alpha"):
        Policy(alpha=1.5)
    with pytest.raises(ValueError, match="guard_pairs"):
        Policy(guard_pairs=20)


def test_path_of_clean_wins_rises() -> None:
    """Each clean win raises the wealth."""
    _, _, path = walk([pair(n, 0, 1) for n in range(7)], terms())
    assert all(later > earlier for earlier, later in pairwise(path))
